/* SPDX-License-Identifier: MIT */
/* forward_steps.cuh - what a warp computes of its steps: first what they do by themselves, and once it is known what
   comes into them, the outputs. The words of a lane's channels are in registers (split.cu) or in shared memory
   (tensor_map.cu), and those of the next step `next` further on. */
#ifndef FORWARD_STEPS_CUH
#define FORWARD_STEPS_CUH

#include "steps.cuh"

/* What a warp's steps do by themselves: product and sum, a channel. Bit r of `begins`: a sequence begins with step r.
   Of these the last one alone matters: what was before it does not go on. */
template <int dtype, int width, int rows>
static __device__ __forceinline__ void
aggregate(const struct walk *walk, bool is_log, unsigned begins, const unsigned *x_words, const unsigned *c_words,
          int next, const float *initial_state, const struct place *place, float product[width], float y[width])
{
    const int last = 31 - __clz(begins);
    float from[width];
    if (begins != 0)
        begin<width>(initial_state, walk, place, last, from);
#pragma unroll
    for (int v = 0; v < width; v++)
        product[v] = 1.0f, y[v] = 0.0f;
#pragma unroll(rows <= 16 ? rows : 8) /* registers have no addresses: split's as a whole */
    for (int r = 0; r < rows; r++) {
        float x[width], c[width];
        unpack_channels<dtype, width>(x_words + r * next, x);
        unpack_coeffs<dtype, width>(c_words + r * next, is_log, c);
        const bool begins_here = begins != 0 && r == last;
        const bool alone = begins_here ? initial_state == NULL : r == 0; /* nothing comes into this step */
#pragma unroll
        for (int v = 0; v < width; v++) {
            y[v] = begins_here ? from[v] : y[v];
            y[v] = alone ? x[v] : y[v] * c[v] + x[v];
            product[v] *= c[v];
        }
    }
}

/* The steps from what comes in, y, stored from y_at on, a step each y_step bytes. Of all rows there are `count`. */
template <int dtype, int width, int rows>
static __device__ __forceinline__ void apply(const struct walk *walk, bool is_log, unsigned begins, unsigned ends,
                                             int count, const unsigned *x_words, const unsigned *c_words, int next,
                                             char *y_at, long long y_step, const float *initial_state,
                                             float *final_state, const struct place *place, float y[width])
{
#pragma unroll(rows <= 16 ? rows : 8) /* registers have no addresses: split's as a whole */
    for (int r = 0; r < rows; r++, y_at += y_step) {
        float x[width], c[width];
        unpack_channels<dtype, width>(x_words + r * next, x);
        unpack_coeffs<dtype, width>(c_words + r * next, is_log, c);
        const bool alone = (begins >> r & 1) && initial_state == NULL; /* its coefficient is not used */
        if (begins >> r & 1)
            begin<width>(initial_state, walk, place, r, y);
#pragma unroll
        for (int v = 0; v < width; v++)
            y[v] = alone ? x[v] : y[v] * c[v] + x[v];
        if (r < count)
            store_channels<dtype, width>(y_at, y);
        if (r < count && (ends >> r & 1))
            leave<width>(final_state, walk, place, r, y);
    }
}

#endif
