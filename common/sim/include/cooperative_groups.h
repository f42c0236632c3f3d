/* SPDX-License-Identifier: MIT */
/* cooperative_groups.h - is not simulated. */
#error "cooperative groups are not simulated: write __syncthreads(), __syncwarp() and the __shfl_*_sync calls instead"
