/* SPDX-License-Identifier: MIT */
/* builtin_types.h - the simulator has all of it in cuda_runtime.h. */
#include "cuda_runtime.h"
