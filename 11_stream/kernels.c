/* SPDX-License-Identifier: MIT */
/* kernels.c - the table of chapter 11's ways. It has no kernels of its own: they are chapter 08's default, and chapter
   06's per_block for 16 elements. */
#include "streams.h"

const struct way chapter11_ways[] = {
    {.name = "in_only", .idea = "the copies in alone", .run = run_in_only, .memory = PINNED, .cut = AS_IT_LIES,
     .num_slots = 2, .is_partial = true},
    {.name = "kernel_only", .idea = "the kernels alone, in pieces", .run = run_kernel_only, .memory = PINNED,
     .cut = BY_TIME, .num_slots = 2, .is_partial = true},
    {.name = "out_only", .idea = "the copies out alone", .run = run_out_only, .memory = PINNED, .cut = AS_IT_LIES,
     .num_slots = 2, .is_partial = true},
    {.name = "both_ways", .idea = "the copies in and out at once: the roof", .run = run_both_ways, .memory = PINNED,
     .cut = AS_IT_LIES, .num_slots = 2, .is_partial = true},
    {.name = "pageable", .idea = "copy in, compute, copy out, with memory from malloc", .run = run_pageable,
     .memory = PAGEABLE, .cut = IN_ONE, .num_slots = 1},
    {.name = "pinned", .idea = "the same with pinned memory", .run = run_pinned, .memory = PINNED, .cut = IN_ONE,
     .num_slots = 1},
    {.name = "two_streams", .idea = "pieces of some sequences each, in turn on two streams", .run = run_two_streams,
     .memory = PINNED, .cut = BY_SEQS, .num_slots = 2},
    {.name = "three_streams", .idea = "a stream for copies in, for kernels, for copies out, and events",
     .run = run_three_streams, .memory = PINNED, .cut = BY_SEQS, .num_slots = 2},
    {.name = "handed_on", .idea = "pieces of time, which hand their states on", .run = run_handed_on,
     .memory = PINNED, .cut = BY_TIME, .num_slots = 2},
    {.name = "recomputed", .idea = "gradients without the outputs, which are computed again from states",
     .run = run_recomputed, .memory = PINNED, .cut = BY_TIME, .num_slots = 2, .recomputes = true},
    {.name = "launches", .idea = "a launch for each 16 elements", .run = run_launches, .memory = PINNED,
     .cut = IN_ONE, .num_slots = 1, .only_forward = true, .in_steps = true},
    {.name = "graph", .idea = "the same launches as one graph", .run = run_graph, .memory = PINNED, .cut = IN_ONE,
     .num_slots = 1, .only_forward = true, .in_steps = true},
    {.name = "managed", .idea = "managed memory, with prefetch", .run = run_managed, .memory = MANAGED, .cut = IN_ONE,
     .num_slots = 1},
    {.name = NULL},
};
