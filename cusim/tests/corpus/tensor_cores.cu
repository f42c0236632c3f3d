// right
// SPDX-License-Identifier: MIT
#include "corpus.h"
#include <mma.h>

using namespace nvcuda;

/* a b + c of small integers, which every type holds; a by rows, b by columns. */
template <class T, class S, class Stored, int m, int n, int k>
__device__ static bool is_right(void)
{
    __shared__ __align__(32) Stored a[m * k], b[k * n];
    __shared__ __align__(32) S c[m * n];

    for (int i = (int)threadIdx.x; i < m * k; i += 32)
        a[i] = Stored(i % 5 - 2);
    for (int i = (int)threadIdx.x; i < k * n; i += 32)
        b[i] = Stored(i % 3 - 1);
    for (int i = (int)threadIdx.x; i < m * n; i += 32)
        c[i] = S(i % 7);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, m, n, k, T, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, m, n, k, T, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, m, n, k, S> sum, other;
    wmma::load_matrix_sync(left, a, k);
    wmma::load_matrix_sync(right, b, k);
    wmma::load_matrix_sync(sum, c, n, wmma::mem_row_major);
    wmma::fill_fragment(other, S(1));
    wmma::mma_sync(sum, left, right, sum);
    wmma::mma_sync(other, left, right, other);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = sum.x[i] - other.x[i];
    wmma::store_matrix_sync(c, sum, n, wmma::mem_row_major);
    __syncwarp();
    bool good = true;
    for (int i = (int)threadIdx.x; i < m * n; i += 32)
        good = good && (float)c[i] == (float)(i % 7 - 1);
    __syncwarp();
    wmma::store_matrix_sync(c, other, m, wmma::mem_col_major);
    __syncwarp();
    for (int i = (int)threadIdx.x; i < m * n; i += 32) {
        float shall = 1;
        for (int j = 0; j < k; j++)
            shall += (float)(((i % m) * k + j) % 5 - 2) * (float)(((i / m) * k + j) % 3 - 1);
        good = good && (float)c[i] == shall;
    }
    return good;
}

__global__ void kernel(float *x)
{
    const bool good = is_right<__half, float, __half, 16, 16, 16>() && is_right<__half, __half, __half, 32, 8, 16>() &&
                      is_right<__nv_bfloat16, float, __nv_bfloat16, 8, 32, 16>() &&
                      is_right<signed char, int, signed char, 16, 16, 16>() &&
                      is_right<wmma::precision::tf32, float, float, 16, 16, 8>() &&
                      is_right<double, double, double, 8, 8, 4>();
    x[threadIdx.x] = 2 * x[threadIdx.x] + (float)good;
    x[threadIdx.x + 32] = 2 * x[threadIdx.x + 32] + (float)good;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N / 2>>>(x);
    return finish(x, 2, 1);
}
