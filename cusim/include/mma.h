/* SPDX-License-Identifier: MIT */
/* mma.h - matrix products of a warp, nvcuda::wmma. Of a matrix of R x C elements lane l has those with the numbers l, l + 32,
   l + 64 ... in the order in which memory has them (a GPU has an order of its own, which programs must not know, either).
   The sum of a product's row and column is exact, then rounded: to half to the nearest, to float toward zero. */
#ifndef MMA_H
#define MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "sim_mma_sync.h"

namespace nvcuda
{
namespace wmma
{
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision
{
struct tf32; /* its elements are float */
}
template <class T>
struct sim_element {
    typedef T type;
};
template <>
struct sim_element<precision::tf32> {
    typedef float type;
};

template <class Use, int m, int n, int k>
struct sim_shape {
    static constexpr int rows = std::is_same<Use, matrix_b>::value ? k : m;
    static constexpr int columns = std::is_same<Use, matrix_a>::value ? k : n;
};

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
    typedef typename sim_element<T>::type element_type, storage_element_type;
    static constexpr int rows = sim_shape<Use, m, n, k>::rows, columns = sim_shape<Use, m, n, k>::columns;
    static constexpr int num_elements = rows * columns / 32, num_storage_elements = num_elements;
    static constexpr bool by_column = std::is_same<Layout, col_major>::value;
    static_assert((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32) || (m == 8 && n == 8),
                  "wmma has matrices of 16 x 16, 32 x 8 and 8 x 32, and of 8 x 8 for double");
    element_type x[num_elements];
};

/* The number of this lane's element i in memory whose rows, or columns, lie `stride` elements apart. */
template <class Fragment>
SIM_INLINE size_t sim_place_of(int i, unsigned stride, bool by_column)
{
    const int number = i * 32 + (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32);
    const int row = Fragment::by_column ? number % Fragment::rows : number / Fragment::columns;
    const int column = Fragment::by_column ? number / Fragment::rows : number % Fragment::columns;

    return by_column ? (size_t)column * stride + row : (size_t)row * stride + column;
}

template <class Use, int m, int n, int k, class T, class Layout, class V>
SIM_METHOD void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, const V &value)
{
    for (int i = 0; i < f.num_elements; i++)
        f.x[i] = (typename sim_element<T>::type)value;
}

template <class Use, int m, int n, int k, class T, class Layout, class E>
SIM_METHOD void load_matrix_sync(fragment<Use, m, n, k, T, Layout> &f, const E *from, unsigned stride, SIM_AT)
{
    sim_warp_call(SIM_MATRIX, 0xffffffff, 0, 0, 32, file, line);
    for (int i = 0; i < f.num_elements; i++)
        f.x[i] = from[sim_place_of<fragment<Use, m, n, k, T, Layout>>(i, stride, f.by_column)];
}
template <int m, int n, int k, class T>
SIM_METHOD void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *from, unsigned stride, layout_t layout,
                                 SIM_AT)
{
    sim_warp_call(SIM_MATRIX, 0xffffffff, 0, 0, 32, file, line);
    for (int i = 0; i < f.num_elements; i++)
        f.x[i] = from[sim_place_of<fragment<accumulator, m, n, k, T>>(i, stride, layout == mem_col_major)];
}
template <int m, int n, int k, class T>
SIM_METHOD void store_matrix_sync(T *to, const fragment<accumulator, m, n, k, T> &f, unsigned stride, layout_t layout,
                                  SIM_AT)
{
    sim_warp_call(SIM_MATRIX, 0xffffffff, 0, 0, 32, file, line);
    for (int i = 0; i < f.num_elements; i++)
        to[sim_place_of<fragment<accumulator, m, n, k, T>>(i, stride, layout == mem_col_major)] = f.x[i];
}

SIM_INLINE float __float_to_tf32(float value) /* rounded to the nearest */
{
    return value - value != 0 ? value : __uint_as_float((__float_as_uint(value) + 0x1000) & 0xffffe000);
}

/* An element as a number to multiply, and a sum as an element. */
template <class T>
SIM_INLINE double sim_factor(typename sim_element<T>::type value)
{
    if constexpr (std::is_same<T, precision::tf32>::value)
        return (double)sim_tf32(value);
    else if constexpr (std::is_arithmetic<T>::value)
        return (double)value;
    else
        return (double)(float)value;
}
template <class T>
SIM_INLINE T sim_sum(double value)
{
    if constexpr (std::is_same<T, float>::value)
        return value - value != 0 ? (float)value : sim_truncate(value);
    else if constexpr (std::is_same<T, int>::value)
        return (int)(unsigned)(long long)value; /* past the largest it goes on at the smallest */
    else if constexpr (std::is_same<T, double>::value)
        return value;
    else
        return T((float)value);
}

/* d = a b + c. Not inlined: in loops that are unrolled the compiler would take minutes. */
template <int m, int n, int k, class D, class A, class AL, class B, class BL, class C>
__attribute__((noinline)) void
mma_sync(fragment<accumulator, m, n, k, D> &d, const fragment<matrix_a, m, n, k, A, AL> &a,
         const fragment<matrix_b, m, n, k, B, BL> &b, const fragment<accumulator, m, n, k, C> &c, bool = false, SIM_AT)
{
    double left[m * k / 32], right[k * n / 32], sum[m * n / 32];

    for (int i = 0; i < a.num_elements; i++)
        left[i] = sim_factor<A>(a.x[i]);
    for (int i = 0; i < b.num_elements; i++)
        right[i] = sim_factor<B>(b.x[i]);
    for (int i = 0; i < c.num_elements; i++)
        sum[i] = sim_factor<C>(c.x[i]);
    const sim_product product = {m, n, k, a.by_column, b.by_column, left, right, sum};
    sim_warp_call(SIM_PRODUCT, 0xffffffff, (uint64_t)(uintptr_t)&product, 0, 32, file, line);
    for (int i = 0; i < d.num_elements; i++)
        d.x[i] = sim_sum<D>(sum[i]);
}
} // namespace wmma
} // namespace nvcuda

#endif
