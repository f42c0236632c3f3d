/* SPDX-License-Identifier: MIT */
/* block.h - a block that runs, and its threads.

   States of a thread:

                  its turn               all lanes of the mask are here
       READY  --------------->  running  ----------+-------> AT_WARP ------> READY
         ^                         |  |            |         all threads of the block are here
         |      next round         |  | returns    +-------> AT_BARRIER ---> READY
         +------ YIELDED <---------+  +-> DONE     |         the phase can end
                                                   +-------> AT_MBARRIER --> READY
                                                   |         as many threads have come as it expects
                                                   +-------> AT_NAMED_BARRIER --> READY
                                                   |         all threads of all blocks of the cluster have come
                                                   +-------> AT_CLUSTER ---> READY
                                                   |         the same of the grid
                                                   +-------> AT_GRID ------> READY
                                                   |         no lane of the warp can go on otherwise
                                                   +-------> AT_GATHER ----> READY  */
#ifndef SIM_BLOCK_H
#define SIM_BLOCK_H

#include "../include/cuda_runtime.h"
#include "announce.h"
#include "fault.h"
#include "kernels.h"
#include "../counts.h"
#include "poison.h"
#include "sizes.h"

enum state { READY, YIELDED, AT_WARP, AT_BARRIER, AT_MBARRIER, AT_NAMED_BARRIER, AT_CLUSTER, AT_GRID, AT_GATHER, DONE };

/* Words that a thread has read since memory was last written, and where in the code. */
enum { SIM_SEEN = 8 };
struct seen {
    uint64_t changes; /* how often memory had been written then */
    unsigned count;
    struct {
        const char *at;
        const void *pc;
    } words[SIM_SEEN];
};

enum { SIM_CONTEXT = 5 }; /* words that __builtin_setjmp takes */

/* What each turn reads comes first: the threads of a warp should fit the CPU's nearest cache. */
struct alignas(64) thread {
    void *context[SIM_CONTEXT]; /* where it goes on (fiber.cpp) */
    enum state state;
    uint3 index;
    char *stack;

    uint64_t chain; /* what it has done one after the other: elements stored, and waits for others */

    const void *load_at, *load_pc; /* its last plain load where addresses alone are judged */

    /* the call at which it waits: */
    int kind;       /* sim_warp_kind or sim_barrier_kind */
    unsigned mask;  /* lanes that take part */
    uint64_t value; /* what it contributes; afterwards what it gets */
    unsigned lane;  /* a shuffle's lane operand */
    unsigned width;
    int line;
    const char *file;
    struct mbarrier *barrier; /* at an mbarrier: which one, */
    unsigned parity;          /* the parity of the phase, */
    bool receives;            /* and whether it waits by cluster_receive */
    struct named_barrier *named_barrier;

    const char *come_file; /* where it came to the barrier of the cluster, NULL: it has waited since; */
    int come_line;
    uint64_t come_phase; /* and to which one, */
    bool come_releases;  /* with a word on what it has done */

    struct async_copy *copies; /* issued and not yet waited for (copy.cpp) */
    size_t num_copies, max_copies;
    uint64_t group; /* number of the group of copies that is open */

    struct box_store *stores; /* asked of the TMA and not yet waited for (tensor.cpp), */
    size_t num_stores, max_stores;
    size_t num_committed; /* of them */

    struct seen seen[2];   /* of shared and of global memory, by strong accesses (poll.cpp) */
    const char *polled_at; /* where it last gave way for a word to change, NULL: never */
    const void *polled_pc;
    uint64_t slept; /* sim_progress at its last __nanosleep */

    struct sim_poison poisons[4];   /* undefined values that it has got by shuffles, */
    struct sim_poison_source gives; /* and one of them is in what it gives to the shuffle at which it waits */
};

struct block {
    uint64_t number; /* counts all blocks of all launches */
    unsigned slot;   /* which of those that may be resident */
    uint3 index;
    struct cluster *cluster;  /* its own one, */
    unsigned rank;            /* and its number there */
    bool stuck;               /* it cannot go on before others of the cluster come to their barrier */
    bool met;                 /* a thread of it has waited there: all blocks of the cluster have begun */
    uint64_t polls, yields;   /* in this round: threads that gave way until global memory changes, and all that did */
    bool looked_at_clock;     /* in the last round: it may go on though no memory changes */
    uint64_t quiet, quiet_at; /* rounds in a row in which it only waited; sim_changes of global memory in the last */

    const char *barrier_file; /* the place of the last barrier that all have passed; NULL: none */
    int barrier_line;
    unsigned num_done, num_at_barrier;
    unsigned num_met;                                  /* how often all have passed a barrier */
    uint32_t warp_waiting[SIM_MAX_THREADS / SIM_WARP]; /* lanes AT_WARP */
    uint32_t warp_living[SIM_MAX_THREADS / SIM_WARP];  /* lanes that exist and have not returned */
    unsigned num_gathering;                            /* threads AT_GATHER */

    struct sim_region *shared[256]; /* its shared memory (shared.cpp) */
    size_t num_shared, static_bytes;
    struct sim_region *dynamic;

    struct named_barrier *named_barriers; /* SIM_NAMED_BARRIERS of them, NULL: none was used (named_barrier.cpp) */

    struct mbarrier *mbarriers; /* SIM_MAX_BARRIERS of them (mbarrier.cpp) */
    unsigned num_mbarriers;
    struct bulk_copy *bulk_copies;
    size_t num_bulk_copies, max_bulk_copies;

    struct thread threads[SIM_MAX_THREADS]; /* by linear index */
};

/* The block that runs, and the thread of it; all blocks that were ever resident, by slot. */
extern struct block *sim_block;
extern struct thread *sim_current;
extern struct block *sim_slots[SIM_MAX_RESIDENT];

/* The launch that runs. */
extern const sim_config *sim_launched;
extern struct sim_kernel_info *sim_info;
extern unsigned sim_num_threads; /* of a block */
extern int sim_running_device;
extern struct sim_counts sim_counts; /* of it */

void sim_add_counts(struct sim_counts *to, const struct sim_counts *from);

static inline struct thread *sim_threads_end(void)
{
    return sim_block->threads + sim_num_threads;
}

static inline unsigned sim_thread_number(const struct thread *t)
{
    return (unsigned)(t - sim_block->threads);
}

/* So many lanes, the first ones of a warp, as a mask. */
static inline uint32_t sim_first_lanes(unsigned count)
{
    return count < SIM_WARP ? (1u << count) - 1 : ~0u;
}

/* Whether all its threads have returned. */
static inline bool sim_has_ended(const struct block *b)
{
    return b->num_done == sim_num_threads;
}

/* Its number in the grid. */
static inline uint64_t sim_grid_number(const struct block *b)
{
    return b->index.x + (uint64_t)gridDim.x * (b->index.y + (uint64_t)gridDim.y * b->index.z);
}

/* Whether the run that is recorded leaves out a barrier (sim_tell.leaves_out). */
static inline bool sim_is_left_out(const char *what, const char *file, int line)
{
    bool is_left_out = false;

    sim_tell.leaves_out(what, file, line, &is_left_out);
    return is_left_out;
}

/* Counts a step of a thread's chain, or so many: it has waited for others. */
static inline void sim_step(struct thread *t, unsigned count = 1)
{
    t->chain += count;
}

/* Faults in the name of a thread that may not be the running one. */
#define FAULT_OF(t, ...)                                                                                               \
    do {                                                                                                               \
        threadIdx = (t)->index;                                                                                        \
        sim_fault((t)->file, (t)->line, __VA_ARGS__);                                                                  \
    } while (0)

/* Faults unless a kernel runs. `what`: the call, for the message. */
static inline void sim_need_kernel(const char *what, const char *file, int line)
{
    if (!sim_place.in_thread)
        sim_fault(file, line, "%s outside a kernel. Call it from device code only", what);
}

#endif
