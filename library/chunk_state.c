/* SPDX-License-Identifier: MIT */
/* chunk_state.c - the states between chunks of liblinrec.h: chapter 10's default, and its step. */
#include "../10_chunk_state/kernels/kernels.h"
#include "../10_chunk_state/kernels/chunk_check.h"
#include "call.h"

static struct chunk_state_args args_of(const struct linrec_chunk_state *c)
{
    return (struct chunk_state_args){
        .batch = c->batch,
        .chunks = c->chunks,
        .heads = c->heads,
        .dk = c->dk,
        .dv = c->dv,
        .rank = c->rank,
        .decays = c->decays,
        .dtype = (enum dtype)c->dtype,
        .exclusive = c->exclusive,
        .num_seqs = c->num_seqs,
        .starts = c->cu_seqlens,
        .h_local = c->h_local,
        .gamma = c->gamma,
        .W = c->W,
        .Y = c->Y,
        .initial_state = c->initial_state,
        .h_out = c->h_out,
        .final_state = c->final_state,
        .states = c->states,
        .d_h_out = c->d_h_out,
        .d_final_state = c->d_final_state,
        .d_h_local = c->d_h_local,
        .d_gamma = c->d_gamma,
        .d_W = c->d_W,
        .d_Y = c->d_Y,
        .d_initial_state = c->d_initial_state,
        .workspace = c->workspace,
        .workspace_size = c->workspace_bytes,
    };
}

int linrec_chunk_state_workspace(const struct linrec_chunk_state *chunk_state, enum linrec_pass pass, size_t *bytes)
{
    if (chunk_state == NULL || bytes == NULL || (unsigned)pass > LINREC_BACKWARD)
        return LINREC_INVALID_ARGUMENT;
    const struct chunk_state_args args = args_of(chunk_state);
    if (!chunk_state_sizes_fit(&args, CHUNK_STATE_MAX_RANK))
        return LINREC_INVALID_ARGUMENT;
    *bytes = chunk_state_is_empty(&args) ? 0 : chunk_state_default_workspace(&args, pass == LINREC_BACKWARD);
    return LINREC_SUCCESS;
}

static int run(const struct linrec_chunk_state *chunk_state, bool backward, cudaStream_t stream)
{
    if (chunk_state == NULL)
        return LINREC_INVALID_ARGUMENT;
    const struct chunk_state_args args = args_of(chunk_state);
    if (chunk_state_check(&args, backward, CHUNK_STATE_MAX_RANK) != cudaSuccess)
        return LINREC_INVALID_ARGUMENT;
    const size_t needed = chunk_state_is_empty(&args) ? 0 : chunk_state_default_workspace(&args, backward);
    const int status = call_workspace(args.workspace, args.workspace_size, needed);
    if (status != LINREC_SUCCESS)
        return status;
    return call_status((backward ? chunk_state_backward : chunk_state_forward)(&args, stream));
}

int linrec_chunk_state_forward(const struct linrec_chunk_state *chunk_state, cudaStream_t stream)
{
    return run(chunk_state, false, stream);
}

int linrec_chunk_state_backward(const struct linrec_chunk_state *chunk_state, cudaStream_t stream)
{
    return run(chunk_state, true, stream);
}

int linrec_chunk_state_transition(const struct linrec_chunk_state *chunk_state, float *transition, cudaStream_t stream)
{
    if (chunk_state == NULL)
        return LINREC_INVALID_ARGUMENT;
    const struct chunk_state_args args = args_of(chunk_state);
    const cudaError_t error = chunk_state_transition(&args, transition, stream);
    return call_checked(error);
}

int linrec_chunk_state_step(const struct linrec_chunk_step *step, cudaStream_t stream)
{
    if (step == NULL)
        return LINREC_INVALID_ARGUMENT;
    const struct chunk_step_args args = {
        .batch = step->batch,
        .heads = step->heads,
        .dk = step->dk,
        .dv = step->dv,
        .num_slots = step->num_slots,
        .decays = step->decays,
        .slots = step->slots,
        .dtype = (enum dtype)step->dtype,
        .q = step->q,
        .k = step->k,
        .v = step->v,
        .gamma = step->gamma,
        .W = step->W,
        .Y = step->Y,
        .out = step->out,
        .q_by = step->q_by,
        .k_by = step->k_by,
        .v_by = step->v_by,
        .gamma_by = step->gamma_by,
        .W_by = step->W_by,
        .Y_by = step->Y_by,
        .out_by = step->out_by,
        .state = step->state,
        .new_state = step->state,
    };
    const cudaError_t error = chunk_state_step(&args, stream);
    return call_checked(error);
}
