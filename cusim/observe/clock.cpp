/* SPDX-License-Identifier: MIT */
/* clock.cpp - intervals and vector clocks: what threads of one block know of each other. */
#include "clock.h"

#include <stdlib.h>
#include <string.h>

#include "../machine/clusters.h"
#include "../machine/fault.h"
#include "../machine/grid.h"
#include "shadow.h"
#include "../runtime/tasks.h"
#include "../machine/announce.h"

static const unsigned last_time = (1 << TIME_BITS) - 1;
static const uint64_t most_intervals = (1 << 25) - 2;

struct race_block *sim_race;
unsigned sim_agent;
uint64_t sim_epoch, sim_launch_interval = 1, sim_last_interval = 1, sim_alone_since;
struct record_range sim_before_barrier, sim_of_others;
uint64_t sim_since_barrier;
uint64_t sim_warp_bits = (uint64_t)((1 << AGENT_BITS) - SIM_WARP) << AGENT_AT;

static struct race_block *resident[SIM_MAX_RESIDENT]; /* by slot */
static unsigned num_threads;                          /* of a block */

static uint32_t *owners; /* of each interval of the launch: the block's number */
static size_t max_owners;
static uint3 *indices; /* of each block of the launch */
static size_t num_blocks, max_blocks;

void sim_tick(unsigned agent)
{
    if (sim_race->times[agent] < last_time)
        sim_race->times[agent]++;
}

uint32_t sim_block_of(uint64_t interval)
{
    return owners[interval - sim_launch_interval];
}

uint3 sim_index_of(uint32_t serial)
{
    return indices[serial];
}

/* ---- vector clocks ---- */

static void refresh(struct vector_clock *c)
{
    if (c->interval != sim_race->interval) {
        c->interval = sim_race->told = sim_race->interval;
        sim_since_barrier = UINT64_MAX;
        c->chunks = 0;
    }
}

static void set_time(struct vector_clock *c, unsigned of, uint16_t time)
{
    refresh(c);
    if (!(c->chunks >> of / 32 & 1)) {
        memset(c->time + of / 32 * 32, 0, 32 * sizeof(*c->time));
        c->chunks |= (uint64_t)1 << of / 32;
    }
    if (c->time[of] < time)
        c->time[of] = time;
}

/* to: whatever to or from knew. */
static void join(struct vector_clock *to, const struct vector_clock *from)
{
    if (from->interval != sim_race->interval)
        return; /* since then all know, by a barrier */
    refresh(to);
    for (uint64_t rest = from->chunks; rest != 0; rest &= rest - 1) {
        const unsigned chunk = (unsigned)__builtin_ctzll(rest);
        uint16_t *t = to->time + chunk * 32;
        const uint16_t *f = from->time + chunk * 32;

        if (!(to->chunks >> chunk & 1)) {
            memcpy(t, f, 32 * sizeof(*t));
            continue;
        }
#pragma GCC ivdep /* two clocks, or one and itself: several at a time */
        for (unsigned i = 0; i < 32; i++)
            t[i] = t[i] < f[i] ? f[i] : t[i];
    }
    to->chunks |= from->chunks;
}

/* ---- intervals ---- */

static void set_ranges(void)
{
    const uint64_t alone = sim_alone_since << INTERVAL_AT, launch = sim_launch_interval << INTERVAL_AT;
    const bool never_left = sim_alone_since == sim_race->first; /* since it began */
    const uint64_t now = sim_race->interval << INTERVAL_AT;

    sim_before_barrier = {alone, now > alone ? now - alone : 0};
    sim_of_others = {launch, never_left ? alone - launch : 0};
    sim_since_barrier = sim_race->told == sim_race->interval ? UINT64_MAX : now;
}

static void begin_interval(struct race_block *b)
{
    const size_t number = ++sim_last_interval - sim_launch_interval;

    if (number >= max_owners) {
        max_owners = max_owners * 2 + 4096;
        owners = (uint32_t *)realloc(owners, max_owners * sizeof(*owners));
        if (owners == NULL)
            sim_fault(NULL, 0, "no memory to remember the barriers. Free some memory, or launch fewer blocks");
    }
    owners[number] = b->serial;
    b->interval = sim_last_interval;
}

static void (*also_forget[3])(void);
static unsigned num_forget;

void sim_forgets_too(void (*forget)(void))
{
    also_forget[num_forget++] = forget;
}

/* The numbers of intervals are used up: begins again, all forgotten. */
static void forget(void)
{
    struct race_block *running = sim_race;

    sim_shadow_forget();
    sim_forget_clusters();
    sim_forget_grid();
    sim_last_interval = 0;
    sim_launch_interval = sim_alone_since = 1;
    for (struct race_block *b : resident)
        if (b != NULL) {
            for (struct vector_clock &c : b->clocks)
                c.interval = 0;
            begin_interval(b);
            b->first = b->interval;
            b->cluster = 1;
            b->arrivals.clock.interval = 0;
            b->arrivals.known = NULL;
        }
    sim_race = running;
    for (unsigned i = 0; i < num_forget; i++)
        also_forget[i]();
    sim_tasks_forget(1);
}

static void new_interval(void)
{
    if (sim_last_interval == most_intervals)
        forget();
    begin_interval(sim_race);
    for (unsigned i = 0; i < num_threads; i++)
        sim_race->times[i] = 1;
    for (unsigned i = SIM_MAX_THREADS; i < SIM_MAX_THREADS + sim_race->num_barriers; i++)
        sim_race->times[i] = 1;
    set_ranges();
}

uint64_t sim_race_one_interval(void)
{
    if (sim_last_interval == most_intervals)
        forget();
    return ++sim_last_interval;
}

void sim_race_launch(unsigned threads)
{
    num_threads = threads;
    num_blocks = 0;
    sim_launch_interval = sim_last_interval + 1;
    sim_task_takes(sim_launch_interval);
}

struct race_block *sim_race_of(unsigned slot)
{
    return resident[slot];
}

void sim_race_block(unsigned slot, bool begins_cluster)
{
    static uint64_t cluster;

    if (resident[slot] == NULL)
        resident[slot] = (struct race_block *)calloc(1, sizeof(*resident[slot]));
    if (num_blocks == max_blocks) {
        max_blocks = max_blocks * 2 + 1024;
        indices = (uint3 *)realloc(indices, max_blocks * sizeof(*indices));
    }
    if (resident[slot] == NULL || indices == NULL)
        sim_fault(NULL, 0, "no memory to remember the blocks. Free some memory, or launch fewer");
    sim_race = resident[slot];
    sim_race->serial = (uint32_t)num_blocks;
    sim_race->num_barriers = 0;
    sim_race->unwritten.region = NULL;
    indices[num_blocks++] = blockIdx;
    new_interval();
    sim_race->first = sim_alone_since = sim_race->interval;
    sim_race->told = 0;
    set_ranges();
    if (begins_cluster)
        cluster = sim_race->first;
    sim_race->cluster = cluster;
    sim_race->arrivals.clock.interval = 0;
    sim_race->arrivals.known = NULL;
}

void sim_race_switch(unsigned slot)
{
    sim_race = resident[slot];
    sim_alone_since = sim_last_interval + 1;
    set_ranges();
}

/* ---- what orders the threads of a block ---- */

void sim_race_barrier(void)
{
    if (!sim_watches)
        return;
    new_interval();
}

void sim_race_syncwarp(unsigned first_thread, unsigned mask)
{
    static struct vector_clock all;

    if (!sim_watches)
        return;
    all.interval = 0;
    refresh(&all);
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        const unsigned thread = first_thread + (unsigned)__builtin_ctz(rest);
        join(&all, &sim_race->clocks[thread]);
        set_time(&all, thread, sim_race->times[thread]);
        sim_tick(thread);
    }
    for (unsigned rest = mask; rest != 0; rest &= rest - 1)
        join(&sim_race->clocks[first_thread + (unsigned)__builtin_ctz(rest)], &all);
    sim_set_epoch();
}

void sim_race_release(struct vector_clock *clock)
{
    join(clock, &sim_race->clocks[sim_agent]);
    set_time(clock, sim_agent, sim_race->times[sim_agent]);
    sim_tick(sim_agent);
    sim_set_epoch();
}

void sim_race_inform(unsigned thread, const struct vector_clock *clock)
{
    join(&sim_race->clocks[thread], clock);
}

void sim_race_phase_ends(int barrier, const struct vector_clock *arrived, struct vector_clock *ended)
{
    const unsigned engine = SIM_MAX_THREADS + (unsigned)barrier;

    join(ended, arrived);
    if (barrier < 0)
        return;
    for (; sim_race->num_barriers <= (unsigned)barrier; sim_race->num_barriers++)
        sim_race->times[SIM_MAX_THREADS + sim_race->num_barriers] = 1;
    sim_tick(engine);
    set_time(ended, engine, sim_race->times[engine]);
}
