/* Prototype: crews in clusters, forward. Compile with -DTAG=, -DTHREADS=, -DROWS=, -DDEPTH=, -DPER= (blocks on each
   multiprocessor). */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <cluster.h>

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
#ifndef BULKST
#define BULKST 0 /* y leaves through shared memory and the copy engine */
#endif
#ifndef LEADER
#define LEADER 0 /* 1: block 0 of a cluster has no tiles, it only tells and looks */
#endif
#ifndef MARKS
#define MARKS 0
#endif
#ifndef RING
#define RING 0 /* the words of so many turns, a power of 2, used again and again: they stay in L2 */
#endif
#ifndef EACH
#define EACH 9
#endif
#define MAX_STAGES 8
#define WARPS (THREADS / 32)

struct crew_work {
    struct cut cut;
    unsigned seq_units, num_units, num_clusters;
    int num_stages, size, mode; /* 1: nobody looks, 2: nobody tells */
    const float *inputs, *coeffs;
    float *outputs;
};

static __device__ __forceinline__ uint32_t at_rank(uint32_t address, unsigned rank)
{
    uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}
static __device__ __forceinline__ void tell_pair(const void *place, uint64_t *barrier, unsigned rank, struct pair pair)
{
    const unsigned long long both = (unsigned long long)__float_as_uint(pair.sum) << 32 | __float_as_uint(pair.product);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(
                     at_rank(shared_address(place), rank)),
                 "l"(both), "r"(at_rank(shared_address(barrier), rank))
                 : "memory");
}
static __device__ __forceinline__ void tell_carry(const void *place, uint64_t *barrier, unsigned rank, float carry)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                     at_rank(shared_address(place), rank)),
                 "r"(__float_as_uint(carry)), "r"(at_rank(shared_address(barrier), rank))
                 : "memory");
}
static __device__ __forceinline__ void wait_cluster(uint64_t *barrier, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}\n" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}
static __device__ __forceinline__ void bulk_store(float *global, const float *shared, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
                 "r"(shared_address(shared)), "r"(bytes)
                 : "memory");
}
static __device__ __forceinline__ void bulk_commit(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
static __device__ __forceinline__ void bulk_read_but_one(void)
{
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
}
static __device__ __forceinline__ void bulk_read_all(void)
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
static __device__ __forceinline__ void crew_barrier(void)
{
    asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
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

#if RING
/* (product, turn + 1), (sum, turn + 1) */
static __device__ __forceinline__ unsigned long long *ring_at(struct workspace *space, unsigned turn, unsigned cluster,
                                                              unsigned K)
{
    return &space->words[1 + 2 * ((turn % RING) * K + cluster) + 0];
}
static __device__ __forceinline__ struct pair ring_join(struct workspace *space, unsigned unit, unsigned count,
                                                        unsigned K, int lane)
{
    const unsigned each = (count + 31) / 32, begin = lane * each;
    unsigned long long product[EACH], sum[EACH];
    unsigned tag[EACH];
    unsigned long long *at[EACH];
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        const bool has = i < each && begin + i < count;
        const unsigned v = unit - count + begin + i;
        at[i] = ring_at(space, v / K, v % K, K), tag[i] = v / K + 1;
        product[i] = has ? word_read(at[i]) : (unsigned long long)tag[i] << 32 | 0x3F800000u;
        sum[i] = has ? word_read(at[i] + 1) : (unsigned long long)tag[i] << 32;
    }
#pragma unroll
    for (unsigned i = 0; i < EACH; i++)
        while ((unsigned)(product[i] >> 32) != tag[i] || (unsigned)(sum[i] >> 32) != tag[i])
            product[i] = word_read(at[i]), sum[i] = word_read(at[i] + 1);
    struct pair mine = {__uint_as_float((unsigned)product[0]), __uint_as_float((unsigned)sum[0])};
#pragma unroll
    for (unsigned i = 1; i < EACH; i++)
        mine = pair_join(mine, (struct pair){__uint_as_float((unsigned)product[i]), __uint_as_float((unsigned)sum[i])});
    return pair_shfl(warp_scan(mine, lane), 31);
}
#endif

#if RING
#define RING_OWN ring_at(space, turn, cluster, K)
#define LOOK ring_join(space, unit, count, K, lane)
#else
#define RING_OWN &space->words[(size_t)PAD * unit]
#define LOOK words_of(&space->words[(size_t)PAD * (unit - count)], count, lane)
#endif
static __global__ void __launch_bounds__(THREADS + 64, PER)
    crews_forward(const __grid_constant__ struct crew_work work, struct workspace *space)
{
    extern __shared__ __align__(128) float tiles[];
    __shared__ uint64_t arrived[MAX_STAGES], known[DEPTH], gathered[DEPTH], ready[DEPTH];
    __shared__ struct warp_totals totals[2];
    __shared__ __align__(8) struct pair told[DEPTH][16], prefix[DEPTH][16];
    __shared__ float carry_in[DEPTH];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, size = work.size;
    const int tile_len = work.cut.tile_len, num_stages = work.num_stages;
    const int members = size - LEADER, member = (int)cluster_rank() - LEADER;
    const unsigned rank = cluster_rank(), cluster = blockIdx.x / size, K = work.num_clusters;
    const int turns = (int)((work.num_units - 1 - cluster) / K + 1);

    if (threadIdx.x == THREADS) {
        for (int s = 0; s < num_stages; s++)
            mbarrier_init(&arrived[s], 1);
        for (int d = 0; d < DEPTH; d++) {
            mbarrier_init(&known[d], 1);
            mbarrier_init(&gathered[d], 1);
            mbarrier_init(&ready[d], 1);
        }
        mbarrier_init_done();
        for (int t = 0; member >= 0 && t < num_stages && t < turns; t++)
            send(&work, (t * K + cluster) * members + member, tiles + t * 2 * tile_len, &arrived[t]);
    }
    __syncthreads();
    cluster_arrive();
    cluster_wait();

    if (warp < WARPS && member < 0) {
    } else if (warp < WARPS) {
        const int own = warp * ROWS * PIPE_ROW + lane * 4;
        float x[DEPTH][ROWS][4], c[DEPTH][ROWS][4];
        struct pair before_warp[DEPTH];
        int stage = 0, parity = 0;
        for (int base = 0; base < turns + DEPTH - 1; base += DEPTH) {
#pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                const int turn = base + d, last = (d + 1) % DEPTH, done = turn - (DEPTH - 1);
                if (turn < turns) {
                    const unsigned number = (turn * K + cluster) * members + member;
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
                        send(&work, number + num_stages * K * members, stage_x, &arrived[stage]);
                    if (++stage == num_stages)
                        stage = 0, parity ^= 1;
                    const struct pair up_to_warp = totals_scan(&totals[turn & 1], WARPS, lane);
                    if (work.mode < 2 && warp == 0) {
                        const struct pair whole = pair_shfl(up_to_warp, WARPS - 1);
                        if (lane == 0) {
                            mbarrier_expect(&known[d], 4);
                            tell_pair(&told[d][member], &gathered[d], 0, whole);
                        }
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
                    const unsigned number = (done * K + cluster) * members + member;
                    const struct tile tile = tile_number<0>(number, &work.cut);
                    const bool nothing = tile.number_in_seq == 0;
                    float carry = 0.0f;
                    if (work.mode < 2) {
                        wait_cluster(&known[last], done / DEPTH % 2);
                        carry = carry_in[last];
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
                    if (BULKST) { /* the prototype takes lengths that are multiples of 4 */
                        float *const stage_y = tiles + (num_stages * 2 + (done & 1)) * tile_len;
                        if (lane == 0)
                            bulk_read_but_one();
                        __syncwarp();
#pragma unroll
                        for (int r = 0; r < ROWS; r++)
                            if (own + r * PIPE_ROW < tile.last)
                                *(float4 *)(stage_y + own + r * PIPE_ROW) =
                                    make_float4(x[last][r][0], x[last][r][1], x[last][r][2], x[last][r][3]);
                        copy_engine_fence();
                        __syncwarp();
                        const int begin = warp * ROWS * PIPE_ROW;
                        const int end = begin + ROWS * PIPE_ROW < tile.last ? begin + ROWS * PIPE_ROW : tile.last;
                        if (lane == 0) {
                            if (end > begin)
                                bulk_store(work.outputs + tile.at + begin, stage_y + begin, (end - begin) * 4);
                            bulk_commit();
                        }
                    } else {
#pragma unroll
                        for (int r = 0; r < ROWS; r++)
                            store4_unsplit<0>(work.outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last,
                                              x[last][r]);
                    }
                }
            }
        }
        if (BULKST && lane == 0)
            bulk_read_all();
    } else if (rank == 0 && warp == WARPS && work.mode < 2) { /* tell */
        for (int turn = 0; turn < turns; turn++) {
            const unsigned unit = turn * K + cluster;
            const int d = turn % DEPTH;
            if (lane == 0) {
#if !RING
                l2_prefetch(&space->words[(size_t)PAD * (unit + K)]);
#endif
                mbarrier_expect(&gathered[d], members * 8);
            }
            __syncwarp();
            wait_cluster(&gathered[d], turn / DEPTH % 2);
            struct pair mine = {1.0f, 0.0f};
            if (lane < members)
                mine = told[d][lane];
            const struct pair up_to = warp_scan(mine, lane), whole = pair_shfl(up_to, 31);
#if RING
            if (lane < 2)
                word_write(ring_at(space, turn, cluster, K) + lane, turn + 1,
                           __float_as_uint(lane == 0 ? whole.product : whole.sum));
#else
            if (lane == 0)
                word_write(&space->words[(size_t)PAD * unit], word_half(whole.product), word_half(whole.sum));
#endif
            const struct pair before = lane_before(up_to, lane);
            if (lane < members)
                prefix[d][lane] = before;
            __syncwarp();
            if (lane == 0)
                mbarrier_arrive(&ready[d]);
        }
    } else if (rank == 0 && warp == WARPS + 1 && work.mode < 2) { /* look */
        float own_carry = 0.0f;
#if MARKS
        long long marks[4] = {0, 0, 0, 0};
#endif
        for (int turn = 0; turn < turns; turn++) {
            const unsigned unit = turn * K + cluster, in_seq = unit % work.seq_units, count = in_seq < K ? in_seq : K;
            const int d = turn % DEPTH;
#if MARKS
            const long long t0 = clock64();
#endif
            mbarrier_wait(&ready[d], turn / DEPTH % 2);
#if MARKS
            const long long t1 = clock64();
#endif
            const struct pair since =
                work.mode == 1 ? pair{1.0f, 0.0f} : LOOK;
#if MARKS
            const long long t2 = clock64();
            marks[0] += t1 - t0, marks[1] += t2 - t1;
            const long long t3 = clock64();
            if (word_read(RING_OWN) == NOTHING_YET)
                marks[3]++;
            marks[2] += clock64() - t3;
#endif
            const float carry = in_seq > K ? own_carry * since.product + since.sum : since.sum;
            own_carry = carry;
            if (lane < members) {
                const struct pair before = prefix[d][lane];
                tell_carry(&carry_in[d], &known[d], lane + LEADER, in_seq == 0 ? before.sum : carry * before.product + before.sum);
            }
            __syncwarp();
        }
#if MARKS
        if (lane == 0 && cluster == 5)
            printf("look, cycles a turn: ready %lld, words %lld, one read more %lld (%lld missing); %d turns\n",
                   marks[0] / turns, marks[1] / turns, marks[2] / turns, marks[3], turns);
#endif
        unsigned others = 0;
        if (lane == 0) {
            cuda::atomic_ref<unsigned, cuda::thread_scope_device> finished(space->finished);
            others = finished.fetch_add(1, cuda::memory_order_acq_rel) + 1;
        }
        others = __shfl_sync(ALL_LANES, others, 0);
        __syncwarp();
        if (others + 1 == K) {
            for (unsigned i = lane; i < (RING ? 1 + 2 * RING * K : work.num_units); i += 32)
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
    if (args->num_seqs == 0 || args->seq_len == 0)
        return cudaSuccess;
    const int size = args->config.rows ? args->config.rows : 8, align = args->config.threads % 1000 ? args->config.threads % 1000 : 32;
    const int stages = args->config.stages ? args->config.stages : 2;
    const int members = size - LEADER;
    if (members < 1)
        return cudaErrorInvalidValue;
    const size_t largest = (size_t)ROWS * 4 * THREADS, shared = (stages * 2 + 2 * BULKST) * largest * 4;
    cudaFuncSetAttribute((const void *)crews_forward, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    cudaError_t error = cudaFuncSetAttribute((const void *)crews_forward, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
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
    error = cudaOccupancyMaxActiveClusters(&clusters, (const void *)crews_forward, &launch);
    if (error != cudaSuccess || clusters == 0)
        return error != cudaSuccess ? error : cudaErrorNotSupported;
    if (clusters > 32 * EACH)
        return cudaErrorInvalidValue;
    static int said = 0;
    if (!(said >> size & 1))
        said |= 1 << size, printf("[size %d: %d clusters, %d blocks] ", size, clusters, clusters * size);
    const size_t elems = args->seq_len % 4 == 0 ? args->seq_len : args->seq_len + 3, K = clusters;
    const size_t least = (elems - 1) / (largest * members) + 1, rounds = (args->num_seqs * least - 1) / K + 1;
    const size_t units = rounds * K / args->num_seqs > least ? rounds * K / args->num_seqs : least;
    size_t tile_len = ((elems - 1) / (units * members) / align + 1) * align;
    struct crew_work work;
    work.seq_units = (unsigned)((elems - 1) / (tile_len * members) + 1);
    work.num_units = (unsigned)(work.seq_units * args->num_seqs);
    work.cut.seq_len = args->seq_len, work.cut.seq_tiles = work.seq_units * members;
    work.cut.num_tiles = work.num_units * members, work.cut.tile_len = (int)tile_len;
    work.num_clusters = work.num_units < K ? work.num_units : (unsigned)K;
    work.num_stages = stages, work.size = size, work.mode = args->config.threads / 1000;
    work.inputs = args->inputs, work.coeffs = args->coeffs, work.outputs = args->outputs;
    launch.gridDim = dim3(work.num_clusters * size);
    launch.dynamicSmemBytes = (stages * 2 + 2 * BULKST) * tile_len * 4;
    error = cudaLaunchKernelEx(&launch, crews_forward, work, (struct workspace *)args->workspace);
    return error;
}
