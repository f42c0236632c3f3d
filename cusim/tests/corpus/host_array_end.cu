// stopped: uses size[1], past the end. Compare the index with the array's size.
// SPDX-License-Identifier: MIT
#include "corpus.h"

int main(int argc, char **)
{
    size_t size[argc]; // g++ and nvcc have such arrays in host code
    size[0] = N;
    float *x = numbers();
    if (size[argc] != N) // HERE
        return 1;
    return finish(x, 1, 0);
}
