/* SPDX-License-Identifier: MIT */
/* layer_loop.cu - the definition, step after step. A warp has ROWS rows of one head's state; a lane has every 32nd
   number of each, in registers. The state never leaves them. An output is a sum over a row's dk numbers, so over the
   lanes of a warp: five shuffles.

       state, dv x dk      lane 0   1   2  ...  31   0   1   2  ...     B[t] and C[t] lie along a row: each lane has its
            row 0               h   h   h        h   h   h   h          own numbers of them, the same for all rows.
            row 1               h   h   h        h   h   h   h          x[t] is one number a row, the same for all
            ...                                                         lanes.

   A block is WARPS such warps, and as many blocks as it takes have a head. Nothing is shared but what caches keep: each
   warp loads B and C for itself. Time is one long chain: what a step needs is loaded when its turn comes. */
#include <cuda_runtime.h>

#include "../../09_selective_scan/kernels/activations.cuh"
#include "../../10_chunk_state/kernels/load_store.cuh"
#include "../../common/cuda/launch_of.h"
#include "layer_check.h"
#include "layer_kernels.h"
#include "stretch.cuh"

enum { ROWS = 4, WARPS = 4, LANES = 32 };

/* A lane has up to `numbers` of a row's dk numbers: 1, 2, 4 or 8. `blocks` blocks share the rows of a head. */
template <int dtype, int numbers>
static __global__ void __launch_bounds__(WARPS *LANES) loop(struct layer_args args, unsigned blocks)
{
    const int lane = threadIdx.x % LANES, dk = (int)args.dk;
    const size_t both = blockIdx.x / blocks, head = both % args.heads;
    const struct stretch sequence = whole_sequence(&args, both / args.heads);
    const size_t group = head / (args.heads / args.groups);
    const size_t first = ((size_t)(blockIdx.x % blocks) * WARPS + threadIdx.x / LANES) * ROWS;
    if (first >= args.dv)
        return;
    const int rows = args.dv - first < ROWS ? (int)(args.dv - first) : ROWS;
    const float A = args.A[head] * LOG2_E, D = args.D != NULL ? args.D[head] : 0.0f;
    const float bias = args.dt_bias != NULL ? args.dt_bias[head] : 0.0f;
    const size_t state_at = (both * args.dv + first) * dk; /* of row 0's number 0 */

    float h[ROWS][numbers];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int i = 0; i < numbers; i++) {
            const int n = lane + i * LANES;
            h[r][i] =
                args.initial_state != NULL && r < rows && n < dk ? args.initial_state[state_at + r * dk + n] : 0.0f;
        }

    /* [walk] One step after the other. */
    for (size_t step = sequence.first; step < sequence.first + sequence.steps; step++) {
        const size_t x_at = (step * args.heads + head) * args.dv + first, B_at = (step * args.groups + group) * dk;
        const float s = step_of(read1<dtype>(args.dt, step * args.heads + head) + bias, args.dt_softplus);
        const float decay = fast_exp2(s * A);
        float B[numbers], C[numbers], own = 0.0f; /* own: the output of row `lane` */
#pragma unroll
        for (int i = 0; i < numbers; i++) {
            const int n = lane + i * LANES;
            B[i] = n < dk ? read1<dtype>(args.B, B_at + n) : 0.0f;
            C[i] = n < dk ? read1<dtype>(args.C, B_at + n) : 0.0f;
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const float x = r < rows ? s * read1<dtype>(args.x, x_at + r) : 0.0f;
            float y = 0.0f;
#pragma unroll
            for (int i = 0; i < numbers; i++) {
                h[r][i] = decay * h[r][i] + x * B[i];
                y += h[r][i] * C[i];
            }
#pragma unroll
            for (int distance = LANES / 2; distance > 0; distance /= 2)
                y += __shfl_xor_sync(0xFFFFFFFF, y, distance);
            own = lane == r ? y : own;
        }
        if (lane < rows) {
            if (args.D != NULL)
                own += D * read1<dtype>(args.x, x_at + lane);
            if (args.z != NULL)
                own *= silu(read1<dtype>(args.z, x_at + lane));
            write1<dtype>(args.out, x_at + lane, own);
        }
    }
    /* [end] What comes after begins with this state. */
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int i = 0; i < numbers; i++) {
            const int n = lane + i * LANES;
            if (args.final_state != NULL && r < rows && n < dk)
                args.final_state[state_at + r * dk + n] = h[r][i];
        }
}

typedef void loop_kernel(struct layer_args, unsigned);

template <int dtype>
static loop_kernel *loop_for(size_t dk)
{
    return dk <= 32 ? loop<dtype, 1> : dk <= 64 ? loop<dtype, 2> : dk <= 128 ? loop<dtype, 4> : loop<dtype, 8>;
}

extern "C" cudaError_t layer_loop(const struct layer_args *args, cudaStream_t stream)
{
    bool done;
    const cudaError_t error = layer_begin(args, 0, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    const size_t blocks = (args->dv + ROWS * WARPS - 1) / (ROWS * WARPS), both = layer_num_seqs(args) * args->heads;
    if (blocks > 0x7FFFFFFF / both)
        return cudaErrorInvalidValue;
    loop_kernel *const kernel =
        by_dtype(args->dtype, loop_for<FLOAT32>(args->dk), loop_for<BF16>(args->dk), loop_for<FP16>(args->dk));
    const cudaLaunchConfig_t launch = launch_of((unsigned)(blocks * both), WARPS * LANES, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, *args, (unsigned)blocks);
}
