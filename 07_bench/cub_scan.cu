/* SPDX-License-Identifier: MIT */
/* cub_scan.cu - the recurrence by CUB, a library of the CUDA Toolkit: its device-wide scan over pairs (c, x).

   This file is in C++, because CUB is. The simulator leaves it out: it does not run C++ libraries. */
/* Registers may spill: CUB spills one on some chips, and that is not ours to mend. */
#ifndef CUSIM

#include <limits.h>

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include "bench.h"
#include "cub_pair.cuh"

/* Element number i of the scan; reversed, the scan begins at the end of the arrays. */
struct element {
    const float *inputs, *coeffs;
    int last;
    bool reverse;
    __host__ __device__ pair operator()(int i) const
    {
        const int at = reverse ? last - i : i;
        return {coeffs[at], inputs[at]};
    }
};

struct sequence_of {
    unsigned seq_len;
    __host__ __device__ unsigned operator()(int i) const
    {
        return (unsigned)i / seq_len;
    }
};

struct same {
    __host__ __device__ bool operator()(unsigned a, unsigned b) const
    {
        return a == b;
    }
};

struct value_of {
    __host__ __device__ float operator()(const pair &p) const
    {
        return p.value;
    }
};

/* With workspace NULL it only says how many bytes it wants. */
template <typename Outputs>
static cudaError_t scan(bool by_key, void *workspace, size_t *size, const struct linrec_args *args, Outputs outputs,
                        cudaStream_t stream)
{
    const int count = (int)(args->num_seqs * args->seq_len);
    const auto elements = thrust::make_transform_iterator(
        thrust::make_counting_iterator(0), element{args->inputs, args->coeffs, count - 1, args->reverse});
    const auto values = thrust::make_transform_output_iterator(outputs, value_of{});
    if (!by_key)
        return cub::DeviceScan::InclusiveScan(workspace, *size, elements, values, join{}, count, stream);
    const auto keys =
        thrust::make_transform_iterator(thrust::make_counting_iterator(0), sequence_of{(unsigned)args->seq_len});
    return cub::DeviceScan::InclusiveScanByKey(workspace, *size, keys, elements, values, join{}, count, same{}, stream);
}

static cudaError_t scan_in_direction(bool by_key, void *workspace, size_t *size, const struct linrec_args *args,
                                     cudaStream_t stream)
{
    if (args->reverse)
        return scan(by_key, workspace, size, args,
                    thrust::make_reverse_iterator(args->outputs + args->num_seqs * args->seq_len), stream);
    return scan(by_key, workspace, size, args, args->outputs, stream);
}

static bool is_empty(const struct linrec_args *args)
{
    return args->num_seqs == 0 || args->seq_len == 0;
}

static size_t workspace_bytes(bool by_key, const struct linrec_args *args)
{
    size_t size = 0;
    if (is_empty(args) || args->num_seqs > INT_MAX / args->seq_len ||
        scan_in_direction(by_key, NULL, &size, args, NULL) != cudaSuccess)
        return 0;
    return size;
}

static cudaError_t launch(bool by_key, const struct linrec_args *args, cudaStream_t stream)
{
    cudaError_t error = linrec_check_args(args, false);
    size_t size = args->workspace_size;
    if (error != cudaSuccess || is_empty(args))
        return error;
    if (args->num_seqs > INT_MAX / args->seq_len || args->workspace == NULL)
        return cudaErrorInvalidValue;
    return scan_in_direction(by_key, args->workspace, &size, args, stream); /* checks the size */
}

extern "C" size_t cub_scan_workspace(const struct linrec_args *args)
{
    return workspace_bytes(false, args);
}

extern "C" size_t cub_by_key_workspace(const struct linrec_args *args)
{
    return workspace_bytes(true, args);
}

extern "C" cudaError_t cub_scan_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return args->num_seqs > 1 && args->seq_len != 0 ? cudaErrorInvalidValue : launch(false, args, stream);
}

extern "C" cudaError_t cub_by_key_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch(true, args, stream);
}

#endif
