/* SPDX-License-Identifier: MIT */
/* kernel_info.h - all that the harness knows of a kernel, whatever the operation. Each row of an operation's table of
   kernels is a struct of the operation's own (struct linrec_kernel, for example) whose first member is a struct
   kernel_info: a pointer to the row is a pointer to this. */
#ifndef KERNEL_INFO_H
#define KERNEL_INFO_H

#include <stdbool.h>

#include "launch_config.h"

struct kernel_info {
    const char *name; /* what --variant takes; NULL: the row behind the table's last one */
    const char *idea; /* one line for --list */

    bool is_default;    /* the kernel that runs on a user's own arrays */
    bool partial;       /* it computes only part of the result: it is timed, and checked by its contract alone */
    bool moves_nothing; /* not even the arrays: it has a time, but no GB/s */
    bool float32_only;  /* it takes no other type */
    bool bits16_only;   /* it takes bf16 and fp16 alone */
    int min_arch;       /* compute capability needed, 80 for 8.0; 0: any */

    struct launch_tunables tunable; /* what --config may set; all zero: nothing */
};

#endif
