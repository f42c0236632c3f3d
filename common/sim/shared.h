/* shared.h - what the scheduler asks of shared memory. */
#ifndef SIM_SHARED_H
#define SIM_SHARED_H

/* The block has ended: faults if it wrote around its shared memory, which then belongs to nobody. */
void sim_end_shared(void);

/* The block goes on, or another one does, which must not touch its shared memory. */
void sim_switch_shared(bool runs);

#endif
