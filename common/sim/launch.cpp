/* launch.cpp - runs a grid, block after block. */
#include <time.h>

#include "fiber.h"
#include "host.h"
#include "memory.h"
#include "observe.h"
#include "order.h"
#include "schedule.h"
#include "trace.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
struct sim_place sim_place;
volatile uint64_t sim_progress;

static struct block the_block;
struct block *sim_block = &the_block;
struct thread *sim_current;
const sim_config *sim_launched;
struct sim_kernel_info *sim_info;
unsigned sim_num_threads;
struct sim_counts sim_counts;   /* of the launch that runs, */
static struct sim_counts total; /* and since the last reset */

void sim_need_kernel(const char *what, const char *file, int line)
{
    if (!sim_place.in_thread)
        sim_fault(file, line, "%s outside a kernel. Call it from device code only", what);
}

/* Faults if the launch configuration is not one that the device can run. */
static void check_config(void)
{
    const dim3 g = sim_launched->grid, b = sim_launched->block;
    const size_t allowed = sim_info->max_dynamic;

    if (b.x == 0 || b.y == 0 || b.z == 0 || g.x == 0 || g.y == 0 || g.z == 0)
        sim_fault(sim_launched->file, sim_launched->line,
                  "launched with grid (%u,%u,%u) and block (%u,%u,%u). Launch nothing when there "
                  "is nothing to do",
                  g.x, g.y, g.z, b.x, b.y, b.z);
    if ((uint64_t)b.x * b.y > SIM_MAX_THREADS || (uint64_t)b.x * b.y * b.z > SIM_MAX_THREADS || b.z > 64)
        sim_fault(sim_launched->file, sim_launched->line,
                  "launched with too many threads, block (%u,%u,%u). Take at most %u in all, and "
                  "64 in z",
                  b.x, b.y, b.z, SIM_MAX_THREADS);
    if (g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        sim_fault(sim_launched->file, sim_launched->line,
                  "launched with too large a grid, (%u,%u,%u). Take at most 2147483647 blocks in x "
                  "and 65535 in y and z",
                  g.x, g.y, g.z);
    if (sim_launched->dynamic_shared > allowed)
        sim_fault(sim_launched->file, sim_launched->line,
                  "launched with %zu bytes of dynamic shared memory, more than %zu. Use less, or "
                  "raise cudaFuncAttributeMaxDynamicSharedMemorySize with cudaFuncSetAttribute (at most %zu)",
                  sim_launched->dynamic_shared, allowed, SIM_SHARED_OPTIN);
}

void sim_launch(const void *kernel, const char *name, const sim_config *launch, void (*body)(void *), void *arguments,
                size_t arguments_size)
{
    if (sim_place.kernel != NULL)
        sim_fault(launch->file, launch->line, "launches a kernel. Launch from host code only");
    sim_place = {};
    sim_place.kernel = kernel;
    sim_place.name = name;
    sim_place.file = launch->file;
    sim_place.line = launch->line;
    sim_launched = launch;
    sim_info = sim_find_kernel(kernel);
    check_config();

    gridDim = launch->grid;
    blockDim = launch->block;
    sim_num_threads = blockDim.x * blockDim.y * blockDim.z;
    sim_set_body(body, arguments);
    for (unsigned i = 0; i < sim_num_threads; i++)
        if (sim_block->threads[i].stack == NULL)
            sim_make_fiber(&sim_block->threads[i]);

    const uint64_t num_blocks = (uint64_t)gridDim.x * gridDim.y * gridDim.z;
    struct sim_order order = sim_make_order(num_blocks);
    sim_observe_launch(arguments, arguments_size);
    sim_watchdog(true);
    for (uint64_t i = 0; i < num_blocks; i++) {
        const uint64_t b = sim_next(&order);
        blockIdx = {(unsigned)(b % gridDim.x), (unsigned)(b / gridDim.x % gridDim.y),
                    (unsigned)(b / gridDim.x / gridDim.y)};
        sim_run_block();
    }
    sim_watchdog(false);
    sim_verify_all();
    sim_counts.launches++;
    sim_observe_launch_end(&sim_counts);
    sim_add_counts(&total, &sim_counts);
    sim_counts = {};
    sim_place = {};
}

/* ---- the rest ---- */

void sim_trap(const char *file, int line)
{
    sim_fault(file, line, "__trap() was reached. See what the kernel guards with it");
}

long long clock64(void)
{
    struct timespec now;

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
    sim_trace_reset();
}
