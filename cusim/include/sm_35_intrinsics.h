/* SPDX-License-Identifier: MIT */
/* sm_35_intrinsics.h - the simulator has all of it in cuda_runtime.h. */
#include "cuda_runtime.h"
