/* SPDX-License-Identifier: MIT */
/* main.c - chapter 04 as a program: the scan, level by level. README.md is the text. */
#include "../common/harness/harness.h"
#include "../common/linrec/linrec_operation.h"
#include "warp_scan.h"

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .name = "04_warp_scan", .operation = &linrec_operation, .kernels = chapter04_kernels};
    return harness_main(argc, argv, &chapter);
}
