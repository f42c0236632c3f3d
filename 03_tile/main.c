/* SPDX-License-Identifier: MIT */
/* main.c - chapter 03 as a program: one block per sequence. README.md is the text. */
#include "../common/harness/harness.h"
#include "../common/linrec/linrec_operation.h"
#include "tile.h"

int main(int argc, char **argv)
{
    const struct chapter chapter = {.name = "03_tile", .operation = &linrec_operation, .kernels = chapter03_kernels};
    return harness_main(argc, argv, &chapter);
}
