/* SPDX-License-Identifier: MIT */
/* driver_types.h - the simulator has all of it in cuda_runtime.h. */
#include "cuda_runtime.h"
