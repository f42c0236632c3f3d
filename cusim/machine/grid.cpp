/* SPDX-License-Identifier: MIT */
/* grid.cpp - the barrier of a grid: all threads of all blocks come to it. Only a cooperative launch has one, as only
   there all blocks are resident at the same time. Who has waited knows what all knew when they came (flag.cpp). */
#include "grid.h"

#include <stdio.h>
#include <string.h>

#include "fiber.h"
#include "named_barriers.h"
#include "fault.h"
#include "announce.h"

static uint64_t phase, num_come; /* barriers that all have come to; threads that have come to the next one */
static void *known;              /* observers: what those learn who wait at the last one */

void sim_begin_grid(void)
{
    phase = num_come = 0;
    known = NULL;
}

void sim_forget_grid(void)
{
    known = NULL;
}

static uint64_t num_expected(void)
{
    return (uint64_t)gridDim.x * gridDim.y * gridDim.z * sim_num_threads;
}

/* All threads have come: they go on. */
static void complete(void)
{
    unsigned count;
    struct block *const *const blocks = sim_residents(&count);

    for (unsigned i = 0; i < count; i++) {
        struct thread *const first = blocks[i]->threads;

        for (struct thread *t = first; t < first + sim_num_threads; t++) {
            if (t->line != first->line || strcmp(t->file, first->file) != 0)
                FAULT_OF(first,
                         "grid.sync(), while thread (%u,%u,%u) of the same block waits at grid.sync() at %s:%d. Let "
                         "all threads of the block reach the same barrier: move it out of the branch",
                         t->index.x, t->index.y, t->index.z, t->file, t->line);
            t->state = READY;
        }
        blocks[i]->stuck = false;
    }
    sim_tell.blocks_met(&known, blocks, count);
    num_come = 0;
    phase++;
    sim_counts.barriers++;
    sim_progress++;
}

void sim_grid_sync(const char *file, int line)
{
    sim_need_kernel("grid.sync()", file, line);
    if (!sim_launched->cooperative)
        sim_fault(
            file, line,
            "grid.sync() in a launch with <<<...>>>, which does not promise that all blocks run at the same time. "
            "Launch the kernel with cudaLaunchCooperativeKernel");

    sim_current->file = file;
    sim_current->line = line;
    sim_step(sim_current);
    sim_tell.barrier_reached("grid.sync", 0, phase, file, line);
    sim_tell.blocks_told();
    if (++num_come == num_expected()) {
        complete();
        SIM_LEAVE(READY); /* back in line: the lanes go on in their order */
    } else {
        SIM_LEAVE(AT_GRID);
    }
    sim_tell.blocks_learnt(known, true);
}

bool sim_grid_is_whole(void)
{
    return sim_place.in_thread && sim_launched->cooperative;
}

bool sim_waits_for_grid(void)
{
    for (const struct thread *t = sim_block->threads; t < sim_threads_end(); t++)
        if (t->state == AT_GRID)
            return true;
    return false;
}

void sim_explain_grid(void)
{
    struct thread *waits = sim_block->threads;
    char hangs[600] = ", and the other threads have ended";
    unsigned count;
    struct block *const *const blocks = sim_residents(&count);

    sim_place.in_thread = true;
    while (waits->state != AT_GRID)
        waits++;
    for (unsigned i = 0; i < count; i++)
        for (const struct thread *t = blocks[i]->threads; t < blocks[i]->threads + sim_num_threads; t++)
            if (t->state == DONE || t->state != AT_GRID) {
                const uint3 b = blocks[i]->index;
                if (t->state == DONE)
                    snprintf(hangs, sizeof(hangs), ", and thread (%u,%u,%u) of block (%u,%u,%u) has ended", t->index.x,
                             t->index.y, t->index.z, b.x, b.y, b.z);
                else
                    snprintf(hangs, sizeof(hangs), ", while thread (%u,%u,%u) of block (%u,%u,%u) waits at %s at %s:%d",
                             t->index.x, t->index.y, t->index.z, b.x, b.y, b.z, sim_waits_at(t), t->file, t->line);
            }
    FAULT_OF(waits,
             "grid.sync() never ends: %llu of the %llu threads of the grid have come to it%s. Let all threads of all "
             "blocks come to it, as often as the others",
             (unsigned long long)num_come, (unsigned long long)num_expected(), hangs);
}
