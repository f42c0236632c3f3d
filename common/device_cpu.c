/* device_cpu.c - device.h in plain loops, for chapter 01, whose arrays live in host memory. */
#include <string.h>

#include "device.h"

cudaError_t device_fill(const struct data_spec *spec, enum data_array array, float *values, size_t num_seqs)
{
    for (size_t s = 0; s < num_seqs; s++)
        for (size_t l = 0; l < spec->seq_len; l++)
            values[s * spec->seq_len + l] = data_value(spec, array, s, l);
    return cudaSuccess;
}

cudaError_t device_check(const struct linrec_args *args, bool backward, size_t window, int levels,
                         struct oracle_result *result)
{
    const size_t pieces = oracle_num_pieces(args, window);
    for (size_t s = 0; s < args->num_seqs && args->seq_len > 0; s++)
        for (size_t p = 0; p < pieces; p++) {
            size_t begin, end;
            oracle_piece(args, backward, window, p, &begin, &end);
            oracle_check(args, backward, s, begin, end, levels, result);
        }
    return cudaSuccess;
}

cudaError_t device_flush(const void *buffer, size_t size)
{
    static volatile float sink; /* keeps the reads */
    const float *values = buffer;
    float sum = 0.0f;
    for (size_t i = 0; i < size / sizeof(float); i += 16) /* one read a cache line */
        sum += values[i];
    sink = sum;
    (void)sink;
    return cudaSuccess;
}

cudaError_t baseline_copy(const struct linrec_args *args, cudaStream_t stream)
{
    (void)stream;
    memcpy(args->outputs, args->inputs, args->num_seqs * args->seq_len * sizeof(float));
    return cudaSuccess;
}

cudaError_t baseline_add(const struct linrec_args *args, cudaStream_t stream)
{
    (void)stream;
    const float *restrict a = args->inputs, *restrict b = args->coeffs;
    float *restrict sum = args->outputs;
    for (size_t i = 0; i < args->num_seqs * args->seq_len; i++)
        sum[i] = a[i] + b[i];
    return cudaSuccess;
}

cudaError_t baseline_add5(const struct linrec_args *args, cudaStream_t stream)
{
    (void)stream;
    const float *restrict a = args->d_outputs, *restrict b = args->coeffs, *restrict c = args->outputs;
    float *restrict ab = args->d_inputs, *restrict bc = args->d_coeffs;
    for (size_t i = 0; i < args->num_seqs * args->seq_len; i++) {
        ab[i] = a[i] + b[i];
        bc[i] = b[i] + c[i];
    }
    return cudaSuccess;
}
