/* SPDX-License-Identifier: MIT */
/* main.c - chapter 07 as a program: the kernels of chapters 02 to 06 side by side. README.md is the text. */
#include "../common/harness/harness.h"
#include "bench.h"

int main(int argc, char **argv)
{
    return harness_main(argc, argv, &chapter07);
}
