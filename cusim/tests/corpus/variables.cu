// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

#include <cuda/atomic>

// Variables of the device, in all the ways in which one declares them.
struct Body {
    int id;
    float m[3];
};
struct Lock {
    int taken = 0;
    float sum = 5;
};
__device__ Body bodies[N];
__device__ float rows[4][8], *second = &rows[1][0], offset = 0.5f;
__constant__ float table[4] = {1, 2, 3, 4};
namespace names
{
__device__ unsigned inside = 7;
}
extern __device__ int later[];
__device__ int later[3] = {1,     // on more than
                           2, 3}; // one line
__device__ const int back[] = {3, 2, 1, 0};
__device__ const int EIGHT = 8;
__device__ float twice(float x)
{
    return 2 * x;
}
__device__ float (*chosen)(float) = twice;
__device__ cuda::atomic<int, cuda::thread_scope_device> arrived{5};
__managed__ int managed = 9;
__device__ unsigned char letters[3];
__device__ Lock lock;
__device__ char text[] = "hello";

__global__ void use(float *x)
{
    static __device__ int calls = 100;
    __shared__ float tile[EIGHT];
    const int i = threadIdx.x;

    if (i < EIGHT)
        tile[i] = (float)i;
    if (i < 3)
        letters[i] = (unsigned char)i; // neighbours in one word are no race
    bodies[i].id = i;
    bodies[i].m[1] = x[i];
    if (i < 32)
        rows[i / 8][i % 8] = (float)i;
    atomicAdd(&names::inside, 1);
    atomicAdd(&calls, 1);
    atomicAdd(&managed, 1);
    arrived.fetch_add(1);
    __syncthreads();
    if (i % 32 == 0) { // one lane of a warp: the others of it would wait for it
        while (atomicCAS(&lock.taken, 0, 1) != 0) {
        }
        __threadfence();
        lock.sum += 1;
        __threadfence();
        atomicExch(&lock.taken, 0);
    }
    const float zero = calls - 164.0f + managed - 73 + later[2] - 3 + back[3] + second[i % 8] - 8 - i % 8 +
                       tile[i % 8] - i % 8 + (text[1] - 'e');
    x[i] = chosen(bodies[i].m[1]) + table[0] - offset + 0.5f + zero;
}

int main(void)
{
    float *x = numbers(), sum, third;
    void *address;

    use<<<1, N>>>(x);
    cudaMemcpyFromSymbol(&sum, lock, sizeof(sum), offsetof(Lock, sum));
    cudaGetSymbolAddress(&address, table);
    cudaMemcpy(&third, (float *)address + 2, sizeof(third), cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    if (sum != 7 || third != 3 || managed != 73)
        return printf("%g %g %d\n", sum, third, managed);
    return finish(x, 2, 1);
}
