// refused here: sizeof(y) is the size of the pointer, 8 bytes, and not of what it points to
// SPDX-License-Identifier: MIT
#include "corpus.h"
#include <stdlib.h>

int main(void)
{
    float *x = numbers(), *y = (float *)malloc(N * sizeof(*y)), **rows;

    cudaMalloc(&rows, 2 * sizeof(x)); /* of pointers */
    cudaMemcpy(rows, &x, sizeof(x), cudaMemcpyHostToDevice);
    cudaMemcpy(y, x, sizeof(y), cudaMemcpyDeviceToHost); // HERE
    return finish(x, 1, 0);
}
