/* SPDX-License-Identifier: MIT */
/* Chapter 02: one GPU thread per sequence. README.md is the text. */
#include "../common/harness/harness.h"
#include "../common/linrec/linrec_operation.h"
#include "cuda_ref.h"

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .name = "02_cuda_ref", .operation = &linrec_operation, .kernels = chapter02_kernels};
    return harness_main(argc, argv, &chapter);
}
