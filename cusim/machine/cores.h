/* SPDX-License-Identifier: MIT */
/* cores.h - the blocks of a launch on several cores of the machine. */
#ifndef SIM_CORES_H
#define SIM_CORES_H

#include <stddef.h>
#include <stdint.h>

/* Whether launches of this program may be split: device memory must then be made so that processes share it. */
bool sim_may_split(void);

/* From now on none is: for an observer that must see all blocks. */
void sim_never_split(void);

/* A launch of so many clusters begins: notes the time. */
void sim_begin_split(uint64_t num_clusters);

/* No block runs, and `begun` clusters have begun and ended: from here on other processes may take part, if that is
   worth it. Returns the number of the cluster that this process begins next; all go on from here. */
uint64_t sim_split(uint64_t begun);

/* The number of the cluster that this process begins behind that of number `begun`: the next one, or in a launch that
   is split one that no other process has taken. */
uint64_t sim_next_cluster(uint64_t begun);

/* The blocks of this process have ended: the others end here. The launch is whole when that returns. */
void sim_end_split(void);

/* All blocks of this process wait for words that other processes may write: waits a little. `first_time`: since one of
   them got further; `tries`: how often they have tried since then. Returns false when nobody will write: all wait. */
bool sim_wait_for_processes(bool first_time, uint64_t tries);

/* Blocks of the running launch that have ended, in all processes; about, where it is split. */
uint64_t sim_blocks_done(void);

/* A fault: what is to be said in place of the message, by the one process that says it. */
const char *sim_fault_of_all(const char *message);

/* From one call to the other this process has a word of device memory to itself. */
void sim_take_word(const void *word);
void sim_give_word(void);
void sim_order_memory(void); /* a fence between processes */

#endif
