/* SPDX-License-Identifier: MIT */
/* host.cu - host code that does something wrong (host.t says what is told of it), and beside it what is right. */
#include <algorithm>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

enum { N = 64 };

struct padded {
    int id;
    double mass;
    char kind;
};

__global__ void fill(float *x)
{
    x[threadIdx.x] = 1;
}

__global__ void twice(const float *x, float *y)
{
    y[threadIdx.x] = 2 * x[threadIdx.x];
}

__global__ void make(padded *p)
{
    p[threadIdx.x].id = threadIdx.x;
    p[threadIdx.x].mass = 1;
    p[threadIdx.x].kind = 'a';
}

__global__ void rows(float *x, size_t pitch, unsigned width)
{
    if (threadIdx.x < width)
        *((float *)((char *)x + blockIdx.x * pitch) + threadIdx.x) = 1;
}

__global__ void hello(void)
{
    printf("hello\n");
}

static float host[N], *x, *y; /* N elements each, of which nothing is written */
static volatile int n = N;    /* not known to the compiler */
static cudaStream_t a, b;
static cudaEvent_t event;

/* A function of a header of the compiler's that does not become part of its caller. */
#line 1 "/usr/include/c++/header.h"
static __attribute__((noinline)) void header_copy(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
}
#line 58 "tests/host.cu"

static void streams(unsigned flags)
{
    cudaStreamCreateWithFlags(&a, flags);
    cudaStreamCreateWithFlags(&b, flags);
    cudaEventCreate(&event);
}

struct owner { /* frees when main has ended */
    float *memory = NULL;
    ~owner()
    {
        cudaFree(memory);
    }
};
static owner owner;

struct early { /* calls before main */
    float *memory;
    early()
    {
        cudaMalloc(&memory, N * sizeof(float));
        fill<<<1, N>>>(memory);
        cudaDeviceSynchronize();
    }
};
static early early;

static int run(const char *name)
{
#define CASE(word) if (strcmp(name, #word) == 0)
    CASE(launch_unseen)
    {
        fill<<<1, 2000>>>(x); /* HERE launch_unseen */
        cudaDeviceSynchronize();
    }
    CASE(launch_seen)
    {
        fill<<<1, 2000>>>(x);
        return cudaGetLastError() != cudaErrorInvalidConfiguration || cudaGetLastError() != cudaSuccess;
    }
    CASE(launch_seen_late)
    {
        fill<<<0, 1>>>(x);
        cudaDeviceSynchronize();
        return cudaPeekAtLastError() != cudaErrorInvalidConfiguration;
    }
    CASE(launch_returned)
    {
        cudaLaunchConfig_t config = {dim3(1), dim3(N), 60000, NULL, NULL, 0};
        return cudaLaunchKernelEx(&config, fill, x) != cudaErrorInvalidValue;
    }
    CASE(launch_then_fault)
    {
        fill<<<1, N, 60000>>>(x);                                  /* THERE launch_then_fault */
        cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost); /* HERE launch_then_fault */
    }
    CASE(copy_unseen)
    {
        cudaMemcpy(x, host, sizeof(host) + 4, cudaMemcpyHostToDevice); /* HERE copy_unseen */
    }
    CASE(copy_unseen_in_branch)
    {
        if (N > 1)
            cudaMemset(x, 0, sizeof(host) + 4); /* HERE copy_unseen_in_branch */
    }
    CASE(copy_seen)
    {
        const cudaError_t error = cudaMemcpy(x, host, sizeof(host) + 4, cudaMemcpyHostToDevice);
        return error != cudaErrorInvalidValue;
    }
    CASE(copy_cast_away)
    {
        (void)cudaMemcpy(x, host, sizeof(host) + 4, cudaMemcpyHostToDevice);
    }
    CASE(direction)
    {
        fill<<<1, N>>>(x);
        cudaMemcpy(host, x, sizeof(host), cudaMemcpyHostToDevice); /* HERE direction */
    }
    CASE(library_copies)
    {
        fill<<<1, N>>>(x);
        cudaDeviceSynchronize();
        memcpy(host, x, (size_t)n * sizeof(float)); /* HERE library_copies */
    }
    CASE(library_sets)
    {
        memset(x, 0, (size_t)n * sizeof(float)); /* HERE library_sets */
    }
    CASE(template_copies)
    {
        std::copy(host, host + n, x); /* HERE template_copies */
    }
    CASE(header_copies)
    {
        header_copy(x, host, (size_t)n * sizeof(float)); /* HERE header_copies */
    }
    CASE(library_right)
    {
        float other[N];
        fill<<<1, N>>>(x);
        cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
        memcpy(other, host, (size_t)n * sizeof(float));
        memset(host, 0, (size_t)n * sizeof(float));
        std::copy(other, other + n, host);
        return host[N - 1] != 1;
    }
    CASE(harmless)
    {
        cudaDeviceEnablePeerAccess(1, 0); /* HERE harmless */
    }
    CASE(tail)
    {
        fill<<<1, N - 4>>>(x);
        cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost); /* HERE tail */
    }
    CASE(last_one)
    {
        fill<<<1, N - 1>>>(x);
        cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost); /* HERE last_one */
    }
    CASE(nothing)
    {
        cudaMemcpy((void *)host, (const void *)x, sizeof(host), cudaMemcpyDeviceToHost); /* HERE nothing */
    }
    CASE(before_main)
    {
        cudaMemcpy(host, early.memory, sizeof(host), cudaMemcpyDeviceToHost);
        return host[N - 1] != 1;
    }
    CASE(in_another_stream)
    {
        streams(cudaStreamNonBlocking);
        fill<<<1, N, 0, a>>>(x); /* HERE in_another_stream */
        cudaEventRecord(event, b);
        cudaEventSynchronize(event);
        cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    }
    CASE(written)
    {
        fill<<<1, N - 4>>>(x);
        cudaMemset(x + N - 4, 0, 4 * sizeof(float));
        cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    }
    CASE(part_written)
    {
        fill<<<1, N - 4>>>(x);
        cudaMemcpy(host, x, (N - 4) * sizeof(float), cudaMemcpyDeviceToHost);
    }
    CASE(padding)
    {
        padded *p, some[N];
        cudaMalloc(&p, sizeof(some));
        make<<<1, N>>>(p);
        cudaMemcpy(some, p, sizeof(some), cudaMemcpyDeviceToHost);
        cudaMemcpy((void *)some, (void *)p, sizeof(some), cudaMemcpyDeviceToHost);
        cudaMemcpy(&some[1], p, sizeof(*p), cudaMemcpyDeviceToHost);
    }
    CASE(padding_and_tail)
    {
        padded *p, some[N];
        cudaMalloc(&p, sizeof(some));
        make<<<1, N - 1>>>(p);
        cudaMemcpy(some, p, sizeof(some), cudaMemcpyDeviceToHost); /* HERE padding_and_tail */
    }
    CASE(gaps)
    {
        std::vector<char> all;
        size_t pitch;
        cudaMallocPitch(&x, &pitch, 30 * sizeof(float), 20);
        rows<<<20, 32>>>(x, pitch, 30);
        all.resize(pitch * 20);
        cudaMemcpy(all.data(), x, all.size(), cudaMemcpyDeviceToHost);
    }
    CASE(free_twice)
    {
        cudaFree(x); /* THERE free_twice */
        cudaFree(x); /* HERE free_twice */
    }
    CASE(free_inside)
    {
        cudaFree(x + 1); /* HERE free_inside */
    }
    CASE(free_seen)
    {
        return cudaFree(x + 1) != cudaErrorInvalidValue;
    }
    CASE(free_behind_main)
    {
        owner.memory = x;
    }
    CASE(free_behind_reset)
    {
        owner.memory = x;
        cudaDeviceReset();
    }
    CASE(unwaited)
    {
        fill<<<1, N>>>(x); /* HERE unwaited */
    }
    CASE(unwaited_print)
    {
        hello<<<1, 1>>>(); /* HERE unwaited_print */
    }
    CASE(unwaited_stream)
    {
        streams(cudaStreamDefault);
        fill<<<1, N, 0, a>>>(x); /* HERE unwaited_stream */
    }
    CASE(unwaited_copy)
    {
        float *pinned;
        streams(cudaStreamDefault);
        cudaMallocHost(&pinned, sizeof(host));
        cudaMemset(x, 0, sizeof(host));
        cudaMemcpyAsync(pinned, x, sizeof(host), cudaMemcpyDeviceToHost, a); /* HERE unwaited_copy */
    }
    CASE(waited)
    {
        streams(cudaStreamNonBlocking);
        fill<<<1, N, 0, a>>>(x);
        cudaEventRecord(event, a);
        cudaEventSynchronize(event);
        fill<<<1, N, 0, b>>>(y);
        cudaStreamSynchronize(b);
        hello<<<1, 1>>>();
        cudaFree(x);
        exit(0);
    }
    CASE(unwaited_and_failed)
    {
        fill<<<1, N>>>(x);
        exit(0 * printf("it gives up\n") + 3);
    }
    CASE(pinned_fill)
    {
        float *pinned;
        cudaMallocHost(&pinned, sizeof(host));
        cudaMemset(pinned, 0, sizeof(host));
        for (int i = 0; i < N; i++)
            pinned[i] += i;
    }
    CASE(read_early)
    {
        streams(cudaStreamDefault);
        fill<<<1, N, 0, a>>>(x);
        cudaMemcpyAsync(host, x, sizeof(host), cudaMemcpyDeviceToHost, a); /* THERE read_early */
        host[0] += 1;                                                      /* HERE read_early */
        cudaStreamSynchronize(a);
    }
    CASE(read_behind)
    {
        streams(cudaStreamDefault);
        fill<<<1, N, 0, a>>>(x);
        cudaMemcpyAsync(host, x, sizeof(host), cudaMemcpyDeviceToHost, a);
        cudaStreamSynchronize(a);
        return host[0] != 1;
    }
    CASE(freed_early)
    {
        streams(cudaStreamNonBlocking);
        cudaMemcpyAsync(x, host, sizeof(host), cudaMemcpyHostToDevice, a); /* HERE freed_early */
        cudaFreeAsync(x, 0);                                               /* THERE freed_early */
        cudaStreamSynchronize(a);
    }
    CASE(free_of_c)
    {
        void *later;
        cudaMalloc(&later, 512); /* THERE free_of_c */
        free(later);             /* HERE free_of_c */
    }
    CASE(freed_behind)
    {
        streams(cudaStreamNonBlocking);
        cudaMemcpyAsync(x, host, sizeof(host), cudaMemcpyHostToDevice, a);
        cudaFreeAsync(x, a);
        cudaStreamSynchronize(a);
    }
    CASE(early_wait)
    {
        streams(cudaStreamDefault);
        fill<<<1, N, 0, a>>>(x);
        cudaStreamWaitEvent(b, event, 0); /* THERE early_wait */
        cudaEventRecord(event, a);
        twice<<<1, N, 0, b>>>(x, y);
        cudaStreamSynchronize(b);
    }
    CASE(captured)
    {
        cudaGraph_t graph;
        streams(cudaStreamDefault);
        cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
        fill<<<1, N, 0, a>>>(x);
        cudaStreamSynchronize(a); /* HERE captured */
        cudaStreamEndCapture(a, &graph);
    }
    CASE(elapsed_early)
    {
        float ms;
        streams(cudaStreamDefault);
        cudaEvent_t end;
        cudaEventCreate(&end);
        cudaEventRecord(event, a);
        fill<<<1, N, 0, a>>>(x);
        cudaEventRecord(end, a);
        cudaEventElapsedTime(&ms, event, end); /* HERE elapsed_early */
        cudaStreamSynchronize(a);
    }
    return 0;
}

int main(int, char **arguments)
{
    cudaMalloc(&x, sizeof(host)); /* THE ALLOCATION */
    cudaMalloc(&y, sizeof(host));
    return run(arguments[1]);
}
