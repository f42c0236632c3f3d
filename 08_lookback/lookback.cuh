/* lookback.cuh - what this chapter's kernels share: where a tile lies, the scan of a warp's part of it, and the words
   by which blocks tell each other what their tiles do. */
#ifndef LOOKBACK_CUH
#define LOOKBACK_CUH

#include "../common/cuda/tma.h"
#include "../common/cuda/cluster.h"
#include <cuda/atomic>

#include "../04_warp_scan/warp_scan.cuh"
#include "../06_backward/direction.cuh"
#include "lookback.h"

/* ---- where a tile lies ---- */

/* Tiles of a sequence are counted in the order of the scan, and its edges are chapter 06's:

       sequence 0                     sequence 1
       | tile 0 | tile 1 | tile 2  |  | tile 3 | tile 4 | tile 5  |          seq_tiles = 3
         number_in_seq 0, 1, 2           0, 1, 2                                                  */
struct tile {
    size_t at;              /* its origin in the arrays */
    int first, last;        /* its own elements, counted from there */
    unsigned number_in_seq; /* 0: nothing comes into it */
    bool is_last;           /* of its sequence */
};

template <int reverse>
static __device__ __forceinline__ struct tile tile_of(unsigned seq, unsigned number_in_seq, const struct cut *cut)
{
    const size_t start = seq * cut->seq_len, stop = start + cut->seq_len;
    const size_t origin = origin_of<reverse>(start, stop);
    const int begin = (int)(reverse ? origin - stop : start - origin);
    const size_t base = (size_t)number_in_seq * cut->tile_len;
    struct tile tile;
    tile.number_in_seq = number_in_seq;
    tile.at = tile_at<reverse>(origin, base);
    tile.first = base == 0 ? begin : 0;
    tile.last = elems_left(base, begin + cut->seq_len, cut->tile_len);
    tile.is_last = base + cut->tile_len >= begin + cut->seq_len;
    return tile;
}

template <int reverse>
static __device__ __forceinline__ struct tile tile_number(unsigned number, const struct cut *cut)
{
    return tile_of<reverse>(number / cut->seq_tiles, number % cut->seq_tiles, cut);
}

/* ---- a warp's rows of a tile: steps 1, 2 and 4 of chapter 05's kernels ---- */

/* From memory. own: where the lane's group in the first row lies in the tile. */
template <int rows, int reverse>
static __device__ __forceinline__ void rows_load(const float *inputs, const float *coeffs, const struct tile *tile,
                                                 int own, float (*x)[4], float (*c)[4])
{
#pragma unroll
    for (int r = 0; r < rows; r++) {
        load4<reverse>(inputs + tile->at, own + r * PIPE_ROW, tile->first, tile->last, 0.0f, x[r]);
        load4<reverse>(coeffs + tile->at, own + r * PIPE_ROW, tile->first, tile->last, 1.0f, c[r]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) /* the sequence's first coefficient is not used */
        if (tile->number_in_seq == 0 && own + i == tile->first)
            c[0][i] = 1.0f;
}

/* x[r] and c[r]: the lane's group of four in row r. Afterwards x is the group's sum so far, c its product so far, and
   before[r] what the warp's elements before the group do. Returns what all of the warp's rows do. */
template <int rows>
static __device__ __forceinline__ struct pair rows_scan(float (*x)[4], float (*c)[4], struct pair *before, int lane)
{
    struct pair whole_warp;
#pragma unroll
    for (int r = 0; r < rows; r++) {
#pragma unroll
        for (int i = 1; i < 4; i++) {
            x[r][i] = x[r][i - 1] * c[r][i] + x[r][i];
            c[r][i] = c[r][i - 1] * c[r][i];
        }
        const struct pair mine = {c[r][3], x[r][3]};
        const struct pair up_to_here = warp_scan(mine, lane), whole_row = pair_shfl(up_to_here, 31);
        before[r] = lane_before(up_to_here, lane);
        if (r > 0)
            before[r] = pair_join(whole_warp, before[r]);
        whole_warp = r == 0 ? whole_row : pair_join(whole_warp, whole_row);
    }
    return whole_warp;
}

/* rows_scan for the gradients (chapter 06): a group's coefficients move on by one, and the last only scales what leaves
   the group. */
template <int rows>
static __device__ __forceinline__ struct pair rows_scan_shifted(float (*x)[4], float (*c)[4], struct pair *before,
                                                                int lane)
{
    struct pair whole_warp;
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const float left_over = c[r][3];
        c[r][3] = c[r][2], c[r][2] = c[r][1], c[r][1] = c[r][0], c[r][0] = 1.0f;
#pragma unroll
        for (int i = 1; i < 4; i++) {
            x[r][i] = x[r][i - 1] * c[r][i] + x[r][i];
            c[r][i] = c[r][i - 1] * c[r][i];
        }
        const struct pair mine = {c[r][3] * left_over, x[r][3] * left_over};
        const struct pair up_to_here = warp_scan(mine, lane), whole_row = pair_shfl(up_to_here, 31);
        before[r] = lane_before(up_to_here, lane);
        if (r > 0)
            before[r] = pair_join(whole_warp, before[r]);
        whole_warp = r == 0 ? whole_row : pair_join(whole_warp, whole_row);
    }
    return whole_warp;
}

/* After rows_scan: puts what lies before a lane's groups into them. x becomes the sum since the warp's first element, c
   the product, and nobody needs `before` any more. */
template <int rows>
static __device__ __forceinline__ void rows_settle(float (*x)[4], float (*c)[4], const struct pair *before, int lane)
{
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (lane > 0 || r > 0) /* adding 0 * c would not do */
                x[r][i] = before[r].sum * c[r][i] + x[r][i];
            c[r][i] *= before[r].product;
        }
}

/* Only what all of the warp's rows do together, a reduction: after each step a lane's pair stands for twice as many
   lanes, from itself on, and at the end lane 0 has them all. `groups`: what the lane's group in each row does. */
template <int rows>
static __device__ __forceinline__ struct pair rows_total(struct pair *groups)
{
#pragma unroll
    for (int d = 1; d < 32; d *= 2)
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const struct pair behind = {__shfl_down_sync(ALL_LANES, groups[r].product, d),
                                        __shfl_down_sync(ALL_LANES, groups[r].sum, d)};
            groups[r] = pair_join(groups[r], behind);
        }
#pragma unroll
    for (int r = 1; r < rows; r++)
        groups[0] = pair_join(groups[0], groups[r]);
    return groups[0];
}

/* What comes in is added to the warp's rows: `into_warp` before its first. Nothing comes into a sequence's first group
   (`nothing`, of the lane's first row); adding 0 * c would not do, because 0 * infinity is NaN. */
template <int rows>
static __device__ __forceinline__ void rows_add(float (*x)[4], float (*c)[4], const struct pair *before,
                                                float into_warp, bool nothing_into_warp, int lane)
{
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const float into = nothing_into_warp ? before[r].sum : into_warp * before[r].product + before[r].sum;
        if (!nothing_into_warp || lane > 0 || r > 0) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[r][i] = into * c[r][i] + x[r][i];
        }
    }
}

/* ---- words ---- */

/* A tile's word is 8 bytes, which are written and read at once, so that data and flag are one:

       product, sum     what the tile does: a carry y becomes y * product + sum
       NO_PRODUCT, sum  what leaves the tile: everything before it is in the sum
       all bits set     nothing yet

   A product or sum that is a NaN is written as the NaN 0x7FFFFFFF, so it looks like neither of the two. */
#define NOTHING_YET 0xFFFFFFFFFFFFFFFFull
#define NO_PRODUCT 0xFFFFFFFFu
#define CHANGES_NOTHING 0x3F80000000000000ull /* the product 1, the sum 0 */

/* What a launch finds filled with 0xFF, and leaves so. */
struct workspace {
    unsigned ticket;            /* the last tile that a block took */
    unsigned finished;          /* the number of blocks that have finished, less one */
    unsigned long long words[]; /* of each tile */
};

static __device__ __forceinline__ unsigned word_half(float value)
{
    return value != value ? 0x7FFFFFFFu : __float_as_uint(value);
}

static __device__ __forceinline__ void word_write(unsigned long long *place, unsigned product, unsigned sum)
{
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word(*place);
    word.store((unsigned long long)product << 32 | sum, cuda::memory_order_relaxed);
}

static __device__ __forceinline__ unsigned long long word_read(unsigned long long *place)
{
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word(*place);
    return word.load(cuda::memory_order_relaxed);
}

static __device__ __forceinline__ struct pair word_pair(unsigned long long word)
{
    const struct pair pair = {__uint_as_float((unsigned)(word >> 32)), __uint_as_float((unsigned)word)};
    return pair;
}

static __device__ __forceinline__ bool word_is_carry(unsigned long long word)
{
    return (unsigned)(word >> 32) == NO_PRODUCT;
}

/* What comes into tile `number`, which is not its sequence's first. All lanes of a warp call it. */
static __device__ __forceinline__ float look_back(unsigned long long *words, unsigned number, unsigned number_in_seq,
                                                  int lane)
{
    struct pair since = {1.0f, 0.0f}; /* what the tiles do that have been looked at */
    for (unsigned back = 0;; back += 32) {
        /* Lane 31 has the nearest tile; a lane before the sequence's first tile has none. */
        const bool has_tile = back + 32 - lane <= number_in_seq;
        unsigned long long word = NOTHING_YET;
        unsigned carries, missing;
        do {
            if (has_tile && word == NOTHING_YET)
                word = word_read(&words[number - back - 32 + lane]);
            carries = __ballot_sync(ALL_LANES, has_tile && word != NOTHING_YET && word_is_carry(word));
            missing = __ballot_sync(ALL_LANES, has_tile && word == NOTHING_YET);
        } while (carries != 0 ? missing > carries : missing != 0); /* one is missing behind the last carry */

        /* The last carry stands for all before it. */
        const int nearest = carries != 0 ? 31 - __clz(carries) : -1;
        const struct pair nothing = {1.0f, 0.0f};
        struct pair pair = has_tile && lane >= nearest ? word_pair(word) : nothing;
        if (lane == nearest)
            pair.product = 1.0f;
        pair = pair_shfl(warp_scan(pair, lane), 31);
        since = back == 0 ? pair : pair_join(pair, since);
        if (carries != 0)
            return since.sum;
    }
}

/* What `count` tiles do together. Their words lie side by side, at most PERSISTENT_WORDS for each lane. Waits until all are
   written. All lanes of a warp call it; each reads some neighbouring words, all of them at once. */
static __device__ __forceinline__ struct pair words_join(unsigned long long *words, unsigned count, int lane)
{
    const unsigned each = (count + 31) / 32, begin = lane * each;
    unsigned long long word[PERSISTENT_WORDS];
#pragma unroll
    for (unsigned i = 0; i < PERSISTENT_WORDS; i++)
        word[i] = i < each && begin + i < count ? word_read(&words[begin + i]) : CHANGES_NOTHING;
#pragma unroll
    for (unsigned i = 0; i < PERSISTENT_WORDS; i++)
        while (word[i] == NOTHING_YET)
            word[i] = word_read(&words[begin + i]);
    struct pair mine = word_pair(word[0]);
#pragma unroll
    for (unsigned i = 1; i < PERSISTENT_WORDS; i++)
        mine = pair_join(mine, word_pair(word[i]));
    return pair_shfl(warp_scan(mine, lane), 31);
}

/* The next tile that no block has taken yet. The counter begins with all bits set, so the first ticket is -1 + 1. */
static __device__ __forceinline__ unsigned take_ticket(struct workspace *space)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ticket(space->ticket);
    return ticket.fetch_add(1, cuda::memory_order_relaxed) + 1;
}

/* A warp of each block calls it when the block has read its last word. The last block leaves the workspace as it was
   found, and all others must have read and written their words before: they release that here, and it acquires it. */
static __device__ __forceinline__ void leave_workspace(struct workspace *space, unsigned num_tiles, int lane)
{
    unsigned others = 0; /* the blocks that have called it before: the counter plus 1, since it begins with -1 */
    __syncwarp();
    if (lane == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> finished(space->finished);
        others = finished.fetch_add(1, cuda::memory_order_acq_rel) + 1;
    }
    others = __shfl_sync(ALL_LANES, others, 0);
    __syncwarp();
    if (others + 1 != gridDim.x)
        return;
    for (unsigned i = lane; i < num_tiles; i += 32)
        space->words[i] = NOTHING_YET;
    if (lane == 0)
        space->ticket = space->finished = 0xFFFFFFFFu;
}

/* ---- stages: where tiles of persistent.cu wait in shared memory ---- */

/* The warps behind those of sum and apply. */
enum { TELL, SEND, LOOK, NUM_SINGLES };

/* A tile's way through its stage, and what is known of it there. */
struct stage {
    uint64_t arrived, summed, known, free;
    struct warp_totals totals; /* of the warps' rows: from sum, for look and apply */
    float carry;               /* what comes into the tile: from look, for apply and the next look */
};

static __device__ __forceinline__ void stages_init(struct stage *stages, int num_stages, int num_warps)
{
    if (threadIdx.x == 0) {
        for (int s = 0; s < num_stages; s++) {
            mbarrier_init(&stages[s].arrived, 1);
            mbarrier_init(&stages[s].summed, num_warps);
            mbarrier_init(&stages[s].known, 1);
            mbarrier_init(&stages[s].free, num_warps + 2); /* the warps of apply, tell, and the look at the next tile */
        }
        mbarrier_init_done();
    }
    __syncthreads();
}

/* The groups of a tile that no edge cuts, in one array: how many bytes they are, and their copy into a stage, where the
   tile's origin is `to`. One thread calls this. */
static __device__ __forceinline__ unsigned groups_bytes(const struct tile *tile)
{
    const int first = (tile->first + 3) & ~3, last = tile->last & ~3;
    return last > first ? (last - first) * sizeof(float) : 0;
}

template <int reverse>
static __device__ __forceinline__ void groups_send(const float *array, const struct tile *tile, float *to,
                                                   uint64_t *arrived)
{
    const unsigned bytes = groups_bytes(tile);
    const int at = place<reverse>((tile->first + 3) & ~3, bytes / sizeof(float));
    if (bytes != 0)
        tma_load(to + at, array + tile->at + at, bytes, arrived);
}

/* Asks for a tile, its x and c, into a stage of two tiles. One thread calls this. */
template <int reverse>
static __device__ __forceinline__ void tile_send(const struct cut *cut, const float *inputs, const float *coeffs,
                                                 const struct tile *tile, float *stage, uint64_t *arrived)
{
    float *const stage_x = stage + reverse * cut->tile_len; /* the tile's origin there */
    mbarrier_expect(arrived, 2 * groups_bytes(tile));
    groups_send<reverse>(inputs, tile, stage_x, arrived);
    groups_send<reverse>(coeffs, tile, stage_x + cut->tile_len, arrived);
}

/* The warp's rows of one array, from a stage in which the tile's origin is `origin`; `array` is where they came from.
   If no edge of the tile cuts a group, each group is there as a whole or not at all, which needs fewer branches. */
template <int rows, int reverse>
static __device__ __forceinline__ void rows_take(const float *origin, const float *array, const struct tile *tile,
                                                 int own, float otherwise, float (*x)[4])
{
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[r][i] = otherwise;
    if ((tile->first | tile->last) % 4 == 0) {
#pragma unroll
        for (int r = 0; r < rows; r++)
            if (is_whole(own + r * PIPE_ROW, tile->first, tile->last))
                read4<reverse>(origin + place<reverse>(own + r * PIPE_ROW, 4), x[r]);
    } else {
#pragma unroll
        for (int r = 0; r < rows; r++)
            take4<reverse>(origin, array + tile->at, own + r * PIPE_ROW, tile->first, tile->last, otherwise, x[r]);
    }
}

/* A look that comes too early reads words again and again that nobody has written yet, and seems to hold up those who
   write them. So it first waits until its block has summed up PERSISTENT_LATER tiles more, as far as there are stages and
   tiles for that. */
static __device__ __forceinline__ void wait_for_later(struct stage *stages, int num_stages, unsigned turn,
                                                      unsigned last_turn)
{
    const int room = num_stages > 2 ? num_stages - 2 : 0; /* stages but for this tile's and the previous one's */
    unsigned later = turn + (unsigned)(room < PERSISTENT_LATER ? room : (int)PERSISTENT_LATER);
    later = later < last_turn ? later : last_turn;
    mbarrier_wait(&stages[later % num_stages].summed, later / num_stages % 2);
}

/* Finds the carry of the tile that the block takes in its turn number `turn`. `since` is what the tiles before it do
   together, from the block's previous tile on, and the previous tile's carry is passed through it. If `since` begins
   with the sequence's first tile (not `from_last`), since.sum alone is the carry. All lanes of a warp call it. */
static __device__ __forceinline__ void pass_on(struct stage *stages, int num_stages, unsigned turn, struct pair since,
                                               bool from_last, int lane)
{
    struct stage *const stage = &stages[turn % num_stages], *const last = &stages[(turn + num_stages - 1) % num_stages];
    float carry = since.sum;
    if (turn > 0)
        mbarrier_wait(&last->known, (turn - 1) / num_stages % 2);
    if (from_last)
        carry = last->carry * since.product + since.sum;
    __syncwarp(); /* all lanes have read what they need of both stages */
    if (lane == 0) {
        stage->carry = carry;
        mbarrier_arrive(&stage->known);
        if (turn > 0)
            mbarrier_arrive(&last->free);
    }
}

/* ---- turns: the tiles that a block of persistent_cluster.cu takes, one after the other ---- */

/* Every gridDim.x-th tile. A division takes longer than the additions here, and a turn is short. */
struct turns {
    unsigned seq, in_seq;           /* the next tile's sequence and number there */
    unsigned seq_step, in_seq_step; /* from turn to turn, if the sequence does not end */
};

static __device__ __forceinline__ struct turns turns_begin(const struct cut *cut)
{
    return (struct turns){blockIdx.x / cut->seq_tiles, blockIdx.x % cut->seq_tiles, gridDim.x / cut->seq_tiles,
                          gridDim.x % cut->seq_tiles};
}

template <int reverse>
static __device__ __forceinline__ struct tile turns_next(struct turns *turns, const struct cut *cut)
{
    const struct tile tile = tile_of<reverse>(turns->seq, turns->in_seq, cut);
    turns->seq += turns->seq_step;
    turns->in_seq += turns->in_seq_step;
    if (turns->in_seq >= cut->seq_tiles)
        turns->seq++, turns->in_seq -= cut->seq_tiles;
    return tile;
}

/* ---- units: what the blocks of a cluster tell each other in persistent_cluster.cu, and clusters in a ring of words ---- */

/* What a cluster knows of its eight tiles of a turn. Every block has one in its own shared memory: it receives `known`
   and `carry` there, and all the rest is received and used by the cluster's first block alone. */
struct unit {
    uint64_t all_told, ready, known;
    unsigned long long told[PERSISTENT_CLUSTER_BLOCKS]; /* what the tile of each block does: from the crews, for tell */
    struct pair before[PERSISTENT_CLUSTER_BLOCKS];      /* what the unit's tiles before it do: from tell, for look */
    unsigned long long carry;                           /* what comes into this block's tile: from look, for the crew */
};

static __device__ __forceinline__ void units_init(struct unit *units, uint64_t *arrived)
{
    for (int s = 0; s < PERSISTENT_CLUSTER_STAGES; s++)
        mbarrier_init(&arrived[s], 1);
    for (int i = 0; i < PERSISTENT_CLUSTER_TILES; i++) {
        mbarrier_init(&units[i].all_told, 1);
        mbarrier_init(&units[i].ready, PERSISTENT_CLUSTER_BLOCKS);
        mbarrier_init(&units[i].known, 1);
    }
    mbarrier_init_done();
}

/* word_pair the other way round, with NaNs as they are: a barrier says whether it is there. */
static __device__ __forceinline__ unsigned long long pair_word(struct pair pair)
{
    return (unsigned long long)__float_as_uint(pair.product) << 32 | __float_as_uint(pair.sum);
}

/* The two words of a cluster's unit, its product and its sum. Each has the number of its turn in the upper half, so
   that nobody takes the word of an earlier turn for it. */
static __device__ __forceinline__ unsigned long long *ring_words(struct workspace *space, unsigned turn,
                                                                 unsigned cluster)
{
    return &space->words[2 * (turn % PERSISTENT_CLUSTER_RING * (gridDim.x / PERSISTENT_CLUSTER_BLOCKS) + cluster)];
}

/* What the units before this cluster's unit of that turn do together: the last one of each cluster, or only the last
   `count` units, if the sequence has no more. A lane reads the words of one unit, and joins it or not: lane 0 has the
   first unit that is joined, and the lanes behind the last joined one have units of the sequence before. These are only
   waited for, so that no cluster gets further ahead than the ring is long. (They stand behind, because whatever is
   joined in front of a first unit is multiplied by its product, which may be infinite.) All lanes of a warp call it. */
static __device__ __forceinline__ struct pair ring_join(struct workspace *space, unsigned turn, unsigned count,
                                                        int lane)
{
    const unsigned num_clusters = gridDim.x / PERSISTENT_CLUSTER_BLOCKS,
                   joined = count < num_clusters ? count : num_clusters;
    const bool is_joined = (unsigned)lane < joined;
    const unsigned back = is_joined ? joined - lane : joined + num_clusters - lane; /* the lane's unit, counted back */
    const unsigned at = blockIdx.x / PERSISTENT_CLUSTER_BLOCKS + num_clusters - back;
    const bool is_now = at >= num_clusters; /* of this turn, and else of the last one */
    const unsigned of_turn = is_now ? turn : turn - 1;
    const bool is_told = (unsigned)lane < num_clusters && (is_now || turn > 0);
    unsigned long long *const words = ring_words(space, of_turn, is_now ? at - num_clusters : at);
    unsigned long long product = is_told ? word_read(&words[0]) : (unsigned long long)of_turn << 32;
    unsigned long long sum = is_told ? word_read(&words[1]) : (unsigned long long)of_turn << 32;
    while (product >> 32 != of_turn || sum >> 32 != of_turn) { /* a do loop around it all takes 8 % longer */
        product = word_read(&words[0]);
        sum = word_read(&words[1]);
    }
    struct pair mine = {1.0f, 0.0f};
    if (is_joined)
        mine.product = __uint_as_float((unsigned)product), mine.sum = __uint_as_float((unsigned)sum);
    return pair_shfl(warp_scan(mine, lane), 31);
}

/* One thread of each block tells the cluster's first block what its tile does. */
static __device__ __forceinline__ void tile_tell(struct unit *unit, struct pair whole_tile)
{
    mbarrier_expect(&unit->known, sizeof(unit->carry));
    cluster_send(&unit->told[cluster_rank()], pair_word(whole_tile), &unit->all_told, 0);
}

/* A warp of the cluster's first block joins what its blocks have told, for the other clusters and for look. */
static __device__ __forceinline__ void crew_tell(struct unit *units, struct workspace *space, int turns, int lane)
{
    for (int turn = 0; turn < turns && cluster_rank() == 0; turn++) {
        struct unit *const unit = &units[turn % PERSISTENT_CLUSTER_TILES];
        if (lane == 0)
            mbarrier_expect(&unit->all_told, sizeof(unit->told));
        __syncwarp();
        cluster_receive(&unit->all_told, turn / PERSISTENT_CLUSTER_TILES % 2);
        const struct pair up_to_here =
            warp_scan(word_pair(lane < PERSISTENT_CLUSTER_BLOCKS ? unit->told[lane] : CHANGES_NOTHING), lane);
        const struct pair whole = pair_shfl(up_to_here, 31), before = lane_before(up_to_here, lane);
        if (lane < 2)
            word_write(&ring_words(space, turn, blockIdx.x / PERSISTENT_CLUSTER_BLOCKS)[lane], turn,
                       __float_as_uint(lane == 0 ? whole.product : whole.sum));
        if (lane < PERSISTENT_CLUSTER_BLOCKS) {
            unit->before[lane] = before;
            mbarrier_arrive(&unit->ready);
        }
    }
}

/* Another warp there finds what comes into each unit, and sends each block what comes into its tile. In the other
   blocks this warp does nothing but count its block as finished. */
static __device__ __forceinline__ void crew_look(struct unit *units, struct workspace *space, int turns,
                                                 unsigned seq_units, int lane)
{
    const unsigned num_clusters = gridDim.x / PERSISTENT_CLUSTER_BLOCKS;
    float carry = 0.0f; /* of the cluster's last unit */
    for (int turn = 0; turn < turns && cluster_rank() == 0; turn++) {
        struct unit *const unit = &units[turn % PERSISTENT_CLUSTER_TILES];
        const unsigned in_seq = (turn * num_clusters + blockIdx.x / PERSISTENT_CLUSTER_BLOCKS) % seq_units;
        mbarrier_wait(&unit->ready, turn / PERSISTENT_CLUSTER_TILES % 2);
        const struct pair since = ring_join(space, turn, in_seq, lane);
        carry = in_seq > num_clusters ? carry * since.product + since.sum : since.sum;
        if (lane < PERSISTENT_CLUSTER_BLOCKS) {
            const struct pair before = unit->before[lane];
            const float into = in_seq == 0 ? before.sum : carry * before.product + before.sum;
            cluster_send(&unit->carry, __float_as_uint(into), &unit->known, lane);
        }
    }
    leave_workspace(space, 2 * PERSISTENT_CLUSTER_RING * num_clusters, lane);
}

/* How a kernel of crews is launched, of which its work is all that is missing. */
struct crew_launch {
    struct persistent_cluster_shape shape;
    cudaLaunchAttribute blocks;
    cudaLaunchConfig_t config;
};

/* Checks the arguments, and takes as many clusters as the chip has room for at once. No tiles: nothing to do. */
static inline cudaError_t crew_prepare(const void *kernel, const struct linrec_args *args, bool backward,
                                       cudaStream_t stream, struct crew_launch *launch)
{
    struct persistent_cluster_shape *const shape = &launch->shape;
    cudaLaunchConfig_t *const config = &launch->config;
    int clusters = 0;
    cudaError_t error = persistent_cluster_shape(args, backward, shape);
    if (error != cudaSuccess || shape->cut.num_tiles == 0)
        return error;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape->most_shared);
    launch->blocks = {};
    launch->blocks.id = cudaLaunchAttributeClusterDimension;
    launch->blocks.val.clusterDim.x = PERSISTENT_CLUSTER_BLOCKS;
    launch->blocks.val.clusterDim.y = launch->blocks.val.clusterDim.z = 1;
    *config = {};
    config->gridDim = dim3(PERSISTENT_CLUSTER_BLOCKS);
    config->blockDim = dim3(shape->threads + 64);
    config->dynamicSmemBytes = shape->shared;
    config->stream = stream;
    config->attrs = &launch->blocks;
    config->numAttrs = 1;
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveClusters(&clusters, kernel, config);
    if (error == cudaSuccess)
        error = persistent_cluster_fit(args, clusters, shape);
    config->gridDim = dim3(shape->blocks);
    config->blockDim = dim3(shape->threads + 64);
    config->dynamicSmemBytes = shape->shared;
    return error;
}

#endif
