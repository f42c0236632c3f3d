/* SPDX-License-Identifier: MIT */
/* oracle.h - the right answer in double precision, and how far from it a result may be. A column of a head's
   state knows nothing of the others, so it goes through all chunks by itself: on the host one after the other, on the
   device a thread a column. What is added up over columns (d_gamma, d_W, d_Y) is compared when all are through.

   The bound without W and Y is the linear recurrence's (common/linrec/linrec_oracle.h): with m[k] = |gamma| m[k-1] +
   |h_local| and a[k] = |gamma| (a[k-1] + m[k-1]), which begin with |initial_state| and 0,

       |h - h_ref| <= 2 u (a + D m) + FLT_MIN (1 + max|h|),    u = 2^-24,   D the levels at which results are combined

   With W and Y an error e in each element of h[k-1] goes through A and new ones join it, to first order

       p = Y^T h:        |Y|^T e           + (dk + 1) u |Y|^T |h|            = ep
       gamma h + x:      |gamma| e         + 2 u (|gamma h| + |x|)
       less W p:         + |W| ep          + (rank + 1) u (|gamma h| + |x| + |W| |p|)

   in whatever order the sums are taken. Two things are others where they are taken on tensor cores (mma.cu):

   - Their additions are of float32's precision at least (PTX ISA, "mma"), rounded in a way that NVIDIA does not say.
     One that rounds to the nearest number is off by u, any other by less than 2 u.
   - x = big + small + e, where big has 11 bits, small the 11 behind them, |small| <= 2^-11 |x| and |e| <= 2 u |x|. Of a
     product of two such numbers big big', big small' and small big' are taken. The rest is 2 u for each e, and small
     small' is 4 u: 8 u of the product's size. The sum of the smaller ones has errors smaller by 2^-10 and joins the
     other by one addition.

   So n products count 2 (n + 1) + 8 roundings in place of n + 1. (wgmma.cu has nothing to be off by in the parts:
   its three are all of h or p, and W and Y are bf16.) W p is a sum by itself there, which gamma h and x join:

       less W p:         + |W| ep          + (2 (rank + 1) + 10) u |W| |p| + u (|gamma h| + |x|)

   Over the chunks the bound so grows with |gamma| + |W| |Y|^T, where the result itself grows with A. A hundredth
   more is for the second order. Backward is the same with A transposed, and a sum of n products adds to what these
   inherit n + 1 roundings of the sum of sizes. Without W and Y an error in d_h is followed as a loop makes it;
   where a kernel combines results, it is bound like forward's, with m and a of d_h_out and d_final_state. */
#ifndef CHUNK_ORACLE_H
#define CHUNK_ORACLE_H

#include <float.h>

#include "../../common/harness/finding.h"
#include "data.h"
#include "arguments.h"

#define CHUNK_U 0x1p-24
#define CHUNK_MORE 1.01

enum { CHUNK_SUMS = 1, CHUNK_TENSOR_SUMS = 2 };

/* A column's numbers while it goes through the chunks; one slot each, `count` columns side by side in a slot. */
struct chunk_oracle {
    struct chunk_state_args args;
    bool backward;
    int levels;          /* without W and Y: D above, 1 for a loop. With them: CHUNK_SUMS, or CHUNK_TENSOR_SUMS */
    size_t count;        /* chunk_num_columns(...) */
    double *work;        /* chunk_oracle_slots(...) * count */
    double *sum, *bound; /* of d_gamma, d_W and d_Y, one after the other; backward, zero before the first column */
};

/* The columns of all states. */
static inline HOST_DEVICE size_t chunk_num_columns(const struct chunk_state_args *args)
{
    return chunk_state_num_seqs(args) * args->heads * args->dv;
}

/* Where a column's slots begin: rows of the state with their errors, and so on. */
static inline HOST_DEVICE size_t slot_h(const struct chunk_state_args *args)
{
    return 4 * args->rank;
}

static inline size_t chunk_oracle_slots(const struct chunk_state_args *args, bool backward)
{
    return 4 * args->rank + (backward ? 11 + 2 * args->chunks : 6) * args->dk;
}

/* Elements of d_gamma, d_W and d_Y. */
static inline HOST_DEVICE size_t chunk_num_decays(const struct chunk_state_args *args)
{
    return args->batch * args->chunks * args->heads * args->decays;
}

static inline HOST_DEVICE size_t chunk_num_ranks(const struct chunk_state_args *args)
{
    return args->batch * args->chunks * args->heads * args->dk * args->rank;
}

/* Element i of an array of args->dtype. */
static inline HOST_DEVICE double chunk_element(const struct chunk_state_args *args, const void *array, size_t i)
{
    return dtype_get(args->dtype, array, i);
}

/* Adds to what several columns add to. */
static inline HOST_DEVICE void chunk_add(double *at, double value)
{
#ifdef __CUDA_ARCH__
    atomicAdd(at, value);
#else
    *at += value;
#endif
}

/* One column: where its head stands, and its slots. */
struct chunk_column {
    const struct chunk_oracle *oracle;
    size_t head, j, number; /* batch, or packed sequence, and head in one, which column of it, which of all */
    size_t first, chunks;   /* the first chunk, counted through all batches, and how many there are */
};

static inline HOST_DEVICE struct chunk_column chunk_column_of(const struct chunk_oracle *oracle, size_t number,
                                                              size_t slots)
{
    const struct chunk_state_args *args = &oracle->args;
    const size_t head = number / args->dv, seq = head / args->heads;
    struct chunk_column column = {oracle, head, number % args->dv, slots, seq * args->chunks, args->chunks};
    if (args->starts != NULL) {
        column.first = (size_t)args->starts[seq];
        column.chunks = (size_t)args->starts[seq + 1] - column.first;
    }
    return column;
}

static inline HOST_DEVICE double *slot(const struct chunk_column *c, size_t which)
{
    return c->oracle->work + which * c->oracle->count + c->number;
}

/* The head's part of chunk k in an array of `part` elements a head. */
static inline HOST_DEVICE size_t chunk_at(const struct chunk_column *c, size_t k, size_t part)
{
    const struct chunk_state_args *args = &c->oracle->args;
    return ((c->first + k) * args->heads + c->head % args->heads) * part;
}

static inline HOST_DEVICE double chunk_gamma(const struct chunk_column *c, size_t k, size_t i)
{
    const struct chunk_state_args *args = &c->oracle->args;
    return args->gamma[chunk_at(c, k, args->decays) + (args->decays == 1 ? 0 : i)];
}

/* How many u of the sum of sizes a sum of n products may be off by. */
static inline HOST_DEVICE double chunk_roundings(const struct chunk_column *c, size_t n)
{
    return c->oracle->levels == CHUNK_TENSOR_SUMS ? 2 * ((double)n + 1) + 8 : (double)n + 1;
}

/* The same of a sum over the columns; mma_backward.cu joins the smaller sums once for each 64. */
static inline HOST_DEVICE double chunk_sum_roundings(const struct chunk_column *c)
{
    const size_t dv = c->oracle->args.dv;
    return chunk_roundings(c, dv) + (c->oracle->levels == CHUNK_TENSOR_SUMS ? (double)(dv / 64) : 0.0);
}

/* p = M^T h, and its error: M is W or Y, h and its error stand in dk slots each. */
static inline HOST_DEVICE void chunk_project(const struct chunk_column *c, const void *matrix, size_t k, size_t h,
                                             size_t e, size_t p)
{
    const struct chunk_state_args *args = &c->oracle->args;
    const size_t base = chunk_at(c, k, args->dk * args->rank);
    for (size_t r = 0; r < args->rank; r++) {
        double sum = 0.0, error = 0.0;
        for (size_t i = 0; i < args->dk; i++) {
            const double m = chunk_element(args, matrix, base + i * args->rank + r);
            sum += m * *slot(c, h + i);
            error += fabs(m) * (*slot(c, e + i) + chunk_roundings(c, args->dk) * CHUNK_U * fabs(*slot(c, h + i)));
        }
        *slot(c, p + r) = sum;
        *slot(c, p + args->rank + r) = error;
    }
}

/* Row i of h - M p, and its error. h has the error e, and was added up from what is `size` large. */
static inline HOST_DEVICE double chunk_subtract(const struct chunk_column *c, const void *matrix, size_t k, size_t i,
                                                double h, double size, double e, size_t p, double *error)
{
    const struct chunk_state_args *args = &c->oracle->args;
    const size_t base = chunk_at(c, k, args->dk * args->rank) + i * args->rank;
    const bool alone = c->oracle->levels == CHUNK_TENSOR_SUMS; /* the sum of products, without h */
    const double first = args->rank != 0 ? size : 0.0;
    size = alone ? 0.0 : first;
    *error = e + (alone ? CHUNK_U * first : 0.0);
    for (size_t r = 0; r < args->rank; r++) {
        const double m = chunk_element(args, matrix, base + r), product = m * *slot(c, p + r);
        h -= product;
        size += fabs(product);
        *error += fabs(m) * *slot(c, p + args->rank + r);
    }
    *error += (chunk_roundings(c, args->rank) + 2 * alone) * CHUNK_U * size;
    return h;
}

static inline HOST_DEVICE double chunk_finish(double error)
{
    return CHUNK_MORE * error + (double)FLT_MIN;
}

/* ---- forward: slots h, e, m, a, max from slot_h on, dk each ---- */

static inline HOST_DEVICE void chunk_begin(const struct chunk_column *c)
{
    const struct chunk_state_args *args = &c->oracle->args;
    const size_t h = slot_h(args), dk = args->dk;
    for (size_t i = 0; i < dk; i++) {
        const double initial =
            args->initial_state != NULL ? args->initial_state[(c->head * dk + i) * args->dv + c->j] : 0.0;
        *slot(c, h + i) = initial;
        *slot(c, h + 2 * dk + i) = *slot(c, h + 4 * dk + i) = fabs(initial);
        *slot(c, h + dk + i) = *slot(c, h + 3 * dk + i) = 0.0;
    }
}

static inline HOST_DEVICE void chunk_step(const struct chunk_column *c, size_t k)
{
    const struct chunk_state_args *args = &c->oracle->args;
    const size_t h = slot_h(args), dk = args->dk, base = chunk_at(c, k, dk * args->dv) + c->j;
    if (args->rank != 0)
        chunk_project(c, args->Y, k, h, h + dk, 0);
    for (size_t i = 0; i < dk; i++) {
        const double g = chunk_gamma(c, k, i), x = chunk_element(args, args->h_local, base + i * args->dv);
        double *const e = slot(c, h + dk + i), *const m = slot(c, h + 2 * dk + i), *const a = slot(c, h + 3 * dk + i);
        double *const most = slot(c, h + 4 * dk + i);
        const double kept = g * *slot(c, h + i), size = fabs(kept) + fabs(x);
        double error;
        const double result =
            chunk_subtract(c, args->W, k, i, kept + x, size, fabs(g) * *e + 2 * CHUNK_U * size, 0, &error);
        *slot(c, h + i) = result;
        if (args->rank != 0) {
            *e = chunk_finish(error);
            continue;
        }
        *a = fabs(g) * (*a + *m);
        *m = fabs(g) * *m + fabs(x);
        *most = fmax(*most, fabs(result));
        *e = 2 * CHUNK_U * (*a + c->oracle->levels * *m) + (double)FLT_MIN * (1 + *most);
    }
}

static inline HOST_DEVICE void chunk_compare_elements(const struct chunk_column *c, int array, const void *values,
                                                      size_t k, size_t h, size_t e, struct finding *finding)
{
    const struct chunk_state_args *args = &c->oracle->args;
    for (size_t i = 0; values != NULL && i < args->dk; i++) {
        const size_t at = chunk_at(c, k, args->dk * args->dv) + i * args->dv + c->j;
        finding_add_stored(finding, array, at, args->dtype, values, *slot(c, h + i), *slot(c, e + i));
    }
}

static inline HOST_DEVICE void chunk_compare_state(const struct chunk_column *c, int array, const float *values,
                                                   size_t h, size_t e, struct finding *finding)
{
    const struct chunk_state_args *args = &c->oracle->args;
    for (size_t i = 0; values != NULL && i < args->dk; i++) {
        const size_t at = (c->head * args->dk + i) * args->dv + c->j;
        finding_add(finding, array, at, values[at], *slot(c, h + i), *slot(c, e + i));
    }
}

static inline HOST_DEVICE void chunk_check_forward(const struct chunk_column *c, struct finding *finding)
{
    const struct chunk_state_args *args = &c->oracle->args;
    const size_t h = slot_h(args), e = h + args->dk;
    chunk_begin(c);
    for (size_t k = 0; k < c->chunks; k++) {
        if (args->exclusive)
            chunk_compare_elements(c, H_OUT, args->h_out, k, h, e, finding);
        chunk_step(c, k);
        if (!args->exclusive)
            chunk_compare_elements(c, H_OUT, args->h_out, k, h, e, finding);
    }
    chunk_compare_state(c, FINAL_STATE, args->final_state, h, e, finding);
}

/* ---- backward: first d, its error, m, a and max (dk slots each), behind forward's; then all states and their errors
   ---- */

/* Row i of d, m or a has changed. A kernel that combines results: what d may be off by. */
static inline HOST_DEVICE void chunk_bound_d(const struct chunk_column *c, size_t d, size_t i)
{
    const struct chunk_oracle *oracle = c->oracle;
    const size_t dk = oracle->args.dk;
    double *const most = slot(c, d + 4 * dk + i);
    *most = fmax(*most, fabs(*slot(c, d + i)));
    if (oracle->args.rank == 0 && oracle->levels > 1)
        *slot(c, d + dk + i) = 2 * CHUNK_U * (*slot(c, d + 3 * dk + i) + oracle->levels * *slot(c, d + 2 * dk + i)) +
                               (double)FLT_MIN * (1 + *most);
}

static inline HOST_DEVICE void chunk_add_d_h_out(const struct chunk_column *c, size_t k, size_t d)
{
    const struct chunk_state_args *args = &c->oracle->args;
    for (size_t i = 0; i < args->dk; i++) {
        const size_t at = chunk_at(c, k, args->dk * args->dv) + i * args->dv + c->j;
        const double d_out = chunk_element(args, args->d_h_out, at);
        *slot(c, d + i) += d_out;
        *slot(c, d + args->dk + i) += CHUNK_MORE * CHUNK_U * fabs(*slot(c, d + i));
        *slot(c, d + 2 * args->dk + i) += fabs(d_out);
        chunk_bound_d(c, d, i);
    }
}

/* The states before all chunks, and their errors: as they were given, or computed. */
static inline HOST_DEVICE void chunk_find_states(const struct chunk_column *c, size_t states)
{
    const struct chunk_state_args *args = &c->oracle->args;
    const size_t h = slot_h(args), dk = args->dk, errors = states + c->chunks * dk;
    if (args->states == NULL)
        chunk_begin(c);
    for (size_t k = 0; k < c->chunks; k++) {
        for (size_t i = 0; i < dk; i++) {
            const size_t at = chunk_at(c, k, dk * args->dv) + i * args->dv + c->j;
            double state, error = 0.0;
            if (args->states != NULL) {
                state = chunk_element(args, args->states, at);
            } else { /* computed, and rounded to be stored in the workspace */
                state = *slot(c, h + i);
                error = *slot(c, h + dk + i) + dtype_rounding(args->dtype, fabs(state) + *slot(c, h + dk + i));
            }
            *slot(c, states + k * dk + i) = state;
            *slot(c, errors + k * dk + i) = error;
        }
        if (args->states == NULL)
            chunk_step(c, k);
    }
}

/* The column's part of chunk k's d_gamma, d_W and d_Y; then d goes through A transposed. */
static inline HOST_DEVICE void chunk_step_back(const struct chunk_column *c, size_t k, size_t d, size_t s, size_t es)
{
    const struct chunk_oracle *oracle = c->oracle;
    const struct chunk_state_args *args = &oracle->args;
    const size_t dk = args->dk, rank = args->rank, q = 2 * rank, ranks = chunk_at(c, k, dk * rank);
    const size_t decays = chunk_num_decays(args), terms = args->decays == 1 ? dk * args->dv : args->dv;
    if (rank != 0) {
        chunk_project(c, args->Y, k, s, es, 0);
        chunk_project(c, args->W, k, d, d + dk, q);
    }
    for (size_t i = 0; i < dk; i++) {
        const double value = *slot(c, d + i), error = *slot(c, d + dk + i);
        const double state = *slot(c, s + i), state_error = *slot(c, es + i);
        const size_t at = chunk_at(c, k, args->decays) + (args->decays == 1 ? 0 : i);
        chunk_add(oracle->sum + at, value * state);
        chunk_add(oracle->bound + at, CHUNK_MORE * (fabs(value) * state_error + fabs(state) * error +
                                                    (double)(terms + 2) * CHUNK_U * fabs(value * state)));
        for (size_t r = 0; r < rank; r++) {
            const size_t w = decays + ranks + i * rank + r, y = w + chunk_num_ranks(args);
            const double p = *slot(c, r), ep = *slot(c, rank + r), back = *slot(c, q + r), eq = *slot(c, q + rank + r);
            const double more = chunk_sum_roundings(c) * CHUNK_U;
            chunk_add(oracle->sum + w, -value * p);
            chunk_add(oracle->bound + w, CHUNK_MORE * (fabs(value) * ep + fabs(p) * error + more * fabs(value * p)));
            chunk_add(oracle->sum + y, -state * back);
            chunk_add(oracle->bound + y,
                      CHUNK_MORE * (fabs(state) * eq + fabs(back) * state_error + more * fabs(state * back)));
        }
    }
    for (size_t i = 0; i < dk; i++) {
        const double g = chunk_gamma(c, k, i), kept = g * *slot(c, d + i);
        double error = fabs(g) * *slot(c, d + dk + i) + CHUNK_U * fabs(kept);
        *slot(c, d + i) = chunk_subtract(c, args->Y, k, i, kept, fabs(kept), error, q, &error);
        *slot(c, d + dk + i) = chunk_finish(error);
        *slot(c, d + 3 * dk + i) = fabs(g) * (*slot(c, d + 3 * dk + i) + *slot(c, d + 2 * dk + i));
        *slot(c, d + 2 * dk + i) *= fabs(g);
        chunk_bound_d(c, d, i);
    }
}

static inline HOST_DEVICE void chunk_check_backward(const struct chunk_column *c, struct finding *finding)
{
    const struct chunk_state_args *args = &c->oracle->args;
    const size_t dk = args->dk, d = slot_h(args) + 6 * dk, states = d + 5 * dk, errors = states + c->chunks * dk;
    chunk_find_states(c, states);
    for (size_t i = 0; i < dk; i++) {
        *slot(c, d + i) = args->d_final_state != NULL ? args->d_final_state[(c->head * dk + i) * args->dv + c->j] : 0.0;
        *slot(c, d + dk + i) = *slot(c, d + 3 * dk + i) = 0.0;
        *slot(c, d + 2 * dk + i) = *slot(c, d + 4 * dk + i) = fabs(*slot(c, d + i));
    }
    for (size_t k = c->chunks; k-- > 0;) {
        if (!args->exclusive)
            chunk_add_d_h_out(c, k, d);
        chunk_compare_elements(c, D_H_LOCAL, args->d_h_local, k, d, d + dk, finding);
        chunk_step_back(c, k, d, states + k * dk, errors + k * dk);
        if (args->exclusive)
            chunk_add_d_h_out(c, k, d);
    }
    chunk_compare_state(c, D_INITIAL_STATE, args->d_initial_state, d, d + dk, finding);
}

/* Column `number` of all. */
static inline HOST_DEVICE void chunk_check_column(const struct chunk_oracle *oracle, size_t number,
                                                  struct finding *finding)
{
    const struct chunk_column column = chunk_column_of(oracle, number, number);
    if (oracle->backward)
        chunk_check_backward(&column, finding);
    else
        chunk_check_forward(&column, finding);
}

/* Element i of all that is added up over columns. */
static inline size_t chunk_num_sums(const struct chunk_state_args *args)
{
    return chunk_num_decays(args) + 2 * chunk_num_ranks(args);
}

static inline HOST_DEVICE void chunk_check_sum(const struct chunk_oracle *oracle, size_t i, struct finding *finding)
{
    const struct chunk_state_args *args = &oracle->args;
    const size_t decays = chunk_num_decays(args), ranks = chunk_num_ranks(args);
    const double bound = oracle->bound[i] + (double)FLT_MIN;
    if (i < decays)
        finding_add(finding, D_GAMMA, i, args->d_gamma[i], oracle->sum[i], bound);
    else if (i < decays + ranks)
        finding_add_stored(finding, D_W, i - decays, args->dtype, args->d_W, oracle->sum[i], bound);
    else
        finding_add_stored(finding, D_Y, i - decays - ranks, args->dtype, args->d_Y, oracle->sum[i], bound);
}

#endif
