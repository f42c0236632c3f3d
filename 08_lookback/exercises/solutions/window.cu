/* SPDX-License-Identifier: MIT */
/* 08.2  Look back over 32 tiles at once */
#include <cuda_runtime.h>

#include "workspace.cuh"

/* What comes into tile `number`, which is not its sequence's first. All lanes of a warp call it, and get it. */
static __device__ __forceinline__ float carry_before(unsigned long long *descriptors, unsigned number,
                                                     unsigned number_in_seq, int lane)
{
    struct pair since = {1.0f, 0.0f}; /* what the tiles do that have been looked at */
    for (unsigned back = 32 - lane;; back += 32) {
        const bool has_tile = back <= number_in_seq; /* lane 31 has the nearest one */
        unsigned long long found = NOT_PUBLISHED;
        unsigned prefixes, missing;
        do {
            if (has_tile && found == NOT_PUBLISHED)
                found = descriptor_read(&descriptors[number - back]);
            prefixes = __ballot_sync(ALL_LANES, found != NOT_PUBLISHED && descriptor_is_prefix(found));
            missing = __ballot_sync(ALL_LANES, has_tile && found == NOT_PUBLISHED);
        } while (missing > prefixes); /* a tile after the last prefix has published nothing */

        /* The last prefix stands for all before it, so lanes before it, and those without a tile, add nothing. */
        const int last = prefixes != 0 ? 31 - __clz(prefixes) : -1;
        struct pair pair = {1.0f, 0.0f};
        if (has_tile && lane >= last)
            pair = descriptor_pair(found);
        if (lane == last)
            pair.product = 1.0f;
        pair = pair_shfl(warp_scan(pair, lane), 31);
        since = pair_join(pair, since);
        if (prefixes != 0)
            return since.sum;
    }
}

/* Each block takes the next tile of 32 elements. inputs, coeffs, outputs: (num_seqs, seq_len). */
static __global__ void __launch_bounds__(32)
    window(size_t seq_len, unsigned seq_tiles, const float *__restrict__ inputs, const float *__restrict__ coeffs,
           float *__restrict__ outputs, struct workspace *space)
{
    __shared__ unsigned number_taken;
    const int lane = threadIdx.x;

    if (lane == 0)
        number_taken = take_ticket(space);
    __syncthreads();
    const unsigned number = number_taken, number_in_seq = number % seq_tiles;
    const size_t l = (size_t)number_in_seq * 32 + lane, at = number / seq_tiles * seq_len + l;

    struct pair mine = {1.0f, 0.0f};
    if (l < seq_len)
        mine.sum = inputs[at];
    if (l < seq_len && l > 0)
        mine.product = coeffs[at];
    mine = warp_scan(mine, lane);

    float y = mine.sum; /* nothing comes into a sequence's first tile */
    if (number_in_seq > 0) {
        if (lane == 31)
            publish_aggregate(&space->descriptors[number], mine);
        const float carry = carry_before(space->descriptors, number, number_in_seq, lane);
        y = carry * mine.product + mine.sum;
    }
    if (lane == 31)
        publish_prefix(&space->descriptors[number], y);
    if (l < seq_len)
        outputs[at] = y;
}

/* workspace: filled with 0xFF, with a descriptor for each tile. */
extern "C" cudaError_t launch_window(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs,
                                     float *outputs, void *workspace)
{
    const unsigned seq_tiles = (unsigned)((seq_len + 31) / 32);
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    window<<<(unsigned)num_seqs * seq_tiles, 32>>>(seq_len, seq_tiles, inputs, coeffs, outputs,
                                                   (struct workspace *)workspace);
    return cudaGetLastError();
}
