/* SPDX-License-Identifier: MIT */
/* main.c - chapter 06 as a program: forward, reversed, and the gradients of both. README.md is the text. */
#include "../common/harness/harness.h"
#include "../common/linrec/linrec_operation.h"
#include "backward.h"

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .name = "06_backward", .operation = &linrec_operation, .kernels = chapter06_kernels};
    return harness_main(argc, argv, &chapter);
}
