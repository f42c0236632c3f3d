/* SPDX-License-Identifier: MIT */
/* poll.h - threads that read the same word again and again, until somebody changes it. */
#ifndef SIM_POLL_H
#define SIM_POLL_H

#include <stdint.h>

#include "block.h"

/* How often shared and global memory have been written. */
enum { SIM_SHARED_MEMORY, SIM_GLOBAL_MEMORY };
extern uint64_t sim_changes[2];

/* The running thread is about to read a word by a strong access at a place in the code. Returns whether it has read it
   there before, and no memory has changed since. If so it polls, and sim_poll lets other threads run first. */
bool sim_seen(const char *at, const void *pc, bool global);
void sim_poll(const char *at, const void *pc, bool global);

/* Blocks wait for each other, and nothing changes any more: says what the running block's threads poll. `resident`:
   number of blocks that have begun and not ended; `waiting`: of those that cannot begin. */
[[noreturn]] void sim_explain_poll(unsigned resident, uint64_t waiting);

/* Whether the running thread has slept since anything last happened, and where. */
bool sim_sleeps(const char **file, int *line);

#endif
