/* SPDX-License-Identifier: MIT */
/* steps.c - calls the steps of the layers of an installed liblinrec, for library.t:

       steps results | errors | before | graph

   Writes one line for each thing that is wrong, and nothing if all is right. Numbers are multiples of 1/64, which
   float32 and bf16 hold as they are. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "calls.h"

/* ---- arrays whose rows may lie apart ---- */

struct array {
    enum linrec_dtype dtype;
    size_t rows, width, by; /* by: elements from one row to the next */
    double *value;          /* here, without gaps: what the device has, or is to have */
    char *device;           /* its first element */
};

static size_t bytes_of(const struct array *a)
{
    return a->dtype == LINREC_FLOAT32 ? 4 : 2;
}

static double element_of(const struct array *a, const char *bytes, size_t i)
{
    uint32_t bits = 0;
    float value;
    memcpy((char *)&bits + 4 - bytes_of(a), bytes + i * bytes_of(a), bytes_of(a)); /* bf16: the upper half */
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* All bits set but for its rows, which hold numbers between `from` and `to`; an output's are all bits set, too. */
static struct array new_array(enum linrec_dtype dtype, size_t rows, size_t width, size_t gap, double from, double to)
{
    struct array a = {dtype, rows, width, width + gap, calloc(rows * width, sizeof(double)), NULL};
    const size_t room = (rows * a.by + gap) * bytes_of(&a);
    char *const bytes = malloc(room);
    memset(bytes, 0xFF, room);
    for (size_t i = 0; i < rows * width && from < to; i++) {
        const float value = (float)(floor((from + (to - from) * random_value()) * 64) / 64);
        a.value[i] = value;
        memcpy(bytes + (i / width * a.by + i % width + gap) * bytes_of(&a), (const char *)&value + 4 - bytes_of(&a),
               bytes_of(&a));
    }
    a.device = (char *)device_room((room + 3) / 4);
    must_cuda(cudaMemcpy(a.device, bytes, room, cudaMemcpyHostToDevice));
    a.device += gap * bytes_of(&a);
    free(bytes);
    return a;
}

/* Compares all rows, but those of which `left_out` says that they are as they were, all bits set. */
static void check(const char *what, const char *name, const struct array *a, const bool *left_out)
{
    const size_t gap = a->by - a->width, room = a->rows * a->by * bytes_of(a);
    const double rounding = a->dtype == LINREC_FLOAT32 ? 0x1p-15 : 0x1p-8;
    char *const bytes = malloc(room);
    must_cuda(cudaMemcpy(bytes, a->device - gap * bytes_of(a), room, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < a->rows * a->by; i++) {
        const size_t row = i / a->by, column = i % a->by - gap;
        const double got = element_of(a, bytes, i);
        const bool untouched = i % a->by < gap || (left_out != NULL && left_out[row]);
        const double must_be = untouched ? NAN : a->value[row * a->width + column];
        if (untouched ? !isnan(got) : !(fabs(got - must_be) <= rounding * (1 + fabs(must_be)))) {
            printf("%s: row %zu, element %zu of %s is %g, and not %g\n", what, row, column, name, got, must_be);
            break;
        }
    }
    free(bytes);
}

/* ---- slots ---- */

enum { ROWS = 6, SLOTS = 8 };
static const int some_slots[ROWS] = {6, 0, -1, SLOTS, 3, 7};
static bool no_slot[ROWS];

/* On the device; NULL: row b has slot b. */
static const int *new_slots(bool some)
{
    int *device = NULL;
    for (int b = 0; b < ROWS; b++)
        no_slot[b] = some && (some_slots[b] < 0 || some_slots[b] >= SLOTS);
    if (some) {
        must_cuda(cudaMalloc((void **)&device, sizeof some_slots));
        must_cuda(cudaMemcpy(device, some_slots, sizeof some_slots, cudaMemcpyHostToDevice));
    }
    return device;
}

static size_t slot_of(bool some, size_t row)
{
    return some ? (size_t)some_slots[row] : row;
}

/* ---- the selective scan's step ---- */

static struct linrec_selective_step selective;
static struct array u, delta, A, B, C, D, z, bias, out, state;

static void set_selective(enum linrec_dtype dtype, size_t states, bool some, bool options, size_t gap)
{
    enum { CHANNELS = 6, GROUPS = 2 };
    u = new_array(dtype, ROWS, CHANNELS, gap, -1, 1), delta = new_array(dtype, ROWS, CHANNELS, 2 * gap, 0, 1);
    A = new_array(LINREC_FLOAT32, CHANNELS, states, 0, -2, 0);
    B = new_array(dtype, ROWS, GROUPS * states, gap, -1, 1), C = new_array(dtype, ROWS, GROUPS * states, gap, -1, 1);
    D = new_array(LINREC_FLOAT32, 1, CHANNELS, 0, -1, 1), bias = new_array(LINREC_FLOAT32, 1, CHANNELS, 0, -1, 1);
    z = new_array(dtype, ROWS, CHANNELS, gap, -1, 1), out = new_array(dtype, ROWS, CHANNELS, 3 * gap, 0, 0);
    state = new_array(LINREC_FLOAT32, SLOTS, CHANNELS * states, 0, -1, 1);
    selective = (struct linrec_selective_step){.batch = ROWS,
                                               .channels = CHANNELS,
                                               .states = states,
                                               .groups = GROUPS,
                                               .num_slots = SLOTS,
                                               .slots = new_slots(some),
                                               .dtype = dtype,
                                               .delta_softplus = options,
                                               .u = u.device,
                                               .delta = delta.device,
                                               .A = (const float *)A.device,
                                               .B = B.device,
                                               .C = C.device,
                                               .D = options ? (const float *)D.device : NULL,
                                               .z = options ? z.device : NULL,
                                               .delta_bias = options ? (const float *)bias.device : NULL,
                                               .out = out.device,
                                               .state = (float *)state.device};
    if (gap != 0)
        selective.u_by = u.by, selective.delta_by = delta.by, selective.B_by = B.by, selective.C_by = C.by,
        selective.z_by = z.by, selective.out_by = out.by;
}

static void check_selective(const char *what)
{
    const size_t states = selective.states, channels = selective.channels, groups = selective.groups;
    for (size_t i = 0; i < ROWS * channels; i++) {
        const size_t b = i / channels, d = i % channels, g = d / (channels / groups);
        const double added = delta.value[i] + (selective.delta_bias != NULL ? bias.value[d] : 0);
        const double step = selective.delta_softplus ? log1p(exp(added)) : added;
        double y = selective.D != NULL ? D.value[d] * u.value[i] : 0;
        for (size_t n = 0; n < states && !no_slot[b]; n++) {
            const size_t of_group = (b * groups + g) * states + n;
            double *const h = &state.value[(slot_of(selective.slots != NULL, b) * channels + d) * states + n];
            *h = exp(step * A.value[d * states + n]) * *h + step * B.value[of_group] * u.value[i];
            y += C.value[of_group] * *h;
        }
        out.value[i] = selective.z != NULL ? y * z.value[i] / (1 + exp(-z.value[i])) : y;
    }
    check(what, "state", &state, NULL);
    check(what, "out", &out, no_slot);
}

/* ---- the chunk states' step ---- */

static struct linrec_chunk_step chunk;
static struct array q, k, v, gamma_, W, Y, chunk_out, chunk_state;

static void set_chunk(enum linrec_dtype dtype, size_t dk, size_t dv, bool some, bool options, size_t gap)
{
    enum { HEADS = 3 };
    const size_t decays = options ? dk : 1;
    q = new_array(dtype, ROWS, HEADS * dk, gap, -1, 1), k = new_array(dtype, ROWS, HEADS * dk, gap, -1, 1);
    v = new_array(dtype, ROWS, HEADS * dv, 2 * gap, -1, 1);
    chunk_out = new_array(dtype, ROWS, HEADS * dv, 3 * gap, 0, 0);
    W = new_array(dtype, ROWS, HEADS * dk, gap, -1, 1), Y = new_array(dtype, ROWS, HEADS * dk, 4 * gap, -1, 1);
    gamma_ = new_array(LINREC_FLOAT32, ROWS, HEADS * decays, gap, 0, 1);
    chunk_state = new_array(LINREC_FLOAT32, SLOTS, HEADS * dk * dv, 0, -1, 1);
    chunk = (struct linrec_chunk_step){.batch = ROWS,
                                       .heads = HEADS,
                                       .dk = dk,
                                       .dv = dv,
                                       .num_slots = SLOTS,
                                       .decays = decays,
                                       .slots = new_slots(some),
                                       .dtype = dtype,
                                       .q = q.device,
                                       .k = k.device,
                                       .v = v.device,
                                       .gamma = (const float *)gamma_.device,
                                       .W = options ? W.device : NULL,
                                       .Y = options ? Y.device : NULL,
                                       .out = chunk_out.device,
                                       .state = (float *)chunk_state.device};
    if (gap != 0)
        chunk.q_by = q.by, chunk.k_by = k.by, chunk.v_by = v.by, chunk.gamma_by = gamma_.by, chunk.W_by = W.by,
        chunk.Y_by = Y.by, chunk.out_by = chunk_out.by;
}

static void check_chunk(const char *what)
{
    const size_t dk = chunk.dk, dv = chunk.dv, heads = chunk.heads;
    for (size_t i = 0; i < ROWS * heads * dv; i++) {
        const size_t b = i / dv / heads, at = i / dv * dk; /* of row and head */
        if (no_slot[b])
            continue;
        const size_t slot = slot_of(chunk.slots != NULL, b);
        double *const h = chunk_state.value + (slot * heads + i / dv % heads) * dk * dv + i % dv;
        double p = 0, sum = 0;
        for (size_t n = 0; n < dk && chunk.W != NULL; n++)
            p += Y.value[at + n] * h[n * dv];
        for (size_t n = 0; n < dk; n++) {
            const double decay = gamma_.value[chunk.decays == 1 ? i / dv : at + n];
            h[n * dv] = decay * h[n * dv] + k.value[at + n] * v.value[i] - (chunk.W != NULL ? W.value[at + n] * p : 0);
            sum += q.value[at + n] * h[n * dv];
        }
        chunk_out.value[i] = sum;
    }
    check(what, "state", &chunk_state, NULL);
    check(what, "out", &chunk_out, no_slot);
}

/* ---- results: all options and none, rows side by side and apart ---- */

static void check_results(void)
{
    static const size_t some_states[] = {1, 3, 16, 36, 256};
    for (int i = 0; i < 5 * 16; i++) {
        char what[96];
        const size_t states = some_states[i / 16];
        snprintf(what, sizeof what, "selective step, %zu states, %s%s%s%s", states, i & 1 ? "bf16" : "float32",
                 i & 2 ? ", slots" : "", i & 4 ? ", all options" : "", i & 8 ? ", rows apart" : "");
        set_selective(i & 1 ? LINREC_BFLOAT16 : LINREC_FLOAT32, states, i & 2, i & 4, i & 8 ? 1 + (size_t)i % 4 : 0);
        must(linrec_selective_scan_step(&selective, NULL), what);
        check_selective(what);
    }
    static const size_t shapes[][2] = {{1, 1}, {5, 4}, {64, 20}, {100, 6}, {256, 32}};
    for (int i = 0; i < 5 * 16; i++) {
        char what[96];
        const size_t *const shape = shapes[i / 16];
        snprintf(what, sizeof what, "chunk step, %zu x %zu, %s%s%s%s", shape[0], shape[1], i & 1 ? "bf16" : "float32",
                 i & 2 ? ", slots" : "", i & 4 ? ", W and Y" : "", i & 8 ? ", rows apart" : "");
        set_chunk(i & 1 ? LINREC_BFLOAT16 : LINREC_FLOAT32, shape[0], shape[1], i & 2, i & 4,
                  i & 8 ? 1 + (size_t)i % 4 : 0);
        must(linrec_chunk_state_step(&chunk, NULL), what);
        check_chunk(what);
    }
}

/* ---- what is refused ---- */

static void check_errors(void)
{
    set_selective(LINREC_BFLOAT16, 16, true, true, 0);
#define STEP linrec_selective_scan_step(&selective, NULL)
    EXPECT(STEP, LINREC_SUCCESS);
    EXPECT(linrec_selective_scan_step(NULL, NULL), LINREC_INVALID_ARGUMENT);
    WITH(selective, u, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, delta, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, A, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, B, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, C, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, out, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, state, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, z, (const char *)selective.z + 1, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, D, (const float *)((const char *)selective.D + 2), STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, slots, (const int *)((const char *)selective.slots + 2), STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, dtype, (enum linrec_dtype)3, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, states, 0, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, states, 257, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, groups, 4, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, groups, 0, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, u_by, 5, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, C_by, 31, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, B_by, SIZE_MAX / 2, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, num_slots, SIZE_MAX / 2, STEP, LINREC_INVALID_ARGUMENT);
    WITH(selective, batch, 0, STEP, LINREC_SUCCESS);
    WITH(selective, channels, 0, STEP, LINREC_SUCCESS);
    WITH(selective, num_slots, 0, STEP, LINREC_SUCCESS); /* all rows are empty */
    selective.slots = NULL;
    WITH(selective, num_slots, ROWS - 1, STEP, LINREC_INVALID_ARGUMENT); /* row b has slot b */
#undef STEP

    set_chunk(LINREC_BFLOAT16, 6, 8, true, true, 0);
#define STEP linrec_chunk_state_step(&chunk, NULL)
    EXPECT(STEP, LINREC_SUCCESS);
    EXPECT(linrec_chunk_state_step(NULL, NULL), LINREC_INVALID_ARGUMENT);
    WITH(chunk, q, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, k, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, v, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, gamma, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, out, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, state, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, W, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, Y, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, v, (const char *)chunk.v + 1, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, gamma, (const float *)((const char *)chunk.gamma + 2), STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, dtype, (enum linrec_dtype)3, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, decays, 2, STEP, LINREC_INVALID_ARGUMENT);
    chunk.decays = 1;
    WITH(chunk, dk, 0, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, dk, 257, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, k_by, 17, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, out_by, SIZE_MAX / 2, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, num_slots, SIZE_MAX / 2, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, dv, SIZE_MAX / 2, STEP, LINREC_INVALID_ARGUMENT);
    WITH(chunk, batch, 0, STEP, LINREC_SUCCESS);
    WITH(chunk, dv, 0, STEP, LINREC_SUCCESS);
    chunk.slots = NULL;
    WITH(chunk, num_slots, ROWS - 1, STEP, LINREC_INVALID_ARGUMENT);
#undef STEP
    must_cuda(cudaDeviceSynchronize());
}

/* ---- somebody else's error ---- */

static void check_before(void)
{
    set_selective(LINREC_FLOAT32, 16, true, true, 0);
    set_chunk(LINREC_FLOAT32, 6, 8, true, true, 0);
    const cudaError_t before = cudaSetDevice(99); /* there is none of that number */
    if (before == cudaSuccess)
        printf("there is a device 99\n");
    KEEPS(linrec_selective_scan_step(&selective, NULL));
    KEEPS(linrec_chunk_state_step(&chunk, NULL));
    cudaDeviceSynchronize();
}

/* ---- a graph: captured once, replayed on what it has left ---- */

static void check_graph(void)
{
#ifdef CUSIM
    printf("there are no graphs on the simulator\n");
#else
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replayed;
    must_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    set_selective(LINREC_FLOAT32, 16, true, true, 0);
    set_chunk(LINREC_FLOAT32, 6, 8, true, true, 0);
    must_cuda(cudaDeviceSynchronize());
    must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    must(linrec_selective_scan_step(&selective, stream), "graph");
    must(linrec_chunk_state_step(&chunk, stream), "graph");
    must_cuda(cudaStreamEndCapture(stream, &graph));
    must_cuda(cudaGraphInstantiate(&replayed, graph, 0));
    for (int replay = 0; replay < 3; replay++) {
        must_cuda(cudaGraphLaunch(replayed, stream));
        must_cuda(cudaStreamSynchronize(stream));
        check_selective("graph");
        check_chunk("graph");
    }
#endif
}

int main(int argc, char **argv)
{
    static const struct named_check all[] = {
        {"results", check_results}, {"errors", check_errors}, {"before", check_before}, {"graph", check_graph}};
    return run_named(argc, argv, all, sizeof all / sizeof *all);
}
