/* rows.cuh - rows of `steps` elements on their way from global to shared memory, by cp.async, in the type in which they
   are stored. They go in pieces of 16 bytes, and the threads that bring them take them in turn: thread 0 piece 0,
   thread 1 piece 1, ... In shared memory they lie as chunk.cuh says. */
#ifndef ROWS_CUH
#define ROWS_CUH

#include "chunk.cuh"

#define IN_PIECE(stored) (16 / (int)sizeof(stored)) /* elements */
#define PIECES_EACH(stored, rows, steps, threads)                                                                      \
    (((rows) * (steps) / IN_PIECE(stored) + (threads) - 1) / (threads)) /* a thread's */

/* The row of the thread's piece j, and the step with which all its pieces begin. */
template <typename stored, int steps, int threads>
static __device__ __forceinline__ int row_of(int thread, int j)
{
    return (thread + j * threads) / (steps / IN_PIECE(stored));
}

template <typename stored, int steps>
static __device__ __forceinline__ int step_of_pieces(int thread)
{
    return thread % (steps / IN_PIECE(stored)) * IN_PIECE(stored);
}

/* Finds the thread's pieces of up to three arrays' rows, `each` from row `array_row` on of every array, of which `here`
   are there. Returns a mask of those that are; a missing array has none. */
template <typename stored, int rows, int each, int steps, int threads>
static __device__ __forceinline__ unsigned find_rows(const void *first, const void *second, const void *third,
                                                     size_t array_row, int here, size_t seq_len, int thread,
                                                     const stored *pieces[])
{
    unsigned there = 0;
#pragma unroll
    for (int j = 0; j < PIECES_EACH(stored, rows, steps, threads); j++) {
        const int row = row_of<stored, steps, threads>(thread, j);
        const void *const array = row < each ? first : row < 2 * each ? second : third;
        pieces[j] = (const stored *)array + (array_row + row % each) * seq_len + step_of_pieces<stored, steps>(thread);
        if (row < rows && array != NULL && row % each < here)
            there |= 1u << j;
    }
    return there;
}

/* A piece of which only the first `left` elements are there, or that is not aligned. The others become 0. */
static __device__ __forceinline__ void fetch_some(const float *from, int left, float *to)
{
    for (int i = 0; i < 4; i++)
        if (i < left)
            __pipeline_memcpy_async(to + i, from + i, 4);
        else
            to[i] = 0.0f;
}

template <typename stored>
static __device__ __forceinline__ void fetch_some(const stored *from, int left, stored *to)
{
    __align__(16) stored some[8]; /* cp.async takes no two bytes */
    for (int i = 0; i < 8; i++)
        some[i] = i < left ? from[i] : (stored)0.0f;
    *(uint4 *)to = *(const uint4 *)some;
}

/* Sends off the thread's pieces of a chunk, and goes on to the next one. `there` has a bit for each piece that there
   is. `left` steps from the chunk's first on are in the sequence; `whole`: all are, and all rows are there, and pieces
   aligned, which leaves nothing to ask. */
template <typename stored, int rows, int steps, int threads>
static __device__ __forceinline__ void fetch_rows(const stored *pieces[], unsigned there, int thread, int left,
                                                  bool whole, stored *to)
{
    enum { each = PIECES_EACH(stored, rows, steps, threads) };
    const int t = step_of_pieces<stored, steps>(thread);
    to += place<steps, stored>(row_of<stored, steps, threads>(thread, 0), t);
    if (whole) {
#pragma unroll
        for (int j = 0; j < each; j++)
            if (rows * steps / IN_PIECE(stored) % threads == 0 || row_of<stored, steps, threads>(thread, j) < rows)
                __pipeline_memcpy_async(to + j * threads * IN_PIECE(stored), pieces[j], 16);
    } else if (left > 0) {
#pragma unroll
        for (int j = 0; j < each; j++)
            if (there >> j & 1)
                fetch_some(pieces[j], left - t, to + j * threads * IN_PIECE(stored));
    }
#pragma unroll
    for (int j = 0; j < each; j++)
        pieces[j] += steps;
}

/* Rows as floats: floats are ready; 16 bits are converted, four a thread at a time, into `wide`. */
template <int rows, int steps, int threads>
static __device__ __forceinline__ const float *widen(const float *from, int, float *)
{
    return from;
}

template <int rows, int steps, int threads, typename stored>
static __device__ __forceinline__ const float *widen(const stored *from, int thread, float *wide)
{
#pragma unroll
    for (int j = 0; j < (rows * steps / 4 + threads - 1) / threads; j++) {
        const int i = thread + j * threads, row = i / (steps / 4), t = i % (steps / 4) * 4;
        float four[4];
        if (rows * steps / 4 % threads != 0 && row >= rows)
            break;
        get<steps, 4>(from, row, t, four);
        put<steps, 4>(wide, row, t, four);
    }
    return wide;
}

#endif
