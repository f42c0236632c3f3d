/* device.cu - see device.h. Grid-stride loops and one-thread-per-piece checks; nothing here is timed but copy, add and
 * add5. */
#include <cuda_runtime.h>

#include "device.h"

static const int kThreads = 256;

/* Enough blocks for n items, one thread an item, but no more than keeps the grid's x in range. */
static unsigned num_blocks(size_t n)
{
    const size_t blocks = (n + kThreads - 1) / kThreads;
    return (unsigned)(blocks < 0x7FFFFFFF ? blocks : 0x7FFFFFFF);
}

static __global__ void fill(struct data_spec spec, enum data_array array, float *values, size_t num_seqs)
{
    const size_t count = num_seqs * spec.seq_len;
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        values[i] = data_value(&spec, array, i / spec.seq_len, i % spec.seq_len);
}

extern "C" cudaError_t device_fill(const struct data_spec *spec, enum data_array array, float *values, size_t num_seqs)
{
    if (num_seqs == 0 || spec->seq_len == 0)
        return cudaSuccess;
    fill<<<num_blocks((num_seqs * spec->seq_len + 15) / 16), kThreads>>>(*spec, array, values, num_seqs);
    return cudaGetLastError();
}

/* One thread walks one piece of one sequence in double precision: chapter 02's way, where speed does not matter. */
static __global__ void check(struct linrec_args args, bool backward, size_t window, int levels,
                             struct oracle_result *result)
{
    const size_t pieces = oracle_num_pieces(&args, window);
    const size_t index = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= args.num_seqs * pieces)
        return;

    struct oracle_result mine = {0.0, 0, ~0ull};
    size_t begin, end;
    oracle_piece(&args, backward, window, index % pieces, &begin, &end);
    oracle_check(&args, backward, index / pieces, begin, end, levels, &mine);

    /* errors are not negative, so their bits order like integers */
    atomicMax((unsigned long long *)&result->max_error, (unsigned long long)__double_as_longlong(mine.max_error));
    if (mine.num_bad != 0) {
        atomicAdd(&result->num_bad, mine.num_bad);
        atomicMin(&result->first_bad, mine.first_bad);
    }
}

extern "C" cudaError_t device_check(const struct linrec_args *args, bool backward, size_t window, int levels,
                                    struct oracle_result *result)
{
    const size_t items = args->num_seqs * oracle_num_pieces(args, window);
    if (items == 0 || args->seq_len == 0)
        return cudaSuccess;
    check<<<num_blocks(items), kThreads>>>(*args, backward, window, levels, result);
    return cudaGetLastError();
}

/* The sum goes nowhere, but the compiler cannot know that the buffer holds zeros and that it is never 1. */
static __global__ void flush(const float4 *buffer, size_t count)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        sum += buffer[i].x;
    if (sum == 1.0f)
        __trap();
}

extern "C" cudaError_t device_flush(const void *buffer, size_t size)
{
    const size_t count = size / sizeof(float4);
    if (count == 0)
        return cudaSuccess;
    flush<<<num_blocks((count + 7) / 8), kThreads>>>((const float4 *)buffer, count);
    return cudaGetLastError();
}

/* Elementwise: one float4 a thread, 512 consecutive bytes a warp; the last, incomplete float4 element by element. */
static __global__ void add(size_t count, const float *a, const float *b, float *sum)
{
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 4 <= count) {
        const float4 x = *(const float4 *)(a + i), y = *(const float4 *)(b + i);
        *(float4 *)(sum + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else {
        for (size_t j = i; j < count; j++)
            sum[j] = a[j] + b[j];
    }
}

static __global__ void add5(size_t count, const float *a, const float *b, const float *c, float *ab, float *bc)
{
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 4 <= count) {
        const float4 x = *(const float4 *)(a + i), y = *(const float4 *)(b + i), z = *(const float4 *)(c + i);
        *(float4 *)(ab + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
        *(float4 *)(bc + i) = make_float4(y.x + z.x, y.y + z.y, y.z + z.z, y.w + z.w);
    } else {
        for (size_t j = i; j < count; j++) {
            ab[j] = a[j] + b[j];
            bc[j] = b[j] + c[j];
        }
    }
}

/* The driver's own device-to-device copy. */
extern "C" cudaError_t baseline_copy(const struct linrec_args *args, cudaStream_t stream)
{
    const size_t bytes = args->num_seqs * args->seq_len * sizeof(float);
    return cudaMemcpyAsync(args->outputs, args->inputs, bytes, cudaMemcpyDeviceToDevice, stream);
}

extern "C" cudaError_t baseline_add(const struct linrec_args *args, cudaStream_t stream)
{
    const size_t count = args->num_seqs * args->seq_len;
    if (count == 0)
        return cudaSuccess;
    add<<<num_blocks((count + 3) / 4), kThreads, 0, stream>>>(count, args->inputs, args->coeffs, args->outputs);
    return cudaGetLastError();
}

extern "C" cudaError_t baseline_add5(const struct linrec_args *args, cudaStream_t stream)
{
    const size_t count = args->num_seqs * args->seq_len;
    if (count == 0)
        return cudaSuccess;
    add5<<<num_blocks((count + 3) / 4), kThreads, 0, stream>>>(count, args->d_outputs, args->coeffs, args->outputs,
                                                               args->d_inputs, args->d_coeffs);
    return cudaGetLastError();
}
