/* SPDX-License-Identifier: MIT */
/* kernels.h - chapter 13: its kernels' launchers, in the order of the text, and its operations. */
#ifndef LAYOUT_KERNELS_H
#define LAYOUT_KERNELS_H

#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

layout_launcher layout_transposed;                   /* transpose, chapter 08's default, transpose */
layout_launcher layout_loop, layout_loop_backward;   /* a thread walks through time */
layout_launcher layout_split, layout_split_backward; /* time is cut into chunks over blocks */

/* One of these, by shape and chip. */
layout_launcher layout_forward, layout_backward;

/* Bytes of workspace. */
size_t layout_transposed_workspace(const struct layout_args *args, bool backward);
size_t layout_split_workspace(const struct layout_args *args, bool backward);

/* The table, the two operations (operation.c), and the chapter with each of them. */
extern const struct layout_kernel chapter13_kernels[];
extern const struct operation layout_operation, packed_operation;
extern const struct chapter chapter13, chapter13_packed;

#ifdef __cplusplus
}
#endif
#endif
