/* SPDX-License-Identifier: MIT */
/* ssd.c - the layer of Mamba-2 of liblinrec.h: chapter 14's default. */
#include "../14_chunk_product/kernels/layer_check.h"
#include "../14_chunk_product/kernels/layer_kernels.h"
#include "call.h"

static struct layer_backward_args args_of(const struct linrec_ssd *s)
{
    return (struct layer_backward_args){
        .layer =
            {
                .batch = s->batch,
                .seq_len = s->seq_len,
                .heads = s->heads,
                .dk = s->dk,
                .dv = s->dv,
                .groups = s->groups,
                .num_seqs = s->num_seqs,
                .starts = s->cu_seqlens,
                .dtype = (enum dtype)s->dtype,
                .dt_softplus = s->dt_softplus,
                .x = s->x,
                .z = s->z,
                .dt = s->dt,
                .B = s->B,
                .C = s->C,
                .A = s->A,
                .D = s->D,
                .dt_bias = s->dt_bias,
                .initial_state = s->initial_state,
                .out = s->out,
                .final_state = s->final_state,
                .workspace = s->workspace,
                .workspace_size = s->workspace_bytes,
            },
        .d_out = s->d_out,
        .d_final_state = s->d_final_state,
        .d_x = s->d_x,
        .d_z = s->d_z,
        .d_dt = s->d_dt,
        .d_B = s->d_B,
        .d_C = s->d_C,
        .d_A = s->d_A,
        .d_D = s->d_D,
        .d_dt_bias = s->d_dt_bias,
        .d_initial_state = s->d_initial_state,
    };
}

/* What a pass needs; the sizes fit. */
static size_t needed(const struct layer_args *args, bool backward)
{
    return (backward ? layer_default_backward_workspace : layer_default_workspace)(args);
}

int linrec_ssd_workspace(const struct linrec_ssd *ssd, enum linrec_pass pass, size_t *bytes)
{
    if (ssd == NULL || bytes == NULL || (unsigned)pass > LINREC_BACKWARD)
        return LINREC_INVALID_ARGUMENT;
    const struct layer_backward_args args = args_of(ssd);
    if (!layer_sizes_fit(&args.layer))
        return LINREC_INVALID_ARGUMENT;
    *bytes = needed(&args.layer, pass == LINREC_BACKWARD);
    return LINREC_SUCCESS;
}

static int run(const struct linrec_ssd *ssd, bool backward, cudaStream_t stream)
{
    if (ssd == NULL)
        return LINREC_INVALID_ARGUMENT;
    const struct layer_backward_args args = args_of(ssd);
    const struct layer_args *const layer = &args.layer;
    if (!layer_sizes_fit(layer))
        return LINREC_INVALID_ARGUMENT;
    const int status = call_workspace(layer->workspace, layer->workspace_size, needed(layer, backward));
    if (status != LINREC_SUCCESS)
        return status;
    const cudaError_t error = backward ? layer_default_backward(&args, stream) : layer_default(layer, stream);
    return call_checked(error);
}

int linrec_ssd_forward(const struct linrec_ssd *ssd, cudaStream_t stream)
{
    return run(ssd, false, stream);
}

int linrec_ssd_backward(const struct linrec_ssd *ssd, cudaStream_t stream)
{
    return run(ssd, true, stream);
}

int linrec_ssd_transition(const struct linrec_ssd *ssd, float *transition, cudaStream_t stream)
{
    if (ssd == NULL)
        return LINREC_INVALID_ARGUMENT;
    const struct layer_backward_args args = args_of(ssd);
    const cudaError_t error = layer_transition(&args.layer, transition, stream);
    return call_checked(error);
}
