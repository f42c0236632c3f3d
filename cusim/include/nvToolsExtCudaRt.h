/* SPDX-License-Identifier: MIT */
/* nvToolsExtCudaRt.h */
#include "nvToolsExt.h"
