/* internal.h - what the simulator's parts know of each other.

   engine.cpp   threads, warps and blocks: who runs next, what a barrier and a shuffle do
   memory.cpp   device and shared memory, with unreadable pages around each piece
   fault.cpp    the one line that names a misuse; crashes traced to a kernel's source line
   host.cpp     the rest of the host API: device, streams, events, kernel attributes, error names */
#ifndef SIM_INTERNAL_H
#define SIM_INTERNAL_H

#include "include/cuda_runtime.h"

const unsigned SIM_WARP = 32, SIM_MAX_THREADS = 1024, SIM_MAX_THREADS_PER_SM = 2048, SIM_MAX_BLOCKS_PER_SM = 32;
const size_t SIM_STACK = 256 << 10;        /* of each thread */
const size_t SIM_STACK_GUARD = 64 << 10;   /* unreadable, below each stack */
const size_t SIM_SHARED = 48 << 10;        /* shared memory of a block without asking */
const size_t SIM_SHARED_OPTIN = 227 << 10; /* and with cudaFuncSetAttribute */
const size_t SIM_SHARED_PER_SM = 228 << 10;
const size_t SIM_SHARED_RESERVED = 1 << 10; /* what each block takes of it beside its own */

static inline size_t sim_round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* What a kernel has been given, kept from one launch to the next (host.cpp). */
struct sim_kernel_info {
    const void *kernel;
    size_t max_dynamic;  /* dynamic shared memory that it may ask for */
    size_t static_bytes; /* static shared memory seen so far */
    int carveout;
};
struct sim_kernel_info *sim_find_kernel(const void *kernel);

/* Where the simulation is: what an error line names (engine.cpp). */
struct sim_place {
    const void *kernel; /* NULL: in host code */
    const char *name;   /* the kernel as the launch spells it */
    const char *file;   /* of the launch */
    int line;
    bool in_block, in_thread; /* blockIdx, threadIdx mean something */
    const char *stack;        /* lowest byte of the thread's stack */
};
extern struct sim_place sim_place;

/* Whether the running thread has polled since anything last happened, and where. */
bool sim_polls(const char **file, int *line);

/* One line on stderr: file:line: kernel, block, thread: message. Exit status 1. (fault.cpp) */
[[noreturn]] void sim_fault(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Source position of a code address, "?" where unknown. */
void sim_locate(const void *address, char *text, size_t size);

/* Exit status 2 for an environment variable that cannot be understood. */
[[noreturn]] void sim_bad_setting(const char *name, const char *value, const char *want);

/* While a kernel runs: faults when no thread gets further for SIM_WATCHDOG seconds (30) of processor time. */
void sim_watchdog(bool on);
extern volatile uint64_t sim_progress; /* changes whenever a thread gets somewhere */

/* One piece of device or shared memory. (memory.cpp) */
struct sim_region {
    char *start; /* what the program was given */
    size_t size;
    char *pages; /* the readable pages around it */
    size_t pages_size;
    char *map; /* these and the unreadable margins */
    size_t map_size;
    const char *name; /* NULL: from cudaMalloc; else the __shared__ variable */
    const char *file; /* where that is declared */
    int line;
    const void *caller; /* who called cudaMalloc */
    bool freed;
};
struct sim_region *sim_region_create(size_t size, size_t align); /* NULL: no memory */
void sim_region_poison(struct sim_region *region);
void sim_region_verify(const struct sim_region *region); /* faults if bytes around it were written */
void sim_verify_all(void);
struct sim_region *sim_region_near(const void *address); /* the region that is closest, within its margins, or NULL */
bool sim_region_holds(const struct sim_region *region, const void *address, size_t size);
void sim_region_describe(const void *address, char *text, size_t size);

cudaError_t sim_error(cudaError_t error); /* remembers an error for cudaGetLastError (host.cpp) */
bool sim_memory(size_t *available, size_t *total);

#endif
