/* SPDX-License-Identifier: MIT */
/* path.h - the steps of a block's warps, one after the other: those that each of them must wait for. */
#ifndef SIM_PATH_H
#define SIM_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "../counts.h"

/* A step: the warp cannot go on before it is done. Loads that follow each other at once are one step. */
enum sim_step { SIM_NEAR, SIM_L2, SIM_FAR, SIM_COPY, SIM_SHARED_LOAD, SIM_EXCHANGE, SIM_MEETING, SIM_NUM_STEPS };

struct sim_path {
    uint64_t steps[SIM_NUM_STEPS];
    uint64_t weight; /* of all steps, in cycles: says which of two paths is the longer one */
    uint64_t across; /* the same if all blocks began at once, with what the warp learnt from other blocks, */
    uint64_t handovers, handover_work; /* and how many hand-overs are in that, and other steps but loads */
    uint64_t ahead;                    /* bytes that the warp has asked for before it first waited for some */
    enum sim_step last;                /* SIM_NUM_STEPS: something that nobody waits for */
    bool has_waited;
};

struct block;

void sim_path_begin(const struct block *b);
void sim_path_step(unsigned warp, enum sim_step step);
void sim_path_load(unsigned warp, enum sim_step from, uint64_t bytes, bool strong); /* joins a load just before it */
void sim_path_ask(unsigned warp, uint64_t bytes);                                   /* for a copy that runs by itself */
void sim_path_shared(unsigned warp, bool stores);
void sim_path_store(unsigned warp);
void sim_path_meet(void);                 /* all warps wait for the slowest */
void sim_path_turns(uint64_t turns);      /* of the block, in its SM's memory pipeline */
void sim_path_cluster(unsigned warp);     /* what another block of the cluster does has been waited for */
void sim_path_end(const struct block *b); /* counts the longest path */

/* Blocks that wait for each other: a word of global memory that others see is written (by an atomic operation: the
   word then stands for all that have come), or read. */
void sim_path_launch(void);
void sim_path_publish(unsigned warp, const char *word, bool joins);
void sim_path_learn(unsigned warp, const char *word);

#endif
