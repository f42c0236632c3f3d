/* SPDX-License-Identifier: MIT */
/* gradient_steps.cuh - what a warp computes of its steps backward: first what they do to e by themselves, and once it
   is known what comes into them, the gradients. The words lie as in forward_steps.cuh. */
#ifndef GRADIENT_STEPS_CUH
#define GRADIENT_STEPS_CUH

#include "steps.cuh"

/* What a warp's steps do by themselves to e: product and sum, a channel. Bit r of `begins`: a sequence begins with step
   r of the walk, which is its last one in time. Of these the last one alone matters. */
template <int dtype, int width, int rows>
static __device__ __forceinline__ void
aggregate(const struct walk *walk, bool is_log, unsigned begins, const unsigned *d_words, const unsigned *c_words,
          int next, const float *d_final_state, const struct place *place, float product[width], float e[width])
{
    const int last = 31 - __clz(begins);
    float from[width];
    if (begins != 0)
        begin<width>(d_final_state, walk, place, last, from);
#pragma unroll
    for (int v = 0; v < width; v++)
        product[v] = 1.0f, e[v] = 0.0f;
#pragma unroll(rows <= 16 ? rows : 8) /* registers have no addresses: split's as a whole */
    for (int r = 0; r < rows; r++) {
        float d[width], c[width];
        unpack_channels<dtype, width>(d_words + r * next, d);
        unpack_coeffs<dtype, width>(c_words + r * next, is_log, c);
#pragma unroll
        for (int v = 0; v < width; v++) {
            e[v] = begins != 0 && r == last ? from[v] : e[v];
            e[v] = c[v] * (d[v] + e[v]);
            product[v] *= c[v];
        }
    }
}

/* The states of a sequence's ends and their gradients. */
struct end_states {
    const float *initial_state, *d_final_state;
    float *d_initial_state;
};

/* Where a lane's gradients go: of the first step, and how many bytes to the next. */
struct gradients_at {
    char *d_inputs, *d_coeffs;
    long long d_inputs_step, d_coeffs_step;
};

/* The steps from what comes in, e. Of all rows there are `count`. */
template <int dtype, int width, int rows>
static __device__ __forceinline__ void apply(const struct walk *walk, bool is_log, unsigned begins, unsigned ends,
                                             int count, const unsigned *d_words, const unsigned *c_words,
                                             const unsigned *y_words, int next, struct gradients_at to,
                                             const struct end_states *states, const struct place *place, float e[width])
{
#pragma unroll(rows <= 16 ? rows : 8) /* registers have no addresses: split's as a whole */
    for (int r = 0; r < rows; r++, to.d_inputs += to.d_inputs_step, to.d_coeffs += to.d_coeffs_step) {
        const bool is_last =
            ends >> r & 1; /* the sequence's first step in time: before it comes its state, or nothing */
        float d[width], c[width], y[width], dc[width];
        unpack_channels<dtype, width>(d_words + r * next, d);
        unpack_coeffs<dtype, width>(c_words + r * next, is_log, c);
        unpack_channels<dtype, width>(y_words + r * next, y);
        if (begins >> r & 1)
            begin<width>(states->d_final_state, walk, place, r, e);
        if (is_last)
            begin<width>(states->initial_state, walk, place, r, y);
#pragma unroll
        for (int v = 0; v < width; v++) {
            d[v] += e[v];
            e[v] = c[v] * d[v];
            dc[v] = is_last && states->initial_state == NULL ? 0.0f : (is_log ? e[v] : d[v]) * y[v];
        }
        if (r < count) {
            store_channels<dtype, width>(to.d_inputs, d);
            store_channels<dtype, width>(to.d_coeffs, dc);
        }
        if (r < count && is_last && states->d_initial_state != NULL)
            leave<width>(states->d_initial_state, walk, place, r, e);
    }
}

#endif
