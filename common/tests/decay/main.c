/* SPDX-License-Identifier: MIT */
/* main.c - three programs in one, for the tests: the right kernels, those with mistakes, and a comparison. The first
   word of the command line may name one of the last two. */
#include <string.h>

#include "../../harness/harness.h"

extern const struct chapter decay_chapter, mistakes_chapter, compared_chapter;

int main(int argc, char **argv)
{
    const struct chapter *chapters[] = {&mistakes_chapter, &compared_chapter};
    for (int i = 0; i < 2; i++)
        if (argc > 1 && strcmp(argv[1], chapters[i]->name) == 0)
            return harness_main(argc - 1, argv + 1, chapters[i]);
    return harness_main(argc, argv, &decay_chapter);
}
