/* SPDX-License-Identifier: MIT */
/* layout.c - calls the functions for the layout of models of an installed liblinrec, for library.t:

       layout results | promises | starts | step | errors | before | graph

   Writes one line for each thing that is wrong, and nothing if all is right. */
#include <math.h>
#include <string.h>

#include "calls.h"

static size_t bytes_of(enum linrec_dtype dtype)
{
    return dtype == LINREC_FLOAT32 ? 4 : 2;
}

/* How far a stored result may be from the loop's: float32 as in calls.c, and half a step of the 16 bits. */
static double tolerance(enum linrec_dtype dtype, double value)
{
    const double rounding = dtype == LINREC_FLOAT32    ? 0
                            : dtype == LINREC_BFLOAT16 ? 0x1p-8 * fabs(value)
                                                       : 0x1p-11 * fabs(value) + 0x1p-25;
    return 1e-5 * (1 + fabs(value)) + rounding;
}

/* ---- arrays: a slice of a wider room, all of whose bits are set before ---- */

struct array {
    const char *name;
    enum linrec_dtype dtype;
    size_t rows[2], columns; /* batch, steps, channels */
    struct linrec_strides by;
    size_t before, room;  /* elements before the first one, and of the whole room */
    double *value;        /* here, without gaps: what was stored, or what a loop has found */
    unsigned char *bytes; /* the room as it was stored, or was fetched */
    char *device;         /* the first element there */
};

/* How the rows of the arrays lie. `number` makes the gaps of each array others. */
enum gaps { NO_GAPS, SLICED, TIME_FIRST, NUM_GAPS };

static struct array new_array(const char *name, enum linrec_dtype dtype, const size_t sizes[3], enum gaps gaps,
                              size_t number)
{
    struct array a = {.name = name, .dtype = dtype, .rows = {sizes[0], sizes[1]}, .columns = sizes[2]};
    a.by = (struct linrec_strides){sizes[1] * sizes[2], sizes[2]};
    if (gaps == SLICED) {
        a.before = number % 3 + 1;
        a.by.step = sizes[2] + 1 + number;
        a.by.batch = sizes[1] * a.by.step + number % 2;
    } else if (gaps == TIME_FIRST) {
        a.by = (struct linrec_strides){sizes[2], sizes[0] * sizes[2]};
    }
    a.room = a.before + sizes[0] * a.by.batch + sizes[1] * a.by.step + 8;
    a.value = calloc(sizes[0] * sizes[1] * sizes[2] + 1, sizeof(double));
    a.bytes = malloc(a.room * bytes_of(dtype));
    memset(a.bytes, 0xFF, a.room * bytes_of(dtype));
    a.device = (char *)device_room(a.room) + a.before * bytes_of(dtype);
    return a;
}

static void free_array(struct array *a)
{
    must_cuda(cudaFree(a->device - a->before * bytes_of(a->dtype)));
    free(a->value);
    free(a->bytes);
}

/* Element i of an array without gaps, in the room. */
static size_t place_of(const struct array *a, size_t i)
{
    const size_t row = i / a->columns;
    return a->before + row / a->rows[1] * a->by.batch + row % a->rows[1] * a->by.step + i % a->columns;
}

static size_t count_of(const struct array *a)
{
    return a->rows[0] * a->rows[1] * a->columns;
}

static void send(struct array *a)
{
    for (size_t i = 0; i < count_of(a); i++)
        a->value[i] = to_bits(a->dtype, a->bytes, place_of(a, i), a->value[i]);
    must_cuda(cudaMemcpy(a->device - a->before * bytes_of(a->dtype), a->bytes, a->room * bytes_of(a->dtype),
                         cudaMemcpyHostToDevice));
}

static void fetch(struct array *a)
{
    must_cuda(cudaMemcpy(a->bytes, a->device - a->before * bytes_of(a->dtype), a->room * bytes_of(a->dtype),
                         cudaMemcpyDeviceToHost));
}

static void fill(struct array *a, double from, double to)
{
    for (size_t i = 0; i < count_of(a); i++)
        a->value[i] = from + (to - from) * random_value();
    send(a);
}

/* The elements against the loop's, and the gaps, of which all bits must still be set. */
static void check(const char *what, struct array *a)
{
    const size_t size = bytes_of(a->dtype);
    unsigned char *const is_element = calloc(a->room, 1);
    fetch(a);
    for (size_t i = 0; i < count_of(a); i++) {
        const double got = of_bits(a->dtype, a->bytes, place_of(a, i)), want = a->value[i];
        is_element[place_of(a, i)] = 1;
        if (!(fabs(got - want) <= tolerance(a->dtype, want))) {
            printf("%s: %s[%zu] is %g and not %g\n", what, a->name, i, got, want);
            break;
        }
    }
    for (size_t p = 0; p < a->room; p++) {
        if (!is_element[p] && (a->bytes[p * size] != 0xFF || a->bytes[p * size + 1] != 0xFF)) {
            printf("%s: %s has written beside its elements\n", what, a->name);
            break;
        }
    }
    free(is_element);
}

/* ---- a problem, and the loop ---- */

enum { X, C, Y, DY, DX, DC, BEGIN, END, D_END, D_BEGIN, NUM_ARRAYS };

static struct linrec_layout layout;
static struct array arrays[NUM_ARRAYS];
static const int *starts; /* here; NULL: not packed */
static void *device_starts;

static void set_layout(const size_t sizes[3], enum linrec_dtype dtype, enum gaps gaps, const int *cu_seqlens,
                       size_t num_seqs, bool states)
{
    static const char *const names[NUM_ARRAYS] = {"inputs",        "coeffs",         "outputs",       "d_outputs",
                                                  "d_inputs",      "d_coeffs",       "initial_state", "final_state",
                                                  "d_final_state", "d_initial_state"};
    const size_t state_sizes[3] = {1, cu_seqlens != NULL ? num_seqs : sizes[0], sizes[2]};
    for (int i = 0; i < NUM_ARRAYS; i++) {
        if (arrays[i].value != NULL)
            free_array(&arrays[i]);
        arrays[i] = i < BEGIN ? new_array(names[i], dtype, sizes, gaps, (size_t)i)
                              : new_array(names[i], LINREC_FLOAT32, state_sizes, NO_GAPS, 0);
    }
    must_cuda(cudaFree(layout.workspace));
    must_cuda(cudaFree(device_starts));
    starts = cu_seqlens, device_starts = NULL;
    if (starts != NULL) {
        must_cuda(cudaMalloc(&device_starts, (num_seqs + 1) * sizeof(int)));
        must_cuda(cudaMemcpy(device_starts, starts, (num_seqs + 1) * sizeof(int), cudaMemcpyHostToDevice));
    }
    layout = (struct linrec_layout){.batch = sizes[0],
                                    .seq_len = sizes[1],
                                    .channels = sizes[2],
                                    .num_seqs = starts != NULL ? num_seqs : 0,
                                    .cu_seqlens = device_starts,
                                    .dtype = dtype};
    must(linrec_layout_workspace(&layout, LINREC_BACKWARD, &layout.workspace_bytes), "workspace");
    size_t forward_bytes;
    must(linrec_layout_workspace(&layout, LINREC_FORWARD, &forward_bytes), "workspace");
    if (layout.workspace_bytes < forward_bytes)
        layout.workspace_bytes = forward_bytes;
    new_workspace(&layout.workspace, layout.workspace_bytes);
    layout.inputs = arrays[X].device, layout.coeffs = arrays[C].device, layout.outputs = arrays[Y].device;
    layout.d_outputs = arrays[DY].device, layout.d_inputs = arrays[DX].device, layout.d_coeffs = arrays[DC].device;
    if (gaps != NO_GAPS) {
        layout.inputs_by = arrays[X].by, layout.coeffs_by = arrays[C].by, layout.outputs_by = arrays[Y].by;
        layout.d_outputs_by = arrays[DY].by, layout.d_inputs_by = arrays[DX].by, layout.d_coeffs_by = arrays[DC].by;
    }
    if (states) {
        layout.initial_state = (float *)arrays[BEGIN].device, layout.final_state = (float *)arrays[END].device;
        layout.d_final_state = (float *)arrays[D_END].device, layout.d_initial_state = (float *)arrays[D_BEGIN].device;
    }
}

/* Element `step` in the order of the walk, of a channel of a sequence. */
static size_t at(size_t seq, size_t step, size_t length, size_t channel)
{
    const size_t in_time = layout.reverse ? length - 1 - step : step;
    const size_t first = starts != NULL ? (size_t)starts[seq] : seq * layout.seq_len;
    return (first + in_time) * layout.channels + channel;
}

/* Outputs and gradients of everything. Backward reads the outputs as they were stored. */
static void run_loop(bool backward)
{
    const size_t num_seqs = starts != NULL ? layout.num_seqs : layout.batch;
    const bool states = layout.initial_state != NULL;
    if (backward) {
        fetch(&arrays[Y]);
        for (size_t i = 0; i < count_of(&arrays[Y]); i++)
            arrays[Y].value[i] = of_bits(layout.dtype, arrays[Y].bytes, place_of(&arrays[Y], i));
    }
    for (size_t number = 0; number < num_seqs * layout.channels; number++) {
        const size_t seq = number / layout.channels, channel = number % layout.channels;
        const size_t length = starts != NULL ? (size_t)(starts[seq + 1] - starts[seq]) : layout.seq_len;
        double y = states ? arrays[BEGIN].value[number] : 0, e = states ? arrays[D_END].value[number] : 0;
        for (size_t step = 0; step < length && !backward; step++) {
            const size_t i = at(seq, step, length, channel);
            const double c = layout.log_coeffs ? exp(arrays[C].value[i]) : arrays[C].value[i];
            arrays[Y].value[i] = y = c * y + arrays[X].value[i];
        }
        for (size_t step = length; step-- > 0 && backward;) {
            const size_t i = at(seq, step, length, channel);
            const double c = layout.log_coeffs ? exp(arrays[C].value[i]) : arrays[C].value[i];
            const double before = step > 0 ? arrays[Y].value[at(seq, step - 1, length, channel)] : y;
            const double d = arrays[DY].value[i] + e;
            arrays[DX].value[i] = d;
            e = c * d;
            arrays[DC].value[i] = (layout.log_coeffs ? e : d) * before;
        }
        arrays[backward ? D_BEGIN : END].value[number] = backward ? e : y;
    }
}

static void fill_inputs(void)
{
    fill(&arrays[X], -1, 1);
    fill(&arrays[C], layout.log_coeffs ? -1 : 0.5, layout.log_coeffs ? 0 : 1);
    fill(&arrays[DY], -1, 1);
    fill(&arrays[BEGIN], -1, 1);
    fill(&arrays[D_END], -1, 1);
}

static void run_and_check(const char *what)
{
    const bool states = layout.final_state != NULL;
    must(linrec_layout_forward(&layout, NULL), what);
    run_loop(false);
    check(what, &arrays[Y]);
    if (states)
        check(what, &arrays[END]);
    must(linrec_layout_backward(&layout, NULL), what);
    run_loop(true);
    check(what, &arrays[DX]);
    check(what, &arrays[DC]);
    if (states)
        check(what, &arrays[D_BEGIN]);
}

/* Empty sequences at both ends and inside, one of a single step, and ends inside of a chunk of 128 steps. */
enum { PACKED_SEQS = 8, PACKED_STEPS = 300 };
static const int packed_starts[PACKED_SEQS + 1] = {0, 0, 100, 100, 101, 128, 230, 300, 300};

/* All types, directions, kinds of coefficients and of gaps, with and without states, packed and not. */
static void check_results(void)
{
    static const size_t sizes[][3] = {{2, 300, 33}, {3, 37, 8}, {1, PACKED_STEPS, 5}};
    for (int shape = 0; shape < 3; shape++) {
        for (int i = 0; i < 8 * NUM_GAPS * 3; i++) {
            const bool reverse = i % 2, log_coeffs = i / 2 % 2, states = i / 4 % 2, packed = shape == 2;
            const enum gaps gaps = (enum gaps)(i / 8 % NUM_GAPS);
            const enum linrec_dtype dtype = (enum linrec_dtype)(i / 8 / NUM_GAPS);
            char what[128];
            snprintf(what, sizeof what, "%zu x %zu x %zu, type %d, gaps %d%s%s%s%s", sizes[shape][0], sizes[shape][1],
                     sizes[shape][2], (int)dtype, (int)gaps, reverse ? ", reversed" : "",
                     log_coeffs ? ", logarithms" : "", states ? ", states" : "", packed ? ", packed" : "");
            set_layout(sizes[shape], dtype, gaps, packed ? packed_starts : NULL, PACKED_SEQS, states);
            layout.reverse = reverse, layout.log_coeffs = log_coeffs;
            fill_inputs();
            run_and_check(what);
        }
    }
    /* without a step, states go through, and nothing else is needed */
    static const int all_empty[] = {0, 0, 0};
    for (int packed = 0; packed < 2; packed++) {
        set_layout((size_t[]){packed ? 1 : 2, 0, 5}, LINREC_BFLOAT16, NO_GAPS, packed ? all_empty : NULL, 2, true);
        layout.inputs = layout.coeffs = layout.d_outputs = NULL;
        layout.outputs = layout.d_inputs = layout.d_coeffs = NULL;
        fill(&arrays[BEGIN], -1, 1), fill(&arrays[D_END], -1, 1);
        run_and_check("without a step");
    }
}

/* ---- the same bits in each run; a NaN stays where it is ---- */

static unsigned char *copy_of(struct array *a)
{
    const size_t bytes = a->room * bytes_of(a->dtype);
    fetch(a);
    return memcpy(malloc(bytes), a->bytes, bytes);
}

static void check_promises(void)
{
    enum { CHANNELS = 5, SEQ = 5, CHANNEL = 3 }; /* of the NaN: steps 128 ... 229 */
    static const int written[] = {Y, DX, DC};
    unsigned char *first[3];

    set_layout((size_t[]){1, PACKED_STEPS, CHANNELS}, LINREC_FLOAT32, NO_GAPS, packed_starts, PACKED_SEQS, true);
    fill_inputs();
    for (int run = 0; run < 3; run++) {
        must(linrec_layout_forward(&layout, NULL), "promises");
        must(linrec_layout_backward(&layout, NULL), "promises");
        for (int i = 0; i < 3; i++) {
            unsigned char *const now = copy_of(&arrays[written[i]]);
            if (run == 0)
                first[i] = now;
            else if (memcmp(first[i], now, arrays[Y].room * sizeof(float)) != 0)
                printf("%s has other bits in run %d\n", arrays[written[i]].name, run);
        }
    }
    arrays[X].value[220 * CHANNELS + CHANNEL] = NAN, send(&arrays[X]);
    arrays[DY].value[140 * CHANNELS + CHANNEL] = INFINITY, send(&arrays[DY]);
    must(linrec_layout_forward(&layout, NULL), "promises");
    must(linrec_layout_backward(&layout, NULL), "promises");
    for (int i = 0; i < 3; i++) {
        const float *const now = (const float *)copy_of(&arrays[written[i]]), *const then = (const float *)first[i];
        size_t finite = 0;
        for (size_t e = 0; e < PACKED_STEPS * CHANNELS; e++) {
            const size_t step = e / CHANNELS;
            const bool is_its =
                e % CHANNELS == CHANNEL && step >= (size_t)packed_starts[SEQ] && step < (size_t)packed_starts[SEQ + 1];
            finite += is_its && isfinite(now[e]);
            if (!is_its && memcmp(&now[e], &then[e], sizeof(float)) != 0) {
                printf("a NaN of another sequence changes %s[%zu]\n", arrays[written[i]].name, e);
                break;
            }
        }
        if (finite == 0 || finite == 102) /* it goes on to the sequence's end, and not back; gradients the other way */
            printf("a NaN changes %zu elements of %s\n", 102 - finite, arrays[written[i]].name);
    }
}

/* ---- what are no starts: any results, and the simulator tells of an access outside the arrays ---- */

static void check_starts(void)
{
    static const int wrong[][PACKED_SEQS + 1] = {{-5, 1000, 100, 7, 7, 2000000000, -2000000000, 300, 299},
                                                 {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000},
                                                 {-5, -5, -5, -5, -5, -5, -5, -5, -5}};
    for (int i = 0; i < 6; i++) {
        set_layout((size_t[]){1, PACKED_STEPS, 5}, LINREC_FLOAT32, NO_GAPS, wrong[i / 2], PACKED_SEQS, true);
        fill_inputs();
        layout.reverse = i % 2;
        must(linrec_layout_forward(&layout, NULL), "wrong starts");
        must(linrec_layout_backward(&layout, NULL), "wrong starts");
        must_cuda(cudaDeviceSynchronize());
    }
}

/* ---- a step ---- */

enum { ROWS = 5, SLOTS = 7 };
static struct linrec_step step;
static struct array row_x, row_c, row_y, states;
static void *device_slots;

static void set_step(enum linrec_dtype dtype, size_t channels, enum gaps gaps, const int *slots)
{
    struct array *const all[] = {&row_x, &row_c, &row_y};
    const size_t sizes[3] = {1, ROWS, channels}, state_sizes[3] = {1, SLOTS, channels};
    for (int i = 0; i < 3; i++)
        *all[i] = new_array(i < 2 ? "the step's input" : "the step's output", dtype, sizes, gaps, (size_t)i);
    states = new_array("the states", LINREC_FLOAT32, state_sizes, NO_GAPS, 0);
    device_slots = NULL;
    if (slots != NULL) {
        must_cuda(cudaMalloc(&device_slots, ROWS * sizeof(int)));
        must_cuda(cudaMemcpy(device_slots, slots, ROWS * sizeof(int), cudaMemcpyHostToDevice));
    }
    step = (struct linrec_step){.batch = ROWS,
                                .channels = channels,
                                .num_slots = SLOTS,
                                .slots = device_slots,
                                .dtype = dtype,
                                .inputs = row_x.device,
                                .coeffs = row_c.device,
                                .outputs = row_y.device,
                                .states = (float *)states.device};
    if (gaps != NO_GAPS)
        step.inputs_by = row_x.by.step, step.coeffs_by = row_c.by.step, step.outputs_by = row_y.by.step;
}

static void fill_step(void)
{
    fill(&row_x, -1, 1);
    fill(&row_c, step.log_coeffs ? -1 : 0.5, step.log_coeffs ? 0 : 1);
    fill(&states, -1, 1);
}

/* A row without a slot keeps its outputs as they were, all bits set: they are looked at as gaps are. */
static void run_step_loop(const int *slots)
{
    const size_t width = step.channels;
    for (size_t b = 0; b < ROWS; b++) {
        const int slot = slots != NULL ? slots[b] : (int)b;
        for (size_t d = 0; d < width && slot >= 0 && slot < SLOTS; d++) {
            const double c = row_c.value[b * width + d];
            double *const state = &states.value[(size_t)slot * width + d];
            row_y.value[b * width + d] = *state = (step.log_coeffs ? exp(c) : c) * *state + row_x.value[b * width + d];
        }
    }
}

static void check_step_of(const char *what, const int *slots)
{
    const size_t width = step.channels, size = bytes_of(step.dtype);
    run_step_loop(slots);
    check(what, &states);
    fetch(&row_y);
    for (size_t i = 0; i < ROWS * width; i++) {
        const int slot = slots != NULL ? slots[i / width] : 0;
        const unsigned char *const bytes = row_y.bytes + place_of(&row_y, i) * size;
        if (slot >= 0 && slot < SLOTS)
            continue;
        if (bytes[0] != 0xFF || bytes[1] != 0xFF)
            printf("%s: a row without a slot has an output\n", what);
        row_y.value[i] = to_bits(step.dtype, row_y.bytes, place_of(&row_y, i), 0); /* for the check of the others */
    }
    must_cuda(cudaMemcpy(row_y.device - row_y.before * size, row_y.bytes, row_y.room * size, cudaMemcpyHostToDevice));
    check(what, &row_y);
}

static void check_step(void)
{
    static const int some[ROWS] = {6, 0, -1, SLOTS, 3};
    for (int i = 0; i < 2 * 2 * 2 * 2 * 3; i++) {
        const int *const slots = i % 2 ? some : NULL;
        const enum linrec_dtype dtype = (enum linrec_dtype)(i / 16);
        char what[96];
        snprintf(what, sizeof what, "step of type %d%s%s%s, %d channels", (int)dtype, i % 2 ? ", slots" : "",
                 i / 2 % 2 ? ", logarithms" : "", i / 4 % 2 ? ", sliced" : "", i / 8 % 2 ? 33 : 64);
        set_step(dtype, i / 8 % 2 ? 33 : 64, i / 4 % 2 ? SLICED : NO_GAPS, slots);
        step.log_coeffs = i / 2 % 2;
        fill_step();
        must(linrec_layout_step(&step, NULL), what);
        check_step_of(what, slots);
    }
}

/* ---- what is refused ---- */

static void check_errors(void)
{
    static const size_t sizes[3] = {2, 300, 8}; /* as many channels as can be loaded in wide pieces */
    size_t bytes, same;
    set_layout(sizes, LINREC_BFLOAT16, NO_GAPS, NULL, 0, true);
    fill_inputs();
#define FORWARD linrec_layout_forward(&layout, NULL)
#define BACKWARD linrec_layout_backward(&layout, NULL)
#define WORKSPACE linrec_layout_workspace(&layout, LINREC_FORWARD, &bytes)
    EXPECT(FORWARD, LINREC_SUCCESS);
    EXPECT(BACKWARD, LINREC_SUCCESS);
    EXPECT(linrec_layout_forward(NULL, NULL), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_layout_backward(NULL, NULL), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_layout_workspace(NULL, LINREC_FORWARD, &bytes), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_layout_workspace(&layout, LINREC_FORWARD, NULL), LINREC_INVALID_ARGUMENT);
    EXPECT(linrec_layout_workspace(&layout, (enum linrec_pass)2, &bytes), LINREC_INVALID_ARGUMENT);
    WITH(layout, inputs, NULL, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, outputs, NULL, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, coeffs, NULL, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, d_outputs, NULL, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, d_inputs, NULL, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, d_coeffs, NULL, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, inputs, (const char *)layout.inputs + 1, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, inputs, (const char *)layout.inputs + 2, FORWARD, LINREC_SUCCESS); /* the room is larger */
    WITH(layout, d_coeffs, (char *)layout.d_coeffs + 1, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, initial_state, (const float *)((const char *)layout.initial_state + 2), FORWARD,
         LINREC_INVALID_ARGUMENT);
    WITH(layout, final_state, (float *)((char *)layout.final_state + 2), FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, initial_state, NULL, BACKWARD, LINREC_INVALID_ARGUMENT); /* its gradient is wanted */
    WITH(layout, dtype, (enum linrec_dtype)3, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, dtype, (enum linrec_dtype)3, WORKSPACE, LINREC_INVALID_ARGUMENT);
    WITH(layout, batch, SIZE_MAX / 2, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, seq_len, SIZE_MAX / 8, WORKSPACE, LINREC_INVALID_ARGUMENT);
    WITH(layout, channels, (size_t)1 << 31, WORKSPACE, LINREC_INVALID_ARGUMENT);
    WITH(layout, inputs_by.step, 5, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, d_outputs_by.batch, SIZE_MAX / 2, BACKWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, outputs_by.step, SIZE_MAX / 2, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, num_seqs, 2, FORWARD, LINREC_INVALID_ARGUMENT); /* packed sequences, and where? */
    WITH(layout, cu_seqlens, (const int *)layout.initial_state, FORWARD, LINREC_INVALID_ARGUMENT); /* a batch of 2 */
    WITH(layout, workspace, NULL, FORWARD, LINREC_WORKSPACE_TOO_SMALL);
    WITH(layout, workspace, (char *)layout.workspace + 8, FORWARD, LINREC_INVALID_ARGUMENT);
    must(WORKSPACE, "workspace");
    WITH(layout, workspace_bytes, bytes, FORWARD, LINREC_SUCCESS);
    WITH(layout, workspace_bytes, bytes - 1, FORWARD, LINREC_WORKSPACE_TOO_SMALL);
    must(linrec_layout_workspace(&layout, LINREC_BACKWARD, &bytes), "workspace");
    WITH(layout, workspace_bytes, bytes - 1, BACKWARD, LINREC_WORKSPACE_TOO_SMALL);
    WITH(layout, batch, 0, FORWARD, LINREC_SUCCESS);
    WITH(layout, channels, 0, BACKWARD, LINREC_SUCCESS);

    must(WORKSPACE, "workspace"); /* the same for other gaps and other arrays */
    set_layout(sizes, LINREC_BFLOAT16, SLICED, NULL, 0, false);
    must(linrec_layout_workspace(&layout, LINREC_FORWARD, &same), "workspace");
    if (bytes != same)
        printf("a slice needs %zu bytes of workspace, without gaps %zu\n", same, bytes);

    set_layout((size_t[]){1, PACKED_STEPS, 5}, LINREC_FLOAT32, NO_GAPS, packed_starts, PACKED_SEQS, false);
    fill_inputs();
    EXPECT(FORWARD, LINREC_SUCCESS);
    WITH(layout, num_seqs, 0, FORWARD, LINREC_INVALID_ARGUMENT); /* steps of no sequence */
    WITH(layout, num_seqs, SIZE_MAX / 2, FORWARD, LINREC_INVALID_ARGUMENT);
    WITH(layout, batch, 2, WORKSPACE, LINREC_INVALID_ARGUMENT);
    WITH(layout, cu_seqlens, (const int *)((const char *)layout.cu_seqlens + 2), FORWARD, LINREC_INVALID_ARGUMENT);
#undef FORWARD
#undef BACKWARD
#undef WORKSPACE

    set_step(LINREC_FLOAT16, 6, NO_GAPS, NULL);
    fill_step();
#define STEP linrec_layout_step(&step, NULL)
    EXPECT(STEP, LINREC_SUCCESS);
    EXPECT(linrec_layout_step(NULL, NULL), LINREC_INVALID_ARGUMENT);
    WITH(step, inputs, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(step, coeffs, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(step, outputs, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(step, states, NULL, STEP, LINREC_INVALID_ARGUMENT);
    WITH(step, outputs, (char *)step.outputs + 1, STEP, LINREC_INVALID_ARGUMENT);
    WITH(step, states, (float *)((char *)step.states + 2), STEP, LINREC_INVALID_ARGUMENT);
    WITH(step, slots, (const int *)((const char *)step.states + 2), STEP, LINREC_INVALID_ARGUMENT);
    WITH(step, dtype, (enum linrec_dtype)3, STEP, LINREC_INVALID_ARGUMENT);
    WITH(step, num_slots, ROWS - 1, STEP, LINREC_INVALID_ARGUMENT); /* row b has slot b */
    WITH(step, num_slots, SIZE_MAX / 2, STEP, LINREC_INVALID_ARGUMENT);
    WITH(step, inputs_by, 5, STEP, LINREC_INVALID_ARGUMENT);
    WITH(step, outputs_by, SIZE_MAX / 2, STEP, LINREC_INVALID_ARGUMENT);
    WITH(step, batch, 0, STEP, LINREC_SUCCESS);
    WITH(step, channels, 0, STEP, LINREC_SUCCESS);
#undef STEP
    must_cuda(cudaDeviceSynchronize());
}

/* ---- somebody else's error ---- */

static void check_before(void)
{
    set_layout((size_t[]){2, 300, 6}, LINREC_FLOAT32, NO_GAPS, NULL, 0, true);
    fill_inputs();
    set_step(LINREC_FLOAT32, 6, NO_GAPS, NULL);
    fill_step();
    const cudaError_t before = cudaSetDevice(99); /* there is none of that number */
    if (before == cudaSuccess)
        printf("there is a device 99\n");
    KEEPS(linrec_layout_forward(&layout, NULL));
    KEEPS(linrec_layout_backward(&layout, NULL));
    KEEPS(linrec_layout_step(&step, NULL));
    cudaDeviceSynchronize();
}

/* ---- a graph: captured once, replayed with other data ---- */

static void check_graph(void)
{
#ifdef CUSIM
    printf("there are no graphs on the simulator\n");
#else
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replayed;
    must_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    set_layout((size_t[]){1, PACKED_STEPS, 5}, LINREC_FLOAT32, NO_GAPS, packed_starts, PACKED_SEQS, true);
    set_step(LINREC_FLOAT32, 6, NO_GAPS, NULL);
    must_cuda(cudaDeviceSynchronize());
    must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    must(linrec_layout_forward(&layout, stream), "graph");
    must(linrec_layout_backward(&layout, stream), "graph");
    must(linrec_layout_step(&step, stream), "graph");
    must_cuda(cudaStreamEndCapture(stream, &graph));
    must_cuda(cudaGraphInstantiate(&replayed, graph, 0));
    for (int replay = 0; replay < 3; replay++) {
        fill_inputs();
        fill_step();
        must_cuda(cudaDeviceSynchronize());
        must_cuda(cudaGraphLaunch(replayed, stream));
        must_cuda(cudaStreamSynchronize(stream));
        run_loop(false);
        check("graph", &arrays[Y]);
        check("graph", &arrays[END]);
        run_loop(true);
        check("graph", &arrays[DX]);
        check("graph", &arrays[DC]);
        check("graph", &arrays[D_BEGIN]);
        check_step_of("graph, step", NULL);
    }
#endif
}

int main(int argc, char **argv)
{
    static const struct named_check all[] = {
        {"results", check_results}, {"promises", check_promises}, {"starts", check_starts}, {"step", check_step},
        {"errors", check_errors},   {"before", check_before},     {"graph", check_graph}};
    return run_named(argc, argv, all, sizeof all / sizeof *all);
}
