/* SPDX-License-Identifier: MIT */
/* check.c - see check.h. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "../common/linrec/linrec_oracle.h"

/* ---- memory of the host ---- */

static bool holds_data; /* the arrays, of the last fill */

static float *allocate(enum memory memory, size_t count)
{
    void *pointer = NULL;
    cudaError_t error = cudaSuccess;
    if (memory == PAGEABLE)
        error = (pointer = malloc(count * sizeof(float))) == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
    else if (memory == PINNED)
        error = cudaMallocHost(&pointer, count * sizeof(float));
    else
        error = cudaMallocManaged(&pointer, count * sizeof(float), cudaMemAttachGlobal);
    need(error, "no memory of the host; try shorter sequences");
    return pointer;
}

static void release(enum memory memory, float *array)
{
    if (memory == PAGEABLE)
        free(array);
    else
        need(memory == PINNED ? cudaFreeHost(array) : cudaFree(array), "no memory of the host");
}

void host_arrays_free(struct host_arrays *arrays)
{
    float *const all[] = {arrays->inputs,    arrays->coeffs,   arrays->outputs,
                          arrays->d_outputs, arrays->d_inputs, arrays->d_coeffs};
    for (int a = 0; a < 6 && arrays->count > 0; a++)
        release(arrays->memory, all[a]);
    arrays->count = 0;
}

void host_arrays_make(struct host_arrays *arrays, enum memory memory, size_t count)
{
    float **const all[] = {&arrays->inputs,    &arrays->coeffs,   &arrays->outputs,
                           &arrays->d_outputs, &arrays->d_inputs, &arrays->d_coeffs};
    if (arrays->count == count && arrays->memory == memory)
        return;
    host_arrays_free(arrays);
    for (int a = 0; a < 6 && count > 0; a++)
        *all[a] = allocate(memory, count);
    arrays->memory = memory;
    arrays->count = count;
    holds_data = false;
}

/* ---- test data ---- */

/* All but `overflow`: a piece's product is infinite there, and promises nothing (linrec.h). Of what is large, the kind
   that tells most. */
bool kind_fits(const struct data_spec *spec, size_t num_seqs)
{
    if (spec->kind == DATA_NEAR_ONE)
        return true;
    return spec->kind != DATA_OVERFLOW && num_seqs * spec->seq_len <= 16384 && data_kind_fits(spec, spec->kind);
}

/* Whether the arrays hold these data already: what a pass reads it does not change. */
static bool is_filled(const struct job *job, const struct data_spec *spec)
{
    static struct data_spec last;
    static bool was_for_recomputed;
    const bool same = holds_data && job->way->recomputes == was_for_recomputed && spec->kind == last.kind &&
                      spec->seq_len == last.seq_len && spec->reverse == last.reverse && spec->backward == last.backward;
    last = *spec;
    was_for_recomputed = job->way->recomputes;
    holds_data = true;
    return same;
}

void fill(struct job *job, const struct data_spec *spec)
{
    const bool is_there = is_filled(job, spec);
    const struct linrec_args *const host = &job->host;
    const struct {
        const float *to;
        enum data_array array;
        bool is_read;
    } arrays[] = {{host->inputs, DATA_INPUTS, !job->backward || job->way->recomputes},
                  {host->coeffs, DATA_COEFFS, true},
                  {host->outputs, DATA_OUTPUTS, job->backward && !job->way->recomputes},
                  {host->d_outputs, DATA_D_OUTPUTS, job->backward},
                  {host->d_inputs, DATA_INPUTS, false},
                  {host->d_coeffs, DATA_INPUTS, false}};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        float *const to = (float *)arrays[a].to;
        if (!arrays[a].is_read)
            memset(to, 0xFF, host->num_seqs * host->seq_len * sizeof *to);
        for (size_t s = 0; s < host->num_seqs && arrays[a].is_read && !is_there; s++)
            for (size_t l = 0; l < host->seq_len; l++)
                to[s * host->seq_len + l] = data_value(spec, arrays[a].array, s, l);
    }
}

/* ---- the loop ---- */

/* Levels of addition beside the plain loop: 24 in chapter 08's scans, and a piece's state goes through one more
   addition in each of them, as any element does. */
enum { LEVELS = 24 };

/* The outputs of a sequence, as the loop finds them, and how far those may be from them that were computed again. */
static void expect_outputs(const struct job *job, size_t seq, float *outputs, double *bounds)
{
    struct oracle_state state = {0.0, 0.0, 0.0, 0.0};
    for (size_t step = 0; step < job->host.seq_len; step++) {
        const struct oracle_point point = oracle_advance(&state, &job->host, false, seq, step, step == 0, LEVELS);
        outputs[point.pos] = (float)point.expected;
        bounds[point.pos] = point.bound + 0x1p-24 * fabs(point.expected) + (double)FLT_MIN;
    }
}

/* Of gradients whose outputs were computed again: an error of an output is one of d_coeffs, times d_inputs. */
static void check_recomputed(const struct job *job, size_t seq, float *outputs, double *bounds, struct finding *finding)
{
    const size_t length = job->host.seq_len, row = seq * length;
    struct oracle_state state = {0.0, 0.0, 0.0, 0.0};
    struct linrec_args args = job->host; /* outputs: of this sequence alone */

    expect_outputs(job, seq, outputs, bounds);
    args.coeffs += row, args.d_outputs += row, args.outputs = outputs;
    for (size_t step = 0; step < length; step++) {
        const struct oracle_point point = oracle_advance(&state, &args, true, 0, step, step == 0, LEVELS);
        const size_t index = row + point.pos;
        double coeff_bound = point.coeff_bound;
        if (step < length - 1)
            coeff_bound += bounds[job->down ? point.pos - 1 : point.pos + 1] * (fabs(point.expected) + point.bound);
        finding_add(finding, LINREC_D_INPUTS, index, args.d_inputs[index], point.expected, point.bound);
        finding_add(finding, LINREC_D_COEFFS, index, args.d_coeffs[index], point.coeff_expected, coeff_bound);
    }
}

struct finding check_results(const struct job *job)
{
    const size_t length = job->host.seq_len;
    struct finding finding = FINDING_NOTHING;
    float *const outputs = malloc((length + 1) * sizeof *outputs);
    double *const bounds = malloc((length + 1) * sizeof *bounds);

    need(outputs == NULL || bounds == NULL ? cudaErrorMemoryAllocation : cudaSuccess, "no memory to check with");
    for (size_t s = 0; s < job->host.num_seqs && length > 0; s++)
        if (job->way->recomputes)
            check_recomputed(job, s, outputs, bounds, &finding);
        else
            oracle_check(&job->host, job->backward, s, 0, length, LEVELS, &finding);
    free(outputs);
    free(bounds);
    return finding;
}
