/* SPDX-License-Identifier: MIT */
/* nvtx3/nvToolsExtCuda.h */
#include "../nvToolsExt.h"
