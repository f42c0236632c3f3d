// right
#include <cuda_bf16.h>
#include "corpus.h"

__global__ void kernel(float *x, __nv_bfloat16 *h)
{
    h[threadIdx.x] = __float2bfloat16(x[threadIdx.x]);
    x[threadIdx.x] = 2 * __bfloat162float(h[threadIdx.x]) + 1;
}

int main(void)
{
    float *x = numbers();
    __nv_bfloat16 *h;
    cudaMalloc(&h, N * sizeof(*h));
    kernel<<<1, N>>>(x, h);
    return finish(x, 2, 1);
}
