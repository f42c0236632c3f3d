/* SPDX-License-Identifier: MIT */
/* 01.4  The carry walk */
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
    const float *x = part->x, *c = part->c;
    size_t l = part->end - 1;

    float product = part->end == part->seq_len ? 1 : c[l]; /* the sequence's last coefficient is never read */
    float y = x[l];
    part->y[l] = y;
    while (l-- > part->begin) {
        product *= c[l];
        y = y * c[l] + x[l];
        part->y[l] = y;
    }
    part->product = product;
    part->last = y;
    return NULL;
}

static void *combine(void *pointer)
{
    struct part *part = pointer;
    float product = 1;

    if (part->end == part->seq_len)
        return NULL;
    for (size_t l = part->end; l-- > part->begin;) {
        product *= part->c[l];
        part->y[l] += part->carry * product;
    }
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
    float carry = 0;
    for (size_t p = num_parts; p-- > 0;) {
        parts[p].carry = carry;
        carry = p == num_parts - 1 ? parts[p].last : carry * parts[p].product + parts[p].last;
    }
    run_on_all(parts, num_parts, combine);
}
