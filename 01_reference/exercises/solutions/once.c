/* SPDX-License-Identifier: MIT */
/* 01.5  Write once */
#include <pthread.h>
#include <stddef.h>

enum { MAX_THREADS = 64 };

struct part {
    pthread_t thread;
    size_t begin, end;  /* the elements begin ... end - 1; never none */
    const float *x, *c; /* the arrays of the whole sequence */
    float *y;
    float product; /* C, of all coefficients of the part */
    float last;    /* Y, the part's last output, had nothing come before it */
    float carry;   /* the true output just before the part */
};

static void *local(void *pointer)
{
    struct part *part = pointer;
    const float *x = part->x, *c = part->c;
    size_t l = part->begin;

    float product = l == 0 ? 1 : c[l]; /* the first coefficient of the sequence is never read */
    float y = x[l];
    for (l++; l < part->end; l++) {
        product *= c[l];
        y = y * c[l] + x[l];
    }
    part->product = product;
    part->last = y;
    return NULL;
}

static void *loop(void *pointer)
{
    struct part *part = pointer;
    const float *x = part->x, *c = part->c;
    size_t l = part->begin;

    float y = l == 0 ? x[l] : part->carry * c[l] + x[l];
    part->y[l] = y;
    for (l++; l < part->end; l++) {
        y = y * c[l] + x[l];
        part->y[l] = y;
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
void forward_on_threads(size_t num_threads, size_t seq_len, const float *x, const float *c, float *y)
{
    struct part parts[MAX_THREADS];
    const size_t num_parts = num_threads < seq_len ? num_threads : seq_len;

    for (size_t p = 0; p < num_parts; p++)
        parts[p] = (struct part){
            .begin = seq_len * p / num_parts, .end = seq_len * (p + 1) / num_parts, .x = x, .c = c, .y = y};

    run_on_all(parts, num_parts, local);
    for (size_t p = 1; p < num_parts; p++)
        parts[p].carry = p == 1 ? parts[0].last : parts[p - 1].carry * parts[p - 1].product + parts[p - 1].last;
    run_on_all(parts, num_parts, loop);
}
