/* SPDX-License-Identifier: MIT */
/* check.h - test data of a rank's stretch, and the oracle over all ranks. */
#ifndef CHECK_H
#define CHECK_H

#include "../common/harness/finding.h"
#include "../common/linrec/linrec_data.h"
#include "ranks.h"

/* The whole sequences' data: of chapter 02 to 08's kinds (linrec_data.h), or of these two, which are counted and timed,
   and one more. */
enum { KIND_099 = 100, KIND_ONE, KIND_FADING };

struct whole {
    uint64_t seed;
    int kind;
    size_t seq_len;
    bool reverse, backward;
};

const char *kind_name(int kind);
bool kind_fits(const struct whole *whole, size_t num_seqs, int kind);

/* Fills what the pass reads, and what it writes with NaN. */
void part_fill(const struct part *part, const struct whole *whole);

/* Compares the stretch with the loop in double precision, which runs over all ranks, one after the other: each hands on
   the loop's state. `first_bad` in *finding is a place in this rank's arrays. */
struct finding part_check(const struct part *part, const struct whole *whole);

#endif
