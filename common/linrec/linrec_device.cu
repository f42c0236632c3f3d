/* SPDX-License-Identifier: MIT */
/* linrec_device.cu - test data and the oracle of the recurrence on the device, for shapes of any size. */
#include <cuda_runtime.h>

#include "linrec_operation.h"
#include "linrec_oracle.h"

static const int kThreads = 256;

/* Enough blocks for n items, one thread an item, but no more than keeps the grid's x in range. */
static unsigned num_blocks(size_t n)
{
    const size_t blocks = (n + kThreads - 1) / kThreads;
    return (unsigned)(blocks < 0x7FFFFFFF ? blocks : 0x7FFFFFFF);
}

/* A grid-stride loop. */
static __global__ void fill(struct data_spec spec, enum data_array array, float *values, size_t num_seqs)
{
    const size_t length = data_is_state(array) ? 1 : spec.seq_len, count = num_seqs * length;
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        values[i] = data_value(&spec, array, i / length, i % length);
}

extern "C" cudaError_t linrec_fill_array(const struct data_spec *spec, enum data_array array, float *values,
                                         size_t num_seqs)
{
    const size_t count = num_seqs * (data_is_state(array) ? 1 : spec->seq_len);
    if (count == 0)
        return cudaSuccess;
    fill<<<num_blocks((count + 15) / 16), kThreads>>>(*spec, array, values, num_seqs);
    return cudaGetLastError();
}

/* One thread walks one piece of one sequence in double precision: speed does not matter here. */
static __global__ void check(struct linrec_args args, bool backward, size_t window, int levels, struct finding *finding)
{
    const size_t pieces = oracle_num_pieces(&args, window);
    const size_t index = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= args.num_seqs * pieces)
        return;

    struct finding mine = FINDING_NOTHING;
    size_t begin, end;
    oracle_piece(&args, backward, window, index % pieces, &begin, &end);
    oracle_check(&args, backward, index / pieces, begin, end, levels, &mine);

    /* errors are not negative, so their bits order like integers */
    atomicMax((unsigned long long *)&finding->max_error, (unsigned long long)__double_as_longlong(mine.max_error));
    if (mine.num_bad != 0) {
        atomicAdd(&finding->num_bad, mine.num_bad);
        atomicMin(&finding->first_bad, mine.first_bad);
    }
}

extern "C" cudaError_t linrec_device_check(const struct problem *problem, const struct data *data, int levels,
                                           struct finding *finding)
{
    const struct linrec_args args = linrec_args_of(problem);
    const size_t window = linrec_spec(problem, data).window, items = args.num_seqs * oracle_num_pieces(&args, window);
    if (items == 0)
        return cudaSuccess;
    check<<<num_blocks(items), kThreads>>>(args, is_backward(problem->direction), window, levels, finding);
    return cudaGetLastError();
}
