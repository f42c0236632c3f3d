/* SPDX-License-Identifier: MIT */
/* plan.c - what one_hop_plan says of a shape, choice after choice, on a chip with or without cooperative launches:

       plan NUM_SEQS SEQ_LEN ROWS THREADS COOPERATIVE                ROWS and THREADS 0: the plan's own

   Prints rows x threads, the tiles of a sequence and those of all of each choice, and the error behind the last one. */
#include <stdio.h>
#include <stdlib.h>

#include "../../one_hop_plan.h"

int main(int argc, char **argv)
{
    unsigned long long numbers[5];
    if (argc != 6)
        return 2;
    for (int i = 0; i < 5; i++)
        numbers[i] = strtoull(argv[i + 1], NULL, 10);
    const struct linrec_args args = {
        .num_seqs = numbers[0], .seq_len = numbers[1], .config = {.rows = (int)numbers[2], .threads = (int)numbers[3]}};
    const struct gpu_info gpu = {.arch = 90, .multiprocessors = 132, .cooperative = numbers[4] != 0};
    struct one_hop_plan plan;
    cudaError_t error = cudaSuccess;
    for (int choice = 0; choice < 9 && error == cudaSuccess; choice++) {
        error = one_hop_plan(&args, &gpu, choice, &plan);
        if (error == cudaSuccess)
            printf("%dx%d: %u, %u; ", plan.rows, plan.threads, plan.tiling.seq_tiles, plan.tiling.num_tiles);
    }
    printf("%s\n", cudaGetErrorName(error));
    return 0;
}
