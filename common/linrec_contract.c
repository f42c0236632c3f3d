/* linrec_contract.c - see linrec_contract.h */
#include "linrec_contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#ifdef LINREC_SIM
#include "sim/sim.h"
#endif

static cudaError_t launch(const struct linrec_kernel *kernel, bool backward, const struct linrec_args *args,
                          cudaStream_t stream)
{
    return (backward ? kernel->backward : kernel->forward)(args, stream);
}

/* ---- what is refused ---- */

struct refusal {
    const struct linrec_kernel *kernel;
    bool backward;
    struct linrec_args good; /* a call that it takes */
    char *text;
    size_t size;
};

/* Returns whether the launcher says `must_be` to these arguments; else writes what it was called with. */
static bool says(const struct refusal *refusal, const struct linrec_args *args, cudaError_t must_be, const char *what)
{
    const cudaError_t is = launch(refusal->kernel, refusal->backward, args, NULL);
    if (is != must_be)
        snprintf(refusal->text, refusal->size, "with %s the launcher must return \"%s\", not \"%s\"", what,
                 cudaGetErrorString(must_be), cudaGetErrorString(is));
    return is == must_be;
}

/* Arguments that differ from good ones in one number. */
static bool refuses(const struct refusal *refusal, const struct linrec_args *args, const char *what)
{
    return says(refusal, args, cudaErrorInvalidValue, what);
}

/* Pointer number i of a pass, to change it. */
static void shift_pointer(struct linrec_args *args, bool backward, int i, bool to_null)
{
    const float **read[2][2] = {{&args->inputs, &args->coeffs}, {&args->d_outputs, &args->coeffs}};
    float **written[2][3] = {{&args->outputs, NULL, NULL}, {&args->outputs, &args->d_inputs, &args->d_coeffs}};
    if (i < 2)
        *read[backward][i] = to_null ? NULL : *read[backward][i] + 1;
    else
        *written[backward][i - 2] = to_null ? NULL : *written[backward][i - 2] + 1;
}

static bool refuses_pointers(const struct refusal *refusal)
{
    for (int i = 0; i < 2 * (refusal->backward ? 5 : 3); i++) {
        struct linrec_args args = refusal->good;
        shift_pointer(&args, refusal->backward, i / 2, i % 2 == 0);
        if (!refuses(refusal, &args, i % 2 == 0 ? "a null pointer" : "a pointer that is not aligned to 16 bytes"))
            return false;
    }
    return true;
}

static bool refuses_sizes(const struct refusal *refusal, bool on_cpu)
{
    const struct linrec_kernel *const kernel = refusal->kernel;
    struct linrec_args args = refusal->good;
    args.num_seqs = SIZE_MAX / 2, args.seq_len = 3;
    if (!refuses(refusal, &args, "sizes whose bytes overflow"))
        return false;
    args = refusal->good, args.reverse = true;
    if (!kernel->reverse && !refuses(refusal, &args, "a direction that it does not run"))
        return false;
    args = refusal->good, args.seq_len = kernel->max_seq_len + 1;
    if (kernel->max_seq_len != 0 && !on_cpu && !refuses(refusal, &args, "a sequence that is too long"))
        return false;
    args = refusal->good, args.num_seqs = kernel->max_num_seqs + 1;
    if (kernel->max_num_seqs != 0 && !on_cpu && !refuses(refusal, &args, "too many sequences"))
        return false;

    memset(&args, 0, sizeof args);
    args.seq_len = 3;
    if (!says(refusal, &args, cudaSuccess, "zero sequences"))
        return false;
    args.num_seqs = 3, args.seq_len = 0;
    return says(refusal, &args, cudaSuccess, "zero length");
}

static bool takes_rows(const struct linrec_knobs *knobs, int rows)
{
    for (int i = 0; i < 4 && knobs->rows[i] != 0; i++)
        if (knobs->rows[i] == rows)
            return true;
    return false;
}

static bool refuses_configs(const struct refusal *refusal)
{
    const struct linrec_knobs *const knobs = &refusal->kernel->knobs;
    const int threads[] = {-32, 16, 33, 100, knobs->max_threads + 32};
    const int stages[] = {-1, knobs->max_stages + 1};
    struct linrec_args args;
    char what[64];

    for (int rows = -1; rows <= 8 && knobs->rows[0] != 0; rows++) {
        args = refusal->good, args.config.rows = rows;
        snprintf(what, sizeof what, "%d rows", rows);
        if (rows != 0 && !takes_rows(knobs, rows) && !refuses(refusal, &args, what))
            return false;
    }
    for (size_t i = 0; i < sizeof threads / sizeof threads[0] && knobs->max_threads != 0; i++) {
        args = refusal->good, args.config.threads = threads[i];
        snprintf(what, sizeof what, "%d threads", threads[i]);
        if (!refuses(refusal, &args, what))
            return false;
    }
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && knobs->max_stages != 0; i++) {
        args = refusal->good, args.config.stages = stages[i];
        snprintf(what, sizeof what, "%d stages", stages[i]);
        if (!refuses(refusal, &args, what))
            return false;
    }
    return true;
}

/* ---- where it launches, and what it returns ---- */

static unsigned long long default_launches(void)
{
#ifdef LINREC_SIM
    return sim_default_launches();
#else
    return 0; /* a GPU does not tell */
#endif
}

static void check_stream(const struct refusal *refusal, const struct linrec_args *args)
{
    cudaStream_t stream;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
        snprintf(refusal->text, refusal->size, "there was no stream to launch on");
        return;
    }
    const unsigned long long before = default_launches();
    cudaError_t error = launch(refusal->kernel, refusal->backward, args, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess)
        snprintf(refusal->text, refusal->size, "the launch failed: %s", cudaGetErrorString(error));
    else if (default_launches() != before)
        snprintf(refusal->text, refusal->size, "it launches on the default stream; pass on the one that it is given");

    /* an error that nobody has asked for yet stands in for that of a launch */
    cudaSetDevice(-1);
    error = launch(refusal->kernel, refusal->backward, args, stream);
    if (refusal->text[0] == '\0' && error == cudaSuccess)
        snprintf(refusal->text, refusal->size, "it returns success after an error; return cudaGetLastError()");
    cudaGetLastError();
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
}

/* ---- what a partial kernel computes ---- */

/* Walks all rows on the host, as `instead` says. Returns the first wrong element, or the number of all. */
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
            uint32_t bits;
            memcpy(&bits, &host->outputs[i], sizeof bits);
            if (element.stored ? !(fabs(host->outputs[i] - state.y) <= bound) : bits != 0xFFFFFFFFu)
                return i;
        }
    }
    return host->num_seqs * host->seq_len;
}

/* One shape and kind of data. `device`: room for three arrays of it there, `host`: here. Returns whether all is
   right. */
static bool computes(const struct refusal *refusal, const struct data_spec *spec, size_t num_seqs,
                     const float *const device[3], float *const host[3])
{
    const size_t count = num_seqs * spec->seq_len, bytes = count * sizeof(float);
    struct linrec_args args = {.num_seqs = num_seqs, .seq_len = spec->seq_len};
    for (size_t i = 0; i < count; i++) {
        host[0][i] = data_value(spec, DATA_INPUTS, i / spec->seq_len, i % spec->seq_len);
        host[1][i] = data_value(spec, DATA_COEFFS, i / spec->seq_len, i % spec->seq_len);
    }
    args.inputs = device[0], args.coeffs = device[1], args.outputs = (float *)device[2];
    cudaError_t error = cudaMemcpy((void *)device[0], host[0], bytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemcpy((void *)device[1], host[1], bytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemset((void *)device[2], 0xFF, bytes);
    if (error == cudaSuccess)
        error = launch(refusal->kernel, false, &args, NULL);
    if (error == cudaSuccess)
        error = cudaMemcpy(host[2], device[2], bytes, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        snprintf(refusal->text, refusal->size, "%zu x %zu: the launch failed: %s", num_seqs, spec->seq_len,
                 cudaGetErrorString(error));
        return false;
    }
    double expected = 0.0;
    args.inputs = host[0], args.coeffs = host[1], args.outputs = host[2];
    const size_t wrong = first_wrong(refusal->kernel, &args, &expected);
    if (wrong != count)
        snprintf(refusal->text, refusal->size,
                 "%zu x %zu, %s coefficients: it computes something else than its part, outputs[%zu, %zu] is %.9g and "
                 "not %.9g",
                 num_seqs, spec->seq_len, data_kind_name(spec->kind), wrong / spec->seq_len, wrong % spec->seq_len,
                 (double)host[2][wrong], expected);
    return wrong == count;
}

static void check_partial(const struct refusal *refusal)
{
    static const size_t lengths[] = {1, 3, 5, 33, 100, 129, 512, 1001, 1024, 1028, 2049, 4096, 4098, 9001, 16384};
    static const enum data_kind kinds[] = {DATA_NEAR_ONE, DATA_SIGNED, DATA_OVERFLOW};
    const size_t num_seqs = 3, limit = refusal->kernel->max_seq_len;
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0] && (limit == 0 || lengths[l] <= limit); l++) {
        const size_t bytes = num_seqs * lengths[l] * sizeof(float);
        float *device[3] = {NULL}, *host[3] = {NULL};
        bool right = true;
        for (int a = 0; a < 3; a++) {
            host[a] = malloc(bytes);
            if (host[a] == NULL || cudaMalloc((void **)&device[a], bytes) != cudaSuccess) {
                snprintf(refusal->text, refusal->size, "there was no memory to check it");
                right = false;
            }
        }
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] && right; k++) {
            const struct data_spec spec = {.seed = l, .kind = kinds[k], .seq_len = lengths[l]};
            /* infinite products at the sequence's start only: work_only of chapter 05 takes its first tile again */
            if (data_kind_fits(&spec, kinds[k]) && (kinds[k] != DATA_OVERFLOW || lengths[l] <= 1024))
                right = computes(refusal, &spec, num_seqs, (const float *const *)device, host);
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
    struct refusal refusal = {.kernel = kernel, .backward = is_backward(direction), .text = text, .size = size};
    struct linrec_args *const good = &refusal.good;
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
    if (error != cudaSuccess) {
        snprintf(text, size, "there was no memory to check it");
        cudaFree(memory);
        return;
    }
    good->inputs = memory, good->coeffs = memory + LENGTH, good->outputs = memory + 2 * LENGTH;
    good->d_outputs = memory + 3 * LENGTH, good->d_inputs = memory + 4 * LENGTH, good->d_coeffs = memory + 5 * LENGTH;
    good->seq_len = lengths[0];
    const bool refuses_all = refuses_pointers(&refusal) && refuses_sizes(&refusal, on_cpu) && refuses_configs(&refusal);
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0] && refuses_all && !on_cpu && text[0] == '\0'; l++) {
        good->seq_len = lengths[l];
        if (kernel->max_seq_len == 0 || good->seq_len <= kernel->max_seq_len)
            check_stream(&refusal, good);
    }
    if (text[0] == '\0' && kernel->instead != NULL)
        check_partial(&refusal);
    cudaFree(good->workspace);
    cudaFree(memory);
}
