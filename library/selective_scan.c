/* SPDX-License-Identifier: MIT */
/* selective_scan.c - the selective scan of liblinrec.h: chapter 09's default, and its step. */
#include "../09_selective_scan/kernels/selective_check.h"
#include "call.h"

static struct selective_args args_of(const struct linrec_selective_scan *s)
{
    return (struct selective_args){
        .batch = s->batch,
        .channels = s->channels,
        .states = s->states,
        .groups = s->groups,
        .seq_len = s->seq_len,
        .num_seqs = s->num_seqs,
        .starts = s->cu_seqlens,
        .dtype = (enum dtype)s->dtype,
        .delta_softplus = s->delta_softplus,
        .u = s->u,
        .delta = s->delta,
        .A = s->A,
        .B = s->B,
        .C = s->C,
        .D = s->D,
        .z = s->z,
        .delta_bias = s->delta_bias,
        .initial_state = s->initial_state,
        .out = s->out,
        .final_state = s->final_state,
        .d_out = s->d_out,
        .d_final_state = s->d_final_state,
        .d_u = s->d_u,
        .d_delta = s->d_delta,
        .d_A = s->d_A,
        .d_B = s->d_B,
        .d_C = s->d_C,
        .d_D = s->d_D,
        .d_z = s->d_z,
        .d_delta_bias = s->d_delta_bias,
        .d_initial_state = s->d_initial_state,
        .workspace = s->workspace,
        .workspace_size = s->workspace_bytes,
    };
}

static int workspace(const struct linrec_selective_scan *scan, enum linrec_pass pass,
                     size_t (*of)(const struct selective_args *, bool), size_t *bytes)
{
    if (scan == NULL || bytes == NULL || (unsigned)pass > LINREC_BACKWARD)
        return LINREC_INVALID_ARGUMENT;
    const struct selective_args args = args_of(scan);
    if (!selective_sizes_fit(&args))
        return LINREC_INVALID_ARGUMENT;
    *bytes = of(&args, pass == LINREC_BACKWARD);
    return LINREC_SUCCESS;
}

int linrec_selective_scan_workspace(const struct linrec_selective_scan *scan, enum linrec_pass pass, size_t *bytes)
{
    return workspace(scan, pass, selective_default_workspace, bytes);
}

int linrec_selective_scan_small_workspace(const struct linrec_selective_scan *scan, enum linrec_pass pass,
                                          size_t *bytes)
{
    return workspace(scan, pass, selective_least_workspace, bytes);
}

static int run(const struct linrec_selective_scan *scan, bool backward, cudaStream_t stream)
{
    if (scan == NULL)
        return LINREC_INVALID_ARGUMENT;
    const struct selective_args args = args_of(scan);
    if (selective_check_packed(&args, backward, 0) != cudaSuccess)
        return LINREC_INVALID_ARGUMENT;
    const int status = call_workspace(args.workspace, args.workspace_size, selective_least_workspace(&args, backward));
    if (status != LINREC_SUCCESS)
        return status;
    return call_status((backward ? selective_backward : selective_forward)(&args, stream));
}

int linrec_selective_scan_forward(const struct linrec_selective_scan *scan, cudaStream_t stream)
{
    return run(scan, false, stream);
}

int linrec_selective_scan_backward(const struct linrec_selective_scan *scan, cudaStream_t stream)
{
    return run(scan, true, stream);
}

int linrec_selective_scan_transition(const struct linrec_selective_scan *scan, float *transition, cudaStream_t stream)
{
    if (scan == NULL)
        return LINREC_INVALID_ARGUMENT;
    const struct selective_args args = args_of(scan);
    const cudaError_t error = selective_transition(&args, transition, stream);
    return call_checked(error);
}

int linrec_selective_scan_step(const struct linrec_selective_step *step, cudaStream_t stream)
{
    if (step == NULL)
        return LINREC_INVALID_ARGUMENT;
    const struct selective_step_args args = {
        .batch = step->batch,
        .channels = step->channels,
        .states = step->states,
        .groups = step->groups,
        .num_slots = step->num_slots,
        .slots = step->slots,
        .dtype = (enum dtype)step->dtype,
        .delta_softplus = step->delta_softplus,
        .u = step->u,
        .delta = step->delta,
        .A = step->A,
        .B = step->B,
        .C = step->C,
        .D = step->D,
        .z = step->z,
        .delta_bias = step->delta_bias,
        .out = step->out,
        .u_by = step->u_by,
        .delta_by = step->delta_by,
        .B_by = step->B_by,
        .C_by = step->C_by,
        .z_by = step->z_by,
        .out_by = step->out_by,
        .state = step->state,
        .new_state = step->state,
    };
    const cudaError_t error = selective_step(&args, stream);
    return call_checked(error);
}
