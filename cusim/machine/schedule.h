/* SPDX-License-Identifier: MIT */
/* schedule.h - blocks, and the turns of their threads. */
#ifndef SIM_SCHEDULE_H
#define SIM_SCHEDULE_H

#include <stdint.h>

/* Begins a block of the launch in a slot that is free: of that rank in its cluster, the `cluster_number`th of the grid.
   It runs from now on. */
struct cluster;
void sim_begin_block(unsigned slot, struct cluster *cluster, uint64_t cluster_number, unsigned rank);

/* Makes another block the running one. */
void sim_switch_block(struct block *to);

/* Lets the running block go on until it ends, or other blocks should have a turn. */
enum sim_outcome { SIM_ENDED, SIM_WAITS, SIM_MAY_SWITCH }; /* WAITS: it only polls */
enum sim_outcome sim_run_block(bool others);               /* others: are there any, now or later? */

/* Nothing in the running block can run any more: says who waits for whom. */
[[noreturn]] void sim_explain_stall(void);

#endif
