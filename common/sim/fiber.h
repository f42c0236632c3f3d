/* fiber.h - threads as fibers: each has a stack of its own and a place in its code where it stopped. */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include "block.h"

/* Makes a fiber, which waits for its first thread. */
void sim_make_fiber(struct thread *t);

/* What each thread of a launch runs. */
void sim_set_body(void (*body)(void *), void *arguments);

/* Lets a thread run until it leaves. */
void sim_resume(struct thread *t);

/* Leaves the running thread until it is resumed. */
void sim_leave(enum state state);

/* Lets the other lanes run. */
void sim_pause(void);

/* Whether that is a local variable of a thread. */
bool sim_is_local(const void *address);

#endif
