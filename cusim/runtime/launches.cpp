/* SPDX-License-Identifier: MIT */
/* launches.cpp - the host's side of a launch: the launch is checked, and put into its stream. */
#include <stdlib.h>
#include <string.h>

#include "../counts.h"
#include "../machine/announce.h"
#include "../machine/fault.h"
#include "../machine/kernels.h"
#include "../machine/launch.h"
#include "host.h"
#include "memory.h"
#include "stream.h"

static uint64_t default_launches;

uint64_t sim_default_launches(void)
{
    return default_launches;
}

/* Which launch is the next to fail, counted from now on, -1: it has come; how many are to fail; and how. */
static int launches_to_refusal = -1, refusals;
static cudaError_t refusal;
static thread_local cudaError_t last_launch; /* of the host thread */

bool sim_refuse_launches(int number, int count, cudaError_t error)
{
    const bool is_to_come = launches_to_refusal >= 0;
    launches_to_refusal = number;
    refusals = number >= 0 ? count : 0;
    refusal = error;
    return is_to_come;
}

cudaError_t sim_last_launch(void)
{
    if (last_launch != cudaSuccess)
        sim_tell.thrown_away(last_launch, false);
    return last_launch;
}

static bool wrong_launch_ends;

void sim_end_at_wrong_launch(bool on)
{
    wrong_launch_ends = on;
}

void sim_launch(const void *kernel, const char *name, const sim_config *config, void (*body)(void *), void *arguments,
                size_t arguments_size)
{
    const sim_guard guard({"the launch of a kernel", __builtin_return_address(0), config->file, config->line});
    if (sim_place.kernel != NULL)
        sim_fault(config->file, config->line, "launches a kernel. Launch from host code only");
    sim_check_constants();
    const bool fails = sim_launch_fails(cudaErrorLaunchOutOfResources, name);
    const bool is_refused = launches_to_refusal <= 0 && refusals > 0;
    last_launch = fails                            ? sim_error(cudaErrorLaunchOutOfResources)
                  : is_refused                     ? sim_error(refusal)
                  : !sim_is_stream(config->stream) ? sim_error(cudaErrorInvalidResourceHandle)
                                                   : cudaSuccess;
    launches_to_refusal -= launches_to_refusal >= 0;
    refusals -= is_refused;
    if (last_launch != cudaSuccess)
        return;
    const size_t parts = (arguments_size + sizeof(struct sim_arguments) - 1) / sizeof(struct sim_arguments);
    struct sim_launch l = {kernel,         name,      *config, body, std::vector<struct sim_arguments>(parts),
                           arguments_size, sim_device};
    memcpy(l.arguments.data(), arguments, arguments_size);
    l.config.cluster = sim_cluster_of(kernel, config->cluster);
    char why[600];
    last_launch = sim_check_launch(&l, why, sizeof(why));
    if (last_launch != cudaSuccess && wrong_launch_ends)
        sim_fault(config->file, config->line, "%s", why);
    if (last_launch != cudaSuccess)
        sim_error(last_launch, why);
    sim_place = {};
    if (last_launch != cudaSuccess)
        return;
    default_launches += config->stream == NULL;
    sim_do(config->stream, [l]() mutable { sim_run_launch(&l); });
}

/* ---- kernels that are known by an address ---- */

static struct known {
    const void *kernel;
    const char *name;
    sim_spread spread;
} * known;
static size_t num_known;

void sim_know_kernel(const void *kernel, const char *name, sim_spread spread)
{
    const sim_guard guard;

    for (size_t i = 0; i < num_known; i++)
        if (known[i].kernel == kernel)
            return;
    struct known *const more = (struct known *)realloc(known, (num_known + 1) * sizeof(*known));
    if (more == NULL)
        sim_fault(NULL, 0, "no memory to remember the kernel %s. Free some memory", name);
    known = more;
    known[num_known++] = {kernel, name, spread};
}

cudaError_t sim_launch_known(const void *kernel, sim_config config, void **arguments)
{
    for (size_t i = 0; i < num_known; i++)
        if (known[i].kernel == kernel) {
            known[i].spread(kernel, known[i].name, config, arguments);
            return sim_last_launch();
        }
    return sim_error(cudaErrorInvalidDeviceFunction);
}
