/* SPDX-License-Identifier: MIT */
/* judge.h - the description by which an exercise is judged: its arrays, the shapes that are tried, the right result
   and how the answer's code is called. Each exercise with code has one such description,
   NN_chapter/exercises/judges/NAME.c; the rest of what makes an exercise is data, in judges/NAME.txt. README.md
   beside this file says how to write both. */
#ifndef JUDGE_H
#define JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

enum { JUDGE_MAX_SHAPES = 24, JUDGE_MAX_SIZES = 2, JUDGE_MAX_ARRAYS = 6 };

enum judge_role {
    JUDGE_VALUES, /* read: normally distributed numbers */
    JUDGE_COEFFS, /* read: numbers in [-1, 1), and once more close to 1, so that a lost carry shows */
    JUDGE_OUTPUTS /* written: every element is compared with the reference */
};

struct judge_array {
    const char *name; /* as the answer calls it; NULL ends the list */
    enum judge_role role;
    size_t (*count)(const size_t *size); /* elements; NULL: the product of the sizes, one or two dimensions */
};

struct judge {
    const char *sizes[JUDGE_MAX_SIZES + 1]; /* names of the sizes, in the order of the arrays' dimensions */

    /* Tried in this order. List sizes around every boundary, powers of two and others, a single sequence, and nothing
       at all. Ends with {0, 0}. */
    size_t shapes[JUDGE_MAX_SHAPES][JUDGE_MAX_SIZES];

    struct judge_array arrays[JUDGE_MAX_ARRAYS + 1];

    /* Computes the outputs from the other arrays. It may only add, multiply and take off by judge_minus: it is also run
       on the absolute values, which tells how large rounding errors may be. NULL: nothing is checked (only counted). */
    void (*reference)(const size_t *size, double *const *array);

    /* How many roundings an output may have gone through; NULL: the last size, and 32 for what combines parts. */
    size_t (*roundings)(const size_t *size);

    /* How the results follow from each other: along the last size, from its start. Some data, and which wrong element
       is told first, depend on it. */
    bool reversed;     /* from its end */
    bool down_columns; /* along the first size */
    bool is_one_seq;   /* arrays with a count of their own are one sequence */

    /* Outputs are products: no data that make them infinite, since it would depend on the order of factors. */
    bool shows_products;

    /* Whether a coefficient is never used. It is NaN then, once. NULL: all are used. */
    bool (*is_unused)(const size_t *size, size_t i);

    /* Calls the answer with arrays in device memory, aligned to 256 bytes (on_cpu: plain memory, to 16; on_host: memory
       of the host that only copies may touch, as the answer is a whole program; on_cpu is for plain C alone). */
    cudaError_t (*launch)(const size_t *size, float *const *array);
    bool on_cpu, on_host;

    /* Before a launch whose counts are wanted: what it begins with, if that is not what the others do.
       NULL: nothing. */
    void (*before_count)(const size_t *size, float *const *array);

    /* Whether goals are counted with plain data alone: where atomics add values, a NaN to which something is added
       stays as it is, and the simulator takes who adds for somebody who waits for a change. */
    bool counts_plain;

    /* After a launch whose counts are wanted: prints further ones with judge_count. NULL: none. */
    void (*count)(const size_t *size, float *const *array);
};

extern const struct judge judge;

/* The most usual ones, for arrays inputs, coeffs and outputs of shape (num_seqs, seq_len): the recurrence of linrec.h,
   and that the first coefficient of each row is not used. */
void judge_recurrence(const size_t *size, double *const *array);
bool judge_is_first(const size_t *size, size_t i);

/* Declares the answer, function(num_seqs, seq_len, inputs, coeffs, outputs), with sizes of that type, and defines
   `launch` for it. */
#define JUDGE_FUNCTION(function, type)                                                                                 \
    cudaError_t function(type num_seqs, type seq_len, const float *inputs, const float *coeffs, float *outputs);       \
    static cudaError_t launch(const size_t *size, float *const *array)                                                 \
    {                                                                                                                  \
        return function((type)size[0], (type)size[1], array[0], array[1], array[2]);                                   \
    }

/* The whole description of an exercise on the recurrence with such an answer. Behind the type stand the shapes. */
#define JUDGE_RECURRENCE(function, type, ...)                                                                          \
    JUDGE_FUNCTION(function, type)                                                                                     \
    const struct judge judge = {                                                                                       \
        .sizes = {"num_seqs", "seq_len"},                                                                              \
        .shapes = {__VA_ARGS__},                                                                                       \
        .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},  \
        .reference = judge_recurrence,                                                                                 \
        .is_unused = judge_is_first,                                                                                   \
        .launch = launch,                                                                                              \
    };

/* a - b for a reference; on absolute values a + b, since what is taken off makes the rounding errors no smaller. */
double judge_minus(double a, double b);

/* Prints a count that a question or a goal may ask for. */
void judge_count(const char *name, double value);

/* For answers in plain C (threads.c): forget earlier threads and counts; count what is loaded from and stored to an
   array; print the counts. */
void judge_threads_begin(void);
void judge_threads_watch(const void *array, size_t bytes);
void judge_threads_count(void);

/* sum = a + b over n elements, a float4 a thread: what a time is compared with; and a sweep over the L2 cache. */
#ifdef __cplusplus
extern "C" {
#endif
cudaError_t judge_add(size_t n, const float *a, const float *b, float *sum);
cudaError_t judge_sweep(size_t n, const float *buffer);
#ifdef __cplusplus
}
#endif

#endif
