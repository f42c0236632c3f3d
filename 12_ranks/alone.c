/* SPDX-License-Identifier: MIT */
/* alone.c - each rank scans its stretch as if nothing came in. Nothing is handed on, so the result is wrong behind the
   first rank: it is the roof over all other variants. */
#include "ranks.h"

void ranks_alone(struct part *part)
{
    for (size_t s = 0; s < part->args.num_seqs; s++)
        part->before[s] = (struct aggregate){1.0f, 0.0f};
    part_scan(part);
}
