/* SPDX-License-Identifier: MIT */
/* tensor_map.c - see tensor_map.h */
#include "tensor_map.h"

#include <stdatomic.h>

typedef CUresult encode_tiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *base,
                              const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
                              const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                              CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

/* The driver's function, asked of the runtime, so that no program has to link the driver. NULL: it has none. */
static encode_tiled *find_encode_tiled(void)
{
    static _Atomic(encode_tiled *) kept; /* threads that come at the same time find, and keep, the same */
    union {
        void *object;
        encode_tiled *function;
    } found = {.function = atomic_load(&kept)};
    enum cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;

    if (found.function != NULL)
        return found.function;
    const cudaError_t before = cudaPeekAtLastError();
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found.object, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t error =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found.object, cudaEnableDefault, &result);
#endif
    if (error != cudaSuccess && before == cudaSuccess)
        cudaGetLastError(); /* it is this function's own, and told by what it returns */
    if (error != cudaSuccess || result != cudaDriverEntryPointSuccess)
        return NULL;
    atomic_store(&kept, found.function);
    return found.function;
}

cudaError_t tensor_map_of(CUtensorMap *map, CUtensorMapDataType type, const void *base, const size_t sizes[3],
                          const size_t strides[2], const unsigned box[3], bool swizzled)
{
    encode_tiled *const encode = find_encode_tiled();
    const cuuint64_t all_sizes[3] = {sizes[0], sizes[1], sizes[2]}, all_strides[2] = {strides[0], strides[1]};
    const cuuint32_t all_box[3] = {box[0], box[1], box[2]}, steps[3] = {1, 1, 1};

    if (encode == NULL)
        return cudaErrorNotSupported;
    /* the errors of the driver have the numbers of the runtime's; base is const, as a map may be for loads alone */
    return (cudaError_t)encode(map, type, 3, (void *)base, all_sizes, all_strides, all_box, steps,
                               CU_TENSOR_MAP_INTERLEAVE_NONE,
                               swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
