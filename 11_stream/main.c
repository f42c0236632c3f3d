/* SPDX-License-Identifier: MIT */
/* main.c - chapter 11 as a program: the harness, where the arrays are in the host's memory (host.c). README.md is the
   text. */
#include <limits.h>
#include <stdio.h>

#include "../common/harness/machine.h"
#include "../common/linrec/linrec_operation.h"
#include "streams.h"

static void describe(const void *row, struct kernel *kernel)
{
    const struct variant *variant = row;
    kernel->runs[FORWARD] = kernel->runs[REVERSE] = !variant->recomputes;
    kernel->runs[BACKWARD] = kernel->runs[BACKWARD_REVERSE] = !variant->only_forward;
    kernel->kinds_left_out = 1u << DATA_OVERFLOW; /* a piece's product is infinite there (linrec.h) */
}

static bool refuses(const void *row, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    const struct variant *variant = row;
    const size_t steps = sizes[SEQ_LEN] / STEP + (sizes[SEQ_LEN] % STEP != 0);
    if (sizes[NUM_SEQS] > INT_MAX / 4)
        snprintf(why, size, "takes up to %d sequences, not %zu", INT_MAX / 4, sizes[NUM_SEQS]);
    else if (variant->in_steps && steps != 0 && sizes[NUM_SEQS] > MOST_STEPS / steps)
        snprintf(why, size, "takes up to %d steps of %d elements, not %zu times %zu", MOST_STEPS, STEP, sizes[NUM_SEQS],
                 steps);
    else
        return false;
    return true;
}

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    const size_t num_seqs = machine->backend == ON_SIM ? 5 : 64;
    shapes_add(shapes, (const size_t[MAX_SIZES]){num_seqs, machine->backend == ON_SIM ? 5 : 1 << 16});
    shapes_add(shapes, (const size_t[MAX_SIZES]){num_seqs, machine->backend == ON_SIM ? 1001 : 1 << 20});
}

int main(int argc, char **argv)
{
    struct operation operation = linrec_operation; /* with variants in place of kernels */
    operation.placement = &stream_placement;
    operation.row_bytes = sizeof(struct variant);
    operation.describe = describe;
    operation.refuses = refuses;
    operation.default_shapes = default_shapes;
    const struct chapter chapter = {.name = "11_stream", .operation = &operation, .kernels = chapter11_variants};
    return harness_main(argc, argv, &chapter);
}
