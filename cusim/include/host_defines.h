/* SPDX-License-Identifier: MIT */
/* host_defines.h - the simulator has all of it in cuda_runtime.h. */
#include "cuda_runtime.h"
