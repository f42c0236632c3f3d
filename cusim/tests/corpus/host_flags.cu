// right
// SPDX-License-Identifier: MIT
// Flags in pinned memory tell host code and kernels that data are there: volatile ones, and by the compiler's atomic
// functions. A kernel that waits for the host is asked for before the host writes the flag.
#include <cuda_runtime.h>
#include <stdio.h>

static int *flag, *data, *result, rights;
static cudaStream_t stream;

__global__ void receive(const volatile int *flag, const int *data, int *result)
{
    while (*flag == 0)
        continue;
    __threadfence_system();
    *result = *data + 1;
}

__global__ void send(volatile int *flag, int *data)
{
    *data = 6;
    __threadfence_system();
    *flag = 1;
}

static void begin(void)
{
    cudaDeviceSynchronize();
    *flag = *data = *result = 0;
}

static void end(void)
{
    cudaStreamSynchronize(stream);
    rights += *data == 6 && *result == 7;
}

int main(void)
{
    cudaMallocHost(&flag, sizeof(*flag));
    cudaMallocHost(&data, sizeof(*data));
    cudaMallocHost(&result, sizeof(*result));
    cudaStreamCreate(&stream);
    for (int kind = 0; kind < 4; kind++) {
        begin();
        receive<<<1, 1, 0, stream>>>(flag, data, result);
        *data = 6;
        if (kind == 0)
            *(volatile int *)flag = 1;
        else if (kind == 1)
            __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
        else if (kind == 2)
            __sync_lock_test_and_set(flag, 1);
        else
            __sync_bool_compare_and_swap(flag, 0, 1);
        end();
    }
    for (int kind = 0; kind < 4; kind++) {
        begin();
        send<<<1, 1, 0, stream>>>(flag, data);
        if (kind == 0)
            while (*(volatile int *)flag == 0)
                continue;
        else if (kind == 1)
            while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0)
                continue;
        else if (kind == 2)
            while (__sync_fetch_and_add(flag, 0) == 0)
                continue;
        else
            while (!__sync_bool_compare_and_swap(flag, 1, 2))
                continue;
        *result = *data + 1;
        end();
    }
    puts(rights == 8 ? "right" : "wrong");
    return 0;
}
