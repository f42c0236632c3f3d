/* SPDX-License-Identifier: MIT */
/* main.c - chapter 13 as a program. README.md is the text. It has three operations: that of packed sequences is asked
   for by --seqs or --starts, one step by --step. */
#include <string.h>

#include "../common/harness/harness.h"
#include "kernels/kernels.h"

/* Whether an option is there, as --name, --name=value or --name value. */
static bool is_given(int argc, char **argv, const char *option)
{
    const size_t length = strlen(option);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], option, length) == 0 && (argv[i][length] == '\0' || argv[i][length] == '='))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    const bool packed = is_given(argc, argv, "--seqs") || is_given(argc, argv, "--starts");
    const bool step = is_given(argc, argv, "--step");
    return harness_main(argc, argv, step ? &chapter13_step : packed ? &chapter13_packed : &chapter13);
}
