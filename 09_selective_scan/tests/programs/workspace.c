/* SPDX-License-Identifier: MIT */
/* workspace.c - the gradients of `default` with workspaces of different sizes, as variants of a chapter of its own, so
   that the checks of the harness hold for each size. Options are the chapter's. */
#include "../../../common/harness/harness.h"
#include "../../kernels/selective_check.h"

/* A byte less than all, or what is needed if that is as much. */
static size_t below(const struct selective_args *args, bool backward)
{
    const size_t most = selective_default_workspace(args, backward), least = selective_least_workspace(args, backward);
    return most > least ? most - 1 : least;
}

/* Between the two borders: a part of what is between, in 16ths. */
static size_t between(const struct selective_args *args, bool backward, size_t part)
{
    const size_t most = below(args, backward), least = selective_least_workspace(args, backward);
    return least + (most - least) / 16 * part;
}

static size_t little(const struct selective_args *args, bool backward)
{
    return between(args, backward, 1);
}

static size_t half(const struct selective_args *args, bool backward)
{
    return between(args, backward, 8);
}

/* One byte less is refused, and nothing is launched. */
static cudaError_t at_least(const struct selective_args *args, cudaStream_t stream)
{
    struct selective_args less = *args;
    if (selective_is_empty(args))
        return selective_backward(args, stream);
    less.workspace_size--;
    return selective_backward(&less, stream) == cudaErrorInvalidValue ? selective_backward(args, stream)
                                                                      : cudaErrorUnknown;
}

static const struct selective_kernel kernels[] = {
    {.info.name = "least",
     .info.idea = "the least that default takes; with a byte less it is refused",
     .backward = at_least,
     .workspace_size = selective_least_workspace,
     .info.is_default = true},
    {.info.name = "little", .info.idea = "a little more", .backward = selective_backward, .workspace_size = little},
    {.info.name = "half", .info.idea = "about half of all", .backward = selective_backward, .workspace_size = half},
    {.info.name = "below",
     .info.idea = "a byte less than all",
     .backward = selective_backward,
     .workspace_size = below},
    {.info.name = "all",
     .info.idea = "enough for the fastest kernel",
     .backward = selective_backward,
     .workspace_size = selective_default_workspace},
    {.info.name = NULL},
};

static const struct chapter chapter = {.name = "workspace", .operation = &selective_operation, .kernels = kernels};

int main(int argc, char **argv)
{
    return harness_main(argc, argv, &chapter);
}
