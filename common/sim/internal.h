/* internal.h - what the simulator's parts know of each other.

   engine.cpp   threads, warps and blocks: who runs next, what a barrier and a shuffle do
   memory.cpp   device and shared memory, with unreadable pages around each piece
   fault.cpp    the one line that names a misuse; crashes traced to a kernel's source line
   observe.cpp  every load and store of a kernel: is it legal, which warp request is it part of, what does that cost
   race.cpp     what happened to each byte last: was it written, is this access ordered after the others
   trace.cpp    the counts as a table in a file
   host.cpp     the rest of the host API: device, streams, events, kernel attributes, error names */
#ifndef SIM_INTERNAL_H
#define SIM_INTERNAL_H

#include "include/cuda_runtime.h"
#include "sim.h"

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

/* The same at the line of a return address. */
[[noreturn]] void sim_fault_at(const void *pc, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Source position of a code address, in hexadecimal where unknown; and of many, with the names of their functions. */
void sim_locate(const void *address, char *text, size_t size);
struct sim_located {
    const void *address;
    char function[256], place[256];
};
void sim_locate_all(struct sim_located *list, size_t count);

/* Exit status 2 for an environment variable that cannot be understood. */
[[noreturn]] void sim_bad_setting(const char *name, const char *value, const char *want);

/* While a kernel runs: faults when no thread gets further for SIM_WATCHDOG seconds (30) of processor time. */
void sim_watchdog(bool on);
extern volatile uint64_t sim_progress; /* changes whenever a thread gets somewhere */

/* One piece of device or shared memory. (memory.cpp) */
struct sim_region {
    char *start; /* what the program was given */
    size_t size;
    char *array; /* of it, what kernels may touch: all, or what sim_name_array named */
    size_t array_size;
    const char *array_name; /* or NULL */
    char *pages;            /* the readable pages around it */
    size_t pages_size;
    char *map; /* these and the unreadable margins */
    size_t map_size;
    const char *name; /* NULL: from cudaMalloc; else the __shared__ variable */
    const char *file; /* where that is declared */
    int line;
    const void *caller; /* who called cudaMalloc */
    bool freed;         /* also: shared memory of a block that does not run */
    struct sim_shadow *shadow;
};
struct sim_region *sim_region_create(size_t size, size_t align); /* NULL: no memory */
void sim_region_poison(struct sim_region *region);
void sim_region_verify(const struct sim_region *region); /* faults if bytes around it were written */
void sim_verify_all(void);
struct sim_region *sim_region_near(const void *address); /* the region that is closest, within its margins, or NULL */
/* For a kernel. */
static inline bool sim_region_holds(const struct sim_region *r, const void *address, size_t size)
{
    const size_t offset = (size_t)((const char *)address - r->array);

    return !r->freed && offset <= r->array_size && size <= r->array_size - offset;
}
void sim_region_describe(const void *address, char *text, size_t size);
bool sim_maybe_region(const void *address); /* false: certainly in no region */

/* ---- observation ---- */

/* How an access touches memory. Strong ones (atomics, volatile) do not race with each other. */
enum { SIM_WRITES = 1, SIM_STRONG = 2, SIM_ATOMIC = 4 };

const unsigned SIM_MAX_BARRIERS = 1024; /* mbarriers of a block */
const unsigned SIM_MAX_SITES = 8192;    /* places in the code that access memory */

/* What observe.cpp is told by the engine. `thread`: number in its block. */
void sim_observe_launch(const void *arguments, size_t size);
void sim_observe_block(unsigned num_threads);
void sim_observe_turn(unsigned thread); /* it goes on */
void sim_observe_pass(void);            /* each lane of a warp that could run has had its turn */
void sim_observe_step(unsigned thread); /* it has waited for others */
void sim_observe_block_end(void);
void sim_observe_launch_end(struct sim_counts *counts); /* adds what the launch has cost */
unsigned sim_site(const void *pc);                      /* number of a place in the code, and back: */
const void *sim_site_pc(unsigned site);
/* A copy sets out: checks its source like a load, counts both ends. `warp`: part of a request of the warp, else of the
 * copy engine. */
void sim_observe_copy(unsigned site, const void *shared, size_t shared_size, const void *global, size_t size,
                      bool warp);

extern const void *sim_last_pc; /* where memory was last accessed */
extern uint64_t sim_atomics;    /* how many there were */

/* Whether that is a local variable of one of the block's threads. */
bool sim_is_local(const void *address);

/* Where the counts go (trace.cpp). */
bool sim_traces(void);
bool sim_traces_lanes(void);
void sim_add_counts(struct sim_counts *to, const struct sim_counts *from);
void sim_trace_add(const void *kernel, const void *pc, const struct sim_counts *counts); /* pc: NULL for the kernel */
void sim_trace_lane(const void *kernel, const void *pc, const char *kind, unsigned number, unsigned lane, size_t offset,
                    unsigned size);
void sim_trace_reset(void);

/* Lets the other lanes run. */
void sim_pause(void);

/* What memory remembers of the accesses to it (race.cpp). */
struct sim_cell {
    uint64_t write, read;
};
struct sim_shadow {
    struct sim_cell *cells;    /* of each 4 bytes: the last write and a read, */
    uint64_t *others;          /* and another read, not ordered with that one */
    uint32_t *loaded, *stored; /* of each sector: the launch that last loaded it, stored to it */
    unsigned char *written;    /* a bit for each byte */
    size_t size;
};
extern bool sim_has_kernels;                       /* else nobody touches them */
const size_t SIM_SHADOW_FACTOR = 6;                /* a byte of device memory takes so many at most, itself included */
struct sim_shadow *sim_shadow_create(size_t size); /* NULL: no memory */
void sim_shadow_destroy(struct sim_shadow *shadow);
void sim_shadow_mark(struct sim_region *region, const void *at, size_t size); /* written by the host */
void sim_shadow_copy(struct sim_region *to, const void *dst, struct sim_region *from, const void *src, size_t size);

/* Time: what one agent (a thread, or SIM_MAX_THREADS + the number of an mbarrier) knows that the others have done. */
struct sim_clock {
    uint64_t epoch;  /* when the times below count */
    uint64_t chunks; /* which times[32 i ... 32 i + 31] mean something */
    uint16_t time[SIM_MAX_THREADS + SIM_MAX_BARRIERS];
};
void sim_race_launch(void);
void sim_race_block(unsigned num_threads);
void sim_race_turn(unsigned thread);
void sim_race_barrier(void); /* __syncthreads */
void sim_race_fence(void);   /* __threadfence and its kin */
void sim_race_syncwarp(unsigned first_thread, unsigned mask);
void sim_race_arrive(struct sim_clock *clock);     /* the running thread tells all that it knows */
void sim_race_wait(const struct sim_clock *clock); /* and learns */
void sim_race_access(struct sim_region *region, const char *at, size_t size, unsigned how, unsigned site);
void sim_race_copy_begins(struct sim_region *region, const void *at, size_t size, unsigned site);
void sim_race_copy_ends(struct sim_region *region, const void *at, size_t size,
                        unsigned site); /* the running thread waited for it */
/* The phase of an mbarrier ends: what was told it becomes what it tells, and its copies are there. */
void sim_race_phase_ends(unsigned barrier, const struct sim_clock *told, struct sim_clock *tells);
void sim_race_bulk_ends(struct sim_region *region, const void *at, size_t size, unsigned site, unsigned barrier);

cudaError_t sim_error(cudaError_t error); /* remembers an error for cudaGetLastError (host.cpp) */
bool sim_memory(size_t *available, size_t *total);

#endif
