/* SPDX-License-Identifier: MIT */
/* main.c - chapter 01 as a program: the loop and the threads, checked and timed on the CPU. CPU_THREADS=7 in the
   environment lets the variants with threads take 7, whatever the number of cores. */
#include <stdio.h>
#include <stdlib.h>

#include "../common/base/error.h"
#include "../common/harness/harness.h"
#include "../common/linrec/linrec_operation.h"
#include "recurrence.h"

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .name = "01_reference", .operation = &linrec_operation, .kernels = chapter01_kernels, .on_cpu = true};
    const char *wanted = getenv("CPU_THREADS");

    if (wanted != NULL) {
        char *end;
        const long count = strtol(wanted, &end, 10);
        if (count < 1 || count > CPU_MAX_THREADS || *end != '\0')
            return usage_error("CPU_THREADS=%s is not a number of threads; give one from 1 to %d", wanted,
                               CPU_MAX_THREADS);
        cpu_threads_set((size_t)count);
    }
    return harness_main(argc, argv, &chapter);
}
