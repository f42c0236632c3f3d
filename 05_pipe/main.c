/* SPDX-License-Identifier: MIT */
/* main.c - chapter 05 as a program: any length, and the ways to move a tile. README.md is the text. */
#include "../common/harness/harness.h"
#include "../common/linrec/linrec_operation.h"
#include "pipe.h"

int main(int argc, char **argv)
{
    const struct chapter chapter = {.name = "05_pipe", .operation = &linrec_operation, .kernels = chapter05_kernels};
    return harness_main(argc, argv, &chapter);
}
