/* SPDX-License-Identifier: MIT */
/* no_default.c - a table of which no row, or with an argument both, are the default: the harness says so. */
#include "../../harness/harness.h"
#include "../../linrec/linrec_operation.h"

int main(int argc, char **argv)
{
    struct linrec_kernel kernels[] = {{.info.name = "one"}, {.info.name = "two"}, {.info.name = NULL}};
    const bool both = argc > 1 && argv[1][0] == 'b';
    kernels[0].info.is_default = kernels[1].info.is_default = both;
    const struct chapter chapter = {.name = "table", .operation = &linrec_operation, .kernels = kernels};
    return harness_main(argc - both, argv + both, &chapter);
}
