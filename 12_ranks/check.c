/* SPDX-License-Identifier: MIT */
/* check.c - see check.h. What the sequences hold is a function of seed and position (linrec_data.h), so every rank
   makes its own part of them, and looks up what its neighbours have. */
#include "check.h"

#include <stdlib.h>

#include "../common/linrec/linrec_oracle.h"

const char *kind_name(int kind)
{
    return kind == KIND_099      ? "c = 0.99"
           : kind == KIND_ONE    ? "c = 1"
           : kind == KIND_FADING ? "fading"
                                 : data_kind_name((enum data_kind)kind);
}

static struct data_spec spec_of(const struct whole *whole)
{
    const enum data_kind kind = whole->kind < DATA_NUM_KINDS ? (enum data_kind)whole->kind : DATA_UNIFORM;
    return (struct data_spec){whole->seed, kind, whole->seq_len, whole->reverse, 0, whole->backward};
}

/* All but `overflow`: a stretch's product is infinite there, and promises nothing (linrec.h). Of what is large, the
   kinds that tell most. */
bool kind_fits(const struct whole *whole, size_t num_seqs, int kind)
{
    const struct data_spec spec = spec_of(whole);
    const bool is_large = num_seqs * whole->seq_len > 16384;
    if (kind >= KIND_099 || kind == DATA_NEAR_ONE)
        return kind <= KIND_FADING;
    return kind < DATA_NUM_KINDS && kind != DATA_OVERFLOW && !is_large && data_kind_fits(&spec, (enum data_kind)kind);
}

/* Element (seq, position) of the whole. Fading: nothing but the scan's first input, which coefficients of 0.99 carry
   on, so that what leaves a stretch is far smaller than what came in. */
static float value(const struct whole *whole, enum data_array array, size_t seq, size_t position)
{
    const struct data_spec spec = spec_of(whole);
    const bool is_first = position == (whole->reverse != whole->backward ? whole->seq_len - 1 : 0);
    if (array == DATA_COEFFS && whole->kind >= KIND_099)
        return whole->kind == KIND_ONE ? 1.0f : 0.99f;
    if (whole->kind == KIND_FADING && (array == DATA_INPUTS || array == DATA_D_OUTPUTS))
        return is_first ? 1.0f : 0.0f;
    return data_value(&spec, array, seq, position);
}

static float *host_array(size_t count)
{
    float *const values = malloc(count * sizeof *values);
    ranks_need(values == NULL ? cudaErrorMemoryAllocation : cudaSuccess, "no host memory to check with");
    return values;
}

void part_fill(const struct part *part, const struct whole *whole)
{
    const struct linrec_args *args = &part->args;
    const size_t count = args->num_seqs * args->seq_len, bytes = count * sizeof(float);
    const struct {
        const float *to;
        enum data_array array;
        bool is_read;
    } arrays[] = {{args->coeffs, DATA_COEFFS, true},
                  {args->inputs, DATA_INPUTS, true},
                  {args->d_outputs, DATA_D_OUTPUTS, true},
                  {args->outputs, DATA_OUTPUTS, part->backward}, /* random numbers, like any other input */
                  {args->d_inputs, DATA_OUTPUTS, false},
                  {args->d_coeffs, DATA_OUTPUTS, false}};
    float *const values = host_array(count);
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++) {
        if (arrays[a].to == NULL)
            continue;
        if (!arrays[a].is_read) {
            ranks_need(cudaMemset((void *)arrays[a].to, 0xFF, bytes), "no NaN");
            continue;
        }
        for (size_t s = 0; s < args->num_seqs; s++)
            for (size_t l = 0; l < args->seq_len; l++)
                values[s * args->seq_len + l] = value(whole, arrays[a].array, s, part->begin + l);
        ranks_need(cudaMemcpy((void *)arrays[a].to, values, bytes, cudaMemcpyHostToDevice), "no data");
    }
    free(values);
}

/* Levels of addition beside the plain loop: 24 in chapter 08's scans, as many in totals.cu, which has a tile's levels
   and the tiles', and for each rank one where totals are joined, and one for what forget may leave out. */
static int levels(const struct part *part)
{
    return 48 + 2 * part->ranks;
}

/* What the whole sequence takes at one step of the loop. */
static void check_step(const struct part *part, const struct whole *whole, size_t seq, size_t position, const float *y,
                       const float *dx, const float *dc, struct oracle_state *state, struct finding *finding)
{
    const bool down = whole->reverse != whole->backward;
    const size_t first = down ? whole->seq_len - 1 : 0, last = whole->seq_len - 1 - first;
    const bool is_first = position == first, is_last = position == last;
    const size_t index = seq * part->args.seq_len + position - part->begin;
    if (!whole->backward) {
        oracle_step(state, is_first, value(whole, DATA_COEFFS, seq, position),
                    value(whole, DATA_INPUTS, seq, position));
        finding_add(finding, LINREC_OUTPUTS, index, y[index], state->y, oracle_bound(state, levels(part)));
        return;
    }
    const size_t before = down ? position + 1 : position - 1, behind = down ? position - 1 : position + 1;
    oracle_step(state, is_first, is_first ? 0.0 : value(whole, DATA_COEFFS, seq, before),
                value(whole, DATA_D_OUTPUTS, seq, position));
    const double bound = oracle_bound(state, levels(part));
    const double output = is_last ? 0.0 : value(whole, DATA_OUTPUTS, seq, behind), expected = output * state->y;
    finding_add(finding, LINREC_D_INPUTS, index, dx[index], state->y, bound);
    finding_add(finding, LINREC_D_COEFFS, index, dc[index], is_last ? 0.0 : expected,
                is_last ? 0.0 : fabs(output) * bound + 0x1p-24 * fabs(expected) + (double)FLT_MIN);
}

struct finding part_check(const struct part *part, const struct whole *whole)
{
    const size_t length = part->args.seq_len, count = part->args.num_seqs * length;
    const int doubles = (int)(part->args.num_seqs * sizeof(struct oracle_state) / sizeof(double));
    const float *const from[] = {part->args.outputs, part->args.d_inputs, part->args.d_coeffs};
    float *results[3] = {NULL, NULL, NULL};
    struct oracle_state *const states = calloc(part->args.num_seqs, sizeof *states);
    struct finding finding = FINDING_NOTHING;

    ranks_need(states == NULL ? cudaErrorMemoryAllocation : cudaSuccess, "no host memory to check with");
    for (int i = part->backward ? 1 : 0; i < (part->backward ? 3 : 1); i++) {
        results[i] = host_array(count);
        ranks_need(cudaMemcpy(results[i], from[i], count * sizeof(float), cudaMemcpyDeviceToHost), "a kernel failed");
    }
    /* [oracle] */
    if (part->rank > 0)
        MPI_Recv(states, doubles, MPI_DOUBLE, part->rank - 1, 1, part->comm, MPI_STATUS_IGNORE);
    for (size_t s = 0; s < part->args.num_seqs; s++)
        for (size_t step = 0; step < length; step++) {
            const size_t l = whole->reverse != whole->backward ? length - 1 - step : step;
            check_step(part, whole, s, part->begin + l, results[0], results[1], results[2], &states[s], &finding);
        }
    if (part->rank < part->ranks - 1)
        MPI_Send(states, doubles, MPI_DOUBLE, part->rank + 1, 1, part->comm);

    for (int i = 0; i < 3; i++)
        free(results[i]);
    free(states);
    return finding;
}
