/* SPDX-License-Identifier: MIT */
/* named_barriers.cpp - barriers that some warps of a block come to, by sync or by arrive. */
#include "named_barriers.h"

#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "fiber.h"
#include "../include/sim_named_barrier.h"
#include "warp.h"
#include "fault.h"
#include "announce.h"

static const char *const names[SIM_NAMED_BARRIERS] = {
    "named_barrier 0",  "named_barrier 1",  "named_barrier 2",  "named_barrier 3",
    "named_barrier 4",  "named_barrier 5",  "named_barrier 6",  "named_barrier 7",
    "named_barrier 8",  "named_barrier 9",  "named_barrier 10", "named_barrier 11",
    "named_barrier 12", "named_barrier 13", "named_barrier 14", "named_barrier 15"};
static const char *const sync_name = "named_barrier_sync", *const arrive_name = "named_barrier_arrive";

void sim_begin_named_barriers(void)
{
    for (unsigned i = 0; i < SIM_NAMED_BARRIERS && sim_block->named_barriers != NULL; i++)
        sim_block->named_barriers[i].come = 0;
}

/* What a call may ask for. */
static void check_call(const char *name, int id, int threads, const char *file, int line)
{
    sim_need_kernel(name, file, line);
    if (id < 1 || id >= (int)SIM_NAMED_BARRIERS)
        sim_fault(file, line, "%s of barrier %d. Take 1 to %u; 0 is that of __syncthreads", name, id,
                  SIM_NAMED_BARRIERS - 1);
    if (sim_num_threads % SIM_WARP != 0)
        sim_fault(file, line, "%s in a block of %u threads. Launch a multiple of 32", name, sim_num_threads);
    if (threads < (int)SIM_WARP || threads % SIM_WARP != 0 || threads > (int)sim_num_threads)
        sim_fault(
            file, line,
            "%s of barrier %d for %d threads. Name a multiple of 32, as many as come to it, at most the %u of the "
            "block",
            name, id, threads, sim_num_threads);
}

/* All have come: those that wait go on, and the barrier begins anew. */
static void complete(struct named_barrier *b, const char *name, int id, const char *file, int line)
{
    for (unsigned warp = 0; warp < SIM_MAX_THREADS / SIM_WARP; warp++)
        if (b->lanes[warp] != 0 && b->lanes[warp] != 0xffffffff)
            sim_fault(
                file, line,
                "%s of barrier %d, to which only some lanes of warp %u have come. Let all lanes of a warp call it "
                "together: move it out of the branch",
                name, id, warp);
    for (struct thread *t = sim_block->threads; t < sim_threads_end(); t++)
        if (t->state == AT_NAMED_BARRIER && t->named_barrier == b) {
            sim_tell.gate_passed(b->known, sim_thread_number(t));
            t->state = READY;
        }
    b->come = 0;
    sim_counts.barriers++;
    sim_progress++;
}

static void come(const char *name, int id, int threads, bool waits, const char *file, int line)
{
    check_call(name, id, threads, file, line);
    if (waits && sim_is_left_out(name, file, line))
        return;
    if (sim_block->named_barriers == NULL)
        sim_block->named_barriers = (struct named_barrier *)calloc(SIM_NAMED_BARRIERS, sizeof(struct named_barrier));
    if (sim_block->named_barriers == NULL)
        sim_fault(file, line, "no memory for barriers. Free some memory");
    struct named_barrier *const b = &sim_block->named_barriers[id];
    const unsigned number = sim_thread_number(sim_current), warp = number / SIM_WARP, lane = number % SIM_WARP;

    if (b->come == 0) { /* a new phase */
        b->threads = (unsigned)threads;
        b->file = file;
        b->line = line;
        memset(b->lanes, 0, sizeof(b->lanes));
        sim_tell.gate_begins(&b->known);
    }
    if (b->threads != (unsigned)threads)
        sim_fault(
            file, line,
            "%s of barrier %d for %d threads, which was called for %u at %s:%d. Name the same number in all calls",
            name, id, threads, b->threads, b->file, b->line);
    if (b->lanes[warp] >> lane & 1)
        sim_fault(file, line,
                  "%s of barrier %d by a thread that has come to it before, while %u of its %u threads are still "
                  "expected. Let it wait until they have come, at another barrier for the way back",
                  name, id, b->threads - b->come, b->threads);
    b->lanes[warp] |= 1u << lane;
    b->come++;
    sim_tell.barrier_reached(names[id], sim_grid_number(sim_block), b->phase, file, line);
    sim_tell.gate_arrived(b->known);
    sim_current->named_barrier = b;
    sim_current->file = file;
    sim_current->line = line;
    if (waits)
        sim_step(sim_current);
    if (b->come < b->threads) {
        if (waits)
            SIM_LEAVE(AT_NAMED_BARRIER);
        return;
    }
    b->phase++;
    sim_tell.gate_ends(b->known, -1);
    complete(b, name, id, file, line);
    if (waits) {
        sim_tell.gate_passed(b->known, sim_thread_number(sim_current));
        SIM_LEAVE(READY); /* back in line: the warps go on in their order */
    }
}

void named_barrier_sync(int id, int threads, const char *file, int line)
{
    come(sync_name, id, threads, true, file, line);
}

void named_barrier_arrive(int id, int threads, const char *file, int line)
{
    come(arrive_name, id, threads, false, file, line);
}

const char *sim_waits_at(const struct thread *t)
{
    return t->state == AT_WARP       ? sim_warp_names[t->kind]
           : t->state == AT_BARRIER  ? sim_barrier_names[t->kind]
           : t->state == AT_MBARRIER ? "mbarrier_wait"
           : t->state == AT_CLUSTER  ? "cluster_wait"
           : t->state == AT_GRID     ? "grid.sync()"
                                     : sync_name;
}

void sim_explain_named_barrier(struct thread *waits)
{
    const struct named_barrier *b = waits->named_barrier;
    char hangs[600] = "";

    for (struct thread *t = sim_block->threads; t < sim_threads_end() && *hangs == '\0'; t++) {
        if (t->state == DONE)
            snprintf(hangs, sizeof(hangs), ", and thread (%u,%u,%u) has ended", t->index.x, t->index.y, t->index.z);
        else if (t->state != AT_NAMED_BARRIER || t->named_barrier != b)
            snprintf(hangs, sizeof(hangs), ", while thread (%u,%u,%u) waits at %s at %s:%d", t->index.x, t->index.y,
                     t->index.z, sim_waits_at(t), t->file, t->line);
    }
    FAULT_OF(waits,
             "%s of barrier %d never ends: %u of %u threads have come%s. Let as many come to it, by sync or arrive, as "
             "the calls name",
             sync_name, (int)(b - sim_block->named_barriers), b->come, b->threads, hangs);
}
