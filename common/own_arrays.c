/* own_arrays.c - see own_arrays.h */
#include "own_arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "error.h"
#include "knobs.h"

static const char complete[] =
    "forward takes --inputs, --coeffs and --outputs; backward takes --d-outputs, --coeffs, --outputs, "
    "--d-inputs and --d-coeffs";

static int check_set(const struct own_arrays *own, const struct options *options)
{
    const bool gradients = options->d_inputs != NULL || options->d_coeffs != NULL;
    if (options->num_seqs_given || options->num_seq_lens != 0)
        return usage_error(
            "--num-seqs and --seq-len do not go with arrays, whose files say their shape; leave them out");
    if (options->csv != NULL || options->check_only)
        return usage_error("--csv and --check-only do not go with arrays; leave them out");
    if (options->backward && !own->backward)
        return usage_error("--backward needs --d-outputs; %s", complete);
    if (options->forward && own->backward)
        return usage_error("--forward does not go with --d-outputs; %s", complete);
    if (own->backward && options->inputs != NULL)
        return usage_error("--inputs does not go with --d-outputs; %s", complete);
    if (options->coeffs == NULL || options->outputs == NULL ||
        (!own->backward && (options->inputs == NULL || gradients)) ||
        (own->backward && (options->d_inputs == NULL || options->d_coeffs == NULL)))
        return usage_error("the set of arrays is not complete; %s", complete);
    return 0;
}

/* Two outputs must not end up in one file, by whatever names. Returns 0, or 2 after one line. */
static int refuse_same_file(const char *a, const char *b)
{
    struct output first, second;
    struct stat status;
    if ((stat(a, &status) == 0 && !S_ISREG(status.st_mode)) || (stat(b, &status) == 0 && !S_ISREG(status.st_mode)))
        return 0; /* pipes and devices are not replaced */
    if (output_open(&first, a) != 0)
        return 2;
    int result = output_open(&second, b); /* each is written beside its place, so both can be open */
    if (result == 0 && strcmp(first.target, second.target) == 0)
        result = usage_error("--d-inputs and --d-coeffs name the same file; name two");
    output_discard(&second);
    output_discard(&first);
    return result;
}

int own_arrays_read(struct own_arrays *own, const struct options *options)
{
    const char *forward_read[] = {options->inputs, options->coeffs};
    const char *backward_read[] = {options->d_outputs, options->coeffs, options->outputs};
    memset(own, 0, sizeof *own);
    own->backward = options->d_outputs != NULL;
    own->num_read = own->backward ? 3 : 2;
    own->num_written = own->backward ? 2 : 1;
    own->written[0] = own->backward ? options->d_inputs : options->outputs;
    own->written[1] = options->d_coeffs;

    const char **paths = own->backward ? backward_read : forward_read;
    int status = check_set(own, options);
    for (int i = 0; i < own->num_written && status == 0; i++)
        status = output_probe(own->written[i]);
    if (status == 0 && own->backward)
        status = refuse_same_file(own->written[0], own->written[1]);
    for (int i = 0; i < own->num_read && status == 0; i++) {
        const struct npy *first = &own->read[0], *array = &own->read[i];
        status = npy_read(paths[i], &own->read[i]);
        if (status == 0 && (array->num_seqs != first->num_seqs || array->seq_len != first->seq_len ||
                            array->num_dims != first->num_dims))
            status = usage_error("%s holds %zu x %zu elements in %d-D, %s %zu x %zu in %d-D; give arrays of one shape",
                                 paths[0], first->num_seqs, first->seq_len, first->num_dims, paths[i], array->num_seqs,
                                 array->seq_len, array->num_dims);
    }
    own->shape = own->read[0];
    own->shape.values = NULL;
    if (status != 0)
        own_arrays_free(own);
    return status;
}

/* Writes both files beside their places before either appears. */
static int write_files(const struct own_arrays *own, float *const values[2])
{
    struct output outputs[2] = {{NULL, NULL, NULL}, {NULL, NULL, NULL}};
    int status = 0;
    for (int i = 0; i < own->num_written && status == 0; i++) {
        status = output_open(&outputs[i], own->written[i]);
        if (status == 0)
            npy_write(&outputs[i], &own->shape, values[i]);
    }
    for (int i = 0; i < own->num_written && status == 0; i++)
        status = output_flush(&outputs[i]);
    for (int i = 0; i < own->num_written && status == 0; i++)
        status = output_commit(&outputs[i]);
    for (int i = 0; i < own->num_written; i++)
        output_discard(&outputs[i]);
    return status;
}

int own_arrays_run(struct own_arrays *own, const struct linrec_kernel *kernel, const struct options *options)
{
    struct arrays arrays;
    float *values[2] = {NULL, NULL};
    char shape[KNOBS_TEXT];
    cudaError_t error = arrays_create(&arrays, own->shape.num_seqs, own->shape.seq_len, own->backward);
    if (error != cudaSuccess)
        return usage_error("the arrays do not fit into the device's memory: %s", cudaGetErrorString(error));
    arrays.args.reverse = options->reverse;
    arrays.args.config = options->config;
    for (int i = 0; i < own->num_read && error == cudaSuccess; i++)
        error = cudaMemcpy(arrays.blocks[i], own->read[i].values, arrays.bytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = arrays_launch(&arrays, kernel, own->backward);
    for (int i = 0; i < own->num_written && error == cudaSuccess; i++) {
        const float *from[2] = {own->backward ? arrays.args.d_inputs : arrays.args.outputs, arrays.args.d_coeffs};
        values[i] = malloc(arrays.bytes + 1);
        error = values[i] == NULL ? cudaErrorMemoryAllocation
                                  : cudaMemcpy(values[i], from[i], arrays.bytes, cudaMemcpyDeviceToHost);
    }
    int status = 1;
    if (error == cudaSuccess)
        status = write_files(own, values);
    else if (knobs_refused(&options->config, error))
        status = usage_error("%s does not run with %s here, for example for want of shared memory; choose smaller "
                             "numbers",
                             kernel->name, knobs_shape(&options->config, ',', shape) + 1);
    else
        fprintf(stderr, "FAILED %s: %s\n", kernel->name, cudaGetErrorString(error));
    free(values[0]);
    free(values[1]);
    arrays_free(&arrays);
    return status;
}

void own_arrays_free(struct own_arrays *own)
{
    for (int i = 0; i < own->num_read; i++)
        npy_free(&own->read[i]);
}
