/* main.c - chapter 06 as a program: forward, reversed, and the gradients of both. README.md is the text. */
#include "../common/harness.h"
#include "backward.h"

int main(int argc, char **argv)
{
    const struct linrec_chapter chapter = {.name = "06_backward", .kernels = chapter06_kernels};
    return harness_main(argc, argv, &chapter);
}
