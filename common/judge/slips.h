/* SPDX-License-Identifier: MIT */
/* slips.h - finds the slip that explains a wrong number: a swapped operator, the coefficient of the step before, ... */
#ifndef JUDGE_SLIPS_H
#define JUDGE_SLIPS_H

#include "data.h"

/* Where element i of an output is wrong, and what was computed is just what a usual slip gives: writes a sentence that
   says which, and returns true. It knows recurrences and sums of two arrays, by their arrays and by what is right. */
bool find_slip(const struct a_case *c, int array, size_t i, char *sentence, size_t size);

#endif
