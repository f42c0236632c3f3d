/* main.c - chapter 03 as a program: one block per sequence. README.md is the text. */
#include "../common/harness.h"
#include "tile.h"

int main(int argc, char **argv)
{
    const struct linrec_chapter chapter = {.name = "03_tile", .kernels = chapter03_kernels};
    return harness_main(argc, argv, &chapter);
}
