/* SPDX-License-Identifier: MIT */
/* nvtx3/nvToolsExtCudaRt.h */
#include "../nvToolsExt.h"
