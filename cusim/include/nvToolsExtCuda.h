/* SPDX-License-Identifier: MIT */
/* nvToolsExtCuda.h */
#include "nvToolsExt.h"
