/* SPDX-License-Identifier: MIT */
/* tensor_map.h - a tensor map: how the host describes an array to the TMA, so that kernels can load and store boxes of
   it (tma_load_box and tma_store_box, tma.h). */
#ifndef TENSOR_MAP_H
#define TENSOR_MAP_H

#include <stdbool.h>

#include <cuda.h>
#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Describes an array of three dimensions, the innermost one first. A kernel takes the map by value, as
   `const __grid_constant__ CUtensorMap`.
     base      of the array in device memory, aligned to 16 bytes
     sizes     of the dimensions, in elements, 1 to 2^32
     strides   bytes from one element to the next in the dimensions 1 and 2: multiples of 16, less than 2^40
     box       what one copy moves, in elements, 1 to 256; box[0] elements are a multiple of 16 bytes
     swizzled  a box has rows of 128 bytes and begins in shared memory at a multiple of 1024; place i of row r of it
               holds the 16 bytes number i ^ r % 8 (wgmma.h says what for)
   Returns cudaErrorInvalidValue if the driver refuses one of them, and cudaErrorNotSupported if it has no tensor maps
   (before CUDA 12). Leaves no error for cudaGetLastError. Threads may call it at the same time.
   Source: CUDA Driver API, "Tensor Map Object Managment", cuTensorMapEncodeTiled. */
cudaError_t tensor_map_of(CUtensorMap *map, CUtensorMapDataType type, const void *base, const size_t sizes[3],
                          const size_t strides[2], const unsigned box[3], bool swizzled);

#ifdef __cplusplus
}
#endif
#endif
