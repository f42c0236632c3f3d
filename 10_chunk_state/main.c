/* SPDX-License-Identifier: MIT */
/* main.c - chapter 10 as a program: the states between chunks, with --seqs or --starts those of packed sequences, and
   with --step one position of a layer. README.md is the text. */
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
    struct chapter packed = chapter10;
    packed.operation = chunk_state_packed_operation();
    return harness_main(argc, argv,
                        is_given(argc, argv, "--step") ? &chapter10_step
                        : is_packed                    ? &packed
                                                       : &chapter10);
}
