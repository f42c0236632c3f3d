/* SPDX-License-Identifier: MIT */
/* cublas_api.h */
#include "cublas_v2.h"
