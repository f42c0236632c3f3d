/* SPDX-License-Identifier: MIT */
/* main.c - chapter 14 as a program. README.md is the text. --operation NAME chooses among its operations; without it
   the first one of the list runs. --seqs or --starts asks for the layer of packed sequences. */
#include <stddef.h>
#include <string.h>

#include "../common/harness/harness.h"
#include "kernels/layer_kernels.h"
#include "kernels/product_kernels.h"

static const struct chapter *const chapters[] = {&chapter14_layer, &chapter14_product};

/* The value of --operation, given as --operation NAME or --operation=NAME; NULL: it is not given. */
static const char *asked(int argc, char **argv)
{
    static const char option[] = "--operation";
    const size_t length = sizeof option - 1;
    const char *value = NULL;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], option, length) != 0)
            continue;
        if (argv[i][length] == '=')
            value = argv[i] + length + 1;
        else if (argv[i][length] == '\0' && i + 1 < argc)
            value = argv[i + 1];
    }
    return value;
}

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
    const char *name = asked(argc, argv);
    const struct chapter *chosen = chapters[0];
    for (size_t i = 0; i < sizeof chapters / sizeof *chapters && name != NULL; i++)
        if (chapters[i]->operation->asked_value != NULL && strcmp(name, chapters[i]->operation->asked_value) == 0)
            chosen = chapters[i];
    struct chapter packed = chapter14_layer;
    packed.operation = layer_packed_operation();
    if (chosen == &chapter14_layer && (is_given(argc, argv, "--seqs") || is_given(argc, argv, "--starts")))
        chosen = &packed;
    return harness_main(argc, argv, chosen); /* which says what is wrong with a name that is none */
}
