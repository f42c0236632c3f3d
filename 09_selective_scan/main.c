/* SPDX-License-Identifier: MIT */
/* main.c - chapter 09 as a program: the selective scan, Mamba's layer, and with --step one step of it. README.md is the
   text. */
#include <string.h>

#include "../common/harness/harness.h"
#include "kernels/kernels.h"

int main(int argc, char **argv)
{
    bool step = false;
    for (int i = 1; i < argc; i++)
        step = step || strcmp(argv[i], "--step") == 0;
    return harness_main(argc, argv, step ? &chapter09_step : &chapter09);
}
