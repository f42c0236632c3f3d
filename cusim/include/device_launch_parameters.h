/* SPDX-License-Identifier: MIT */
/* device_launch_parameters.h - the simulator has all of it in cuda_runtime.h. */
#include "cuda_runtime.h"
