/* SPDX-License-Identifier: MIT */
/* tensor_maps.c - see tensor_maps.h */
#include "tensor_maps.h"

#include "walk.h"

cudaError_t tensor_maps_of(const struct layout_args *args, bool backward, CUtensorMap maps[TENSOR_MAPS])
{
    const size_t bytes = dtype_bytes(args->dtype), sizes[3] = {args->channels, args->seq_len, args->batch};
    const unsigned box[3] = {TILE_LINE / (unsigned)bytes, TILE_ROWS, 1};
    const CUtensorMapDataType type = args->dtype == FLOAT32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                     : args->dtype == BF16  ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                            : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    const int aligned = 16 / (int)bytes;
    if (layout_width(args, backward, aligned) != aligned || args->seq_len > 0x7FFFFFFF - TILE_WARPS * TILE_ROWS)
        return cudaErrorNotSupported;
    const struct layout_rows arrays = layout_rows_of(args, backward);
    for (int i = 0; i < arrays.count; i++) {
        const struct layout_strides by = strides_of(args, arrays.by[i]);
        const size_t strides[2] = {by.step * bytes, by.batch * bytes};
        const cudaError_t error = tensor_map_of(&maps[i], type, arrays.base[i], sizes, strides, box, false);
        if (error != cudaSuccess)
            return cudaErrorNotSupported;
    }
    return cudaSuccess;
}
