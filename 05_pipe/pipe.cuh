/* pipe.cuh - one block per sequence of any length: tile after tile, with a carry between them.

   In a tile, every warp has `rows` rows of 32 groups, a group for each lane, and a group is `group` consecutive
   elements:

       warp 0   row 0   |lane 0    |lane 1    | ... |lane 31   |
                row 1   |lane 0    |lane 1    | ... |lane 31   |      a group of 4 is a float4,
       warp 1   row 0   |lane 0    |lane 1    | ... |lane 31   |      a row 512 consecutive bytes
                ...

   Consecutive elements in a lane let it scan them alone (chapter 03). Consecutive lanes on consecutive memory is what
   the memory wants. A float4 is both. */
#ifndef PIPE_CUH
#define PIPE_CUH

#include "../03_tile/tile.cuh"
#include "../04_warp_scan/warp_scan.cuh"
#include "pipe.h"
#include "tile_move.cuh"

template <int movement, int rows, int group>
__global__ void __launch_bounds__(PIPE_MAX_THREADS)
    pipe_forward(size_t num_seqs, size_t seq_len, int stages, const float *__restrict__ inputs,
                 const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    extern __shared__ __align__(128) float shared[]; /* stage 0: inputs, coeffs; stage 1: inputs, coeffs; ... */
    __shared__ struct warp_totals totals[2]; /* of this tile, and of the one before, which some warp may still read */
    __shared__ uint64_t arrived[PIPE_MAX_STAGES]; /* bulk: a barrier for each stage */

    static_assert(movement <= PIPE_STAGED ? rows == 1 : group == 4, "see PIPE_CONFIGS");
    const bool bulk = movement >= PIPE_BULK && movement <= PIPE_BULK_LAST;
    const enum l2_policy policy = movement == PIPE_BULK_FIRST  ? L2_EVICT_FIRST
                                  : movement == PIPE_BULK_LAST ? L2_EVICT_LAST
                                                               : L2_NORMAL;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const unsigned row = 32 * group, size = num_warps * rows * row;
    const unsigned own = warp * rows * row + lane * group; /* the thread's first element in a tile */
    const struct stream stream =
        make_stream(num_seqs, seq_len, blockIdx.x, blockIdx.x + (size_t)1, inputs, coeffs, outputs);

    float x[rows][group], c[rows][group], next_x[rows][group], next_c[rows][group];
    float carry = 0.0f; /* what comes into the tile */

    /* the first tiles set out */
    if (movement == PIPE_VECTOR) {
        const struct tile tile = tile_at(&stream, 0, size);
#pragma unroll
        for (int r = 0; r < rows; r++)
            group_load<group>(&tile, own + r * row, next_x[r], next_c[r]);
    }
    if (movement == PIPE_ASYNC) {
        for (int s = 0; s < stages - 1; s++) {
            const struct tile tile = tile_at(&stream, (size_t)s * size, size);
            float *stage_x = shared + s * 2 * size + own, *stage_c = stage_x + size;
#pragma unroll
            for (int r = 0; r < rows; r++)
                group_copy_async(&tile, own + r * row, stage_x + r * row, stage_c + r * row);
            __pipeline_commit();
        }
    }
    if (bulk) {
        if (threadIdx.x == 0) {
            for (int s = 0; s < stages; s++)
                mbarrier_init(&arrived[s], 1);
            mbarrier_init_done();
            for (int s = 0; s < stages && (size_t)s * size < stream.end; s++) {
                const struct tile tile = tile_at(&stream, (size_t)s * size, size);
                tile_copy_bulk(&tile, size, shared + s * 2 * size, &arrived[s], policy);
            }
        }
        __syncthreads(); /* the barriers are there for all */
    }

    int stage = 0; /* where this tile lies */
    int round = 0; /* how often all stages have been used, modulo 2 */
    int turn = 0;  /* which of the totals */
    for (size_t base = 0; base < stream.end; base += size) {
        const struct tile tile = tile_at(&stream, base, size);
        float *stage_x = shared + stage * 2 * size + own, *stage_c = stage_x + size;

        /* 1. the tile comes into registers */
        if (movement == PIPE_BLOCKED)
            group_load<group>(&tile, own, x[0], c[0]);
        if (movement == PIPE_STAGED) {
            group_load_staged<group>(&tile, tile.inputs, 0.0f, own, shared, x[0]);
            group_load_staged<group>(&tile, tile.coeffs, 1.0f, own, shared, c[0]);
        }
        if (movement == PIPE_VECTOR) { /* it is there; the next one sets out */
            const struct tile next = tile_at(&stream, base + size, size);
#pragma unroll
            for (int r = 0; r < rows; r++) {
#pragma unroll
                for (int i = 0; i < group; i++)
                    x[r][i] = next_x[r][i], c[r][i] = next_c[r][i];
                group_load<group>(&next, own + r * row, next_x[r], next_c[r]);
            }
        }
        if (movement == PIPE_ASYNC) { /* one more sets out, for the stage that was emptied last */
            const struct tile last = tile_at(&stream, base + (size_t)(stages - 1) * size, size);
            float *last_x = shared + (stage == 0 ? stages - 1 : stage - 1) * 2 * size + own, *last_c = last_x + size;
#pragma unroll
            for (int r = 0; r < rows; r++)
                group_copy_async(&last, own + r * row, last_x + r * row, last_c + r * row);
            __pipeline_commit();
            __pipeline_wait_prior(stages - 1); /* for what this thread has asked for, and it takes nothing else */
        }
        if (bulk)
            mbarrier_wait(&arrived[stage], round);
        if (movement == PIPE_ASYNC || bulk) {
#pragma unroll
            for (int r = 0; r < rows; r++)
                group_take(stage_x + r * row, stage_c + r * row, x[r], c[r]);
        }
        if (tile.begin > 0 || tile.end < size || base == 0) { /* an edge of the stream */
#pragma unroll
            for (int r = 0; r < rows; r++) {
                if (movement == PIPE_ASYNC || bulk)
                    left_over<group>(&tile, own + r * row, x[r], c[r]);
                group_mask<group>(&tile, own + r * row, x[r], c[r]);
            }
            if (base == 0 && threadIdx.x == 0) { /* the coefficient that is not used */
#pragma unroll
                for (int i = 0; i < group; i++)
                    c[0][i] = i == (int)tile.begin ? 1.0f : c[0][i];
            }
        }

        /* Nothing comes into the sequence's first warp. Adding 0 * product would not do: 0 * infinity is NaN. */
        const bool nothing = base == 0 && warp == 0;

        /* 2. the lanes of a row, row after row: what lies between the warp's first element and each group */
        struct pair before[rows], so_far;
#pragma unroll
        for (int r = 0; r < rows; r++) {
            thread_scan<group>(x[r], c[r]);
            const struct pair mine = {c[r][group - 1], x[r][group - 1]};
            const struct pair up_to_here = warp_scan(mine, lane), whole_row = pair_shfl(up_to_here, 31);
            before[r] = lane_before(up_to_here, lane);
            if (r > 0)
                before[r] = pair_join(so_far, before[r]);
            so_far = r == 0 ? whole_row : pair_join(so_far, whole_row);
        }
        if (nothing && lane == 0) { /* nor into its first group */
#pragma unroll
            for (int i = 0; i < group; i++)
                c[0][i] = 0.0f;
        }

        /* 3. the warps of the block. After the barrier nobody needs the stage any more: it is filled again */
        block_publish(&totals[turn], so_far, warp, lane);
        __syncthreads();
        if (bulk && threadIdx.x == 0 && base + (size_t)stages * size < stream.end) {
            const struct tile last = tile_at(&stream, base + (size_t)stages * size, size);
            tile_copy_bulk(&last, size, shared + stage * 2 * size, &arrived[stage], policy);
        }
        const float into_warp = block_collect(&totals[turn], base == 0, &carry, warp, num_warps, lane);

        /* 4. what comes in is added, and the tile leaves */
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float into = nothing ? before[r].sum : into_warp * before[r].product + before[r].sum;
            thread_carry<group>(into, x[r], c[r]);
            if (movement != PIPE_STAGED)
                group_store<group>(&tile, own + r * row, x[r]);
        }
        if (movement == PIPE_STAGED)
            group_store_staged<group>(&tile, own, shared, x[0]);

        turn ^= 1;
        if (++stage == stages)
            stage = 0, round ^= 1;
    }
}

#endif
