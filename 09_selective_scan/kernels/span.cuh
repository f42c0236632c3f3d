/* span.cuh - what a block of fused_states.cu or fused_backward.cu has of its sequences in shared memory: a span of SPAN
   steps in chunks of 8. The file that includes this one says whether that is 16 or 32. Rows come in as they are stored,
   in pieces of 16 bytes:

     own      u | delta | z | d_out   a row a channel: only the lane that needs a step reads it, and makes a float of it
     common   B | C                   a row a state: all lanes read it over and over. It becomes floats, chunk by chunk

   `arrays` is 4, or 2 for u, delta and B only; `channels` are those of the block. */
#ifndef SPAN_CUH
#define SPAN_CUH

#include "../../common/cuda/cp_async.h"
#include "gradient.cuh"

#define IN_PIECE(stored) (16 / (int)sizeof(stored)) /* elements */
#define COMMON_PIECES(stored, lanes, arrays) ((arrays) / 2 * STATES_OF(lanes) * SPAN / IN_PIECE(stored))

template <typename stored, int lanes, int arrays, int channels>
struct span {
    stored own[arrays][channels * SPAN];
    float common[SPAN / STEPS][ROOM(arrays / 2 * STATES_OF(lanes), STEPS)];
    uint4 narrow[sizeof(stored) < 4 ? COMMON_PIECES(stored, lanes, arrays) : 8]; /* what common shall become; or 128 */
                                                                                 /* bytes, as all lies at multiples */
};

/* Where a block works: on `here` channels of one group. Blocks have `channels` each, in order, and a group `blocks`, of
   which the last ones may have none. */
struct block_place {
    int here;
    int first, states; /* row of the first channel in arrays like u; the group's first row of B */
};

static __device__ __forceinline__ struct block_place place_block(const struct selective_args *args, int channels,
                                                                 unsigned blocks)
{
    const unsigned per_group = args->channels / args->groups, of_group = blockIdx.x / blocks;
    const unsigned first = blockIdx.x % blocks * channels;
    struct block_place place;
    place.here = min((int)(per_group - first), channels);
    place.first = of_group * per_group + first;
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
template <int lanes, int arrays, int channels>
static __device__ __forceinline__ float *common_piece(struct span<float, lanes, arrays, channels> *span, int, int row,
                                                      int t)
{
    return span->common[t / STEPS] + place<STEPS>(row, t % STEPS);
}

template <typename stored, int lanes, int arrays, int channels>
static __device__ __forceinline__ stored *common_piece(struct span<stored, lanes, arrays, channels> *span, int piece,
                                                       int, int)
{
    return (stored *)&span->narrow[piece];
}

/* Sends off the thread's pieces of the span that begins at step `at`, as far as they are there. `whole`: all are, and
   lie at multiples of their size. */
template <typename stored, int lanes, int arrays, int channels, int threads>
static __device__ __forceinline__ void send_span(const struct selective_args *args, const struct block_place *place,
                                                 int at, bool whole, struct span<stored, lanes, arrays, channels> *to)
{
    enum { each = IN_PIECE(stored), in_row = SPAN / each, own = channels * in_row };
    enum { common = COMMON_PIECES(stored, lanes, arrays) };
    const void *const own_arrays[] = {args->u, args->delta, args->z != NULL ? args->z : args->u, args->d_out};
    const int t = threadIdx.x % in_row * each, left = (int)args->seq_len - at - t;
#pragma unroll
    for (int j = 0; j < (own + threads - 1) / threads; j++) {
        const int channel = (threadIdx.x + j * threads) / in_row;
        const size_t first = (size_t)(unsigned)(place->first + channel) * (unsigned)args->seq_len + at + t;
        if (own % threads != 0 && channel >= channels)
            break;
#pragma unroll
        for (int array = 0; array < arrays; array++) { /* without z u is read in its place, in vain */
            const stored *const from = (const stored *)own_arrays[array] + first;
            stored *const here = to->own[array] + ::place<SPAN, stored>(channel, t);
            if (whole)
                cp_async_l2_prefetch(here, from);
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
            cp_async_l2_prefetch(common_piece(to, piece, row, t), from + first);
        else if (state < (int)args->states)
            send_some(from + first, left, common_piece(to, piece, row, t));
    }
}

/* The same for a span that need not be in the sequence: then nothing is sent. */
template <int threads, typename stored, int lanes, int arrays, int channels>
static __device__ __forceinline__ void fetch_span(const struct selective_args *args, const struct block_place *place,
                                                  int at, struct span<stored, lanes, arrays, channels> *to)
{
    const int seq_len = (int)args->seq_len;
    const bool every_row = place->here == channels && args->states == STATES_OF(lanes);
    if (at >= 0 && at + SPAN <= seq_len && seq_len % IN_PIECE(stored) == 0 && every_row)
        send_span<stored, lanes, arrays, channels, threads>(args, place, at, true, to);
    else if (at >= 0 && at < seq_len)
        send_span<stored, lanes, arrays, channels, threads>(args, place, at, false, to);
}

/* A thread makes floats of what it has sent of B and C itself, and waited for. */
template <int threads, int lanes, int arrays, int channels>
static __device__ __forceinline__ void widen_span(struct span<float, lanes, arrays, channels> *)
{
}

template <int threads, typename stored, int lanes, int arrays, int channels>
static __device__ __forceinline__ void widen_span(struct span<stored, lanes, arrays, channels> *span)
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

/* ---- Of fused_states.cu alone ---- */

/* Where a thread's first pieces of a span lie in u, delta and B, in elements. From span to span they move on, which is
   less work than to find them. `whole`: all rows are there, and lie at multiples of 16 bytes. */
struct span_sources {
    size_t own, common;
    bool whole;
};

template <typename stored, int lanes, int channels>
static __device__ __forceinline__ struct span_sources find_span_sources(const struct selective_args *args,
                                                                        const struct block_place *place, int at)
{
    enum { in_row = SPAN / IN_PIECE(stored) };
    const int row = threadIdx.x / in_row, first = at + threadIdx.x % in_row * IN_PIECE(stored);
    struct span_sources from;
    from.own = (size_t)(unsigned)(place->first + row) * (unsigned)args->seq_len + first;
    from.common = (size_t)(unsigned)(place->states + row) * (unsigned)args->seq_len + first;
    from.whole =
        place->here == channels && args->states == STATES_OF(lanes) && (int)args->seq_len % IN_PIECE(stored) == 0;
    return from;
}

/* Sends off the span behind the one that `from` says, as a whole: u, delta and B. */
template <int threads, typename stored, int lanes, int arrays, int channels>
static __device__ __forceinline__ void send_next(const struct selective_args *args, struct span_sources *from,
                                                 struct span<stored, lanes, arrays, channels> *to)
{
    enum { in_row = SPAN / IN_PIECE(stored), rows = threads / in_row }; /* of a thread's pieces in turn */
    const int row = threadIdx.x / in_row, t = threadIdx.x % in_row * IN_PIECE(stored);
    from->own += SPAN, from->common += SPAN;
#pragma unroll
    for (int j = 0; j < channels / rows; j++) {
        const size_t first = from->own + (size_t)(j * rows) * (unsigned)args->seq_len;
        const int here = ::place<SPAN, stored>(row + j * rows, t);
        cp_async_l2_prefetch(to->own[0] + here, (const stored *)args->u + first);
        cp_async_l2_prefetch(to->own[1] + here, (const stored *)args->delta + first);
    }
#pragma unroll
    for (int j = 0; j * rows < STATES_OF(lanes); j++)
        if (row + j * rows < STATES_OF(lanes))
            cp_async_l2_prefetch(common_piece(to, threadIdx.x + j * threads, row + j * rows, t),
                                 (const stored *)args->B + from->common + (size_t)(j * rows) * (unsigned)args->seq_len);
}

/* The lane's own steps of a chunk, whose step `at` is `mine` of the chunk: step, step u and, if the span has d_out,
   d_y. A row a channel, `rows` floats for each of the three. Steps from seq_len on become 0. */
template <typename stored, int lanes, int arrays, int channels>
static __device__ __forceinline__ void
prepare_states(const struct selective_args *args, const struct span<stored, lanes, arrays, channels> *span, int channel,
               int chunk, int row, int mine, int at, float bias, float *to)
{
    enum { own = STEPS / lanes, rows = ROOM(CHANNELS(lanes), STEPS) };
    float u[own], step[own], z[own], d_y[own];
    get<SPAN, own>(span->own[0], channel, chunk * STEPS + mine, u);
    get<SPAN, own>(span->own[1], channel, chunk * STEPS + mine, step);
#pragma unroll
    for (int i = 0; i < own; i++) {
        step[i] = step_of(step[i] + bias, args->delta_softplus);
        if (at + i >= (int)args->seq_len)
            step[i] = 0.0f;
        u[i] *= step[i];
    }
    put<STEPS, own>(to, row, mine, step);
    put<STEPS, own>(to + rows, row, mine, u);
    if (arrays < 4)
        return;
    get<SPAN, own>(span->own[arrays - 2], channel, chunk * STEPS + mine, z);
    get<SPAN, own>(span->own[arrays - 1], channel, chunk * STEPS + mine, d_y);
#pragma unroll
    for (int i = 0; i < own; i++)
        d_y[i] = args->z != NULL ? d_y[i] * silu(z[i]) : d_y[i];
    put<STEPS, own>(to + 2 * rows, row, mine, d_y);
}

/* ---- Of fused_backward.cu alone ---- */

template <typename stored, int lanes>
struct gradients_block {
    struct span<stored, lanes, 4, SPAN_WARPS * BOTH(lanes)> spans[2];
    float states[2][SPAN_WARPS][2][32 * A_LANE];           /* before each chunk of these spans */
    float sums[2][2][SPAN_WARPS][STATES_OF(lanes) * SPAN]; /* d_B and d_C of the warps' channels */
    float steps[SPAN_WARPS][2 * 4 * ROOM(BOTH(lanes), STEPS)];
    float d_A[SPAN_WARPS][32 * A_LANE], so_far[SPAN_WARPS][64]; /* sums over time; d_D and d_bias */
    float before[SPAN_WARPS][32 * A_LANE]; /* of several segments: the states before this one, and */
    float so_long[2][SPAN_WARPS][2][32];   /* the sums of its steps before each chunk, for each channel */
};

/* Of a warp's chunk: step, step u, d_y = d_out silu(z) and d_out silu'(z), which is d_z but for y: a row a channel. */
#define PREPARED_ROWS(lanes) ROOM(BOTH(lanes), STEPS) /* floats */
#define PREPARED(lanes) (4 * PREPARED_ROWS(lanes))

/* The lane's own steps of both chunks of a span. Steps from seq_len on become 0, and leave the states as they are. */
template <typename stored, int lanes, int channels>
static __device__ __forceinline__ void prepare_span(const struct selective_args *args,
                                                    const struct span<stored, lanes, 4, channels> *span, int channel,
                                                    int row, int mine, int left, float bias, float *steps)
{
    enum { own = OWN_STEPS(lanes) };
    float u[2][own], step[2][own], z[2][own], d_y[2][own];
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++) {
        get<SPAN, own>(span->own[0], channel, chunk * STEPS + mine, u[chunk]);
        get<SPAN, own>(span->own[1], channel, chunk * STEPS + mine, step[chunk]);
        get<SPAN, own>(span->own[2], channel, chunk * STEPS + mine, z[chunk]);
        get<SPAN, own>(span->own[3], channel, chunk * STEPS + mine, d_y[chunk]);
    }
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++)
#pragma unroll
        for (int i = 0; i < own; i++) {
            const float d_out = d_y[chunk][i], soft = step_of(step[chunk][i] + bias, args->delta_softplus);
            step[chunk][i] = chunk * STEPS + i < left ? soft : 0.0f;
            u[chunk][i] *= step[chunk][i];
            d_y[chunk][i] = args->z != NULL ? d_out * silu(z[chunk][i]) : d_out;
            z[chunk][i] = d_out * silu_slope(z[chunk][i]);
        }
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++) {
        float *const to = steps + chunk * PREPARED(lanes);
        put<STEPS, own>(to, row, mine, step[chunk]);
        put<STEPS, own>(to + PREPARED_ROWS(lanes), row, mine, u[chunk]);
        put<STEPS, own>(to + 2 * PREPARED_ROWS(lanes), row, mine, d_y[chunk]);
        put<STEPS, own>(to + 3 * PREPARED_ROWS(lanes), row, mine, z[chunk]);
    }
}

/* Sends off the states before the chunks of the span at step `at`, as far as these are in the sequence; of several
   segments also the sums of the steps. A chunk has `floats` of them in memory. */
template <int lanes>
static __device__ __forceinline__ void fetch_saved(const float *saved, int floats, int at, int seq_len, float *states,
                                                   float *so_long)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++)
        if (at >= 0 && at + chunk * STEPS < seq_len) {
            const float *const from = saved + (size_t)(at / STEPS + chunk) * floats + lane * 4;
            float *const to = states + chunk * 32 * A_LANE + lane * 4;
            __pipeline_memcpy_async(to, from, 16);
            __pipeline_memcpy_async(to + 32 * 4, from + 32 * 4, 16);
            if (floats > 32 * A_LANE && lane < BOTH(lanes) / 4)
                __pipeline_memcpy_async(so_long + chunk * 32 + lane * 4, from + 32 * A_LANE, 16);
        }
}

/* All that a block needs for the span at step `at`, if it is one, and its warp for `saved_steps` of a sequence. */
template <typename stored, int lanes>
static __device__ __forceinline__ void
fetch_gradients(const struct selective_args *args, const struct block_place *place, const float *saved, int floats,
                int at, int saved_steps, struct gradients_block<stored, lanes> *to, int which)
{
    const int warp = threadIdx.x / 32;
    fetch_span<32 * SPAN_WARPS>(args, place, at, &to->spans[which]);
    fetch_saved<lanes>(saved, floats, at, saved_steps, to->states[which][warp][0], to->so_long[which][warp][0]);
    __pipeline_commit();
}

/* Of several segments: the states of a span were saved as if their segment began with 0. `before` is what comes into
   it. */
template <int lanes>
static __device__ __forceinline__ void add_before(const float *before, const float *so_long, int row,
                                                  const float A[2][4], float *states)
{
    float more[2][4];
    get_states(before, more);
#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++) {
        float h[2][4];
        get_states(states + chunk * 32 * A_LANE, h);
#pragma unroll
        for (int k = 0; k < 2; k++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                h[k][i] += fast_exp2(so_long[chunk * 32 + (row ^ 2 * k)] * A[k][i]) * more[k][i];
        put_states(states + chunk * 32 * A_LANE, h);
    }
}

/* Adds up what the warps have left of d_B and d_C in the span at step `at`. */
template <int lanes>
static __device__ __forceinline__ void add_span(const struct selective_args *args, const struct selective_parts *parts,
                                                const float sums[2][SPAN_WARPS][STATES_OF(lanes) * SPAN], int at)
{
    enum { pieces = STATES_OF(lanes) * SPAN / 4, threads = 32 * SPAN_WARPS };
    const int seq_len = (int)args->seq_len;
#pragma unroll
    for (int j = 0; j < (2 * pieces + threads - 1) / threads; j++) {
        const unsigned piece = threadIdx.x + j * threads;
        if (2 * pieces % threads != 0 && piece >= 2 * pieces)
            break;
        const int state = piece % pieces / (SPAN / 4), t = piece % (SPAN / 4) * 4;
        float sum[4] = {};
#pragma unroll
        for (int warp = 0; warp < SPAN_WARPS; warp++) {
            float more[4];
            get<SPAN, 4>(sums[piece / pieces][warp], state, t, more);
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[i] += more[i];
        }
        const size_t out = (size_t)(blockIdx.x * (unsigned)args->states + state) * (unsigned)seq_len + at + t;
        if (state < (int)args->states)
            store<float, 4>((piece < pieces ? parts->d_B : parts->d_C) + out, seq_len - at - t,
                            seq_len % 4 == 0 && at + SPAN <= seq_len, sum);
    }
}

#endif
