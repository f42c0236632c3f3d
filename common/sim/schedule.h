/* schedule.h - runs a block. */
#ifndef SIM_SCHEDULE_H
#define SIM_SCHEDULE_H

/* Runs the block blockIdx of the launch, all of its threads. */
void sim_run_block(void);

#endif
