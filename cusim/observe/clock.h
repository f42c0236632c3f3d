/* SPDX-License-Identifier: MIT */
/* clock.h - time in a kernel: intervals, epochs and vector clocks (race.cpp says what they are for). */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdint.h>

#include "../include/cuda_runtime.h"
#include "../machine/sizes.h"

/* The fields of an access's record, from its lowest bits up: kind; place in the code; and its epoch, which is time,
   agent and, in the bits that are left, interval. */
enum { KIND_BITS = 3, SITE_BITS = 13, TIME_BITS = 12, AGENT_BITS = 11 };
enum {
    SITE_AT = KIND_BITS,
    TIME_AT = SITE_AT + SITE_BITS,
    AGENT_AT = TIME_AT + TIME_BITS,
    INTERVAL_AT = AGENT_AT + AGENT_BITS
};
static_assert(SIM_MAX_SITES == 1 << SITE_BITS && SIM_MAX_THREADS + SIM_MAX_BARRIERS == 1 << AGENT_BITS, "fields");

static inline uint64_t interval_of(uint64_t record)
{
    return record >> INTERVAL_AT;
}

static inline unsigned agent_of(uint64_t record)
{
    return record >> AGENT_AT & ((1 << AGENT_BITS) - 1);
}

static inline unsigned time_of(uint64_t record)
{
    return record >> TIME_AT & ((1 << TIME_BITS) - 1);
}

static inline unsigned site_of(uint64_t record)
{
    return record >> SITE_AT & ((1 << SITE_BITS) - 1);
}

/* IN_FLIGHT, COPIED: an asynchronous copy, on its way and done; READ_ONLY: by __ldg */
enum kind { PLAIN, STRONG, VOLATILE, IN_FLIGHT, COPIED, READ_ONLY };

static inline enum kind kind_of(uint64_t record)
{
    return (enum kind)(record & ((1 << KIND_BITS) - 1));
}

/* What one agent of a block (a thread, or SIM_MAX_THREADS + the number of an mbarrier) knows that the others have done
   since the block's last barrier. */
struct vector_clock {
    uint64_t interval; /* in another one the times below mean nothing */
    uint64_t chunks;   /* which times[32 i ... 32 i + 31] mean something */
    uint16_t time[SIM_MAX_THREADS + SIM_MAX_BARRIERS];
};

/* A plain read that races with an atomic, unless the thread's next access is an atomic of the same word (race.cpp). */
struct suspect {
    struct sim_region *region; /* NULL: none */
    size_t word;
    unsigned site;
    uint64_t record; /* of the other access */
};

/* A plain read of shared memory that nobody had written (race.cpp). */
struct unwritten {
    struct sim_region *region; /* NULL: none */
    size_t offset, size;
    unsigned site, thread;
};

/* What the threads of a block knew when they came to the barrier of their cluster. */
struct arrivals {
    struct vector_clock clock; /* by barriers of the block, */
    struct release *known;     /* and by flags and clusters */
    uint64_t epoch;            /* of the last that came */
};

/* What the search for races knows of a block that is resident. */
struct race_block {
    uint64_t first;        /* its first interval, */
    uint64_t interval;     /* and the one that it is in, */
    uint64_t told;         /* and the last one in which a thread told others what it knows */
    uint64_t cluster;      /* the first interval of its cluster: from this on its shared memory is its own */
    uint32_t serial;       /* its number in the launch, as they began */
    unsigned num_barriers; /* mbarriers that have been used */
    uint16_t times[SIM_MAX_THREADS + SIM_MAX_BARRIERS];
    uint64_t fenced[SIM_MAX_THREADS]; /* each thread's epoch at its last fence for the TMA */
    struct vector_clock clocks[SIM_MAX_THREADS];
    struct block_flags *flags; /* flag.cpp */
    struct arrivals arrivals;
    struct suspect suspects[SIM_MAX_THREADS];
    unsigned num_suspects;
    struct unwritten unwritten; /* the first one */
};
#define SIM_HOT extern __attribute__((visibility("hidden"))) /* each access reads these */
SIM_HOT struct race_block *sim_race;                         /* of the block that runs */
SIM_HOT unsigned sim_agent;                                  /* the thread that runs */
SIM_HOT uint64_t sim_epoch;                                  /* its epoch, at its place in a record */
extern uint64_t sim_launch_interval;                         /* first one of the launch */
extern uint64_t sim_last_interval;                           /* last one that has begun, of any block */
extern uint64_t sim_alone_since;                             /* from this one on all are the running block's */

/* Records that lie so, as numbers: of the running block, before its last barrier; of blocks that it knows nothing of by
   barriers; and from here on, if no thread of it has told others what it knows since the last barrier, its own and
   those of blocks that began later. Of most records this says in one comparison what race.cpp finds out by steps. */
SIM_HOT struct record_range {
    uint64_t from, size;
} sim_before_barrier, sim_of_others;
SIM_HOT uint64_t sim_since_barrier; /* UINT64_MAX: some have told */

/* The bits of a record that say which warp. In memory, as it takes instructions to make such a constant. */
SIM_HOT uint64_t sim_warp_bits;

static inline bool lies_in_range(uint64_t record, struct record_range range)
{
    return record - range.from < range.size;
}

/* Sets the running thread's epoch anew, after its time or interval has changed. */
static inline void sim_set_epoch(void)
{
    sim_epoch = sim_race->interval << INTERVAL_AT | (uint64_t)sim_agent << AGENT_AT |
                (uint64_t)sim_race->times[sim_agent] << TIME_AT;
}

/* The agent's time goes on: what it did until now is known to others. */
void sim_tick(unsigned agent);

/* What is known of the block that is resident in a slot. */
struct race_block *sim_race_of(unsigned slot);

/* Whether `clock` has reached that time of an agent in its block's present interval. */
static inline bool clock_reaches(const struct vector_clock *clock, uint64_t interval, unsigned agent, unsigned time)
{
    return clock->interval == interval && clock->chunks >> agent / 32 & 1 && clock->time[agent] >= time;
}

/* The number in the launch of the block that an interval belongs to, and that block's index. */
uint32_t sim_block_of(uint64_t interval);
uint3 sim_index_of(uint32_t serial);

/* When the numbers of intervals are used up, all that was remembered of accesses is forgotten: who else must forget. */
void sim_forgets_too(void (*forget)(void));

#endif
