// stopped: race: in the stream made at
// SPDX-License-Identifier: MIT
// The host's flag tells of what the host has done before, and not of what it does later.
#include <cuda_runtime.h>

__global__ void receive(const volatile int *flag, const int *data, int *result)
{
    while (*flag == 0)
        continue;
    __threadfence_system();
    *result = *data + 1; // HERE
}

int main(void)
{
    int *words;
    cudaStream_t stream;

    cudaMallocHost(&words, 3 * sizeof(*words));
    words[0] = words[1] = 0;
    cudaStreamCreate(&stream);
    receive<<<1, 1, 0, stream>>>(words, words + 1, words + 2);
    *(volatile int *)words = 1;
    words[1] = 6;
    cudaStreamSynchronize(stream);
    return 0;
}
