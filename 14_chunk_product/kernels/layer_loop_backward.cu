/* SPDX-License-Identifier: MIT */
/* layer_loop_backward.cu - the definition of the gradients, step after step. As in layer_loop.cu a warp has ROWS rows
   of one head's state and a lane every 32nd number of each: of the state H, and of its gradient G at the same places.

   G comes from the last step and H from the first, and a step needs both. So the states are computed twice:

       forward         H alone, from the first step to the last. Before each stretch of steps H goes to the workspace.
                       |  stretch 0  |  stretch 1  |  stretch 2  |       (x: a state that is kept)
                       x             x             x
       and back        From the last stretch to the first: H goes through the stretch once more, and all its states are
                       kept in shared memory; then G goes through it backward, and each step finds its state there.
                                                   x x x x x x x
                                                   <------------ G

   The states of all stretches of all sequences lie one behind the other, as stretch.cuh numbers them. A stretch has as
   many steps as make a thread's numbers 32 times ROWS. A thread reads only the numbers that it has kept itself, so no
   thread waits for another one's. The warps of a block add up their rows' parts of d_B, d_C and of a step's own
   gradients; layer_parts.h says what becomes of a block's sums. */
#include <cuda_runtime.h>

#include "../../09_selective_scan/kernels/activations.cuh"
#include "../../10_chunk_state/kernels/load_store.cuh"
#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "layer_check.h"
#include "layer_kernels.h"
#include "layer_parts.h"
#include "stretch.cuh"

enum { ROWS = 4, WARPS = 4, LANES = 32, THREADS = WARPS * LANES, KEPT = 32 }; /* KEPT: numbers of a row and lane */

/* What a warp has: rows [first, first + rows) of a head of a sequence, whose steps are those from `begin` on. */
struct place {
    size_t seq, begin, head, group, first;
    int rows, lane;
    float A, bias; /* A times log2(e) */
};

/* What H needs of a step, which all rows share but for x. */
template <int numbers>
struct step {
    float s, decay, B[numbers], x[ROWS];
};

static __device__ __forceinline__ float sum_of_lanes(float value)
{
#pragma unroll
    for (int distance = LANES / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xFFFFFFFF, value, distance);
    return value;
}

static __device__ __forceinline__ size_t x_at(const struct layer_args *args, const struct place *place, size_t t)
{
    return ((place->begin + t) * args->heads + place->head) * args->dv + place->first;
}

/* The numbers of a row of B or C that are this lane's. */
template <int dtype, int numbers>
static __device__ __forceinline__ void load_columns(const void *array, const struct layer_args *args,
                                                    const struct place *place, size_t t, float columns[numbers])
{
    const size_t at = ((place->begin + t) * args->groups + place->group) * args->dk;
#pragma unroll
    for (int i = 0; i < numbers; i++) {
        const int n = place->lane + i * LANES;
        columns[i] = n < (int)args->dk ? read1<dtype>(array, at + n) : 0.0f;
    }
}

template <int dtype, int numbers>
static __device__ __forceinline__ struct step<numbers> load_step(const struct layer_args *args,
                                                                 const struct place *place, size_t t) {
    struct step<numbers> step;
    const float dt = read1<dtype>(args->dt, (place->begin + t) * args->heads + place->head);
    step.s = step_of(dt + place->bias, args->dt_softplus);
    step.decay = fast_exp2(step.s * place->A);
    load_columns<dtype, numbers>(args->B, args, place, t, step.B);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        step.x[r] = r < place->rows ? read1<dtype>(args->x, x_at(args, place, t) + r) : 0.0f;
    return step;
}

/* H takes a step. */
template <int numbers>
static __device__ __forceinline__ void take(float h[ROWS][numbers], const struct step<numbers> *step)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int i = 0; i < numbers; i++)
            h[r][i] = step->decay * h[r][i] + step->s * step->x[r] * step->B[i];
}

/* A thread's numbers, from or to where it keeps them: THREADS apart. */
template <int numbers>
static __device__ __forceinline__ void keep(float *kept, const float h[ROWS][numbers])
{
#pragma unroll
    for (int v = 0; v < ROWS * numbers; v++)
        kept[v * THREADS + threadIdx.x] = h[v / numbers][v % numbers];
}

template <int numbers>
static __device__ __forceinline__ void find(const float *kept, float h[ROWS][numbers])
{
#pragma unroll
    for (int v = 0; v < ROWS * numbers; v++)
        h[v / numbers][v % numbers] = kept[v * THREADS + threadIdx.x];
}

/* The numbers of a state in memory that are this thread's; 0 where there is none. */
template <int numbers>
static __device__ __forceinline__ void load_state(const float *state, const struct layer_args *args,
                                                  const struct place *place, float h[ROWS][numbers])
{
    const size_t at = ((place->seq * args->heads + place->head) * args->dv + place->first) * args->dk;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int i = 0; i < numbers; i++) {
            const size_t n = place->lane + i * LANES;
            h[r][i] = state != NULL && r < place->rows && n < args->dk ? state[at + r * args->dk + n] : 0.0f;
        }
}

/* A lane has up to `numbers` of a row's dk numbers: 1, 2, 4 or 8. */
template <int dtype, int numbers>
static __global__ void __launch_bounds__(THREADS)
    loop_backward(struct layer_backward_args args, struct layer_parts parts, float *states)
{
    constexpr int STRETCH = KEPT / numbers, ROOM = numbers * LANES; /* ROOM: columns that there may be */
    constexpr int HELD = ROWS * WARPS * ROOM;                       /* a block's numbers of a state */
    extern __shared__ float kept[];                                 /* the states before a stretch's steps, */
    float *const columns = kept + STRETCH * HELD; /* and d_B and d_C of a step: (2 steps, 2, WARPS, ROOM) */
    __shared__ struct layer_step_part of_step[2][WARPS];
    const size_t both = blockIdx.x / parts.parts, part = blockIdx.x % parts.parts;
    const struct stretch sequence = whole_sequence(&args.layer, both / args.layer.heads);
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, dk = (int)args.layer.dk;
    struct place place;
    place.seq = sequence.seq, place.begin = sequence.first, place.head = both % args.layer.heads;
    place.group = place.head / (args.layer.heads / args.layer.groups);
    place.first = (part * WARPS + warp) * ROWS, place.lane = lane, place.rows = 0;
    if (place.first < args.layer.dv)
        place.rows = args.layer.dv - place.first < ROWS ? (int)(args.layer.dv - place.first) : ROWS;
    place.A = args.layer.A[place.head] * LOG2_E;
    place.bias = args.layer.dt_bias != NULL ? args.layer.dt_bias[place.head] : 0.0f;
    const float D = args.layer.D != NULL ? args.layer.D[place.head] : 0.0f;
    const size_t by = args.layer.heads * parts.parts * HELD; /* from one stretch's states to the next one's */
    states += (sequence.first / STRETCH + sequence.seq) * by + (place.head * parts.parts + part) * HELD;

    /* [forward] To the last step; the state before each stretch is kept. */
    float h[ROWS][numbers], g[ROWS][numbers];
    load_state<numbers>(args.layer.initial_state, &args.layer, &place, h);
    for (size_t t = 0; t < sequence.steps; t++) {
        const struct step<numbers> step = load_step<dtype, numbers>(&args.layer, &place, t);
        if (t % STRETCH == 0)
            keep<numbers>(states + t / STRETCH * by, h);
        take<numbers>(h, &step);
    }

    load_state<numbers>(args.d_final_state, &args.layer, &place, g);
    for (size_t stretch = (sequence.steps + STRETCH - 1) / STRETCH; stretch-- > 0;) {
        /* [again] Through the stretch once more; the state before each step is kept. */
        const size_t begin = stretch * STRETCH, left = sequence.steps - begin;
        const int count = left < STRETCH ? (int)left : STRETCH;
        find<numbers>(states + stretch * by, h);
        for (int k = 0; k < count; k++) {
            const struct step<numbers> step = load_step<dtype, numbers>(&args.layer, &place, begin + k);
            keep<numbers>(kept + k * HELD, h);
            take<numbers>(h, &step);
        }

        /* [back] h is the state after step t, and g becomes its gradient. */
        for (int k = count - 1; k >= 0; k--) {
            const size_t t = begin + k, at = x_at(&args.layer, &place, t);
            const struct step<numbers> step = load_step<dtype, numbers>(&args.layer, &place, t);
            float C[numbers], before[ROWS][numbers], d_B[numbers] = {}, d_C[numbers] = {}, own_x = 0.0f, own_z = 0.0f;
            struct layer_step_part mine = {0.0f, 0.0f, 0.0f};
            load_columns<dtype, numbers>(args.layer.C, &args.layer, &place, t, C);
            find<numbers>(kept + k * HELD, before);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const float d_out = r < place.rows ? read1<dtype>(args.d_out, at + r) : 0.0f, x = step.x[r];
                const float z = args.layer.z != NULL && r < place.rows ? read1<dtype>(args.layer.z, at + r) : 0.0f;
                const float d_y = args.layer.z != NULL ? d_out * silu(z) : d_out;
                float y = 0.0f, gB = 0.0f;
#pragma unroll
                for (int i = 0; i < numbers; i++) {
                    g[r][i] += d_y * C[i];
                    y += h[r][i] * C[i];
                    gB += g[r][i] * step.B[i];
                    d_B[i] += step.s * x * g[r][i];
                    d_C[i] += d_y * h[r][i];
                    mine.r += g[r][i] * (step.decay * before[r][i]);
                    h[r][i] = before[r][i];
                    g[r][i] *= step.decay;
                }
                gB = sum_of_lanes(gB);
                mine.gb += x * gB;
                mine.d_D += x * d_y;
                own_x = lane == r ? step.s * gB + D * d_y : own_x;
                if (args.layer.z != NULL) {
                    y = sum_of_lanes(y);
                    own_z = lane == r ? d_out * (y + D * x) * silu_slope(z) : own_z;
                }
            }
            if (lane < place.rows) {
                write1<dtype>(args.d_x, at + lane, own_x);
                if (args.layer.z != NULL)
                    write1<dtype>(args.d_z, at + lane, own_z);
            }

            /* [sums] Of the block's warps. Two steps take turns, so that one barrier a step is enough: over the border
               of two stretches, too, since a whole one has an even number of steps. */
            mine.r = sum_of_lanes(mine.r);
            if (lane == 0)
                of_step[k % 2][warp] = mine;
#pragma unroll
            for (int i = 0; i < numbers; i++) {
                columns[(k % 2 * 2 * WARPS + warp) * ROOM + lane + i * LANES] = d_B[i];
                columns[((k % 2 * 2 + 1) * WARPS + warp) * ROOM + lane + i * LANES] = d_C[i];
            }
            __syncthreads();
            const size_t to = ((place.begin + t) * args.layer.heads + place.head) * parts.parts + part;
            for (int i = threadIdx.x; i < 2 * dk; i += THREADS) {
                float sum = 0.0f;
                for (int w = 0; w < WARPS; w++)
                    sum += columns[((k % 2 * 2 + i / dk) * WARPS + w) * ROOM + i % dk];
                (i < dk ? parts.d_B : parts.d_C)[to * dk + i % dk] = sum;
            }
            if (threadIdx.x == 0) {
                struct layer_step_part sum = {0.0f, 0.0f, 0.0f};
                for (int w = 0; w < WARPS; w++) {
                    const struct layer_step_part more = of_step[k % 2][w];
                    sum.r += more.r, sum.gb += more.gb, sum.d_D += more.d_D;
                }
                parts.steps[to] = sum;
            }
        }
    }

    /* [end] What comes before the first step. */
    const size_t state_at = (both * args.layer.dv + place.first) * dk;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int i = 0; i < numbers; i++) {
            const int n = lane + i * LANES;
            if (args.d_initial_state != NULL && r < place.rows && n < dk)
                args.d_initial_state[state_at + r * dk + n] = g[r][i];
        }
}

typedef void loop_kernel(struct layer_backward_args, struct layer_parts, float *);

template <int dtype>
static loop_kernel *loop_for(size_t numbers)
{
    return numbers == 1   ? loop_backward<dtype, 1>
           : numbers == 2 ? loop_backward<dtype, 2>
           : numbers == 4 ? loop_backward<dtype, 4>
                          : loop_backward<dtype, 8>;
}

/* Numbers of a row that a lane has, and blocks of a head. */
static size_t numbers_of(size_t dk)
{
    return dk <= 32 ? 1 : dk <= 64 ? 2 : dk <= 128 ? 4 : 8;
}

static size_t parts_of(const struct layer_args *args)
{
    return (args->dv + ROWS * WARPS - 1) / (ROWS * WARPS);
}

extern "C" size_t layer_loop_backward_workspace(const struct layer_args *args)
{
    const size_t numbers = numbers_of(args->dk), stretch = KEPT / numbers, parts = parts_of(args);
    const size_t stretches = args->batch * args->seq_len / stretch + layer_num_seqs(args);
    return layer_parts_size(args, parts) + stretches * args->heads * parts * ROWS * numbers * THREADS * sizeof(float);
}

extern "C" cudaError_t layer_loop_backward(const struct layer_backward_args *args, cudaStream_t stream)
{
    const struct layer_args *const layer = &args->layer;
    bool done;
    cudaError_t error = layer_backward_begin(args, layer_loop_backward_workspace, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    const size_t both = layer_num_seqs(layer) * layer->heads, numbers = numbers_of(layer->dk);
    const struct layer_parts parts = layer_parts_at(layer, parts_of(layer));
    if (parts.parts > 0x7FFFFFFF / both)
        return cudaErrorInvalidValue;
    float *const states = (float *)((char *)layer->workspace + layer_parts_size(layer, parts.parts));
    const size_t shared = (KEPT * ROWS + 4 * numbers) * THREADS * sizeof(float);
    loop_kernel *const kernel =
        by_dtype(layer->dtype, loop_for<FLOAT32>(numbers), loop_for<BF16>(numbers), loop_for<FP16>(numbers));
    error = gpu_allow_shared((const void *)kernel, shared, 0);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)(parts.parts * both), THREADS, shared, stream);
    error = cudaLaunchKernelEx(&launch, kernel, *args, parts, states);
    return error != cudaSuccess ? error : layer_add_parts(args, &parts, stream);
}
