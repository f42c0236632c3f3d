/* SPDX-License-Identifier: MIT */
/* transitions.c - what stretches of time do to a state that comes in, of an installed liblinrec, for library.t:

       transitions results | joined | errors | before

   Writes one line for each thing that is wrong, and nothing if all is right. */
#include <math.h>
#include <string.h>

#include "calls.h"

/* ---- arrays ---- */

struct array {
    enum linrec_dtype dtype;
    size_t count;
    double *value; /* here */
    void *device;
};

/* Multiples of 1/64 between `from` and `to`, which all types hold as they are. */
static struct array array_of(enum linrec_dtype dtype, size_t count, double from, double to)
{
    struct array a = {dtype, count, malloc(count * sizeof(double) + 1), device_room(count + 1)};
    void *const bits = calloc(count + 1, sizeof(float));
    for (size_t i = 0; i < count; i++)
        a.value[i] = to_bits(dtype, bits, i, floor((from + (to - from) * random_value()) * 64) / 64);
    must_cuda(cudaMemcpy(a.device, bits, count * sizeof(float), cudaMemcpyHostToDevice));
    free(bits);
    return a;
}

/* Of a float32 array (outer, len, inner) the part [first, first + count) of len, on the device. */
static void *part_of(const struct array *a, size_t outer, size_t len, size_t first, size_t count)
{
    const size_t inner = len != 0 ? a->count / outer / len : 0;
    char *const part = (char *)device_room(outer * count * inner + 1);
    for (size_t o = 0; o < outer && count != 0; o++)
        must_cuda(cudaMemcpy(part + o * count * inner * 4, (char *)a->device + (o * len + first) * inner * 4,
                             count * inner * 4, cudaMemcpyDeviceToDevice));
    return part;
}

static double *fetch(const float *device, size_t count)
{
    float *const floats = malloc(count * sizeof(float) + 1);
    double *const values = malloc(count * sizeof(double) + 1);
    must_cuda(cudaMemcpy(floats, device, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        values[i] = (double)floats[i];
    free(floats);
    return values;
}

static float *to_device(const double *values, size_t count)
{
    float *const floats = malloc(count * sizeof(float) + 1), *const device = device_room(count + 1);
    for (size_t i = 0; i < count; i++)
        floats[i] = (float)values[i];
    must_cuda(cudaMemcpy(device, floats, count * sizeof(float), cudaMemcpyHostToDevice));
    free(floats);
    return device;
}

static const int *starts_on_device(const int *starts, size_t count)
{
    void *const room = device_room(count);
    must_cuda(cudaMemcpy(room, starts, count * sizeof *starts, cudaMemcpyHostToDevice));
    return room;
}

/* within: the relative error that a transition may have. */
static void compare(const char *what, const double *got, const double *expected, size_t count, double within)
{
    size_t i = 0;
    while (i < count && fabs(got[i] - expected[i]) <= within * (fabs(expected[i]) + 1e-3))
        i++;
    if (i < count)
        printf("%s: element %zu is %g and not %g\n", what, i, got[i], expected[i]);
}

/* ---- the three operations, and what their transitions are ---- */

static struct linrec_selective_scan scan;
static struct linrec_ssd ssd;
static struct linrec_chunk_state chunks;
static struct array delta, A, bias, u, B, C, gamma_, W, Y, local;
static const int *starts;
static size_t num_seqs; /* batches, or packed sequences */

/* The first step of a sequence, counted through all batches, and the one behind its last. */
static size_t first_of(size_t seq, size_t len)
{
    return starts != NULL ? (size_t)starts[seq] : seq * len;
}
static size_t end_of(size_t seq, size_t len)
{
    return starts != NULL ? (size_t)starts[seq + 1] : (seq + 1) * len;
}

/* packing: where packed sequences start, or NULL, and there are so many batches. */
static void set_packing(const int *packing, size_t count, size_t *batch, size_t *of_struct, const int **cu_seqlens)
{
    starts = packing, num_seqs = count;
    *batch = packing != NULL ? 1 : count;
    *of_struct = packing != NULL ? count : 0;
    *cu_seqlens = packing != NULL ? starts_on_device(packing, count + 1) : NULL;
}

static double softplus(double v)
{
    return log1p(exp(v));
}

/* slow: the sum of steps goes through A without vanishing */
static void set_scan(enum linrec_dtype dtype, size_t channels, size_t states, size_t len, bool soft, bool slow,
                     const int *packing, size_t count)
{
    memset(&scan, 0, sizeof scan);
    set_packing(packing, count, &scan.batch, &scan.num_seqs, &scan.cu_seqlens);
    scan.channels = channels, scan.states = states, scan.seq_len = len, scan.groups = 1, scan.dtype = dtype;
    scan.delta_softplus = soft;
    delta = array_of(dtype, scan.batch * channels * len, soft ? -2 : 0, 1);
    A = array_of(LINREC_FLOAT32, channels * states, -1, -0.1);
    for (size_t i = 0; i < A.count && slow; i++)
        A.value[i] /= 1024;
    bias = array_of(LINREC_FLOAT32, channels, -1, 0.5);
    u = array_of(dtype, delta.count, -1, 1);
    B = array_of(dtype, scan.batch * states * len, -1, 1), C = array_of(dtype, B.count, -1, 1);
    scan.delta = delta.device, scan.delta_bias = soft ? bias.device : NULL, scan.A = to_device(A.value, A.count);
    scan.u = u.device, scan.B = B.device, scan.C = C.device;
}

static double *scan_transition(void)
{
    double *const all = malloc(num_seqs * scan.channels * scan.states * sizeof(double) + 1);
    for (size_t i = 0; i < num_seqs * scan.channels; i++) {
        const size_t seq = i / scan.channels, channel = i % scan.channels;
        double sum = 0;
        for (size_t l = first_of(seq, scan.seq_len); l < end_of(seq, scan.seq_len); l++) {
            const size_t batch = starts != NULL ? 0 : seq, step = l - batch * scan.seq_len;
            const double d = delta.value[(batch * scan.channels + channel) * scan.seq_len + step];
            sum += scan.delta_softplus ? softplus(d + bias.value[channel]) : d;
        }
        for (size_t n = 0; n < scan.states; n++)
            all[i * scan.states + n] = exp(sum * A.value[channel * scan.states + n]);
    }
    return all;
}

static void set_ssd(enum linrec_dtype dtype, size_t heads, size_t len, bool soft, bool slow, const int *packing,
                    size_t count)
{
    memset(&ssd, 0, sizeof ssd);
    set_packing(packing, count, &ssd.batch, &ssd.num_seqs, &ssd.cu_seqlens);
    ssd.heads = heads, ssd.groups = 1, ssd.dk = 3, ssd.dv = 4, ssd.seq_len = len, ssd.dtype = dtype;
    ssd.dt_softplus = soft;
    delta = array_of(dtype, ssd.batch * len * heads, soft ? -2 : 0, 1);
    A = array_of(LINREC_FLOAT32, heads, -1, -0.1);
    for (size_t i = 0; i < heads && slow; i++)
        A.value[i] /= 1024;
    bias = array_of(LINREC_FLOAT32, heads, -1, 0.5);
    u = array_of(dtype, delta.count * ssd.dv, -1, 1);
    B = array_of(dtype, ssd.batch * len * ssd.dk, -1, 1), C = array_of(dtype, B.count, -1, 1);
    ssd.dt = delta.device, ssd.dt_bias = soft ? bias.device : NULL, ssd.A = to_device(A.value, heads);
    ssd.x = u.device, ssd.B = B.device, ssd.C = C.device;
}

static double *ssd_transition(void)
{
    double *const all = malloc(num_seqs * ssd.heads * sizeof(double) + 1);
    for (size_t i = 0; i < num_seqs * ssd.heads; i++) {
        double sum = 0;
        for (size_t l = first_of(i / ssd.heads, ssd.seq_len); l < end_of(i / ssd.heads, ssd.seq_len); l++) {
            const double d = delta.value[l * ssd.heads + i % ssd.heads];
            sum += ssd.dt_softplus ? softplus(d + bias.value[i % ssd.heads]) : d;
        }
        all[i] = exp(sum * A.value[i % ssd.heads]);
    }
    return all;
}

static void set_chunks(enum linrec_dtype dtype, size_t dk, size_t rank, size_t decays, size_t len, const int *packing,
                       size_t count)
{
    memset(&chunks, 0, sizeof chunks);
    set_packing(packing, count, &chunks.batch, &chunks.num_seqs, &chunks.cu_seqlens);
    chunks.chunks = len, chunks.heads = 2, chunks.dk = dk, chunks.dv = 8, chunks.rank = rank, chunks.decays = decays;
    chunks.dtype = dtype;
    const size_t all = chunks.batch * len * chunks.heads;
    const double most = 1.0 / sqrt((double)(dk * rank + 1)); /* so that no product grows */
    gamma_ = array_of(LINREC_FLOAT32, all * decays, -1, 1), local = array_of(dtype, all * dk * chunks.dv, -1, 1);
    W = array_of(dtype, all * dk * rank, -most, most), Y = array_of(dtype, all * dk * rank, -most, most);
    chunks.gamma = gamma_.device, chunks.h_local = local.device;
    if (rank != 0)
        chunks.W = W.device, chunks.Y = Y.device;
}

static double *chunks_transition(void)
{
    const size_t dk = chunks.dk, rank = chunks.rank, decays = chunks.decays, part = rank != 0 ? dk * dk : decays;
    double *const all = malloc(num_seqs * chunks.heads * part * sizeof(double) + 1);
    for (size_t i = 0; i < num_seqs * chunks.heads; i++) {
        double *const t = all + i * part;
        for (size_t n = 0; n < part; n++)
            t[n] = rank == 0 || n / dk == n % dk;
        for (size_t k = first_of(i / chunks.heads, chunks.chunks); k < end_of(i / chunks.heads, chunks.chunks); k++) {
            const size_t at = k * chunks.heads + i % chunks.heads;
            for (size_t n = 0; n < part && rank == 0; n++)
                t[n] *= gamma_.value[at * decays + n];
            for (size_t v = 0; v < dk && rank != 0; v++) {
                double p[64] = {0};
                for (size_t r = 0; r < rank; r++)
                    for (size_t j = 0; j < dk; j++)
                        p[r] += Y.value[(at * dk + j) * rank + r] * t[j * dk + v];
                for (size_t j = 0; j < dk; j++) {
                    t[j * dk + v] *= gamma_.value[at * decays + (decays == 1 ? 0 : j)];
                    for (size_t r = 0; r < rank; r++)
                        t[j * dk + v] -= W.value[(at * dk + j) * rank + r] * p[r];
                }
            }
        }
    }
    return all;
}

/* ---- transitions are what a loop says ---- */

static const int long_starts[] = {0, 0, 3000, 3001, 4500, 4500}, short_starts[] = {0, 0, 3, 3, 4, 9, 9},
                 no_steps[] = {0, 0, 0};

/* A transition, with all other pointers NULL, and what lies behind it. */
#define TRANSITION(object, count, ...)                                                                                 \
    do {                                                                                                               \
        const size_t all = count;                                                                                      \
        float *const device = device_room(all + 4);                                                                    \
        double *const expected = object##_transition();                                                                \
        must(linrec_##__VA_ARGS__, what);                                                                              \
        double *const got = fetch(device, all + 4);                                                                    \
        compare(what, got, expected, all, 1e-5);                                                                       \
        for (size_t n = all; n < all + 4; n++)                                                                         \
            if (got[n] == got[n])                                                                                      \
                printf("%s: it writes past its end\n", what);                                                          \
    } while (0)

static void check_results(void)
{
    static const struct {
        const char *name;
        const int *starts;
        size_t count, len;
    } packings[] = {{"two batches", NULL, 2, 5000},
                    {"packed", long_starts, 5, 4500},
                    {"packed and short", short_starts, 6, 9},
                    {"packed and empty", no_steps, 2, 0},
                    {"no step", NULL, 2, 0},
                    {"no batch", NULL, 0, 9}};
    for (int i = 0; i < 6 * 3 * 2; i++) {
        const int packing = i % 6, soft = i / 18;
        const enum linrec_dtype dtype = (enum linrec_dtype)(i / 6 % 3);
        const size_t count = packings[packing].count, len = packings[packing].len;
        const int *const of = packings[packing].starts;
        char what[80];
        snprintf(what, sizeof what, "scan, %s, type %d%s", packings[packing].name, (int)dtype,
                 soft ? ", softplus" : "");
        set_scan(dtype, 3, soft ? 130 : 2, len, soft, len > 100, of, count);
        scan.u = scan.B = scan.C = NULL;
        TRANSITION(scan, count * 3 * scan.states, selective_scan_transition(&scan, device, NULL));

        snprintf(what, sizeof what, "ssd, %s, type %d%s", packings[packing].name, (int)dtype, soft ? ", softplus" : "");
        set_ssd(dtype, soft ? 35 : 2, len, soft, len > 100, of, count);
        ssd.x = ssd.B = ssd.C = NULL;
        TRANSITION(ssd, count * ssd.heads, ssd_transition(&ssd, device, NULL));

        const size_t few = len > 100 ? 13 : len;
        static const int few_starts[] = {0, 0, 6, 7, 13, 13};
        for (int form = 0; form < 4; form++) { /* a decay for all or for each row, without and with W and Y */
            const size_t dk = form / 2 && soft ? 33 : 5, rank = form / 2 ? (soft ? 3 : 1) : 0;
            snprintf(what, sizeof what, "chunks, %s, type %d, %s, rank %zu", packings[packing].name, (int)dtype,
                     form % 2 ? "one decay" : "a decay for each row", rank);
            set_chunks(dtype, dk, rank, form % 2 ? 1 : dk, few, of == long_starts ? few_starts : of, count);
            chunks.h_local = NULL, chunks.dv = form % 2 ? 0 : 8;
            TRANSITION(chunks, count * chunks.heads * (rank != 0 ? dk * dk : chunks.decays),
                       chunk_state_transition(&chunks, device, NULL));
        }
    }
}

/* ---- stretches joined are one pass ---- */

/* How a transition multiplies a state of `heads` matrices of rows and columns. */
struct form {
    size_t heads, rows, columns, decays; /* decays: of a head; 0: a matrix, (rows, rows) */
};

/* The state behind a stretch, or with `back` the gradient before it: then a matrix is transposed. */
static double *carry_over(const struct form *form, const double *transition, const double *state, const double *own,
                          bool back)
{
    const size_t part = form->rows * form->columns, rows = form->rows;
    double *const next = malloc(form->heads * part * sizeof(double));
    for (size_t i = 0; i < form->heads * part; i++) {
        const size_t head = i / part, row = i % part / form->columns, column = i % form->columns;
        next[i] = own[i];
        if (form->decays != 0)
            next[i] += transition[head * form->decays + (form->decays == 1 ? 0 : row)] * state[i];
        for (size_t j = 0; j < rows && form->decays == 0; j++)
            next[i] += transition[(head * rows + (back ? j : row)) * rows + (back ? row : j)] *
                       state[head * part + j * form->columns + column];
    }
    return next;
}

/* An operation on a part of its time, which is the same for all arrays that have time: it ends in `final`, and writes
   `out`, and if there is one `transition`. */
typedef void part_function(size_t first, size_t count, const float *initial, float *final, float *out,
                           float *transition);

static void scan_part(size_t first, size_t count, const float *initial, float *final, float *out, float *transition)
{
    const size_t rows = scan.batch * scan.channels, len = scan.seq_len;
    struct linrec_selective_scan part = scan;
    part.seq_len = count, part.initial_state = initial, part.final_state = final, part.out = out;
    part.delta = part_of(&delta, rows, len, first, count), part.u = part_of(&u, rows, len, first, count);
    part.B = part_of(&B, scan.batch * scan.states, len, first, count);
    part.C = part_of(&C, scan.batch * scan.states, len, first, count);
    must(linrec_selective_scan_workspace(&part, LINREC_FORWARD, &part.workspace_bytes), "workspace");
    new_workspace(&part.workspace, part.workspace_bytes);
    must(linrec_selective_scan_forward(&part, NULL), "scan");
    if (transition != NULL)
        must(linrec_selective_scan_transition(&part, transition, NULL), "scan");
}

static void ssd_part(size_t first, size_t count, const float *initial, float *final, float *out, float *transition)
{
    struct linrec_ssd part = ssd;
    part.seq_len = count, part.initial_state = initial, part.final_state = final, part.out = out;
    part.dt = part_of(&delta, ssd.batch, ssd.seq_len, first, count);
    part.x = part_of(&u, ssd.batch, ssd.seq_len, first, count);
    part.B = part_of(&B, ssd.batch, ssd.seq_len, first, count);
    part.C = part_of(&C, ssd.batch, ssd.seq_len, first, count);
    must(linrec_ssd_workspace(&part, LINREC_FORWARD, &part.workspace_bytes), "workspace");
    new_workspace(&part.workspace, part.workspace_bytes);
    must(linrec_ssd_forward(&part, NULL), "ssd");
    if (transition != NULL)
        must(linrec_ssd_transition(&part, transition, NULL), "ssd");
}

static void chunks_part(size_t first, size_t count, const float *initial, float *final, float *out, float *transition)
{
    struct linrec_chunk_state part = chunks;
    part.chunks = count, part.initial_state = initial, part.final_state = final, part.h_out = out;
    part.gamma = part_of(&gamma_, chunks.batch, chunks.chunks, first, count);
    part.h_local = part_of(&local, chunks.batch, chunks.chunks, first, count);
    if (chunks.rank != 0) {
        part.W = part_of(&W, chunks.batch, chunks.chunks, first, count);
        part.Y = part_of(&Y, chunks.batch, chunks.chunks, first, count);
    }
    must(linrec_chunk_state_forward(&part, NULL), "chunks");
    if (transition != NULL)
        must(linrec_chunk_state_transition(&part, transition, NULL), "chunks");
}

/* Each stretch gives its transition and its own final state; the states before it are joined; it runs again from there.
   outer, len, inner: of the outputs. */
static void check_joined(const char *what, part_function *run, const struct form *form, size_t outer, size_t len,
                         size_t inner, size_t stretches)
{
    const size_t states = form->heads * form->rows * form->columns;
    const size_t transitions = form->heads * (form->decays != 0 ? form->decays : form->rows * form->rows);
    const struct array begin = array_of(LINREC_FLOAT32, states, -1, 1);
    struct array out = {LINREC_FLOAT32, outer * len * inner, NULL, device_room(outer * len * inner)};
    float *const final = device_room(states), *const transition = device_room(transitions);
    char where[128];
    run(0, len, begin.device, final, out.device, NULL);
    double *const end = fetch(final, states), *before = begin.value;
    for (size_t s = 0; s < stretches; s++) {
        const size_t first = len * s / stretches, count = len * (s + 1) / stretches - first;
        const size_t outputs = outer * count * inner;
        float *const part_out = device_room(outputs + 1);
        snprintf(where, sizeof where, "%s, stretch %zu of %zu", what, s + 1, stretches);
        run(first, count, NULL, final, part_out, transition); /* what a rank tells the others */
        double *const own = fetch(final, states);
        double *const after = carry_over(form, fetch(transition, transitions), before, own, false);
        run(first, count, to_device(before, states), final, part_out, NULL);
        compare(where, fetch(part_out, outputs), fetch(part_of(&out, outer, len, first, count), outputs), outputs,
                1e-4);
        compare(where, fetch(final, states), after, states, 1e-4);
        before = after;
    }
    snprintf(where, sizeof where, "%s, joined", what);
    compare(where, before, end, states, 1e-4);
}

/* Backward from this gradient of the final state. */
static void chunks_part_back(size_t first, size_t count, const struct array *d_out, const float *initial,
                             const float *d_final, float *d_initial, float *d_local, float *d_gamma)
{
    const size_t batch = chunks.batch, len = chunks.chunks, of_ranks = W.count / len * count;
    struct linrec_chunk_state part = chunks;
    part.chunks = count, part.initial_state = initial;
    part.gamma = part_of(&gamma_, batch, len, first, count), part.h_local = part_of(&local, batch, len, first, count);
    part.d_h_out = part_of(d_out, batch, len, first, count), part.d_final_state = d_final;
    part.d_initial_state = d_initial, part.d_h_local = d_local, part.d_gamma = d_gamma;
    if (chunks.rank != 0) {
        part.W = part_of(&W, batch, len, first, count), part.Y = part_of(&Y, batch, len, first, count);
        part.d_W = device_room(of_ranks), part.d_Y = device_room(of_ranks);
    }
    must(linrec_chunk_state_workspace(&part, LINREC_BACKWARD, &part.workspace_bytes), "workspace");
    new_workspace(&part.workspace, part.workspace_bytes);
    must(linrec_chunk_state_backward(&part, NULL), "chunks, backward");
}

/* As docs/library.md says: each stretch's d_initial_state by itself; from the last one on these are joined; each
   stretch goes back again from there. */
static void check_joined_back(const char *what, const struct form *form, size_t stretches)
{
    const size_t len = chunks.chunks, states = form->heads * form->rows * form->columns;
    const size_t transitions = form->heads * (form->decays != 0 ? form->decays : form->rows * form->rows);
    const struct array begin = array_of(LINREC_FLOAT32, states, -1, 1);
    const struct array d_out = array_of(LINREC_FLOAT32, local.count, -1, 1);
    struct array d_local = {LINREC_FLOAT32, local.count, NULL, device_room(local.count)};
    struct array d_gamma = {LINREC_FLOAT32, gamma_.count, NULL, device_room(gamma_.count)};
    float *const final = device_room(states), *const d_state = device_room(states);
    double *before[4] = {begin.value}, *transition[4], *d_own[4], *d_behind = calloc(states, sizeof(double));
    chunks_part_back(0, len, &d_out, begin.device, NULL, d_state, d_local.device, d_gamma.device);
    double *const d_begin = fetch(d_state, states);
    for (size_t s = 0; s < stretches; s++) {
        const size_t first = len * s / stretches, count = len * (s + 1) / stretches - first;
        float *const room = device_room(transitions);
        chunks_part(first, count, NULL, final, device_room(local.count), room);
        transition[s] = fetch(room, transitions);
        before[s + 1] = carry_over(form, transition[s], before[s], fetch(final, states), false);
        chunks_part_back(first, count, &d_out, to_device(before[s], states), NULL, d_state, device_room(local.count),
                         device_room(gamma_.count));
        d_own[s] = fetch(d_state, states);
    }
    for (size_t s = stretches; s-- > 0;) {
        const size_t first = len * s / stretches, count = len * (s + 1) / stretches - first;
        const size_t of_local = local.count / len * count, of_gamma = gamma_.count / len * count;
        float *const part_local = device_room(of_local), *const part_gamma = device_room(of_gamma);
        chunks_part_back(first, count, &d_out, to_device(before[s], states), to_device(d_behind, states), d_state,
                         part_local, part_gamma);
        compare(what, fetch(part_local, of_local), fetch(part_of(&d_local, chunks.batch, len, first, count), of_local),
                of_local, 1e-4);
        compare(what, fetch(part_gamma, of_gamma), fetch(part_of(&d_gamma, chunks.batch, len, first, count), of_gamma),
                of_gamma, 1e-4);
        d_behind = carry_over(form, transition[s], d_behind, d_own[s], true);
        compare(what, fetch(d_state, states), d_behind, states, 1e-4);
    }
    compare(what, d_behind, d_begin, states, 1e-4);
}

static void check_all_joined(void)
{
    for (size_t stretches = 2; stretches <= 3; stretches++) {
        set_scan(LINREC_FLOAT32, 3, 5, 50, true, false, NULL, 2);
        const struct form of_scan = {2 * 3 * 5, 1, 1, 1};
        check_joined("scan", scan_part, &of_scan, 2 * 3, 50, 1, stretches);
        set_ssd(LINREC_FLOAT32, 3, 50, true, false, NULL, 2);
        const struct form of_ssd = {2 * 3, 1, 12, 1};
        check_joined("ssd", ssd_part, &of_ssd, 2, 50, 3 * 4, stretches);
        for (int i = 0; i < 8; i++) {
            char what[64];
            const size_t decays = i & 1 ? 1 : 5, rank = i & 2 ? 2 : 0;
            snprintf(what, sizeof what, "chunks, %zu decays, rank %zu%s", decays, rank, i & 4 ? ", exclusive" : "");
            set_chunks(LINREC_FLOAT32, 5, rank, decays, 10, NULL, 2);
            chunks.exclusive = i & 4;
            const struct form form = {2 * 2, 5, 8, rank != 0 ? 0 : decays};
            check_joined(what, chunks_part, &form, 2, 10, 2 * 5 * 8, stretches);
            strcat(what, ", gradients");
            check_joined_back(what, &form, stretches);
        }
    }
}

/* ---- what is refused ---- */

static void check_errors(void)
{
    float *const t = device_room(4096);
    set_scan(LINREC_FLOAT32, 3, 5, 9, true, false, short_starts, 6);
#define CALL linrec_selective_scan_transition(&scan, t, NULL)
    EXPECT(CALL, LINREC_SUCCESS);
    EXPECT(linrec_selective_scan_transition(NULL, t, NULL), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_selective_scan_transition(&scan, NULL, NULL), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_selective_scan_transition(&scan, t + 1, NULL), LINREC_INVALID_ARGUMENT);
    WITH(scan, delta, NULL, CALL, LINREC_INVALID_ARGUMENT);
    WITH(scan, A, scan.A + 1, CALL, LINREC_INVALID_ARGUMENT);
    WITH(scan, states, 257, CALL, LINREC_INVALID_ARGUMENT);
    WITH(scan, batch, 2, CALL, LINREC_INVALID_ARGUMENT);
    WITH(scan, cu_seqlens, NULL, CALL, LINREC_INVALID_ARGUMENT);
    WITH(scan, channels, 0, linrec_selective_scan_transition(&scan, NULL, NULL), LINREC_SUCCESS);
#undef CALL
    set_ssd(LINREC_FLOAT32, 3, 9, true, false, short_starts, 6);
#define CALL linrec_ssd_transition(&ssd, t, NULL)
    EXPECT(CALL, LINREC_SUCCESS);
    EXPECT(linrec_ssd_transition(NULL, t, NULL), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_ssd_transition(&ssd, NULL, NULL), LINREC_INVALID_ARGUMENT);
    WITH(ssd, dt, (const char *)ssd.dt + 4, CALL, LINREC_INVALID_ARGUMENT);
    WITH(ssd, A, NULL, CALL, LINREC_INVALID_ARGUMENT);
    WITH(ssd, batch, 2, CALL, LINREC_INVALID_ARGUMENT);
    WITH(ssd, heads, 0, linrec_ssd_transition(&ssd, NULL, NULL), LINREC_SUCCESS);
#undef CALL
    for (size_t rank = 0; rank < 2; rank++) {
        set_chunks(LINREC_FLOAT32, 5, rank, 1, 9, short_starts, 6);
#define CALL linrec_chunk_state_transition(&chunks, t, NULL)
        EXPECT(CALL, LINREC_SUCCESS);
        EXPECT(linrec_chunk_state_transition(NULL, t, NULL), LINREC_INVALID_ARGUMENT);
        EXPECT(linrec_chunk_state_transition(&chunks, NULL, NULL), LINREC_INVALID_ARGUMENT);
        WITH(chunks, gamma, NULL, CALL, LINREC_INVALID_ARGUMENT);
        WITH(chunks, decays, 2, CALL, LINREC_INVALID_ARGUMENT);
        WITH(chunks, batch, 2, CALL, LINREC_INVALID_ARGUMENT);
        WITH(chunks, rank, 65, CALL, LINREC_INVALID_ARGUMENT);
        WITH(chunks, heads, 0, linrec_chunk_state_transition(&chunks, NULL, NULL), LINREC_SUCCESS);
    }
    WITH(chunks, Y, NULL, CALL, LINREC_INVALID_ARGUMENT);
#undef CALL

    /* what are no starts leads to no access outside the arrays */
    static const int no_starts[][7] = {{-9, 1 << 30, -1, 4, 2, 9, 8}, {9, 8, 7, 6, 5, 4, 3}};
    for (int i = 0; i < 2; i++) {
        const int *const wrong = starts_on_device(no_starts[i], 7);
        WITH(scan, cu_seqlens, wrong, linrec_selective_scan_transition(&scan, t, NULL), LINREC_SUCCESS);
        WITH(ssd, cu_seqlens, wrong, linrec_ssd_transition(&ssd, t, NULL), LINREC_SUCCESS);
        for (size_t rank = 0; rank < 2; rank++) {
            set_chunks(LINREC_FLOAT32, 5, rank, 1, 9, short_starts, 6);
            WITH(chunks, cu_seqlens, wrong, linrec_chunk_state_transition(&chunks, t, NULL), LINREC_SUCCESS);
        }
        must_cuda(cudaDeviceSynchronize());
    }
}

/* An error that was there before is neither returned nor cleared. */
static void check_before(void)
{
    float *const t = device_room(4096);
    set_chunks(LINREC_FLOAT32, 5, 1, 1, 9, short_starts, 6);
    set_ssd(LINREC_FLOAT32, 3, 9, true, false, short_starts, 6);
    set_scan(LINREC_FLOAT32, 3, 5, 9, true, false, short_starts, 6);
    const cudaError_t before = cudaSetDevice(99); /* there is none of that number */
    if (before == cudaSuccess)
        printf("there is a device 99\n");
    KEEPS(linrec_selective_scan_transition(&scan, t, NULL));
    KEEPS(linrec_ssd_transition(&ssd, t, NULL));
    KEEPS(linrec_chunk_state_transition(&chunks, t, NULL));
    cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
    static const struct named_check all[] = {
        {"results", check_results}, {"joined", check_all_joined}, {"errors", check_errors}, {"before", check_before}};
    return run_named(argc, argv, all, sizeof all / sizeof *all);
}
