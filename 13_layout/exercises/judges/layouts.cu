/* SPDX-License-Identifier: MIT */
/* The kernel that 13.1 counts: the chapter's loop, with what it takes of walk.c. */
#include "kernels/loop.cu"
#include "kernels/walk.c"
