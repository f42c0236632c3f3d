// right
// SPDX-License-Identifier: MIT
// Lines of PTX that read a register, or do what a function does, are taken.
#include "corpus.h"

static __device__ unsigned lane_id(void)
{
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

struct place {
    __device__ static unsigned warp(void)
    {
        unsigned id;
        asm("{\n\t"
            "mov.u32 %0, %%warpid;\n\t"
            "}"
            : "=r"(id)
            :
            : "memory");
        return id;
    }
};

__global__ void kernel(float *x, unsigned multiprocessors)
{
    __shared__ float tile[N];
    const unsigned i = threadIdx.x + blockDim.x * threadIdx.y, lane = i % 32;
    unsigned below, at_most, above, block, sm, sms;
    unsigned long long before, after, address;
    float *mine = &tile[i];

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before)::"memory");
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    asm("mov.u32 %0, %lanemask_le;" : "=r"(at_most));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(above));
    asm("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    asm("mov.u32 %0, %%nsmid;" : "=r"(sms));
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(mine));
    *(float *)__cvta_shared_to_generic(__cvta_generic_to_shared(mine)) = 1;
    asm volatile("bar.sync 0;");
    asm volatile("membar.gl;" ::: "memory");
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(after));
    const bool right = lane_id() == lane && place::warp() == i / 32 && __popc(below) == (int)lane &&
                       at_most == (below | 1u << lane) && above == ~at_most && block == blockIdx.x && sm < sms &&
                       sms == multiprocessors && after != 0 && before != 0;
    x[i] *= tile[N - 1 - i] + (float)right;
}

int main(void)
{
    float *x = numbers();
    int multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    kernel<<<1, dim3(16, N / 16)>>>(x, (unsigned)multiprocessors);
    return finish(x, 2, 0);
}
