/* SPDX-License-Identifier: MIT */
/* warp_specialized.cu - fused_steps.cu for few channels, or one long sequence, by warp specialization: the consumer
   warps of a block go through time and do nothing else, the producer warps do everything else for them.

   2048 channels of 16 states are 32 768 recurrences that need nothing of each other. With two states a lane they are
   512 warps of 4 channels, one for each scheduler of an H200. One warp keeps the unit of exponentials busy only if it
   hardly ever waits. So a block has four consumer warps, and beside them four producer warps. It goes through time in
   tiles of 64 steps:

       producers   tile k + 3   u, delta, z, B, C on their way to a stage (producer.cuh)
       producers   tile k + 2   step = softplus(delta + bias) and step u     -- READY --> consumers
       consumers   tile k       h = exp(step A) h + step u B, and C h        -- DONE ---> producers
       producers   tile k - 1   C h added up over a channel's lanes, + D u, times silu(z)

   A barrier is there twice, for even and for odd tiles, so that producers and consumers may be a tile apart. And each
   consumer warp has a READY of its own: it waits for the producers, and not for the other consumers. */
/* The simulator builds it quickly: states in registers, in unrolled loops, each for three types. */
#include <cuda_runtime.h>
#include "../../common/cuda/named_barrier.h"

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "producer.cuh"
#include "grid.h"
#include "selective_check.h"

enum { DONE = 1, READY = 3 }; /* the barriers of even tiles; the next ones are those of odd tiles */
enum { ALL = CONSUMERS + PRODUCERS };

/* The barrier at which a consumer warp learns that a tile is ready. */
static __device__ __forceinline__ int ready(int consumer, int tile)
{
    return READY + 2 * consumer + tile % 2;
}

/* What a consumer needs for four steps, but for the steps themselves, which it reads earlier. */
template <int each>
struct four_steps {
    float step_u[4], B[each][4], C[each][4];
};

template <int each>
static __device__ __forceinline__ void read_four(const float *steps, const float *common, struct four_steps<each> *four)
{
    get4(steps + IN_BLOCK * ROW, four->step_u);
#pragma unroll
    for (int i = 0; i < each; i++) {
        get4(common + i * LANES * ROW, four->B[i]);
        get4(common + (each + i) * LANES * ROW, four->C[i]);
    }
}

/* The last tile, if only `left` of its steps are in the sequence. Behind them a state stays as it is: a step of 0 would
   make exp(0 A) of it, which is NaN for an infinite A. */
template <typename dtype, int each>
static __device__ __forceinline__ void consume_last(struct tiles<dtype, each> *tiles, int warp, int tile, int left,
                                                    const float *steps, const float *common, const float A[each],
                                                    float h[each])
{
    float *const parts = tiles->parts[tile % 2][threadIdx.x / 4 * 2 + threadIdx.x % 2] + (threadIdx.x & 2);
    named_barrier_sync(ready(warp, tile + 1), 32 + PRODUCERS);
#pragma unroll 2
    for (int t = 0; t < STEPS; t += 4) {
        struct four_steps<each> now;
        float step[4], y[4] = {};
        get4(steps + t, step);
        read_four<each>(steps + t, common + t, &now);
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int i = 0; i < each; i++)
                if (t + j < left) {
                    h[i] = fast_exp2(step[j] * A[i]) * h[i] + now.step_u[j] * now.B[i][j];
                    y[j] += now.C[i][j] * h[i];
                }
        fold_once<2>(y, threadIdx.x, 2);
        put<4, 2>(parts + t, 0, 0, y);
    }
    named_barrier_arrive(DONE + tile % 2, ALL);
}

/* A lane of a consumer has the states part, part + 8, ... of one channel. While it takes four steps, it computes the
   exponentials of the next four, reads the steps of the four after those, and the rest of the four that come `prefetch`
   steps later: a warp that is alone must begin everything early. */
template <typename dtype, int each>
static __device__ __forceinline__ void consume(const struct selective_args *args, struct tiles<dtype, each> *tiles)
{
    enum { ahead = each <= 2 ? 16 : 8 }; /* steps; four states a lane have no registers for more */
    const struct chunk_place where = place_of<LANES, CONSUMERS / 32>(args);
    const int num_whole = (int)args->seq_len / STEPS, left = (int)args->seq_len % STEPS; /* tiles, and steps behind */
    const int warp = threadIdx.x / 32, channel = warp * CHANNELS(LANES) + where.row;
    const float *steps = tiles->stages[0].steps[channel], *common = tiles->stages[0].common[where.part];
    struct four_steps<each> read[ahead / 4];
    float A[each], h[each], a[4][each], step[4];
    load_states<LANES, each>(args, &where, args->initial_state, A, h);
    named_barrier_sync(ready(warp, 0), 32 + PRODUCERS);
    named_barrier_arrive(DONE + 1, ALL); /* tile -1 */
    get4(steps, step);
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int i = 0; i < each; i++)
            a[j][i] = fast_exp2(step[j] * A[i]);
    get4(steps + 4, step);
#pragma unroll
    for (int t = 0; t < ahead; t += 4)
        read_four<each>(steps + t, common + t, &read[t / 4]);
    for (int tile = 0; tile < num_whole; tile++) {
        /* [tile] A tile. READY is that of the next one, since the last steps read it. */
        struct stage<dtype, each> *const next = &tiles->stages[(tile + 1) % STAGES];
        const float *const next_steps = next->steps[channel], *const next_common = next->common[where.part];
        float *const parts = tiles->parts[tile % 2][threadIdx.x / 4 * 2 + threadIdx.x % 2] + (threadIdx.x & 2);
        named_barrier_sync(ready(warp, tile + 1), 32 + PRODUCERS);
#pragma unroll
        for (int t = 0; t < STEPS; t += 4) {
            const int read_at = t + ahead, step_at = t + 8; /* from STEPS on in the next tile */
            const struct four_steps<each> now = read[t % ahead / 4];
            const float next_step[4] = {step[0], step[1], step[2], step[3]};
            float y[4] = {};
            get4(step_at < STEPS ? steps + step_at : next_steps + step_at - STEPS, step);
            read_four<each>(read_at < STEPS ? steps + read_at : next_steps + read_at - STEPS,
                            read_at < STEPS ? common + read_at : next_common + read_at - STEPS, &read[t % ahead / 4]);
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int i = 0; i < each; i++) {
                    h[i] = a[j][i] * h[i] + now.step_u[j] * now.B[i][j];
                    y[j] += now.C[i][j] * h[i];
                    a[j][i] = fast_exp2(next_step[j] * A[i]);
                }
            fold_once<2>(y, threadIdx.x, 2); /* with the lane that has the channel's neighbouring part */
            put<4, 2>(parts + t, 0, 0, y);
        }
        steps = next_steps, common = next_common;
        /* [done] The sums of this tile are there. */
        named_barrier_arrive(DONE + tile % 2, ALL);
    }
    if (left != 0)
        consume_last<dtype, each>(tiles, warp, num_whole, left, steps, common, A, h);
    store_states<LANES, each>(args, &where, h, args->final_state);
}

/* u of a producer's steps of a tile. */
struct own_u {
    float of[2][4];
};

/* A producer makes tile `next` ready, and ends tile next - 2. `u` comes in with the inputs of tile next - 2, and goes
   out with those of `next`. `whole`: all of both is there, and of the tile that it asks for, and is aligned. */
template <bool whole, typename dtype, int each>
static __device__ __forceinline__ void produce_once(const struct selective_args *args, struct tiles<dtype, each> *tiles,
                                                    struct producer<dtype, each> *me, int next, struct own_u *u)
{
    const int tile = next - 2, num_tiles = (me->seq_len - 1) / STEPS + 1;
    struct own_u next_u = {};
    if (whole || next < num_tiles) {
        struct stage<dtype, each> *const stage = &tiles->stages[next % STAGES];
        __pipeline_wait_prior(1);
        __syncwarp();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int left = me->seq_len - next * STEPS - half * HALF - me->t;
            float step[4], step_u[4];
            get<4, 4>(stage->own[0][half][me->number], 0, 0, next_u.of[half]);
            get<4, 4>(stage->own[1][half][me->number], 0, 0, step);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                step[i] = step_of(step[i] + me->bias, args->delta_softplus);
                if (!whole && i >= left)
                    step[i] = 0.0f; /* leaves the states as they are */
                step_u[i] = step[i] * next_u.of[half][i];
            }
            put<4, 4>(stage->steps[me->channel] + half * HALF + me->t, 0, 0, step);
            put<4, 4>(stage->steps[IN_BLOCK + me->channel] + half * HALF + me->t, 0, 0, step_u);
        }
        widen(stage, me);
    }
    if (whole || next <= num_tiles) /* once too often: consumers do not ask whether there is a next tile */
        for (int consumer = 0; consumer < CONSUMERS / 32; consumer++)
            named_barrier_arrive(ready(consumer, next), 32 + PRODUCERS);
    if (whole || (tile >= -1 && tile < num_tiles))
        named_barrier_sync(DONE + (next & 1), ALL);
    if (whole || (tile >= 0 && tile < num_tiles)) {
        struct stage<dtype, each> *const stage = &tiles->stages[tile % STAGES];
        const int row = me->channel / 4 * 16 + me->channel / 2 % 2 * 8 + me->channel % 2; /* of its first two lanes */
        const float *const parts = tiles->parts[next & 1][row] + me->t;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float y[4], z[4];
            get4(parts + half * HALF, y);
#pragma unroll
            for (int pair = 1; pair < LANES / 2; pair++) {
                float four[4];
                get4(parts + 2 * pair * ROW + half * HALF, four);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    y[i] += four[i];
            }
            get<4, 4>(stage->own[2][half][me->number], 0, 0, z);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                y[i] += me->D * u->of[half][i];
                if (args->z != NULL)
                    y[i] *= silu(z[i]);
            }
            store_half<whole>(me, stage, half, me->seq_len - tile * STEPS - half * HALF, y);
            fetch_half<whole>(me, stage, half); /* half by half: consumers wait behind many copies at once */
        }
        fetch_done(me);
        me->out += STEPS;
    }
    *u = next_u;
}

template <typename dtype, int each>
static __device__ __forceinline__ void produce(const struct selective_args *args, struct tiles<dtype, each> *tiles)
{
    struct producer<dtype, each> me = make_producer<dtype, each>(args);
    const int num_tiles = (me.seq_len - 1) / STEPS + 1, num_whole = me.all ? me.seq_len / STEPS : 0;
    struct own_u even = {}, odd = {};
    for (int tile = 0; tile < STAGES; tile++) {
        for (int half = 0; half < 2; half++) {
            clear_half(&me, &tiles->stages[tile], half);
            fetch_half<false>(&me, &tiles->stages[tile], half);
        }
        fetch_done(&me);
    }
    for (int next = 0; next < num_tiles + 2; next += 2)
        if (next >= 2 && next + STAGES <= num_whole) {
            produce_once<true>(args, tiles, &me, next, &even);
            produce_once<true>(args, tiles, &me, next + 1, &odd);
        } else {
            produce_once<false>(args, tiles, &me, next, &even);
            produce_once<false>(args, tiles, &me, next + 1, &odd);
        }
}

template <typename dtype, int each>
static __global__ void __launch_bounds__(ALL, 1) warp_specialized_forward(struct selective_args args)
{
    extern __shared__ float4 shared[];
    struct tiles<dtype, each> *const memory = (struct tiles<dtype, each> *)shared;
    if (threadIdx.x < CONSUMERS)
        consume(&args, memory);
    else
        produce(&args, memory);
}

template <typename dtype, int each>
static cudaError_t launch(const struct selective_args *args, cudaStream_t stream)
{
    const size_t blocks = selective_warp_specialized_blocks(args), bytes = sizeof(struct tiles<dtype, each>);
    void (*const kernel)(struct selective_args) = warp_specialized_forward<dtype, each>;
    const cudaError_t error = gpu_allow_shared((const void *)kernel, bytes, 90);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, ALL, bytes, stream);
    return cudaLaunchKernelEx(&launch, kernel, *args);
}

template <typename dtype>
static cudaError_t launch(const struct selective_args *args, cudaStream_t stream)
{
    return args->states <= LANES       ? launch<dtype, 1>(args, stream)
           : args->states <= 2 * LANES ? launch<dtype, 2>(args, stream)
                                       : launch<dtype, 4>(args, stream);
}

extern "C" cudaError_t selective_warp_specialized_forward(const struct selective_args *args, cudaStream_t stream)
{
    const cudaError_t error = selective_check_args(args, false, 0);
    if (error != cudaSuccess || !selective_warp_specialized_fits(args))
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    if (selective_is_empty(args))
        return selective_finish_empty(args, false, stream);
    return args->dtype == BF16   ? launch<__nv_bfloat16>(args, stream)
           : args->dtype == FP16 ? launch<__half>(args, stream)
                                 : launch<float>(args, stream);
}
