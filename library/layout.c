/* SPDX-License-Identifier: MIT */
/* layout.c - the linear recurrence in the layout of models of liblinrec.h: chapter 13's default, and its step. */
#include "../13_layout/kernels/kernels.h"
#include "../13_layout/kernels/walk.h"
#include "call.h"

static struct layout_strides by(struct linrec_strides strides)
{
    return (struct layout_strides){.batch = strides.batch, .step = strides.step};
}

static struct layout_args args_of(const struct linrec_layout *l)
{
    return (struct layout_args){
        .batch = l->batch,
        .seq_len = l->seq_len,
        .channels = l->channels,
        .num_seqs = l->num_seqs,
        .starts = l->cu_seqlens,
        .dtype = (enum dtype)l->dtype,
        .reverse = l->reverse,
        .log_coeffs = l->log_coeffs,
        .inputs = l->inputs,
        .coeffs = l->coeffs,
        .outputs = l->outputs,
        .initial_state = l->initial_state,
        .final_state = l->final_state,
        .d_outputs = l->d_outputs,
        .d_final_state = l->d_final_state,
        .d_inputs = l->d_inputs,
        .d_coeffs = l->d_coeffs,
        .d_initial_state = l->d_initial_state,
        .inputs_by = by(l->inputs_by),
        .coeffs_by = by(l->coeffs_by),
        .outputs_by = by(l->outputs_by),
        .d_outputs_by = by(l->d_outputs_by),
        .d_inputs_by = by(l->d_inputs_by),
        .d_coeffs_by = by(l->d_coeffs_by),
        .workspace = l->workspace,
        .workspace_size = l->workspace_bytes,
    };
}

/* What any arrays of these sizes need. Those whose rows can be loaded in wide pieces need most; here there are none, so
   nothing stands against the widest. */
static size_t workspace_of(const struct layout_args *args, bool backward)
{
    const struct layout_args sizes = {
        .batch = args->batch, .seq_len = args->seq_len, .channels = args->channels, .dtype = args->dtype};
    return layout_workspace(&sizes, backward);
}

/* What the header asks for beside what every launcher checks: there are steps only where there are sequences, and a
   gradient of an initial state only where there is one. */
static bool is_consistent(const struct linrec_layout *l, bool backward)
{
    if (l->cu_seqlens == NULL ? l->num_seqs != 0 : l->num_seqs == 0 && l->seq_len != 0)
        return false;
    return (uintptr_t)l->workspace % 16 == 0 && !(backward && l->d_initial_state != NULL && l->initial_state == NULL);
}

int linrec_layout_workspace(const struct linrec_layout *layout, enum linrec_pass pass, size_t *bytes)
{
    if (layout == NULL || bytes == NULL || (unsigned)pass > LINREC_BACKWARD)
        return LINREC_INVALID_ARGUMENT;
    const struct layout_args args = args_of(layout);
    if (!layout_sizes_fit(&args))
        return LINREC_INVALID_ARGUMENT;
    *bytes = workspace_of(&args, pass == LINREC_BACKWARD);
    return LINREC_SUCCESS;
}

static int run(const struct linrec_layout *layout, bool backward, cudaStream_t stream)
{
    if (layout == NULL)
        return LINREC_INVALID_ARGUMENT;
    const struct layout_args args = args_of(layout);
    if (!is_consistent(layout, backward) || layout_check(&args, backward) != cudaSuccess)
        return LINREC_INVALID_ARGUMENT;
    const int status = call_workspace(args.workspace, args.workspace_size, workspace_of(&args, backward));
    if (status != LINREC_SUCCESS)
        return status;
    return call_status((backward ? layout_backward : layout_forward)(&args, stream));
}

int linrec_layout_forward(const struct linrec_layout *layout, cudaStream_t stream)
{
    return run(layout, false, stream);
}

int linrec_layout_backward(const struct linrec_layout *layout, cudaStream_t stream)
{
    return run(layout, true, stream);
}

int linrec_layout_step(const struct linrec_step *step, cudaStream_t stream)
{
    if (step == NULL)
        return LINREC_INVALID_ARGUMENT;
    const struct step_args args = {
        .batch = step->batch,
        .channels = step->channels,
        .num_slots = step->num_slots,
        .slots = step->slots,
        .dtype = (enum dtype)step->dtype,
        .log_coeffs = step->log_coeffs,
        .inputs = step->inputs,
        .coeffs = step->coeffs,
        .outputs = step->outputs,
        .inputs_by = step->inputs_by,
        .coeffs_by = step->coeffs_by,
        .outputs_by = step->outputs_by,
        .states = step->states,
        .new_states = step->states,
    };
    const cudaError_t error = layout_step(&args, stream);
    return call_checked(error);
}
