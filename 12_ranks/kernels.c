/* SPDX-License-Identifier: MIT */
/* kernels.c - the table of chapter 12's variants. */
#include "ranks.h"

const struct variant chapter12_variants[] = {
    {.info = {.name = "alone",
              .idea = "each rank scans its stretch, and nothing is handed on: the roof",
              .partial = true},
     .run = ranks_alone},
    {.info = {.name = "chain", .idea = "what each stretch does, then one message from rank to rank"},
     .run = ranks_chain},
    {.info = {.name = "exscan", .idea = "the same, handed on by MPI_Exscan with an operator of our own"},
     .run = ranks_exscan},
    {.info = {.name = "allgather", .idea = "everybody gets all aggregates, and joins what it needs"},
     .run = ranks_allgather},
    {.info = {.name = "overlap", .idea = "exscan in groups of sequences: one travels while the next is summed up"},
     .run = ranks_overlap},
    {.info = {.name = "forget", .idea = "exscan of the stretches' ends: what is long ago is not read twice"},
     .run = ranks_forget},
    {.info = {.name = "nccl", .idea = "allgather by NCCL, which reads and writes on the devices: the host only queues"},
#ifdef HAS_NCCL
     .run = ranks_nccl,
#endif
     .wants_own_gpu = true},
    {.info = {.name = NULL}},
};
