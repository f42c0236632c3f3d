/* resident.cu - lookback.cu for few tiles, where each step that waits for memory shows. Three such steps are taken out of a
   tile's way from load to store. Where all blocks fit on the chip at once, nobody takes a ticket. And a warp of its own
   looks after the words: while the others load, it asks the L2 cache for them; then it tells and looks; and while the
   others store, it says that the block has finished.

       8 warps          load | scan |              | add what comes in | store
                                    v              ^
       a warp more      ask L2      | tell | look  | leave the workspace                                              */
#include <cuda_runtime.h>

#include "lookback.cuh"

enum { ROWS = LOOKBACK_ROWS, NUM_WARPS = LOOKBACK_THREADS / 32, NUM_THREADS = LOOKBACK_THREADS + 32 };

/* Each block takes the next tile, or its own if all blocks fit. inputs, coeffs, outputs: (num_seqs, seq_len). */
template <int reverse>
static __global__ void __launch_bounds__(NUM_THREADS)
    resident_forward(struct cut cut, bool all_fit, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                     float *__restrict__ outputs, struct workspace *space)
{
    __shared__ struct warp_totals totals;
    __shared__ unsigned number_taken;
    __shared__ float carry_found;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = warp * ROWS * PIPE_ROW + lane * 4;
    float x[ROWS][4], c[ROWS][4];
    struct pair before[ROWS];

    if (!all_fit) {
        if (threadIdx.x == 0)
            number_taken = take_ticket(space);
        __syncthreads();
    }
    const unsigned number = all_fit ? blockIdx.x : number_taken;
    const struct tile tile = tile_number<reverse>(number, &cut);
    const bool nothing = tile.number_in_seq == 0; /* comes into the tile */

    /* 1. and 2. The tile, and what each warp's part of it does. */
    if (warp < NUM_WARPS) {
        rows_load<ROWS, reverse>(inputs, coeffs, &tile, own, x, c);
        const struct pair whole_warp = rows_scan<ROWS>(x, c, before, lane);
        if (lane == 31)
            totals.product[warp] = whole_warp.product, totals.sum[warp] = whole_warp.sum;
    } else if ((unsigned)lane <= tile.number_in_seq) {
        l2_prefetch(&space->words[number - lane]);
    }
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, NUM_WARPS, lane);

    /* 3. The last warp publishes what the tile does, looks back, and publishes what leaves it. */
    if (warp == NUM_WARPS) {
        const struct pair whole = pair_shfl(up_to_warp, NUM_WARPS - 1);
        if (lane == 0 && !nothing)
            word_write(&space->words[number], word_half(whole.product), word_half(whole.sum));
        const float carry = nothing ? 0.0f : look_back(space->words, number, tile.number_in_seq, lane);
        const float leaves = nothing ? whole.sum : carry * whole.product + whole.sum;
        if (lane == 0) {
            word_write(&space->words[number], NO_PRODUCT, word_half(leaves));
            carry_found = carry;
        }
    }
    __syncthreads();
    if (warp == NUM_WARPS) {
        leave_workspace(space, cut.num_tiles, lane);
        return;
    }

    /* 4. What comes in is added, and the tile is stored. */
    const float carry = carry_found;
    const float leaves = nothing ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
    const float before_warp = __shfl_sync(ALL_LANES, leaves, (warp + 31) % 32); /* what leaves the warp before */
    rows_add<ROWS>(x, c, before, warp == 0 ? carry : before_warp, nothing && warp == 0, lane);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        store4<reverse>(outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
}

extern "C" cudaError_t lookback_resident(const struct linrec_args *args, cudaStream_t stream)
{
    const struct cut cut = lookback_cut(args, ROWS);
    cudaError_t error = lookback_check(args, false, &cut);
    if (error != cudaSuccess || cut.num_tiles == 0)
        return error;
    void (*const kernel)(struct cut, bool, const float *, const float *, float *, struct workspace *) =
        args->reverse ? resident_forward<1> : resident_forward<0>;
    bool all_fit;
    if ((error = lookback_all_fit((const void *)kernel, NUM_THREADS, &cut, &all_fit)) != cudaSuccess)
        return error;
    kernel<<<cut.num_tiles, NUM_THREADS, 0, stream>>>(cut, all_fit, args->inputs, args->coeffs, args->outputs,
                                                      (struct workspace *)args->workspace);
    return cudaGetLastError();
}
