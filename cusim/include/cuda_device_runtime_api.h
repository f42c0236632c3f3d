/* SPDX-License-Identifier: MIT */
/* cuda_device_runtime_api.h - the simulator has all of it in cuda_runtime.h. */
#include "cuda_runtime.h"
