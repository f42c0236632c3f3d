/* SPDX-License-Identifier: MIT */
/* main.c - chapter 09 as a program: the selective scan, Mamba's layer. README.md is the text. */
#include "../common/harness/harness.h"
#include "kernels/kernels.h"

int main(int argc, char **argv)
{
    return harness_main(argc, argv, &chapter09);
}
