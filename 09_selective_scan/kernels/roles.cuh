/* roles.cuh - what the walkers and the helpers of warp_specialized.cu have in shared memory, and how a tile gets there.

   A helper, here a thread, has four steps of each half of a tile, all of one channel, and is the only one who needs u,
   delta and z of these. So they wait for it as they are stored, in a place of its own, and it need not wait for other
   warps. B and C are everybody's: a helper brings the same steps of `each` of their rows, and makes floats of them. */
#ifndef ROLES_CUH
#define ROLES_CUH

#include "../../common/cuda/cp_async.h"

#include "chunk.cuh"

enum { LANES = 8, STEPS = 64, HALF = STEPS / 2, STAGES = 4, WALKERS = 128 };
enum { IN_BLOCK = WALKERS / LANES, IN_ROW = HALF / 4, HELPERS = IN_BLOCK * IN_ROW };
enum { ROW = STEPS + 4 }; /* floats. Of eight rows in a sequence no two begin in the same four banks */

/* A tile of 64 steps; `each` states a lane. A row of B or C is a state, a row of steps a channel. */
template <typename stored, int each>
struct stage {
    enum { narrow = sizeof(stored) < 4 ? each : 0 }; /* rows of B and C that a helper brings to its own place */
    float common[2 * LANES * each][ROW];             /* B | C */
    float steps[2 * IN_BLOCK][ROW];                  /* step | step u */
    stored own[3 + narrow][2][HELPERS][4];           /* u, delta, z, and B and C if they are not floats */
};

template <typename stored, int each>
struct tiles {
    struct stage<stored, each> stages[STAGES];
    float parts[2][WALKERS / 2][ROW]; /* C h, added up over the states of two lanes */
};

/* What a helper knows. */
template <typename stored, int each>
struct helper {
    int number, channel, t; /* among the helpers; in the block; its first step in each half of a tile */
    int seq_len;
    unsigned there;                      /* a bit for each of its rows of B and C */
    bool here, aligned;                  /* whether it has a channel; whether four steps are aligned as such */
    bool all;                            /* whether they are, and all helpers of the block have a channel */
    float bias, D;                       /* of its channel */
    const stored *own[3], *common[each]; /* where its rows begin */
    stored *out;
    size_t fetched; /* how many steps it has asked for */
};

template <typename stored, int each>
static __device__ __forceinline__ struct helper<stored, each> make_helper(const struct selective_args *args) {
    const unsigned per_group = args->channels / args->groups, blocks = (per_group - 1) / IN_BLOCK + 1;
    const unsigned of_group = blockIdx.x / blocks, first = blockIdx.x % blocks * IN_BLOCK;
    const void *const arrays[] = {args->u, args->delta, args->z != NULL ? args->z : args->u}; /* u once more: unused */
    struct helper<stored, each> helper;
    helper.number = threadIdx.x - WALKERS, helper.seq_len = (int)args->seq_len;
    helper.channel = helper.number / IN_ROW, helper.t = helper.number % IN_ROW * 4;
    helper.here = first + helper.channel < per_group;
    const size_t c = (size_t)of_group % args->groups * per_group + (helper.here ? first + helper.channel : 0);
    const size_t at = (of_group / args->groups * args->channels + c) * args->seq_len;
    helper.bias = args->delta_bias != NULL ? args->delta_bias[c] : 0.0f;
    helper.D = args->D != NULL ? args->D[c] : 0.0f;
    helper.out = (stored *)args->out + at + helper.t;
    helper.there = 0, helper.fetched = 0;
#pragma unroll
    for (int i = 0; i < 3; i++)
        helper.own[i] = (const stored *)arrays[i] + at;
#pragma unroll
    for (int j = 0; j < each; j++) {
        const unsigned row = helper.channel + j * IN_BLOCK, n = row % (LANES * each);
        const void *const array = row < LANES * each ? args->B : args->C;
        helper.common[j] = (const stored *)array + (of_group * args->states + n) * args->seq_len;
        helper.there |= (unsigned)(n < args->states) << j;
    }
    helper.aligned = helper.seq_len % 4 == 0;
    helper.all = helper.aligned && first + IN_BLOCK <= per_group;
    return helper;
}

/* How a helper brings its part of half a row: four steps at once, or one by one. Then the eight helpers of the row, all
   in one warp, bring it together, each every eighth step, so that neighbours read neighbours; SOME: the half may end
   early. */
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
template <enum way way, typename stored>
static __device__ __forceinline__ void send(const stored *from, int left, stored *to, int number)
{
    const int first = number % IN_ROW;
    stored four[4];
    if (way == BY_FOUR)
        __pipeline_memcpy_async(to + 4 * first, from + 4 * first, sizeof four);
#pragma unroll
    for (int i = 0; i < 4 && way != BY_FOUR; i++)
        four[i] = way == ONE_BY_ONE || first + i * IN_ROW < left ? from[first + i * IN_ROW] : (stored)0.0f;
#pragma unroll
    for (int i = 0; i < 4 && way != BY_FOUR; i++)
        to[first + i * IN_ROW] = four[i];
}

/* Where a helper's steps of its row j of B and C become floats, and where they come before. */
template <typename stored, int each>
static __device__ __forceinline__ float *wide(struct stage<stored, each> *stage,
                                              const struct helper<stored, each> *helper, int j, int half)
{
    return stage->common[helper->channel + j * IN_BLOCK] + half * HALF + helper->t;
}

template <int each>
static __device__ __forceinline__ float *narrow(struct stage<float, each> *stage,
                                                const struct helper<float, each> *helper, int j, int half)
{
    return wide(stage, helper, j, half);
}

template <typename stored, int each>
static __device__ __forceinline__ stored *narrow(struct stage<stored, each> *stage,
                                                 const struct helper<stored, each> *helper, int j, int half)
{
    return stage->own[3 + j][half][helper->number];
}

template <enum way way, typename stored, int each>
static __device__ __forceinline__ void send_half(const struct helper<stored, each> *me,
                                                 struct stage<stored, each> *stage, int half, size_t at, int left)
{
#pragma unroll
    for (int i = 0; i < 3; i++)
        send<way>(me->own[i] + at, left, stage->own[i][half][me->number] - me->t, me->number);
#pragma unroll
    for (int j = 0; j < each; j++)
        if (me->there >> j & 1)
            send<way>(me->common[j] + at, left, narrow(stage, me, j, half) - me->t, me->number);
}

/* Sends off what a helper has of a half of the next tile for it; after both, fetch_done. Behind the sequence's end
   nothing is sent. `whole`: all is there, and aligned. Rows of B and C that are no states are 0 from the beginning. */
template <bool whole, typename stored, int each>
static __device__ __forceinline__ void fetch_half(const struct helper<stored, each> *me,
                                                  struct stage<stored, each> *stage, int half)
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
template <typename stored, int each>
static __device__ __forceinline__ void clear_half(const struct helper<stored, each> *me,
                                                  struct stage<stored, each> *stage, int half)
{
#pragma unroll
    for (int j = 0; j < each; j++)
        for (int i = 0; i < 4 && !(me->there >> j & 1); i++)
            narrow(stage, me, j, half)[i] = (stored)0.0f;
}

template <typename stored, int each>
static __device__ __forceinline__ void fetch_done(struct helper<stored, each> *me)
{
    __pipeline_commit();
    me->fetched += STEPS;
}

/* A helper's outputs of a half, `left` of its row. `whole`: all is there, and aligned. Otherwise the helpers of a row
   write it one by one, as send reads it; z has been read, and its place serves for that. */
template <bool whole, typename stored, int each>
static __device__ __forceinline__ void store_half(const struct helper<stored, each> *me,
                                                  struct stage<stored, each> *stage, int half, int left,
                                                  const float y[4])
{
    stored *const place = stage->own[2][half][me->number], *const out = me->out + half * HALF;
    if (whole || (me->aligned && left >= HALF)) {
        if (whole || me->here)
            store4(out, y);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            place[i] = (stored)y[i];
        __syncwarp();
#pragma unroll
        for (int t = me->number % IN_ROW; t < HALF; t += IN_ROW)
            if (me->here && t < left)
                out[t - me->t] = place[t - me->t];
    }
}

/* Makes floats of what it has of B and C, once that has come. */
template <int each>
static __device__ __forceinline__ void widen(struct stage<float, each> *, const struct helper<float, each> *)
{
}

template <typename stored, int each>
static __device__ __forceinline__ void widen(struct stage<stored, each> *stage,
                                             const struct helper<stored, each> *helper)
{
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
        for (int j = 0; j < each; j++) {
            float four[4];
            get<4, 4>(narrow(stage, helper, j, half), 0, 0, four);
            put<4, 4>(wide(stage, helper, j, half), 0, 0, four);
        }
}

#endif
