/* SPDX-License-Identifier: MIT */
/* grid.h - the barrier of a grid whose blocks are all resident: grid.sync() of cooperative_groups.h. */
#ifndef SIM_GRID_H
#define SIM_GRID_H

#include "block.h"

/* A launch begins. */
void sim_begin_grid(void);

/* The blocks that have begun and not ended (launch.cpp). */
struct block *const *sim_residents(unsigned *count);

/* Whether a thread of the running block waits at the barrier of the grid. */
bool sim_waits_for_grid(void);

/* Nothing can run any more, and the running block waits at the barrier of the grid: says who is missing. */
[[noreturn]] void sim_explain_grid(void);

/* All that was remembered of memory is forgotten, and so is what was learnt at the barrier. */
void sim_forget_grid(void);

#endif
