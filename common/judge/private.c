/* SPDX-License-Identifier: MIT */
/* private.c - two places in the runner's data, one in .data and one in .bss: what lies behind them is the runner's and
   the simulator's, and an answer that touches it is stopped (sim_protect). The linker puts the answer before it. */
#include "channel.h"

char judge_private_data[16] = {1};
char judge_private_bss[16];
