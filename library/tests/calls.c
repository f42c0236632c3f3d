/* SPDX-License-Identifier: MIT */
/* calls.c - calls all functions of an installed liblinrec, for library.t:

       calls results | states | infinities | errors | before | threads | graph

   Writes one line for each thing that is wrong, and nothing if all is right. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "calls.h"

/* ---- arrays, here and on the device ---- */

struct array {
    const char *name;
    size_t count;
    double *value, *way; /* here; and a direction in which the gradient is tried */
    float *device;       /* value, or where an output is to come */
    float *d_device;     /* the gradient */
};

/* Values between `from` and `to`, the same here and on the device. */
static struct array input(const char *name, size_t count, double from, double to)
{
    struct array a = {name, count, malloc(count * sizeof(double)), malloc(count * sizeof(double)), NULL, NULL};
    float *const values = malloc(count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)(from + (to - from) * random_value());
        a.value[i] = values[i], a.way[i] = random_value() - 0.5;
    }
    a.device = device_room(count), a.d_device = device_room(count);
    must_cuda(cudaMemcpy(a.device, values, count * sizeof(float), cudaMemcpyHostToDevice));
    free(values);
    return a;
}

/* An output: its values here are what a loop has found, and `way` the gradient that is given with respect to it. */
static struct array output(const char *name, size_t count)
{
    struct array a = input(name, count, -1, 1);
    float *const given = malloc(count * sizeof(float));
    for (size_t i = 0; i < count; i++)
        given[i] = (float)a.way[i], a.way[i] = given[i];
    must_cuda(cudaMemcpy(a.d_device, given, count * sizeof(float), cudaMemcpyHostToDevice));
    must_cuda(cudaMemset(a.device, 0xFF, count * sizeof(float)));
    free(given);
    return a;
}

static float *fetch(const float *device, size_t count)
{
    float *const host = malloc(count * sizeof(float));
    must_cuda(cudaMemcpy(host, device, count * sizeof(float), cudaMemcpyDeviceToHost));
    return host;
}

/* Where sequences start, on the device. */
static const int *to_device(const int *numbers, size_t count)
{
    void *const room = device_room(count);
    must_cuda(cudaMemcpy(room, numbers, count * sizeof *numbers, cudaMemcpyHostToDevice));
    return room;
}

static void check_output(const char *what, const struct array *a)
{
    float *const got = fetch(a->device, a->count);
    size_t i = 0;
    while (i < a->count && fabs(got[i] - a->value[i]) <= 1e-5 * (1 + fabs(a->value[i])))
        i++;
    if (i < a->count)
        printf("%s: %s[%zu] is %g and not %g\n", what, a->name, i, (double)got[i], a->value[i]);
    free(got);
}

/* The gradient of each input along its way against the slope of the loss, which is the sum of all outputs times what is
   given with respect to them. `run` computes the outputs here. */
static double loss(void (*run)(void), struct array *const outputs[], int num_outputs)
{
    double sum = 0.0;
    run();
    for (int o = 0; o < num_outputs; o++)
        for (size_t i = 0; i < outputs[o]->count; i++)
            sum += outputs[o]->value[i] * outputs[o]->way[i];
    return sum;
}

static void check_gradients(const char *what, void (*run)(void), struct array *const inputs[], int num_inputs,
                            struct array *const outputs[], int num_outputs)
{
    const double step = 1e-4;
    for (int a = 0; a < num_inputs; a++) {
        double along[2], sum = 0.0, size = 0.0;
        for (int side = 0; side < 2; side++) {
            const double by = side == 0 ? -step : step;
            for (size_t i = 0; i < inputs[a]->count; i++)
                inputs[a]->value[i] += by * inputs[a]->way[i];
            along[side] = loss(run, outputs, num_outputs);
            for (size_t i = 0; i < inputs[a]->count; i++)
                inputs[a]->value[i] -= by * inputs[a]->way[i];
        }
        float *const gradient = fetch(inputs[a]->d_device, inputs[a]->count);
        for (size_t i = 0; i < inputs[a]->count; i++) {
            sum += gradient[i] * inputs[a]->way[i];
            size += fabs(gradient[i] * inputs[a]->way[i]);
        }
        const double slope = (along[1] - along[0]) / (2 * step);
        if (!(size > 0) || !(fabs(sum - slope) <= 1e-4 * size))
            printf("%s: the gradient of %s is %g along a way on which the slope is %g\n", what, inputs[a]->name, sum,
                   slope);
        free(gradient);
    }
}

/* ---- the recurrence ---- */

static struct linrec_recurrence recurrence;
static struct array x, c, y, begin, end;

static void run_recurrence(void)
{
    const size_t length = recurrence.seq_len;
    for (size_t seq = 0; seq < recurrence.num_seqs; seq++) {
        double state = recurrence.initial_state != NULL ? begin.value[seq] : 0.0;
        for (size_t l = 0; l < length; l++) {
            const size_t i = seq * length + (recurrence.reverse ? length - 1 - l : l);
            y.value[i] = state = state * c.value[i] + x.value[i];
        }
        end.value[seq] = state;
    }
}

static void set_recurrence(size_t num_seqs, size_t seq_len, bool reverse, bool states)
{
    recurrence = (struct linrec_recurrence){.num_seqs = num_seqs, .seq_len = seq_len, .reverse = reverse};
    must(linrec_recurrence_workspace(&recurrence, LINREC_BACKWARD, &recurrence.workspace_bytes), "workspace");
    new_workspace(&recurrence.workspace, recurrence.workspace_bytes);
    x = input("inputs", num_seqs * seq_len, -1, 1), c = input("coeffs", num_seqs * seq_len, 0.5, 1);
    y = output("outputs", num_seqs * seq_len);
    begin = input("initial_state", num_seqs, -1, 1), end = output("final_state", num_seqs);
    recurrence.inputs = x.device, recurrence.coeffs = c.device, recurrence.outputs = y.device;
    recurrence.d_outputs = y.d_device, recurrence.d_inputs = x.d_device, recurrence.d_coeffs = c.d_device;
    if (states) {
        recurrence.initial_state = begin.device, recurrence.d_initial_state = begin.d_device;
        recurrence.final_state = end.device, recurrence.d_final_state = end.d_device;
    }
}

/* Forward and backward, on sizes that other kernels take: short, long, a single tile, many. */
static void check_recurrence(bool states)
{
    static const size_t sizes[][2] = {{3, 100}, {2, 5000}, {1, 20001}, {70, 40}};
    struct array *const inputs[] = {&x, &c, &begin}, *const outputs[] = {&y, &end};
    for (int i = 0; i < 8; i++) {
        char what[64];
        snprintf(what, sizeof what, "recurrence, %zu x %zu%s", sizes[i / 2][0], sizes[i / 2][1],
                 i % 2 ? ", reversed" : "");
        set_recurrence(sizes[i / 2][0], sizes[i / 2][1], i % 2, states);
        must(linrec_recurrence_forward(&recurrence, NULL), what);
        must(linrec_recurrence_backward(&recurrence, NULL), what);
        run_recurrence();
        check_output(what, &y);
        if (states)
            check_output(what, &end);
        check_gradients(what, run_recurrence, inputs, states ? 3 : 2, outputs, states ? 2 : 1);
    }
}

/* An infinity at one place. From there on in the direction of time outputs are infinite, as the loop's; from the first
   product on that underflows, 0.5^150, they may be NaN, but not finite. Before it, and in other sequences, they are
   what they were without it. Backward the same of d_inputs, with time reversed. */
static void check_infinite(const char *what, const float *without, const float *with, size_t length, size_t seq,
                           size_t place, bool reverse)
{
    for (size_t i = 0; i < recurrence.num_seqs * length; i++) {
        const size_t l = i % length, behind = reverse ? place - l : l - place; /* huge: before it */
        const bool is_right = i / length != seq || behind >= length ? memcmp(with + i, without + i, sizeof *with) == 0
                              : behind < 150                        ? with[i] == (float)INFINITY
                                                                    : !isfinite(with[i]) && !(with[i] < 0);
        if (!is_right) {
            printf("%s, %zu steps behind an infinity: %g\n", what, behind, (double)with[i]);
            return;
        }
    }
}

static void check_infinities(void)
{
    static const size_t sizes[][2] = {{3, 300}, {2, 5000}, {1, 20001}, {70, 400}};
    const float infinity = (float)INFINITY;
    for (int i = 0; i < 8; i++) {
        const size_t num_seqs = sizes[i / 2][0], length = sizes[i / 2][1], seq = num_seqs / 2;
        const size_t place = length / 3, at = seq * length + place, count = num_seqs * length;
        char what[64];
        snprintf(what, sizeof what, "recurrence, %zu x %zu%s", num_seqs, length, i % 2 ? ", reversed" : "");
        set_recurrence(num_seqs, length, i % 2, false);
        float *const halves = malloc(count * sizeof(float));
        for (size_t l = 0; l < count; l++)
            halves[l] = 0.5f;
        must_cuda(cudaMemcpy(c.device, halves, count * sizeof(float), cudaMemcpyHostToDevice));
        must(linrec_recurrence_forward(&recurrence, NULL), what);
        must(linrec_recurrence_backward(&recurrence, NULL), what);
        const float *const y_without = fetch(y.device, count), *const d_without = fetch(x.d_device, count);
        must_cuda(cudaMemcpy(y.d_device + at, &infinity, sizeof infinity, cudaMemcpyHostToDevice));
        must(linrec_recurrence_backward(&recurrence, NULL), what);
        check_infinite("backward", d_without, fetch(x.d_device, count), length, seq, place, !recurrence.reverse);
        must_cuda(cudaMemcpy(x.device + at, &infinity, sizeof infinity, cudaMemcpyHostToDevice));
        must(linrec_recurrence_forward(&recurrence, NULL), what);
        check_infinite(what, y_without, fetch(y.device, count), length, seq, place, recurrence.reverse);
        free(halves);
    }
}

/* ---- the selective scan ---- */

static struct linrec_selective_scan scan;
static struct array u, delta, A, B, C, D, z, bias, out;

static void run_scan(void)
{
    const size_t S = scan.states, L = scan.seq_len, rows = scan.batch * scan.channels;
    memcpy(end.value, begin.value, end.count * sizeof *end.value);
    for (size_t row = 0; row < rows; row++) {
        const size_t b = row / scan.channels, d = row % scan.channels, g = d / (scan.channels / scan.groups);
        for (size_t l = 0; l < L; l++) {
            const size_t i = row * L + l, sequence = scan.cu_seqlens == NULL ? b : l < 5 ? 0 : l < 69 ? 2 : 3;
            double *const h = end.value + (sequence * scan.channels + d) * S;
            const double step = log1p(exp(delta.value[i] + bias.value[d]));
            double sum = D.value[d] * u.value[i];
            for (size_t n = 0; n < S; n++) {
                const size_t bc = ((b * scan.groups + g) * S + n) * L + l;
                h[n] = exp(step * A.value[d * S + n]) * h[n] + step * B.value[bc] * u.value[i];
                sum += C.value[bc] * h[n];
            }
            out.value[i] = sum * z.value[i] / (1 + exp(-z.value[i]));
        }
    }
}

static void set_scan(bool packed, size_t states)
{
    enum { CHANNELS = 4, GROUPS = 2, LENGTH = 300 };
    static const int starts[] = {0, 5, 5, 69, LENGTH};
    const size_t batch = packed ? 1 : 2, sequences = packed ? 4 : batch, all = batch * CHANNELS;
    scan = (struct linrec_selective_scan){.batch = batch,
                                          .channels = CHANNELS,
                                          .seq_len = LENGTH,
                                          .states = states,
                                          .groups = GROUPS,
                                          .dtype = LINREC_FLOAT32,
                                          .delta_softplus = true};
    if (packed)
        scan.cu_seqlens = to_device(starts, 5), scan.num_seqs = sequences;
    u = input("u", all * LENGTH, -1, 1), delta = input("delta", all * LENGTH, -2, 1);
    A = input("A", CHANNELS * states, -1, -0.1), D = input("D", CHANNELS, -1, 1), bias = input("bias", CHANNELS, -1, 1);
    B = input("B", batch * GROUPS * states * LENGTH, -1, 1), C = input("C", batch * GROUPS * states * LENGTH, -1, 1);
    z = input("z", all * LENGTH, -1, 1), out = output("out", all * LENGTH);
    begin = input("initial_state", sequences * CHANNELS * states, -1, 1);
    end = output("final_state", sequences * CHANNELS * states);
    scan.u = u.device, scan.delta = delta.device, scan.A = A.device, scan.B = B.device, scan.C = C.device;
    scan.D = D.device, scan.z = z.device, scan.delta_bias = bias.device, scan.initial_state = begin.device;
    scan.out = out.device, scan.final_state = end.device, scan.d_out = out.d_device;
    scan.d_final_state = end.d_device, scan.d_u = u.d_device, scan.d_delta = delta.d_device, scan.d_A = A.d_device;
    scan.d_B = B.d_device, scan.d_C = C.d_device, scan.d_D = D.d_device, scan.d_z = z.d_device;
    scan.d_delta_bias = bias.d_device, scan.d_initial_state = begin.d_device;
    must(linrec_selective_scan_workspace(&scan, LINREC_BACKWARD, &scan.workspace_bytes), "workspace");
    new_workspace(&scan.workspace, scan.workspace_bytes);
}

static void check_scan(void)
{
    struct array *const inputs[] = {&u, &delta, &A, &B, &C, &D, &z, &bias, &begin}, *const outputs[] = {&out, &end};
    for (int many = 0; many < 2; many++) { /* states in shared memory, or in registers */
        set_scan(true, many ? 70 : 3);
        must(linrec_selective_scan_forward(&scan, NULL), "selective scan, packed");
        must(linrec_selective_scan_backward(&scan, NULL), "selective scan, packed, backward");
        run_scan();
        check_output("selective scan, packed", &out);
        check_output("selective scan, packed", &end);
        check_gradients("selective scan, packed", run_scan, inputs, 9, outputs, 2);
    }
    set_scan(false, 3);
    must(linrec_selective_scan_forward(&scan, NULL), "selective scan, forward");
    must(linrec_selective_scan_backward(&scan, NULL), "selective scan, backward");
    run_scan();
    check_output("selective scan", &out);
    check_output("selective scan", &end);
    check_gradients("selective scan", run_scan, inputs, 9, outputs, 2);

    size_t small;
    must(linrec_selective_scan_small_workspace(&scan, LINREC_BACKWARD, &small), "small workspace");
    if (small >= scan.workspace_bytes)
        printf("selective scan: the small workspace has %zu bytes, the other one %zu\n", small, scan.workspace_bytes);
    scan.workspace_bytes = small;
    new_workspace(&scan.workspace, small);
    must(linrec_selective_scan_backward(&scan, NULL), "selective scan, backward with little memory");
    check_gradients("selective scan with little memory", run_scan, inputs, 9, outputs, 2);
}

/* What linrec.h says of workspaces, for sizes that are short, narrow, long or usual; nothing is launched. */
static void check_workspaces(void)
{
    static const size_t sizes[][5] = {{66000, 1, 1, 1, 1},   {66000, 1, 1, 16, 1},   {4096, 16, 1, 16, 2},
                                      {256, 2048, 1, 16, 1}, {32, 2048, 64, 17, 4},  {1, 1, 1000000, 16, 1},
                                      {8, 100, 3807, 17, 1}, {64, 64, 64, 64, 1},    {8, 2048, 2048, 16, 1},
                                      {8, 2048, 2048, 8, 1}, {1, 2048, 8192, 32, 1}, {1000, 100, 20, 256, 1}};
    for (int i = 0; i < 24; i++) {
        const size_t *const s = sizes[i / 2], element = i % 2 ? 2 : 4, u = s[0] * s[1] * s[2] * element;
        const size_t all_states = (s[3] + 15) / 16 * 16, all_channels = (s[1] / s[4] + 63) / 64 * 64 * s[4];
        const size_t bound = 64 * s[0] * all_channels * all_states;
        struct linrec_selective_scan of = {.batch = s[0], .channels = s[1], .seq_len = s[2], .states = s[3]};
        size_t fastest = 0, small = 0;
        of.groups = s[4], of.dtype = i % 2 ? LINREC_BFLOAT16 : LINREC_FLOAT32;
        must(linrec_selective_scan_workspace(&of, LINREC_BACKWARD, &fastest), "workspace");
        must(linrec_selective_scan_small_workspace(&of, LINREC_BACKWARD, &small), "small workspace");
        if (small > fastest || (small > u / 4 && small > bound))
            printf("%zu x %zu x %zu, %zu states: small %zu of %zu, u %zu, bound %zu\n", s[0], s[1], s[2], s[3], small,
                   fastest, u, bound);
        if (s[2] == 1 && fastest > bound) /* what steps would need, which does not run */
            printf("%zu x %zu x %zu, %zu states: %zu bytes, u %zu\n", s[0], s[1], s[2], s[3], fastest, u);
    }
}

/* ---- the chunk states ---- */

static struct linrec_chunk_state chunks;
static struct array local, gamma_, W, Y, h_out;
static const int *chunk_starts; /* of packed sequences, here */

static void run_chunks(void)
{
    const size_t K = chunks.dk, V = chunks.dv, R = chunks.rank, state = K * V;
    const bool packed = chunks.cu_seqlens != NULL;
    for (size_t bh = 0; bh < (packed ? chunks.num_seqs : chunks.batch) * chunks.heads; bh++) {
        const size_t seq = bh / chunks.heads, head = bh % chunks.heads;
        const size_t first = packed ? (size_t)chunk_starts[seq] : seq * chunks.chunks;
        const size_t last = packed ? (size_t)chunk_starts[seq + 1] : first + chunks.chunks;
        double *const h = end.value + bh * state;
        memcpy(h, begin.value + bh * state, state * sizeof *h);
        for (size_t k = first; k < last; k++) {
            const size_t at = k * chunks.heads + head;
            double *const result = h_out.value + at * state;
            if (chunks.exclusive)
                memcpy(result, h, state * sizeof *h);
            for (size_t v = 0; v < V; v++) {
                double products[8] = {0.0};
                for (size_t r = 0; r < R; r++)
                    for (size_t i = 0; i < K; i++)
                        products[r] += Y.value[(at * K + i) * R + r] * h[i * V + v];
                for (size_t i = 0; i < K; i++) {
                    h[i * V + v] *= gamma_.value[at * chunks.decays + (chunks.decays == 1 ? 0 : i)];
                    h[i * V + v] += local.value[at * state + i * V + v];
                    for (size_t r = 0; r < R; r++)
                        h[i * V + v] -= W.value[(at * K + i) * R + r] * products[r];
                }
            }
            if (!chunks.exclusive)
                memcpy(result, h, state * sizeof *h);
        }
    }
}

/* starts: of packed sequences, of which there are so many, or NULL */
static void set_chunks(size_t rank, size_t decays, bool exclusive, const int *starts, size_t num_seqs)
{
    enum { HEADS = 2, DK = 3, DV = 8 };
    const size_t batch = starts != NULL ? 1 : 2, of_batch = starts != NULL ? (size_t)starts[num_seqs] : 5;
    const size_t all = batch * of_batch * HEADS, states = (starts != NULL ? num_seqs : batch) * HEADS * DK * DV;
    chunk_starts = starts;
    chunks = (struct linrec_chunk_state){.batch = batch,
                                         .chunks = of_batch,
                                         .heads = HEADS,
                                         .dk = DK,
                                         .dv = DV,
                                         .rank = rank,
                                         .decays = decays,
                                         .dtype = LINREC_FLOAT32,
                                         .exclusive = exclusive};
    if (starts != NULL)
        chunks.cu_seqlens = to_device(starts, num_seqs + 1), chunks.num_seqs = num_seqs;
    local = input("h_local", all * DK * DV, -1, 1), gamma_ = input("gamma", all * decays, 0.5, 1);
    W = input("W", all * DK * (rank + 1), -1, 1), Y = input("Y", all * DK * (rank + 1), -1, 1);
    begin = input("initial_state", states, -1, 1);
    h_out = output("h_out", all * DK * DV), end = output("final_state", states);
    W.count = Y.count = all * DK * rank;
    chunks.h_local = local.device, chunks.gamma = gamma_.device, chunks.initial_state = begin.device;
    chunks.h_out = h_out.device, chunks.final_state = end.device, chunks.d_h_out = h_out.d_device;
    chunks.d_final_state = end.d_device, chunks.d_h_local = local.d_device, chunks.d_gamma = gamma_.d_device;
    chunks.d_initial_state = begin.d_device;
    if (rank != 0)
        chunks.W = W.device, chunks.Y = Y.device, chunks.d_W = W.d_device, chunks.d_Y = Y.d_device;
    must(linrec_chunk_state_workspace(&chunks, LINREC_BACKWARD, &chunks.workspace_bytes), "workspace");
    new_workspace(&chunks.workspace, chunks.workspace_bytes);
}

static void check_chunks(void)
{
    struct array *const inputs[] = {&local, &gamma_, &begin, &W, &Y}, *const outputs[] = {&h_out, &end};
    /* not packed; empty ones between others, at both ends; each has one chunk; one has all; none has any */
    static const int some[] = {0, 0, 3, 3, 4, 4, 4}, each[] = {0, 1, 2, 3}, one[] = {0, 4}, none[] = {0, 0, 0};
    static const struct {
        const char *name;
        const int *starts;
        size_t num_seqs;
    } packings[] = {{"", NULL, 0},
                    {", packed", some, 6},
                    {", of a chunk each", each, 3},
                    {", one", one, 1},
                    {", all empty", none, 2}};
    for (int i = 0; i < 4 * 5; i++) {
        char what[64];
        const int form = i % 4, packing = i / 4, num_inputs = form % 2 ? 5 : 3;
        snprintf(what, sizeof what, "chunk state%s%s%s", packings[packing].name, form % 2 ? ", W and Y" : "",
                 form / 2 ? ", exclusive" : "");
        set_chunks(form % 2 ? 2 : 0, form % 2 ? 1 : 3, form / 2, packings[packing].starts, packings[packing].num_seqs);
        must(linrec_chunk_state_forward(&chunks, NULL), what);
        must(linrec_chunk_state_backward(&chunks, NULL), what);
        run_chunks();
        check_output(what, &h_out);
        check_output(what, &end);
        if (chunks.chunks != 0)
            check_gradients(what, run_chunks, inputs, num_inputs, outputs, 2);
        else
            check_gradients(what, run_chunks, inputs + 2, 1, outputs, 2); /* of the states, which are all there is */
    }
    set_chunks(0, 3, false, NULL, 0);
    chunks.dtype = LINREC_BFLOAT16, chunks.chunks = 41;
    must(linrec_chunk_state_workspace(&chunks, LINREC_BACKWARD, &chunks.workspace_bytes), "workspace");
    if (chunks.workspace_bytes == 0 || chunks.workspace_bytes > local.count / 5 * 41 * 2 / 3)
        printf("chunk state: %zu bytes of workspace are more than a third of the states in 16 bits, or none\n",
               chunks.workspace_bytes);
}

/* ---- the layer of Mamba-2 ---- */

static struct linrec_ssd ssd;
static struct array dt;

static void run_ssd(void)
{
    const size_t L = ssd.seq_len, K = ssd.dk, V = ssd.dv;
    memcpy(end.value, begin.value, end.count * sizeof *end.value);
    for (size_t i = 0; i < ssd.batch * L * ssd.heads; i++) { /* a step of a head */
        const size_t head = i % ssd.heads, t = i / ssd.heads, b = t / L, g = head / (ssd.heads / ssd.groups);
        const size_t sequence = ssd.cu_seqlens == NULL ? b : t < 2 ? 0 : t < 70 ? 2 : 3;
        const double *const B_t = B.value + (t * ssd.groups + g) * K, *const C_t = C.value + (t * ssd.groups + g) * K;
        const double step = log1p(exp(dt.value[i] + bias.value[head])), decay = exp(step * A.value[head]);
        for (size_t v = 0; v < V; v++) {
            double *const h = end.value + ((sequence * ssd.heads + head) * V + v) * K;
            double sum = D.value[head] * u.value[i * V + v];
            for (size_t k = 0; k < K; k++) {
                h[k] = decay * h[k] + step * u.value[i * V + v] * B_t[k];
                sum += h[k] * C_t[k];
            }
            out.value[i * V + v] = sum * z.value[i * V + v] / (1 + exp(-z.value[i * V + v]));
        }
    }
}

static void set_ssd(bool packed)
{
    enum { LENGTH = 90, HEADS = 4, GROUPS = 2, DK = 5, DV = 3 };
    static const int starts[] = {0, 2, 2, 70, LENGTH};
    const size_t batch = packed ? 1 : 2, sequences = packed ? 4 : 2, all = batch * LENGTH * HEADS;
    ssd = (struct linrec_ssd){.batch = batch,
                              .seq_len = LENGTH,
                              .heads = HEADS,
                              .groups = GROUPS,
                              .dk = DK,
                              .dv = DV,
                              .dtype = LINREC_FLOAT32,
                              .dt_softplus = true};
    if (packed)
        ssd.cu_seqlens = to_device(starts, 5), ssd.num_seqs = sequences;
    u = input("x", all * DV, -1, 1), dt = input("dt", all, -2, 0);
    A = input("A", HEADS, -1, -0.1), D = input("D", HEADS, -1, 1), bias = input("dt_bias", HEADS, -1, 0);
    B = input("B", batch * LENGTH * GROUPS * DK, -1, 1), C = input("C", batch * LENGTH * GROUPS * DK, -1, 1);
    z = input("z", all * DV, -1, 1), out = output("out", all * DV);
    begin = input("initial_state", sequences * HEADS * DV * DK, -1, 1);
    end = output("final_state", sequences * HEADS * DV * DK);
    ssd.x = u.device, ssd.dt = dt.device, ssd.A = A.device, ssd.B = B.device, ssd.C = C.device, ssd.D = D.device;
    ssd.z = z.device, ssd.dt_bias = bias.device, ssd.initial_state = begin.device, ssd.out = out.device;
    ssd.final_state = end.device, ssd.d_out = out.d_device, ssd.d_final_state = end.d_device, ssd.d_x = u.d_device;
    ssd.d_dt = dt.d_device, ssd.d_A = A.d_device, ssd.d_B = B.d_device, ssd.d_C = C.d_device, ssd.d_D = D.d_device;
    ssd.d_z = z.d_device, ssd.d_dt_bias = bias.d_device, ssd.d_initial_state = begin.d_device;
    must(linrec_ssd_workspace(&ssd, LINREC_BACKWARD, &ssd.workspace_bytes), "workspace");
    new_workspace(&ssd.workspace, ssd.workspace_bytes);
}

static void check_ssd(void)
{
    struct array *const inputs[] = {&u, &dt, &A, &B, &C, &D, &z, &bias, &begin}, *const outputs[] = {&out, &end};
    for (int packed = 0; packed < 2; packed++) {
        const char *const what = packed ? "layer of Mamba-2, packed" : "layer of Mamba-2";
        set_ssd(packed);
        must(linrec_ssd_forward(&ssd, NULL), what);
        must(linrec_ssd_backward(&ssd, NULL), what);
        run_ssd();
        check_output(what, &out);
        check_output(what, &end);
        check_gradients(what, run_ssd, inputs, 9, outputs, 2);
    }
}

/* ---- what is refused ---- */

static void check_errors(void)
{
    static float on_host[4];
    size_t bytes;

    set_recurrence(2, 100, false, false);
#define FORWARD linrec_recurrence_forward(&recurrence, NULL)
#define BACKWARD linrec_recurrence_backward(&recurrence, NULL)
    EXPECT(FORWARD, LINREC_SUCCESS);
    EXPECT(BACKWARD, LINREC_SUCCESS);
    EXPECT(linrec_recurrence_forward(NULL, NULL), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_recurrence_backward(NULL, NULL), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_recurrence_workspace(NULL, LINREC_FORWARD, &bytes), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_recurrence_workspace(&recurrence, LINREC_FORWARD, NULL), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_recurrence_workspace(&recurrence, (enum linrec_pass)2, &bytes), LINREC_INVALID_ARGUMENT);
    WITH(recurrence, inputs, NULL, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(recurrence, coeffs, recurrence.coeffs + 1, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(recurrence, outputs, NULL, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(recurrence, d_coeffs, recurrence.d_coeffs + 2, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(recurrence, d_initial_state, begin.d_device, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(recurrence, num_seqs, SIZE_MAX / 2, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(recurrence, num_seqs, SIZE_MAX / 2, linrec_recurrence_workspace(&recurrence, LINREC_FORWARD, &bytes),
         LINREC_INVALID_ARGUMENT);
    WITH(recurrence, num_seqs, 0, FORWARD, LINREC_SUCCESS);
    WITH(recurrence, seq_len, 0, BACKWARD, LINREC_SUCCESS);
    set_recurrence(1, 20000, false, false); /* few and long: such sizes need a workspace */
    EXPECT(FORWARD, LINREC_SUCCESS);
    WITH(recurrence, workspace, NULL, FORWARD, LINREC_WORKSPACE_TOO_SMALL);
    WITH(recurrence, workspace_bytes, recurrence.workspace_bytes - 1, BACKWARD, LINREC_WORKSPACE_TOO_SMALL);
    WITH(recurrence, workspace, (char *)recurrence.workspace + 4, FORWARD, LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_workspace_init(NULL, 16, NULL), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_workspace_init(NULL, 0, NULL), LINREC_SUCCESS);
    EXPECT(linrec_workspace_init((char *)recurrence.workspace + 4, 4, NULL), LINREC_INVALID_ARGUMENT);
#undef FORWARD
#undef BACKWARD

    set_scan(false, 3);
#define FORWARD linrec_selective_scan_forward(&scan, NULL)
#define BACKWARD linrec_selective_scan_backward(&scan, NULL)
    EXPECT(linrec_selective_scan_forward(NULL, NULL), LINREC_INVALID_ARGUMENT);
    WITH(scan, groups, 3, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(scan, states, 257, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(scan, states, 0, linrec_selective_scan_workspace(&scan, LINREC_BACKWARD, &bytes), LINREC_INVALID_ARGUMENT);
    WITH(scan, dtype, (enum linrec_dtype)3, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(scan, z, (const char *)scan.z + 8, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(scan, d_z, NULL, BACKWARD, LINREC_INVALID_ARGUMENT);
    must(linrec_selective_scan_small_workspace(&scan, LINREC_BACKWARD, &bytes), "small workspace");
    WITH(scan, workspace_bytes, bytes, BACKWARD, LINREC_SUCCESS);
    WITH(scan, workspace_bytes, bytes - 1, BACKWARD, LINREC_WORKSPACE_TOO_SMALL);
    WITH(scan, workspace, NULL, BACKWARD, LINREC_WORKSPACE_TOO_SMALL);
    WITH(scan, workspace, (char *)scan.workspace + 4, BACKWARD, LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_selective_scan_small_workspace(&scan, LINREC_BACKWARD, NULL), LINREC_INVALID_ARGUMENT);
    WITH(scan, seq_len, 0, BACKWARD, LINREC_SUCCESS);
    WITH(scan, num_seqs, 2, FORWARD, LINREC_INVALID_ARGUMENT);                     /* packed sequences, and where? */
    WITH(scan, cu_seqlens, (const int *)scan.A, FORWARD, LINREC_INVALID_ARGUMENT); /* a batch of 2 */
    set_scan(true, 3);
    EXPECT(FORWARD, LINREC_SUCCESS);
    EXPECT(BACKWARD, LINREC_SUCCESS);
    must(linrec_selective_scan_workspace(&scan, LINREC_BACKWARD, &bytes), "workspace");
    WITH(scan, workspace_bytes, bytes - 1, BACKWARD, LINREC_WORKSPACE_TOO_SMALL);
    WITH(scan, num_seqs, 0, FORWARD, LINREC_INVALID_ARGUMENT); /* steps of no sequence */
    static const int no_starts[] = {-5, 1 << 30};              /* lead to no access outside the arrays */
    must_cuda(cudaMemcpy((void *)scan.cu_seqlens, no_starts, sizeof no_starts, cudaMemcpyHostToDevice));
    WITH(scan, num_seqs, 1, FORWARD, LINREC_SUCCESS);
    WITH(scan, num_seqs, 1, BACKWARD, LINREC_SUCCESS);
    WITH(scan, cu_seqlens, (const int *)((const char *)scan.cu_seqlens + 2), FORWARD, LINREC_INVALID_ARGUMENT);
#undef FORWARD
#undef BACKWARD

    set_chunks(2, 1, false, NULL, 0);
#define FORWARD linrec_chunk_state_forward(&chunks, NULL)
#define BACKWARD linrec_chunk_state_backward(&chunks, NULL)
    EXPECT(linrec_chunk_state_backward(NULL, NULL), LINREC_INVALID_ARGUMENT);
    WITH(chunks, decays, 2, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(chunks, rank, 65, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(chunks, rank, 65, linrec_chunk_state_workspace(&chunks, LINREC_FORWARD, &bytes), LINREC_INVALID_ARGUMENT);
    WITH(chunks, dk, 257, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(chunks, Y, NULL, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(chunks, d_h_local, NULL, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(chunks, workspace_bytes, chunks.workspace_bytes - 1, BACKWARD, LINREC_WORKSPACE_TOO_SMALL);
    WITH(chunks, workspace, (char *)chunks.workspace + 8, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(chunks, batch, 0, FORWARD, LINREC_SUCCESS);
    WITH(chunks, num_seqs, 2, FORWARD, LINREC_INVALID_ARGUMENT);                           /* packed, and where? */
    WITH(chunks, cu_seqlens, (const int *)chunks.gamma, FORWARD, LINREC_INVALID_ARGUMENT); /* and a batch of 2 */
    for (int i = 0; i < 8; i++) {
        /* what are no starts leads to no access outside the arrays */
        static const int no_starts[][3] = {{-5, 1 << 30, -3}, {4, 2, 0}, {3, 3, 9}, {-2147483647 - 1, 0, 2147483647}};
        static const int starts[] = {0, 1, 4};
        set_chunks(i % 2 ? 2 : 0, 1, i / 4, starts, 2);
        EXPECT(FORWARD, LINREC_SUCCESS);
        EXPECT(BACKWARD, LINREC_SUCCESS);
        WITH(chunks, num_seqs, 0, FORWARD, LINREC_INVALID_ARGUMENT); /* chunks of no sequence */
        WITH(chunks, dk, 257, FORWARD, LINREC_INVALID_ARGUMENT);
        WITH(chunks, cu_seqlens, (const int *)((const char *)chunks.cu_seqlens + 2), FORWARD, LINREC_INVALID_ARGUMENT);
        must_cuda(cudaMemcpy((void *)chunks.cu_seqlens, no_starts[i / 2], sizeof *no_starts, cudaMemcpyHostToDevice));
        EXPECT(FORWARD, LINREC_SUCCESS);
        EXPECT(BACKWARD, LINREC_SUCCESS);
        must_cuda(cudaDeviceSynchronize());
    }
#undef FORWARD
#undef BACKWARD

    set_ssd(false);
#define FORWARD linrec_ssd_forward(&ssd, NULL)
#define BACKWARD linrec_ssd_backward(&ssd, NULL)
    EXPECT(linrec_ssd_forward(NULL, NULL), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_ssd_workspace(&ssd, LINREC_BACKWARD, NULL), LINREC_INVALID_ARGUMENT);
    WITH(ssd, groups, 3, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(ssd, dk, 257, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(ssd, dk, 0, linrec_ssd_workspace(&ssd, LINREC_BACKWARD, &bytes), LINREC_INVALID_ARGUMENT);
    WITH(ssd, seq_len, SIZE_MAX / 8, linrec_ssd_workspace(&ssd, LINREC_BACKWARD, &bytes), LINREC_INVALID_ARGUMENT);
    WITH(ssd, dtype, (enum linrec_dtype)3, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(ssd, B, NULL, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(ssd, cu_seqlens, (const int *)ssd.dt, FORWARD, LINREC_INVALID_ARGUMENT); /* packed, and two batches */
    WITH(ssd, d_z, NULL, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(ssd, d_B, (char *)ssd.d_B + 4, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(ssd, workspace, (char *)ssd.workspace + 4, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(ssd, workspace_bytes, ssd.workspace_bytes - 1, BACKWARD, LINREC_WORKSPACE_TOO_SMALL);
    WITH(ssd, seq_len, 0, BACKWARD, LINREC_SUCCESS);
    WITH(ssd, heads, 0, FORWARD, LINREC_SUCCESS);
#undef FORWARD
#undef BACKWARD

    /* every status has a text of its own, those of CUDA have CUDA's */
    for (int a = LINREC_SUCCESS; a <= LINREC_NOT_SUPPORTED + 1; a++)
        for (int b = LINREC_SUCCESS; b < a; b++)
            if (strcmp(linrec_strerror(a), linrec_strerror(b)) == 0)
                printf("statuses %d and %d have one text\n", a, b);
    if (strcmp(linrec_strerror(LINREC_CUDA_ERROR + cudaErrorMemoryAllocation),
               cudaGetErrorString(cudaErrorMemoryAllocation)) != 0)
        printf("CUDA's errors have other texts\n");
    if (linrec_cuda_error(LINREC_CUDA_ERROR + cudaErrorMemoryAllocation) != cudaErrorMemoryAllocation ||
        linrec_cuda_error(LINREC_NOT_SUPPORTED) != cudaSuccess)
        printf("linrec_cuda_error gives back another error\n");
    if (linrec_version() != 10000 * LINREC_VERSION_MAJOR + 100 * LINREC_VERSION_MINOR + LINREC_VERSION_PATCH)
        printf("linrec_version is %d\n", linrec_version());
#ifdef CUSIM /* there memory of the host is known as such, and nothing else happens to the device */
    EXPECT(linrec_workspace_init(on_host, sizeof on_host, NULL), LINREC_INVALID_ARGUMENT);
#endif
    (void)on_host;
    must_cuda(cudaDeviceSynchronize());
}

/* ---- somebody else's error ---- */

static void check_before(void)
{
    set_recurrence(2, 5000, false, false);
    set_scan(false, 3);
    set_chunks(2, 1, false, NULL, 0);
    set_ssd(false);
    const cudaError_t before = cudaSetDevice(99); /* there is none of that number */
    if (before == cudaSuccess)
        printf("there is a device 99\n");
    KEEPS(linrec_recurrence_forward(&recurrence, NULL));
    KEEPS(linrec_recurrence_backward(&recurrence, NULL));
    KEEPS(linrec_selective_scan_forward(&scan, NULL));
    KEEPS(linrec_selective_scan_backward(&scan, NULL));
    KEEPS(linrec_chunk_state_forward(&chunks, NULL));
    KEEPS(linrec_chunk_state_backward(&chunks, NULL));
    KEEPS(linrec_ssd_forward(&ssd, NULL));
    KEEPS(linrec_ssd_backward(&ssd, NULL));
    KEEPS(linrec_workspace_init(scan.workspace, scan.workspace_bytes, NULL));
    cudaDeviceSynchronize();
}

/* ---- several host threads ---- */

enum { THREADS = 4, LENGTH = 3000, CALLS = 40 };

struct job {
    struct linrec_recurrence recurrence;
    cudaStream_t stream;
    float result[LENGTH];
};

static void *work(void *argument)
{
    struct job *const job = argument;
    for (int i = 0; i < CALLS; i++) {
        must_cuda(cudaMemset(job->recurrence.outputs, 0xFF, LENGTH * sizeof(float)));
        must_cuda(cudaDeviceSynchronize());
        must(linrec_recurrence_forward(&job->recurrence, job->stream), "in a thread");
        must_cuda(cudaStreamSynchronize(job->stream));
        must_cuda(cudaMemcpy(job->result, job->recurrence.outputs, LENGTH * sizeof(float), cudaMemcpyDeviceToHost));
    }
    return NULL;
}

static void check_threads(void)
{
    static struct job jobs[THREADS];
    static float alone[THREADS][LENGTH];
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        set_recurrence(1, LENGTH, t % 2, false);
        jobs[t].recurrence = recurrence;
        must_cuda(cudaStreamCreateWithFlags(&jobs[t].stream, cudaStreamNonBlocking));
        work(&jobs[t]);
        memcpy(alone[t], jobs[t].result, sizeof alone[t]);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, work, &jobs[t]);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++)
        if (memcmp(alone[t], jobs[t].result, sizeof alone[t]) != 0)
            printf("thread %d has found something else than it did alone\n", t);
}

/* ---- a graph: captured once, replayed with other data ---- */

static void check_graph(void)
{
#ifdef CUSIM
    printf("there are no graphs on the simulator\n");
#else
    static const size_t sizes[][2] = {{3, 100}, {2, 5000}, {1, 3000000}};
    struct array *const inputs[] = {&x, &c}, *const outputs[] = {&y};
    cudaStream_t stream;
    must_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 3; i++) {
        cudaGraph_t graph;
        cudaGraphExec_t replayed;
        char what[64];
        snprintf(what, sizeof what, "graph, %zu x %zu", sizes[i][0], sizes[i][1]);
        set_recurrence(sizes[i][0], sizes[i][1], false, false);
        must_cuda(cudaDeviceSynchronize());
        must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        must(linrec_workspace_init(recurrence.workspace, recurrence.workspace_bytes, stream), what);
        must(linrec_recurrence_forward(&recurrence, stream), what);
        must(linrec_recurrence_backward(&recurrence, stream), what);
        must_cuda(cudaStreamEndCapture(stream, &graph));
        must_cuda(cudaGraphInstantiate(&replayed, graph, 0));
        for (int replay = 0; replay < 3; replay++) {
            const struct array fresh = input("inputs", x.count, -1, 1);
            must_cuda(cudaMemcpy(x.device, fresh.device, x.count * sizeof(float), cudaMemcpyDeviceToDevice));
            memcpy(x.value, fresh.value, x.count * sizeof *x.value);
            must_cuda(cudaMemset(y.device, 0xFF, y.count * sizeof(float)));
            must_cuda(cudaMemset(c.d_device, 0xFF, c.count * sizeof(float)));
            must_cuda(cudaDeviceSynchronize());
            must_cuda(cudaGraphLaunch(replayed, stream));
            must_cuda(cudaStreamSynchronize(stream));
            run_recurrence();
            check_output(what, &y);
            check_gradients(what, run_recurrence, inputs, 2, outputs, 1);
        }
    }
    for (int i = 0; i < 2; i++) { /* the other operations, captured, against themselves */
        cudaGraph_t graph;
        cudaGraphExec_t replayed;
        set_scan(false, 3);
        struct array *const scan_inputs[] = {&u, &delta, &A, &B, &C, &D, &z, &bias, &begin};
        struct array *const scan_outputs[] = {&out, &end};
        struct array *const chunk_inputs[] = {&local, &gamma_, &begin, &W, &Y};
        struct array *const chunk_outputs[] = {&h_out, &end};
        if (i == 1)
            set_chunks(2, 1, false, NULL, 0);
        must_cuda(cudaDeviceSynchronize());
        must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        must(i == 0 ? linrec_selective_scan_forward(&scan, stream) : linrec_chunk_state_forward(&chunks, stream),
             "graph");
        must(i == 0 ? linrec_selective_scan_backward(&scan, stream) : linrec_chunk_state_backward(&chunks, stream),
             "graph");
        must_cuda(cudaStreamEndCapture(stream, &graph));
        must_cuda(cudaGraphInstantiate(&replayed, graph, 0));
        must_cuda(cudaGraphLaunch(replayed, stream));
        must_cuda(cudaStreamSynchronize(stream));
        (i == 0 ? run_scan : run_chunks)();
        check_output("graph", i == 0 ? &out : &h_out);
        check_output("graph", &end);
        check_gradients("graph", i == 0 ? run_scan : run_chunks, i == 0 ? scan_inputs : chunk_inputs, i == 0 ? 9 : 5,
                        i == 0 ? scan_outputs : chunk_outputs, 2);
    }
#endif
}

int main(int argc, char **argv)
{
    const char *const what = argc == 2 ? argv[1] : "";
    if (strcmp(what, "results") == 0) {
        check_recurrence(false);
        check_scan();
        check_workspaces();
        check_chunks();
        check_ssd();
    } else if (strcmp(what, "states") == 0)
        check_recurrence(true);
    else if (strcmp(what, "infinities") == 0)
        check_infinities();
    else if (strcmp(what, "errors") == 0)
        check_errors();
    else if (strcmp(what, "before") == 0)
        check_before();
    else if (strcmp(what, "threads") == 0)
        check_threads();
    else if (strcmp(what, "graph") == 0)
        check_graph();
    else {
        fprintf(stderr, "usage: calls results | states | infinities | errors | before | threads | graph\n");
        return 2;
    }
    return 0;
}
