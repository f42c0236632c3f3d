/* SPDX-License-Identifier: MIT */
/* 08.2  Look back over 32 tiles at once

   One pass over memory: each tile publishes its aggregate, what it does by itself. It looks back for its exclusive
   prefix, the carry that comes in. And it publishes its inclusive prefix, the carry that goes out. To keep this short,
   a tile is 32 elements here, and a block one warp. Everything is right. But this warp looks back tile by tile, and it
   asks for a descriptor only when the nearer one has come:

       tile       t-5   t-4   t-3   t-2   t-1    t
       status      A     P     A     A     A     looks at t-1, t-2, t-3, t-4: four loads, one after the other
                         <-----<-----<-----<---

   A warp has 32 lanes. Let lane 31 read the descriptor of t-1, lane 30 that of t-2, and so on, all with one load. If a
   lane has found an inclusive prefix, then this prefix, passed through the tiles after it, is what comes into t. If no
   lane has, then the warp knows what these 32 tiles do together, and looks at the 32 before them.

       lane       26 27 28 29 30 31
       status      A  -  P  A  A  A      A: aggregate, P: inclusive prefix, -: not published.
                                         Must the warp wait for lane 27's?

   The descriptors are those of tile_descriptor.cuh, product and sum in 8 bytes. descriptor_read reads both at once. It
   returns NOT_PUBLISHED where a tile has published nothing, descriptor_is_prefix says whether it is an inclusive
   prefix, and descriptor_pair is its pair. An inclusive prefix has no product, so give it one before you join it. A
   sequence's first tile publishes its inclusive prefix and no aggregate, and before it there is no tile to look at:
   number_in_seq says how many tiles of the sequence come before.

   Goal: 3.5 loads a warp, not 33.5. It is counted for a sequence of 64 tiles, when all of them have published their
   aggregates, and only the first one its inclusive prefix. Two of the loads are the warp's elements; so 1.5 are left
   for looking back. The result may differ by roundings from the one above: the tiles are joined in another order.

   Write carry_before anew, where it says "here". look_back.cuh has look_back, but write yours first. You may take
   __ballot_sync, __clz, warp_scan and pair_shfl. */
#include <cuda_runtime.h>

#include "workspace.cuh"

/* What comes into tile `number`, which is not its sequence's first. All lanes of a warp call it, and get it. */
static __device__ __forceinline__ float carry_before(unsigned long long *descriptors, unsigned number,
                                                     unsigned number_in_seq, int lane)
{
    struct pair since = {1.0f, 0.0f}; /* what the tiles do that have been looked at */
    (void)number_in_seq, (void)lane;
    for (unsigned back = 1;; back++) { /* here: 32 tiles at a time */
        unsigned long long found;
        do
            found = descriptor_read(&descriptors[number - back]);
        while (found == NOT_PUBLISHED);
        if (descriptor_is_prefix(found))
            return descriptor_pair(found).sum * since.product + since.sum;
        since = pair_join(descriptor_pair(found), since);
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
