/* SPDX-License-Identifier: MIT */
/* resident_backward.cu - resident.cu for the gradients, as chapter 06 has them: the coefficients move on by one
   element, and d_coeffs is d_inputs times the next output.

       group of a lane     s            s+1              s+2              s+3
       d_inputs            into + dy    * c[s] + dy      * c[s+1] + dy    * c[s+2] + dy      * c[s+3] = into of the next
       d_coeffs            * y[s+1]     * y[s+2]         * y[s+3]         * y[s+4], the next lane's first            */
#include <cuda_runtime.h>

#include "../common/cuda/forget_error.h"
#include "../common/cuda/launch_of.h"
#include "../common/cuda/tma.h"
#include "fixed_look_back.cuh"
#include "gradient_rows.cuh"
#include "lookback.h"
#include "workspace.cuh"

enum { ROWS = LOOKBACK_ROWS, NUM_WARPS = LOOKBACK_THREADS / 32, NUM_THREADS = LOOKBACK_THREADS + 32 };

/* Each block takes a tile of all arrays, (num_seqs, seq_len): the next one, or its own if all blocks fit.
   `from_end`: the scan begins at the end, as after a forward pass. */
template <int from_end>
static __global__ void __launch_bounds__(NUM_THREADS)
    resident_backward(struct tiling tiling, bool all_fit, const float *__restrict__ d_outputs,
                      const float *__restrict__ coeffs, const float *__restrict__ outputs, float *__restrict__ d_inputs,
                      float *__restrict__ d_coeffs, struct states states, struct workspace *space)
{
    __shared__ struct warp_totals totals;
    __shared__ unsigned number_taken;
    __shared__ float carry_found;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = warp * ROWS * PIPE_ROW + lane * 4;
    float x[ROWS][4], c[ROWS][4], y[ROWS][4], y_behind = 0.0f; /* the first output after the warp's rows */
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

    /* [scan] 1. and 2. The tile, and what each warp's part of it does. The output behind a tile is another tile's
       first. */
    if (warp < NUM_WARPS) {
        y_behind =
            rows_load_gradients<ROWS, from_end>(&states, seq, d_outputs, coeffs, outputs, &tile, own, lane, x, c, y);
        const struct pair warp_aggregate = rows_scan_shifted<ROWS>(x, c, before, lane);
        if (lane == 31)
            totals.product[warp] = warp_aggregate.product, totals.sum[warp] = warp_aggregate.sum;
    } else {
        prefetch_window(space->descriptors, number, tile.number_in_seq, lane);
        if (lane == 0 && (taken != number || descriptor_read(&space->descriptors[number]) != NOT_PUBLISHED))
            __trap(); /* the workspace was not initialised */
    }
    const float initial_state = tile.is_last ? state_load(states.initial_state, seq) : 0.0f;
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
        if (lane == 0 && tile.number_in_seq + 1 == tiling.seq_tiles)
            leave_gradient(&states, inclusive, seq);
    }
    __syncthreads();
    if (warp == NUM_WARPS) {
        leave_workspace(space, tiling.num_tiles, lane);
        return;
    }

    /* [add] 4. What comes in is added, and both gradients are stored. */
    const float carry = carry_found;
    const float inclusive = is_first ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
    const float before_warp = __shfl_sync(ALL_LANES, inclusive, (warp + 31) % 32); /* the warp before's */
    rows_add<ROWS>(x, c, before, warp == 0 ? carry : before_warp, is_first && warp == 0, lane);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int at = own + r * PIPE_ROW;
        row_d_coeffs(&states, initial_state, tile_end(&tile) - at, x[r], y[r], r + 1 < ROWS ? y[r + 1][0] : y_behind,
                     lane);
        store4<from_end>(d_inputs + tile.at, at, tile.first, tile.last, x[r]);
        store4<from_end>(d_coeffs + tile.at, at, tile.first, tile.last, y[r]);
    }
}

extern "C" cudaError_t lookback_resident_backward_on(const struct linrec_args *args, const struct gpu_info *gpu,
                                                     cudaStream_t stream)
{
    const struct tiling tiling = lookback_tiling(args, ROWS);
    cudaError_t error = lookback_check(args, true, &tiling, lookback_workspace_of(tiling.num_tiles));
    if (error != cudaSuccess)
        return error;
    if (tiling.num_tiles == 0)
        return linrec_finish_empty(args, true, stream);
    /* the gradients of a forward pass are a reversed scan */
    void (*const kernel)(struct tiling, bool, const float *, const float *, const float *, float *, float *,
                         struct states, struct workspace *) =
        args->reverse ? resident_backward<0> : resident_backward<1>;
    bool all_fit;
    if ((error = lookback_all_fit((const void *)kernel, NUM_THREADS, &tiling, gpu, &all_fit)) != cudaSuccess)
        return error;
    cudaLaunchAttribute together = all_resident();
    cudaLaunchConfig_t launch = launch_of(tiling.num_tiles, NUM_THREADS, 0, stream);
    launch.attrs = &together;
    const cudaError_t before = cudaPeekAtLastError();
    for (;;) {
        launch.numAttrs = all_fit; /* with tickets no block waits for one that has not begun */
        error = cudaLaunchKernelEx(&launch, kernel, tiling, all_fit, args->d_outputs, args->coeffs, args->outputs,
                                   args->d_inputs, args->d_coeffs, states_of(args), lookback_space(args));
        if (error == cudaSuccess || !all_fit)
            return error;
        forget_error(before); /* a part of the chip (a green context) may have fewer multiprocessors than it says */
        all_fit = false;
    }
}

extern "C" cudaError_t lookback_resident_backward(const struct linrec_args *args, cudaStream_t stream)
{
    return lookback_launch(lookback_resident_backward_on, args, stream);
}
