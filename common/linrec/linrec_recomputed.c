/* SPDX-License-Identifier: MIT */
/* linrec_recomputed.c - the check of a backward pass that is given inputs in place of outputs, and computes those once
   more. See linrec_operation.h. */
#include <stdlib.h>

#include "linrec_operation.h"
#include "linrec_oracle.h"

/* The outputs of a sequence, as the loop finds them, and how far those may be from them that were computed again. */
static void expect_outputs(const struct linrec_args *args, size_t seq, int levels, float *outputs, double *bounds)
{
    struct oracle_state state = {0.0, 0.0, 0.0, 0.0};
    for (size_t step = 0; step < args->seq_len; step++) {
        const struct oracle_point point = oracle_advance(&state, args, false, seq, step, step == 0, levels);
        outputs[point.pos] = (float)point.expected;
        bounds[point.pos] = point.bound + 0x1p-24 * fabs(point.expected) + (double)FLT_MIN;
    }
}

/* An error of an output is one of d_coeffs, times d_inputs. */
static void check_seq(struct linrec_args args, size_t seq, int levels, float *outputs, double *bounds,
                      struct finding *finding)
{
    const size_t length = args.seq_len, row = seq * length;
    struct oracle_state state = {0.0, 0.0, 0.0, 0.0};
    expect_outputs(&args, seq, levels, outputs, bounds);
    args.coeffs += row, args.d_outputs += row, args.outputs = outputs;
    for (size_t step = 0; step < length; step++) {
        const struct oracle_point point = oracle_advance(&state, &args, true, 0, step, step == 0, levels);
        const size_t index = row + point.pos;
        double coeff_bound = point.coeff_bound;
        if (step < length - 1)
            coeff_bound += bounds[args.reverse ? point.pos + 1 : point.pos - 1] * (fabs(point.expected) + point.bound);
        finding_add(finding, LINREC_D_INPUTS, index, args.d_inputs[index], point.expected, point.bound);
        finding_add(finding, LINREC_D_COEFFS, index, args.d_coeffs[index], point.coeff_expected, coeff_bound);
    }
}

bool linrec_check_recomputed(const struct problem *problem, int levels, struct finding *finding)
{
    const struct linrec_args args = linrec_args_of(problem);
    float *const outputs = malloc((args.seq_len + 1) * sizeof *outputs);
    double *const bounds = malloc((args.seq_len + 1) * sizeof *bounds);
    const bool has_memory = outputs != NULL && bounds != NULL;
    for (size_t s = 0; s < args.num_seqs && has_memory; s++)
        check_seq(args, s, levels, outputs, bounds, finding);
    free(outputs);
    free(bounds);
    return has_memory;
}
