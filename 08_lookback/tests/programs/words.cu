/* SPDX-License-Identifier: MIT */
/* words.cu - what one_hop_carry makes of words that are there before it looks, for more tiles than a simulated chip has
   room for:

       words all             of sequences of up to ONE_HOP_SEQ_TILES tiles, behind another one
       words product N       of 200 tiles, where of tile N only the product is new, and not the sum
       words sum N           where only the sum is new

   Says in one line what came out. With half of a tile it waits for ever, and the simulator says so. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../one_hop.cuh"

static __global__ void carry_of(struct one_hop_space *space, unsigned number, unsigned number_in_seq, unsigned launch,
                                float *carry)
{
    const float found = one_hop_carry(space, number, number_in_seq, launch, threadIdx.x);
    if (threadIdx.x == 0)
        *carry = found;
}

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    printf("%s: %s\n", what, cudaGetErrorName(error));
    exit(1);
}

int main(int argc, char **argv)
{
    enum { LAUNCH = 7, BEFORE = 3 }; /* tiles of another sequence */
    static struct one_hop_space words;
    const int half = argc == 3 ? atoi(argv[2]) : -1;
    struct one_hop_space *space;
    float *carry, found;
    if (argc < 2 || (half < 0) != (strcmp(argv[1], "all") == 0))
        return 2;
    must(cudaMalloc((void **)&space, sizeof *space), "cudaMalloc");
    must(cudaMalloc((void **)&carry, sizeof *carry), "cudaMalloc");

    /* Tile i multiplies by 1 or -1, and adds i: whole numbers, which tell whether two tiles were exchanged. */
    memset(&words, 0xFF, sizeof words);
    for (int i = 0; i < ONE_HOP_SEQ_TILES; i++) {
        const float product = i % 3 == 1 ? -1.0f : 1.0f, sum = (float)i;
        unsigned *const halves = (unsigned *)&words.words[2 * (BEFORE + i)];
        memcpy(&halves[0], &product, sizeof product);
        memcpy(&halves[2], &sum, sizeof sum);
        halves[1] = halves[3] = LAUNCH;
        if (i == half)
            halves[strcmp(argv[1], "product") == 0 ? 3 : 1] = LAUNCH - 1;
    }
    must(cudaMemcpy(space, &words, sizeof words, cudaMemcpyHostToDevice), "cudaMemcpy");
    float expected = 0.0f; /* into tile `tile` */
    for (int tile = 1; tile < ONE_HOP_SEQ_TILES; tile++) {
        expected = expected * ((tile - 1) % 3 == 1 ? -1.0f : 1.0f) + (float)(tile - 1);
        if (half >= 0 && tile != 200)
            continue;
        carry_of<<<1, 32>>>(space, BEFORE + tile, tile, LAUNCH, carry);
        must(cudaMemcpy(&found, carry, sizeof found, cudaMemcpyDeviceToHost), "the kernel");
        if (found != expected) {
            printf("into tile %d comes %g, and not %g\n", tile, found, expected);
            return 1;
        }
    }
    puts("right");
    return 0;
}
