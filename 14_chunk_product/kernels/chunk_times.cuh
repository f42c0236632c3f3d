/* SPDX-License-Identifier: MIT */
/* chunk_times.cuh - how long the steps of a chunk last, and what they do to a state. A lane of a warp has two
   neighbours of the 64 steps. */
#ifndef CHUNK_TIMES_CUH
#define CHUNK_TIMES_CUH

#include "../../09_selective_scan/kernels/activations.cuh"
#include "fragments.cuh"
#include "stretch.cuh"

/* Of a head: what its steps take. */
struct pace {
    float bias, a; /* a: A log2(e), so that decays are powers of two */
    bool softplus;
};

static __device__ __forceinline__ struct pace pace_of(const struct layer_args *args, size_t head)
{
    return {args->dt_bias != NULL ? args->dt_bias[head] : 0.0f, args->A[head] * LOG2_E, args->dt_softplus};
}

/* How long a lane's two steps last; and log2 of the decays from the chunk's begin to each of them. */
struct two_times {
    float s[2], log_p[2];
};

/* dt of these steps, in the chunk that begins `at` steps behind the stretch's first one. */
template <int dtype>
static __device__ __forceinline__ void load_steps(const struct layer_args *args, const struct stretch *stretch,
                                                  size_t head, size_t at, float dt[2])
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const size_t t = at + threadIdx.x % 32 * 2 + i;
        dt[i] = t < stretch->steps ? read1<dtype>(args->dt, (stretch->first + t) * args->heads + head) : 0.0f;
    }
}

/* Their times. All lanes call it. Steps past the end last no time, whatever bias and softplus make of it. */
static __device__ __forceinline__ struct two_times times_of(const struct stretch *stretch, const struct pace *pace,
                                                            size_t at, const float dt[2])
{
    const unsigned lane = threadIdx.x % 32;
    const size_t t = at + lane * 2;
    const float s0 = t < stretch->steps ? step_of(dt[0] + pace->bias, pace->softplus) : 0.0f;
    const float s1 = t + 1 < stretch->steps ? step_of(dt[1] + pace->bias, pace->softplus) : 0.0f;
    float sum = s0 + s1; /* of all lanes up to this one */
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const float before = __shfl_up_sync(0xFFFFFFFF, sum, distance);
        sum += lane >= distance ? before : 0.0f;
    }
    return {{s0, s1}, {(sum - s1) * pace->a, sum * pace->a}};
}

#endif
