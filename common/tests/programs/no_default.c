/* no_default.c - a table of which no row, or with an argument both, are the default: the harness says so. */
#include "../../harness.h"

int main(int argc, char **argv)
{
    struct linrec_kernel kernels[] = {{.name = "one"}, {.name = "two"}, {.name = NULL}};
    const bool both = argc > 1 && argv[1][0] == 'b';
    kernels[0].is_default = kernels[1].is_default = both;
    return harness_main(argc - both, argv + both, &(const struct linrec_chapter){.name = "table", .kernels = kernels});
}
