/* SPDX-License-Identifier: MIT */
/* cublas.h - the older name. */
#include "cublas_v2.h"
