/* SPDX-License-Identifier: MIT */
/* steps.c - the joins that MPI's exclusive scan does one after the other. The operator counts: what it is given knows
   how deep it is, and what it makes of two is one deeper than the deeper one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void one_deeper(void *first, void *second, int *count, MPI_Datatype *type)
{
    const int *const a = first;
    int *const b = second;
    (void)type;
    for (int i = 0; i < *count; i++)
        b[i] = (a[i] > b[i] ? a[i] : b[i]) + 1;
}

int main(int argc, char **argv)
{
    int rank, ranks, depth = 0, before = 0, deepest;
    MPI_Op op;
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0); /* main.c has the same */
    setenv("OMPI_MCA_coll_tuned_exscan_algorithm", "2", 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op_create(one_deeper, 0, &op);

    MPI_Exscan(&depth, &before, 1, MPI_INT, op, MPI_COMM_WORLD);
    if (rank == 0)
        before = 0; /* MPI leaves it undefined */
    MPI_Reduce(&before, &deepest, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks: MPI_Exscan joins %d times, one after the other\n", ranks, deepest);

    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
