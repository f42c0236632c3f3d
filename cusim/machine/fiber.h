/* SPDX-License-Identifier: MIT */
/* fiber.h - threads as fibers: each has a stack of its own and a place in its code where it stopped. */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include "block.h"

/* Makes a fiber, which waits for its first thread. */
void sim_make_fiber(struct thread *t);

/* What each thread of a launch runs. */
void sim_set_body(void (*body)(void *), void *arguments);

/* Goes on at one place, and some time from this one. A context is a frame pointer, where to go on, and a stack pointer,
   as the compiler's own setjmp has it, if not in its order. Without a call: the CPU then foretells where the functions
   around it return to, which the lanes of a warp do one after the other. */
#if defined(__x86_64__)
#define SIM_SWITCH(from, to)                                                                                           \
    do {                                                                                                               \
        void **saved = (from), **next = (to);                                                                          \
        asm volatile("leaq 1f(%%rip), %%rax\n\t"                                                                       \
                     "movq %%rbp, (%0)\n\t"                                                                            \
                     "movq %%rax, 8(%0)\n\t"                                                                           \
                     "movq %%rsp, 16(%0)\n\t"                                                                          \
                     "movq (%1), %%rbp\n\t"                                                                            \
                     "movq 16(%1), %%rsp\n\t"                                                                          \
                     "jmp *8(%1)\n"                                                                                    \
                     "1:"                                                                                              \
                     : "+D"(saved), "+S"(next)                                                                         \
                     :                                                                                                 \
                     : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",       \
                       "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",       \
                       "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");                                            \
    } while (0)
#else
#define SIM_SWITCH(from, to)                                                                                           \
    do {                                                                                                               \
        if (__builtin_setjmp(from) == 0)                                                                               \
            sim_jump(to);                                                                                              \
    } while (0)
#endif

/* Lets a thread run until it leaves. A macro, like the next one: no function with a setjmp is inlined. */
#define SIM_RESUME(thread)                                                                                             \
    do {                                                                                                               \
        sim_set_turn(thread);                                                                                          \
        SIM_SWITCH(sim_scheduler, (thread)->context);                                                                  \
    } while (0)

/* Leaves the running thread until it is resumed. */
#define SIM_LEAVE(new_state)                                                                                           \
    do {                                                                                                               \
        sim_current->state = (new_state);                                                                              \
        SIM_SWITCH(sim_current->context, sim_scheduler);                                                               \
    } while (0)

extern __attribute__((visibility("hidden"))) void *sim_scheduler[SIM_CONTEXT];
[[noreturn]] void sim_jump(void **context);

/* The thread is the running one. */
static inline void sim_set_turn(struct thread *t)
{
    sim_current = t;
    threadIdx = t->index;
    sim_place.stack = t->stack;
    sim_tell.turn(t);
}

/* Lets the other lanes run. */
void sim_pause(void);

/* Whether that is a local variable of a thread. */
bool sim_is_local(const void *address);

#endif
