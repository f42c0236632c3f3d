/* SPDX-License-Identifier: MIT */
/* observe.h - observes every load and store of a kernel. */
#ifndef SIM_OBSERVE_H
#define SIM_OBSERVE_H

#include <stddef.h>
#include <stdint.h>

#include "../counts.h"

struct block;
struct thread;

void sim_observe_launch(const void *arguments, size_t size);
void sim_observe_block(const struct block *b); /* it begins */
void sim_observe_turn(struct thread *t);
void sim_observe_switch(void);                          /* another block runs */
void sim_observe_pass(unsigned warp);                   /* each lane of it that could run has had its turn */
void sim_observe_launch_end(struct sim_counts *counts); /* adds what the launch has cost */

struct sim_piece;

/* A copy sets out as part of a request of the warp: checks its source like a load, counts both ends. */
void sim_observe_copy(unsigned site, const void *shared, size_t shared_size, const void *global, size_t size);

/* The TMA is asked to load or store these pieces: counts the end in global memory as one request, of which a load is
   checked. */
void sim_observe_tma(unsigned site, const struct sim_piece *pieces, size_t count, bool stores);

extern const void *sim_last_pc; /* where memory was last accessed */

/* Remarks on errors that nobody looked at, before a fault of which they may be the cause (leaks.cpp). */
void sim_tell_thrown(void);

#endif
