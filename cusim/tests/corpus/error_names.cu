// right
// SPDX-License-Identifier: MIT
#include <string.h>

#include "corpus.h"

int main(void)
{
    float *x = numbers();
    cudaSharedMemConfig banks;
    const bool right = cudaErrorMissingConfiguration == 52 && cudaErrorSetOnActiveProcess == 708 &&
                       cudaErrorGraphExecUpdateFailure == 910 &&
                       strcmp(cudaGetErrorName(cudaErrorInvalidTexture), "cudaErrorInvalidTexture") == 0 &&
                       strcmp(cudaGetErrorString(cudaErrorStreamCaptureImplicit),
                              "operation would make the legacy stream depend on a capturing blocking stream") == 0 &&
                       cudaDeviceGetSharedMemConfig(&banks) == cudaSuccess && banks == cudaSharedMemBankSizeFourByte;
    return finish(x, 1, right ? 0 : 1);
}
