/* SPDX-License-Identifier: MIT */
/* cub.cuh - is not simulated. */
#error "CUB is not simulated: write the operation yourself, or compile for a GPU (BACKEND=cuda)"
