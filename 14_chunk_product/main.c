/* SPDX-License-Identifier: MIT */
/* main.c - chapter 14 as a program. README.md is the text. */
#include "../common/harness/harness.h"
#include "kernels/layer_kernels.h"

int main(int argc, char **argv)
{
    return harness_main(argc, argv, &chapter14_layer);
}
