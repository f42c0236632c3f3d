/* main.c - chapter 07 as a program: the kernels of all chapters side by side. README.md is the text. */
#include "../common/harness.h"
#include "bench.h"

int main(int argc, char **argv)
{
    const struct linrec_chapter chapter = {.name = "07_bench", .kernels = bench_kernels(), .compares = true};
    return harness_main(argc, argv, &chapter);
}
