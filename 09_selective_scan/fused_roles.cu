/* fused_roles.cu - fused_steps.cu for few channels, or one long sequence: some warps walk through time and do nothing
   else, the others do everything else for them.

   2048 channels of 16 states are 32 768 recurrences that need nothing of each other. With two states a lane they are
   512 warps of 4 channels, one for each scheduler of an H200. One warp keeps the unit of exponentials busy only if it
   hardly ever waits. So a block has four warps of walkers, and beside them eight of helpers. It goes through time in
   tiles of 64 steps:

       helpers   tile k + 3   u, delta, z, B, C on their way to a stage (roles.cuh)
       helpers   tile k + 2   step = softplus(delta + bias) and step u     -- READY --> walkers
       walkers   tile k       h = exp(step A) h + step u B, and C h        -- DONE ---> helpers
       helpers   tile k - 1   C h added up over a channel's lanes, + D u, times silu(z)

   A barrier is there twice, for even and for odd tiles, so that a role may be a tile ahead. And each warp of walkers
   has a READY of its own: it waits for the helpers, and not for the other walkers. */
#include <cuda_runtime.h>
#include <named_barrier.h>

#include "../05_pipe/pipe.h"
#include "roles.cuh"
#include "selective_scan.h"

enum { STRETCH = 32 };                                 /* steps of a walker between two jumps */
enum { DONE = 1, READY = 3, ALL = WALKERS + HELPERS }; /* of even tiles; the next barriers are those of odd tiles */

/* The barrier at which a warp of walkers learns that a tile is ready. */
static __device__ __forceinline__ int ready(int walker, int tile)
{
    return READY + 2 * walker + tile % 2;
}

/* Four steps of a lane as they lie in shared memory, and what the walk takes of them. */
template <int each>
struct four_steps {
    float step[4], step_u[4], B[each][4], C[each][4];
};

template <int each>
struct four_made {
    float a[4][each], x[4][each], C[each][4]; /* exp(step A), step u B */
};

template <int each>
static __device__ __forceinline__ void read_four(const float *steps, const float *common, struct four_steps<each> *four)
{
    get4(steps, four->step);
    get4(steps + IN_BLOCK * ROW, four->step_u);
#pragma unroll
    for (int i = 0; i < each; i++) {
        get4(common + i * LANES * ROW, four->B[i]);
        get4(common + (each + i) * LANES * ROW, four->C[i]);
    }
}

/* What step j takes of state i. */
template <int each>
static __device__ __forceinline__ void make(const struct four_steps<each> *four, const float A[each], int j, int i,
                                            struct four_made<each> *made)
{
    made->a[j][i] = fast_exp2(four->step[j] * A[i]);
    made->x[j][i] = four->step_u[j] * four->B[i][j];
    made->C[i][j] = four->C[i][j];
}

/* A walker: the states part, part + 8, ... of one channel. While it walks four steps, it makes what the next four need,
   and reads the four after these: one warp alone can only hide what it does ahead. */
template <typename stored, int each>
static __device__ __forceinline__ void walk(const struct selective_args *args, struct tiles<stored, each> *tiles)
{
    const struct chunk_place where = place_of<LANES, WALKERS / 32>(args);
    const int num_tiles = ((int)args->seq_len - 1) / STEPS + 1;
    const int warp = threadIdx.x / 32, channel = warp * CHANNELS(LANES) + where.row;
    const float *steps = tiles->steps[0][channel], *common = tiles->common[0][where.part];
    struct four_steps<each> read[2];
    struct four_made<each> made[2];
    float A[each], h[each];
    load_states<LANES, each>(args, &where, args->initial_state, A, h);
    named_barrier_sync(ready(warp, 0), 32 + HELPERS);
    read_four<each>(steps, common, &read[0]);
    read_four<each>(steps + 4, common + 4, &read[1]);
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int i = 0; i < each; i++)
            make<each>(&read[0], A, j, i, &made[0]);
    for (int tile = 0; tile < num_tiles; tile++) {
        float *parts = tiles->parts[tile % 2][threadIdx.x / 4 * 2 + threadIdx.x % 2] + (threadIdx.x & 2);
#pragma unroll 1
        for (int at = 0; at < STEPS; at += STRETCH) {
            const float *next_steps = steps + STRETCH, *next_common = common + STRETCH;
            if (at + STRETCH == STEPS) { /* the last eight steps read the next tile */
                next_steps = tiles->steps[(tile + 1) % STAGES][channel];
                next_common = tiles->common[(tile + 1) % STAGES][where.part];
                named_barrier_sync(ready(warp, tile + 1), 32 + HELPERS);
            }
#pragma unroll
            for (int t = 0; t < STRETCH; t += 4) {
                const int now = t / 4 % 2, next = 1 - now;
                const bool over = t + 8 >= STRETCH;
                const int ahead = over ? t + 8 - STRETCH : t + 8;
                read_four<each>((over ? next_steps : steps) + ahead, (over ? next_common : common) + ahead, &read[now]);
                float y[4] = {};
#pragma unroll
                for (int j = 0; j < 4; j++)
#pragma unroll
                    for (int i = 0; i < each; i++) {
                        h[i] = made[now].a[j][i] * h[i] + made[now].x[j][i];
                        y[j] += made[now].C[i][j] * h[i];
                        make<each>(&read[next], A, j, i, &made[next]);
                    }
                fold_once<2>(y, threadIdx.x, 2); /* with the lane that has the channel's next part */
                put<4, 2>(parts + t, 0, 0, y);
            }
            steps = next_steps, common = next_common, parts += STRETCH;
        }
        named_barrier_arrive(DONE + tile % 2, ALL);
    }
    store_states<LANES, each>(args, &where, h, args->final_state);
}

template <typename stored, int each>
static __device__ __forceinline__ void help(const struct selective_args *args, struct tiles<stored, each> *tiles)
{
    struct helper<stored, each> me = make_helper<stored, each>(args);
    const int num_tiles = (me.seq_len - 1) / STEPS + 1;
    const int row = me.channel / 4 * 16 + me.channel / 2 % 2 * 8 + me.channel % 2; /* of its walkers' first parts */
    const float bias = args->delta_bias != NULL ? args->delta_bias[me.c] : 0.0f;
    const float D = args->D != NULL ? args->D[me.c] : 0.0f;
    stored *out = (stored *)args->out + me.row + me.t;
    for (int tile = 0; tile < STAGES; tile++)
        fetch(&me, tile, tiles);
    for (int next = 0; next < num_tiles + 2; next++) {
        const int stage = next % STAGES, tile = next - 2, left = me.seq_len - tile * STEPS - me.t;
        if (next < num_tiles) { /* make it ready */
            float u[4], step[4];
            __pipeline_wait_prior(1);
            get<4, 4>(tiles->own[stage][0][me.number], 0, 0, u);
            get<4, 4>(tiles->own[stage][1][me.number], 0, 0, step);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                step[i] = step_of(step[i] + bias, args->delta_softplus);
                if (next * STEPS + me.t + i >= me.seq_len)
                    step[i] = 0.0f; /* leaves the states as they are */
                u[i] *= step[i];
            }
            put<4, 4>(tiles->steps[stage][me.channel] + me.t, 0, 0, step);
            put<4, 4>(tiles->steps[stage][IN_BLOCK + me.channel] + me.t, 0, 0, u);
            widen(tiles, &me, stage);
        }
        float y[4], u[4], z[4];
        if (tile >= 0) { /* after it parts may be overwritten */
            const float *const parts = tiles->parts[tile % 2][row] + me.t;
            named_barrier_sync(DONE + tile % 2, ALL);
            get4(parts, y);
#pragma unroll
            for (int pair = 1; pair < LANES / 2; pair++) {
                float four[4];
                get4(parts + 2 * pair * ROW, four);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    y[i] += four[i];
            }
        }
        if (next <= num_tiles) /* once too often: walkers do not ask whether there is a next tile */
            for (int walker = 0; walker < WALKERS / 32; walker++)
                named_barrier_arrive(ready(walker, next), 32 + HELPERS);
        if (tile >= 0) {
            get<4, 4>(tiles->own[tile % STAGES][0][me.number], 0, 0, u);
            get<4, 4>(tiles->own[tile % STAGES][2][me.number], 0, 0, z);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                y[i] += D * u[i];
                if (args->z != NULL)
                    y[i] *= silu(z[i]);
            }
            if (me.here)
                store<stored, 4>(out, left, left >= 4 && me.seq_len % 4 == 0, y);
            out += STEPS;
            fetch(&me, tile + STAGES, tiles);
        }
    }
}

template <typename stored, int each>
static __global__ void __launch_bounds__(ALL, 1) fused_roles_forward(struct selective_args args)
{
    extern __shared__ float4 shared[];
    struct tiles<stored, each> *const memory = (struct tiles<stored, each> *)shared;
    if (threadIdx.x < WALKERS)
        walk(&args, memory);
    else
        help(&args, memory);
}

template <typename stored, int each>
static cudaError_t launch(const struct selective_args *args, cudaStream_t stream)
{
    const size_t blocks = selective_fused_roles_blocks(args), bytes = sizeof(struct tiles<stored, each>);
    void (*const kernel)(struct selective_args) = fused_roles_forward<stored, each>;
    const cudaError_t error = pipe_allow_shared((const void *)kernel, bytes, 90);
    if (error == cudaSuccess)
        kernel<<<(unsigned)blocks, ALL, bytes, stream>>>(*args);
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
    if (error != cudaSuccess || !selective_fused_roles_fits(args))
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    if (selective_is_empty(args))
        return selective_finish_empty(args, false, stream);
    return args->storage == BF16   ? launch<__nv_bfloat16>(args, stream)
           : args->storage == FP16 ? launch<__half>(args, stream)
                                   : launch<float>(args, stream);
}
