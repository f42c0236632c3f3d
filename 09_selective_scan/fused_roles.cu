/* fused_roles.cu - fused_steps.cu for few channels, or one long sequence: half of the warps walk through time and do
   nothing else, the others do everything else for them.

   2048 channels of 16 states are 32 768 recurrences that need nothing of each other. With two states a lane they are
   512 warps of 4 channels, one for each scheduler of an H200. One warp keeps the unit of exponentials busy only if it
   never waits. So a block has four walkers, and four helpers beside them, and goes through time in tiles of 32 steps:

       helpers    | tile k + 4: u, delta, z, B, C on their way, by cp.async
                  | tile k + 1: step = softplus(delta + bias), step u             -- ready --v
       walkers    | tile k:     h = exp(step A) h + step u B,  C h of two states  -- done ---v
       helpers    | tile k:     y = sum of eight lanes' C h, + D u, times silu(z)

   A helper has four steps of one channel, the same in every tile, and is the only one who needs them as they are
   stored. All that the two hand to each other lies in shared memory twice, for even and odd tiles. */
#include <async_copy.h>
#include <cuda_runtime.h>
#include <named_barrier.h>

#include "../05_pipe/pipe.h"
#include "chunk.cuh"
#include "selective_scan.h"

enum { LANES = 8, STEPS = 32, STRETCH = 16, STAGES = 4, WALKERS = 128 };
enum { IN_BLOCK = WALKERS / LANES, PIECES_IN_ROW = STEPS / 4, HELPERS = IN_BLOCK * PIECES_IN_ROW };
enum { ROW = STEPS + 4 }; /* floats: rows r and r + 8 begin in the same bank, but not those in between */
enum { READY = 1, DONE = 3 }; /* barriers, for even tiles; for odd ones the next */

/* `each` states a lane. A row of B or C is a state, a row of parts a walker. */
template <typename stored, int each>
struct role_tiles {
    stored own[STAGES][3][HELPERS][4];       /* u, delta and z */
    stored narrow[STAGES][each][HELPERS][4]; /* B and C as they are stored, if not as floats */
    float common[STAGES][2 * LANES * each][ROW];
    float steps[2][2 * IN_BLOCK][ROW]; /* step | step u, a row a channel */
    float parts[2][WALKERS][ROW];      /* C h, summed over the states of a lane */
};

/* Four steps of a lane: step, step u, and B and C of its states. */
template <int each>
struct four_steps {
    float step[4], step_u[4], B[each][4], C[each][4];
};

template <int each>
static __device__ __forceinline__ void read_steps(const float *steps, const float *common, struct four_steps<each> *to)
{
    get4(steps, to->step);
    get4(steps + IN_BLOCK * ROW, to->step_u);
#pragma unroll
    for (int i = 0; i < each; i++) {
        get4(common + i * LANES * ROW, to->B[i]);
        get4(common + (each + i) * LANES * ROW, to->C[i]);
    }
}

template <typename stored, int each>
static __device__ __forceinline__ void walk(const struct selective_args &args, struct role_tiles<stored, each> *tiles)
{
    const struct chunk_place where = place_of<LANES, WALKERS / 32>(&args);
    const int num_tiles = ((int)args.seq_len - 1) / STEPS + 1, channel = threadIdx.x / 32 * 4 + where.row;
    float A[each], h[each];
#pragma unroll
    for (int i = 0; i < each; i++) {
        const size_t n = i * LANES + where.part;
        const bool first = n < args.states && where.row < where.here && args.initial_state != NULL;
        A[i] = n < args.states ? args.A[where.channel * args.states + n] * LOG2_E : 0.0f;
        h[i] = first ? args.initial_state[where.both * args.states + n] : 0.0f;
    }
    struct four_steps<each> fours[2]; /* those at work, and the next */
    const float *steps = tiles->steps[0][channel], *common = tiles->common[0][where.part];
    named_barrier_sync(READY, WALKERS + HELPERS);
    read_steps<each>(steps, common, &fours[0]);
    for (int tile = 0; tile < num_tiles; tile++) {
        float *part = tiles->parts[tile % 2][threadIdx.x];
#pragma unroll 1
        for (int at = 0; at < STEPS; at += STRETCH) {
            const float *next_steps = steps + STRETCH, *next_common = common + STRETCH;
            if (at + STRETCH == STEPS) {
                next_steps = tiles->steps[(tile + 1) % 2][channel];
                next_common = tiles->common[(tile + 1) % STAGES][where.part];
                named_barrier_sync(READY + (tile + 1) % 2, WALKERS + HELPERS);
            }
#pragma unroll
            for (int t = 0; t < STRETCH; t += 4) {
                const struct four_steps<each> &now = fours[t / 4 % 2];
                struct four_steps<each> *const next = &fours[(t / 4 + 1) % 2];
                if (t + 4 < STRETCH)
                    read_steps<each>(steps + t + 4, common + t + 4, next);
                else
                    read_steps<each>(next_steps, next_common, next);
                float y[4] = {};
#pragma unroll
                for (int j = 0; j < 4; j++)
#pragma unroll
                    for (int i = 0; i < each; i++) {
                        h[i] = fast_exp2(now.step[j] * A[i]) * h[i] + now.step_u[j] * now.B[i][j];
                        y[j] += now.C[i][j] * h[i];
                    }
                *(float4 *)(part + t) = make_float4(y[0], y[1], y[2], y[3]);
            }
            steps = next_steps, common = next_common, part += STRETCH;
        }
        named_barrier_arrive(DONE + tile % 2, WALKERS + HELPERS);
    }
#pragma unroll
    for (int i = 0; i < each; i++) {
        const size_t n = i * LANES + where.part;
        if (args.final_state != NULL && where.row < where.here && n < args.states)
            args.final_state[where.both * args.states + n] = h[i];
    }
}

/* Four elements to shared memory; or the first `left` of them, and 0 for the others. */
static __device__ __forceinline__ void send4(const float *from, float *to)
{
    async_copy_ahead(to, from);
}

template <typename stored>
static __device__ __forceinline__ void send4(const stored *from, stored *to)
{
    __pipeline_memcpy_async(to, from, 8);
}

static __device__ __forceinline__ void send_some(const float *from, int left, float *to)
{
    fetch4(from, left, false, to, NULL);
}

template <typename stored>
static __device__ __forceinline__ void send_some(const stored *from, int left, stored *to)
{
    for (int i = 0; i < 4; i++)
        to[i] = i < left ? from[i] : (stored)0.0f;
}

/* Where a piece of B or C goes first. */
template <int each>
static __device__ __forceinline__ float *piece_of(struct role_tiles<float, each> *tiles, int stage, int, int, float *row)
{
    (void)tiles, (void)stage;
    return row;
}

template <typename stored, int each>
static __device__ __forceinline__ stored *piece_of(struct role_tiles<stored, each> *tiles, int stage, int j, int helper,
                                                   float *)
{
    return tiles->narrow[stage][j][helper];
}

static __device__ __forceinline__ void widen4(const float *, float *)
{
}

template <typename stored>
static __device__ __forceinline__ void widen4(const stored *from, float *to)
{
    float four[4];
    get<4, 4>(from, 0, 0, four);
    *(float4 *)to = make_float4(four[0], four[1], four[2], four[3]);
}

template <typename stored, int each>
static __device__ __forceinline__ void help(const struct selective_args &args, struct role_tiles<stored, each> *tiles)
{
    const int helper = threadIdx.x - WALKERS, channel = helper / PIECES_IN_ROW, t = helper % PIECES_IN_ROW * 4;
    const unsigned per_group = args.channels / args.groups, blocks = (per_group - 1) / IN_BLOCK + 1;
    const size_t of_group = blockIdx.x / blocks, first = blockIdx.x % blocks * IN_BLOCK;
    const bool here = first + channel < per_group;
    const int seq_len = (int)args.seq_len, walker = channel / 4 * 32 + channel / 2 % 2 * 16 + channel % 2;
    const unsigned num_tiles = (seq_len - 1) / STEPS + 1;
    const size_t c = of_group % args.groups * per_group + (here ? first + channel : 0);
    const size_t row = (of_group / args.groups * args.channels + c) * args.seq_len + t;
    const float bias = args.delta_bias != NULL ? args.delta_bias[c] : 0.0f, D = args.D != NULL ? args.D[c] : 0.0f;
    const void *const own_arrays[] = {args.u, args.delta, args.z != NULL ? args.z : args.u}; /* read in vain */
    const stored *own[3], *common[each];
    stored *out = (stored *)args.out + row;
    unsigned there = 0;
#pragma unroll
    for (int i = 0; i < 3; i++)
        own[i] = (const stored *)own_arrays[i] + row;
#pragma unroll
    for (int j = 0; j < each; j++) {
        const unsigned r = channel + j * IN_BLOCK, n = r % (LANES * each);
        common[j] = (const stored *)(r < LANES * each ? args.B : args.C) + (of_group * args.states + n) * args.seq_len + t;
        there |= (unsigned)(n < args.states) << j;
        for (int s = 0; s < STAGES && n >= args.states; s++)
            *(float4 *)&tiles->common[s][r][t] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    const bool all = seq_len % 4 == 0 && here && there == (1u << each) - 1;
    /* Sends off the tile that comes next; `all`: all that a helper has of a tile is there, and aligned. */
    const auto fetch = [&](unsigned tile) {
        const unsigned stage = tile % STAGES;
        const int left = seq_len - (int)tile * STEPS - t;
        if (all && left >= 4) {
#pragma unroll
            for (int i = 0; i < 3; i++)
                send4(own[i], tiles->own[stage][i][helper]);
#pragma unroll
            for (int j = 0; j < each; j++)
                send4(common[j],
                      piece_of(tiles, stage, j, helper, &tiles->common[stage][channel + j * IN_BLOCK][t]));
        } else if (tile < num_tiles) {
#pragma unroll
            for (int i = 0; i < 3; i++)
                if (here)
                    send_some(own[i], left, tiles->own[stage][i][helper]);
#pragma unroll
            for (int j = 0; j < each; j++)
                if (there >> j & 1)
                    send_some(common[j], left,
                              piece_of(tiles, stage, j, helper, &tiles->common[stage][channel + j * IN_BLOCK][t]));
        }
        __pipeline_commit();
#pragma unroll
        for (int i = 0; i < 3; i++)
            own[i] += STEPS;
#pragma unroll
        for (int j = 0; j < each; j++)
            common[j] += STEPS;
    };
    float u[4], z[4];
    for (unsigned tile = 0; tile < STAGES - 2; tile++)
        fetch(tile);
    for (unsigned next = 0; next <= num_tiles; next++) {
        const unsigned stage = next % STAGES;
        float next_u[4], next_z[4];
        fetch(next + STAGES - 2);
        if (next < num_tiles) {
            float step[4], step_u[4];
            __pipeline_wait_prior(STAGES - 2);
            get<4, 4>(tiles->own[stage][0][helper], 0, 0, next_u);
            get<4, 4>(tiles->own[stage][1][helper], 0, 0, step);
            get<4, 4>(tiles->own[stage][2][helper], 0, 0, next_z);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                step[i] = step_of(step[i] + bias, args.delta_softplus);
                if ((int)next * STEPS + t + i >= seq_len)
                    step[i] = 0.0f;
                step_u[i] = step[i] * next_u[i];
            }
            put<ROW, 4>(tiles->steps[next % 2][channel], 0, t, step);
            put<ROW, 4>(tiles->steps[next % 2][IN_BLOCK + channel], 0, t, step_u);
#pragma unroll
            for (int j = 0; j < each; j++) {
                float *const row = &tiles->common[stage][channel + j * IN_BLOCK][t];
                if (there >> j & 1)
                    widen4(piece_of(tiles, stage, j, helper, row), row);
            }
        }
        named_barrier_arrive(READY + next % 2, WALKERS + HELPERS); /* once too often: walkers need not ask */
        if (next > 0) {
            const unsigned tile = next - 1;
            const int left = seq_len - (int)tile * STEPS - t;
            const float *const parts = &tiles->parts[tile % 2][walker][t];
            float y[4];
            named_barrier_sync(DONE + tile % 2, WALKERS + HELPERS);
            get4(parts, y);
#pragma unroll
            for (int part = 1; part < LANES; part++) {
                float four[4];
                get4(parts + 2 * part * ROW, four);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    y[i] += four[i];
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
                y[i] += D * u[i];
                if (args.z != NULL)
                    y[i] *= silu(z[i]);
            }
            if (here)
                store<stored, 4>(out, left, left >= 4 && seq_len % 4 == 0, y);
            out += STEPS;
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            u[i] = next_u[i], z[i] = next_z[i];
    }
}

template <typename stored, int each>
static __global__ void __launch_bounds__(WALKERS + HELPERS, 2) fused_roles_forward(struct selective_args args)
{
    extern __shared__ float4 shared[];
    struct role_tiles<stored, each> *const tiles = (struct role_tiles<stored, each> *)shared;
    if (threadIdx.x < WALKERS)
        walk<stored, each>(args, tiles);
    else
        help<stored, each>(args, tiles);
}

template <typename stored, int each>
static cudaError_t launch(const struct selective_args *args, cudaStream_t stream)
{
    const size_t blocks = args->batch * args->groups * ((args->channels / args->groups - 1) / IN_BLOCK + 1);
    const size_t bytes = sizeof(struct role_tiles<stored, each>);
    const void *const kernel = (const void *)fused_roles_forward<stored, each>;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    const cudaError_t error = pipe_allow_shared(kernel, bytes, 80);
    if (error == cudaSuccess)
        fused_roles_forward<stored, each><<<(unsigned)blocks, WALKERS + HELPERS, bytes, stream>>>(*args);
    return error != cudaSuccess ? error : cudaGetLastError();
}

template <typename stored>
static cudaError_t launch(const struct selective_args *args, cudaStream_t stream)
{
    return args->states <= LANES       ? launch<stored, 1>(args, stream)
           : args->states <= 2 * LANES ? launch<stored, 2>(args, stream)
                                       : launch<stored, 4>(args, stream);
}

extern "C" cudaError_t selective_fused_roles_forward(const struct selective_args *args, cudaStream_t stream)
{
    const cudaError_t error = selective_check_args(args, false, 0);
    if (error != cudaSuccess || args->states > FUSED_ROLES_STATES || args->seq_len > SELECTIVE_INT_STEPS)
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    if (selective_is_empty(args))
        return selective_finish_empty(args, false, stream);
    return args->storage == BF16   ? launch<__nv_bfloat16>(args, stream)
           : args->storage == FP16 ? launch<__half>(args, stream)
                                   : launch<float>(args, stream);
}
