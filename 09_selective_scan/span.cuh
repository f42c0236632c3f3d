/* span.cuh - what a block of fused_states.cu or fused_backward.cu has of its sequences in shared memory: a
   span of 16 steps, two chunks of 8. Rows of 16 steps come in as they are stored, in pieces of 16 bytes:

     own      u | delta | z | d_out   a row a channel, of each warp: only the lane that needs a step reads it, and makes
                                      floats of it
     common   B | C                   a row a state, of the block: all lanes read it over and over. It becomes floats,
                                      chunk by chunk

   `arrays` is 4, or 2 for u, delta and B only. */
#ifndef SPAN_CUH
#define SPAN_CUH

#include "gradient.cuh"

enum { SPAN = 16 };

#define IN_PIECE(stored) (16 / (int)sizeof(stored)) /* elements */
#define COMMON_PIECES(stored, lanes, arrays) ((arrays) / 2 * STATES_OF(lanes) * SPAN / IN_PIECE(stored))

template <typename stored, int lanes, int arrays>
struct span {
    stored own[SPAN_WARPS][arrays * BOTH(lanes) * SPAN];
    float common[2][ROOM(arrays / 2 * STATES_OF(lanes), STEPS)];
    uint4 narrow[sizeof(stored) < 4 ? COMMON_PIECES(stored, lanes, arrays) : 1]; /* what common shall become */
};

/* A piece that is not there as a whole, or not aligned: its first `left` elements, and 0 for the others. */
template <typename stored>
static __device__ __forceinline__ void send_some(const stored *from, int left, stored *to)
{
    for (int i = 0; i < IN_PIECE(stored); i++)
        if (i >= left)
            to[i] = (stored)0.0f;
        else if (sizeof(stored) == 4)
            __pipeline_memcpy_async(to + i, from + i, sizeof(stored));
        else
            to[i] = from[i];
}

/* Where a thread's piece of B and C goes: to its place, if these are floats. */
template <int lanes, int arrays>
static __device__ __forceinline__ float *common_piece(struct span<float, lanes, arrays> *span, int, int row, int t)
{
    return span->common[t / STEPS] + place<STEPS>(row, t % STEPS);
}

template <typename stored, int lanes, int arrays>
static __device__ __forceinline__ stored *common_piece(struct span<stored, lanes, arrays> *span, int piece, int, int)
{
    return (stored *)&span->narrow[piece];
}

/* Sends off the thread's pieces of the span that begins at step `at`, as far as they are there. `whole`: all are, and
   lie at multiples of their size. */
template <typename stored, int lanes, int arrays>
static __device__ __forceinline__ void send_span(const struct selective_args *args, const struct pair_place *place,
                                                 int at, bool whole, struct span<stored, lanes, arrays> *to)
{
    enum { each = IN_PIECE(stored), in_row = SPAN / each, own = arrays * BOTH(lanes) * in_row };
    enum { common = COMMON_PIECES(stored, lanes, arrays), threads = 32 * SPAN_WARPS };
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, t = threadIdx.x % in_row * each;
    const int left = (int)args->seq_len - at - t;
#pragma unroll
    for (int j = 0; j < own / 32; j++) {
        const int row = (lane + j * 32) / in_row, channel = row % BOTH(lanes), array = row / BOTH(lanes);
        const void *const from = array == 0   ? args->u
                                 : array == 1 ? args->delta
                                 : array == 3 ? args->d_out
                                 : args->z    ? args->z
                                              : args->u; /* read in vain, but every row is there */
        const size_t first = (size_t)(unsigned)(place->channels + channel) * (unsigned)args->seq_len + at + t;
        stored *const here = to->own[warp] + ::place<SPAN, stored>(row, t);
        if (whole)
            __pipeline_memcpy_async(here, (const stored *)from + first, 16);
        else if (channel < place->here)
            send_some((const stored *)from + first, left, here);
    }
#pragma unroll
    for (int j = 0; j < (common + threads - 1) / threads; j++) {
        const int piece = threadIdx.x + j * threads, row = piece / in_row, state = row % STATES_OF(lanes);
        const stored *const from = (const stored *)(row < STATES_OF(lanes) ? args->B : args->C);
        const size_t first = (size_t)(unsigned)(place->states + state) * (unsigned)args->seq_len + at + t;
        if (common % threads != 0 && piece >= common)
            break;
        if (whole)
            __pipeline_memcpy_async(common_piece(to, piece, row, t), from + first, 16);
        else if (state < (int)args->states)
            send_some(from + first, left, common_piece(to, piece, row, t));
    }
}

/* The same for a span that need not be in the sequence: then nothing is sent. */
template <typename stored, int lanes, int arrays>
static __device__ __forceinline__ void fetch_span(const struct selective_args *args, const struct pair_place *place,
                                                  int at, struct span<stored, lanes, arrays> *to)
{
    const int seq_len = (int)args->seq_len;
    const bool all_rows = place->here == BOTH(lanes) && args->states == STATES_OF(lanes);
    if (at >= 0 && at + SPAN <= seq_len && seq_len % IN_PIECE(stored) == 0 && all_rows)
        send_span(args, place, at, true, to);
    else if (at >= 0 && at < seq_len)
        send_span(args, place, at, false, to);
}

/* A thread makes floats of what it has sent of B and C itself, and waited for. */
template <int lanes, int arrays>
static __device__ __forceinline__ void widen_span(struct span<float, lanes, arrays> *)
{
}

template <typename stored, int lanes, int arrays>
static __device__ __forceinline__ void widen_span(struct span<stored, lanes, arrays> *span)
{
    enum { in_row = SPAN / STEPS, common = COMMON_PIECES(stored, lanes, arrays) };
#pragma unroll
    for (int piece = threadIdx.x; piece < common; piece += 32 * SPAN_WARPS) {
        float eight[STEPS];
        get<STEPS, STEPS>((const stored *)&span->narrow[piece], 0, 0, eight);
        put<STEPS, STEPS>(span->common[piece % in_row], piece / in_row, 0, eight);
    }
}

/* The lane's own steps of a span's two chunks: step and step u, to `steps` and `stride` floats behind it. Steps from
   seq_len on become 0, and leave the states as they are. */
template <typename stored, int lanes>
static __device__ __forceinline__ void prepare_span(const stored *rows, int row, int mine, int at, int seq_len,
                                                    float bias, bool delta_softplus, float *steps, int stride)
{
    enum { own = OWN_STEPS(lanes) };
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++) {
        float u[own], step[own];
        get<SPAN, own>(rows, row, chunk * STEPS + mine, u);
        get<SPAN, own>(rows + BOTH(lanes) * SPAN, row, chunk * STEPS + mine, step);
#pragma unroll
        for (int i = 0; i < own; i++) {
            step[i] = step_of(step[i] + bias, delta_softplus);
            if (at + chunk * STEPS + mine + i >= seq_len)
                step[i] = 0.0f;
            u[i] *= step[i];
        }
        put<STEPS, own>(steps + chunk * stride, row, mine, step);
        put<STEPS, own>(steps + chunk * stride + ROOM(BOTH(lanes), STEPS), row, mine, u);
    }
}

#endif
