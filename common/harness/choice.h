/* SPDX-License-Identifier: MIT */
/* choice.h - the things that an operation may do with or without: its flags, and its optional arrays. */
#ifndef CHOICE_H
#define CHOICE_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A choice: bit f says that flag f is on, bit MAX_FLAGS + a that there is the optional array a. */
typedef uint32_t choice;

static inline choice choice_of_flag(int f)
{
    return (choice)1 << f;
}

static inline choice choice_of_array(int a)
{
    return (choice)1 << (MAX_FLAGS + a);
}

/* All flags of the operation, and all optional arrays of the pass. */
choice choice_all(const struct operation *operation, enum direction direction);

/* The same of all passes. Empty: the operation leaves nothing to choose. */
choice choice_any(const struct operation *operation);

/* What the operation wants to be timed with, in any pass. */
choice choice_timed(const struct operation *operation);

/* Whether tables and messages say what is chosen: always where a launch is timed with something unless the user says
   otherwise, elsewhere only if something is chosen. */
bool choice_is_told(const struct operation *operation, choice chosen);

/* Whether array `a` is there: one that is needed always, an optional one if it is chosen, one that goes with another
   array if that one is there. */
bool choice_has(const struct operation *operation, choice chosen, int a);

/* Whether there is such a baseline, and all of its arrays are there. */
bool choice_has_baseline(const struct operation *operation, choice chosen, const struct baseline *baseline);

/* Reads "start,negated", "all" or "none", as --with has it. Returns 0, or 2 after one line on stderr. */
int choice_read(const struct operation *operation, const char *text, choice *chosen);

/* The names, with `between` between them, or "none". Returns text. */
enum { CHOICE_TEXT = 32 * (MAX_FLAGS + MAX_ARRAYS) };
const char *choice_text(const struct operation *operation, choice chosen, char between, char text[CHOICE_TEXT]);

/* The choices with which a pass is checked: everything first, then each flag and optional array left out alone, then
   nothing, then `also`; or, if `every` and there are few enough, all combinations. Bits of `fixed` are in each. Returns
   how many there are; none is there twice. */
enum { MAX_CHOICES = 256 };
int choice_list(const struct operation *operation, enum direction direction, choice fixed, choice also, bool every,
                choice list[MAX_CHOICES]);

#ifdef __cplusplus
}
#endif
#endif
