/* SPDX-License-Identifier: MIT */
/* main.c - chapter 13 as a program. README.md is the text. Packed sequences are an operation of their own: --seqs or
   --starts asks for it. */
#include <string.h>

#include "../common/harness/harness.h"
#include "kernels/kernels.h"

int main(int argc, char **argv)
{
    bool packed = false;
    for (int i = 1; i < argc; i++)
        packed = packed || strcmp(argv[i], "--seqs") == 0 || strcmp(argv[i], "--starts") == 0;
    return harness_main(argc, argv, packed ? &chapter13_packed : &chapter13);
}
