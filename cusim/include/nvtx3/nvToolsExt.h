/* SPDX-License-Identifier: MIT */
/* nvtx3/nvToolsExt.h */
#include "../nvToolsExt.h"
