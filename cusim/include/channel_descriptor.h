/* SPDX-License-Identifier: MIT */
/* channel_descriptor.h - the simulator has all of it in cuda_runtime.h. */
#include "cuda_runtime.h"
