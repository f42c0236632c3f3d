/* SPDX-License-Identifier: MIT */
/* resident.cu - lookback.cu for few tiles, where each step that waits for memory shows. Three such steps are taken out
   of a tile's way from load to store. Where all blocks are resident, on the chip at the same time, nobody takes a
   ticket. And a warp of its own looks after the descriptors: while the others load, it asks the L2 cache for them; then
   it publishes and looks back; and while the others store, it counts the block as finished.

       8 warps          load | scan |                     | add what comes in | store
                                    v                     ^
       a ninth warp     prefetch    | publish | look back | leave the workspace                                       */
#include <cuda_runtime.h>

#include "../common/cuda/forget_error.h"
#include "../common/cuda/launch_of.h"
#include "../common/cuda/tma.h"
#include "fixed_look_back.cuh"
#include "lookback.h"
#include "warp_rows.cuh"
#include "workspace.cuh"

enum { ROWS = LOOKBACK_ROWS, NUM_WARPS = LOOKBACK_THREADS / 32, NUM_THREADS = LOOKBACK_THREADS + 32 };

/* Each block takes the next tile, or its own if all blocks fit. inputs, coeffs, outputs: (num_seqs, seq_len). */
template <int from_end>
static __global__ void __launch_bounds__(NUM_THREADS)
    resident_forward(struct tiling tiling, bool all_fit, const float *__restrict__ inputs,
                     const float *__restrict__ coeffs, float *__restrict__ outputs, struct states states,
                     struct workspace *space)
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
    const unsigned taken = all_fit ? blockIdx.x : number_taken, number = min(taken, tiling.num_tiles - 1);
    const struct tile tile = tile_number<from_end>(number, &tiling);
    const bool is_first = tile.number_in_seq == 0; /* nothing comes into it */
    const unsigned seq = number / tiling.seq_tiles;

    /* [scan] 1. and 2. The tile, and what each warp's part of it does. */
    if (warp < NUM_WARPS) {
        rows_load_from<ROWS, from_end>(&states, seq, inputs, coeffs, &tile, own, x, c);
        const struct pair warp_aggregate = rows_scan<ROWS>(x, c, before, lane);
        if (lane == 31)
            totals.product[warp] = warp_aggregate.product, totals.sum[warp] = warp_aggregate.sum;
    } else {
        prefetch_window(space->descriptors, number, tile.number_in_seq, lane);
        if (lane == 0 && (taken != number || descriptor_read(&space->descriptors[number]) != NOT_PUBLISHED))
            __trap(); /* the workspace was not initialised */
    }
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, NUM_WARPS, lane);

    /* [look_back] 3. The last warp publishes the aggregate, looks back, and publishes the inclusive prefix if others
       look for that. */
    if (warp == NUM_WARPS) {
        const struct pair aggregate = pair_shfl(up_to_warp, NUM_WARPS - 1);
        if (lane == 0 && !ends_window(tile.number_in_seq))
            publish_aggregate(&space->descriptors[number], aggregate);
        const float carry = is_first ? 0.0f : fixed_look_back(space->descriptors, number, tile.number_in_seq, lane);
        const float inclusive = is_first ? aggregate.sum : carry * aggregate.product + aggregate.sum;
        if (lane == 0 && ends_window(tile.number_in_seq))
            publish_prefix(&space->descriptors[number], inclusive);
        if (lane == 0)
            carry_found = carry;
    }
    __syncthreads();
    if (warp == NUM_WARPS) {
        leave_workspace(space, tiling.num_tiles, lane);
        return;
    }

    /* [add] 4. What comes in is added, and the tile is stored. */
    const float carry = carry_found;
    const float inclusive = is_first ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
    const float before_warp = __shfl_sync(ALL_LANES, inclusive, (warp + 31) % 32); /* the warp before's */
    rows_add<ROWS>(x, c, before, warp == 0 ? carry : before_warp, is_first && warp == 0, lane);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        store4<from_end>(outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
    leave_state<ROWS>(&states, tile_end(&tile), own, x, seq);
}

extern "C" cudaError_t lookback_resident_on(const struct linrec_args *args, const struct gpu_info *gpu,
                                            cudaStream_t stream)
{
    const struct tiling tiling = lookback_tiling(args, ROWS);
    cudaError_t error = lookback_check(args, false, &tiling, lookback_workspace_of(tiling.num_tiles));
    if (error != cudaSuccess)
        return error;
    if (tiling.num_tiles == 0)
        return linrec_finish_empty(args, false, stream);
    void (*const kernel)(struct tiling, bool, const float *, const float *, float *, struct states,
                         struct workspace *) = args->reverse ? resident_forward<1> : resident_forward<0>;
    bool all_fit;
    if ((error = lookback_all_fit((const void *)kernel, NUM_THREADS, &tiling, gpu, &all_fit)) != cudaSuccess)
        return error;
    cudaLaunchAttribute together = all_resident();
    cudaLaunchConfig_t launch = launch_of(tiling.num_tiles, NUM_THREADS, 0, stream);
    launch.attrs = &together;
    const cudaError_t before = cudaPeekAtLastError();
    for (;;) {
        launch.numAttrs = all_fit; /* with tickets no block waits for one that has not begun */
        error = cudaLaunchKernelEx(&launch, kernel, tiling, all_fit, args->inputs, args->coeffs, args->outputs,
                                   states_of(args), lookback_space(args));
        if (error == cudaSuccess || !all_fit)
            return error;
        forget_error(before); /* a part of the chip (a green context) may have fewer multiprocessors than it says */
        all_fit = false;
    }
}

extern "C" cudaError_t lookback_resident(const struct linrec_args *args, cudaStream_t stream)
{
    return lookback_launch(lookback_resident_on, args, stream);
}
