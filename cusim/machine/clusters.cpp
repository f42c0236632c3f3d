/* SPDX-License-Identifier: MIT */
/* clusters.cpp - blocks of a cluster: their barrier, and each other's shared memory.

   The blocks of a cluster begin together and are resident together. A thread that waits at their barrier lets the other
   threads of its block run, and where none can, the other blocks (schedule.cpp, launch.cpp). Who has waited knows what
   all knew when they came (flag.cpp). */
#include "clusters.h"

#include <stdio.h>
#include <string.h>

#include "fiber.h"
#include "../include/sim_cluster.h"
#include "access.h"
#include "region.h"
#include "named_barriers.h"
#include "shared.h"
#include "fault.h"
#include "announce.h"

static struct cluster clusters[SIM_MAX_RESIDENT]; /* by the slot of their first block */

unsigned sim_cluster_blocks(void)
{
    return sim_launched->cluster.x * sim_launched->cluster.y * sim_launched->cluster.z;
}

struct cluster *sim_begin_cluster(unsigned slot)
{
    struct cluster *const c = &clusters[slot];

    *c = {};
    c->size = c->living = sim_cluster_blocks();
    return c;
}

void sim_forget_clusters(void)
{
    for (struct cluster &c : clusters)
        c.known = NULL;
}

unsigned cluster_rank(const char *file, int line)
{
    sim_need_kernel("cluster_rank", file, line);
    return sim_block->rank;
}

unsigned cluster_size(const char *file, int line)
{
    sim_need_kernel("cluster_size", file, line);
    return sim_block->cluster->size;
}

/* ---- the barrier ---- */

/* All threads have come: those that wait go on. */
static void complete(struct cluster *c)
{
    for (unsigned rank = 0; rank < c->size; rank++) {
        struct block *const b = c->blocks[rank];

        for (unsigned i = 0; i < sim_num_threads; i++) {
            struct thread *const t = &b->threads[i], *const first = &b->threads[i / SIM_WARP * SIM_WARP];
            if (t->come_line != first->come_line || strcmp(t->come_file, first->come_file) != 0)
                sim_fault(t->come_file, t->come_line,
                          "cluster_arrive by a part of warp %u of block (%u,%u,%u), of which another part has come at "
                          "%s:%d. Let all lanes of a warp call it together: move it out of the branch",
                          i / SIM_WARP, b->index.x, b->index.y, b->index.z, first->come_file, first->come_line);
            if (t->state == AT_CLUSTER)
                t->state = READY;
        }
        b->stuck = false;
    }
    sim_tell.blocks_met(&c->known, c->blocks, c->size);
    c->come = 0;
    c->phase++;
    sim_counts.barriers++;
    sim_progress++;
}

static void come(const char *name, bool releases, const char *file, int line)
{
    sim_need_kernel(name, file, line);
    struct cluster *const c = sim_block->cluster;

    if (sim_current->come_file != NULL)
        sim_fault(file, line,
                  "%s by a thread that has come to the barrier of the cluster before, at %s:%d, and has not waited "
                  "since. Call cluster_wait() between the two",
                  name, sim_current->come_file, sim_current->come_line);
    sim_current->come_file = file;
    sim_current->come_line = line;
    sim_current->come_phase = c->phase;
    sim_current->come_releases = releases;
    sim_tell.barrier_reached(name, sim_grid_number(c->blocks[0]), c->phase, file, line);
    if (releases)
        sim_tell.blocks_told();
    if (++c->come == c->size * sim_num_threads)
        complete(c);
}

void cluster_arrive(const char *file, int line)
{
    come("cluster_arrive", true, file, line);
}

void cluster_arrive_relaxed(const char *file, int line)
{
    come("cluster_arrive_relaxed", false, file, line);
}

void cluster_wait(const char *file, int line)
{
    sim_need_kernel("cluster_wait", file, line);
    struct cluster *const c = sim_block->cluster;

    if (sim_current->come_file == NULL)
        sim_fault(file, line,
                  "cluster_wait by a thread that has not come to the barrier of the cluster. Call cluster_arrive() "
                  "first, in all threads");
    sim_current->file = file;
    sim_current->line = line;
    sim_step(sim_current);
    if (sim_thread_number(sim_current) % SIM_WARP == 0)
        sim_tell.waited(true);
    while (c->phase == sim_current->come_phase)
        SIM_LEAVE(AT_CLUSTER);
    sim_current->come_file = NULL;
    sim_block->met = true;
    sim_tell.blocks_learnt(c->known, sim_current->come_releases);
}

bool sim_may_receive(const struct block *b)
{
    for (const struct thread *t = b->threads; t < b->threads + sim_num_threads && b->cluster->size > 1; t++)
        if (t->state == AT_MBARRIER)
            return true;
    return false;
}

bool sim_waits_for_cluster(void)
{
    for (const struct thread *t = sim_block->threads; t < sim_threads_end(); t++)
        if (t->state == AT_CLUSTER)
            return true;
    return sim_may_receive(sim_block);
}

void sim_explain_cluster(void)
{
    const struct cluster *const c = sim_block->cluster;
    struct thread *waits = sim_block->threads;
    char hangs[600] = "";

    sim_place.in_thread = true;
    while (waits->state != AT_CLUSTER)
        waits++;
    for (unsigned rank = 0; rank < c->size && *hangs == '\0'; rank++) {
        const struct block *const b = c->blocks[rank];
        for (unsigned i = 0; i < sim_num_threads && *hangs == '\0'; i++) {
            const struct thread *const t = &b->threads[i];
            const bool is_missing = t->come_file == NULL || t->come_phase != c->phase;
            if (is_missing && t->state == DONE)
                snprintf(hangs, sizeof(hangs), ", and thread (%u,%u,%u) of block (%u,%u,%u) has ended", t->index.x,
                         t->index.y, t->index.z, b->index.x, b->index.y, b->index.z);
            else if (is_missing)
                snprintf(hangs, sizeof(hangs), ", while thread (%u,%u,%u) of block (%u,%u,%u) waits at %s at %s:%d",
                         t->index.x, t->index.y, t->index.z, b->index.x, b->index.y, b->index.z, sim_waits_at(t),
                         t->file, t->line);
        }
    }
    FAULT_OF(waits,
             "cluster_wait never ends: %u of the %u threads of the cluster have come to its barrier%s. Let all threads "
             "of all its blocks come to it, as often as the others",
             c->come, c->size * sim_num_threads, hangs);
}

/* ---- shared memory of other blocks ---- */

const struct block *sim_cluster_owner(const struct sim_region *region)
{
    const struct cluster *const c = sim_block != NULL ? sim_block->cluster : NULL;

    for (unsigned rank = 0; c != NULL && sim_is_shared(region) && rank < c->size; rank++)
        if (c->blocks[rank]->number == region->block)
            return c->blocks[rank];
    return NULL;
}

void sim_cluster_access(const char *at, unsigned how, const void *pc)
{
    char what[600];

    if (sim_block->met)
        return;
    sim_region_describe(at, 0, what, sizeof(what));
    sim_fault_at(pc,
                 "%s %s, which may not have begun. Let all threads of the cluster call cluster_arrive_relaxed() and "
                 "cluster_wait() before one touches another block's shared memory",
                 how & SIM_WRITES ? "writes" : "reads", what);
}

void *cluster_shared(void *shared, unsigned rank, const char *file, int line)
{
    char what[600];

    sim_need_kernel("cluster_shared", file, line);
    const struct cluster *const c = sim_block->cluster;
    struct sim_region *const own = sim_region_near(shared);
    if (rank >= c->size)
        sim_fault(file, line, "cluster_shared for the block of rank %u in a cluster of %u. Ranks count from 0", rank,
                  c->size);
    if (own == NULL || !sim_is_shared(own) || own->freed || own->block != sim_block->number) {
        sim_region_describe(shared, 0, what, sizeof(what));
        sim_fault(file, line, "cluster_shared of %s. Give it what this block has in its own shared memory", what);
    }
    return sim_shared_of(c->blocks[rank], own)->start + ((char *)shared - own->start);
}
