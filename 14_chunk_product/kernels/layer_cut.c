/* SPDX-License-Identifier: MIT */
/* layer_cut.c - see layer_cut.h. How many stretches?

   Blocks. A block goes through its chunks one after the other, so the time is that of the longest stretch, as long as
   all blocks are on the chip together. An H200 holds 2 on each of its 132 multiprocessors. More stretches than that
   would wait for a place and win nothing; fewer leave places empty. So heads, slices of 64 rows, and stretches together
   make up to LAYER_BLOCKS. It is a constant: the sums are added in an order that depends on the cut, and so results
   have the same bits on each chip.

   Bytes. Each stretch leaves a state of dv x dk numbers in float32, which is written, read to be joined, written again,
   and read by the stretch behind: 16 dv dk bytes. All states together are no more than LAYER_BLOCKS times 64 x 128
   numbers, 8 MiB, whatever the shape: a sixth of an H200's L2 cache of 50 MB. What costs more is that x and B are read
   twice: of 16 bits, a step of a head has 2 dv bytes of x and 2 dv of out, and 2 dv more of x the second time. */
#include "layer_cut.h"

static size_t up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

size_t layer_blocks_of_sequence(const struct layer_args *args)
{
    return args->heads * up(args->dv, LAYER_ROWS);
}

/* Packed, all steps are one after the other: a batch of 1. A launch configuration's rows are chunks. */
static size_t stretch_len(const struct layer_args *args)
{
    if (args->config.rows > 0)
        return LAYER_CHUNK * (size_t)args->config.rows;
    const size_t blocks = args->batch * layer_blocks_of_sequence(args);
    const size_t most = blocks != 0 && blocks < LAYER_BLOCKS ? LAYER_BLOCKS / blocks : 1;
    return LAYER_CHUNK * (up(up(args->seq_len, LAYER_CHUNK), most) + (args->seq_len == 0));
}

static struct layer_cut cut_by(const struct layer_args *args, size_t len)
{
    return (struct layer_cut){.len = len,
                              .count = args->starts != NULL ? args->seq_len / len + args->num_seqs
                                                            : args->batch * up(args->seq_len, len)};
}

struct layer_cut layer_uncut(const struct layer_args *args)
{
    return cut_by(args, args->seq_len + 1);
}

struct layer_cut layer_cut(const struct layer_args *args)
{
    struct layer_cut cut = cut_by(args, stretch_len(args));
    cut.states = args->workspace;
    cut.decays = cut.states + cut.count * args->heads * args->dv * args->dk;
    return cut;
}

size_t layer_cut_workspace(const struct layer_args *args)
{
    const size_t most = args->batch * up(args->seq_len, stretch_len(args)) + args->num_seqs;
    if (most == args->batch) /* each sequence is one stretch, and has no state to hand on */
        return 0;
    return most * args->heads * (args->dv * args->dk + 1) * sizeof(float);
}
