/* SPDX-License-Identifier: MIT */
/* The kernel that 07.3 counts: the baseline of the gradients as the harness has it, device_add5. */
#include "../common/harness/baselines.cu"
