/* SPDX-License-Identifier: MIT */
/* loop.cu - a thread has `width` neighbouring channels of a sequence, and walks through time. Neighbouring threads have
   neighbouring channels: what a warp loads lies side by side, without anybody's doing. The next AHEAD steps are on
   their way in registers while this one is computed.

       step 0    thread 0 | thread 1 | thread 2 | ...     each loads its own piece of the row, adds, and stores;
       step 1    thread 0 | thread 1 | thread 2 | ...     the state never leaves its registers
       ...                                                                                                          */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "channels.cuh"
#include "kernels.h"
#include "packed.cuh"

enum { THREADS = 64, AHEAD = 16 };

/* y = c y + x. */
template <int dtype, int width>
static __device__ __forceinline__ void step(const unsigned x_words[], const unsigned c_words[], bool is_log,
                                            float y[width])
{
    float x[width], c[width];
    unpack_channels<dtype, width>(x_words, x);
    unpack_coeffs<dtype, width>(c_words, is_log, c);
#pragma unroll
    for (int v = 0; v < width; v++)
        y[v] = y[v] * c[v] + x[v];
}

/* The threads of `seq_blocks` blocks share the channels of a sequence. */
template <int dtype, int width>
static __global__ void __launch_bounds__(THREADS)
    loop_forward(struct walk walk, unsigned seq_blocks, struct walked inputs, struct walked coeffs,
                 struct walked outputs, const float *__restrict__ initial_state, float *__restrict__ final_state)
{
    const long long seq = blockIdx.x / seq_blocks;
    const long long channel = ((long long)(blockIdx.x % seq_blocks) * THREADS + threadIdx.x) * width;
    if (channel >= walk.channels)
        return;

    /* The sequence's first position, and how many it has. */
    long long first = 0, length = walk.seq_len, batch = seq;
    if (walk.starts != NULL) {
        length = walk.starts[seq + 1] - walk.starts[seq];
        first = walk.from_last ? walk.seq_len - walk.starts[seq + 1] : walk.starts[seq];
        batch = 0;
    }
    const char *x_at = element<dtype>(&inputs, batch, first, channel); /* of the next step that is loaded */
    const char *c_at = element<dtype>(&coeffs, batch, first, channel);
    char *y_at = element<dtype>(&outputs, batch, first, channel);
    const long long state_at = seq * walk.channels + channel;

    float y[width];
#pragma unroll
    for (int v = 0; v < width; v++)
        y[v] = initial_state != NULL ? initial_state[state_at + v] : 0.0f;
    unsigned x_words[AHEAD][WORDS(dtype, width)], c_words[AHEAD][WORDS(dtype, width)];
#pragma unroll
    for (int u = 0; u < AHEAD; u++, x_at += inputs.step, c_at += coeffs.step) {
        if (u < length) {
            load_channels<dtype, width>(x_at, x_words[u]);
            load_channels<dtype, width>(c_at, c_words[u]);
        }
    }
    if (initial_state == NULL) { /* nothing comes into the first step: its coefficient is not used */
#pragma unroll
        for (int w = 0; w < WORDS(dtype, width); w++)
            c_words[0][w] = identity_coeff(dtype, walk.log_coeffs);
    }
    long long left = length;
    /* [steps] All of these steps, and the next ones, are there. */
    for (; left >= 2 * AHEAD; left -= AHEAD) {
#pragma unroll
        for (int u = 0; u < AHEAD; u++, x_at += inputs.step, c_at += coeffs.step, y_at += outputs.step) {
            step<dtype, width>(x_words[u], c_words[u], walk.log_coeffs, y);
            store_channels<dtype, width>(y_at, y);
            load_channels<dtype, width>(x_at, x_words[u]);
            load_channels<dtype, width>(c_at, c_words[u]);
        }
    }
    /* [last] Some may not be there. */
    for (; left > 0; left -= AHEAD) {
#pragma unroll
        for (int u = 0; u < AHEAD; u++, x_at += inputs.step, c_at += coeffs.step, y_at += outputs.step) {
            if (u < left) {
                step<dtype, width>(x_words[u], c_words[u], walk.log_coeffs, y);
                store_channels<dtype, width>(y_at, y);
            }
            if (u + AHEAD < left) {
                load_channels<dtype, width>(x_at, x_words[u]);
                load_channels<dtype, width>(c_at, c_words[u]);
            }
        }
    }
    if (final_state != NULL) {
#pragma unroll
        for (int v = 0; v < width; v++)
            final_state[state_at + v] = y[v];
    }
}

typedef void loop_kernel(struct walk, unsigned, struct walked, struct walked, struct walked, const float *, float *);

extern "C" cudaError_t layout_loop(const struct layout_args *args, cudaStream_t stream)
{
    bool done;
    const cudaError_t error = layout_begin(args, false, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    const struct walk walk = walk_of(args, false);
    const int width = layout_width(args, false, 2);
    const size_t seq_blocks = (args->channels / width + THREADS - 1) / THREADS;
    if (seq_blocks > 0x7FFFFFFF / (size_t)walk.num_seqs)
        return cudaErrorInvalidValue;
    loop_kernel *const kernel =
        width == 2 ? by_dtype(args->dtype, loop_forward<FLOAT32, 2>, loop_forward<BF16, 2>, loop_forward<FP16, 2>)
                   : by_dtype(args->dtype, loop_forward<FLOAT32, 1>, loop_forward<BF16, 1>, loop_forward<FP16, 1>);
    const cudaLaunchConfig_t launch = launch_of(seq_blocks * walk.num_seqs, THREADS, 0, stream);
    return cudaLaunchKernelEx(
        &launch, kernel, walk, (unsigned)seq_blocks, walked_of(&walk, args, args->inputs, args->inputs_by),
        walked_of(&walk, args, args->coeffs, args->coeffs_by), walked_of(&walk, args, args->outputs, args->outputs_by),
        args->initial_state, args->final_state);
}
