/* SPDX-License-Identifier: MIT */
/* barrier.cpp - __syncthreads and its kin; fences. */
#include "barrier.h"

#include <string.h>

#include "fiber.h"
#include "observe.h"
#include "race.h"

const char *const sim_barrier_names[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and",
                                         "__syncthreads_or"};

/* Two threads wait at barriers that are not the same. */
static void divergent_barrier(struct thread *a, struct thread *b)
{
    FAULT_OF(
        a,
        "%s, while thread (%u,%u,%u) waits at %s at %s:%d. Let all threads of the block reach the same barrier: move "
        "it out of the branch",
        sim_barrier_names[a->kind], b->index.x, b->index.y, b->index.z, sim_barrier_names[b->kind], b->file, b->line);
}

int sim_barrier(sim_barrier_kind kind, int predicate, const char *file, int line)
{
    sim_need_kernel(sim_barrier_names[kind], file, line);
    sim_current->kind = kind;
    sim_current->value = predicate != 0;
    sim_current->file = file;
    sim_current->line = line;
    sim_block->num_at_barrier++;
    SIM_LEAVE(AT_BARRIER);
    return (int)sim_current->value;
}

void sim_release_barrier(void)
{
    struct thread *const first = sim_block->threads;
    uint64_t sum = 0;

    for (struct thread *t = sim_block->threads; t < sim_threads_end(); t++) {
        if (t->line != first->line || t->kind != first->kind || strcmp(t->file, first->file) != 0)
            divergent_barrier(first, t);
        sum += t->value;
    }
    for (struct thread *t = sim_block->threads; t < sim_threads_end(); t++) {
        t->value = t->kind == SIM_BARRIER_COUNT ? sum : t->kind == SIM_BARRIER_AND ? sum == sim_num_threads : sum > 0;
        t->state = READY;
        sim_step(t);
    }
    sim_race_barrier();
    sim_path_meet();
    sim_block->num_at_barrier = 0;
    sim_counts.barriers++;
    sim_progress++;
}

void sim_fence(const char *what, unsigned how, const char *file, int line)
{
    sim_need_kernel(what, file, line);
    sim_observe_order(how);
    sim_race_fence(how & SIM_BLOCK_SCOPE);
}

void sim_explain_barrier(void)
{
    struct thread *waits = NULL, *done = NULL;
    for (struct thread *t = sim_block->threads; t < sim_threads_end(); t++) {
        if (t->state == DONE && done == NULL)
            done = t;
        if (t->state == AT_BARRIER && waits != NULL && t->line != waits->line)
            divergent_barrier(waits, t);
        if (t->state == AT_BARRIER && waits == NULL)
            waits = t;
    }
    FAULT_OF(waits,
             "%s waits for thread (%u,%u,%u), which has ended without coming to it. Let all threads of the block "
             "reach it: put the work inside the condition, not the barrier or the return",
             sim_barrier_names[waits->kind], done->index.x, done->index.y, done->index.z);
}
