/* SPDX-License-Identifier: MIT */
/* data.h - the data that an answer is tried with: kinds of it, drawn by a seed, and what one case holds. */
#ifndef JUDGE_DATA_H
#define JUDGE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge.h"

enum kind {
    PLAIN,
    LONG_MEMORY,
    UNUSED_NAN,
    FIRST_NAN,
    MIDDLE_NAN,
    ZEROS,         /* one coefficient in eight is 0: products of coefficients vanish */
    OVERFLOW,      /* no values, and the product of a sequence's first coefficients, and of no others, is infinite */
    INFINITE,      /* one value in the middle is */
    NAN_NEIGHBOUR, /* every other sequence holds a NaN, those between must not notice */
    NUM_KINDS
};

/* One case: a shape and a kind of data. */
struct a_case {
    const size_t *size;
    enum kind kind;
    size_t count[JUDGE_MAX_ARRAYS];           /* elements of each array */
    float *host[JUDGE_MAX_ARRAYS];            /* the inputs; afterwards the outputs */
    double *right[JUDGE_MAX_ARRAYS];          /* the same for the reference */
    double *largest[JUDGE_MAX_ARRAYS];        /* and on absolute values: the size of what was added up */
    unsigned char *written[JUDGE_MAX_ARRAYS]; /* of each output whether the answer has written it */
};

/* What all numbers are drawn from; 1 if nobody says otherwise. */
extern uint64_t judge_seed;

/* A sentence to the reader about a kind of data; empty where there is nothing to say. */
const char *kind_says(enum kind kind);

/* Whether a kind means anything for the arrays of this exercise. */
bool kind_applies(enum kind kind);

/* Where element i lies of an array that has an element for each step of each sequence. */
struct position {
    size_t seq, step, len; /* which sequence, how many steps from where the walk along it begins, and of how many */
    ptrdiff_t to_next;     /* from an element to that of the next step */
};
struct position position_of(const struct a_case *c, int array, size_t i);

/* Whether an array has an element for each step of each sequence. */
bool is_whole(int array);

/* From an element to that of the next sequence at the same step. */
size_t beside(const struct a_case *c);

/* The index of element number n of an array, in the order in which the walk along each sequence comes to them. */
size_t in_order(const struct a_case *c, int array, size_t n);

/* "outputs[2][17]" */
void name_element(const struct a_case *c, int array, size_t i, char *name, size_t size);

/* Sizes beside the listed ones, where a seed other than 1 is named. */
enum { DRAWN_SHAPES = 3 };

/* The shapes to try: those that the exercise lists, then drawn ones. Returns how many these are. */
int all_shapes(size_t shapes[][JUDGE_MAX_SIZES]);

/* How many arrays the exercise has. */
int num_arrays(void);

/* A case with its inputs drawn; nothing is said about what outputs hold. `size` is kept, not copied. */
struct a_case make_case(const size_t *size, enum kind kind);
void free_case(struct a_case *c);

/* Mixes two numbers into one. */
uint64_t judge_hash(uint64_t a, uint64_t b);

#endif
