/* SPDX-License-Identifier: MIT */
/* flag.h - flags: atomic and volatile words by which threads, also of different blocks, tell each other what they have
   done. Who writes a flag after a fence *releases* what it knows; who reads it and then comes to a fence *acquires*
   that. */
#ifndef SIM_FLAG_H
#define SIM_FLAG_H

#include <stddef.h>
#include <stdint.h>

void sim_flags_launch(void);
void sim_flags_block(void);
void sim_flags_forget(void);  /* all, of all blocks */
void sim_flags_barrier(void); /* before the block's interval ends */

/* A strong access: `how` as in observe.h. */
void sim_flag_access(const char *at, size_t size, unsigned how, unsigned site);

/* Whether the running thread has acquired what the record tells of. */
bool sim_flag_orders(uint64_t record);

/* Whether any thread of the running block has acquired it. */
bool sim_flag_orders_end(uint64_t record);

/* A strong write to global memory, as race.cpp remembers it. */
void sim_flag_wrote(const char *at, uint64_t record);

/* Whether the running thread, or who has written that flag, has come to a fence before. */
bool sim_flag_is_told(const char *at, bool writes);

/* If the running thread reads a word that was written (`record`) before a flag that it has read, with no fence between
   the two: what to do. Else NULL. */
const char *sim_flag_lacks_fence(const char *at, uint64_t record);

/* What a race lacks that a flag was meant to order, as advice, or NULL in a launch without flags. `record`: the other
   access. */
const char *sim_flag_advice(uint64_t record);

#endif
