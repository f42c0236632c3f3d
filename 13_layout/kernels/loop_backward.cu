/* SPDX-License-Identifier: MIT */
/* loop_backward.cu - loop.cu against time, with both gradients in one pass. What a step hands to the one before it is
   already multiplied by its coefficient, e = c d: so each step needs its own coefficient only, and of its neighbours
   nothing but the output one step earlier, the next one of the walk.

       position    p        p+1
       loads       d_outputs, coeffs of p, outputs of p + 1
       d      = d_outputs + e          d_inputs
       e      = c d                    goes on to p + 1
       d * outputs of p + 1            d_coeffs; e * outputs of p + 1 for logarithms                                */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "channels.cuh"
#include "kernels.h"
#include "packed.cuh"

enum { THREADS = 64, AHEAD = 8 };

/* d = d_outputs + e, and what comes of it; y is the output one step earlier. */
template <int dtype, int width>
static __device__ __forceinline__ void step(const unsigned d_words[], const unsigned c_words[], bool is_log,
                                            const float y[width], float e[width], float d[width], float dc[width])
{
    float c[width];
    unpack_channels<dtype, width>(d_words, d);
    unpack_coeffs<dtype, width>(c_words, is_log, c);
#pragma unroll
    for (int v = 0; v < width; v++) {
        d[v] += e[v];
        e[v] = c[v] * d[v];
        dc[v] = (is_log ? e[v] : d[v]) * y[v];
    }
}

/* The threads of `seq_blocks` blocks share the channels of a sequence. */
template <int dtype, int width>
static __global__ void __launch_bounds__(THREADS)
    loop_gradients(struct walk walk, unsigned seq_blocks, struct walked d_outputs, struct walked coeffs,
                   struct walked outputs, struct walked d_inputs, struct walked d_coeffs,
                   const float *__restrict__ initial_state, const float *__restrict__ d_final_state,
                   float *__restrict__ d_initial_state)
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
    const char *d_at = element<dtype>(&d_outputs, batch, first, channel); /* of the next step that is loaded */
    const char *c_at = element<dtype>(&coeffs, batch, first, channel);
    const char *y_at = element<dtype>(&outputs, batch, first + 1, channel);
    char *dx_at = element<dtype>(&d_inputs, batch, first, channel);
    char *dc_at = element<dtype>(&d_coeffs, batch, first, channel);
    const long long state_at = seq * walk.channels + channel;

    float e[width];
#pragma unroll
    for (int v = 0; v < width; v++)
        e[v] = d_final_state != NULL ? d_final_state[state_at + v] : 0.0f;
    unsigned d_words[AHEAD][WORDS(dtype, width)], c_words[AHEAD][WORDS(dtype, width)];
    unsigned y_words[AHEAD][WORDS(dtype, width)];
#pragma unroll
    for (int u = 0; u < AHEAD; u++, d_at += d_outputs.step, c_at += coeffs.step, y_at += outputs.step) {
        if (u < length) {
            load_channels<dtype, width>(d_at, d_words[u]);
            load_channels<dtype, width>(c_at, c_words[u]);
        }
        if (u + 1 < length)
            load_channels<dtype, width>(y_at, y_words[u]);
    }
    long long left = length;
    for (; left > 2 * AHEAD; left -= AHEAD) { /* all of these steps, and the next ones, are there, and one more */
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            float y[width], d[width], dc[width];
            unpack_channels<dtype, width>(y_words[u], y);
            step<dtype, width>(d_words[u], c_words[u], walk.log_coeffs, y, e, d, dc);
            store_channels<dtype, width>(dx_at, d);
            store_channels<dtype, width>(dc_at, dc);
            load_channels<dtype, width>(d_at, d_words[u]);
            load_channels<dtype, width>(c_at, c_words[u]);
            load_channels<dtype, width>(y_at, y_words[u]);
            d_at += d_outputs.step, c_at += coeffs.step, y_at += outputs.step;
            dx_at += d_inputs.step, dc_at += d_coeffs.step;
        }
    }
    for (; left > 0; left -= AHEAD) { /* the last ones */
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            const bool is_last = u == left - 1; /* the sequence's first step in time: before it comes its state */
            float y[width], d[width], dc[width];
            if (u < left) {
                unpack_channels<dtype, width>(y_words[u], y);
#pragma unroll
                for (int v = 0; v < width; v++)
                    y[v] = !is_last ? y[v] : initial_state != NULL ? initial_state[state_at + v] : 0.0f;
                step<dtype, width>(d_words[u], c_words[u], walk.log_coeffs, y, e, d, dc);
#pragma unroll
                for (int v = 0; v < width; v++)
                    dc[v] = is_last && initial_state == NULL ? 0.0f : dc[v]; /* its coefficient is not used */
                store_channels<dtype, width>(dx_at, d);
                store_channels<dtype, width>(dc_at, dc);
            }
            if (u + AHEAD < left) {
                load_channels<dtype, width>(d_at, d_words[u]);
                load_channels<dtype, width>(c_at, c_words[u]);
            }
            if (u + AHEAD + 1 < left)
                load_channels<dtype, width>(y_at, y_words[u]);
            d_at += d_outputs.step, c_at += coeffs.step, y_at += outputs.step;
            dx_at += d_inputs.step, dc_at += d_coeffs.step;
        }
    }
    if (d_initial_state != NULL) {
#pragma unroll
        for (int v = 0; v < width; v++)
            d_initial_state[state_at + v] = e[v];
    }
}

typedef void gradients_kernel(struct walk, unsigned, struct walked, struct walked, struct walked, struct walked,
                              struct walked, const float *, const float *, float *);

extern "C" cudaError_t layout_loop_backward(const struct layout_args *args, cudaStream_t stream)
{
    bool done;
    const cudaError_t error = layout_begin(args, true, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    const struct walk walk = walk_of(args, true);
    const int width = layout_width(args, true, 2);
    const size_t seq_blocks = (args->channels / width + THREADS - 1) / THREADS;
    if (seq_blocks > 0x7FFFFFFF / (size_t)walk.num_seqs)
        return cudaErrorInvalidValue;
    gradients_kernel *const kernel =
        width == 2
            ? by_dtype(args->dtype, loop_gradients<FLOAT32, 2>, loop_gradients<BF16, 2>, loop_gradients<FP16, 2>)
            : by_dtype(args->dtype, loop_gradients<FLOAT32, 1>, loop_gradients<BF16, 1>, loop_gradients<FP16, 1>);
    const cudaLaunchConfig_t launch = launch_of(seq_blocks * walk.num_seqs, THREADS, 0, stream);
    return cudaLaunchKernelEx(
        &launch, kernel, walk, (unsigned)seq_blocks, walked_of(&walk, args, args->d_outputs, args->d_outputs_by),
        walked_of(&walk, args, args->coeffs, args->coeffs_by), walked_of(&walk, args, args->outputs, args->outputs_by),
        walked_of(&walk, args, args->d_inputs, args->d_inputs_by),
        walked_of(&walk, args, args->d_coeffs, args->d_coeffs_by), args->initial_state, args->d_final_state,
        args->d_initial_state);
}
