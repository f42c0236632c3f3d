/* roles.cuh - what the walkers and the helpers of fused_roles.cu have in shared memory, and how a tile gets there.

   A helper has four steps of one channel in every tile, and is the only one who needs u, delta and z of these. So they
   wait for it as they are stored, in a place of its own, and no other thread need know that they have come. B and C are
   everybody's: a helper brings the same four steps of `each` of their rows, and makes floats of them. */
#ifndef ROLES_CUH
#define ROLES_CUH

#include <async_copy.h>

#include "chunk.cuh"

enum { LANES = 8, STEPS = 64, STAGES = 4, WALKERS = 128 };
enum { IN_BLOCK = WALKERS / LANES, IN_ROW = STEPS / 4, HELPERS = IN_BLOCK * IN_ROW };
enum { ROW = STEPS + 4 }; /* floats. Of eight rows in a sequence no two begin in the same four banks */

/* `each` states a lane. A row of B or C is a state, a row of steps a channel, a row of parts two walkers. */
template <typename stored, int each>
struct tiles {
    stored own[STAGES][3][HELPERS][4];                                /* u, delta, z */
    stored narrow[STAGES][each][sizeof(stored) < 4 ? HELPERS : 1][4]; /* B and C, if they are not floats */
    float common[STAGES][2 * LANES * each][ROW];                      /* B | C */
    float steps[STAGES][2 * IN_BLOCK][ROW];                           /* step | step u */
    float parts[2][WALKERS / 2][ROW];                                 /* C h, added up over the states of two walkers */
};

/* What a helper knows. */
template <typename stored, int each>
struct helper {
    int number, channel, t; /* among the helpers; in the block; its first step in a tile */
    int seq_len;
    unsigned there;                      /* a bit for each of its rows of B and C */
    bool here, all;                      /* whether it has a channel; whether all it has is there, and aligned */
    size_t c, row;                       /* of all channels; where the channel's row begins in arrays like u */
    const stored *own[3], *common[each]; /* where its four steps of the next tile are */
};

template <typename stored, int each>
static __device__ __forceinline__ struct helper<stored, each> make_helper(const struct selective_args *args) {
    const unsigned per_group = args->channels / args->groups, blocks = (per_group - 1) / IN_BLOCK + 1;
    const unsigned of_group = blockIdx.x / blocks, first = blockIdx.x % blocks * IN_BLOCK;
    const void *const arrays[] = {args->u, args->delta, args->z != NULL ? args->z : args->u}; /* read in vain */
    struct helper<stored, each> helper;
    helper.number = threadIdx.x - WALKERS, helper.seq_len = (int)args->seq_len;
    helper.channel = helper.number / IN_ROW, helper.t = helper.number % IN_ROW * 4;
    helper.here = first + helper.channel < per_group;
    helper.c = (size_t)of_group % args->groups * per_group + (helper.here ? first + helper.channel : 0);
    helper.row = (of_group / args->groups * args->channels + helper.c) * args->seq_len;
    helper.there = 0;
#pragma unroll
    for (int i = 0; i < 3; i++)
        helper.own[i] = (const stored *)arrays[i] + helper.row + helper.t;
#pragma unroll
    for (int j = 0; j < each; j++) {
        const unsigned row = helper.channel + j * IN_BLOCK, n = row % (LANES * each);
        const void *const array = row < LANES * each ? args->B : args->C;
        helper.common[j] = (const stored *)array + (of_group * args->states + n) * args->seq_len + helper.t;
        helper.there |= (unsigned)(n < args->states) << j;
    }
    helper.all = helper.seq_len % 4 == 0 && helper.here && helper.there == (1u << each) - 1;
    return helper;
}

/* Four elements to shared memory; or the first `left` of them, and 0 for the others. */
static __device__ __forceinline__ void
send4(const float *from, float *to)
{
    async_copy_ahead(to, from);
}

template <typename stored>
static __device__ __forceinline__ void send4(const stored *from, stored *to)
{
    __pipeline_memcpy_async(to, from, 4 * sizeof(stored));
}

static __device__ __forceinline__ void send_some(const float *from, int left, float *to)
{
    fetch4(from, left, false, to, NULL);
}

template <typename stored>
static __device__ __forceinline__ void send_some(const stored *from, int left, stored *to)
{
    for (int i = 0; i < 4; i++)
        to[i] = i < left ? from[i] : (stored)0.0f; /* cp.async takes no two bytes */
}

/* Where a helper's steps of its row j of B and C become floats, and where they come before. */
template <typename stored, int each>
static __device__ __forceinline__ float *wide(struct tiles<stored, each> *tiles,
                                              const struct helper<stored, each> *helper, int stage, int j)
{
    return tiles->common[stage][helper->channel + j * IN_BLOCK] + helper->t;
}

template <int each>
static __device__ __forceinline__ float *narrow(struct tiles<float, each> *tiles,
                                                const struct helper<float, each> *helper, int stage, int j)
{
    return wide(tiles, helper, stage, j);
}

template <typename stored, int each>
static __device__ __forceinline__ stored *narrow(struct tiles<stored, each> *tiles,
                                                 const struct helper<stored, each> *helper, int stage, int j)
{
    return tiles->narrow[stage][j][helper->number];
}

/* Sends off all that a helper has of a tile, the next one for it. Behind the sequence's end nothing is sent. */
template <typename stored, int each>
static __device__ __forceinline__ void fetch(struct helper<stored, each> *helper, int tile,
                                             struct tiles<stored, each> *tiles)
{
    const int stage = tile % STAGES, left = helper->seq_len - tile * STEPS - helper->t;
    if (helper->all && left >= 4) {
#pragma unroll
        for (int i = 0; i < 3; i++)
            send4(helper->own[i], tiles->own[stage][i][helper->number]);
#pragma unroll
        for (int j = 0; j < each; j++)
            send4(helper->common[j], narrow(tiles, helper, stage, j));
    } else if (left + helper->t > 0) {
#pragma unroll
        for (int i = 0; i < 3; i++)
            if (helper->here)
                send_some(helper->own[i], left, tiles->own[stage][i][helper->number]);
#pragma unroll
        for (int j = 0; j < each; j++)
            send_some(helper->common[j], helper->there >> j & 1 ? left : 0, narrow(tiles, helper, stage, j));
    }
    __pipeline_commit();
#pragma unroll
    for (int i = 0; i < 3; i++)
        helper->own[i] += STEPS;
#pragma unroll
    for (int j = 0; j < each; j++)
        helper->common[j] += STEPS;
}

/* Makes floats of what it has of B and C, once that has come. */
template <int each>
static __device__ __forceinline__ void widen(struct tiles<float, each> *, const struct helper<float, each> *, int)
{
}

template <typename stored, int each>
static __device__ __forceinline__ void widen(struct tiles<stored, each> *tiles,
                                             const struct helper<stored, each> *helper, int stage)
{
#pragma unroll
    for (int j = 0; j < each; j++) {
        float four[4];
        get<4, 4>(narrow(tiles, helper, stage, j), 0, 0, four);
        put<4, 4>(wide(tiles, helper, stage, j), 0, 0, four);
    }
}

#endif
