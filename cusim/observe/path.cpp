/* SPDX-License-Identifier: MIT */
/* path.cpp - the longest path through a block: what one warp waits for after the other.

       load x, load c   shuffle  shuffle  shared load   __syncthreads   store
       one far step     two exchanges     one           one meeting     none: nobody waits for it

   A load is near where L1 holds all its sectors, from L2 where that holds them (it fetches 64 bytes at once), else far.
   A barrier makes all warps as late as the latest. Which of two paths is the longer one, the weights say: cycles, about
   those of all chips since 2018. Only the choice depends on them; what is counted are steps.

   A second path goes on from block to block, if all of them began at once:

       block 0   load  scan  publish
                                  \ hand-over: the store's way to L2, and a load's way there and back
       block 1   load  scan . . . . learn  publish
                                                 \
       block 2   load  scan . . . . . . . . . . . . learn

   A word that is published twice counts from the first time on: who looks back and finds a prefix now would have gone
   on with the aggregate before. */
#include "path.h"

#include <stdlib.h>
#include <string.h>
#include <unordered_map>

#include "../machine/block.h"
#include "../machine/fault.h"

static const uint64_t weights[SIM_NUM_STEPS] = {35, 270, 700, 700, 30, 30, 30};

static const uint64_t handover = 2 * weights[SIM_L2];

/* A word that others see: who wrote it, and what the path across the blocks was then. */
struct published {
    uint64_t block, across, handovers, handover_work;
};
static std::unordered_map<const char *, struct published> words; /* of this launch */

/* Of the blocks that are resident, by slot. */
static struct block_path {
    struct sim_path paths[SIM_MAX_THREADS / SIM_WARP]; /* of its warps */
    uint64_t turns;                                    /* in the memory pipeline of its SM */
} * resident[SIM_MAX_RESIDENT];

static struct sim_path *path_of(unsigned warp)
{
    return &resident[sim_block->slot]->paths[warp];
}

void sim_path_begin(const struct block *of)
{
    if (resident[of->slot] == NULL)
        resident[of->slot] = (struct block_path *)calloc(1, sizeof(struct block_path));
    if (resident[of->slot] == NULL)
        sim_fault(NULL, 0, "no memory for the path of another block. Free some memory");
    struct block_path *const b = resident[of->slot];
    b->turns = 0;
    for (unsigned warp = 0; warp < (sim_num_threads + SIM_WARP - 1) / SIM_WARP; warp++) {
        b->paths[warp] = {};
        b->paths[warp].last = SIM_NUM_STEPS;
    }
}

void sim_path_step(unsigned warp, enum sim_step step)
{
    struct sim_path *p = path_of(warp);

    if (step > SIM_FAR && p->ahead > 0)
        p->has_waited = true;
    p->steps[step]++;
    p->weight += weights[step];
    p->across += weights[step];
    p->handover_work += step >= SIM_SHARED_LOAD;
    p->last = step;
}

void sim_path_ask(unsigned warp, uint64_t bytes)
{
    if (!path_of(warp)->has_waited)
        path_of(warp)->ahead += bytes;
}

void sim_path_load(unsigned warp, enum sim_step from, uint64_t bytes, bool strong)
{
    struct sim_path *p = path_of(warp);

    sim_path_ask(warp, bytes);
    if (p->last <= SIM_FAR && p->last >= from)
        return;
    if (p->last <= SIM_FAR) { /* the step that was begun takes longer */
        p->steps[p->last]--;
        p->weight -= weights[p->last];
        p->across -= strong ? 0 : weights[p->last];
    }
    sim_path_step(warp, from);
    p->across -= strong ? weights[from] : 0; /* the hand-over has it */
}

void sim_path_shared(unsigned warp, bool stores)
{
    struct sim_path *p = path_of(warp);

    if (stores) {
        p->has_waited |= p->ahead > 0;
        p->last = SIM_NUM_STEPS;
    } else if (p->last != SIM_SHARED_LOAD)
        sim_path_step(warp, SIM_SHARED_LOAD);
}

void sim_path_store(unsigned warp)
{
    path_of(warp)->has_waited |= path_of(warp)->ahead > 0;
    path_of(warp)->last = SIM_NUM_STEPS;
}

void sim_path_cluster(unsigned warp)
{
    sim_path_step(warp, SIM_L2);
    path_of(warp)->last = SIM_NUM_STEPS;
}

static const struct sim_path *longest(const struct block_path *b)
{
    const struct sim_path *most = &b->paths[0];

    for (unsigned warp = 1; warp < (sim_num_threads + SIM_WARP - 1) / SIM_WARP; warp++)
        if (b->paths[warp].weight > most->weight)
            most = &b->paths[warp];
    return most;
}

/* The path across the blocks goes on from there, if that is later. */
static void follow(struct sim_path *p, uint64_t across, uint64_t handovers, uint64_t handover_work)
{
    if (p->across >= across)
        return;
    p->across = across;
    p->handovers = handovers;
    p->handover_work = handover_work;
}

static const struct sim_path *latest(const struct block_path *b)
{
    const struct sim_path *most = &b->paths[0];

    for (unsigned warp = 1; warp < (sim_num_threads + SIM_WARP - 1) / SIM_WARP; warp++)
        if (b->paths[warp].across > most->across)
            most = &b->paths[warp];
    return most;
}

void sim_path_launch(void)
{
    words.clear();
}

void sim_path_publish(unsigned warp, const char *word, bool joins)
{
    const struct sim_path *p = path_of(warp);
    const auto [at, is_new] = words.try_emplace(word);

    if (is_new || (joins && at->second.across < p->across))
        at->second = {sim_block->number, p->across, p->handovers, p->handover_work};
}

void sim_path_learn(unsigned warp, const char *word)
{
    const auto found = words.find(word);

    if (found != words.end() && found->second.block != sim_block->number)
        follow(path_of(warp), found->second.across + handover, found->second.handovers + 1,
               found->second.handover_work);
}

void sim_path_meet(void)
{
    const struct sim_path most = *longest(resident[sim_block->slot]), last = *latest(resident[sim_block->slot]);

    for (unsigned warp = 0; warp < (sim_num_threads + SIM_WARP - 1) / SIM_WARP; warp++) {
        struct sim_path *p = path_of(warp);

        memcpy(p->steps, most.steps, sizeof(p->steps));
        p->weight = most.weight;
        follow(p, last.across, last.handovers, last.handover_work);
        sim_path_step(warp, SIM_MEETING);
    }
}

void sim_path_turns(uint64_t turns)
{
    resident[sim_block->slot]->turns += turns;
}

void sim_path_end(const struct block *of)
{
    static uint64_t weight, across;
    const struct block_path *const b = resident[of->slot];
    const struct sim_path *most = longest(b), *last = latest(b);

    if (sim_counts.blocks == 0)
        weight = across = 0;
    if (b->turns > sim_counts.block_turns)
        sim_counts.block_turns = b->turns;
    for (unsigned warp = 0; warp < (sim_num_threads + SIM_WARP - 1) / SIM_WARP; warp++)
        sim_counts.ahead_bytes += b->paths[warp].ahead;
    sim_counts.shared_memory += of->static_bytes + sim_launched->dynamic_shared;
    if (last->across >= across) {
        across = last->across;
        sim_counts.handovers = last->handovers;
        sim_counts.handover_work = last->handover_work;
    }
    if (most->weight < weight)
        return;
    weight = most->weight;
    sim_counts.far_steps = most->steps[SIM_FAR];
    sim_counts.l2_steps = most->steps[SIM_L2];
    sim_counts.near_steps = most->steps[SIM_NEAR];
    sim_counts.copy_steps = most->steps[SIM_COPY];
    sim_counts.shared_steps = most->steps[SIM_SHARED_LOAD];
    sim_counts.exchange_steps = most->steps[SIM_EXCHANGE];
    sim_counts.meeting_steps = most->steps[SIM_MEETING];
}
