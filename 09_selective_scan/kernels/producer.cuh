/* SPDX-License-Identifier: MIT */
/* producer.cuh - the shared memory of warp_specialized.cu, and how a producer brings a tile there.

   A lane of a producer has four steps of each half of a tile, all of one channel, and is the only one who needs u,
   delta and z of these. So they wait for it in the type of the arrays, in a place of its own, and it need not wait for
   other warps. B and C are everybody's: a producer brings the same steps of `each` of their rows, and makes floats of
   them. */
#ifndef PRODUCER_CUH
#define PRODUCER_CUH

#include "../../common/cuda/cp_async.h"
#include "own_steps.cuh"

enum { LANES = 8, STEPS = 64, HALF = STEPS / 2, STAGES = 4, CONSUMERS = 128 };
enum { IN_BLOCK = CONSUMERS / LANES, IN_ROW = HALF / 4, PRODUCERS = IN_BLOCK * IN_ROW };
enum { ROW = STEPS + 4 }; /* floats. Of eight rows in a sequence no two begin in the same four banks */

/* A tile of 64 steps; `each` states a lane. A row of B or C is a state, a row of steps a channel. */
template <typename dtype, int each>
struct stage {
    enum { narrow = sizeof(dtype) < 4 ? each : 0 }; /* rows of B and C that a producer brings to its own place */
    float common[2 * LANES * each][ROW];            /* B | C */
    float steps[2 * IN_BLOCK][ROW];                 /* step | step u */
    dtype own[3 + narrow][2][PRODUCERS][4];         /* u, delta, z, and B and C if they are not floats */
};

template <typename dtype, int each>
struct tiles {
    struct stage<dtype, each> stages[STAGES];
    float parts[2][CONSUMERS / 2][ROW]; /* C h, added up over the states of two lanes */
};

/* What a producer knows. */
template <typename dtype, int each>
struct producer {
    int number, channel, t; /* among the producers; in the block; its first step in each half of a tile */
    int seq_len;
    unsigned there;                     /* a bit for each of its rows of B and C */
    bool here, aligned;                 /* whether it has a channel; whether four steps are aligned as such */
    bool all;                           /* whether they are, and all producers of the block have a channel */
    float bias, D;                      /* of its channel */
    const dtype *own[3], *common[each]; /* where its rows begin */
    dtype *out;
    size_t fetched; /* how many steps it has asked for */
};

template <typename dtype, int each>
static __device__ __forceinline__ struct producer<dtype, each> make_producer(const struct selective_args *args) {
    const unsigned per_group = args->channels / args->groups, blocks = (per_group - 1) / IN_BLOCK + 1;
    const unsigned of_group = blockIdx.x / blocks, first = blockIdx.x % blocks * IN_BLOCK;
    const void *const arrays[] = {args->u, args->delta, args->z != NULL ? args->z : args->u}; /* u once more: unused */
    struct producer<dtype, each> producer;
    producer.number = threadIdx.x - CONSUMERS, producer.seq_len = (int)args->seq_len;
    producer.channel = producer.number / IN_ROW, producer.t = producer.number % IN_ROW * 4;
    producer.here = first + producer.channel < per_group;
    const size_t c = (size_t)of_group % args->groups * per_group + (producer.here ? first + producer.channel : 0);
    const size_t at = (of_group / args->groups * args->channels + c) * args->seq_len;
    producer.bias = args->delta_bias != NULL ? args->delta_bias[c] : 0.0f;
    producer.D = args->D != NULL ? args->D[c] : 0.0f;
    producer.out = (dtype *)args->out + at + producer.t;
    producer.there = 0, producer.fetched = 0;
#pragma unroll
    for (int i = 0; i < 3; i++)
        producer.own[i] = (const dtype *)arrays[i] + at;
#pragma unroll
    for (int j = 0; j < each; j++) {
        const unsigned row = producer.channel + j * IN_BLOCK, n = row % (LANES * each);
        const void *const array = row < LANES * each ? args->B : args->C;
        producer.common[j] = (const dtype *)array + (of_group * args->states + n) * args->seq_len;
        producer.there |= (unsigned)(n < args->states) << j;
    }
    producer.aligned = producer.seq_len % 4 == 0;
    producer.all = producer.aligned && first + IN_BLOCK <= per_group;
    return producer;
}

/* How a producer brings its part of half a row: four steps at once, or one by one. Then the eight producers of the row,
   all in one warp, bring it together, each every eighth step, so that neighbours read neighbours; SOME: the half may
   end early. */
enum way {
    BY_FOUR,
    ONE_BY_ONE,
    SOME
};

/* `from` and `to`: the half's first step. */
template <enum way way>
static __device__ __forceinline__ void send(const float *from, int left, float *to, int number)
{
    const int first = number % IN_ROW;
    if (way == BY_FOUR)
        cp_async_l2_prefetch(to + 4 * first, from + 4 * first);
    else
#pragma unroll
        for (int t = first; t < HALF; t += IN_ROW)
            if (way == ONE_BY_ONE || t < left)
                __pipeline_memcpy_async(to + t, from + t, 4);
            else
                to[t] = 0.0f;
}

/* cp.async copies 4, 8 or 16 bytes, so single elements of 16 bits go through registers. */
template <enum way way, typename dtype>
static __device__ __forceinline__ void send(const dtype *from, int left, dtype *to, int number)
{
    const int first = number % IN_ROW;
    dtype four[4];
    if (way == BY_FOUR)
        __pipeline_memcpy_async(to + 4 * first, from + 4 * first, sizeof four);
#pragma unroll
    for (int i = 0; i < 4 && way != BY_FOUR; i++)
        four[i] = way == ONE_BY_ONE || first + i * IN_ROW < left ? from[first + i * IN_ROW] : (dtype)0.0f;
#pragma unroll
    for (int i = 0; i < 4 && way != BY_FOUR; i++)
        to[first + i * IN_ROW] = four[i];
}

/* Where a producer's steps of its row j of B and C become floats, and where they come before. */
template <typename dtype, int each>
static __device__ __forceinline__ float *wide(struct stage<dtype, each> *stage,
                                              const struct producer<dtype, each> *producer, int j, int half)
{
    return stage->common[producer->channel + j * IN_BLOCK] + half * HALF + producer->t;
}

template <int each>
static __device__ __forceinline__ float *narrow(struct stage<float, each> *stage,
                                                const struct producer<float, each> *producer, int j, int half)
{
    return wide(stage, producer, j, half);
}

template <typename dtype, int each>
static __device__ __forceinline__ dtype *narrow(struct stage<dtype, each> *stage,
                                                const struct producer<dtype, each> *producer, int j, int half)
{
    return stage->own[3 + j][half][producer->number];
}

template <enum way way, typename dtype, int each>
static __device__ __forceinline__ void send_half(const struct producer<dtype, each> *me,
                                                 struct stage<dtype, each> *stage, int half, size_t at, int left)
{
#pragma unroll
    for (int i = 0; i < 3; i++)
        send<way>(me->own[i] + at, left, stage->own[i][half][me->number] - me->t, me->number);
#pragma unroll
    for (int j = 0; j < each; j++)
        if (me->there >> j & 1)
            send<way>(me->common[j] + at, left, narrow(stage, me, j, half) - me->t, me->number);
}

/* Sends off what a producer has of a half of the next tile for it; after both, fetch_done. Behind the sequence's end
   nothing is sent. `whole`: all is there, and aligned. Rows of B and C that are no states are 0 from the beginning. */
template <bool whole, typename dtype, int each>
static __device__ __forceinline__ void fetch_half(const struct producer<dtype, each> *me,
                                                  struct stage<dtype, each> *stage, int half)
{
    const size_t at = me->fetched + half * HALF;
    const int left = me->seq_len - (int)at;
    if (!whole)
        __syncwarp(); /* all have read what was there */
    if (whole || (me->aligned && left >= HALF))
        send_half<BY_FOUR>(me, stage, half, at, left);
    else if (left >= HALF)
        send_half<ONE_BY_ONE>(me, stage, half, at, left);
    else if ((int)me->fetched < me->seq_len)
        send_half<SOME>(me, stage, half, at, left);
}

/* Makes 0 of its steps of rows that are no states. */
template <typename dtype, int each>
static __device__ __forceinline__ void clear_half(const struct producer<dtype, each> *me,
                                                  struct stage<dtype, each> *stage, int half)
{
#pragma unroll
    for (int j = 0; j < each; j++)
        for (int i = 0; i < 4 && !(me->there >> j & 1); i++)
            narrow(stage, me, j, half)[i] = (dtype)0.0f;
}

template <typename dtype, int each>
static __device__ __forceinline__ void fetch_done(struct producer<dtype, each> *me)
{
    __pipeline_commit();
    me->fetched += STEPS;
}

/* A producer's outputs of a half, `left` of its row. `whole`: all is there, and aligned. Otherwise the producers of a
   row write it one by one, as send reads it; z has been read, and its place serves for that. */
template <bool whole, typename dtype, int each>
static __device__ __forceinline__ void store_half(const struct producer<dtype, each> *me,
                                                  struct stage<dtype, each> *stage, int half, int left,
                                                  const float y[4])
{
    dtype *const place = stage->own[2][half][me->number], *const out = me->out + half * HALF;
    if (whole || (me->aligned && left >= HALF)) {
        if (whole || me->here)
            store4(out, y);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            place[i] = (dtype)y[i];
        __syncwarp();
#pragma unroll
        for (int t = me->number % IN_ROW; t < HALF; t += IN_ROW)
            if (me->here && t < left)
                out[t - me->t] = place[t - me->t];
    }
}

/* Makes floats of what it has of B and C, once that has come. */
template <int each>
static __device__ __forceinline__ void widen(struct stage<float, each> *, const struct producer<float, each> *)
{
}

template <typename dtype, int each>
static __device__ __forceinline__ void widen(struct stage<dtype, each> *stage,
                                             const struct producer<dtype, each> *producer)
{
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
        for (int j = 0; j < each; j++) {
            float four[4];
            get<4, 4>(narrow(stage, producer, j, half), 0, 0, four);
            put<4, 4>(wide(stage, producer, j, half), 0, 0, four);
        }
}

#endif
