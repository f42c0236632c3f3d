/* SPDX-License-Identifier: MIT */
/* message.cpp - what the engine does not see by a call: a failed assert, a crash (a wild pointer, a division by zero),
   a loop without an end. They know only addresses in the machine code; addr2line turns these into source lines. */
#include <execinfo.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "progress.h"

#include "../include/cuda_runtime.h"
#include "../machine/fault.h"
#include "../machine/image.h"
#include "../machine/locate.h"
#include "../machine/region.h"
#include "../machine/sizes.h"
#include "../observe/observe.h"
#include "../machine/poll.h"
#include "../machine/settings.h"
#include "../machine/announce.h"

/* Stands in for the C library's: an assert in a kernel names its thread. */
extern "C" void __assert_fail(const char *expression, const char *file, unsigned line, const char *function) noexcept
{
    sim_tell.wrong_way();
    if (sim_place.in_thread)
        sim_fault(file, (int)line, "assertion `%s' failed. See what the kernel asserts with it", expression);
    fprintf(stderr, "%s:%u: %s: assertion `%s' failed.\n", file, line, function, expression);
    abort();
}

/* ---- crashes ---- */

/* Position of the innermost frame of kernel code, starting at the interrupted instruction. */
static void interrupted_line(const ucontext_t *context, char *place, size_t size)
{
#if defined(__x86_64__)
    const void *pc = (const void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    const void *pc = (const void *)context->uc_mcontext.pc;
#endif
    const void *frames[24] = {pc};
    int count = sim_stack_from(pc, frames, 24); /* without the signal handler's own frames */
    char function[512];

    if (count == 0)
        count = 1;
    if (!sim_locate_frames(frames, count, function, place, size))
        sim_locate(sim_last_pc != NULL ? (const char *)sim_last_pc - 1 : (const char *)pc, place, size);
}

/* The allocation that the interrupted function has been given, if a register says so: free() crashes far from the
   memory that it gets, where it looks for its heap, which may be in another allocation. Else NULL. 16: its own data are
   before. */
static const char *given(const ucontext_t *context)
{
#if defined(__x86_64__)
    const auto &registers = context->uc_mcontext.gregs;
    const char *const pc = (const char *)registers[REG_RIP];
#elif defined(__aarch64__)
    const auto &registers = context->uc_mcontext.regs;
    const char *const pc = (const char *)context->uc_mcontext.pc;
#endif
    if (pc >= &__ehdr_start && pc < &etext) /* of the program's own code the address says enough */
        return NULL;
    for (const auto value : registers)
        for (const char *p : {(const char *)value, (const char *)value + 16}) {
            const struct sim_region *const r = sim_region_near(p);
            if (r != NULL && r->start == p)
                return p;
        }
    return NULL;
}

static void on_crash(int signal_number, siginfo_t *info, void *context)
{
    const ucontext_t *c = (const ucontext_t *)context;
    const char *at = (const char *)info->si_addr, *verb = "touches";
    char place[512], what[600];

    if (!sim_place.in_thread) {
        /* A crash of the host's own: say so if device memory is why, then crash as usual. */
        const char *const start = signal_number == SIGFPE ? NULL : given(c);
        if (start != NULL)
            at = start;
        if (signal_number != SIGFPE && sim_region_near(at) != NULL) {
            interrupted_line(c, place, sizeof(place));
            sim_region_describe(at, 0, what, sizeof(what));
            fprintf(stderr,
                    "%s: error: host code: touches %s. Use cudaMemcpy; and what cudaMalloc has given is for "
                    "cudaFree, cudaMallocHost's for cudaFreeHost, and not for free.\n",
                    place, what);
        }
        signal(signal_number, SIG_DFL);
        return;
    }
    interrupted_line(c, place, sizeof(place));
    if (signal_number == SIGFPE)
        sim_fault(place, 0, "divides an integer by zero. Check the divisor");
    if (sim_place.stack != NULL && (size_t)(sim_place.stack - 1 - at) < SIM_STACK_GUARD)
        sim_fault(place, 0, "stack overflow, more than %zu KiB. Use smaller arrays or no recursion", SIM_STACK >> 10);
#if defined(__x86_64__)
    verb = c->uc_mcontext.gregs[REG_ERR] & 2 ? "writes" : "reads";
    if (info->si_code == SI_KERNEL) /* the CPU does not say where */
        sim_fault(place, 0,
                  "an address that is misaligned for its type, or no address at all. Align float4 to 16 bytes, "
                  "float2 to 8");
#endif
    sim_region_describe(at, 0, what, sizeof(what));
    sim_fault(place, 0, "%s %s. Compare the index with the size, and see where the pointer comes from", verb, what);
}

/* ---- watchdog: while a kernel runs, a fault when no thread gets further for CUSIM_WATCHDOG seconds (30) of processor
   time, or when for as long none ends and no global memory is touched for the first time ---- */

static long watchdog_seconds = 30;

static const char *stack_pointer(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (const char *)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (const char *)context->uc_mcontext.sp;
#endif
}

static bool watches_kernel, watches_host;

/* For how long a number has stayed as it is: seconds of processor time, and since when by the clock. */
struct standstill {
    uint64_t seen;
    long seconds;
    time_t since;
};

/* On a machine that is busy, twice the time by the clock is enough, if a quarter of it was the processor's. */
static bool stands_still(struct standstill *s, uint64_t now)
{
    struct timespec clock;

    clock_gettime(CLOCK_MONOTONIC, &clock);
    if (now != s->seen)
        *s = {now, 0, clock.tv_sec};
    else
        s->seconds++;
    return s->seconds >= watchdog_seconds ||
           (s->seconds >= (watchdog_seconds + 3) / 4 && clock.tv_sec - s->since >= 2 * watchdog_seconds);
}

/* Once a second of processor time. */
static void on_tick(int signal_number, siginfo_t *, void *context)
{
    static struct standstill progress, news;
    const pthread_t runs_kernel = sim_kernel_thread;
    if (runs_kernel != 0 && !pthread_equal(runs_kernel, pthread_self())) { /* that one has to look where it is */
        pthread_kill(runs_kernel, signal_number);
        return;
    }
    const bool hangs = stands_still(&progress, sim_progress);
    const bool circles = stands_still(&news, sim_news) && sim_watches; /* else what it touches is not seen */
    const ucontext_t *const c = (const ucontext_t *)context;
    const char *file;
    char place[512];
    int line;

    sim_show_progress();
    if (sim_place.kernel == NULL && hangs && watches_host) {
        interrupted_line(c, place, sizeof(place));
        sim_fault(place, 0, "loops for %ld s without an end. See what ends the loop, and who changes that",
                  watchdog_seconds);
    }
    if (!(hangs || circles) || !sim_place.in_thread)
        return;
    if ((size_t)(stack_pointer(c) - sim_place.stack) >= SIM_STACK)
        return; /* between two threads; a later second finds one at work */
    if (hangs && sim_sleeps(&file, &line))
        sim_fault(file, line,
                  "polls for something that never comes: no thread of the block got further for %ld s. See who should "
                  "bring it",
                  watchdog_seconds);
    interrupted_line(c, place, sizeof(place));
    if (!hangs)
        sim_fault(place, 0,
                  "loops for %ld s: its threads still meet, but none ends, and none reads or writes what it has not "
                  "before. See what ends the loop, and who changes that",
                  watchdog_seconds);
    sim_fault(place, 0,
              "loops for %ld s without an end. See what ends the loop, and who changes that. If it is another thread, "
              "read the "
              "word by a volatile pointer or an atomic: a plain one may be read once, before the loop",
              watchdog_seconds);
}

static void set_timer(void)
{
    const bool on = watches_kernel || watches_host;
    const struct itimerval timer = {{on, 0}, {on, 0}};

    sim_progress++;
    sim_news++;
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void watch_kernel(bool on)
{
    watches_kernel = on;
    set_timer();
}

extern "C" void sim_watch_host(bool on)
{
    watches_host = on;
    set_timer();
}

__attribute__((constructor(102))) static void subscribe(void)
{
    sim_tell.launch_begins.add([](const void *, size_t) { watch_kernel(true); });
    sim_tell.process_begins.add([] { watch_kernel(true); }); /* timers are not inherited */
    sim_tell.launch_ends.add([](struct sim_counts *) { watch_kernel(false); });
}

__attribute__((constructor)) static void install_handlers(void)
{
    static char stack[256 << 10];
    const stack_t alternate = {stack, 0, sizeof(stack)};
    struct sigaction crash = {}, tick = {};

    watchdog_seconds =
        sim_number_setting("CUSIM_WATCHDOG", 1, LONG_MAX, watchdog_seconds, "a number of seconds from 1 up");
    void *frame;
    backtrace(&frame, 1); /* loads what it needs now, not in a signal handler */
    sigaltstack(&alternate, NULL);
    crash.sa_sigaction = on_crash;
    crash.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &crash, NULL);
    sigaction(SIGBUS, &crash, NULL);
    sigaction(SIGFPE, &crash, NULL);
    tick.sa_sigaction = on_tick;
    tick.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(SIGVTALRM, &tick, NULL);
}
