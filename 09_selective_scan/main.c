/* SPDX-License-Identifier: MIT */
/* main.c - chapter 09 as a program: the selective scan, Mamba's layer. README.md is the text. --seqs or --starts asks
   for packed sequences, --step for one step. */
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
    const bool is_packed = is_given(argc, argv, "--seqs") || is_given(argc, argv, "--starts");
    const struct chapter *const chosen = is_given(argc, argv, "--step") ? &chapter09_step : &chapter09;
    struct chapter packed = chapter09;
    packed.operation = selective_packed_operation();
    return harness_main(argc, argv, chosen == &chapter09 && is_packed ? &packed : chosen);
}
