/* SPDX-License-Identifier: MIT */
/* linrec_contract.c - see linrec_contract.h */
#include "linrec_contract.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linrec_oracle.h"
#ifdef CUSIM
#include "../../cusim/counts.h"
#endif

static cudaError_t launch(const struct linrec_kernel *kernel, bool backward, const struct linrec_args *args,
                          cudaStream_t stream)
{
    return (backward ? kernel->backward : kernel->forward)(args, stream);
}

/* ---- what is refused ---- */

/* A launcher that is looked into, and where the first promise that it breaks is told. */
struct inquiry {
    const struct linrec_kernel *kernel;
    bool backward;
    struct linrec_args good; /* arguments that it takes; what it must refuse differs from them in one */
    char *text;
    size_t size;
};

/* Whether the launcher returns `must_be` for these arguments; if not, tells what it was called with. */
static bool returns(const struct inquiry *inquiry, const struct linrec_args *args, cudaError_t must_be,
                    const char *what)
{
    const cudaError_t is = launch(inquiry->kernel, inquiry->backward, args, NULL);
    if (is != must_be)
        snprintf(inquiry->text, inquiry->size, "with %s the launcher must return \"%s\", not \"%s\"", what,
                 cudaGetErrorString(must_be), cudaGetErrorString(is));
    return is == must_be;
}

static bool refuses(const struct inquiry *inquiry, const struct linrec_args *args, const char *what)
{
    return returns(inquiry, args, cudaErrorInvalidValue, what);
}

/* Makes pointer number i of a pass null, or moves it by 4 bytes. */
static void spoil_pointer(struct linrec_args *args, bool backward, int i, bool to_null)
{
    const float **read[2][2] = {{&args->inputs, &args->coeffs}, {&args->d_outputs, &args->coeffs}};
    float **written[2][3] = {{&args->outputs, NULL, NULL}, {&args->outputs, &args->d_inputs, &args->d_coeffs}};
    if (i < 2)
        *read[backward][i] = to_null ? NULL : *read[backward][i] + 1;
    else
        *written[backward][i - 2] = to_null ? NULL : *written[backward][i - 2] + 1;
}

static bool refuses_pointers(const struct inquiry *inquiry)
{
    for (int i = 0; i < 2 * (inquiry->backward ? 5 : 3); i++) {
        struct linrec_args args = inquiry->good;
        spoil_pointer(&args, inquiry->backward, i / 2, i % 2 == 0);
        if (!refuses(inquiry, &args, i % 2 == 0 ? "a null pointer" : "a pointer that is not aligned to 16 bytes"))
            return false;
    }
    return true;
}

/* State number i, to be pointed somewhere. */
static void set_state(struct linrec_args *args, int i, float *to)
{
    const float **const read[] = {&args->initial_state, &args->d_final_state};
    float **const written[] = {&args->final_state, &args->d_initial_state};
    if (i < 2)
        *read[i] = to;
    else
        *written[i - 2] = to;
}

static bool refuses_states(const struct inquiry *inquiry)
{
    enum { NUM_STATES = 4, D_INITIAL = 3 };
    float *const somewhere = (float *)inquiry->good.coeffs;
    for (int i = 0; i < NUM_STATES; i++) {
        struct linrec_args args = inquiry->good;
        if (inquiry->kernel->states && i == D_INITIAL)
            args.initial_state = somewhere;
        set_state(&args, i, inquiry->kernel->states ? somewhere + 1 : somewhere);
        if (!refuses(inquiry, &args,
                     inquiry->kernel->states ? "a state that is not aligned to 16 bytes"
                                             : "a state, which its row does not say that it takes,"))
            return false;
    }
    struct linrec_args args = inquiry->good;
    args.d_initial_state = somewhere;
    return !inquiry->kernel->states || !inquiry->backward ||
           refuses(inquiry, &args, "the gradient of an initial state that is not there");
}

static bool refuses_sizes(const struct inquiry *inquiry, bool on_cpu)
{
    const struct linrec_kernel *const kernel = inquiry->kernel;
    struct linrec_args args = inquiry->good;
    args.num_seqs = SIZE_MAX / 2, args.seq_len = 3;
    if (!refuses(inquiry, &args, "sizes whose bytes overflow"))
        return false;
    args = inquiry->good, args.reverse = true;
    if (!kernel->reverse && !refuses(inquiry, &args, "a direction that it does not run"))
        return false;
    args = inquiry->good, args.seq_len = kernel->max_seq_len + 1;
    if (kernel->max_seq_len != 0 && !on_cpu && !refuses(inquiry, &args, "a sequence that is too long"))
        return false;
    args = inquiry->good, args.num_seqs = kernel->max_num_seqs + 1;
    if (kernel->max_num_seqs != 0 && !on_cpu && !refuses(inquiry, &args, "too many sequences"))
        return false;

    memset(&args, 0, sizeof args);
    args.seq_len = 3;
    if (!returns(inquiry, &args, cudaSuccess, "zero sequences"))
        return false;
    args.num_seqs = 3, args.seq_len = 0;
    return returns(inquiry, &args, cudaSuccess, "zero length");
}

static bool takes_rows(const struct launch_tunables *tunable, int rows)
{
    for (int i = 0; i < 4 && tunable->rows[i] != 0; i++)
        if (tunable->rows[i] == rows)
            return true;
    return false;
}

static bool refuses_configs(const struct inquiry *inquiry)
{
    const struct launch_tunables *const tunable = &inquiry->kernel->info.tunable;
    const int threads[] = {-32, 16, 33, 100, tunable->max_threads + 32};
    const int stages[] = {-1, tunable->max_stages + 1};
    struct linrec_args args;
    char what[64];

    for (int rows = -1; rows <= 8 && tunable->rows[0] != 0; rows++) {
        args = inquiry->good, args.config.rows = rows;
        snprintf(what, sizeof what, "%d rows", rows);
        if (rows != 0 && !takes_rows(tunable, rows) && !refuses(inquiry, &args, what))
            return false;
    }
    for (size_t i = 0; i < sizeof threads / sizeof threads[0] && tunable->max_threads != 0; i++) {
        args = inquiry->good, args.config.threads = threads[i];
        snprintf(what, sizeof what, "%d threads", threads[i]);
        if (!refuses(inquiry, &args, what))
            return false;
    }
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && tunable->max_stages != 0; i++) {
        args = inquiry->good, args.config.stages = stages[i];
        snprintf(what, sizeof what, "%d stages", stages[i]);
        if (!refuses(inquiry, &args, what))
            return false;
    }
    return true;
}

/* ---- the workspace ---- */

static bool refuses_workspaces(const struct inquiry *inquiry)
{
    struct linrec_args args = inquiry->good;
    if (inquiry->kernel->workspace_size == NULL)
        return true;
    args.workspace_size = inquiry->kernel->workspace_size(&args);
    args.workspace = NULL;
    if (args.workspace_size != 0 && !refuses(inquiry, &args, "no workspace"))
        return false;
    args.workspace = inquiry->good.workspace;
    return args.workspace_size-- == 0 || refuses(inquiry, &args, "a workspace that is a byte too small");
}

/* Adds up ones, then twos, then threes in one workspace: every result is a whole number, in any order of the joins.
   What is left there from the ones, a total for example, is wrong for the others; and a kernel that counts its blocks
   there and does not begin again with the count cleans up once only, so that the third launch finds what the second one
   left. `memory` is args->inputs or args->d_outputs. */
static void check_next_launches(const struct inquiry *inquiry, const struct linrec_args *args, float *memory)
{
    const bool from_end = inquiry->backward != args->reverse;
    const float *const result = inquiry->backward ? args->d_inputs : args->outputs;
    const size_t count = args->seq_len, bytes = count * sizeof(float);
    float *const host = malloc(bytes);
    bool right = true;
    for (int value = 1; value <= 3 && host != NULL && right; value++) {
        for (size_t i = 0; i < count; i++)
            host[i] = 1.0f;
        cudaError_t error = value == 1 ? cudaMemset(args->workspace, 0xFF, args->workspace_size) : cudaSuccess;
        if (error == cudaSuccess)
            error = cudaMemcpy((float *)args->coeffs, host, bytes, cudaMemcpyHostToDevice);
        for (size_t i = 0; i < count; i++)
            host[i] = (float)value;
        if (error == cudaSuccess)
            error = cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice);
        if (error == cudaSuccess)
            error = launch(inquiry->kernel, inquiry->backward, args, NULL);
        if (error == cudaSuccess)
            error = cudaMemcpy(host, result, bytes, cudaMemcpyDeviceToHost);
        right = error == cudaSuccess;
        for (size_t i = 0; i < count && right; i++) {
            const size_t terms = from_end ? count - i : i + 1;
            right = host[i] == (float)(value * terms);
            if (!right && value > 1)
                snprintf(inquiry->text, inquiry->size,
                         "it is wrong in a workspace that another launch of it has used, the first time at %s[0, %zu]: "
                         "%.9g and not %zu; leave it as it was found",
                         inquiry->backward ? "d_inputs" : "outputs", i, (double)host[i], value * terms);
        }
        if (!right && inquiry->text[0] == '\0')
            snprintf(inquiry->text, inquiry->size, "a sum of ones is wrong%s%s", error != cudaSuccess ? ": " : "",
                     error != cudaSuccess ? cudaGetErrorString(error) : "");
    }
    if (host == NULL)
        snprintf(inquiry->text, inquiry->size, "there was no memory to check it");
    free(host);
}

/* ---- the states ---- */

/* Of sequences without elements the state that comes in goes out again, or else 0. `memory`: room for 8 floats. */
static bool passes_states_on(const struct inquiry *inquiry, float *memory)
{
    const float came_in[4] = {1.5f, -2.0f, INFINITY, 0.0f};
    for (int has_state = 0; has_state < 2; has_state++) {
        struct linrec_args args = {.num_seqs = 3};
        float came_out[4] = {0};
        if (inquiry->backward)
            args.initial_state = memory, args.d_initial_state = memory + 4,
            args.d_final_state = has_state ? memory : NULL;
        else
            args.final_state = memory + 4, args.initial_state = has_state ? memory : NULL;
        cudaError_t error = cudaMemcpy(memory, came_in, sizeof came_in, cudaMemcpyHostToDevice);
        if (error == cudaSuccess)
            error = cudaMemset(memory + 4, 0xFF, sizeof came_out);
        if (error == cudaSuccess)
            error = launch(inquiry->kernel, inquiry->backward, &args, NULL);
        if (error == cudaSuccess)
            error = cudaMemcpy(came_out, memory + 4, sizeof came_out, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 3; i++)
            if (error != cudaSuccess || came_out[i] != (has_state ? came_in[i] : 0.0f)) {
                snprintf(inquiry->text, inquiry->size,
                         "with zero length the %s must be the one that came in, or 0; got %.9g at sequence %d, \"%s\"",
                         inquiry->backward ? "gradient of the initial state" : "final state", (double)came_out[i], i,
                         cudaGetErrorString(error));
                return false;
            }
    }
    return true;
}

/* The arrays of a sequence, for both passes, each of the same length. */
enum { IN, COEFFS, OUT, D_IN, D_COEFFS, NUM_ROWS };

/* A row cut in two: piece 0 is [0, cut), piece 1 is [cut, length). On the device each piece of each array begins where
   16 bytes do. */
struct pieces {
    size_t length, cut;
    float *host[NUM_ROWS]; /* whole */
    float *device;         /* of `stride` floats each: for every array its two pieces, and then the states */
    size_t stride;
};

static float *piece_of(const struct pieces *pieces, int array, int piece)
{
    return pieces->device + (size_t)(2 * array + piece) * pieces->stride;
}

/* Copies all pieces to the device, or what was written there back. */
static cudaError_t copy_pieces(const struct pieces *pieces, int array, bool to_device)
{
    cudaError_t error = cudaSuccess;
    for (int p = 0; p < 2 && error == cudaSuccess; p++) {
        float *const host = pieces->host[array] + (p == 0 ? 0 : pieces->cut), *const device =
                                                                                  piece_of(pieces, array, p);
        const size_t bytes = (p == 0 ? pieces->cut : pieces->length - pieces->cut) * sizeof(float);
        error = to_device ? cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)
                          : cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
    }
    return error;
}

/* Launches the kernel on both pieces, in the order of the pass. `states`: what comes into the first one, what goes from
   it to the second, what leaves that one, and backward the output before each piece (linrec.h). */
static cudaError_t launch_pieces(const struct inquiry *inquiry, const struct pieces *pieces, bool reverse,
                                 float *const states[5])
{
    const int first = reverse != inquiry->backward ? 1 : 0;
    cudaError_t error = cudaSuccess;
    for (int step = 0; step < 2 && error == cudaSuccess; step++) {
        const int p = step == 0 ? first : 1 - first;
        struct linrec_args args = inquiry->good;
        args.seq_len = p == 0 ? pieces->cut : pieces->length - pieces->cut;
        args.reverse = reverse;
        args.inputs = args.d_outputs = piece_of(pieces, IN, p);
        args.coeffs = piece_of(pieces, COEFFS, p);
        args.outputs = piece_of(pieces, OUT, p);
        args.d_inputs = piece_of(pieces, D_IN, p);
        args.d_coeffs = piece_of(pieces, D_COEFFS, p);
        if (inquiry->backward)
            args.d_final_state = states[step], args.d_initial_state = states[step + 1],
            args.initial_state = states[3 + step];
        else
            args.initial_state = states[step], args.final_state = states[step + 1];
        error = launch(inquiry->kernel, inquiry->backward, &args, NULL);
    }
    return error;
}

/* A sequence in two pieces, of which one hands its state on to the other, has the results of the whole: within twice
   the bound's levels, because both pieces have them. */
static bool computes_pieces(const struct inquiry *inquiry, const struct pieces *pieces, bool reverse)
{
    const struct linrec_kernel *const kernel = inquiry->kernel;
    const bool backward = inquiry->backward, down = reverse != backward;
    const size_t length = pieces->length, cut = pieces->cut;
    const struct data_spec spec = {
        .seed = length, .kind = DATA_NEAR_ONE, .seq_len = length, .reverse = reverse, .backward = backward};
    float *states[5], come_out[5];
    for (int s = 0; s < 5; s++)
        states[s] = piece_of(pieces, NUM_ROWS, 0) + 4 * s;
    for (size_t i = 0; i < length; i++) {
        pieces->host[IN][i] = data_value(&spec, backward ? DATA_D_OUTPUTS : DATA_INPUTS, 0, i);
        pieces->host[COEFFS][i] = data_value(&spec, DATA_COEFFS, 0, i);
        pieces->host[OUT][i] = data_value(&spec, DATA_OUTPUTS, 0, i);
    }
    /* backward, the piece that comes first begins with the output that the other one has last */
    const float comes_in[5] = {0.75f, 0.0f, 0.0f, pieces->host[OUT][down ? cut - 1 : cut], -1.25f};
    cudaError_t error = cudaSuccess;
    for (int s = 0; s < 5 && error == cudaSuccess; s++)
        error = cudaMemcpy(states[s], &comes_in[s], sizeof(float), cudaMemcpyHostToDevice);
    for (int a = IN; a <= OUT && error == cudaSuccess; a++)
        error = copy_pieces(pieces, a, true);
    if (error == cudaSuccess)
        error = launch_pieces(inquiry, pieces, reverse, states);
    for (int a = OUT; a < (backward ? NUM_ROWS : D_IN) && error == cudaSuccess; a++)
        error = copy_pieces(pieces, a, false);
    for (int s = 0; s < 5 && error == cudaSuccess; s++)
        error = cudaMemcpy(&come_out[s], states[s], sizeof(float), cudaMemcpyDeviceToHost);

    const struct linrec_args whole = {.num_seqs = 1,
                                      .seq_len = length,
                                      .reverse = reverse,
                                      .inputs = pieces->host[IN],
                                      .coeffs = pieces->host[COEFFS],
                                      .outputs = pieces->host[OUT],
                                      .d_outputs = pieces->host[IN],
                                      .d_inputs = pieces->host[D_IN],
                                      .d_coeffs = pieces->host[D_COEFFS],
                                      .initial_state = &comes_in[backward ? 4 : 0],
                                      .final_state = &come_out[2],
                                      .d_final_state = backward ? &comes_in[0] : NULL,
                                      .d_initial_state = backward ? &come_out[2] : NULL};
    struct finding finding = FINDING_NOTHING;
    if (error == cudaSuccess)
        oracle_check(&whole, backward, 0, 0, length, 2 * (kernel->levels != NULL ? kernel->levels(length) : 1),
                     &finding);
    if (error != cudaSuccess)
        snprintf(inquiry->text, inquiry->size, "pieces of %zu and %zu elements: the launch failed: %s", cut,
                 length - cut, cudaGetErrorString(error));
    else if (finding.num_bad != 0)
        snprintf(inquiry->text, inquiry->size,
                 "pieces of %zu and %zu elements, of which one hands its state on to the other, are not the %swhole: "
                 "%s[%zu] is %.9g and not %.9g",
                 cut, length - cut, reverse ? "reversed " : "",
                 linrec_operation.arrays[finding_array(finding.first_bad)].name, finding_index(finding.first_bad),
                 finding.got, finding.expected);
    return inquiry->text[0] == '\0';
}

static void check_states(const struct inquiry *inquiry)
{
    static const size_t cuts[][2] = {{2, 1}, {7, 3}, {129, 128}, {300, 101}, {1001, 500}, {4100, 1027}, {9000, 4999}};
    const struct linrec_kernel *const kernel = inquiry->kernel;
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0] && inquiry->text[0] == '\0'; i++) {
        struct pieces pieces = {.length = cuts[i][0], .cut = cuts[i][1], .stride = (cuts[i][0] + 31) / 4 * 4};
        if (kernel->max_seq_len != 0 && pieces.length > kernel->max_seq_len)
            break;
        bool has_memory =
            cudaMalloc((void **)&pieces.device, (2 * NUM_ROWS + 1) * pieces.stride * sizeof(float)) == cudaSuccess;
        for (int a = 0; a < NUM_ROWS; a++)
            has_memory = (pieces.host[a] = calloc(pieces.length, sizeof(float))) != NULL && has_memory;
        if (!has_memory)
            snprintf(inquiry->text, inquiry->size, "there was no memory to check it");
        for (int reverse = 0; reverse <= (kernel->reverse ? 1 : 0) && inquiry->text[0] == '\0'; reverse++)
            if (!passes_states_on(inquiry, pieces.device) || !computes_pieces(inquiry, &pieces, reverse != 0))
                break;
        for (int a = 0; a < NUM_ROWS; a++)
            free(pieces.host[a]);
        cudaFree(pieces.device);
    }
}

/* ---- where it launches, and what it returns ---- */

static unsigned long long default_launches(void)
{
#ifdef CUSIM
    return sim_default_launches();
#else
    return 0; /* a GPU does not tell */
#endif
}

static void check_stream(const struct inquiry *inquiry, const struct linrec_args *args)
{
    cudaStream_t stream;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
        snprintf(inquiry->text, inquiry->size, "there was no memory for a stream to launch on");
        return;
    }
    const unsigned long long before = default_launches();
    cudaError_t error = launch(inquiry->kernel, inquiry->backward, args, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess)
        snprintf(inquiry->text, inquiry->size, "the launch failed: %s", cudaGetErrorString(error));
    else if (default_launches() != before)
        snprintf(inquiry->text, inquiry->size, "it launches on the default stream; pass on the one that it is given");

#ifdef CUSIM
    /* Each launch of it fails once, and all after it, so that no other one can take its place. (A GPU's launches cannot
       be made to fail at will.) */
    bool is_to_come = false;
    for (int number = 0; inquiry->text[0] == '\0' && !is_to_come; number++) {
        sim_refuse_launches(number, INT_MAX, cudaErrorNoKernelImageForDevice);
        error = launch(inquiry->kernel, inquiry->backward, args, stream);
        is_to_come = sim_refuse_launches(-1, 0, cudaSuccess);
        cudaGetLastError();
        if (!is_to_come && error == cudaSuccess)
            snprintf(inquiry->text, inquiry->size, "it returns success although a launch failed; return its error");
    }
    cudaStreamSynchronize(stream);
#endif
    cudaStreamDestroy(stream);
}

/* ---- what a partial kernel computes ---- */

/* Walks all rows on the host, as `instead` says. Returns the index of the first wrong element, or the number of all. */
static size_t first_wrong(const struct linrec_kernel *kernel, const struct linrec_args *host, double *expected)
{
    for (size_t seq = 0; seq < host->num_seqs; seq++) {
        struct oracle_state state = {0.0, 0.0, 0.0, 0.0};
        for (size_t pos = 0; pos < host->seq_len; pos++) {
            const size_t i = seq * host->seq_len + pos;
            struct linrec_element element = {host->coeffs[i], host->inputs[i], true};
            kernel->instead(host, seq, pos, &element);
            oracle_step(&state, pos == 0, element.coeff, element.input);
            *expected = state.y;
            const double bound = oracle_bound(&state, kernel->levels != NULL ? kernel->levels(host->seq_len) : 1);
            const float got = host->outputs[i];
            if (element.stored ? !(fabs(got - state.y) <= bound) : !is_poison(got))
                return i;
        }
    }
    return host->num_seqs * host->seq_len;
}

/* Runs the kernel on one shape and kind of data. `device` and `host`: room there and here for inputs, coefficients and
   outputs. Returns whether all is right. */
static bool computes(const struct inquiry *inquiry, const struct data_spec *spec, size_t num_seqs,
                     float *const device[3], float *const host[3])
{
    const size_t count = num_seqs * spec->seq_len, bytes = count * sizeof(float);
    struct linrec_args args = {.num_seqs = num_seqs, .seq_len = spec->seq_len};
    for (size_t i = 0; i < count; i++) {
        host[0][i] = data_value(spec, DATA_INPUTS, i / spec->seq_len, i % spec->seq_len);
        host[1][i] = data_value(spec, DATA_COEFFS, i / spec->seq_len, i % spec->seq_len);
    }
    args.inputs = device[0], args.coeffs = device[1], args.outputs = device[2];
    cudaError_t error = cudaMemcpy(device[0], host[0], bytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemcpy(device[1], host[1], bytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemset(device[2], 0xFF, bytes);
    if (error == cudaSuccess)
        error = launch(inquiry->kernel, false, &args, NULL);
    if (error == cudaSuccess)
        error = cudaMemcpy(host[2], device[2], bytes, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        snprintf(inquiry->text, inquiry->size, "%zu x %zu: the launch failed: %s", num_seqs, spec->seq_len,
                 cudaGetErrorString(error));
        return false;
    }
    double expected = 0.0;
    args.inputs = host[0], args.coeffs = host[1], args.outputs = host[2];
    const size_t wrong = first_wrong(inquiry->kernel, &args, &expected);
    if (wrong != count)
        snprintf(inquiry->text, inquiry->size,
                 "%zu x %zu, %s coefficients: it computes something else than its part, outputs[%zu, %zu] is %.9g and "
                 "not %.9g",
                 num_seqs, spec->seq_len, data_kind_name(spec->kind), wrong / spec->seq_len, wrong % spec->seq_len,
                 (double)host[2][wrong], expected);
    return wrong == count;
}

static void check_partial(const struct inquiry *inquiry)
{
    static const size_t lengths[] = {1, 3, 5, 33, 100, 129, 512, 1001, 1024, 1028, 2049, 4096, 4098, 9001, 16384};
    static const enum data_kind kinds[] = {DATA_NEAR_ONE, DATA_SIGNED, DATA_OVERFLOW};
    const size_t num_seqs = 3, limit = inquiry->kernel->max_seq_len;
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0] && (limit == 0 || lengths[l] <= limit); l++) {
        const size_t bytes = num_seqs * lengths[l] * sizeof(float);
        float *device[3] = {NULL}, *host[3] = {NULL};
        bool right = true;
        for (int a = 0; a < 3; a++) {
            host[a] = malloc(bytes);
            if (host[a] == NULL || cudaMalloc((void **)&device[a], bytes) != cudaSuccess) {
                snprintf(inquiry->text, inquiry->size, "there was no memory to check it");
                right = false;
            }
        }
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] && right; k++) {
            const struct data_spec spec = {.seed = l, .kind = kinds[k], .seq_len = lengths[l]};
            /* infinite products only where all of a sequence is one tile: a partial kernel may take
               the first tile again and again, and would meet them in the middle */
            if (data_kind_fits(&spec, kinds[k]) && (kinds[k] != DATA_OVERFLOW || lengths[l] <= 1024))
                right = computes(inquiry, &spec, num_seqs, device, host);
        }
        for (int a = 0; a < 3; a++) {
            cudaFree(device[a]);
            free(host[a]);
        }
        if (!right)
            return;
    }
}

void linrec_contract(const void *row, enum direction direction, bool on_cpu, char *text, size_t size)
{
    const struct linrec_kernel *const kernel = row;
    enum { LENGTH = 16384 }; /* of the arrays */
    static const size_t lengths[] = {100, 1001, 2049, 4096, LENGTH};
    struct inquiry inquiry = {.kernel = kernel, .backward = is_backward(direction), .text = text, .size = size};
    struct linrec_args *const good = &inquiry.good;
    float *memory = NULL;
    text[0] = '\0';

    good->num_seqs = 1, good->seq_len = LENGTH;
    good->workspace_size =
        kernel->workspace_size != NULL ? kernel->workspace_size(good) : 0; /* the most that it needs */
    cudaError_t error = cudaMalloc((void **)&memory, 6 * LENGTH * sizeof *memory);
    if (error == cudaSuccess)
        error = cudaMemset(memory, 0, 6 * LENGTH * sizeof *memory);
    if (error == cudaSuccess && good->workspace_size != 0)
        error = cudaMalloc(&good->workspace, good->workspace_size);
    if (error == cudaSuccess && good->workspace_size != 0)
        error = cudaMemset(good->workspace, 0xFF, good->workspace_size);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize(); /* the streams below do not wait for the default one */
    if (error != cudaSuccess) {
        snprintf(text, size, "there was no memory to check it");
        cudaFree(memory);
        return;
    }
    good->inputs = memory, good->coeffs = memory + LENGTH, good->outputs = memory + 2 * LENGTH;
    good->d_outputs = memory + 3 * LENGTH, good->d_inputs = memory + 4 * LENGTH, good->d_coeffs = memory + 5 * LENGTH;
    good->seq_len = lengths[0];
    const bool refuses_all = refuses_pointers(&inquiry) && refuses_states(&inquiry) &&
                             refuses_sizes(&inquiry, on_cpu) && refuses_configs(&inquiry) &&
                             refuses_workspaces(&inquiry);
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0] && refuses_all && !on_cpu && text[0] == '\0'; l++) {
        good->seq_len = lengths[l];
        if (kernel->max_seq_len == 0 || good->seq_len <= kernel->max_seq_len)
            check_stream(&inquiry, good);
    }
    good->seq_len = kernel->max_seq_len != 0 && kernel->max_seq_len < LENGTH ? kernel->max_seq_len : LENGTH;
    if (text[0] == '\0' && kernel->workspace_size != NULL && !kernel->info.partial)
        check_next_launches(&inquiry, good, memory + (inquiry.backward ? 3 * LENGTH : 0));
    if (text[0] == '\0' && kernel->states)
        check_states(&inquiry);
    if (text[0] == '\0' && kernel->instead != NULL)
        check_partial(&inquiry);
    cudaFree(good->workspace);
    cudaFree(memory);
}
