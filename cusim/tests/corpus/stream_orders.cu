// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2;
}

static float *pinned;

static void CUDART_CB add(void *data)
{
    (void)data;
    for (int i = 0; i < N; i++)
        pinned[i] += 1;
}

int main(void)
{
    const size_t size = N * sizeof(float);
    float *x = numbers(), *mapped, *managed;
    cudaStream_t a, b, alone;
    cudaEvent_t event, back;
    cudaGraph_t graph;
    cudaGraphExec_t run;

    cudaMallocHost(&pinned, size);
    cudaHostAlloc(&mapped, size, cudaHostAllocMapped);
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaStreamCreateWithFlags(&alone, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cudaEventCreate(&back);

    /* one stream after the other, by events; the host waits for the last */
    twice<<<1, N, 0, a>>>(x); /* 2 */
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(alone, event, 0);
    twice<<<1, N, 0, alone>>>(x); /* 4 */
    cudaEventRecord(event, alone);
    cudaStreamWaitEvent(b, event, 0);
    cudaMemcpyAsync(pinned, x, size, cudaMemcpyDeviceToHost, b);
    cudaLaunchHostFunc(b, add, NULL); /* 4, 1 */
    cudaEventRecord(back, b);
    cudaEventSynchronize(back);
    for (int i = 0; i < N; i++)
        pinned[i] += 1; /* 4, 2 */

    /* a host that has waited, for a stream or in a loop of questions */
    cudaMemcpyAsync(x, pinned, size, cudaMemcpyHostToDevice, a);
    cudaStreamSynchronize(a);
    pinned[0] = 0;
    twice<<<1, N, 0, b>>>(x); /* 8, 4 */
    while (cudaStreamQuery(b) == cudaErrorNotReady)
        continue;
    twice<<<1, N, 0, alone>>>(x); /* 16, 8 */
    cudaEventRecord(event, alone);
    while (cudaEventQuery(event) == cudaErrorNotReady)
        continue;

    /* the default stream and the others wait for each other */
    twice<<<1, N, 0, a>>>(x); /* 32, 16 */
    twice<<<1, N>>>(x);       /* 64, 32 */
    twice<<<1, N, 0, b>>>(x); /* 128, 64 */
    cudaMemset(mapped, 0, size);
    cudaDeviceSynchronize();

    /* two streams read, one after both writes; memory from a pool goes from one to the other */
    float *y, *z;
    cudaMallocAsync(&y, size, a);
    cudaMallocAsync(&z, size, b);
    cudaMemcpyAsync(y, x, size, cudaMemcpyDeviceToDevice, a);
    cudaMemcpyAsync(z, x, size, cudaMemcpyDeviceToDevice, b);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    twice<<<1, N, 0, b>>>(x); /* 256, 128 */
    twice<<<1, N, 0, b>>>(y);
    cudaFreeAsync(y, b);
    cudaFreeAsync(z, b);
    cudaStreamDestroy(b);
    cudaDeviceSynchronize();

    /* a graph of two streams, launched again and again; afterwards the default stream */
    cudaStreamCreate(&b);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    twice<<<1, N, 0, a>>>(x);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    twice<<<1, N, 0, b>>>(mapped);
    twice<<<1, N, 0, a>>>(x);
    cudaEventRecord(back, b);
    cudaStreamWaitEvent(a, back, 0);
    cudaMemcpyAsync(pinned, mapped, size, cudaMemcpyHostToHost, a);
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    for (int i = 0; i < 2; i++)
        cudaGraphLaunch(run, i == 0 ? a : b); /* 4096, 2048 */
    cudaStreamSynchronize(b);
    pinned[1] = mapped[1] = 1;
    cudaMallocManaged(&managed, size);
    for (int i = 0; i < N; i++)
        managed[i] = 1;
    twice<<<1, N>>>(managed);
    cudaDeviceSynchronize();
    managed[0] += 1;
    return finish(x, 4096, 2048);
}
