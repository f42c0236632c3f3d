/* SPDX-License-Identifier: MIT */
/* oracle.c - the right answer of the selective scan, and how far from it a float32 result may be.

   The oracle is the definition of arguments.h in double precision, step after step and state after state, nothing
   fused. Beside each value goes a bound of the error that float32 arithmetic may have made on the way to it, to first
   order. u = 2^-24 is the unit roundoff.

   An operation rounds once, u times its result, and hands on the errors of what it takes: `times`, `plus`. What
   underflows is off by FLT_MIN.

   An exponential is ex2.approx.ftz of x log2 e: 2^-22 of the result by the PTX manual, 2 u |x| because the factor
   log2 e is rounded and so is its product, and the error of x itself.

   softplus is log1p(exp(v)), its error that of the exponential times the derivative sigmoid(v), and 8 u for the rest.
   sigmoid(v) = 1 / (1 + exp(-v)) is alike, with the derivative sigmoid(v) (1 - sigmoid(v)).

   A recurrence h[l] = a[l] h[l-1] + x[l] may be computed by a loop or by any scan. As in common/linrec/linrec_oracle.h
   each term of the unrolled sum is multiplied by the coefficients after it, now with errors of their own, da and dx:

       m[l] = |a| m[l-1] + |x|                                    the size of what was added up
       e[l] = |a| (e[l-1] + 2 u m[l-1]) + da m[l-1] + dx          errors of coefficients and inputs, roundings of a loop
       |h - h_ref| <= e + 2 u D m + FLT_MIN (1 + max m),          D = the levels of addition of a scan

   A sum of k terms, over states, channels or steps, may be added up in any order in which no term takes part in more
   than depth(k) = min(k, 64 + k / 32) additions: depth(k) u times the sum of the terms' sizes. A kernel that adds all
   steps of a long sequence to one variable is beyond that; partial sums are not. Were it k for any k, a gradient of
   zeros would pass for right one day.

   All that is multiplied by 1.01 for what is of second order. */
#include "oracle.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "selective_step.h"

/* ---- values and their errors ---- */

static const double unit = 0x1p-24, ex2_error = 0x1p-22, tiny = FLT_MIN;

struct bounded {
    double value, error;
};

static struct bounded exactly(double value)
{
    return (struct bounded){value, 0.0};
}

static struct bounded rounded(double value, double error)
{
    return (struct bounded){value, error + unit * fabs(value) + tiny};
}

static struct bounded times(struct bounded a, struct bounded b)
{
    return rounded(a.value * b.value, fabs(a.value) * b.error + a.error * fabs(b.value));
}

static struct bounded plus(struct bounded a, struct bounded b)
{
    return rounded(a.value + b.value, a.error + b.error);
}

/* The relative error of exp(x). */
static double exp_error(struct bounded x)
{
    return ex2_error + 2 * unit * fabs(x.value) + x.error;
}

static struct bounded exponential(struct bounded x)
{
    const double value = exp(x.value);
    return value == 0.0 ? (struct bounded){0.0, tiny} : (struct bounded){value, value * exp_error(x) + tiny};
}

static double sigmoid_of(double v)
{
    return v >= 0.0 ? 1.0 / (1.0 + exp(-v)) : exp(v) / (1.0 + exp(v));
}

static struct bounded sigmoid(struct bounded v)
{
    const double value = sigmoid_of(v.value), slope = value * sigmoid_of(-v.value);
    return (struct bounded){value, (slope == 0.0 ? 0.0 : slope * exp_error(v)) + 8 * unit * value + tiny};
}

static struct bounded softplus(struct bounded v)
{
    const double value = v.value > 0.0 ? v.value + log1p(exp(-v.value)) : log1p(exp(v.value));
    const double slope = sigmoid_of(v.value); /* 0 for -infinity, whose exponential is exactly 0, too */
    return (struct bounded){value, (slope == 0.0 ? 0.0 : slope * exp_error(v)) + 8 * unit * value + tiny};
}

/* silu(z) = z sigmoid(z), and its derivative sigmoid(z) (1 + z (1 - sigmoid(z))). */
static struct bounded silu(double z)
{
    return times(exactly(z), sigmoid(exactly(z)));
}

static struct bounded silu_slope(double z)
{
    const struct bounded s = sigmoid(exactly(z)), left = {sigmoid_of(-z), s.error + unit};
    return times(s, plus(exactly(1.0), times(exactly(z), left)));
}

/* A sum as it grows. */
struct sum {
    double value, error, size, count;
};

static void add(struct sum *sum, struct bounded term)
{
    sum->value += term.value;
    sum->error += term.error;
    sum->size += fabs(term.value);
    sum->count += 1.0;
}

static struct bounded total(const struct sum *sum)
{
    const double depth = fmin(sum->count, 64.0 + sum->count / 32.0);
    return (struct bounded){sum->value, sum->error + depth * unit * sum->size};
}

/* A recurrence as it goes. */
struct path {
    double value, size, error, most;
};

static void advance(struct path *path, struct bounded a, struct bounded x)
{
    path->value = a.value * path->value + x.value;
    path->error = fabs(a.value) * (path->error + 2 * unit * path->size) + a.error * path->size + x.error;
    path->size = fabs(a.value) * path->size + fabs(x.value);
    path->most = fmax(path->most, path->size);
}

static struct bounded reached(const struct path *path, int levels)
{
    return (struct bounded){path->value, path->error + 2 * levels * unit * path->size + tiny * (1.0 + path->most)};
}

static struct path beginning(double value)
{
    return (struct path){value, fabs(value), 0.0, fabs(value)};
}

/* ---- reading and comparing ---- */

/* What is checked, where it lies, and what comes of it. */
struct oracle {
    struct selective_args args;
    bool on_device;
    int levels;
    struct finding *finding;
    bool failed; /* no memory, or a copy failed */
};

static void *take(struct oracle *oracle, size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    oracle->failed = oracle->failed || memory == NULL;
    return memory;
}

/* Reads `count` elements of an array from `first` on. An array that is NULL is all 0. */
static void read_floats(struct oracle *oracle, const float *array, size_t first, size_t count, float *to)
{
    if (array == NULL)
        memset(to, 0, count * sizeof *to);
    else if (!oracle->on_device)
        memcpy(to, array + first, count * sizeof *to);
    else if (cudaMemcpy(to, array + first, count * sizeof *to, cudaMemcpyDeviceToHost) != cudaSuccess)
        oracle->failed = true;
}

/* The same of an array that may be kept in fewer bits. */
static void read_row(struct oracle *oracle, const void *array, size_t first, size_t count, float *to)
{
    const enum dtype dtype = oracle->args.dtype;
    if (dtype == FLOAT32 || array == NULL) {
        read_floats(oracle, array, first, count, to);
        return;
    }
    if (!oracle->on_device) { /* without a call for each element, where rows are that short */
        for (size_t i = 0; i < count; i++)
            to[i] = dtype_get(dtype, array, first + i);
        return;
    }
    const size_t bytes = dtype_bytes(dtype);
    void *values = take(oracle, count, bytes);
    const char *from = (const char *)array + first * bytes;
    if (values == NULL || cudaMemcpy(values, from, count * bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
        oracle->failed = true;
    for (size_t i = 0; i < count && !oracle->failed; i++)
        to[i] = dtype_get(dtype, values, i);
    free(values);
}

/* What one element of an array must be, once it was read; the rounding to its type is added (finding_add_stored). */
static void compare(struct oracle *oracle, int array, size_t index, float got, struct bounded expected)
{
    const enum dtype dtype = array_dtype(&selective_operation.arrays[array], oracle->args.dtype);
    const double bound = 1.01 * expected.error, most = fabs(expected.value) + bound;
    const bool overflows = isinf(got) && most >= dtype_overflow(dtype) && (got > 0.0f) == (expected.value > 0.0);
    finding_add(oracle->finding, array, index, got, overflows ? got : expected.value,
                bound + dtype_rounding(dtype, most));
}

/* ---- one channel of one batch, steps [first, first + steps) ---- */

struct channel {
    size_t batch, number, group, first, steps;
    size_t seq; /* whose states it has: the batch, or the packed sequence */
    bool begins, ends;
    float *u, *delta, *z, *d_out, *B, *C, *row; /* as they were read; B, C and row hold one state at a time */
    struct bounded *v, *step, *gate, *d_y;      /* v: what softplus gets; gate: silu(z), or 1 */
    struct bounded *a, *h;        /* of one state: coefficients, and h before each step and after the last */
    struct sum *y, *d_u, *d_step; /* grow state by state */
    float D, bias;
};

static struct channel channel_create(struct oracle *oracle, size_t steps)
{
    struct channel c = {.steps = steps};
    float **rows[] = {&c.u, &c.delta, &c.z, &c.d_out, &c.B, &c.C, &c.row};
    struct bounded **values[] = {&c.v, &c.step, &c.gate, &c.d_y, &c.a, &c.h};
    struct sum **sums[] = {&c.y, &c.d_u, &c.d_step};
    for (int i = 0; i < 7; i++)
        *rows[i] = take(oracle, steps, sizeof **rows[i]);
    for (int i = 0; i < 6; i++)
        *values[i] = take(oracle, steps, sizeof **values[i]);
    for (int i = 0; i < 3; i++)
        *sums[i] = take(oracle, steps, sizeof **sums[i]);
    return c;
}

static void channel_free(struct channel *c)
{
    void *all[] = {c->u, c->delta, c->z,    c->d_out, c->B, c->C,   c->row, c->v,
                   c->a, c->h,     c->step, c->gate,  c->y, c->d_y, c->d_u, c->d_step};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

/* Reads what all states share: the steps, the gate, the gradient of y. */
static void channel_read(struct oracle *oracle, struct channel *c, size_t batch, size_t number, size_t first)
{
    const struct selective_args *args = &oracle->args;
    const size_t row = (batch * args->channels + number) * args->seq_len + first;
    c->batch = c->seq = batch, c->number = number, c->first = first;
    c->begins = first == 0, c->ends = first + c->steps == args->seq_len;
    c->group = number / (args->channels / args->groups);
    read_row(oracle, args->u, row, c->steps, c->u);
    read_row(oracle, args->delta, row, c->steps, c->delta);
    read_row(oracle, args->z, row, c->steps, c->z);
    read_row(oracle, args->d_out, row, c->steps, c->d_out);
    read_floats(oracle, args->D, number, 1, &c->D);
    read_floats(oracle, args->delta_bias, number, 1, &c->bias);
    for (size_t l = 0; l < c->steps; l++) {
        const struct bounded delta = exactly(c->delta[l]);
        c->v[l] = args->delta_bias != NULL ? plus(delta, exactly(c->bias)) : delta;
        c->step[l] = args->delta_softplus ? softplus(c->v[l]) : c->v[l];
        c->gate[l] = args->z != NULL ? silu(c->z[l]) : exactly(1.0);
        c->d_y[l] = args->z != NULL ? times(exactly(c->d_out[l]), c->gate[l]) : exactly(c->d_out[l]);
        c->y[l] = c->d_u[l] = c->d_step[l] = (struct sum){0.0, 0.0, 0.0, 0.0};
        if (args->D != NULL) {
            add(&c->y[l], times(exactly(c->D), exactly(c->u[l])));
            add(&c->d_u[l], times(exactly(c->D), c->d_y[l]));
        }
    }
}

/* Where a state of the channel stands in arrays of (batch, channels, states). */
static size_t state_index(const struct oracle *oracle, const struct channel *c, size_t n)
{
    return (c->seq * oracle->args.channels + c->number) * oracle->args.states + n;
}

/* State n through time. Adds to y, and leaves the coefficients in a, the states in h. */
static void state_forward(struct oracle *oracle, struct channel *c, size_t n)
{
    const struct selective_args *args = &oracle->args;
    const size_t row = ((c->batch * args->groups + c->group) * args->states + n) * args->seq_len + c->first;
    float A, initial = 0.0f;
    read_floats(oracle, args->A, c->number * args->states + n, 1, &A);
    read_row(oracle, args->B, row, c->steps, c->B);
    read_row(oracle, args->C, row, c->steps, c->C);
    if (c->begins)
        read_floats(oracle, args->initial_state, state_index(oracle, c, n), 1, &initial);
    struct path path = beginning(initial);
    c->h[0] = exactly(initial);
    for (size_t l = 0; l < c->steps; l++) {
        c->a[l] = exponential(times(c->step[l], exactly(A)));
        advance(&path, c->a[l], times(times(c->step[l], exactly(c->u[l])), exactly(c->B[l])));
        c->h[l + 1] = reached(&path, oracle->levels);
        add(&c->y[l], times(exactly(c->C[l]), c->h[l + 1]));
    }
}

/* The gradients that go through state n, after state_forward. Adds to d_u, d_step and *d_A, and to d_B and d_C of the
   steps, unless these are NULL. Returns the gradient of the initial state. */
static struct bounded state_backward(struct oracle *oracle, struct channel *c, size_t n, struct sum *d_A,
                                     struct sum *d_B, struct sum *d_C)
{
    const struct selective_args *args = &oracle->args;
    float A, last = 0.0f;
    read_floats(oracle, args->A, c->number * args->states + n, 1, &A);
    if (c->ends)
        read_floats(oracle, args->d_final_state, state_index(oracle, c, n), 1, &last);
    struct path path = beginning(last);
    for (size_t l = c->steps; l-- > 0;) { /* the gradient of h[l] is in path */
        const struct bounded into = l + 1 < c->steps ? c->a[l + 1] : exactly(1.0);
        advance(&path, into, times(c->d_y[l], exactly(c->C[l])));
        const struct bounded g = reached(&path, oracle->levels), kept = times(c->a[l], c->h[l]);
        const struct bounded step_u = times(c->step[l], exactly(c->u[l])), B = exactly(c->B[l]);
        add(d_A, times(times(g, kept), c->step[l]));
        add(&c->d_step[l], times(g, plus(times(exactly(A), kept), times(B, exactly(c->u[l])))));
        add(&c->d_u[l], times(times(g, c->step[l]), B));
        if (d_B != NULL) {
            add(&d_B[l], times(g, step_u));
            add(&d_C[l], times(c->d_y[l], c->h[l + 1]));
        }
    }
    if (c->steps != 0)
        advance(&path, c->a[0], exactly(0.0));
    return reached(&path, oracle->levels);
}

/* ---- forward ---- */

static void check_state(struct oracle *oracle, int array, const float *values, size_t index, struct bounded expected)
{
    float got;
    read_floats(oracle, values, index, 1, &got);
    compare(oracle, array, index, got, expected);
}

/* Where packed sequence s starts. */
static size_t start_of(struct oracle *oracle, size_t s)
{
    int start = 0;
    if (!oracle->on_device)
        start = oracle->args.starts[s];
    else if (cudaMemcpy(&start, oracle->args.starts + s, sizeof start, cudaMemcpyDeviceToHost) != cudaSuccess)
        oracle->failed = true;
    return (size_t)start;
}

/* Batches, or packed sequences. */
static size_t num_sequences(const struct selective_args *args)
{
    return args->starts != NULL ? args->num_seqs : args->batch;
}

/* Reads a channel of a batch, or of a packed sequence. Returns where its row begins. */
static size_t sequence_read(struct oracle *oracle, struct channel *c, size_t seq, size_t number)
{
    const struct selective_args *args = &oracle->args;
    if (args->starts != NULL) {
        const size_t first = start_of(oracle, seq);
        c->steps = start_of(oracle, seq + 1) - first;
        channel_read(oracle, c, 0, number, first);
        c->seq = seq, c->begins = c->ends = true;
    } else {
        channel_read(oracle, c, seq, number, 0);
    }
    return (c->batch * args->channels + number) * args->seq_len + c->first;
}

static void check_forward(struct oracle *oracle, struct channel *c, size_t seq, size_t number)
{
    const struct selective_args *args = &oracle->args;
    const size_t row = sequence_read(oracle, c, seq, number);
    for (size_t n = 0; n < args->states; n++) {
        state_forward(oracle, c, n);
        if (args->final_state != NULL)
            check_state(oracle, S_FINAL_STATE, args->final_state, state_index(oracle, c, n), c->h[c->steps]);
    }
    read_row(oracle, args->out, row, c->steps, c->row);
    for (size_t l = 0; l < c->steps; l++)
        compare(oracle, S_OUT, row + l, c->row[l],
                args->z != NULL ? times(total(&c->y[l]), c->gate[l]) : total(&c->y[l]));
}

/* ---- backward ---- */

/* What adds up over batches, or over the channels of a group. */
struct totals {
    struct sum *d_A, *d_D, *d_bias; /* of all channels */
    struct sum *d_B, *d_C;          /* of one batch and group; NULL: not asked for */
};

static void check_backward(struct oracle *oracle, struct channel *c, size_t seq, size_t number, struct totals *totals)
{
    const struct selective_args *args = &oracle->args;
    const size_t row = sequence_read(oracle, c, seq, number);
    for (size_t n = 0; n < args->states; n++) {
        state_forward(oracle, c, n);
        const struct bounded d_initial = state_backward(oracle, c, n, &totals->d_A[number * args->states + n],
                                                        totals->d_B != NULL ? totals->d_B + n * c->steps : NULL,
                                                        totals->d_C != NULL ? totals->d_C + n * c->steps : NULL);
        if (args->d_initial_state != NULL)
            check_state(oracle, S_D_INITIAL_STATE, args->d_initial_state, state_index(oracle, c, n), d_initial);
    }
    read_row(oracle, args->d_u, row, c->steps, c->row);
    for (size_t l = 0; l < c->steps; l++)
        compare(oracle, S_D_U, row + l, c->row[l], total(&c->d_u[l]));
    read_row(oracle, args->d_delta, row, c->steps, c->row);
    for (size_t l = 0; l < c->steps; l++) {
        const struct bounded d_step = total(&c->d_step[l]);
        const struct bounded d_delta = args->delta_softplus ? times(d_step, sigmoid(c->v[l])) : d_step;
        compare(oracle, S_D_DELTA, row + l, c->row[l], d_delta);
        add(&totals->d_bias[number], d_delta);
        add(&totals->d_D[number], times(c->d_y[l], exactly(c->u[l])));
    }
    if (args->d_z == NULL)
        return;
    read_row(oracle, args->d_z, row, c->steps, c->row);
    for (size_t l = 0; l < c->steps; l++)
        compare(oracle, S_D_Z, row + l, c->row[l],
                times(times(exactly(c->d_out[l]), total(&c->y[l])), silu_slope(c->z[l])));
}

static void check_sums(struct oracle *oracle, int array, const float *values, size_t first, size_t count,
                       const struct sum *sums)
{
    for (size_t i = 0; i < count && values != NULL; i++)
        check_state(oracle, array, values, first + i, total(&sums[i]));
}

/* The gradients of the arrays that all batches share, of one channel. */
static void check_shared(struct oracle *oracle, size_t number, const struct totals *totals)
{
    const struct selective_args *args = &oracle->args;
    const size_t states = args->states;
    check_sums(oracle, S_D_A, args->d_A, number * states, states, totals->d_A + number * states);
    check_sums(oracle, S_D_D, args->d_D, number, 1, totals->d_D + number);
    check_sums(oracle, S_D_DELTA_BIAS, args->d_delta_bias, number, 1, totals->d_bias + number);
}

/* The gradients of one state of B and C, steps [first, first + steps). */
static void check_d_B_d_C(struct oracle *oracle, size_t batch, size_t group, size_t n, size_t first, size_t steps,
                          const struct sum *d_B, const struct sum *d_C, float *row)
{
    const struct selective_args *args = &oracle->args;
    const size_t index = ((batch * args->groups + group) * args->states + n) * args->seq_len + first;
    read_row(oracle, args->d_B, index, steps, row);
    for (size_t l = 0; l < steps; l++)
        compare(oracle, S_D_B, index + l, row[l], total(&d_B[l]));
    read_row(oracle, args->d_C, index, steps, row);
    for (size_t l = 0; l < steps; l++)
        compare(oracle, S_D_C, index + l, row[l], total(&d_C[l]));
}

/* ---- all of a problem ---- */

static struct totals totals_create(struct oracle *oracle, size_t group_steps)
{
    const struct selective_args *args = &oracle->args;
    return (struct totals){take(oracle, args->channels * args->states, sizeof(struct sum)),
                           take(oracle, args->channels, sizeof(struct sum)),
                           take(oracle, args->channels, sizeof(struct sum)),
                           group_steps != 0 ? take(oracle, group_steps, sizeof(struct sum)) : NULL,
                           group_steps != 0 ? take(oracle, group_steps, sizeof(struct sum)) : NULL};
}

static void totals_free(struct totals *totals)
{
    free(totals->d_A);
    free(totals->d_D);
    free(totals->d_bias);
    free(totals->d_B);
    free(totals->d_C);
}

static void check_whole(struct oracle *oracle, bool backward)
{
    const struct selective_args *args = &oracle->args;
    const size_t group_steps = args->states * args->seq_len;
    const size_t per_group = args->groups != 0 ? args->channels / args->groups : 0;
    struct channel c = channel_create(oracle, args->seq_len);
    struct totals totals = totals_create(oracle, backward ? group_steps : 0);
    for (size_t b = 0; b < num_sequences(args) && !oracle->failed; b++)
        for (size_t g = 0; g < args->groups && !oracle->failed; g++) {
            if (totals.d_B != NULL) {
                memset(totals.d_B, 0, group_steps * sizeof *totals.d_B);
                memset(totals.d_C, 0, group_steps * sizeof *totals.d_C);
            }
            for (size_t d = g * per_group; d < (g + 1) * per_group && !oracle->failed; d++)
                if (backward)
                    check_backward(oracle, &c, b, d, &totals);
                else
                    check_forward(oracle, &c, b, d);
            for (size_t n = 0; n < args->states && totals.d_B != NULL && !oracle->failed; n++)
                check_d_B_d_C(oracle, args->starts != NULL ? 0 : b, g, n, c.first, c.steps, totals.d_B + n * c.steps,
                              totals.d_C + n * c.steps, c.row);
        }
    for (size_t d = 0; d < args->channels && backward && !oracle->failed; d++)
        check_shared(oracle, d, &totals);
    totals_free(&totals);
    channel_free(&c);
}

void selective_check(const struct problem *problem, const struct data *data, int levels, struct finding *finding)
{
    struct oracle oracle = {selective_args_of(problem), false, levels, finding, false};
    (void)data;
    check_whole(&oracle, is_backward(problem->direction));
    if (oracle.failed)
        finding_add(finding, is_backward(problem->direction) ? S_D_U : S_OUT, 0, NAN, 0.0, 0.0);
}

/* ---- samples of a large problem ---- */

/* The i-th of `wanted` samples of `count` things: all of them if that is enough, else the first, the last, and then
   random ones. */
static size_t sample(uint64_t seed, size_t i, size_t wanted, size_t count)
{
    if (wanted >= count)
        return i % count;
    return i == 0 ? 0 : i == 1 ? count - 1 : (size_t)(data_hash(seed, DATA_SPECIAL, i) % count);
}

/* Whole channels, in the backward pass of all batches: as many as are 2^20 steps of all states together, at least
   two. */
static void check_channels(struct oracle *oracle, bool backward, uint64_t seed)
{
    const struct selective_args *args = &oracle->args;
    const size_t batches = backward ? num_sequences(args) : 1, all = args->channels * num_sequences(args) / batches;
    const size_t most = ((size_t)1 << 20) / (batches * args->states * args->seq_len), wanted = most > 2 ? most : 2;
    struct channel c = channel_create(oracle, args->seq_len);
    struct totals totals = totals_create(oracle, 0);
    for (size_t i = 0; i < wanted && i < all && !oracle->failed; i++) {
        const size_t which = sample(seed, i, wanted, all), d = which % args->channels;
        if (!backward) {
            check_forward(oracle, &c, which / args->channels, d);
            continue;
        }
        memset(totals.d_A + d * args->states, 0, args->states * sizeof *totals.d_A);
        totals.d_D[d] = totals.d_bias[d] = (struct sum){0.0, 0.0, 0.0, 0.0};
        for (size_t b = 0; b < num_sequences(args) && !oracle->failed; b++)
            check_backward(oracle, &c, b, d, &totals);
        check_shared(oracle, d, &totals);
    }
    totals_free(&totals);
    channel_free(&c);
}

/* The gradients of B and C take all channels of a group, but each state stands alone, and so do the steps between two
   at which all is forgotten. */
static void check_windows(struct oracle *oracle, uint64_t seed)
{
    const struct selective_args *args = &oracle->args;
    const size_t window = selective_window(args->seq_len), per_group = args->channels / args->groups;
    const size_t length = window != 0 ? window : args->seq_len, windows = (args->seq_len - 1) / length + 1;
    struct channel c = channel_create(oracle, length);
    struct sum *d_B = take(oracle, length, sizeof *d_B), *d_C = take(oracle, length, sizeof *d_C);
    struct sum d_A = {0.0, 0.0, 0.0, 0.0}; /* of no use here */
    for (size_t i = 0; i < 2 && !oracle->failed; i++) {
        const size_t b = sample(seed, i, 2, args->batch), g = sample(seed, i, 2, args->groups);
        const size_t n = sample(seed, i, 2, args->states), first = sample(seed, i, 2, windows) * length;
        c.steps = args->seq_len - first < length ? args->seq_len - first : length;
        memset(d_B, 0, c.steps * sizeof *d_B);
        memset(d_C, 0, c.steps * sizeof *d_C);
        for (size_t d = g * per_group; d < (g + 1) * per_group && !oracle->failed; d++) {
            channel_read(oracle, &c, b, d, first);
            state_forward(oracle, &c, n);
            state_backward(oracle, &c, n, &d_A, d_B, d_C);
        }
        check_d_B_d_C(oracle, b, g, n, first, c.steps, d_B, d_C, c.row);
    }
    free(d_B);
    free(d_C);
    channel_free(&c);
}

cudaError_t selective_device_check(const struct problem *problem, const struct data *data, int levels,
                                   struct finding *finding)
{
    struct finding found = FINDING_NOTHING;
    const bool backward = is_backward(problem->direction);
    struct oracle oracle = {selective_args_of(problem), true, levels, &found, false};
    if (problem_count(problem) <= (size_t)1 << 20) {
        check_whole(&oracle, backward);
    } else {
        check_channels(&oracle, backward, data->seed);
        if (backward && oracle.args.starts == NULL) /* packed sequences have no windows of one length */
            check_windows(&oracle, data->seed);
    }
    return oracle.failed ? cudaErrorMemoryAllocation
                         : cudaMemcpy(finding, &found, sizeof found, cudaMemcpyHostToDevice);
}

/* ---- a step ---- */

static long long slot_of(const struct selective_step_args *args, size_t row)
{
    const long long slot = args->slots != NULL ? args->slots[row] : (long long)row;
    return slot < (long long)args->num_slots ? slot : -1;
}

/* A row of the step, as a scan of one batch and one element. */
static struct selective_args scan_of(const struct selective_step_args *args, size_t row, size_t slot)
{
    const size_t bytes = dtype_bytes(args->dtype), channels = row * args->channels * bytes;
    const size_t groups = row * args->groups * args->states * bytes, states = slot * args->channels * args->states;
    return (struct selective_args){.batch = 1,
                                   .channels = args->channels,
                                   .states = args->states,
                                   .groups = args->groups,
                                   .seq_len = 1,
                                   .dtype = args->dtype,
                                   .delta_softplus = args->delta_softplus,
                                   .u = (const char *)args->u + channels,
                                   .delta = (const char *)args->delta + channels,
                                   .A = args->A,
                                   .B = (const char *)args->B + groups,
                                   .C = (const char *)args->C + groups,
                                   .D = args->D,
                                   .z = args->z != NULL ? (const char *)args->z + channels : NULL,
                                   .delta_bias = args->delta_bias,
                                   .initial_state = args->state + states,
                                   .out = (char *)args->out + channels,
                                   .final_state = args->new_state + states};
}

/* What must not be touched is still the poison that the harness has written there before the launch. */
static void check_untouched(enum dtype dtype, const void *values, size_t first, size_t count, int array,
                            struct finding *finding)
{
    for (size_t i = first; i < first + count; i++)
        if (!is_poison(dtype_get(dtype, values, i)))
            finding_add(finding, array, i, dtype_get(dtype, values, i), NAN, 0.0);
}

/* Adds what was found in a row, whose arrays begin somewhere in those of the step. */
static void add_row(struct finding *finding, const struct finding *row, int out, size_t first_out, int new_state,
                    size_t first_state)
{
    const bool is_out = finding_array(row->first_bad) == S_OUT;
    const size_t index = finding_index(row->first_bad) + (is_out ? first_out : first_state);
    const unsigned long long place = finding_place(is_out ? out : new_state, index);
    finding->max_error = fmax(finding->max_error, row->max_error);
    if (row->num_bad != 0 && place < finding->first_bad)
        finding->first_bad = place, finding->expected = row->expected, finding->bound = row->bound,
        finding->got = row->got;
    finding->num_bad += row->num_bad;
}

void selective_check_step(const struct selective_step_args *args, size_t every, int out, int new_state,
                          struct finding *finding)
{
    const size_t state = args->channels * args->states;
    for (size_t row = 0; row < args->batch; row += every) {
        const long long slot = slot_of(args, row);
        if (slot < 0) {
            check_untouched(args->dtype, args->out, row * args->channels, args->channels, out, finding);
            continue;
        }
        struct finding found = FINDING_NOTHING;
        struct oracle oracle = {scan_of(args, row, (size_t)slot), false, 16, &found, false};
        check_whole(&oracle, false);
        if (oracle.failed)
            finding_add(&found, S_OUT, 0, NAN, 0.0, 0.0);
        add_row(finding, &found, out, row * args->channels, new_state, (size_t)slot * state);
    }
    for (size_t slot = 0; slot < args->num_slots; slot += every) {
        bool is_free = true;
        for (size_t row = 0; row < args->batch && is_free; row++)
            is_free = slot_of(args, row) != (long long)slot;
        if (is_free)
            check_untouched(FLOAT32, args->new_state, slot * state, state, new_state, finding);
    }
}
