/* SPDX-License-Identifier: MIT */
/* schedule.cpp - the threads of a block take turns on one CPU thread.

   A warp runs as far as it can before the next one starts. When a round over all warps runs no thread and some are not
   DONE, they wait for what never comes: a fault. When a round does nothing but poll, other blocks should come. */
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "barrier.h"
#include "clusters.h"
#include "fiber.h"
#include "grid.h"
#include "mbarrier.h"
#include "named_barriers.h"
#include "order.h"
#include "poll.h"
#include "shared.h"
#include "tensor.h"
#include "warp.h"
#include "fault.h"
#include "announce.h"

void sim_explain_stall(void)
{
    struct thread *held = NULL, *named = NULL;

    for (struct thread *t = sim_block->threads; t < sim_threads_end(); t++) {
        if (t->state == AT_MBARRIER && (held == NULL || (t->receives && !held->receives)))
            held = t;
        if (t->state == AT_NAMED_BARRIER && named == NULL)
            named = t;
    }
    sim_explain_warp(held != NULL || named != NULL);
    if (held != NULL)
        sim_explain_mbarrier(held);
    if (named != NULL)
        sim_explain_named_barrier(named);
    sim_fault(sim_launched->file, sim_launched->line,
              "the threads of a block wait for each other. See where each waits");
}

/* A thread's stack comes into the CPU's nearest cache while the one before it runs: a turn may be so short that the
   wait for these two lines would be a third of it. */
static inline void fetch_stack(const struct thread *t)
{
    const char *const top = (const char *)t->context[2]; /* the stack pointer, see __builtin_setjmp */

    __builtin_prefetch(top);
    __builtin_prefetch(top + 64);
}

static void end_thread(const struct thread *t)
{
    if (t->num_stores > 0)
        sim_check_stores(t);
    sim_lane_ends(t);
}

/* Gives each lane of a warp that can run one turn. Returns whether any ran. */
static bool run_lanes(unsigned warp)
{
    struct thread *lanes = &sim_block->threads[warp * SIM_WARP];
    const unsigned rest = sim_num_threads - warp * SIM_WARP, count = rest < SIM_WARP ? rest : SIM_WARP;
    struct thread *const last = &lanes[count - 1];
    bool ran = false;

    if (sim_schedule == SIM_FORWARD) { /* the usual order, with less to remember from one jump to the next */
        for (struct thread *t = lanes; t <= last; t++)
            if (t->state == READY) {
                fetch_stack(t < last ? t + 1 : t);
                SIM_RESUME(t);
                if (t->state == DONE)
                    end_thread(t);
                ran = true;
            }
    } else {
        struct sim_order order = sim_make_order(count);
        for (unsigned i = 0; i < count; i++) {
            struct thread *t = &lanes[sim_next(&order)];
            if (t->state == READY) {
                SIM_RESUME(t);
                if (t->state == DONE)
                    end_thread(t);
                ran = true;
            }
        }
    }
    sim_tell.pass(warp);
    return ran;
}

static void begin_thread(struct thread *t, unsigned i)
{
    if (t->stack == NULL)
        sim_make_fiber(t);
    t->index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
    t->state = READY;
    t->num_copies = 0;
    t->group = 0;
    t->num_stores = t->num_committed = 0;
    t->chain = 0;
    t->polled_at = NULL;
    t->come_file = NULL;
    t->gives.file = NULL;
    t->seen[0].count = t->seen[1].count = 0;
}

/* The index in the grid of a block of a cluster: clusters are numbered like blocks, and blocks in a cluster, too. */
static uint3 index_of(uint64_t cluster_number, unsigned rank)
{
    const dim3 c = sim_launched->cluster;
    const uint64_t across = gridDim.x / c.x, down = gridDim.y / c.y;

    return {(unsigned)(cluster_number % across) * c.x + rank % c.x,
            (unsigned)(cluster_number / across % down) * c.y + rank / c.x % c.y,
            (unsigned)(cluster_number / across / down) * c.z + rank / c.x / c.y};
}

void sim_begin_block(unsigned slot, struct cluster *cluster, uint64_t cluster_number, unsigned rank)
{
    static uint64_t num_blocks;

    if (sim_slots[slot] == NULL) {
        sim_slots[slot] = (struct block *)aligned_alloc(alignof(struct block), sizeof(struct block));
        if (sim_slots[slot] == NULL)
            sim_fault(sim_launched->file, sim_launched->line, "no memory for another block. Free some memory");
        memset((void *)sim_slots[slot], 0, sizeof(struct block));
    }
    if (sim_block != NULL)
        sim_switch_shared(false);
    struct block *b = sim_block = sim_slots[slot];
    b->number = ++num_blocks;
    b->slot = slot;
    b->index = index_of(cluster_number, rank);
    b->cluster = cluster;
    b->rank = rank;
    b->stuck = b->met = false;
    cluster->blocks[rank] = b;
    b->num_done = b->num_at_barrier = b->num_met = b->num_gathering = 0;
    b->barrier_file = NULL;
    b->num_shared = b->static_bytes = 0;
    b->dynamic = NULL;
    sim_begin_named_barriers();
    b->num_mbarriers = 0;
    b->num_bulk_copies = 0;
    b->quiet = 0;
    memset(b->warp_waiting, 0, sizeof(b->warp_waiting));
    for (unsigned first = 0; first < sim_num_threads; first += SIM_WARP)
        b->warp_living[first / SIM_WARP] = sim_first_lanes(sim_num_threads - first);
    blockIdx = b->index;
    sim_place.in_block = true;
    for (unsigned i = 0; i < sim_num_threads; i++)
        begin_thread(&b->threads[i], i);
    sim_tell.block_begins(b);
}

void sim_switch_block(struct block *to)
{
    if (sim_block == to)
        return;
    if (sim_block != NULL)
        sim_switch_shared(false);
    sim_block = to;
    sim_switch_shared(true);
    blockIdx = to->index;
    sim_place.in_block = true;
    sim_tell.block_goes_on(to);
}

static void end_block(void)
{
    sim_tell.block_done();
    sim_check_bulk_copies();
    sim_place.in_thread = false;
    if (sim_block->cluster->size > 1)
        sim_leave_shared();
    for (struct thread *t = sim_block->threads; t < sim_threads_end(); t++) {
        if (t->chain > sim_counts.chain)
            sim_counts.chain = t->chain;
        if (sim_num_poisons > 0)
            sim_heal_thread(t);
    }
    sim_tell.block_ends(sim_block);
    sim_end_shared();
    sim_switch_shared(false);
    sim_block->cluster->living--;
    sim_place.in_block = false;
    sim_block = NULL;
    sim_counts.blocks++;
    sim_counts.threads += sim_num_threads;
}

/* Gives each warp the chance to run as far as it can. Returns whether any ran. */
static bool run_round(void)
{
    const unsigned num_warps = (sim_num_threads + SIM_WARP - 1) / SIM_WARP;
    struct sim_order order = sim_make_order(num_warps);
    bool ran = false;

    for (unsigned i = 0; i < num_warps; i++) {
        const unsigned warp = (unsigned)sim_next(&order);

        for (unsigned t = warp * SIM_WARP; t < sim_num_threads && t < (warp + 1) * SIM_WARP; t++)
            if (sim_block->threads[t].state == YIELDED)
                sim_block->threads[t].state = READY;
        while (run_lanes(warp) || sim_gather_lanes(warp)) {
            ran = true;
            if (sim_schedule == SIM_RANDOM && sim_random() % 2 == 0)
                break; /* sometimes the next warp comes earlier */
        }
    }
    return ran;
}

/* In the last round, did the block only wait for others to change something? A round in which nobody waits, as when a
   barrier lies between two polls, says nothing. */
static bool was_quiet(uint64_t shared_changes, uint64_t global_changes, unsigned num_done)
{
    struct block *b = sim_block;
    const bool shared_changed = sim_changes[SIM_SHARED_MEMORY] != shared_changes;

    if (b->num_done != num_done || sim_changes[SIM_GLOBAL_MEMORY] != global_changes ||
        (b->yields > 0 && b->polls == 0 && shared_changed))
        b->quiet = 0;
    else if (b->yields > 0) {
        b->quiet = b->quiet_at == global_changes ? b->quiet + 1 : 1;
        b->quiet_at = global_changes;
        return true;
    }
    return false;
}

enum sim_outcome sim_run_block(bool others)
{
    struct block *const b = sim_block;

    sim_place.in_thread = true;
    while (b->num_done < sim_num_threads) {
        const uint64_t shared = sim_changes[SIM_SHARED_MEMORY], global = sim_changes[SIM_GLOBAL_MEMORY];
        const uint64_t atomics = sim_global_atomics;
        const unsigned done = b->num_done;

        b->polls = b->yields = 0;
        b->looked_at_clock = false;
        const bool ran = run_round();
        if (b->num_at_barrier > 0 && b->num_at_barrier + b->num_done == sim_num_threads)
            sim_release_barrier();
        else if (!ran && (sim_waits_for_cluster() || sim_waits_for_grid())) {
            b->stuck = true;
            return SIM_WAITS;
        } else if (!ran)
            sim_explain_stall();
        if (was_quiet(shared, global, done))
            return SIM_WAITS;
        /* Blocks that are numbered by an atomic: others may come before this one uses its number. */
        if (others && b->num_done < sim_num_threads && sim_schedule != SIM_FORWARD && sim_global_atomics != atomics)
            return SIM_MAY_SWITCH;
        if (others && b->num_done < sim_num_threads && sim_schedule == SIM_RANDOM && sim_random() % 2 == 0)
            return SIM_MAY_SWITCH;
    }
    end_block();
    return SIM_ENDED;
}
