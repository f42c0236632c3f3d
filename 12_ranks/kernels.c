/* SPDX-License-Identifier: MIT */
/* kernels.c - the table of chapter 12's ways to hand on. */
#include "ranks.h"

const struct way chapter12_ways[] = {
    {"alone", "each rank scans its stretch, and nothing is handed on: the roof", ranks_alone, true},
    {"chain", "what each stretch does, then one message from rank to rank", ranks_chain, false},
    {"exscan", "the same, handed on by MPI_Exscan with an operator of our own", ranks_exscan, false},
    {"allgather", "everybody gets all totals, and joins what it needs", ranks_allgather, false},
    {"overlap", "exscan in groups of sequences: one travels while the next is summed up", ranks_overlap, false},
    {"forget", "exscan of the stretches' ends: what is long ago is not read twice", ranks_forget, false},
    {NULL, NULL, NULL, false},
};
