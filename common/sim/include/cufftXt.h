/* SPDX-License-Identifier: MIT */
/* cufftXt.h - cufft.h has what there is. */
#include "cufft.h"
