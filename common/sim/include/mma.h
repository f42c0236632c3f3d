/* SPDX-License-Identifier: MIT */
/* mma.h - is not simulated. */
#error "tensor cores (mma.h) are not simulated: compile for a GPU (BACKEND=cuda)"
