/* Times launchers against add. Lines of standard input: "shape N L" or "NAME SIZE ALIGN STAGES" or "env NAME VALUE". */
#include <algorithm>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>
#include "../08_lookback/lookback.h"
extern "C" {
#define L(n) linrec_launcher n;
#include "launchers.h"
#undef L
}
static const struct { const char *name; linrec_launcher *launch; } launchers[] = {
#define L(n) {#n, n},
#include "launchers.h"
#undef L
};
static __global__ void add(const float4 *x, const float4 *c, float4 *y)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const float4 a = x[i], b = c[i];
    y[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
static __device__ float draw(size_t i)
{
    unsigned long long z = i * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (float)((z >> 40) * (1.0 / (1 << 24)));
}
static __global__ void fill(float *x, float *c, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        x[i] = draw(2 * i) - 0.5f, c[i] = 1.0f - 0.0002f * draw(2 * i + 1);
}
/* 0: largest difference, 1: largest value; NaN counts as a large difference */
static __global__ void differ(const float *a, const float *b, size_t n, unsigned *most)
{
    float d = 0, v = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        const float e = fabsf(a[i] - b[i]);
        d = !(e <= d) ? (e == e ? e : 1e30f) : d, v = fmaxf(v, fabsf(b[i]));
    }
    atomicMax(most, __float_as_uint(d)), atomicMax(most + 1, __float_as_uint(v));
}
int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    char line[256], *flush;
    const size_t flush_bytes = (size_t)512 << 20, space_bytes = (size_t)32 << 20;
    float *x = 0, *c = 0, *y = 0, *ref = 0;
    unsigned *most;
    void *space;
    cudaEvent_t e0, e1;
    cudaEventCreate(&e0), cudaEventCreate(&e1);
    cudaMalloc(&flush, flush_bytes), cudaMalloc(&space, space_bytes), cudaMalloc(&most, 8);
    struct linrec_args args = {};
    size_t n = 0;
    double base = 0;
    int repeats = 0;
    char shape[64] = "";
    auto time = [&](auto launch) {
        std::vector<float> ms;
        for (int i = 0; i < repeats + 2; i++) {
            cudaMemsetAsync(flush, 0, flush_bytes);
            cudaEventRecord(e0);
            launch();
            cudaEventRecord(e1);
            cudaEventSynchronize(e1);
            float t;
            cudaEventElapsedTime(&t, e0, e1);
            if (i >= 2)
                ms.push_back(t);
        }
        std::sort(ms.begin(), ms.end());
        return ms[ms.size() / 2];
    };
    while (fgets(line, sizeof line, stdin)) {
        char name[64], value[64];
        int size = 0, align = 0, stages = 0;
        if (sscanf(line, "env %63s %63s", name, value) == 2) {
            setenv(name, value, 1);
            continue;
        }
        size_t seqs, len;
        if (sscanf(line, "shape %zu %zu", &seqs, &len) == 2) {
            cudaFree(x), cudaFree(c), cudaFree(y), cudaFree(ref);
            n = seqs * len;
            cudaMalloc(&x, n * 4), cudaMalloc(&c, n * 4), cudaMalloc(&y, n * 4), cudaMalloc(&ref, n * 4);
            fill<<<2048, 256>>>(x, c, n);
            args.num_seqs = seqs, args.seq_len = len;
            args.inputs = x, args.coeffs = c, args.outputs = ref;
            args.workspace = space, args.workspace_size = space_bytes;
            args.config = {};
            cudaMemset(space, 0xFF, space_bytes);
            cudaError_t e = lookback_three_pass(&args, NULL);
            cudaError_t e2 = cudaDeviceSynchronize();
            /* three_pass itself, against a double loop over the last 2^16 elements of the first 2^16 or more */
            const size_t check = std::min(len, (size_t)1 << 20);
            std::vector<float> hx(check), hc(check), hy(check);
            cudaMemcpy(hx.data(), x, check * 4, cudaMemcpyDeviceToHost);
            cudaMemcpy(hc.data(), c, check * 4, cudaMemcpyDeviceToHost);
            cudaMemcpy(hy.data(), ref, check * 4, cudaMemcpyDeviceToHost);
            double carry = 0, err = 0;
            for (size_t i = 0; i < check; i++)
                carry = carry * hc[i] + hx[i], err = std::max(err, fabs(carry - hy[i]));
            args.outputs = y;
            repeats = n > ((size_t)1 << 26) ? 11 : 31;
            base = time([&] { add<<<n / 1024, 256>>>((float4 *)x, (float4 *)c, (float4 *)y); });
            snprintf(shape, sizeof shape, "%zu x %zu", seqs, len);
            printf("== %s: add %.4f ms, %.2f TB/s; three_pass %s %s, err %.1e\n", shape, base, n * 12 / base * 1e-9,
                   cudaGetErrorString(e), cudaGetErrorString(e2), err);
            continue;
        }
        if (sscanf(line, "%63s %d %d %d", name, &size, &align, &stages) < 1)
            continue;
        linrec_launcher *now = NULL;
        for (auto &l : launchers)
            if (strcmp(l.name, name) == 0)
                now = l.launch;
        if (!now) {
            printf("no %s\n", name);
            continue;
        }
        args.config = {};
        args.config.rows = size, args.config.threads = align, args.config.stages = stages;
        cudaMemset(space, 0xFF, space_bytes);
        cudaMemset(y, 0xFF, n * 4);
        cudaError_t e = now(&args, NULL), e2 = cudaDeviceSynchronize();
        if (e != cudaSuccess || e2 != cudaSuccess) {
            printf("%-16s %2d %2d %d %s\n", name, size, align, stages, cudaGetErrorString(e != cudaSuccess ? e : e2));
            cudaGetLastError();
            if (e2 != cudaSuccess)
                return 1;
            continue;
        }
        cudaMemset(y, 0xFF, n * 4);
        now(&args, NULL);
        cudaMemset(most, 0, 8);
        differ<<<1024, 256>>>(y, ref, n, most);
        float d[2];
        cudaMemcpy(d, most, 8, cudaMemcpyDeviceToHost);
        const double ms = time([&] { now(&args, NULL); });
        printf("%-16s %2d %2d %d %8.4f ms %5.1f %%  err %.0e %s\n", name, size, align, stages, ms, 100 * base / ms,
               d[0] / d[1], cudaGetErrorString(cudaGetLastError()));
    }
    return 0;
}
