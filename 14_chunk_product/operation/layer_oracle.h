/* SPDX-License-Identifier: MIT */
/* layer_oracle.h - the layer in double precision, and how far off a result may be. A row of dv knows nothing of the
   others: it has dk numbers of state, which go through time by themselves, and meet in the output's sum. The same lines
   run on the host, and on the device, where a warp has the row.

   Beside each h go, with a the step's decay and x B what joins,

       m = a m + |s x B|      the size of what was added up, of which `old` = a m was there before
       q = a q a + (s x B)^2  its squares
       e = a e + ...          errors that float32 has made

   and in the sum over dk M = sum of |C| m, and R = root of the sum of C^2 q.

   float32, u = 2^-24. A kernel takes exponentials of sums of s A: a loop of one step's, others of up to `chunk` steps',
   from a chunk's begin on. Such a sum may be off by c, which adds up |A| (k u s + error of s), k = 4 + log2(chunk): a
   sum by pairs, its product with log2(e), and that number's own rounding. What is decayed from one step of a chunk to
   another has two such ends, 2 c; the power is off by 2^-22 = 4 u (common/cuda/fast_math.h), product and sum by 2 u:

       a term begins with          e += (8 u s + error of s) |x B|
       at a chunk's end            e += 6 u m + 2 c old
       an output may be off by     sum of |C| e  +  70 u M  +  2 c sum of |C| old

   of which 64 u M are for sums over dk and the chunk in any order: more additions than that are one after the other in
   none of them, or their roundings do not all go the same way. Errors of softplus and silu are those of chapter 09.

   Where a state goes through a stretch of n chunks at once (layer_stretches.cu), n powers, n - 1 products of these, and
   one product and one sum with what the stretch adds are (5 n + 1) u, no more than the 6 n u of n chunks' ends.

   16 bits, v = 2^-8 (bf16) or 2^-11 (fp16). A loop rounds nothing. A kernel on tensor cores rounds factors: the scores
   C B, or C with its decay; s x with its decay, or B; and the state where it meets C. A term passes through up to four
   such roundings, v each, so 4 v M is the most. But M adds up sizes, and outputs add up numbers of both signs, which
   are smaller by the root of their number: after 2000 steps zeros would pass for right. Roundings of different numbers
   go different ways, too: their sum's standard deviation is below 2 v / sqrt(3) R, and 16 v R fourteen of these, since
   the test data are random and of both signs. The bound has the smaller one, v min(4 M, 16 R). What fp16 cannot keep
   below 2^-14 is off by w = 2^-25: 64 w root of the sum of C^2, for up to 256 such numbers that go different ways.

   All of it times 1.05, for what is of second order (v^2), and FLT_MIN for what underflows. */
#ifndef LAYER_ORACLE_H
#define LAYER_ORACLE_H

#include <float.h>

#include "../../common/harness/finding.h"
#include "layer_data.h"

#define LAYER_U 0x1p-24
#define LAYER_MORE 1.05

/* A row of dv as it goes through time. */
struct layer_row {
    size_t first, length; /* its sequence's first step, counted from the first one of all; and how many that has */
    size_t seq, head, row, chunk;
    size_t masked;  /* up to this step of its chunk a masked score meets a NaN or an infinity */
    double c, most; /* see above; the largest M so far */
};

/* What all of its dk numbers share in a step. */
struct layer_step {
    double s, s_error, decay, x;
    bool ends; /* the chunk's last one */
};

/* One of the dk numbers. */
struct layer_number {
    double h, m, old, q, e;
};

/* Sums over dk: C h, |C| m, |C| old, C^2 q, |C| e, C^2. */
struct layer_sums {
    double y, m, old, q, e, c2;
};

static inline HOST_DEVICE double layer_sigmoid(double v)
{
    return v >= 0.0 ? 1.0 / (1.0 + exp(-v)) : exp(v) / (1.0 + exp(v));
}

/* Rows of dv, of all sequences and heads, and the row with that number. */
static inline HOST_DEVICE size_t layer_num_rows(const struct layer_args *args)
{
    return layer_num_seqs(args) * args->heads * args->dv;
}

static inline HOST_DEVICE struct layer_row layer_row_of(const struct layer_args *args, size_t chunk, size_t number)
{
    const size_t both = number / args->dv, seq = both / args->heads;
    const size_t first = args->starts != NULL ? (size_t)args->starts[seq] : seq * args->seq_len;
    const size_t length = args->starts != NULL ? (size_t)args->starts[seq + 1] - first : args->seq_len;
    return (struct layer_row){first, length, seq, both % args->heads, number % args->dv, chunk, 0, 0.0, 0.0};
}

/* Where the row's element of a step stands in x, and where its group's first one stands in B. */
static inline HOST_DEVICE size_t layer_x_at(const struct layer_args *args, const struct layer_row *row, size_t t)
{
    return ((row->first + t) * args->heads + row->head) * args->dv + row->row;
}

static inline HOST_DEVICE size_t layer_B_at(const struct layer_args *args, const struct layer_row *row, size_t t)
{
    const size_t group = row->head / (args->heads / args->groups);
    return ((row->first + t) * args->groups + group) * args->dk;
}

/* Number n of the row's dk in a state. */
static inline HOST_DEVICE size_t layer_state_at(const struct layer_args *args, const struct layer_row *row, size_t n)
{
    return ((row->seq * args->heads + row->head) * args->dv + row->row) * args->dk + n;
}

static inline HOST_DEVICE struct layer_number layer_begin_number(const struct layer_args *args,
                                                                 const struct layer_row *row, size_t n)
{
    const double h = args->initial_state != NULL ? args->initial_state[layer_state_at(args, row, n)] : 0.0;
    return (struct layer_number){h, fabs(h), 0.0, h * h, 0.0};
}

/* Up to which step of the chunk that begins at t something is not finite in x. */
static inline HOST_DEVICE size_t layer_find_masked(const struct layer_args *args, const struct layer_row *row, size_t t)
{
    for (size_t i = t + row->chunk; i-- > t && row->chunk > 1;)
        if (i < row->length && !isfinite(dtype_get(args->dtype, args->x, layer_x_at(args, row, i))))
            return i;
    return 0;
}

static inline HOST_DEVICE struct layer_step layer_begin_step(const struct layer_args *args, struct layer_row *row,
                                                             size_t t)
{
    const double dt = dtype_get(args->dtype, args->dt, (row->first + t) * args->heads + row->head);
    const double v = args->dt_bias != NULL ? dt + args->dt_bias[row->head] : dt, A = args->A[row->head];
    const double v_error = args->dt_bias != NULL ? LAYER_U * fabs(v) : 0.0;
    struct layer_step step = {v, v_error, 0.0, dtype_get(args->dtype, args->x, layer_x_at(args, row, t)),
                              (t + 1) % row->chunk == 0};
    if (args->dt_softplus) {
        step.s = fmax(v, 0.0) + log1p(exp(-fabs(v)));
        step.s_error = layer_sigmoid(v) * (4 * LAYER_U + 2 * LAYER_U * fabs(v) + v_error) + 8 * LAYER_U * step.s;
    }
    step.decay = exp(step.s * A);
    if (t % row->chunk == 0) {
        row->c = 0.0;
        row->masked = layer_find_masked(args, row, t);
    }
    row->c += fabs(A) * ((4 + log2((double)row->chunk)) * LAYER_U * step.s + step.s_error);
    return step;
}

/* One of the dk numbers takes the step and joins the sums. */
static inline HOST_DEVICE void layer_advance(const struct layer_row *row, const struct layer_step *step, double B,
                                             double C, struct layer_number *number, struct layer_sums *sums)
{
    const double joins = step->s * step->x * B;
    number->h = step->decay * number->h + joins;
    number->old = step->decay * number->m;
    number->m = number->old + fabs(joins);
    number->q = step->decay * step->decay * number->q + joins * joins;
    number->e = step->decay * number->e + (8 * LAYER_U * step->s + step->s_error) * fabs(step->x * B);
    sums->y += C * number->h;
    sums->m += fabs(C) * number->m;
    sums->old += fabs(C) * number->old;
    sums->q += C * C * number->q;
    sums->e += fabs(C) * number->e;
    sums->c2 += C * C;
    if (step->ends)
        number->e += 6 * LAYER_U * number->m + 2 * row->c * number->old;
}

/* What float32 and the type's roundings may make of sums as these. */
static inline HOST_DEVICE double layer_bound(const struct layer_args *args, const struct layer_row *row,
                                             const struct layer_sums *sums)
{
    const bool is_loop = row->chunk == 1;
    const double v = is_loop ? 0.0 : args->dtype == BF16 ? 0x1p-8 : args->dtype == FP16 ? 0x1p-11 : 0.0;
    const double w = is_loop || args->dtype != FP16 ? 0.0 : 0x1p-25;
    return sums->e + 70 * LAYER_U * sums->m + 2 * row->c * sums->old + v * fmin(4 * sums->m, 16 * sqrt(sums->q)) +
           64 * w * sqrt(sums->c2);
}

/* Compares the row's output of a step. What is not finite may be so in another way: a loop adds infinities of both
   signs up to a NaN where a product with the sum of their factors is an infinity. */
static inline HOST_DEVICE void layer_compare(const struct layer_args *args, struct layer_row *row, size_t t,
                                             const struct layer_step *step, const struct layer_sums *sums,
                                             struct finding *finding)
{
    const size_t at = layer_x_at(args, row, t);
    const float got = dtype_get(args->dtype, args->out, at);
    double y = sums->y, bound = layer_bound(args, row, sums);
    row->most = fmax(row->most, sums->m);
    if (args->D != NULL) {
        const double skip = args->D[row->head] * step->x;
        y += skip;
        bound += LAYER_U * (2 * fabs(skip) + fabs(y));
    }
    if (args->z != NULL) {
        const double z = dtype_get(args->dtype, args->z, at), s = layer_sigmoid(z);
        const double s_error = s * layer_sigmoid(-z) * (4 + 2 * fabs(z)) * LAYER_U + 8 * LAYER_U * s;
        bound = fabs(z) * (s * bound + fabs(y) * s_error) + 2 * LAYER_U * fabs(y * z * s);
        y *= z * s;
    }
    bound = LAYER_MORE * bound + (double)FLT_MIN * (1 + row->most);
    if (!isfinite(got) && !is_poison(got) && (!isfinite(y) || t < row->masked))
        y = got;
    finding_add_stored(finding, LAYER_OUT, at, args->dtype, args->out, y, bound);
}

/* Compares number n of the row's final state, which no step may have changed if there is none. */
static inline HOST_DEVICE void layer_compare_state(const struct layer_args *args, const struct layer_row *row, size_t n,
                                                   const struct layer_number *number, struct finding *finding)
{
    const size_t at = layer_state_at(args, row, n);
    const float got = args->final_state[at];
    const struct layer_sums alone = {number->h, number->m, number->old, number->q, number->e, 1.0};
    const double bound = LAYER_MORE * layer_bound(args, row, &alone) + (double)FLT_MIN * (1 + row->most);
    const double h = !isfinite(number->h) && !isfinite(got) && !is_poison(got) ? got : number->h;
    finding_add(finding, LAYER_FINAL_STATE, at, got, h, row->length == 0 ? 0.0 : bound);
}

/* What a part of a check has found joins what all of it has. */
static inline HOST_DEVICE void layer_add_finding(const struct finding *part, struct finding *whole)
{
    whole->max_error = fmax(whole->max_error, part->max_error);
    whole->num_bad += part->num_bad;
    if (part->first_bad < whole->first_bad) {
        whole->first_bad = part->first_bad;
        whole->expected = part->expected;
        whole->bound = part->bound;
        whole->got = part->got;
    }
}

/* ---- a row on the host; layer_data.cu has the same loop for a warp ---- */

static inline void layer_check_row(const struct layer_args *args, size_t chunk, size_t number, struct finding *finding)
{
    struct layer_row row = layer_row_of(args, chunk, number);
    struct layer_number numbers[LAYER_MAX_DK];
    for (size_t n = 0; n < args->dk; n++)
        numbers[n] = layer_begin_number(args, &row, n);
    for (size_t t = 0; t < row.length; t++) {
        const struct layer_step step = layer_begin_step(args, &row, t);
        const size_t B_at = layer_B_at(args, &row, t);
        struct layer_sums sums = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        for (size_t n = 0; n < args->dk; n++)
            layer_advance(&row, &step, dtype_get(args->dtype, args->B, B_at + n),
                          dtype_get(args->dtype, args->C, B_at + n), &numbers[n], &sums);
        layer_compare(args, &row, t, &step, &sums, finding);
    }
    for (size_t n = 0; n < args->dk && args->final_state != NULL; n++)
        layer_compare_state(args, &row, n, &numbers[n], finding);
}

#endif
