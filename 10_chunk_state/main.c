/* SPDX-License-Identifier: MIT */
/* main.c - chapter 10 as a program: the states between chunks, and with --step one position of a layer. README.md is
   the text. */
#include <string.h>

#include "../common/harness/harness.h"
#include "kernels/kernels.h"

int main(int argc, char **argv)
{
    bool step = false;
    for (int i = 1; i < argc; i++)
        step = step || strcmp(argv[i], "--step") == 0;
    return harness_main(argc, argv, step ? &chapter10_step : &chapter10);
}
