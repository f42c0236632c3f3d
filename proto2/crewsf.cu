/* Prototype: crews in clusters, forward. Compile with -DTAG=, -DTHREADS=, -DROWS=, -DDEPTH=, -DPER= (blocks on each
   multiprocessor). */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <cluster.h>
#include <named_barrier.h>

#include "../08_lookback/lookback.cuh"
#ifndef THREADS
#define THREADS 256
#endif
#ifndef ROWS
#define ROWS 4
#endif
#ifndef DEPTH
#define DEPTH 2
#endif
#ifndef PER
#define PER 2
#endif
#ifndef PAD
#define PAD 1
#endif
#define EACH 9
#define MAX_STAGES 8
#define WARPS (THREADS / 32)

struct crew_work {
    struct cut cut;
    unsigned seq_units, num_units, num_clusters;
    int num_stages, size, mode; /* 1: nobody looks, 2: nobody tells */
    const float *inputs, *coeffs;
    float *outputs;
};

/* A word tells a number and the turn that it is of, so nobody needs to clean it. */
static __device__ __forceinline__ void told_write(unsigned long long *place, int turn, float value)
{
    word_write(place, (unsigned)turn + 1, __float_as_uint(value));
}
static __device__ __forceinline__ float told_read(unsigned long long *place, int turn)
{
    unsigned long long word;
    do
        word = word_read(place);
    while ((unsigned)(word >> 32) != (unsigned)turn + 1);
    return __uint_as_float((unsigned)word);
}
static __device__ __forceinline__ void crew_barrier(void)
{
    named_barrier_sync(1, THREADS);
}
static __device__ __forceinline__ void send(const struct crew_work *work, unsigned number, float *stage, uint64_t *arrived)
{
    const struct tile tile = tile_number<0>(number, &work->cut);
    mbarrier_expect(arrived, 2 * groups_bytes(&tile));
    groups_send<0>(work->inputs, &tile, stage, arrived);
    groups_send<0>(work->coeffs, &tile, stage + work->cut.tile_len, arrived);
}
static __device__ __forceinline__ struct pair words_of(unsigned long long *words, unsigned count, int lane)
{
    const unsigned each = (count + 31) / 32, begin = lane * each;
    struct pair mine = {1.0f, 0.0f};
    unsigned long long word[EACH];
#pragma unroll
    for (unsigned i = 0; i < EACH; i++)
        word[i] = i < each && begin + i < count ? word_read(&words[(size_t)PAD * (begin + i)]) : CHANGES_NOTHING;
#pragma unroll
    for (unsigned i = 0; i < EACH; i++)
        while (word[i] == NOTHING_YET)
            word[i] = word_read(&words[(size_t)PAD * (begin + i)]);
    mine = word_pair(word[0]);
#pragma unroll
    for (unsigned i = 1; i < EACH; i++)
        mine = pair_join(mine, word_pair(word[i]));
    return pair_shfl(warp_scan(mine, lane), 31);
}

static __global__ void __launch_bounds__(THREADS + 64, PER)
    crews_forward(struct crew_work work, struct workspace *space)
{
    extern __shared__ __align__(128) float tiles[];
    __shared__ uint64_t arrived[MAX_STAGES], ready[DEPTH], taken[DEPTH];
    __shared__ struct warp_totals totals[2];
    __shared__ __align__(8) unsigned long long told[DEPTH][2][16];
    __shared__ struct pair prefix[DEPTH][16];
    __shared__ unsigned long long carry_in[DEPTH];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, size = work.size;
    const int tile_len = work.cut.tile_len, num_stages = work.num_stages;
    const unsigned rank = cluster_rank(), cluster = blockIdx.x / size, K = work.num_clusters;
    const int turns = (int)((work.num_units - 1 - cluster) / K + 1);

    if (threadIdx.x == THREADS) {
        for (int s = 0; s < num_stages; s++)
            mbarrier_init(&arrived[s], 1);
        for (int d = 0; d < DEPTH; d++) {
            told_write(&carry_in[d], -1, 0.0f);
            for (int i = 0; i < 16; i++)
                told_write(&told[d][0][i], -1, 0.0f), told_write(&told[d][1][i], -1, 0.0f);
            mbarrier_init(&ready[d], 1);
            mbarrier_init(&taken[d], 1);
        }
        mbarrier_init_done();
        for (int t = 0; t < num_stages && t < turns; t++)
            send(&work, (t * K + cluster) * size + rank, tiles + t * 2 * tile_len, &arrived[t]);
    }
    __syncthreads();
    cluster_arrive();
    cluster_wait();

    if (warp < WARPS) {
        const int own = warp * ROWS * PIPE_ROW + lane * 4;
        float x[DEPTH][ROWS][4], c[DEPTH][ROWS][4];
        struct pair before_warp[DEPTH];
        int stage = 0, parity = 0;
        for (int base = 0; base < turns + DEPTH - 1; base += DEPTH) {
#pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                const int turn = base + d, last = (d + 1) % DEPTH, done = turn - (DEPTH - 1);
                if (turn < turns) {
                    const unsigned number = (turn * K + cluster) * size + rank;
                    const struct tile tile = tile_number<0>(number, &work.cut);
                    float *const stage_x = tiles + stage * 2 * tile_len, *const stage_c = stage_x + tile_len;
                    mbarrier_wait(&arrived[stage], parity);
                    rows_take<ROWS, 0>(stage_x, work.inputs, &tile, own, 0.0f, x[d]);
                    rows_take<ROWS, 0>(stage_c, work.coeffs, &tile, own, 1.0f, c[d]);
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        if (tile.number_in_seq == 0 && own + i == tile.first)
                            c[d][0][i] = 1.0f;
                    struct pair before[ROWS];
                    const struct pair whole_warp = rows_scan<ROWS>(x[d], c[d], before, lane);
                    if (lane == 31)
                        totals[turn & 1].product[warp] = whole_warp.product,
                        totals[turn & 1].sum[warp] = whole_warp.sum;
                    copy_engine_fence();
                    crew_barrier();
                    if (threadIdx.x == THREADS - 32 && turn + num_stages < turns)
                        send(&work, number + num_stages * K * size, stage_x, &arrived[stage]);
                    if (++stage == num_stages)
                        stage = 0, parity ^= 1;
                    const struct pair up_to_warp = totals_scan(&totals[turn & 1], WARPS, lane);
                    if (work.mode < 2 && warp == 0) {
                        const struct pair whole = pair_shfl(up_to_warp, WARPS - 1);
                        if (lane < 2)
                            told_write((unsigned long long *)cluster_shared(&told[d][lane][rank], 0), turn,
                                       lane == 0 ? whole.product : whole.sum);
                    }
                    before_warp[d] = pair_shfl(up_to_warp, (warp + 31) % 32);
                    if (warp == 0)
                        before_warp[d].product = 1.0f, before_warp[d].sum = 0.0f;
#pragma unroll
                    for (int r = 0; r < ROWS; r++)
#pragma unroll
                        for (int i = 0; i < 4; i++) {
                            x[d][r][i] = (lane > 0 || r > 0) ? before[r].sum * c[d][r][i] + x[d][r][i] : x[d][r][i];
                            c[d][r][i] *= before[r].product;
                        }
                }
                if (done >= 0 && done < turns) {
                    const unsigned number = (done * K + cluster) * size + rank;
                    const struct tile tile = tile_number<0>(number, &work.cut);
                    const bool nothing = tile.number_in_seq == 0;
                    float carry = 0.0f;
                    if (work.mode < 2) {
                        carry = told_read(&carry_in[last], done);
                        __syncwarp();
                    }
                    const float into = nothing ? before_warp[last].sum
                                               : carry * before_warp[last].product + before_warp[last].sum;
                    if (!nothing || warp > 0) {
#pragma unroll
                        for (int r = 0; r < ROWS; r++)
#pragma unroll
                            for (int i = 0; i < 4; i++)
                                x[last][r][i] = into * c[last][r][i] + x[last][r][i];
                    }
#pragma unroll
                    for (int r = 0; r < ROWS; r++)
                        store4_unsplit<0>(work.outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[last][r]);
                }
            }
        }
    } else if (rank == 0 && warp == WARPS && work.mode < 2) { /* tell */
        for (int turn = 0; turn < turns; turn++) {
            const unsigned unit = turn * K + cluster;
            const int d = turn % DEPTH;
            if (lane == 0 && turn + 1 < turns)
                l2_prefetch(&space->words[(size_t)PAD * (unit + K)]);
            struct pair mine = {1.0f, 0.0f};
            if (lane < size)
                mine.product = told_read(&told[d][0][lane], turn), mine.sum = told_read(&told[d][1][lane], turn);
            __syncwarp();
            const struct pair up_to = warp_scan(mine, lane), whole = pair_shfl(up_to, 31);
            if (lane == 0)
                word_write(&space->words[(size_t)PAD * unit], word_half(whole.product), word_half(whole.sum));
            const struct pair before = lane_before(up_to, lane);
            mbarrier_wait(&taken[d], turn / DEPTH % 2 ^ 1);
            if (lane < size)
                prefix[d][lane] = before;
            __syncwarp();
            if (lane == 0)
                mbarrier_arrive(&ready[d]);
        }
    } else if (rank == 0 && warp == WARPS + 1 && work.mode < 2) { /* look */
        float own_carry = 0.0f;
        for (int turn = 0; turn < turns; turn++) {
            const unsigned unit = turn * K + cluster, in_seq = unit % work.seq_units, count = in_seq < K ? in_seq : K;
            const int d = turn % DEPTH;
            mbarrier_wait(&ready[d], turn / DEPTH % 2);
            const struct pair since =
                work.mode == 1 ? (struct pair){1.0f, 0.0f} : words_of(&space->words[(size_t)PAD * (unit - count)], count, lane);
            const float carry = in_seq > K ? own_carry * since.product + since.sum : since.sum;
            own_carry = carry;
            if (lane < size) {
                const struct pair before = prefix[d][lane];
                told_write((unsigned long long *)cluster_shared(&carry_in[d], lane), turn, in_seq == 0 ? before.sum : carry * before.product + before.sum);
            }
            __syncwarp();
            if (lane == 0)
                mbarrier_arrive(&taken[d]);
        }
        unsigned others = 0;
        if (lane == 0) {
            cuda::atomic_ref<unsigned, cuda::thread_scope_device> finished(space->finished);
            others = finished.fetch_add(1, cuda::memory_order_acq_rel) + 1;
        }
        others = __shfl_sync(ALL_LANES, others, 0);
        __syncwarp();
        if (others + 1 == K) {
            for (unsigned i = lane; i < work.num_units; i += 32)
                space->words[(size_t)PAD * i] = NOTHING_YET;
            if (lane == 0)
                space->ticket = space->finished = 0xFFFFFFFFu;
        }
    }
    __syncwarp();
    cluster_arrive();
    cluster_wait();
}

#define NAME_(a, b) a##b
#define NAME(a, b) NAME_(a, b)
/* config: rows = cluster size, threads = alignment of tiles, stages */
extern "C" cudaError_t NAME(crews_, TAG)(const struct linrec_args *args, cudaStream_t stream)
{
    const struct cut lc = lookback_least_cut(args);
    cudaError_t error = lookback_check(args, false, &lc);
    if (error != cudaSuccess)
        return error;
    if (args->num_seqs == 0 || args->seq_len == 0)
        return cudaSuccess;
    const int size = args->config.rows ? args->config.rows : 8, align = args->config.threads % 1000 ? args->config.threads % 1000 : 32;
    const int stages = args->config.stages ? args->config.stages : 2;
    const size_t largest = (size_t)ROWS * 4 * THREADS, shared = stages * 2 * largest * 4;
    cudaFuncSetAttribute((const void *)crews_forward, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    error = cudaFuncSetAttribute((const void *)crews_forward, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess)
        return error;
    cudaLaunchAttribute blocks = {};
    blocks.id = cudaLaunchAttributeClusterDimension;
    blocks.val.clusterDim.x = size, blocks.val.clusterDim.y = blocks.val.clusterDim.z = 1;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3(size * 512);
    launch.blockDim = dim3(THREADS + 64);
    launch.dynamicSmemBytes = shared;
    launch.stream = stream;
    launch.attrs = &blocks;
    launch.numAttrs = 1;
    int clusters = 0;
#ifdef SIM_QUALIFIERS
    clusters = 3;
#else
    error = cudaOccupancyMaxActiveClusters(&clusters, (const void *)crews_forward, &launch);
#endif
    if (error != cudaSuccess || clusters == 0)
        return error != cudaSuccess ? error : cudaErrorNotSupported;
    if (clusters > 32 * EACH)
        return cudaErrorInvalidValue;
    static int said = getenv("SAY") == NULL ? -1 : 0;
    if (!(said >> size & 1))
        said |= 1 << size, printf("[size %d: %d clusters, %d blocks] ", size, clusters, clusters * size);
    const size_t elems = args->seq_len % 4 == 0 ? args->seq_len : args->seq_len + 3, K = clusters;
    const size_t least = (elems - 1) / (largest * size) + 1, rounds = (args->num_seqs * least - 1) / K + 1;
    const size_t units = rounds * K / args->num_seqs > least ? rounds * K / args->num_seqs : least;
    size_t tile_len = ((elems - 1) / (units * size) / align + 1) * align;
    if (tile_len < LOOKBACK_LEAST_TILE)
        tile_len = LOOKBACK_LEAST_TILE;
    struct crew_work work;
    work.seq_units = (unsigned)((elems - 1) / (tile_len * size) + 1);
    work.num_units = (unsigned)(work.seq_units * args->num_seqs);
    work.cut.seq_len = args->seq_len, work.cut.seq_tiles = work.seq_units * size;
    work.cut.num_tiles = work.num_units * size, work.cut.tile_len = (int)tile_len;
    work.num_clusters = work.num_units < K ? work.num_units : (unsigned)K;
    work.num_stages = stages, work.size = size, work.mode = args->config.threads / 1000;
    work.inputs = args->inputs, work.coeffs = args->coeffs, work.outputs = args->outputs;
    launch.gridDim = dim3(work.num_clusters * size);
    launch.dynamicSmemBytes = stages * 2 * tile_len * 4;
    error = cudaLaunchKernelEx(&launch, crews_forward, work, (struct workspace *)args->workspace);
    return error;
}
