// right
// SPDX-License-Identifier: MIT
// NVTX's headers, by their old names (which newer toolkits lack) and new ones: marks for a profiler that do nothing.
#if __has_include(<nvToolsExt.h>)
#include <nvToolsExt.h>
#include <nvToolsExtCuda.h>
#include <nvToolsExtCudaRt.h>
#endif
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] = 2 * x[threadIdx.x] + 1;
}

int main(void)
{
    nvtxEventAttributes_t attributes = {};
    float *x;

    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.colorType = NVTX_COLOR_ARGB;
    attributes.color = 0xff00ff00;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "a kernel";
    const nvtxRangeId_t all = nvtxRangeStart("all");
    nvtxRangePush("make");
    x = numbers();
    nvtxRangePop();
    nvtxRangePushEx(&attributes);
    twice<<<1, N>>>(x);
    nvtxMark("launched");
    nvtxMarkEx(&attributes);
    nvtxRangePop();
    nvtxRangeEnd(all);
    return finish(x, 2, 1);
}
