/* expanded.cu - a selective scan is a linear recurrence for each batch, channel and state: write their coefficients and
   inputs down, let chapter 05 run them, and add up their outputs over the states.

       1. expand      a[d, n, l] = exp(step A),  x[d, n, l] = step u B      (+ a h[-1] at the first step)
       2. chapter 05  h[d, n, l] = a h[l-1] + x                             batch x channels x states sequences
       3. contract    out[d, l]  = (sum over n of C h + D u) silu(z)

   What it moves, with s states, for each element of u in float32, if what a kernel reads more than once comes from a
   cache after the first time:

       1. reads u and delta, writes a and x      8 + 8 s
       2. reads a and x, writes h                   12 s
       3. reads h, u and z, writes out          12 + 4 s
       together                                 20 + 24 s bytes: 404 with 16 states. Fused it is 16 (u, delta, z, out).

   B and C come on top, once for all channels of a group. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "../../05_pipe/pipe.h"
#include "selective.cuh"
#include "kernels.h"

static const int kThreads = 256;

/* The three arrays of the workspace, each (batch, channels, states, seq_len). */
struct expanded {
    float *coeffs, *inputs, *outputs;
};

/* Neighbouring threads take neighbouring steps; a thread writes all states of one. */
template <typename stored>
static __global__ void expand(struct selective_args args, struct expanded arrays)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; /* in u */
    if (i >= args.batch * args.channels * args.seq_len)
        return;
    const size_t l = i % args.seq_len, both = i / args.seq_len; /* both: batch and channel */
    const size_t batch = both / args.channels, channel = both % args.channels;
    const size_t group = channel / (args.channels / args.groups);
    const stored *const B = (const stored *)args.B + (batch * args.groups + group) * args.states * args.seq_len;
    const float bias = args.delta_bias != NULL ? args.delta_bias[channel] : 0.0f;
    const float step = step_of((float)((const stored *)args.delta)[i] + bias, args.delta_softplus);
    const float step_u = step * (float)((const stored *)args.u)[i];
    for (size_t n = 0; n < args.states; n++) {
        const size_t state = both * args.states + n, at = state * args.seq_len + l;
        const float a = fast_exp2(step * (args.A[channel * args.states + n] * LOG2_E));
        const float x = step_u * (float)B[n * args.seq_len + l];
        arrays.coeffs[at] = a;
        arrays.inputs[at] = l == 0 && args.initial_state != NULL ? a * args.initial_state[state] + x : x;
    }
}

/* The same threads. */
template <typename stored>
static __global__ void contract(struct selective_args args, struct expanded arrays)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= args.batch * args.channels * args.seq_len)
        return;
    const size_t l = i % args.seq_len, both = i / args.seq_len;
    const size_t batch = both / args.channels, channel = both % args.channels;
    const size_t group = channel / (args.channels / args.groups);
    const stored *const C = (const stored *)args.C + (batch * args.groups + group) * args.states * args.seq_len;
    float y = args.D != NULL ? args.D[channel] * (float)((const stored *)args.u)[i] : 0.0f;
    for (size_t n = 0; n < args.states; n++) {
        const size_t state = both * args.states + n;
        const float h = arrays.outputs[state * args.seq_len + l];
        y += (float)C[n * args.seq_len + l] * h;
        if (l + 1 == args.seq_len && args.final_state != NULL)
            args.final_state[state] = h;
    }
    const float gate = args.z != NULL ? silu((float)((const stored *)args.z)[i]) : 1.0f;
    ((stored *)args.out)[i] = (stored)(y * gate);
}

extern "C" cudaError_t selective_expanded_forward(const struct selective_args *args, cudaStream_t stream)
{
    const size_t workspace = selective_expanded_workspace(args, false);
    cudaError_t error = selective_check_args(args, false, workspace);
    if (error != cudaSuccess)
        return error;
    if (selective_is_empty(args))
        return selective_finish_empty(args, false, stream);
    const size_t num_seqs = args->batch * args->channels * args->states, third = workspace / 3 / sizeof(float);
    const size_t blocks = (args->batch * args->channels * args->seq_len - 1) / kThreads + 1;
    if (blocks > 0x7FFFFFFF || num_seqs > 0x7FFFFFFF)
        return cudaErrorInvalidValue;

    float *const start = (float *)args->workspace;
    const struct expanded arrays = {start, start + third, start + 2 * third};
    void (*const before)(struct selective_args, struct expanded) = args->dtype == BF16   ? expand<__nv_bfloat16>
                                                                   : args->dtype == FP16 ? expand<__half>
                                                                                         : expand<float>;
    void (*const after)(struct selective_args, struct expanded) = args->dtype == BF16   ? contract<__nv_bfloat16>
                                                                  : args->dtype == FP16 ? contract<__half>
                                                                                        : contract<float>;
    before<<<(unsigned)blocks, kThreads, 0, stream>>>(*args, arrays);
    error = cudaGetLastError();
    struct linrec_args scan = {};
    scan.num_seqs = num_seqs, scan.seq_len = args->seq_len;
    scan.coeffs = arrays.coeffs, scan.inputs = arrays.inputs, scan.outputs = arrays.outputs;
    if (error == cudaSuccess)
        error = pipe_default_forward(&scan, stream);
    if (error != cudaSuccess)
        return error;
    after<<<(unsigned)blocks, kThreads, 0, stream>>>(*args, arrays);
    return cudaGetLastError();
}
