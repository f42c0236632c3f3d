/* SPDX-License-Identifier: MIT */
/* recurrence.c - the linear recurrence of liblinrec.h: chapter 08's default. */
#include "../08_lookback/lookback.h"
#include "call.h"

static struct linrec_args args_of(const struct linrec_recurrence *r)
{
    return (struct linrec_args){
        .num_seqs = r->num_seqs,
        .seq_len = r->seq_len,
        .reverse = r->reverse,
        .inputs = r->inputs,
        .coeffs = r->coeffs,
        .outputs = r->outputs,
        .d_outputs = r->d_outputs,
        .d_inputs = r->d_inputs,
        .d_coeffs = r->d_coeffs,
        .initial_state = r->initial_state,
        .final_state = r->final_state,
        .d_final_state = r->d_final_state,
        .d_initial_state = r->d_initial_state,
        .workspace = r->workspace,
        .workspace_size = r->workspace_bytes,
    };
}

static bool is_empty(const struct linrec_recurrence *r)
{
    return r->num_seqs == 0 || r->seq_len == 0;
}

/* Whether the bytes of an array can be counted. */
static bool sizes_fit(const struct linrec_recurrence *r)
{
    return r->seq_len == 0 || r->num_seqs <= PTRDIFF_MAX / sizeof(float) / r->seq_len;
}

int linrec_recurrence_workspace(const struct linrec_recurrence *recurrence, enum linrec_pass pass, size_t *bytes)
{
    if (recurrence == NULL || bytes == NULL || (unsigned)pass > LINREC_BACKWARD || !sizes_fit(recurrence))
        return LINREC_INVALID_ARGUMENT;
    const struct linrec_args args = args_of(recurrence);
    *bytes = is_empty(recurrence) ? 0 : linrec_workspace(&args);
    return LINREC_SUCCESS;
}

static int run(const struct linrec_recurrence *recurrence, bool backward, cudaStream_t stream)
{
    if (recurrence == NULL)
        return LINREC_INVALID_ARGUMENT;
    const struct linrec_args args = args_of(recurrence);
    if (linrec_check_args_and_states(&args, backward) != cudaSuccess)
        return LINREC_INVALID_ARGUMENT;
    const int status =
        call_workspace(args.workspace, args.workspace_size, is_empty(recurrence) ? 0 : linrec_workspace(&args));
    if (status != LINREC_SUCCESS)
        return status;
    return call_status((backward ? linrec_backward : linrec_forward)(&args, stream));
}

int linrec_recurrence_forward(const struct linrec_recurrence *recurrence, cudaStream_t stream)
{
    return run(recurrence, false, stream);
}

int linrec_recurrence_backward(const struct linrec_recurrence *recurrence, cudaStream_t stream)
{
    return run(recurrence, true, stream);
}
