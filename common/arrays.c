/* arrays.c - see arrays.h */
#include "arrays.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#ifdef LINREC_SIM
#include "sim/sim.h"
#endif

/* What is compared on the host beside the device: arrays of up to HOST_COUNT elements whole, rows of up to HOST_ROW. */
#define HOST_COUNT ((size_t)1 << 20)
#define HOST_ROW ((size_t)1 << 24)

const char *direction_name(bool backward, bool reverse)
{
    static const char *const names[2][2] = {{"forward", "reverse"}, {"backward", "backward_reverse"}};
    return names[backward][reverse];
}

/* The arrays that a pass reads and writes, in the order of `blocks`. */
struct pass {
    int num_read, num_written;
};
static const struct pass passes[2] = {{2, 1}, {3, 2}};
static const enum data_array contents[2][3] = {{DATA_INPUTS, DATA_COEFFS}, {DATA_D_OUTPUTS, DATA_COEFFS, DATA_OUTPUTS}};

/* The simulator's messages name the arrays, and a kernel must not even touch their guards. */
static void name_array(const void *start, size_t bytes, const char *name)
{
#ifdef LINREC_SIM
    sim_name_array(start, bytes, name);
#else
    (void)start, (void)bytes, (void)name;
#endif
}

static const char *const array_names[2][5] = {{"inputs", "coeffs", "outputs"},
                                              {"d_outputs", "coeffs", "outputs", "d_inputs", "d_coeffs"}};

static void set_pointers(struct arrays *arrays, char *const pointers[5])
{
    struct linrec_args *args = &arrays->args;
    if (arrays->backward) {
        args->d_outputs = (const float *)pointers[0];
        args->coeffs = (const float *)pointers[1];
        args->outputs = (float *)pointers[2];
        args->d_inputs = (float *)pointers[3];
        args->d_coeffs = (float *)pointers[4];
    } else {
        args->inputs = (const float *)pointers[0];
        args->coeffs = (const float *)pointers[1];
        args->outputs = (float *)pointers[2];
    }
}

size_t arrays_bytes(size_t num_seqs, size_t seq_len, bool backward)
{
    const struct pass pass = passes[backward];
    const size_t count = (size_t)(pass.num_read + pass.num_written);
    if (seq_len != 0 && num_seqs > PTRDIFF_MAX / sizeof(float) / count / seq_len)
        return SIZE_MAX;
    return count * num_seqs * seq_len * sizeof(float) + (size_t)pass.num_written * 2 * GUARD_BYTES;
}

cudaError_t arrays_create(struct arrays *arrays, size_t num_seqs, size_t seq_len, bool backward)
{
    const struct pass pass = passes[backward];
    char *pointers[5] = {NULL};
    memset(arrays, 0, sizeof *arrays);
    arrays->args.num_seqs = num_seqs;
    arrays->args.seq_len = seq_len;
    arrays->backward = backward;
    arrays->bytes = num_seqs * seq_len * sizeof(float);

    cudaError_t error = cudaMalloc((void **)&arrays->result, sizeof *arrays->result);
    for (int i = 0; i < pass.num_read + pass.num_written && error == cudaSuccess; i++) {
        const bool written = i >= pass.num_read;
        size_t bytes = arrays->bytes + (written ? 2 * GUARD_BYTES : 0);
        error = cudaMalloc(&arrays->blocks[i], bytes != 0 ? bytes : 1);
        pointers[i] = (char *)arrays->blocks[i] + (written ? GUARD_BYTES : 0);
    }
    if (error != cudaSuccess) {
        cudaGetLastError();
        arrays_free(arrays);
        return error;
    }
    for (int i = 0; i < pass.num_read + pass.num_written; i++)
        name_array(pointers[i], arrays->bytes, array_names[backward][i]);
    set_pointers(arrays, pointers);
    return cudaSuccess;
}

void arrays_free(struct arrays *arrays)
{
    for (int i = 0; i < 5; i++)
        if (arrays->blocks[i] != NULL)
            cudaFree(arrays->blocks[i]);
    if (arrays->result != NULL)
        cudaFree(arrays->result);
    memset(arrays, 0, sizeof *arrays);
}

cudaError_t arrays_fill(struct arrays *arrays, const struct data_spec *spec)
{
    arrays->args.reverse = spec->reverse;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < passes[arrays->backward].num_read && error == cudaSuccess; i++)
        error = device_fill(spec, contents[arrays->backward][i], arrays->blocks[i], arrays->args.num_seqs);
    return error;
}

cudaError_t arrays_poison(struct arrays *arrays)
{
    const struct pass pass = passes[arrays->backward];
    cudaError_t error = cudaSuccess;
    for (int i = pass.num_read; i < pass.num_read + pass.num_written && error == cudaSuccess; i++)
        error = cudaMemset(arrays->blocks[i], 0xFF, arrays->bytes + 2 * GUARD_BYTES);
    return error;
}

cudaError_t arrays_launch(struct arrays *arrays, const struct linrec_kernel *kernel, bool backward)
{
    struct linrec_args args = arrays->args;
    linrec_launcher *launch = backward ? kernel->backward : kernel->forward;
    cudaError_t error = cudaSuccess;

    if (kernel->workspace_size != NULL && (args.workspace_size = kernel->workspace_size(&args)) != 0)
        error = cudaMalloc(&args.workspace, args.workspace_size);
    if (error == cudaSuccess && args.workspace != NULL)
        name_array(args.workspace, args.workspace_size, "workspace");
    if (error == cudaSuccess)
        error = launch(&args, NULL);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (args.workspace != NULL)
        cudaFree(args.workspace);
    return error;
}

/* Copies rows [first, first + count) of every array to the host; *rows then describes them. */
static bool copy_rows(const struct arrays *arrays, size_t first, size_t count, struct arrays *rows)
{
    const struct pass pass = passes[arrays->backward];
    const size_t row_bytes = arrays->args.seq_len * sizeof(float);
    char *pointers[5] = {NULL};
    *rows = *arrays;
    rows->args.num_seqs = count;
    memset(rows->blocks, 0, sizeof rows->blocks);
    for (int i = 0; i < pass.num_read + pass.num_written; i++) {
        const char *from = (const char *)arrays->blocks[i] + (i >= pass.num_read ? GUARD_BYTES : 0) + first * row_bytes;
        pointers[i] = rows->blocks[i] = malloc(count * row_bytes + 1);
        if (pointers[i] == NULL ||
            cudaMemcpy(pointers[i], from, count * row_bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
            return false;
    }
    set_pointers(rows, pointers);
    return true;
}

static void free_rows(struct arrays *rows)
{
    for (int i = 0; i < 5; i++)
        free(rows->blocks[i]);
}

/* Whether a launch has changed what it should only read. `rows`: on the host, all of them. */
static bool inputs_changed(const struct arrays *rows, const struct data_spec *spec)
{
    for (int i = 0; i < passes[rows->backward].num_read; i++)
        for (size_t s = 0; s < rows->args.num_seqs; s++)
            for (size_t l = 0; l < spec->seq_len; l++) {
                const float is = ((const float *)rows->blocks[i])[s * spec->seq_len + l];
                const float was = data_value(spec, contents[rows->backward][i], s, l);
                if (memcmp(&is, &was, sizeof is) != 0)
                    return true;
            }
    return false;
}

/* Compares `count` rows from row `first` on with the oracle on the host, adding to *result. `changed`, where not NULL
   (then all rows are compared): whether the launch changed its inputs. */
static bool check_rows_on_host(const struct arrays *arrays, const struct data_spec *spec, int levels, size_t first,
                               size_t count, struct oracle_result *result, bool *changed)
{
    struct arrays rows;
    struct oracle_result found = {0.0, 0, ULLONG_MAX};
    const bool copied = copy_rows(arrays, first, count, &rows);
    const size_t pieces = oracle_num_pieces(&rows.args, spec->window);
    for (size_t s = 0; copied && s < count; s++)
        for (size_t p = 0; p < pieces; p++) {
            size_t begin, end;
            oracle_piece(&rows.args, arrays->backward, spec->window, p, &begin, &end);
            oracle_check(&rows.args, arrays->backward, s, begin, end, levels, &found);
        }
    if (copied && changed != NULL)
        *changed = inputs_changed(&rows, spec);
    free_rows(&rows);
    result->max_error = fmax(result->max_error, found.max_error);
    result->num_bad += found.num_bad;
    if (found.num_bad != 0 && found.first_bad + 2 * first * arrays->args.seq_len < result->first_bad)
        result->first_bad = found.first_bad + 2 * first * arrays->args.seq_len;
    return copied;
}

/* One line about the first bad element: where, expected, got, and whose it is. */
static void describe_bad(const struct arrays *arrays, const struct linrec_kernel *kernel, int levels,
                         const struct oracle_result *result, char *text, size_t size)
{
    const size_t length = arrays->args.seq_len, index = (size_t)(result->first_bad / 2);
    const size_t seq = index / length, pos = index % length;
    const bool coeffs = result->first_bad % 2 == 1;
    const char *name = coeffs ? "d_coeffs" : arrays->backward ? "d_inputs" : "outputs";
    char owner[128] = "";
    if (kernel->owner != NULL)
        kernel->owner(&arrays->args, seq, pos, owner, sizeof owner);
    int used = snprintf(text, size, "%llu of %zu elements are wrong, the first is %s[%zu, %zu]%s%s", result->num_bad,
                        arrays->args.num_seqs * length * (arrays->backward ? 2 : 1), name, seq, pos,
                        *owner != '\0' ? " of " : "", owner);

    if (length > HOST_ROW)
        return;
    struct arrays row;
    if (copy_rows(arrays, seq, 1, &row)) {
        struct oracle_state state = {0.0, 0.0, 0.0, 0.0};
        struct oracle_point point = {length, 0.0, 0.0, 0.0, 0.0};
        for (size_t step = 0; point.pos != pos; step++)
            point = oracle_advance(&state, &row.args, arrays->backward, 0, step, step == 0, levels);
        const float *values = coeffs ? row.args.d_coeffs : arrays->backward ? row.args.d_inputs : row.args.outputs;
        snprintf(text + used, size - (size_t)used, ": expected %.9g (+- %.2g), got %.9g",
                 coeffs ? point.coeff_expected : point.expected, coeffs ? point.coeff_bound : point.bound,
                 (double)values[pos]);
    }
    free_rows(&row);
}

/* Returns the number of guard bytes that changed. */
static size_t changed_guards(const struct arrays *arrays)
{
    const struct pass pass = passes[arrays->backward];
    size_t changed = 0;
    for (int i = pass.num_read; i < pass.num_read + pass.num_written; i++)
        for (int side = 0; side < 2; side++) {
            unsigned char guard[GUARD_BYTES] = {0};
            const char *at = (const char *)arrays->blocks[i] + (side == 0 ? 0 : GUARD_BYTES + arrays->bytes);
            cudaMemcpy(guard, at, GUARD_BYTES, cudaMemcpyDeviceToHost);
            for (int j = 0; j < GUARD_BYTES; j++)
                changed += guard[j] != 0xFF;
        }
    return changed;
}

void arrays_check(struct arrays *arrays, const struct linrec_kernel *kernel, const struct data_spec *spec,
                  bool on_device, struct check *check)
{
    const size_t num_seqs = arrays->args.num_seqs, length = arrays->args.seq_len, count = num_seqs * length;
    const int levels = kernel->levels != NULL ? kernel->levels(length) : 1;
    const struct oracle_result nothing = {0.0, 0, ULLONG_MAX};
    struct oracle_result result = nothing, host = nothing;
    size_t changed;
    memset(check, 0, sizeof *check);

    cudaError_t error = arrays_poison(arrays);
    if (error == cudaSuccess)
        error = arrays_launch(arrays, kernel, arrays->backward);
    if (error != cudaSuccess) {
        snprintf(check->text, sizeof check->text, "the launch failed: %s", cudaGetErrorString(error));
        check->max_error = INFINITY;
        return;
    }
    if ((changed = changed_guards(arrays)) != 0) {
        snprintf(check->text, sizeof check->text, "%zu bytes before or past an output array were written", changed);
        check->max_error = INFINITY;
        return;
    }

    if (count == 0)
        return;

    /* on the host: everything that is small enough, else three rows */
    const bool whole = !on_device || count <= HOST_COUNT;
    bool checked = true, inputs_differ = false;
    if (whole)
        checked = check_rows_on_host(arrays, spec, levels, 0, num_seqs, &host,
                                     spec->kind == DATA_NAN_FIRST ? &inputs_differ : NULL);
    else if (length <= HOST_ROW)
        for (size_t row = 0, stride = (num_seqs + 1) / 2; row < num_seqs; row += stride)
            checked = checked && check_rows_on_host(arrays, spec, levels, row, 1, &host, NULL);
    result = host;
    if (on_device && checked) {
        checked = cudaMemcpy(arrays->result, &nothing, sizeof nothing, cudaMemcpyHostToDevice) == cudaSuccess &&
                  device_check(&arrays->args, arrays->backward, spec->window, levels, arrays->result) == cudaSuccess &&
                  cudaMemcpy(&result, arrays->result, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess;
        if (checked && whole && (result.num_bad != host.num_bad || fabs(result.max_error - host.max_error) > 1e-6)) {
            snprintf(check->text, sizeof check->text,
                     "the check on the device (error %g) and on the host (%g) disagree", result.max_error,
                     host.max_error);
            check->max_error = INFINITY;
            return;
        }
    }
    check->max_error = result.max_error;
    if (!checked) {
        snprintf(check->text, sizeof check->text, "the result could not be copied back and checked");
        check->max_error = INFINITY;
    } else if (inputs_differ) {
        snprintf(check->text, sizeof check->text, "the launch changed an array that it should only read");
        check->max_error = INFINITY;
    } else if (result.num_bad != 0 || !(result.max_error <= 1.0)) {
        describe_bad(arrays, kernel, levels, &result, check->text, sizeof check->text);
    }
}
