/* SPDX-License-Identifier: MIT */
/* gradient_steps.cuh - what a warp computes of its steps backward, which are in registers: first what they do to e by
   themselves, and once it is known what comes into them, the gradients. */
#ifndef GRADIENT_STEPS_CUH
#define GRADIENT_STEPS_CUH

#include "steps.cuh"

/* What a warp's steps do by themselves to e: product and sum, a channel. Bit r of `begins`: a sequence begins with step
   r of the walk, which is its last one in time. Of these the last one alone matters. */
template <int dtype, int width, int rows>
static __device__ __forceinline__ void
aggregate(const struct walk *walk, bool is_log, unsigned begins, const unsigned d_words[][WORDS(dtype, width)],
          const unsigned c_words[][WORDS(dtype, width)], const float *d_final_state, const struct place *place,
          float product[width], float e[width])
{
    const int last = 31 - __clz(begins);
    float from[width];
    if (begins != 0)
        begin<width>(d_final_state, walk, place, last, from);
#pragma unroll
    for (int v = 0; v < width; v++)
        product[v] = 1.0f, e[v] = 0.0f;
#pragma unroll
    for (int r = 0; r < rows; r++) {
        float d[width], c[width];
        unpack_channels<dtype, width>(d_words[r], d);
        unpack_coeffs<dtype, width>(c_words[r], is_log, c);
#pragma unroll
        for (int v = 0; v < width; v++) {
            e[v] = begins != 0 && r == last ? from[v] : e[v];
            e[v] = c[v] * (d[v] + e[v]);
            product[v] *= c[v];
        }
    }
}

/* What the kernel writes, and what it needs for that beside the steps. */
struct results {
    struct walked d_inputs, d_coeffs;
    const float *initial_state, *d_final_state;
    float *d_initial_state;
};

/* The steps from what comes in, e. Of all rows there are `count`. */
template <int dtype, int width, int rows>
static __device__ __forceinline__ void apply(const struct walk *walk, bool is_log, unsigned begins, unsigned ends,
                                             int count, const unsigned d_words[][WORDS(dtype, width)],
                                             const unsigned c_words[][WORDS(dtype, width)],
                                             const unsigned y_words[][WORDS(dtype, width)],
                                             const struct results *results, const struct place *place, float e[width])
{
    char *dx_at = element<dtype>(&results->d_inputs, place->batch, place->position, place->channel);
    char *dc_at = element<dtype>(&results->d_coeffs, place->batch, place->position, place->channel);
#pragma unroll
    for (int r = 0; r < rows; r++, dx_at += results->d_inputs.step, dc_at += results->d_coeffs.step) {
        const bool is_last =
            ends >> r & 1; /* the sequence's first step in time: before it comes its state, or nothing */
        float d[width], c[width], y[width], dc[width];
        unpack_channels<dtype, width>(d_words[r], d);
        unpack_coeffs<dtype, width>(c_words[r], is_log, c);
        unpack_channels<dtype, width>(y_words[r], y);
        if (begins >> r & 1)
            begin<width>(results->d_final_state, walk, place, r, e);
        if (is_last)
            begin<width>(results->initial_state, walk, place, r, y);
#pragma unroll
        for (int v = 0; v < width; v++) {
            d[v] += e[v];
            e[v] = c[v] * d[v];
            dc[v] = is_last && results->initial_state == NULL ? 0.0f : (is_log ? e[v] : d[v]) * y[v];
        }
        if (r < count) {
            store_channels<dtype, width>(dx_at, d);
            store_channels<dtype, width>(dc_at, dc);
        }
        if (r < count && is_last && results->d_initial_state != NULL)
            leave<width>(results->d_initial_state, walk, place, r, e);
    }
}

#endif
