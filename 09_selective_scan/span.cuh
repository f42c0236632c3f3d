/* span.cuh - what a block of fused_states.cu or fused_backward.cu has of its sequences in shared memory: a span of 16
   steps, two chunks of 8. Rows come in as they are stored, in pieces of 16 bytes:

     own      u | delta | z | d_out   a row a channel: only the lane that needs a step reads it, and makes a float of it
     common   B | C                   a row a state: all lanes read it over and over. It becomes floats, chunk by chunk

   `arrays` is 4, or 2 for u, delta and B only. */
#ifndef SPAN_CUH
#define SPAN_CUH

#include "gradient.cuh"

enum { SPAN = 16 };

#define SPAN_CHANNELS(lanes) (SPAN_WARPS * BOTH(lanes)) /* of a block */
#define IN_PIECE(stored) (16 / (int)sizeof(stored))     /* elements */
#define COMMON_PIECES(stored, lanes, arrays) ((arrays) / 2 * STATES_OF(lanes) * SPAN / IN_PIECE(stored))

template <typename stored, int lanes, int arrays>
struct span {
    stored own[arrays][SPAN_CHANNELS(lanes) * SPAN];
    float common[2][ROOM(arrays / 2 * STATES_OF(lanes), STEPS)];
    uint4 narrow[sizeof(stored) < 4 ? COMMON_PIECES(stored, lanes, arrays) : 1]; /* what common shall become */
};

/* Where a block works: on `here` channels of one group. Blocks have them in order. */
struct block_place {
    size_t batch;
    int first, here;      /* the first one among all channels */
    int channels, states; /* the first one's row in arrays like u; the group's first row of B */
};

template <int lanes>
static __device__ __forceinline__ struct block_place place_block(const struct selective_args *args)
{
    const unsigned per_group = args->channels / args->groups, groups = args->groups;
    const unsigned blocks = (per_group - 1) / SPAN_CHANNELS(lanes) + 1, of_group = blockIdx.x / blocks;
    const unsigned first = blockIdx.x % blocks * SPAN_CHANNELS(lanes);
    struct block_place place;
    place.batch = of_group / groups;
    place.first = of_group % groups * per_group + first;
    place.here = min((int)(per_group - first), (int)SPAN_CHANNELS(lanes));
    place.channels = of_group * per_group + first;
    place.states = of_group * args->states;
    return place;
}

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
template <typename stored, int lanes, int arrays, int threads>
static __device__ __forceinline__ void send_span(const struct selective_args *args, const struct block_place *place,
                                                 int at, bool whole, struct span<stored, lanes, arrays> *to)
{
    enum { each = IN_PIECE(stored), in_row = SPAN / each, own = SPAN_CHANNELS(lanes) * in_row };
    enum { common = COMMON_PIECES(stored, lanes, arrays) };
    const void *const own_arrays[] = {args->u, args->delta, args->z != NULL ? args->z : args->u, args->d_out};
    const int t = threadIdx.x % in_row * each, left = (int)args->seq_len - at - t;
#pragma unroll
    for (int j = 0; j < (own + threads - 1) / threads; j++) {
        const int channel = (threadIdx.x + j * threads) / in_row;
        const size_t first = (size_t)(unsigned)(place->channels + channel) * (unsigned)args->seq_len + at + t;
        if (own % threads != 0 && channel >= SPAN_CHANNELS(lanes))
            break;
#pragma unroll
        for (int array = 0; array < arrays; array++) { /* without z u is read in its place, in vain */
            const stored *const from = (const stored *)own_arrays[array] + first;
            stored *const here = to->own[array] + ::place<SPAN, stored>(channel, t);
            if (whole)
                __pipeline_memcpy_async(here, from, 16);
            else if (channel < place->here)
                send_some(from, left, here);
        }
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
template <int threads, typename stored, int lanes, int arrays>
static __device__ __forceinline__ void fetch_span(const struct selective_args *args, const struct block_place *place,
                                                  int at, struct span<stored, lanes, arrays> *to)
{
    const int seq_len = (int)args->seq_len;
    const bool every_row = place->here == SPAN_CHANNELS(lanes) && args->states == STATES_OF(lanes);
    if (at >= 0 && at + SPAN <= seq_len && seq_len % IN_PIECE(stored) == 0 && every_row)
        send_span<stored, lanes, arrays, threads>(args, place, at, true, to);
    else if (at >= 0 && at < seq_len)
        send_span<stored, lanes, arrays, threads>(args, place, at, false, to);
}

/* A thread makes floats of what it has sent of B and C itself, and waited for. */
template <int threads, int lanes, int arrays>
static __device__ __forceinline__ void widen_span(struct span<float, lanes, arrays> *)
{
}

template <int threads, typename stored, int lanes, int arrays>
static __device__ __forceinline__ void widen_span(struct span<stored, lanes, arrays> *span)
{
    enum { in_row = SPAN / STEPS, common = COMMON_PIECES(stored, lanes, arrays) };
#pragma unroll
    for (int j = 0; j < (common + threads - 1) / threads; j++) {
        const int piece = threadIdx.x + j * threads;
        float eight[STEPS];
        if (common % threads != 0 && piece >= common)
            break;
        get<STEPS, STEPS>((const stored *)&span->narrow[piece], 0, 0, eight);
        put<STEPS, STEPS>(span->common[piece % in_row], piece / in_row, 0, eight);
    }
}

#endif
