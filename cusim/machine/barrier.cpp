/* SPDX-License-Identifier: MIT */
/* barrier.cpp - __syncthreads and its kin; fences. */
#include "barrier.h"

#include <stdlib.h>
#include <string.h>
#include <set>
#include <string>
#include <utility>

#include "access.h"
#include "cores.h"
#include "fiber.h"
#include "settings.h"
#include "fault.h"
#include "announce.h"

const char *const sim_barrier_names[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and",
                                         "__syncthreads_or"};

/* A warp that comes to a barrier is counted, wherever that stands in the program: what hardware does, though CUDA
   does not promise it (CUSIM_BARRIERS=any). */
static bool any_place;

__attribute__((constructor)) static void read_barriers(void)
{
    const char *text = sim_setting("CUSIM_BARRIERS");

    any_place = text != NULL && strcmp(text, "any") == 0;
    if (text != NULL && !any_place && strcmp(text, "same") != 0)
        sim_bad_setting("CUSIM_BARRIERS", text, "same or any");
}

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
    if (sim_is_left_out(sim_barrier_names[kind], file, line))
        return predicate;
    if (sim_tell.barrier_reached.count > 0)
        sim_tell.barrier_reached(sim_barrier_names[kind], sim_grid_number(sim_block), sim_block->num_met, file, line);
    sim_block->num_at_barrier++;
    SIM_LEAVE(AT_BARRIER);
    return (int)sim_current->value;
}

/* Threads that have returned do not count at a barrier: so the Programming Guide has it since Volta. The others are
   told once for each barrier, by thread `waits`. */
static void remark_ended(struct thread *waits)
{
    static std::set<std::pair<std::string, int>> told;
    const struct thread *done = sim_block->threads;

    if (sim_block->num_done == 0 || !told.insert({waits->file, waits->line}).second)
        return;
    while (done->state != DONE)
        done++;
    threadIdx = waits->index;
    sim_remark(
        waits->file, waits->line,
        "%s waits for thread (%u,%u,%u), which has ended without coming to it. Since Volta a GPU goes on without "
        "it: let all threads of the block reach the barrier all the same, and put only the work behind the "
        "condition, with no barrier and no return",
        sim_barrier_names[waits->kind], done->index.x, done->index.y, done->index.z);
}

void sim_release_barrier(void)
{
    struct thread *first = NULL, *as = NULL; /* of the block, and of those whose barrier a thread's must be */
    uint64_t sum = 0;

    for (struct thread *t = sim_block->threads; t < sim_threads_end(); t++) {
        if (t->state != AT_BARRIER)
            continue;
        if (first == NULL)
            first = as = t;
        if (any_place && sim_thread_number(t) / SIM_WARP != sim_thread_number(as) / SIM_WARP)
            as = t;
        if (t->line != as->line || t->kind != first->kind || (t->file != as->file && strcmp(t->file, as->file) != 0))
            divergent_barrier(as, t);
        sum += t->value;
    }
    remark_ended(first);
    const uint64_t value = first->kind == SIM_BARRIER_COUNT ? sum
                           : first->kind == SIM_BARRIER_AND ? sum == sim_block->num_at_barrier
                                                            : sum > 0;
    for (struct thread *t = sim_block->threads; t < sim_threads_end(); t++) {
        if (t->state != AT_BARRIER)
            continue;
        t->value = value;
        t->state = READY;
        sim_step(t);
    }
    sim_tell.barrier_passed();
    sim_block->barrier_file = first->file;
    sim_block->barrier_line = first->line;
    sim_block->num_at_barrier = 0;
    sim_block->num_met++;
    sim_counts.barriers++;
    sim_progress++;
}

void sim_order(unsigned how)
{
    const unsigned orders = ((how & SIM_ACQUIRE) != 0) + ((how & SIM_RELEASE) != 0);

    if (orders > 0)
        sim_order_memory();
    sim_counts.orders += orders;
    sim_counts.strong_orders += how & SIM_STRONGER ? orders : 0;
}

void sim_fence(const char *what, unsigned how, const char *file, int line)
{
    sim_need_kernel(what, file, line);
    sim_order(how);
    sim_tell.fence(how);
}
