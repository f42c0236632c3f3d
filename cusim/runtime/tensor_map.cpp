/* SPDX-License-Identifier: MIT */
/* tensor_map.cpp - how the host describes an array to the TMA: the one function of the driver that is here, and how a
   program gets it without linking the driver. */
#include <string.h>

#include <cuda.h>
#include "../machine/fault.h"
#include "../machine/tensor.h"
#include "host.h"

static_assert(sizeof(struct sim_tensor) <= sizeof(CUtensorMap), "room");

/* Bytes of an element; 0: several are packed into bytes, or it is no type. */
static unsigned element_size(CUtensorMapDataType type)
{
    static const unsigned char sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

    return (unsigned)type < sizeof(sizes) ? sizes[type] : 0;
}

static bool is_float(CUtensorMapDataType type)
{
    return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

/* NVIDIA's cuda.h lists what must hold, above this function's declaration. */
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *base,
                                const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    const void *const pc = __builtin_return_address(0);
    struct sim_tensor t = {};

    if (map == NULL || (uintptr_t)map % 64 != 0 || (unsigned)type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B ||
        rank == 0 || rank > SIM_TENSOR_RANK || base == NULL || (uintptr_t)base % 16 != 0 || sizes == NULL ||
        (rank > 1 && strides == NULL) || box == NULL || steps == NULL ||
        (unsigned)interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
        (unsigned)swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B ||
        (unsigned)promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        (unsigned)fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA ||
        (fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !is_float(type)))
        return CUDA_ERROR_INVALID_VALUE;
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
        (swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && swizzle != CU_TENSOR_MAP_SWIZZLE_128B))
        sim_fault_at(pc, "cuTensorMapEncodeTiled with an interleave, or a swizzle of other than 128 bytes, which are "
                         "not simulated. Take CU_TENSOR_MAP_SWIZZLE_128B or CU_TENSOR_MAP_SWIZZLE_NONE, and "
                         "CU_TENSOR_MAP_INTERLEAVE_NONE");
    if (element_size(type) == 0 || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
        sim_fault_at(pc, "cuTensorMapEncodeTiled with a packed type or a fill of NaN, which are not simulated. Take "
                         "elements of 1, 2, 4 or 8 bytes, and CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE");
    t.mark = sim_tensor_mark;
    t.base = (char *)base;
    t.rank = (uint8_t)rank;
    t.element = (uint8_t)element_size(type);
    for (unsigned i = 0; i < rank; i++) {
        if (sizes[i] == 0 || sizes[i] > (cuuint64_t)1 << 32 || box[i] == 0 || box[i] > 256 || steps[i] == 0 ||
            steps[i] > 8 || (i > 0 && (strides[i - 1] % 16 != 0 || strides[i - 1] >= (cuuint64_t)1 << 40)))
            return CUDA_ERROR_INVALID_VALUE;
        if (i > 0 && steps[i] != 1)
            sim_fault_at(pc,
                         "cuTensorMapEncodeTiled with steps of more than one element, which are not simulated. Take "
                         "an element stride of 1 for each dimension");
        t.sizes[i] = sizes[i];
        t.box[i] = (uint16_t)box[i];
        if (i > 0)
            t.strides[i - 1] = strides[i - 1];
    }
    if (box[0] * t.element % 16 != 0 || (swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && box[0] * t.element > 128))
        return CUDA_ERROR_INVALID_VALUE;
    t.swizzled = swizzle != CU_TENSOR_MAP_SWIZZLE_NONE;
    if (t.swizzled && box[0] * t.element != 128)
        sim_fault_at(pc,
                     "cuTensorMapEncodeTiled with a swizzle of 128 bytes and a box whose rows have %u, which is not "
                     "simulated. Take rows of 128 bytes",
                     box[0] * t.element);
    memset(map, 0, sizeof(*map));
    memcpy(map, &t, sizeof(t));
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *result)
{
    const sim_guard guard;
    const bool is_known = name != NULL && strcmp(name, "cuTensorMapEncodeTiled") == 0;
    const bool is_old = version < 12000; /* it came with 12.0 */

    if (name == NULL || function == NULL || flags > cudaEnablePerThreadDefaultStream)
        return sim_error(cudaErrorInvalidValue);
    *function = is_known && !is_old ? (void *)cuTensorMapEncodeTiled : NULL;
    if (result != NULL)
        *result = !is_known ? cudaDriverEntryPointSymbolNotFound
                  : is_old  ? cudaDriverEntryPointVersionNotSufficent
                            : cudaDriverEntryPointSuccess;
    return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result)
{
    return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, result);
}
