/* SPDX-License-Identifier: MIT */
/* hints.cu - times cache hints: tma_evict_last.cu's way through memory with each L2 hint for what is read, with
   plain and with streaming stores, and with the cache flushed before each launch or not (further/choosing.md).

       05_pipe_hints [--csv FILE.csv]

   One kernel for all, so that nothing else differs: what is constant in a launch is an argument. Sequences whose length
   is a multiple of a tile, 4096 elements. Needs a GPU of sm_90: the simulator has no clock. */
#include <cuda_runtime.h>

#include "../../common/cuda/tma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../04_warp_scan/warp_scan.cuh"
#include "../../common/harness/machine.h"
#include "../../common/harness/baselines.h"
#include "../../common/linrec/linrec_operation.h"
#include "../../common/base/output.h"
#include "../../common/harness/table.h"
#include "../pipe.h"

#ifdef CUSIM
int main(void)
{
    printf("hints: skipped, it measures time, and the simulator has none\n");
    return 0;
}
#else

enum hint { NO_HINT, FIRST, LAST, NUM_HINTS };
static const char *const hint_names[NUM_HINTS] = {"none", "first", "last"};
static const char *const store_names[] = {"plain", "streaming"};
static const char *const flush_names[] = {"no", "yes"};

enum { ROWS = 2, THREADS = 512, STAGES = 2, TILE = ROWS * 4 * THREADS, REPEATS = 25 };

/* Starts the TMA bulk copies of the tile of x and of c at `base` into a stage. */
static __device__ __forceinline__ void tile_send(const float *inputs, const float *coeffs, size_t base, size_t seq_len,
                                                 float *stage, uint64_t *arrived, int hint, uint64_t policy)
{
    const unsigned bytes = TILE * sizeof(float);
    if (base >= seq_len)
        return;
    mbarrier_expect(arrived, 2 * bytes);
    if (hint == NO_HINT) {
        tma_load(stage, inputs + base, bytes, arrived);
        tma_load(stage + TILE, coeffs + base, bytes, arrived);
    } else {
        tma_load_hint(stage, inputs + base, bytes, arrived, policy);
        tma_load_hint(stage + TILE, coeffs + base, bytes, arrived, policy);
    }
}

/* Block s computes sequence s: tma_evict_last.cu, without edges. */
static __global__ void __launch_bounds__(THREADS)
    hints_forward(size_t seq_len, int hint, bool streaming, const float *__restrict__ inputs,
                  const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    extern __shared__ __align__(128) float stages[];
    __shared__ uint64_t arrived[STAGES];
    __shared__ struct warp_totals totals[2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = warp * ROWS * PIPE_ROW + lane * 4;
    const uint64_t policy = hint == FIRST ? l2_evict_first() : l2_evict_last();
    float x[ROWS][4], c[ROWS][4];
    float carry = 0.0f;
    int stage = 0, parity = 0, turn = 0;

    inputs += blockIdx.x * seq_len, coeffs += blockIdx.x * seq_len, outputs += blockIdx.x * seq_len;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&arrived[s], 1);
        mbarrier_init_done();
        for (int s = 0; s < STAGES; s++)
            tile_send(inputs, coeffs, (size_t)s * TILE, seq_len, stages + s * 2 * TILE, &arrived[s], hint, policy);
    }
    __syncthreads();
    for (size_t base = 0; base < seq_len; base += TILE) {
        mbarrier_wait(&arrived[stage], parity);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const float4 x4 = *(const float4 *)(stages + stage * 2 * TILE + own + r * PIPE_ROW);
            const float4 c4 = *(const float4 *)(stages + stage * 2 * TILE + TILE + own + r * PIPE_ROW);
            x[r][0] = x4.x, x[r][1] = x4.y, x[r][2] = x4.z, x[r][3] = x4.w;
            c[r][0] = c4.x, c[r][1] = c4.y, c[r][2] = c4.z, c[r][3] = c4.w;
        }
        if (base == 0 && threadIdx.x == 0)
            c[0][0] = 1.0f;

        struct pair before[ROWS], whole_warp;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
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
        if (lane == 31)
            totals[turn].product[warp] = whole_warp.product, totals[turn].sum[warp] = whole_warp.sum;
        fence_proxy_async();
        __syncthreads();
        if (threadIdx.x == 0)
            tile_send(inputs, coeffs, base + (size_t)STAGES * TILE, seq_len, stages + stage * 2 * TILE, &arrived[stage],
                      hint, policy);
        if (++stage == STAGES)
            stage = 0, parity ^= 1;
        const struct pair up_to_warp = totals_scan(&totals[turn], THREADS / 32, lane);
        const float leaves = base == 0 ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        const float into_warp = warp == 0 ? carry : __shfl_sync(ALL_LANES, leaves, warp - 1);
        carry = __shfl_sync(ALL_LANES, leaves, THREADS / 32 - 1);
        turn ^= 1;

#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const float into = base == 0 && warp == 0 ? before[r].sum : into_warp * before[r].product + before[r].sum;
            const bool nothing = base == 0 && threadIdx.x == 0 && r == 0;
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[r][i] = nothing ? x[r][i] : into * c[r][i] + x[r][i];
            float4 *const to = (float4 *)(outputs + base + own + r * PIPE_ROW);
            if (streaming) /* L2 evicts these lines first */
                __stcs(to, make_float4(x[r][0], x[r][1], x[r][2], x[r][3]));
            else
                *to = make_float4(x[r][0], x[r][1], x[r][2], x[r][3]);
        }
    }
}

static void stop_if(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "hints: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

/* What is timed: a negative hint is `add`. */
static void launch(const struct linrec_args *args, int hint, bool streaming)
{
    const size_t shared = (size_t)STAGES * 2 * TILE * sizeof(float);
    if (hint < 0) {
        stop_if(device_add(FLOAT32, args->num_seqs * args->seq_len, args->inputs, args->coeffs, args->outputs, NULL));
        return;
    }
    hints_forward<<<(unsigned)args->num_seqs, THREADS, shared>>>(args->seq_len, hint, streaming, args->inputs,
                                                                 args->coeffs, args->outputs);
    stop_if(cudaGetLastError());
}

static double median_ms(const struct linrec_args *args, int hint, bool streaming, const void *flush, size_t flush_bytes)
{
    float ms[REPEATS];
    cudaEvent_t start, stop;
    stop_if(cudaEventCreate(&start));
    stop_if(cudaEventCreate(&stop));
    for (int i = -2; i < REPEATS; i++) { /* the first two warm up */
        if (flush != NULL)
            stop_if(device_flush(flush, flush_bytes));
        stop_if(cudaEventRecord(start));
        launch(args, hint, streaming);
        stop_if(cudaEventRecord(stop));
        stop_if(cudaEventSynchronize(stop));
        if (i >= 0)
            stop_if(cudaEventElapsedTime(&ms[i], start, stop));
    }
    stop_if(cudaEventDestroy(start));
    stop_if(cudaEventDestroy(stop));
    return timing_of(ms, REPEATS).median_ms;
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {16384, 65536};
    const char *csv = argc == 3 && strcmp(argv[1], "--csv") == 0 ? argv[2] : NULL;
    static struct machine machine;
    static struct output output;
    FILE *file = NULL;
    void *flush;
    if (argc != 1 && csv == NULL) {
        fprintf(stderr, "hints: give nothing, or --csv FILE.csv\n");
        return 2;
    }
    if (machine_find(false, &machine) != 0)
        return 2;
    if (machine.arch < 90) {
        printf("hints: skipped, it needs sm_90\n");
        return 0;
    }
    if (csv != NULL) {
        char command[512];
        if (output_open(&output, csv) != 0)
            return 2;
        file = output.file;
        snprintf(command, sizeof command, "%s --csv %s", argv[0], csv);
        csv_write_head(file, &machine, command, "hint,store,flush,num_seqs,seq_len,device,median_ms,percent_of_add");
    }
    stop_if(cudaFuncSetAttribute((const void *)hints_forward, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 STAGES * 2 * TILE * (int)sizeof(float)));
    const size_t flush_bytes = 2 * (size_t)machine.device.l2CacheSize;
    stop_if(cudaMalloc(&flush, flush_bytes));
    stop_if(cudaMemset(flush, 0, flush_bytes));
    printf("%-8s %-6s %-10s %-6s %10s %7s   on %s\n", "length", "hint", "store", "flush", "ms", "% add",
           machine.device.name);
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
        struct linrec_args args = {};
        const struct data_spec spec = {1, DATA_NEAR_ONE, lengths[n], false, 0, false};
        float *inputs, *coeffs;
        args.num_seqs = 100 * (size_t)machine.device.multiProcessorCount, args.seq_len = lengths[n];
        const size_t bytes = args.num_seqs * args.seq_len * sizeof(float);
        stop_if(cudaMalloc(&inputs, bytes));
        stop_if(cudaMalloc(&coeffs, bytes));
        stop_if(cudaMalloc(&args.outputs, bytes));
        stop_if(linrec_fill_array(&spec, DATA_INPUTS, inputs, args.num_seqs));
        stop_if(linrec_fill_array(&spec, DATA_COEFFS, coeffs, args.num_seqs));
        args.inputs = inputs, args.coeffs = coeffs;
        for (int flushed = 1; flushed >= 0; flushed--) {
            const void *buffer = flushed ? flush : NULL;
            const double add = median_ms(&args, -1, false, buffer, flush_bytes);
            for (int hint = 0; hint < NUM_HINTS; hint++)
                for (int store = 0; store < 2; store++) {
                    const double ms = median_ms(&args, hint, store, buffer, flush_bytes);
                    printf("%-8zu %-6s %-10s %-6s %10.4f %7.1f\n", args.seq_len, hint_names[hint], store_names[store],
                           flush_names[flushed], ms, 100.0 * add / ms);
                    if (file != NULL)
                        fprintf(file, "%s,%s,%s,%zu,%zu,%s,%.6f,%.2f\n", hint_names[hint], store_names[store],
                                flush_names[flushed], args.num_seqs, args.seq_len, machine.device.name, ms,
                                100.0 * add / ms);
                }
        }
        cudaFree(inputs), cudaFree(coeffs), cudaFree(args.outputs);
    }
    return file != NULL ? output_commit(&output) : 0;
}
#endif
