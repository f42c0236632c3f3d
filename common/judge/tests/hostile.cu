/* SPDX-License-Identifier: MIT */
/* hostile.cu - lines, texts and values that a page or a reader of JSON may take for something else: </script><!-- */
#include <math.h>
#include <stdio.h>

#define LEAVE "</script><b>\"'&\\\t"

struct odd {
    float x;
    double y[2];
};

static __device__ float twice(float of)
{
    float result = of;
    result += of; /* twice */
    return result;
}

static __global__ void hostile(const float *in, float *out)
{
    const int i = threadIdx.x;
    float never, small = 1e-45f;
    float rows[2][2] = {{1, 2}, {3, 4}};
    struct odd pair = {in[i], {0.1, -INFINITY}};
    unsigned long long large = 9007199254740993ull;
    long long negative = -9223372036854775807ll - 1;
    bool is_odd = i % 2;
    char letter = '<';
    const float *where = in + 3;
    for (int k = 0; k < 2; k++)
        rows[k][i % 2] += k; /* rows */
    float same = i;
    same = twice(i == 1); /* all */
    if (i == 1)
        never = twice(pair.x); /* call */
    else
        never = in[i]; /* other */
    out[i] = never;    /* store */
    if (i == 0)
        printf("%s%d\n", LEAVE, letter); /* print */
    large += is_odd + (negative > 0) + (where == NULL) + (small > 1) + (same > 9);
}

int main(void)
{
    const float host[4] = {NAN, 1e38f, -INFINITY, 0.1f};
    float back[4], *in, *out;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    hostile<<<1, 4>>>(in, out);
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    printf("%g\n", back[1]);
    return 0;
}
