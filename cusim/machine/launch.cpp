/* SPDX-License-Identifier: MIT */
/* launch.cpp - runs a grid, block after block. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vector>

#include "block.h"
#include "clusters.h"
#include "cores.h"
#include "fiber.h"
#include "chip.h"
#include "grid.h"
#include "launch.h"
#include "region.h"
#include "order.h"
#include "poll.h"
#include "schedule.h"
#include "fault.h"
#include "kernels.h"
#include "announce.h"

static struct sim_counts total; /* since the last reset */

/* Whether the device can run the launch that is prepared: success, or an error and why. */
static cudaError_t check_config(char *why, size_t size)
{
    const dim3 g = sim_launched->grid, b = sim_launched->block;
    const size_t allowed = sim_info->max_dynamic;

    if (b.x == 0 || b.y == 0 || b.z == 0 || g.x == 0 || g.y == 0 || g.z == 0) {
        snprintf(why, size,
                 "launched with grid (%u,%u,%u) and block (%u,%u,%u). Round the number of blocks up, and launch "
                 "nothing only when there is nothing to do",
                 g.x, g.y, g.z, b.x, b.y, b.z);
        return cudaErrorInvalidConfiguration;
    }
    if ((uint64_t)b.x * b.y > SIM_MAX_THREADS || (uint64_t)b.x * b.y * b.z > SIM_MAX_THREADS || b.z > 64) {
        snprintf(why, size, "launched with too many threads, block (%u,%u,%u). Take at most %u in all, and 64 in z",
                 b.x, b.y, b.z, SIM_MAX_THREADS);
        return cudaErrorInvalidConfiguration;
    }
    if (g.x > 0x7fffffff || g.y > 65535 || g.z > 65535) {
        snprintf(why, size,
                 "launched with too large a grid, (%u,%u,%u). Take at most 2147483647 blocks in x and 65535 in y and z",
                 g.x, g.y, g.z);
        return cudaErrorInvalidConfiguration;
    }
    const dim3 c = sim_launched->cluster;
    const dim3 own = sim_info->cluster;
    if (own.x != 0 && (c.x != own.x || c.y != own.y || c.z != own.z)) {
        snprintf(
            why, size,
            "launched with clusters of (%u,%u,%u) blocks, and the kernel has __cluster_dims__(%u,%u,%u). Leave the "
            "attribute out, or name the same",
            c.x, c.y, c.z, own.x, own.y, own.z);
        return cudaErrorInvalidClusterSize;
    }
    if (c.x == 0 || c.y == 0 || c.z == 0 || g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0) {
        snprintf(why, size,
                 "launched with grid (%u,%u,%u) and clusters of (%u,%u,%u) blocks. Let the grid have whole clusters",
                 g.x, g.y, g.z, c.x, c.y, c.z);
        return cudaErrorInvalidClusterSize;
    }
    const uint64_t cluster = (uint64_t)c.x * c.y * c.z;
    if (cluster > SIM_MAX_CLUSTER || (cluster > SIM_PORTABLE_CLUSTER && !sim_info->large_clusters)) {
        snprintf(why, size, "launched with clusters of %llu blocks, more than %u. Take fewer%s",
                 (unsigned long long)cluster, cluster > SIM_MAX_CLUSTER ? SIM_MAX_CLUSTER : SIM_PORTABLE_CLUSTER,
                 cluster > SIM_MAX_CLUSTER ? ""
                                           : ", or set cudaFuncAttributeNonPortableClusterSizeAllowed with "
                                             "cudaFuncSetAttribute");
        return cudaErrorInvalidClusterSize;
    }
    if (sim_launched->dynamic_shared > allowed) {
        snprintf(why, size,
                 "launched with %zu bytes of dynamic shared memory, more than %zu. Use less, or raise "
                 "cudaFuncAttributeMaxDynamicSharedMemorySize with cudaFuncSetAttribute (at most %zu)",
                 sim_launched->dynamic_shared, allowed, sim_chip.shared_optin);
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/* ---- blocks that are resident ---- */

static struct block *residents[SIM_MAX_RESIDENT]; /* that have begun and not ended, the oldest first */
static unsigned num_residents, num_living;        /* clusters of which one has not ended */
static uint64_t next_cluster, num_clusters;       /* number of the one that begins next, and of all */
static unsigned most_at_once; /* clusters: as it is known when a launch begins, which its first block may change */
static struct sim_order cluster_order;

/* How many blocks may be resident: as many as fit the device by what is known of the kernel. On a busy device one, as
   another kernel has the other places; a cooperative launch waits until it has ended, and has them all. */
static unsigned most_resident(void)
{
    if (sim_busy && !sim_launched->cooperative)
        return 1;
    if (sim_resident_wanted > 0)
        return sim_resident_wanted;
    const unsigned fit = sim_blocks_per_sm(sim_info, sim_num_threads, sim_launched->dynamic_shared);
    return fit > 0 ? fit * SIM_MULTIPROCESSORS : 1;
}

/* A cluster comes as a whole, and one always may, though the simulated device is smaller than a cluster can be. */
static unsigned most_living(void)
{
    const unsigned most = most_resident() / sim_cluster_blocks();

    return most > 0 ? most : 1;
}

static bool can_begin(void)
{
    return next_cluster < num_clusters && num_living < most_at_once;
}

/* Begins the blocks of the next cluster. The first of them goes on, reversed the last, in any order any. */
static void begin_next(void)
{
    bool used[SIM_MAX_RESIDENT] = {false};
    const uint64_t number = sim_schedule == SIM_FORWARD ? next_cluster : sim_next(&cluster_order);
    const unsigned size = sim_cluster_blocks();
    struct cluster *cluster = NULL;
    unsigned slot = 0;

    for (unsigned i = 0; i < num_residents; i++) /* what a block has left stays until its cluster has ended */
        for (unsigned rank = 0; rank < size; rank++)
            used[residents[i]->cluster->blocks[rank]->slot] = true;
    for (unsigned rank = 0; rank < size; rank++, slot++) {
        while (used[slot])
            slot++;
        if (rank == 0)
            cluster = sim_begin_cluster(slot);
        sim_begin_block(slot, cluster, number, rank);
        residents[num_residents++] = sim_block;
    }
    if (size > 1 && sim_schedule != SIM_REVERSE)
        sim_switch_block(cluster->blocks[sim_schedule == SIM_RANDOM ? sim_random() % size : 0]);
    num_living++;
    next_cluster = sim_next_cluster(next_cluster);
}

struct block *const *sim_residents(unsigned *count)
{
    *count = num_residents;
    return residents;
}

static void remove_resident(const struct block *b)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < num_residents; i++)
        if (residents[i] != b)
            residents[kept++] = residents[i];
    num_residents = kept;
    num_living -= b->cluster->living == 0;
}

/* Whether the block may get further: it waits for no cluster, and it has not only polled, or global memory has changed
   since. */
static bool is_awake(const struct block *b)
{
    if (b->stuck)
        return false;
    return b->quiet == 0 || b->quiet_at != sim_changes[SIM_GLOBAL_MEMORY];
}

/* All blocks that run wait, and no other can begin: lets the one that has tried least try again. */
static void try_again(void)
{
    const uint64_t enough = 300; /* rounds in which nothing at all changed */
    struct block *least = residents[0];

    for (unsigned i = 1; i < num_residents; i++)
        if (least->stuck || (!residents[i]->stuck && residents[i]->quiet < least->quiet))
            least = residents[i];
    sim_switch_block(least);
    if (least->stuck) {
        for (unsigned i = 0; i < num_residents; i++) {
            sim_switch_block(residents[i]);
            if (sim_waits_for_grid())
                sim_explain_grid();
        }
        for (unsigned i = 0; i < num_residents; i++)
            if (sim_may_receive(residents[i])) {
                sim_switch_block(residents[i]);
                sim_explain_stall();
            }
        sim_switch_block(residents[0]);
        sim_explain_cluster();
    }
    for (unsigned i = 0; i < num_residents; i++)
        if (residents[i]->looked_at_clock)
            return; /* gives up some time, or the watchdog ends it */
    if (least->quiet >= enough && !sim_wait_for_processes(least->quiet == enough, least->quiet - enough))
        sim_explain_poll(num_residents,
                         next_cluster < num_clusters ? (num_clusters - next_cluster) * sim_cluster_blocks() : 0);
}

/* Chooses who goes on. Forward: the oldest block that can, else a new one. Reversed: a new block while there is room,
   else the youngest. */
static void choose_block(void)
{
    struct block *awake[SIM_MAX_RESIDENT];
    unsigned count = 0;

    for (unsigned i = 0; i < num_residents; i++)
        if (is_awake(residents[i]))
            awake[count++] = residents[i];
    const bool room = can_begin();
    const uint64_t pick = sim_schedule == SIM_RANDOM && count + room > 0 ? sim_random() % (count + room) : 0;

    if (count + room == 0)
        try_again();
    else if (sim_schedule == SIM_FORWARD ? count == 0 : sim_schedule == SIM_REVERSE ? room : pick == count)
        begin_next();
    else
        sim_switch_block(awake[sim_schedule == SIM_REVERSE ? count - 1 : pick]);
}

static void run_grid(void)
{
    num_residents = num_living = 0;
    next_cluster = 0;
    most_at_once = most_living();
    cluster_order = sim_make_order(num_clusters);
    sim_block = NULL;
    sim_begin_split(num_clusters);
    while (num_residents > 0 || next_cluster < num_clusters) {
        choose_block();
        struct block *running = sim_block;
        if (sim_run_block(num_residents > 1 || can_begin()) == SIM_ENDED)
            remove_resident(running);
        if (num_residents == 0)
            next_cluster = sim_split(next_cluster);
    }
    sim_end_split();
}

/* ---- launch ---- */

/* Makes a launch the one that is meant: by messages, checks, and the search for places. */
static void prepare(const struct sim_launch *l)
{
    sim_place = {};
    sim_place.kernel = l->kernel;
    sim_place.name = l->name;
    sim_place.file = l->config.file;
    sim_place.line = l->config.line;
    sim_launched = &l->config;
    sim_info = sim_find_kernel(l->kernel);
    sim_running_device = l->device;
    gridDim = l->config.grid;
    blockDim = l->config.block;
    sim_num_threads = blockDim.x * blockDim.y * blockDim.z;
}

void sim_run_launch(struct sim_launch *l)
{
    prepare(l);
    sim_kernel_thread = pthread_self();
    num_clusters = (uint64_t)gridDim.x * gridDim.y * gridDim.z / sim_cluster_blocks();
    sim_tell.launch_asked(l->kernel, l->name);
    sim_begin_grid();
    sim_set_body(l->body, l->arguments.data());
    sim_tell.launch_begins(l->arguments.data(), l->arguments_size);
    run_grid();
    sim_verify_all();
    sim_counts.launches++;
    sim_tell.launch_ends(&sim_counts);
    sim_add_counts(&total, &sim_counts);
    sim_counts = {};
    sim_place = {};
    sim_kernel_thread = 0;
}

cudaError_t sim_check_launch(const struct sim_launch *l, char *why, size_t size)
{
    prepare(l);
    const cudaError_t error = check_config(why, size);
    if (error != cudaSuccess || !l->config.cooperative)
        return error;
    const uint64_t clusters = (uint64_t)gridDim.x * gridDim.y * gridDim.z / sim_cluster_blocks();
    if (clusters <= most_living())
        return cudaSuccess;
    snprintf(why, size,
             "launched as a cooperative kernel with %llu blocks, of which %u can run at the same time. Take as many as "
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor says",
             (unsigned long long)(clusters * sim_cluster_blocks()), most_living() * sim_cluster_blocks());
    return cudaErrorCooperativeLaunchTooLarge;
}

/* ---- the rest ---- */

void sim_trap(const char *file, int line)
{
    sim_tell.wrong_way();
    sim_fault(file, line, "__trap() was reached. See what the kernel guards with it");
}

long long clock64(void)
{
    struct timespec now;

    if (sim_place.in_thread)
        sim_block->looked_at_clock = true;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

struct sim_counts sim_get_counts(void)
{
    return total;
}

void sim_reset_counts(void)
{
    total = {};
    sim_tell.counts_reset();
}
