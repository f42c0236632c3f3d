/* SPDX-License-Identifier: MIT */
/* layer_backward_oracle.c - see layer_backward_oracle.h.

   One number of a state after the other, each through time by itself: forward to all h[t], then backward with its
   gradient g[t], whose recurrence is h's turned round. What both add to sums over rows, columns or steps grows there.

   Both have beside them what layer_oracle.h has beside h, with the same meaning: m, the size of what was added up, of
   which `old` was there before; q, its squares; e, errors that float32 has made; and c, by how much a sum of s A of a
   chunk may be off. Here c is that of the whole chunk, for all of its steps. Then

       |h - exact| <= E = e + 6 u m + 2 c old          and the same of g

   A gradient is a sum of products of such numbers. Of each product p = f g, with f off by F, the sum's bound takes

       size    M += |f| m            all that may have cancelled counts
       error     += F m + |f| E      what its factors are off by
       square  Q += f^2 q            for roundings that go different ways

   and the sum is off by  error + (8 + 64 + terms / 16) u M  for sums of products in any order in which no term takes
   part in more additions than that: partial sums of tiles, of lanes, of blocks. One variable for all steps of a long
   sequence is beyond it.

   16 bits, v as in layer_oracle.h. A kernel on tensor cores rounds what it multiplies: scores, inputs and gradients
   with their decays, d_y, and H and G where they meet something. A term passes through up to eight such roundings (four
   on its way through H, as in a forward pass, and as many through G): 8 v M at most. They go different ways: below
   v sqrt(8 / 3) root Q of standard deviation, of which 16 v root Q are nine. The bound has the smaller of both. What
   fp16 cannot keep below 2^-14 is off by w = 2^-25, each such number times what it meets; in a sum there are
   up to 64 steps, dk columns and dv rows of a head, of sizes up to P: w (64 + dk + dv) P.

   d_A and d_dt_bias are sums over time of what shares its roundings from step to step, so bounds of the steps are
   added up. All of it times 1.05, for what is of second order, and FLT_MIN for what underflows.

   Samples of a large shape are long sequences: there a head's rows are dealt out to threads in equal parts. Each part
   has sums of its own, and these are added up part by part: as many parts on any machine, so the same result. */
#include "layer_backward_oracle.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "layer_oracle.h"

/* A sum as it grows. */
struct sum {
    double value, error, size, square, terms;
};

static void add(struct sum *sum, double value, double error, double size, double square)
{
    sum->value += value;
    sum->error += error;
    sum->size += size;
    sum->square += square;
    sum->terms += 1.0;
}

/* A value and by how much a kernel's may be off. */
struct bounded {
    double value, error;
};

/* A number of the state or of its gradient, on its way through time. */
struct path {
    double value, m, old, q, e;
};

/* The same at one step, with its bound. */
struct point {
    double value, error, m, q;
};

static void add_sum(struct sum *sum, const struct sum *part)
{
    sum->value += part->value;
    sum->error += part->error;
    sum->size += part->size;
    sum->square += part->square;
    sum->terms += part->terms;
}

/* What a step is for all numbers of a head. */
struct step {
    double s, s_error, decay, slope, slope_error; /* slope: of softplus, or 1 */
    double c;                                     /* of its chunk */
};

/* What a head's numbers add to at a step. */
struct step_sums {
    struct sum r, gb; /* gb: x . G B */
};

/* What a step is for a row. */
struct row_step {
    double x, d_out, dy, dy_error, gate_slope, gate_slope_error; /* gate_slope: silu'(z) */
    struct sum y, gB;                                            /* y without D; gB: the row's G B */
};

enum { PARTS = 16 };

struct oracle {
    const struct layer_backward_args *args;
    size_t chunk, parts, columns; /* columns: of d_B and d_C, at most */
    struct finding *finding;
    size_t seq, first, length; /* the sequence, its first step, counted from the first one of all, and its steps */
    double v, w, P;            /* P: the largest size of anything of the head so far */
    bool *spoilt;              /* of each chunk: a NaN or an infinity among what the head reads there */
    struct step *steps;
    struct sum *d_A, *bias; /* of each head */
    /* Below: each part has its own, one behind the other. */
    struct row_step *rows;
    struct point *h; /* h[t]: before step t; one more than steps */
    struct step_sums *sums;
    struct sum *d_B, *d_C; /* of one sequence and group: (columns, steps) */
    struct sum *d_D;       /* of each head */
};

/* Steps of one part's arrays, and heads. */
static size_t room_of_steps(const struct oracle *oracle)
{
    return oracle->args->layer.seq_len + 1;
}

static size_t room_of_heads(const struct oracle *oracle)
{
    return oracle->args->layer.heads + 1;
}

static bool create(struct oracle *oracle)
{
    const size_t steps = room_of_steps(oracle), heads = room_of_heads(oracle), parts = oracle->parts;
    oracle->spoilt = calloc(steps, sizeof *oracle->spoilt);
    oracle->steps = calloc(steps, sizeof *oracle->steps);
    oracle->d_A = calloc(heads, sizeof *oracle->d_A);
    oracle->bias = calloc(heads, sizeof *oracle->bias);
    oracle->rows = calloc(parts * steps, sizeof *oracle->rows);
    oracle->h = calloc(parts * steps, sizeof *oracle->h);
    oracle->sums = calloc(parts * steps, sizeof *oracle->sums);
    oracle->d_B = calloc(parts * oracle->columns * steps, sizeof *oracle->d_B);
    oracle->d_C = calloc(parts * oracle->columns * steps, sizeof *oracle->d_C);
    oracle->d_D = calloc(parts * heads, sizeof *oracle->d_D);
    return oracle->spoilt != NULL && oracle->steps != NULL && oracle->d_A != NULL && oracle->bias != NULL &&
           oracle->rows != NULL && oracle->h != NULL && oracle->sums != NULL && oracle->d_B != NULL &&
           oracle->d_C != NULL && oracle->d_D != NULL;
}

static void destroy(struct oracle *oracle)
{
    void *const all[] = {oracle->spoilt, oracle->steps, oracle->d_A, oracle->bias, oracle->rows,
                         oracle->h,      oracle->sums,  oracle->d_B, oracle->d_C,  oracle->d_D};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* ---- comparing ---- */

/* What a sum is, and by how much a kernel's may be off. */
static struct bounded total(const struct oracle *oracle, const struct sum *sum)
{
    const struct layer_args *layer = &oracle->args->layer;
    const double more = oracle->w * (double)(64 + layer->dk + layer->dv) * oracle->P;
    return (struct bounded){sum->value, sum->error + (72 + sum->terms / 16) * LAYER_U * sum->size +
                                            oracle->v * fmin(8 * sum->size, 16 * sqrt(sum->square)) + more};
}

/* What is not finite may be so in another way, and anywhere in a chunk in which a product met something of that
   kind. */
static void compare(struct oracle *oracle, int array, const void *values, size_t at, enum dtype dtype,
                    struct bounded expected, bool spoilt)
{
    const float got = dtype_get(dtype, values, at);
    const double bound = LAYER_MORE * expected.error + (double)FLT_MIN * (1 + oracle->P) * (1 + oracle->P);
    const bool free = !isfinite(got) && !is_poison(got) && (spoilt || !isfinite(expected.value));
    finding_add_stored(oracle->finding, array, at, dtype, values, free ? got : expected.value, bound);
}

/* ---- what a head's numbers share ---- */

/* From here on it is about this sequence. */
static void enter(struct oracle *oracle, size_t seq)
{
    const struct layer_args *layer = &oracle->args->layer;
    oracle->seq = seq;
    oracle->first = layer->starts != NULL ? (size_t)layer->starts[seq] : seq * layer->seq_len;
    oracle->length = layer->starts != NULL ? (size_t)layer->starts[seq + 1] - oracle->first : layer->seq_len;
}

static bool is_spoilt(const struct oracle *oracle, size_t t)
{
    return oracle->chunk > 1 && oracle->spoilt[t / oracle->chunk];
}

/* sigmoid(v), which float32 gets from v, and by how much that may be off. */
static struct bounded sigmoid_of(double v, double v_error)
{
    const double s = layer_sigmoid(v);
    return (struct bounded){s, s * layer_sigmoid(-v) * ((4 + 2 * fabs(v)) * LAYER_U + v_error) + 8 * LAYER_U * s};
}

static void read_steps(struct oracle *oracle, size_t head)
{
    const struct layer_backward_args *args = oracle->args;
    const struct layer_args *layer = &args->layer;
    const double A = layer->A[head], k = 4 + log2((double)oracle->chunk);
    double c = 0.0;
    oracle->P = 1.0;
    memset(oracle->spoilt, 0, (layer->seq_len + 1) * sizeof *oracle->spoilt);
    for (size_t t = 0; t < oracle->length; t++) {
        const double dt = dtype_get(layer->dtype, layer->dt, (oracle->first + t) * layer->heads + head);
        const double v = layer->dt_bias != NULL ? dt + layer->dt_bias[head] : dt;
        const double v_error = layer->dt_bias != NULL ? LAYER_U * fabs(v) : 0.0;
        struct step *step = &oracle->steps[t];
        *step = (struct step){.s = v, .s_error = v_error, .slope = 1.0};
        if (layer->dt_softplus) {
            const struct bounded slope = sigmoid_of(v, v_error);
            step->slope = slope.value, step->slope_error = slope.error;
            step->s = fmax(v, 0.0) + log1p(exp(-fabs(v)));
            step->s_error = slope.value * (4 * LAYER_U + 2 * LAYER_U * fabs(v) + v_error) + 8 * LAYER_U * step->s;
        }
        step->decay = exp(step->s * A);
        if (t % oracle->chunk == 0)
            c = 0.0;
        c += fabs(A) * (k * LAYER_U * step->s + step->s_error);
        for (size_t i = t - t % oracle->chunk; i <= t; i++)
            oracle->steps[i].c = c;
    }
    for (size_t t = 0; t < oracle->length; t++)
        for (size_t i = 0; i < layer->dv; i++) {
            const size_t at = ((oracle->first + t) * layer->heads + head) * layer->dv + i;
            if (!isfinite(dtype_get(layer->dtype, layer->x, at)) || !isfinite(dtype_get(layer->dtype, args->d_out, at)))
                oracle->spoilt[t / oracle->chunk] = true;
        }
}

static void read_row(struct oracle *oracle, const struct layer_row *row)
{
    const struct layer_backward_args *args = oracle->args;
    const struct layer_args *layer = &args->layer;
    for (size_t t = 0; t < oracle->length; t++) {
        const size_t at = layer_x_at(layer, row, t);
        struct row_step *step = &oracle->rows[t];
        const double d_out = dtype_get(layer->dtype, args->d_out, at);
        *step =
            (struct row_step){.x = dtype_get(layer->dtype, layer->x, at), .d_out = d_out, .dy = d_out, .gate_slope = 1};
        if (layer->z != NULL) {
            const double z = dtype_get(layer->dtype, layer->z, at);
            const struct bounded s = sigmoid_of(z, 0.0);
            const double left = layer_sigmoid(-z), slope = 1 + z * left;
            step->dy = d_out * z * s.value;
            step->dy_error = fabs(d_out * z) * (s.error + 2 * LAYER_U * s.value);
            step->gate_slope = s.value * slope;
            step->gate_slope_error = s.error * fabs(slope) + s.value * (fabs(z) * (s.error + 3 * LAYER_U) + LAYER_U) +
                                     2 * LAYER_U * fabs(step->gate_slope);
        }
    }
}

/* ---- one number through time ---- */

static struct path begin(double value)
{
    return (struct path){value, fabs(value), fabs(value), value * value, 0.0};
}

static void decay(struct path *path, double a)
{
    path->value *= a, path->m *= a, path->q *= a * a, path->e *= a;
    path->old = path->m;
}

static void join(struct path *path, double value, double error)
{
    path->value += value;
    path->m += fabs(value);
    path->q += value * value;
    path->e += error + 8 * LAYER_U * fabs(value);
}

static struct point reached(struct oracle *oracle, const struct path *path, double c)
{
    if (isfinite(path->m) && path->m > oracle->P)
        oracle->P = path->m;
    return (struct point){path->value, path->e + 6 * LAYER_U * path->m + 2 * c * path->old, path->m, path->q};
}

/* Number n of a row of the state: all h, and what they add to y. */
static void walk_forward(struct oracle *oracle, const struct layer_row *row, size_t n)
{
    const struct layer_args *layer = &oracle->args->layer;
    struct path path = begin(layer->initial_state != NULL ? layer->initial_state[layer_state_at(layer, row, n)] : 0.0);
    oracle->h[0] = reached(oracle, &path, 0.0);
    for (size_t t = 0; t < oracle->length; t++) {
        const struct step *step = &oracle->steps[t];
        const size_t at = layer_B_at(layer, row, t) + n;
        const double xB = oracle->rows[t].x * dtype_get(layer->dtype, layer->B, at);
        const double C = dtype_get(layer->dtype, layer->C, at);
        decay(&path, step->decay);
        join(&path, step->s * xB, step->s_error * fabs(xB));
        const struct point h = oracle->h[t + 1] = reached(oracle, &path, step->c);
        if ((t + 1) % oracle->chunk == 0)
            path.e = h.error;
        add(&oracle->rows[t].y, C * h.value, fabs(C) * h.error, fabs(C) * h.m, C * C * h.q);
    }
}

/* The same number's gradient, and what both add to sums; d_B and d_C: of this column, or NULL. Returns what it is
   before the first step. */
static struct bounded walk_backward(struct oracle *oracle, const struct layer_row *row, size_t n, struct sum *d_B,
                                    struct sum *d_C)
{
    const struct layer_backward_args *args = oracle->args;
    const struct layer_args *layer = &args->layer;
    struct path path = begin(args->d_final_state != NULL ? args->d_final_state[layer_state_at(layer, row, n)] : 0.0);
    for (size_t t = oracle->length; t-- > 0;) {
        const struct step *const step = &oracle->steps[t];
        struct step_sums *const sums = &oracle->sums[t];
        struct row_step *const r = &oracle->rows[t];
        const size_t at = layer_B_at(layer, row, t) + n;
        const double B = dtype_get(layer->dtype, layer->B, at), C = dtype_get(layer->dtype, layer->C, at);
        const double x = fabs(r->x), xB = fabs(r->x * B), a = step->decay, dy = fabs(r->dy);
        const struct point before = oracle->h[t], h = oracle->h[t + 1];
        join(&path, r->dy * C, r->dy_error * fabs(C));
        const struct point g = reached(oracle, &path, step->c);
        add(&r->gB, g.value * B, g.error * fabs(B), g.m * fabs(B), g.q * B * B);
        add(&sums->gb, g.value * r->x * B, g.error * xB, g.m * xB, g.q * xB * xB);
        add(&sums->r, g.value * a * before.value,
            a * (g.error * before.m + g.m * before.error + 2 * step->c * g.m * before.m), g.m * a * before.m,
            g.q * a * a * before.q);
        if (d_B != NULL) {
            add(&d_B[t], step->s * r->x * g.value, x * (step->s * g.error + step->s_error * g.m), step->s * x * g.m,
                step->s * x * step->s * x * g.q);
            add(&d_C[t], r->dy * h.value, dy * h.error + r->dy_error * h.m, dy * h.m, dy * dy * h.q);
        }
        decay(&path, a);
        if (t % oracle->chunk == 0) /* on to the chunk before it */
            path.e += 6 * LAYER_U * path.m + 2 * step->c * path.m;
    }
    const struct sum alone = {path.value, path.e + 6 * LAYER_U * path.m, path.m, path.q, 1.0};
    return total(oracle, &alone);
}

/* ---- the outputs ---- */

static void compare_row(struct oracle *oracle, const struct layer_row *row)
{
    const struct layer_backward_args *args = oracle->args;
    const struct layer_args *layer = &args->layer;
    const double D = layer->D != NULL ? layer->D[row->head] : 0.0;
    for (size_t t = 0; t < oracle->length; t++) {
        const struct step *step = &oracle->steps[t];
        const struct row_step *r = &oracle->rows[t];
        const size_t at = layer_x_at(layer, row, t);
        const struct bounded gB = total(oracle, &r->gB), y = total(oracle, &r->y);
        const double d_x = step->s * gB.value, skip = D * r->dy, full = y.value + D * r->x;
        const struct bounded of_x = {d_x + skip, step->s * gB.error + step->s_error * fabs(gB.value) +
                                                     fabs(D) * r->dy_error + oracle->v * fabs(skip) +
                                                     4 * LAYER_U * (fabs(d_x) + fabs(skip))};
        compare(oracle, LAYER_D_X, args->d_x, at, layer->dtype, of_x, is_spoilt(oracle, t));
        const double y_error = y.error + 3 * LAYER_U * (fabs(y.value) + fabs(D * r->x));
        const struct bounded of_z = {r->d_out * full * r->gate_slope,
                                     fabs(r->d_out) *
                                         (y_error * fabs(r->gate_slope) +
                                          fabs(full) * (r->gate_slope_error + 3 * LAYER_U * fabs(r->gate_slope)))};
        if (args->d_z != NULL)
            compare(oracle, LAYER_D_Z, args->d_z, at, layer->dtype, of_z, is_spoilt(oracle, t));
    }
}

/* A walk through a head of the sequence; d_B and d_C grow in columns [first, first + columns), unless these are 0.
   `all` its numbers, or those columns alone, of which nothing but d_B and d_C comes. */
struct walk {
    size_t head, first, columns;
    bool all;
};

static void walk_rows(struct oracle *oracle, const struct walk *walk, size_t begin, size_t end)
{
    const struct layer_backward_args *args = oracle->args;
    const struct layer_args *layer = &args->layer;
    const size_t steps = oracle->length, first = walk->first, columns = walk->columns;
    memset(oracle->sums, 0, steps * sizeof *oracle->sums);
    for (size_t i = begin; i < end; i++) {
        const struct layer_row row = {oracle->first, steps, oracle->seq, walk->head, i, oracle->chunk, 0, 0.0, 0.0};
        read_row(oracle, &row);
        for (size_t n = walk->all ? 0 : first; n < (walk->all ? layer->dk : first + columns); n++) {
            const bool joins = n >= first && n < first + columns;
            walk_forward(oracle, &row, n);
            const struct bounded initial =
                walk_backward(oracle, &row, n, joins ? oracle->d_B + (n - first) * steps : NULL,
                              joins ? oracle->d_C + (n - first) * steps : NULL);
            if (walk->all && args->d_initial_state != NULL)
                compare(oracle, LAYER_D_INITIAL_STATE, args->d_initial_state, layer_state_at(layer, &row, n), FLOAT32,
                        initial, steps != 0 && is_spoilt(oracle, 0));
        }
        if (!walk->all)
            continue;
        compare_row(oracle, &row);
        for (size_t t = 0; t < steps; t++) {
            const double dy = oracle->rows[t].dy, x = oracle->rows[t].x, size = fabs(dy * x);
            add(&oracle->d_D[walk->head], dy * x, oracle->rows[t].dy_error * fabs(x), size, size * size);
        }
    }
}

/* Rows of a head that a thread walks through. */
struct part {
    struct oracle oracle;
    struct finding finding;
    const struct walk *walk;
    size_t begin, end;
    pthread_t thread;
    bool runs;
};

static void *walk_part(void *argument)
{
    struct part *part = argument;
    struct oracle *oracle = &part->oracle;
    const size_t sums = part->walk->columns * oracle->length;
    memset(oracle->d_B, 0, sums * sizeof *oracle->d_B);
    memset(oracle->d_C, 0, sums * sizeof *oracle->d_C);
    memset(&oracle->d_D[part->walk->head], 0, sizeof *oracle->d_D);
    walk_rows(oracle, part->walk, part->begin, part->end);
    return NULL;
}

/* Begins part p, which is not the first one: that is the oracle itself. */
static void begin_part(struct part *part, const struct oracle *oracle, size_t p, const struct walk *walk)
{
    const struct finding nothing = FINDING_NOTHING;
    const size_t steps = p * room_of_steps(oracle), rows = oracle->args->layer.dv;
    *part = (struct part){.oracle = *oracle, .finding = nothing, .walk = walk};
    part->begin = rows * p / oracle->parts, part->end = rows * (p + 1) / oracle->parts;
    part->oracle.finding = &part->finding;
    part->oracle.rows += steps;
    part->oracle.h += steps;
    part->oracle.sums += steps;
    part->oracle.d_B += steps * oracle->columns;
    part->oracle.d_C += steps * oracle->columns;
    part->oracle.d_D += p * room_of_heads(oracle);
    part->runs = pthread_create(&part->thread, NULL, walk_part, part) == 0;
}

/* Waits for the part, or walks it here where no thread could be had, and adds what it has found. */
static void end_part(struct part *part, struct oracle *oracle)
{
    const struct walk *walk = part->walk;
    if (part->runs)
        pthread_join(part->thread, NULL);
    else
        walk_part(part);
    layer_add_finding(&part->finding, oracle->finding);
    oracle->P = fmax(oracle->P, part->oracle.P);
    for (size_t t = 0; t < oracle->length; t++) {
        add_sum(&oracle->sums[t].r, &part->oracle.sums[t].r);
        add_sum(&oracle->sums[t].gb, &part->oracle.sums[t].gb);
    }
    for (size_t i = 0; i < walk->columns * oracle->length; i++) {
        add_sum(&oracle->d_B[i], &part->oracle.d_B[i]);
        add_sum(&oracle->d_C[i], &part->oracle.d_C[i]);
    }
    add_sum(&oracle->d_D[walk->head], &part->oracle.d_D[walk->head]);
}

/* What all rows of a head have in common: d_dt, and what joins d_A and d_dt_bias. */
static void compare_steps(struct oracle *oracle, size_t head)
{
    const struct layer_backward_args *args = oracle->args;
    const struct layer_args *layer = &args->layer;
    for (size_t t = 0; t < oracle->length; t++) {
        const struct step *step = &oracle->steps[t];
        const struct bounded r = total(oracle, &oracle->sums[t].r), gb = total(oracle, &oracle->sums[t].gb);
        const double A = layer->A[head], d_s = A * r.value + gb.value;
        const double d_s_error = fabs(A) * r.error + gb.error + 2 * LAYER_U * (fabs(A * r.value) + fabs(gb.value));
        const struct bounded d_dt = {d_s * step->slope, d_s_error * step->slope + fabs(d_s) * step->slope_error +
                                                            LAYER_U * fabs(d_s * step->slope)};
        compare(oracle, LAYER_D_DT, args->d_dt, (oracle->first + t) * layer->heads + head, layer->dtype, d_dt,
                is_spoilt(oracle, t));
        add(&oracle->bias[head], d_dt.value, d_dt.error, fabs(d_dt.value), 0.0);
        add(&oracle->d_A[head], step->s * r.value, step->s * r.error + step->s_error * fabs(r.value),
            fabs(step->s * r.value), 0.0);
    }
}

static void walk_head(struct oracle *oracle, const struct walk *walk)
{
    struct part others[PARTS];
    read_steps(oracle, walk->head);
    for (size_t p = 1; p < oracle->parts; p++)
        begin_part(&others[p], oracle, p, walk);
    walk_rows(oracle, walk, 0, oracle->args->layer.dv / oracle->parts);
    for (size_t p = 1; p < oracle->parts; p++)
        end_part(&others[p], oracle);
    if (walk->all)
        compare_steps(oracle, walk->head);
}

static void compare_columns(struct oracle *oracle, size_t group, size_t first, size_t columns)
{
    const struct layer_backward_args *args = oracle->args;
    const struct layer_args *layer = &args->layer;
    for (size_t i = 0; i < columns * oracle->length; i++) {
        const size_t n = first + i / oracle->length, t = i % oracle->length;
        const size_t at = ((oracle->first + t) * layer->groups + group) * layer->dk + n;
        const bool spoilt = is_spoilt(oracle, t); /* below: by any head of the group */
        compare(oracle, LAYER_D_B, args->d_B, at, layer->dtype, total(oracle, &oracle->d_B[i]), spoilt);
        compare(oracle, LAYER_D_C, args->d_C, at, layer->dtype, total(oracle, &oracle->d_C[i]), spoilt);
    }
}

/* All heads of a group of the sequence, and its d_B and d_C in these columns. */
static void walk_group(struct oracle *oracle, size_t group, size_t first, size_t columns, bool all)
{
    const struct layer_args *layer = &oracle->args->layer;
    const size_t heads = layer->groups != 0 ? layer->heads / layer->groups : 0, sums = columns * oracle->length;
    bool *spoilt = calloc(oracle->length + 1, sizeof *spoilt);
    double P = 1.0;
    memset(oracle->d_B, 0, sums * sizeof *oracle->d_B);
    memset(oracle->d_C, 0, sums * sizeof *oracle->d_C);
    for (size_t head = group * heads; head < (group + 1) * heads && spoilt != NULL; head++) {
        walk_head(oracle, &(struct walk){head, first, columns, all});
        P = fmax(P, oracle->P);
        for (size_t i = 0; i < oracle->length; i++)
            spoilt[i] = spoilt[i] || oracle->spoilt[i];
    }
    oracle->P = P * (double)(heads + 1); /* each head adds what fp16 cannot keep */
    if (spoilt != NULL)
        memcpy(oracle->spoilt, spoilt, oracle->length * sizeof *spoilt);
    free(spoilt);
    compare_columns(oracle, group, first, columns);
}

/* What all sequences share, of one head. */
static void compare_head(struct oracle *oracle, size_t head)
{
    const struct layer_backward_args *args = oracle->args;
    compare(oracle, LAYER_D_A, args->d_A, head, FLOAT32, total(oracle, &oracle->d_A[head]), false);
    if (args->d_D != NULL)
        compare(oracle, LAYER_D_D, args->d_D, head, FLOAT32, total(oracle, &oracle->d_D[head]), false);
    if (args->d_dt_bias != NULL)
        compare(oracle, LAYER_D_DT_BIAS, args->d_dt_bias, head, FLOAT32, total(oracle, &oracle->bias[head]), false);
}

/* Sample i of two of `count` things: the first, or one that the seed draws. */
static size_t sample(uint64_t seed, uint64_t i, size_t count)
{
    return i == 0 ? 0 : (size_t)(data_hash(seed, DATA_SPECIAL, i) % count);
}

bool layer_check_backward(const struct layer_backward_args *args, size_t chunk, bool whole, uint64_t seed,
                          struct finding *finding)
{
    const struct layer_args *layer = &args->layer;
    const bool is_loop = chunk == 1;
    struct oracle oracle = {.args = args, .chunk = chunk, .finding = finding, .P = 1.0};
    oracle.v = is_loop ? 0.0 : layer->dtype == BF16 ? 0x1p-8 : layer->dtype == FP16 ? 0x1p-11 : 0.0;
    oracle.w = is_loop || layer->dtype != FP16 ? 0.0 : 0x1p-25;
    whole = whole || layer_num_rows(layer) == 0;
    oracle.parts = whole ? 1 : PARTS;
    oracle.columns = whole ? layer->dk : 1;
    const bool created = create(&oracle);
    for (size_t seq = 0; seq < layer_num_seqs(layer) && created && whole; seq++) {
        enter(&oracle, seq);
        for (size_t group = 0; group < layer->groups; group++)
            walk_group(&oracle, group, 0, layer->dk, true);
    }
    for (size_t head = 0; head < layer->heads && created && whole; head++)
        compare_head(&oracle, head);
    for (uint64_t i = 0; i < 2 && created && !whole; i++) {
        const size_t head = layer->heads - 1 - sample(seed, i, layer->heads);
        oracle.d_A[head] = oracle.d_D[head] = oracle.bias[head] = (struct sum){0.0, 0.0, 0.0, 0.0, 0.0};
        for (size_t seq = 0; seq < layer_num_seqs(layer); seq++) {
            enter(&oracle, seq);
            walk_head(&oracle, &(struct walk){head, 0, 0, true});
        }
        compare_head(&oracle, head);
        enter(&oracle, sample(seed, i + 2, layer_num_seqs(layer)));
        walk_group(&oracle, sample(seed, i, layer->groups), sample(seed, i, layer->dk), 1, false);
    }
    destroy(&oracle);
    return created;
}
