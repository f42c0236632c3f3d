/* SPDX-License-Identifier: MIT */
/* linrec_oracle.h - the right answer, and how far from it a float32 result may be.

   The oracle is the plain loop in double precision. The same few lines run on the host and, one thread a sequence, on
   the device, where large results are checked without leaving it.

   The bound. Write u = 2^-24 for the unit roundoff of float32 and unroll the recurrence:

       y[l] = sum over k <= l of  x[k] * c[k+1] * ... * c[l]

   However an algorithm groups this sum, the term of x[k] takes part in l - k multiplications, and each of them rounds
   once: a relative error of at most (l - k) u to first order. It also takes part in additions, each with an error of u
   relative to a sum that is no larger than the sum of the absolute values. In the plain loop they are l - k + 1; in a
   parallel algorithm they are at most as many, for the steps that a thread walks alone, plus D, the levels at which
   partial results are combined. With the loop run on absolute values beside the result,

       m[l] = |c[l]| m[l-1] + |x[l]|              the size of what was added up
       a[l] = |c[l]| (a[l-1] + m[l-1])            the same sum with each term weighted by its l - k

   all this is at most u (a + a + D m) <= 2 u (a + D m), D >= 1. A product may also underflow: gradually, with an
   absolute error of 2^-150, and what it multiplies is at most max|y|. FLT_MIN (1 + max|y|), FLT_MIN = 2^-126, leaves
   room for 2^24 of those:

       |y - y_ref| <= 2 u (a + D m) + FLT_MIN (1 + max|y|)

   A bound that grew with l alone would let an all-zero output pass for long sequences; this one does not, because m and
   a stay small where the coefficients forget.

   An initial state is one more element, before the first: y = state, m = |state|, a = 0. The final state must be the
   very last output.

   Backward, d_inputs obeys the same recurrence in the other direction, so the same bound b. d_coeffs = outputs *
   d_inputs inherits |outputs| b, rounds once more and may underflow: |outputs| b + u |d_coeffs| + FLT_MIN. The
   gradient of the final state is added to the first element, which is one addition more, as of any other element. The
   gradient of the initial state is one step more, in which nothing is added. */
#ifndef LINREC_ORACLE_H
#define LINREC_ORACLE_H

#include <float.h>
#include <math.h>

#include "../harness/finding.h"
#include "linrec_operation.h"

struct oracle_state {
    double y, m, a; /* see above */
    double max_y;   /* largest |y| so far */
};

/* One step of the loop. The coefficient of the first step is not looked at. */
static inline HOST_DEVICE void oracle_step(struct oracle_state *state, bool first, double c, double x)
{
    if (first) {
        state->y = x;
        state->a = 0.0;
        state->m = fabs(x);
        state->max_y = 0.0;
    } else {
        state->y = state->y * c + x;
        state->a = fabs(c) * (state->a + state->m); /* reads the m of the step before */
        state->m = fabs(c) * state->m + fabs(x);
    }
    state->max_y = fmax(state->max_y, fabs(state->y));
}

/* Before the first step of a sequence that goes on from a state. */
static inline HOST_DEVICE void oracle_begin(struct oracle_state *state, double initial_state)
{
    state->y = initial_state;
    state->a = 0.0;
    state->m = state->max_y = fabs(initial_state);
}

static inline HOST_DEVICE double oracle_bound(const struct oracle_state *state, int levels)
{
    return 2 * 0x1p-24 * (state->a + levels * state->m) + (double)FLT_MIN * (1 + state->max_y);
}

/* What the result must be at one step, within which bound: outputs[pos]; backward, d_inputs[pos] and d_coeffs[pos]. */
struct oracle_point {
    size_t pos;
    double expected, bound;
    double coeff_expected, coeff_bound; /* of d_coeffs[pos]; a bound of 0 allows no error */
};

/* Advances the oracle to step `step` of sequence `seq`; `first`: it starts anew here, from the state if it is step 0.

   Forward (and backward reversed) go up, pos = step; reverse and backward go down, pos = seq_len - 1 - step. The
   backward pass takes its coefficient from the position of the step before, and the output for d_coeffs from the
   position of the step after:

       backward, going down:   l-1    l    l+1        d_inputs[l] = d_inputs[l+1] * c[l+1] + d_outputs[l]
                               after  pos  before     d_coeffs[l] = y[l-1] * d_inputs[l]                     */
static inline HOST_DEVICE struct oracle_point oracle_advance(struct oracle_state *state, const struct linrec_args *args,
                                                             bool backward, size_t seq, size_t step, bool first,
                                                             int levels)
{
    const bool down = args->reverse != backward;
    const size_t row = seq * args->seq_len;
    const size_t pos = down ? args->seq_len - 1 - step : step;
    struct oracle_point point = {pos, 0.0, 0.0, 0.0, 0.0};

    if (!backward) {
        const bool has_state = step == 0 && args->initial_state != NULL;
        if (has_state)
            oracle_begin(state, args->initial_state[seq]);
        oracle_step(state, first && !has_state, args->coeffs[row + pos], args->inputs[row + pos]);
    } else {
        const size_t before = down ? pos + 1 : pos - 1;
        oracle_step(state, first, first ? 0.0 : args->coeffs[row + before], args->d_outputs[row + pos]);
        if (step == 0 && args->d_final_state != NULL) {
            state->y += args->d_final_state[seq];
            state->m += fabs(args->d_final_state[seq]);
            state->max_y = fmax(state->max_y, fabs(state->y));
        }
    }
    point.expected = state->y;
    point.bound = oracle_bound(state, levels);
    /* the last step is where the sequence's first coefficient stands: without a state it is not used, its gradient 0 */
    const bool is_last = step == args->seq_len - 1;
    if (backward && (!is_last || args->initial_state != NULL)) {
        const double y = is_last ? args->initial_state[seq] : args->outputs[row + (down ? pos - 1 : pos + 1)];
        point.coeff_expected = y * state->y;
        point.coeff_bound = fabs(y) * point.bound + 0x1p-24 * fabs(point.coeff_expected) + (double)FLT_MIN;
    }
    return point;
}

/* Compares what leaves a sequence, after its last step. */
static inline HOST_DEVICE void oracle_check_end(struct oracle_state *state, const struct linrec_args *args,
                                                bool backward, size_t seq, int levels, struct finding *finding)
{
    const bool down = args->reverse != backward, is_empty = args->seq_len == 0;
    const size_t last = seq * args->seq_len + (down || is_empty ? 0 : args->seq_len - 1);
    if (!backward && args->final_state != NULL) {
        const float if_empty = args->initial_state != NULL ? args->initial_state[seq] : 0.0f;
        finding_add(finding, LINREC_FINAL_STATE, seq, args->final_state[seq], is_empty ? if_empty : args->outputs[last],
                    0.0);
    }
    if (backward && args->d_initial_state != NULL) {
        if (is_empty)
            oracle_begin(state, args->d_final_state != NULL ? args->d_final_state[seq] : 0.0);
        else
            oracle_step(state, false, args->coeffs[last], 0.0);
        finding_add(finding, LINREC_D_INITIAL_STATE, seq, args->d_initial_state[seq], state->y,
                    is_empty ? 0.0 : oracle_bound(state, levels));
    }
}

/* Compares steps [begin, end) of one sequence with the oracle, which starts anew at `begin`. Adds to *finding. */
static inline HOST_DEVICE void oracle_check(const struct linrec_args *args, bool backward, size_t seq, size_t begin,
                                            size_t end, int levels, struct finding *finding)
{
    struct oracle_state state = {0.0, 0.0, 0.0, 0.0};

    for (size_t step = begin; step < end; step++) {
        const struct oracle_point point = oracle_advance(&state, args, backward, seq, step, step == begin, levels);
        const size_t index = seq * args->seq_len + point.pos;
        if (!backward) {
            finding_add(finding, LINREC_OUTPUTS, index, args->outputs[index], point.expected, point.bound);
        } else {
            finding_add(finding, LINREC_D_INPUTS, index, args->d_inputs[index], point.expected, point.bound);
            finding_add(finding, LINREC_D_COEFFS, index, args->d_coeffs[index], point.coeff_expected,
                        point.coeff_bound);
        }
    }
    if (end == args->seq_len)
        oracle_check_end(&state, args, backward, seq, levels, finding);
}

/* Sequences are checked in pieces that start where the recurrence does: whole rows, or with a window w (linrec_data.h)
   from one zero coefficient to the next. A zero at position k w keeps apart, in every direction, what lies on its two
   sides:

       forward, backward      [0, w) [w, 2w) ...       y[k w] does not see what comes before it
       the reversed two       [0, w] (w, 2w] ...       y[k w] does not see what comes after it */
static inline HOST_DEVICE size_t oracle_num_pieces(const struct linrec_args *args, size_t window)
{
    return window == 0 || args->seq_len <= 1 ? 1 : (args->seq_len - 1) / window + 1;
}

/* The steps [begin, end) of a piece. */
static inline HOST_DEVICE void oracle_piece(const struct linrec_args *args, bool backward, size_t window, size_t piece,
                                            size_t *begin, size_t *end)
{
    const size_t length = args->seq_len;
    if (window == 0 || length <= 1) {
        *begin = 0;
        *end = length;
        return;
    }
    size_t low = piece * window, high = low + window; /* positions [low, high) */
    if (args->reverse) {
        low = piece == 0 ? 0 : low + 1;
        high++;
    }
    high = high < length ? high : length;
    low = low < length ? low : length;
    *begin = args->reverse != backward ? length - high : low;
    *end = args->reverse != backward ? length - low : high;
}

#endif
