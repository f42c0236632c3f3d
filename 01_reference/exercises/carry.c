/* SPDX-License-Identifier: MIT */
/* 01.4  The carry walk

   The reversed recurrence on T threads, each with a part of the sequence:

       y[L-1] = x[L-1],   y[l] = y[l+1] * c[l] + x[l]                  c[L-1] is never used; it may be NaN

   Now everything comes from the right. Three phases, as in the chapter:

       local      y from nothing:    |y y y y|  |y y y y|  |y y y y|  |y y y y|      all parts at once;
                                     Y, C       Y, C       Y, C       Y, C           each keeps two numbers
       carry                           <--------- * <------- * <------- Y            this thread alone
       combine    y += carry * (c ... c):  |y y y y|  |y y y y|  |y y y y|           all parts but the last, at once

   The phases are started for you: run_on_all starts a thread for each part and waits for all of them.

   Goal: right for every seq_len, 0 included, and num_threads, however the threads run. The local phase loads x and c
   once, the combination c and y; and no thread has more to do than its part: with 8 threads and 4096 elements at most 3
   loads and stores for each of its 512 elements, in each of the two phases.

   Write where it says "here", about 20 lines in all. */
#include <pthread.h>
#include <stddef.h>

enum { MAX_THREADS = 64 };

struct part {
    pthread_t thread;
    size_t seq_len, begin, end; /* the elements begin ... end - 1 of seq_len; never none */
    const float *x, *c;         /* the arrays of the whole sequence */
    float *y;
    float product; /* C, of all coefficients of the part */
    float last;    /* Y, the output that the part ends with, had nothing come into it */
    float carry;   /* what really comes into it */
};

static void *local(void *pointer)
{
    struct part *part = pointer;

    (void)part; /* here: y of the part, as if nothing came from the right; product and last */
    return NULL;
}

static void *combine(void *pointer)
{
    struct part *part = pointer;

    (void)part; /* here: what the carry adds. Into which part does nothing come? */
    return NULL;
}

static void run_on_all(struct part *parts, size_t num_parts, void *(*phase)(void *))
{
    for (size_t p = 0; p < num_parts; p++)
        pthread_create(&parts[p].thread, NULL, phase, &parts[p]);
    for (size_t p = 0; p < num_parts; p++)
        pthread_join(parts[p].thread, NULL);
}

/* num_threads: 1 ... MAX_THREADS */
void reverse_on_threads(size_t num_threads, size_t seq_len, const float *x, const float *c, float *y)
{
    struct part parts[MAX_THREADS];
    const size_t num_parts = num_threads < seq_len ? num_threads : seq_len;

    for (size_t p = 0; p < num_parts; p++)
        parts[p] = (struct part){.seq_len = seq_len,
                                 .begin = seq_len * p / num_parts,
                                 .end = seq_len * (p + 1) / num_parts,
                                 .x = x,
                                 .c = c,
                                 .y = y};

    run_on_all(parts, num_parts, local);
    /* here: the carry walk */
    run_on_all(parts, num_parts, combine);
}
