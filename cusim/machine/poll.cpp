/* SPDX-License-Identifier: MIT */
/* poll.cpp - threads that wait for a word to change give way to those that may change it. */
#include "poll.h"

#include <stdio.h>

#include "fiber.h"
#include "region.h"
#include "fault.h"

uint64_t sim_changes[2];

bool sim_seen(const char *at, const void *pc, bool global)
{
    struct seen *seen = &sim_current->seen[global];
    /* Who polls global memory and tells the others through shared memory still polls. */
    const uint64_t now = sim_changes[SIM_GLOBAL_MEMORY] + (global ? 0 : sim_changes[SIM_SHARED_MEMORY]);

    if (seen->changes != now) {
        seen->changes = now;
        seen->count = 0;
    }
    for (unsigned i = 0; i < seen->count && i < SIM_SEEN; i++)
        if (seen->words[i].at == at && seen->words[i].pc == pc)
            return true;
    seen->words[seen->count++ % SIM_SEEN] = {at, pc};
    return false;
}

void sim_poll(const char *at, const void *pc, bool global)
{
    sim_current->polled_at = at;
    sim_current->polled_pc = pc;
    sim_block->polls += global;
    sim_block->yields++;
    SIM_LEAVE(YIELDED);
}

void __nanosleep(unsigned, const char *file, int line)
{
    sim_need_kernel("__nanosleep", file, line);
    sim_current->file = file;
    sim_current->line = line;
    sim_current->slept = sim_progress;
    sim_block->yields++;
    SIM_LEAVE(YIELDED);
}

bool sim_sleeps(const char **file, int *line)
{
    *file = sim_current->file;
    *line = sim_current->line;
    return sim_current->slept == sim_progress;
}

void sim_explain_poll(unsigned resident, uint64_t waiting)
{
    char what[600], others[300];
    struct thread *t = sim_block->threads;

    while (t < sim_threads_end() - 1 && t->state != YIELDED)
        t++;
    threadIdx = t->index;
    if (waiting > 0)
        snprintf(others, sizeof(others),
                 "all %u blocks that run wait like this, and the other %llu begin only when one of them ends. Let each "
                 "block take its number from an atomicAdd when it begins, so that it waits only for blocks that began "
                 "before, or launch no more blocks than fit",
                 resident, (unsigned long long)waiting);
    else
        snprintf(others, sizeof(others),
                 "no thread that runs will change it. See who should write it, and what that thread waits for");
    if (t->polled_at == NULL)
        sim_fault(t->file, t->line, "polls for something that never comes: %s", others);
    sim_region_describe(t->polled_at, 0, what, sizeof(what));
    sim_fault_at(t->polled_pc, "polls %s, which never changes: %s", what, others);
}
