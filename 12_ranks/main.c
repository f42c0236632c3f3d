/* SPDX-License-Identifier: MIT */
/* main.c - chapter 12 as a program of one or more ranks: the harness, where the arrays are cut over them (stretch.c).
   All ranks do the same, and rank 0 speaks. README.md is the text. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/harness/machine.h"
#include "ranks.h"

static void describe(const void *row, struct kernel *kernel)
{
    if (((const struct variant *)row)->run == NULL)
        snprintf(kernel->limits, sizeof kernel->limits, "not built: there was no nccl.h");
    for (enum direction d = 0; d < NUM_DIRECTIONS; d++)
        kernel->runs[d] = true;
    kernel->kinds_left_out = 1u << DATA_OVERFLOW; /* a stretch's product is infinite there (linrec.h) */
}

static bool refuses(const void *row, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    const struct variant *const variant = row;
    if (variant->run == NULL) {
        snprintf(why, size,
                 "was not built, because there was no nccl.h (12_ranks/README.md, \"On the devices: NCCL\")");
        return true;
    }
    if (variant->wants_own_gpu && ranks_share_gpu) {
        snprintf(why, size, "wants a GPU for each rank, and here are more ranks than GPUs (start fewer)");
        return true;
    }
    if (sizes[NUM_SEQS] <= INT_MAX / 4) /* what MPI counts */
        return false;
    snprintf(why, size, "takes up to %d sequences, not %zu", INT_MAX / 4, sizes[NUM_SEQS]);
    return true;
}

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    const bool on_sim = machine->backend == ON_SIM;
    const size_t lengths[][3] = {{1 << 16, 1 << 22, 1 << 28}, {5, 1001, 10007}};
    for (int i = 0; i < 3; i++)
        shapes_add(shapes, (const size_t[MAX_SIZES]){on_sim ? 2 : 4, lengths[on_sim][i]});
}

int main(int argc, char **argv)
{
    struct operation operation = linrec_operation; /* with variants in place of kernels */
    struct placement placement = ranks_placement;
    int rank, ranks;
    char devices[32];

    /* OpenMPI's exclusive scan goes from rank to rank, unless it is told otherwise (README.md, "Measure"). What is set
       already stays; other MPIs do not look at it. */
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
    setenv("OMPI_MCA_coll_tuned_exscan_algorithm", "2", 0);
    setenv("OMPI_MCA_coll_libnbc_iexscan_algorithm", "2", 0);
    MPI_Init(&argc, &argv);
    ranks_watch_begin();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(devices, sizeof devices, "%d x ", ranks);
    placement.devices = devices;
    placement.is_silent = rank > 0;
    if (placement.is_silent && freopen("/dev/null", "w", stdout) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);

    operation.sizes[SEQ_LEN].help = "elements per sequence, on all ranks together";
    operation.num_kinds = NUM_KINDS;
    operation.timed_kind = KIND_099;
    operation.kind_name = ranks_kind_name;
    operation.placement = &placement;
    operation.row_bytes = sizeof(struct variant);
    operation.describe = describe;
    operation.refuses = refuses;
    operation.default_shapes = default_shapes;
    const struct chapter chapter = {.name = "12_ranks", .operation = &operation, .kernels = chapter12_variants};
    const int status = harness_main(argc, argv, &chapter);
    MPI_Finalize();
    return status;
}
