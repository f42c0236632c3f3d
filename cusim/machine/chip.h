/* SPDX-License-Identifier: MIT */
/* chip.h - the chip that is simulated, CUSIM_CHIP. */
#ifndef SIM_CHIP_H
#define SIM_CHIP_H

#include <stddef.h>

struct sim_chip {
    const char *name;
    int major, minor;                   /* compute capability */
    size_t shared_optin, shared_per_sm; /* shared memory of a block that asks with cudaFuncSetAttribute; and of all */
};
extern struct sim_chip sim_chip;

#endif
