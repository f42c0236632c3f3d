/* SPDX-License-Identifier: MIT */
/* fiber.cpp - stacks, and jumps between them.

   A fiber runs until it must wait, then jumps back to the scheduler, which jumps into another one:

       scheduler   ----+           +-----+           +------- ...     a warp runs as far as it can,
       lane 0          +-- shfl ---+     |           |                then the next warp starts
       lane 1                            +-- shfl ---+

   On x86-64 some instructions of our own start a fiber and switch; elsewhere makecontext and the compiler's setjmp and
   longjmp, which do the same: they save the stack pointer, the frame and where to go on, and the compiler sees to all
   other registers. (Where in its buffer gcc has the stack pointer depends on -fcf-protection, so the two ways never
   share one.) A test with many shuffles takes 30 % less time so than with those of the C library; swapcontext, a system
   call, is slower still. Fibers and stacks are made once and serve all later blocks and launches. */
#include "fiber.h"

#include <sys/mman.h>
#include <ucontext.h>
#include "fault.h"
#include "announce.h"

void *sim_scheduler[SIM_CONTEXT];
static void (*kernel_body)(void *);
static void *kernel_arguments;

void sim_set_body(void (*body)(void *), void *arguments)
{
    kernel_body = body;
    kernel_arguments = arguments;
}

/* A function of its own, and never inlined, as the compiler's longjmp must not be where its setjmp is. */
__attribute__((noinline)) void sim_jump(void **context)
{
    __builtin_longjmp(context, 1);
}

bool sim_is_local(const void *address)
{
    for (const struct block *b : sim_slots)
        for (unsigned i = 0; b != NULL && i < SIM_MAX_THREADS; i++)
            if (b->threads[i].stack != NULL && (size_t)((const char *)address - b->threads[i].stack) < SIM_STACK)
                return true;
    return false;
}

void sim_pause(void)
{
    SIM_LEAVE(READY);
}

/* A fiber's life: each round of the loop is one GPU thread. */
static void fiber_main(void)
{
    for (;;) {
        SIM_LEAVE(DONE);
        kernel_body(kernel_arguments);
        sim_block->num_done++;
        sim_progress++;
        sim_news++;
    }
}

/* Starts a fiber on a stack that ends at `top`; it comes back at once, and then waits. */
#if defined(__x86_64__)
static void start_fiber(struct thread *t, char *top)
{
    /* As if it had been called, but there is nowhere to return to. A stack is aligned to 16 bytes before a call. */
    void **const stack = (void **)((size_t)top & ~(size_t)15) - 1;
    *stack = NULL;
    t->context[0] = NULL;
    t->context[1] = (void *)fiber_main;
    t->context[2] = stack;
    SIM_SWITCH(sim_scheduler, t->context);
}
#else
static void start_fiber(struct thread *t, char *top)
{
    ucontext_t start;
    getcontext(&start);
    start.uc_stack.ss_sp = t->stack;
    start.uc_stack.ss_size = (size_t)(top - t->stack);
    makecontext(&start, fiber_main, 0);
    if (__builtin_setjmp(sim_scheduler) == 0)
        setcontext(&start);
}
#endif

void sim_make_fiber(struct thread *t)
{
    char *map = (char *)mmap(NULL, SIM_STACK_GUARD + SIM_STACK, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (map == MAP_FAILED || mprotect(map, SIM_STACK_GUARD, PROT_NONE) != 0)
        sim_fault(sim_launched->file, sim_launched->line, "no memory for the stacks of %u threads. Free some memory",
                  sim_num_threads);
    t->stack = map + SIM_STACK_GUARD;
    sim_current = t;
    /* Stack tops at the same place of each page would compete for the same lines of the CPU's cache. */
    start_fiber(t, t->stack + SIM_STACK - (size_t)sim_thread_number(t) % 32 * 128);
}
