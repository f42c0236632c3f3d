/* SPDX-License-Identifier: MIT */
/* fiber.h - threads as fibers: each has a stack of its own and a place in its code where it stopped. */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include "block.h"

/* Makes a fiber, which waits for its first thread. */
void sim_make_fiber(struct thread *t);

/* What each thread of a launch runs. */
void sim_set_body(void (*body)(void *), void *arguments);

/* Lets a thread run until it leaves. A macro, like the next one: no function with a setjmp is inlined, and after a jump
   the CPU cannot foretell where a function returns to, so each one that returns costs as much as the jump. */
#define SIM_RESUME(thread)                                                                                             \
    do {                                                                                                               \
        sim_set_turn(thread);                                                                                          \
        if (__builtin_setjmp(sim_scheduler) == 0)                                                                      \
            sim_jump((thread)->context);                                                                               \
    } while (0)

/* Leaves the running thread until it is resumed. */
#define SIM_LEAVE(new_state)                                                                                           \
    do {                                                                                                               \
        sim_current->state = (new_state);                                                                              \
        if (__builtin_setjmp(sim_current->context) == 0)                                                               \
            sim_jump(sim_scheduler);                                                                                   \
    } while (0)

extern void *sim_scheduler[SIM_CONTEXT];
void sim_set_turn(struct thread *t); /* the thread is the running one */
[[noreturn]] void sim_jump(void **context);

/* Lets the other lanes run. */
void sim_pause(void);

/* Whether that is a local variable of a thread. */
bool sim_is_local(const void *address);

#endif
