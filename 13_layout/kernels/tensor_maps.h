/* SPDX-License-Identifier: MIT */
/* tensor_maps.h - the arrays of a pass as the TMA is told of them, for tensor_map.cu and tensor_map_backward.cu. */
#ifndef LAYOUT_TENSOR_MAPS_H
#define LAYOUT_TENSOR_MAPS_H

#include "../../common/cuda/tensor_map.h"
#include "chunk_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TENSOR_MAPS = 5 }; /* at most */

/* Forward inputs, coeffs, outputs; backward d_outputs, coeffs, outputs, d_inputs, d_coeffs. cudaErrorNotSupported where
   16 bytes do not divide all bases, strides and rows of channels, an array has more than 2^31 steps, or the driver
   knows no tensor maps. */
cudaError_t tensor_maps_of(const struct layout_args *args, bool backward, CUtensorMap maps[TENSOR_MAPS]);

#ifdef __cplusplus
}
#endif
#endif
