/* SPDX-License-Identifier: MIT */
/* checkpoints_states.cu - the way forward of checkpoints.c, which goes twice through time with the same kernel, 16
   states of each channel (a slice) at a time:

       window     0             1             2             3
       first      h -> -> -> -> h -> -> -> -> h -> -> -> -> h          before each window: the checkpoints
       later                                                h->h->h    the last window once more from its checkpoint,
                                                                       saved before each chunk of 8 steps; when its
                                              h->h->h                  gradients are there, the window before it

   It is fused_states.cu but for what is saved where. The states before the chunks of a window go to the workspace,
   which has room for one window of each segment. A checkpoint lies where nothing else is yet: in d_u and d_delta of the
   window before it. A row of these two, for each channel, holds

       16 floats of slice 0 | 16 of slice 1 | ... | the sum of the segment's steps so far

   Of several segments each begins with state 0, as in fused_states.cu, and its checkpoints do, too: on the later way
   exp(A sum) times what fused_carry.cu has found to come into the segment is added to them. */
/* The simulator builds it quickly: states in registers, in unrolled loops, each for three types. */
#include <cuda_runtime.h>

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "checkpoints.h"
enum { TILE = 32 }; /* steps */
#include "tile_states.cuh"
#include "grid.h"

#define WARPS(lanes, arrays) ((lanes) == 4 ? (arrays) : 2) /* of a block, as in fused_states.cu */
#define THREADS(lanes, arrays) (32 * WARPS(lanes, arrays))
#define BLOCKS(lanes, arrays) (2 * FUSED_WARPS / WARPS(lanes, arrays)) /* for one of checkpoints_backward.cu */
#define AT_ONCE(lanes, arrays)                                                                                         \
    ((arrays) == 2 ? 16 / WARPS(lanes, 2) : (lanes) == 4 ? 3 : 4)                     /* blocks; or registers spill */
#define CHUNK_FLOATS(lanes, arrays) ROOM(((arrays) / 2 + 1) * CHANNELS(lanes), STEPS) /* step, step u and d_y */

template <typename dtype, int lanes, int arrays>
struct states_block {
    struct tile<dtype, lanes, arrays, WARPS(lanes, arrays) * CHANNELS(lanes)> tiles[2];
    float steps[WARPS(lanes, arrays)][2 * CHUNK_FLOATS(lanes, arrays)];
};

/* Where float i of the checkpoint before step `at` begins, for channel `row` of all batches. */
template <typename dtype>
static __device__ __forceinline__ dtype *
checkpoint_at(const struct selective_args *args, const struct selective_windows *windows, size_t row, int at, int i)
{
    const int steps = (int)windows->window_steps, half = steps * (int)sizeof(dtype) / 4; /* floats in d_u */
    dtype *const array = (dtype *)(i < half ? args->d_u : args->d_delta);
    return array + row * args->seq_len + (at - steps) + i % half * (4 / (int)sizeof(dtype));
}

/* `count` floats to or from a place that begins at a multiple of an element's size only. */
template <typename dtype, int count>
static __device__ __forceinline__ void put_floats(const float from[count], dtype *to)
{
    dtype pieces[count * 4 / sizeof(dtype)];
    memcpy(pieces, from, sizeof pieces);
#pragma unroll
    for (int i = 0; i < count * 4 / (int)sizeof(dtype); i++)
        to[i] = pieces[i];
}

template <typename dtype, int count>
static __device__ __forceinline__ void get_floats(const dtype *from, float to[count])
{
    dtype pieces[count * 4 / sizeof(dtype)];
#pragma unroll
    for (int i = 0; i < count * 4 / (int)sizeof(dtype); i++)
        pieces[i] = from[i];
    memcpy(to, pieces, sizeof pieces);
}

/* `window`: of each segment, or CHECKPOINTS for the first way. */
enum { CHECKPOINTS = -1 };

template <typename dtype, int lanes, int arrays>
static __global__ void __launch_bounds__(THREADS(lanes, arrays), AT_ONCE(lanes, arrays))
    checkpoints_states(struct selective_args args, struct selective_windows windows, int window)
{
    enum { several = arrays == 4, channels = WARPS(lanes, arrays) * CHANNELS(lanes) };
    extern __shared__ float4 shared[];
    struct states_block<dtype, lanes, arrays> *const block = (struct states_block<dtype, lanes, arrays> *)shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, seq_len = (int)args.seq_len;
    const unsigned of_group = windows.per_group * BLOCKS(lanes, arrays); /* blocks */
    struct block_place place = place_block(&args, channels, of_group);
    place.states = (int)(blockIdx.x / of_group * windows.all_states + windows.first_state);
    const int first_step = blockIdx.y * (int)windows.segment_steps, steps_of_window = (int)windows.window_steps;
    const int of_segment = min(seq_len - first_step, (int)windows.segment_steps);
    const bool saves = !several && window != CHECKPOINTS; /* the states before chunks */
    const int from_step = saves ? window * steps_of_window : 0;
    const int to_step = saves     ? from_step + min(of_segment - from_step, steps_of_window)
                        : several ? of_segment
                                  : ((int)windows.windows - 1) * steps_of_window;
    if (place.here <= 0 || from_step >= to_step)
        return;
    const int row = lane / (2 * lanes) * 2 + lane % 2, part = lane / 2 % lanes, mine = first_own<lanes, STEPS>(part);
    const int channel = warp * CHANNELS(lanes) + row; /* of the block */
    struct chunk_place where;
    where.row = channel, where.here = place.here, where.part = part;
    where.both = place.first + min(channel, place.here - 1), where.channel = where.both % args.channels;
    const struct reader reader = reader_of<lanes>(channel % BOTH(lanes), part);
    const bool is_here = channel < place.here; /* else the steps are 0, and so must A be: 0 A is NaN if A is infinite */
    const float bias = args.delta_bias != NULL && is_here ? args.delta_bias[where.channel] : 0.0f;
    const size_t segment = blockIdx.y * args.batch * args.channels * args.states;
    const size_t whose = blockIdx.x * (WARPS(lanes, arrays) / 2) + warp / 2; /* a warp of checkpoints_backward.cu */
    float *const steps = block->steps[warp];
    float *saved = windows.saved + (whose * windows.segments + blockIdx.y) * (steps_of_window / STEPS) * SAVED_FLOATS;
    const int slice_at = (int)windows.first_state + part * 4, sum_at = (int)windows.slices * CHECKPOINT_STATES;
    float A[4], h[4], product[4] = {1.0f, 1.0f, 1.0f, 1.0f}, start[4] = {}, sum = 0.0f;
    load_states<lanes>(&args, &where, several ? NULL : windows.end + segment, A, h, reader.order);
#pragma unroll
    for (int i = 0; i < 4; i++)
        A[i] = is_here ? A[i] : 0.0f;
    if (saves && window > 0 && is_here) {
        float checkpoint[4], so_long[1];
        const int at = first_step + from_step;
        get_floats<dtype, 4>(checkpoint_at<dtype>(&args, &windows, where.both, at, slice_at), checkpoint);
        get_floats<dtype, 1>(checkpoint_at<dtype>(&args, &windows, where.both, at, sum_at), so_long);
#pragma unroll
        for (int i = 0; i < 4; i++) { /* before the segment's first step its state is as it comes, whatever A is */
            const float more = (so_long[0] == 0.0f ? 1.0f : fast_exp2(so_long[0] * A[i])) * h[i];
            h[i] = windows.segments > 1 ? checkpoint[i] + more : checkpoint[i];
        }
    }
    for (int i = threadIdx.x; i < (int)(sizeof *block / 16); i += THREADS(lanes, arrays))
        shared[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f); /* what is not there */
    __syncthreads();
    const int begin = first_step + from_step, end = first_step + to_step;
    int next_window = first_step + steps_of_window;
    struct tile_sources sources = find_tile_sources<dtype, lanes, channels>(&args, &place, begin);
    fetch_tile<THREADS(lanes, arrays)>(&args, &place, begin, &block->tiles[0]);
    __pipeline_commit();
    for (int at = begin, now = 0; at < end; at += TILE, now = 1 - now) {
        struct tile<dtype, lanes, arrays, channels> *const tile = &block->tiles[now];
        __pipeline_wait_prior(0);
        widen_tile<THREADS(lanes, arrays)>(tile);
        __syncthreads(); /* the tile has come, and nobody needs the other one any more */
        if (!several && sources.whole && at + 2 * TILE <= end) /* else there are no registers for this */
            send_next<THREADS(lanes, arrays)>(&args, &sources, &block->tiles[1 - now]);
        else
            fetch_tile<THREADS(lanes, arrays)>(&args, &place, at + TILE < end ? at + TILE : -1, &block->tiles[1 - now]);
        __pipeline_commit();
#pragma unroll 1
        for (int both = 0; both < TILE / STEPS; both += 2) { /* chunks */
#pragma unroll
            for (int chunk = both; chunk < both + 2; chunk++)
                prepare_states(&args, tile, channel, chunk, row, mine, at + chunk * STEPS + mine, bias,
                               steps + chunk % 2 * CHUNK_FLOATS(lanes, arrays));
            __syncwarp();
#pragma unroll
            for (int chunk = both; chunk < both + 2; chunk++, saved += SAVED_FLOATS) {
                const float *const from = steps + chunk % 2 * CHUNK_FLOATS(lanes, arrays);
                if (saves) /* also what lies behind the end, in a tile of this size */
                    *(float4 *)(saved + reader.at) = make_float4(h[0], h[1], h[2], h[3]);
#pragma unroll
                for (int t = 0; t < STEPS; t += 4) {
                    float step[4], step_u[4], d_y[4];
                    get<STEPS, 4>(from, row, t, step);
                    get<STEPS, 4>(from + ROOM(CHANNELS(lanes), STEPS), row, t, step_u);
                    if (several)
                        get<STEPS, 4>(from + ROOM(2 * CHANNELS(lanes), STEPS), row, t, d_y);
                    sum += step[0] + step[1] + (step[2] + step[3]);
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        const float *const common = tile->common[chunk] + state_at<lanes>(i, reader.order, part) + t;
                        float B[4], C[4];
                        get4(common, B);
                        if (several)
                            get4(common + ROOM(STATES_OF(lanes), STEPS), C);
#pragma unroll
                        for (int j = 0; j < 4; j++) {
                            const float a = fast_exp2(step[j] * A[i]);
                            h[i] = a * h[i] + step_u[j] * B[j];
                            if (several) {
                                product[i] *= a;
                                start[i] += product[i] * (d_y[j] * C[j]);
                            }
                        }
                    }
                }
            }
            __syncwarp();
        }
        /* [checkpoint] The state before the next window, if the segment has one. */
        if (!saves && at + TILE == next_window && at + TILE < first_step + of_segment) {
            if (is_here)
                put_floats<dtype, 4>(h, checkpoint_at<dtype>(&args, &windows, where.both, at + TILE, slice_at));
            if (is_here && part == 0)
                put_floats<dtype, 1>(&sum, checkpoint_at<dtype>(&args, &windows, where.both, at + TILE, sum_at));
            next_window += steps_of_window;
        }
    }
    if (several) {
        store_states<lanes>(&args, &where, product, windows.product + segment, reader.order);
        store_states<lanes>(&args, &where, h, windows.end + segment, reader.order);
        store_states<lanes>(&args, &where, start, windows.start + segment, reader.order);
    }
}

template <typename dtype, int lanes, int arrays>
static cudaError_t launch_arrays(const struct selective_args *args, const struct selective_windows *windows, int window,
                                 cudaStream_t stream)
{
    const size_t of_group = windows->per_group * BLOCKS(lanes, arrays),
                 bytes = sizeof(states_block<dtype, lanes, arrays>);
    const cudaError_t error = gpu_allow_shared((const void *)checkpoints_states<dtype, lanes, arrays>, bytes, 80);
    const dim3 blocks((unsigned)(args->batch * args->groups * of_group), (unsigned)windows->segments);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(blocks, THREADS(lanes, arrays), bytes, stream);
    return cudaLaunchKernelEx(&launch, checkpoints_states<dtype, lanes, arrays>, *args, *windows, window);
}

template <typename dtype, int lanes>
static cudaError_t launch_lanes(const struct selective_args *args, const struct selective_windows *windows, int window,
                                cudaStream_t stream)
{
    return window == CHECKPOINTS && windows->segments > 1
               ? launch_arrays<dtype, lanes, 4>(args, windows, window, stream)
               : launch_arrays<dtype, lanes, 2>(args, windows, window, stream);
}

template <typename dtype>
static cudaError_t launch(const struct selective_args *args, const struct selective_windows *windows, int window,
                          cudaStream_t stream)
{
    return selective_checkpoints_lanes(windows) == 2 ? launch_lanes<dtype, 2>(args, windows, window, stream)
                                                     : launch_lanes<dtype, 4>(args, windows, window, stream);
}

static cudaError_t launch_dtype(const struct selective_args *args, const struct selective_windows *windows, int window,
                                cudaStream_t stream)
{
    return args->dtype == BF16   ? launch<__nv_bfloat16>(args, windows, window, stream)
           : args->dtype == FP16 ? launch<__half>(args, windows, window, stream)
                                 : launch<float>(args, windows, window, stream);
}

extern "C" cudaError_t selective_checkpoints_states(const struct selective_args *args,
                                                    const struct selective_windows *windows, cudaStream_t stream)
{
    return launch_dtype(args, windows, CHECKPOINTS, stream);
}

extern "C" cudaError_t selective_window_states(const struct selective_args *args,
                                               const struct selective_windows *windows, size_t window,
                                               cudaStream_t stream)
{
    return launch_dtype(args, windows, (int)window, stream);
}
