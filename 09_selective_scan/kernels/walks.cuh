/* walks.cuh - chapter 09's relay backward: the two walks of a warp through its chunk, in registers. A lane has two
   channels, k = 0 and 1, and four states i of each (gradient.cuh). With h[t] the states and g[t] their gradients:

       walk_forward  h from the state before the chunk -> -> -> ->   and beside it what the chunk will do to a gradient:
                                                                     product[t] = a[0] ... a[t]
                                                                     start     += product[t] d_y[t] C[t]
       walk_back     <- <- <- <- g from the gradient behind the chunk, which is start + product carry for the one before

   What walk_forward knows of a step and state, a and a h, waits in registers for walk_back. Of h itself nothing is
   kept: d_A and d_step need g a h. The rows of a stage hold u, B, C and, where d_out was, d_y = d_out silu(z); `steps`
   has two rows a channel, step and step u. A walk takes four steps at a time, since as many lie side by side there. */
#ifndef WALKS_CUH
#define WALKS_CUH

#include "gradient.cuh"

#define LN_2 0.69314718f

/* The rows of a chunk that a lane reads, in shared memory, 8 steps in each. */
struct chunk_rows {
    const float *steps[2], *d_y[2]; /* of its channels: step, and ROOM(BOTH(lanes), STEPS) behind it step u */
    const float *B[4], *C[4];       /* of its states */
};

/* All rows of a chunk begin at `steps`, d_y, B and C. */
template <int lanes>
static __device__ __forceinline__ struct chunk_rows rows_of(const float *steps, const float *d_y, const float *B,
                                                            const float *C, int row, int part, int order)
{
    struct chunk_rows rows;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        rows.steps[k] = steps + place<STEPS>(row ^ 2 * k, 0);
        rows.d_y[k] = d_y + place<STEPS>(row ^ 2 * k, 0);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        rows.B[i] = B + state_at<lanes>(i, order, part);
        rows.C[i] = C + state_at<lanes>(i, order, part);
    }
    return rows;
}

/* What a lane reads of four steps: for each of its channels. */
template <int lanes>
static __device__ __forceinline__ void get_steps(const struct chunk_rows *rows, int t, float step[2][4],
                                                 float step_u[2][4], float d_y[2][4])
{
#pragma unroll
    for (int k = 0; k < 2; k++) {
        get4(rows->steps[k] + t, step[k]);
        get4(rows->steps[k] + ROOM(BOTH(lanes), STEPS) + t, step_u[k]);
        get4(rows->d_y[k] + t, d_y[k]);
    }
}

/* Walks from the states h to the chunk's end. a, kept (a times the state before): for walk_back. y: sums over the
   lane's own states, without D u, of its first channel and what its neighbour has of it. sums: of d_C, as add_channels
   leaves them. */
template <int lanes>
static __device__ __forceinline__ void walk_forward(const struct chunk_rows *rows, const float A[2][4], float h[2][4],
                                                    float a[STEPS][2][4], float kept[STEPS][2][4], float y[STEPS],
                                                    float sums[STEPS])
{
#pragma unroll
    for (int t = 0; t < STEPS; t += 4) {
        float step[2][4], step_u[2][4], d_y[2][4], y_of[4][2] = {}, d_C[4][4] = {};
        get_steps<lanes>(rows, t, step, step_u, d_y);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float B[4], C[4];
            get4(rows->B[i] + t, B);
            get4(rows->C[i] + t, C);
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    a[t + j][k][i] = fast_exp2(step[k][j] * A[k][i]);
                    kept[t + j][k][i] = a[t + j][k][i] * h[k][i];
                    h[k][i] = kept[t + j][k][i] + step_u[k][j] * B[j];
                    y_of[j][k] += C[j] * h[k][i];
                    d_C[j][i] += d_y[k][j] * h[k][i];
                }
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            y[t + j] = add_half<lanes>(y_of[j]);
            sums[t + j] = add_channels<lanes>(d_C[j]);
        }
    }
}

/* What the chunk makes of a gradient that comes: start + product gradient. start is what the way back makes of 0. */
template <int lanes>
static __device__ __forceinline__ void walk_back_from_0(const struct chunk_rows *rows, const float A[2][4],
                                                        const float a[STEPS][2][4], float product[2][4],
                                                        float start[2][4])
{
    float sum[2] = {};
#pragma unroll
    for (int t = STEPS - 4; t >= 0; t -= 4) {
        float step[2][4], d_y[2][4];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            get4(rows->steps[k] + t, step[k]);
            get4(rows->d_y[k] + t, d_y[k]);
            sum[k] += step[k][0] + step[k][1] + (step[k][2] + step[k][3]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float C[4];
            get4(rows->C[i] + t, C);
#pragma unroll
            for (int j = 3; j >= 0; j--)
#pragma unroll
                for (int k = 0; k < 2; k++)
                    start[k][i] = a[t + j][k][i] * (d_y[k][j] * C[j] + start[k][i]);
        }
    }
#pragma unroll
    for (int k = 0; k < 2; k++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            product[k][i] = fast_exp2(sum[k] * A[k][i]);
}

/* Walks back from carry, a g of the step behind the chunk, and leaves in it that of the chunk's first step. d_A: sums
   over the chunk's `left` steps. d_input, d_step: as y above; d_input is to be multiplied by step, d_step by log 2, and
   u d_input is missing there. sums: of d_B. */
template <int lanes>
static __device__ __forceinline__ void
walk_back(const struct chunk_rows *rows, const float A[2][4], const float a[STEPS][2][4], const float kept[STEPS][2][4],
          int left, float carry[2][4], float d_A[2][4], float d_input[STEPS], float d_step[STEPS], float sums[STEPS])
{
#pragma unroll
    for (int t = STEPS - 4; t >= 0; t -= 4) {
        float step[2][4], step_u[2][4], d_y[2][4], d_input_of[4][2] = {}, d_step_of[4][2] = {}, d_B[4][4] = {};
        get_steps<lanes>(rows, t, step, step_u, d_y);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float B[4], C[4];
            get4(rows->B[i] + t, B);
            get4(rows->C[i] + t, C);
#pragma unroll
            for (int j = 3; j >= 0; j--)
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    const float g = d_y[k][j] * C[j] + carry[k][i], g_kept = g * kept[t + j][k][i];
                    carry[k][i] = a[t + j][k][i] * g;
                    d_input_of[j][k] += g * B[j];
                    d_step_of[j][k] += g_kept * A[k][i];
                    if (t + j < left) /* an infinite state behind the last step belongs to no gradient */
                        d_A[k][i] += g_kept * step[k][j];
                    d_B[j][i] += g * step_u[k][j];
                }
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            d_input[t + j] = add_half<lanes>(d_input_of[j]);
            d_step[t + j] = add_half<lanes>(d_step_of[j]);
            sums[t + j] = add_channels<lanes>(d_B[j]);
        }
    }
}

/* Sends off the chunk that begins at step `at`, if it is one, and the states before it, which the lane has at
   `saved`. */
template <typename stored, int lanes>
static __device__ __forceinline__ void fetch_all(const struct selective_args *args, const struct pair_place *place,
                                                 const float *saved, int at, float *stage)
{
    if (at >= 0) {
        float *const to = stage + H_AT(lanes) + threadIdx.x % 32 * 4;
        __pipeline_memcpy_async(to, saved, 16);
        __pipeline_memcpy_async(to + 32 * 4, saved + 32 * 4, 16);
        fetch_rows<stored, lanes, ALL_ROWS(lanes)>(args, place, at, stage);
    }
}

/* ---- A lane's own steps of its first channel, from `mine` on ---- */

/* d_y = d_out silu(z) takes the place of d_out in the stage, and d_out silu'(z), which is d_z but for y, that of z. */
template <int lanes>
static __device__ __forceinline__ void gate(float *stage, int row, int mine)
{
    enum { own = OWN_STEPS(lanes) };
    float d_out[own], z[own];
    get<STEPS, own>(stage + D_OUT_AT(lanes), row, mine, d_out);
    get<STEPS, own>(stage + Z_AT(lanes), row, mine, z);
#pragma unroll
    for (int i = 0; i < own; i++) {
        const float gated = d_out[i] * silu(z[i]);
        z[i] = d_out[i] * silu_slope(z[i]);
        d_out[i] = gated;
    }
    put<STEPS, own>(stage + D_OUT_AT(lanes), row, mine, d_out);
    put<STEPS, own>(stage + Z_AT(lanes), row, mine, z);
}

/* y, as walk_forward leaves it, becomes d_z, for which d_z brings d_out silu'(z). */
template <int lanes>
static __device__ __forceinline__ void finish_z(const float *u, const float *d_z, int part, float D, float y[STEPS])
{
    fold_states<lanes>(y, part);
#pragma unroll
    for (int i = 0; i < OWN_STEPS(lanes); i++)
        y[i] = d_z[i] * (y[i] + D * u[i]);
}

/* d_input becomes d_u and d_step d_delta. Adds to so_far what the `left` steps are in d_D and d_bias. */
template <int lanes>
static __device__ __forceinline__ void finish_own(const struct selective_args *args, const float *u, const float *delta,
                                                  const float *step, const float *d_y, float bias, float D, int left,
                                                  float *d_input, float *d_step, float *so_far)
{
    float d_D = 0.0f, d_bias = 0.0f;
#pragma unroll
    for (int i = 0; i < OWN_STEPS(lanes); i++) {
        /* x - x is 0, or NaN for an infinite x, which stood in a sum over the states with either sign. */
        d_step[i] = d_step[i] * LN_2 + (d_input[i] * u[i] + (u[i] - u[i]));
        d_input[i] = d_input[i] * step[i] + (D * d_y[i] + (step[i] - step[i]));
        if (args->delta_softplus)
            d_step[i] *= sigmoid(delta[i] + bias);
        d_D += d_y[i] * u[i];
        if (i < left)
            d_bias += d_step[i];
    }
    so_far[0] += d_D, so_far[1] += d_bias;
}

/* To global memory, from step `at` on of a row; `whole`: all of them are in the sequence, and aligned. */
template <typename stored, int lanes>
static __device__ __forceinline__ void store_own(const struct selective_args *args, int row, int at, bool whole,
                                                 const float *d_u, const float *d_delta, const float *d_z)
{
    enum { own = OWN_STEPS(lanes) };
    const size_t to = (size_t)(unsigned)row * (unsigned)args->seq_len + at;
    const int left = (int)args->seq_len - at;
    store<stored, own>((stored *)args->d_u + to, left, whole, d_u);
    store<stored, own>((stored *)args->d_delta + to, left, whole, d_delta);
    if (args->z != NULL)
        store<stored, own>((stored *)args->d_z + to, left, whole, d_z);
}

/* The sums over time: one warp adds up those of all. */
template <int lanes>
static __device__ __forceinline__ void add_warps(const struct selective_args *args, const struct selective_parts *parts,
                                                 const struct pair_place *place, int warps, int stride,
                                                 const float *d_A_so_far, const float *so_far)
{
    float d_A[2][4] = {}, d_D = 0.0f, d_bias = 0.0f;
    for (int w = 0; w < warps; w++) {
        float more[2][4];
        get_states(d_A_so_far + w * stride, more);
#pragma unroll
        for (int k = 0; k < 2; k++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                d_A[k][i] += more[k][i];
        d_D += so_far[w * stride], d_bias += so_far[w * stride + 1];
    }
    for (int bit = 2; bit < lanes; bit *= 2) {
        d_D += __shfl_xor_sync(0xFFFFFFFFu, d_D, bit);
        d_bias += __shfl_xor_sync(0xFFFFFFFFu, d_bias, bit);
    }
    const size_t segment = blockIdx.y * args->batch * args->channels, at = segment + place->channels + place->row;
    store_pair<lanes>(args, place, d_A, parts->d_A + segment * args->states);
    if (place->row < place->here && place->part % (lanes / 2) == 0)
        parts->d_D[at] = d_D, parts->d_bias[at] = d_bias;
}

#endif
