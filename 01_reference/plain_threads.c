/* SPDX-License-Identifier: MIT */
/* plain_threads.c - one sequence on T threads, forward only. This is the plain version; threads.c has all directions.

   A sequence is cut into T parts, a thread for each. Three phases:

       local      y from nothing:  |y y y y|  |y y y y|  |y y y y|  |y y y y|     all parts at once;
                                       C, Y       C, Y       C, Y       C, Y      each keeps two numbers
       carry                           Y --------> * ---------> * ----->          one thread, T steps:
                                                                                  carry = carry * C + Y
       combine    y += carry * (c ... c):     |y y y y|  |y y y y|  |y y y y|     all parts but the first, at once
*/
#include "recurrence.h"

#include <pthread.h>

struct part {
    pthread_t thread;
    size_t begin, end;            /* the elements begin ... end - 1; never none */
    const float *inputs, *coeffs; /* the arrays of the whole sequence */
    float *outputs;
    float product; /* C, of all coefficients of the part */
    float last;    /* Y, the part's last output, had nothing come before it */
    float carry;   /* the true output just before the part */
};

/* Phase 1: the recurrence over the part, as if nothing came before it. */
static void *local(void *pointer)
{
    struct part *part = pointer;
    const float *x = part->inputs, *c = part->coeffs;
    size_t l = part->begin;

    float product = l == 0 ? 1 : c[l]; /* the first coefficient of the sequence is never read */
    float y = x[l];
    part->outputs[l] = y;
    for (l++; l < part->end; l++) {
        product *= c[l];
        y = y * c[l] + x[l];
        part->outputs[l] = y;
    }
    part->product = product;
    part->last = y;
    return NULL;
}

/* Phase 3: what the carry adds. Nothing came before the first part, so its outputs are right already. */
static void *combine(void *pointer)
{
    struct part *part = pointer;
    float product = 1;

    if (part->begin == 0)
        return NULL;
    for (size_t l = part->begin; l < part->end; l++) {
        product *= part->coeffs[l];
        part->outputs[l] += part->carry * product;
    }
    return NULL;
}

/* Runs a phase on all parts at once and waits for the last one. Returns false if a thread could not be started. */
static bool on_all_parts(struct part *parts, size_t num_parts, void *(*phase)(void *))
{
    size_t started = 0;
    while (started < num_parts && pthread_create(&parts[started].thread, NULL, phase, &parts[started]) == 0)
        started++;
    for (size_t p = 0; p < started; p++)
        pthread_join(parts[p].thread, NULL);
    return started == num_parts;
}

static bool seq_on_threads(size_t seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    struct part parts[CPU_MAX_THREADS];
    const size_t num_threads = cpu_threads_count(), num_parts = num_threads < seq_len ? num_threads : seq_len;

    for (size_t p = 0; p < num_parts; p++)
        parts[p] = (struct part){.begin = seq_len * p / num_parts,
                                 .end = seq_len * (p + 1) / num_parts,
                                 .inputs = inputs,
                                 .coeffs = coeffs,
                                 .outputs = outputs};

    if (!on_all_parts(parts, num_parts, local))
        return false;
    float carry = parts[0].last; /* phase 2, on this thread alone */
    for (size_t p = 1; p < num_parts; p++) {
        parts[p].carry = carry;
        carry = carry * parts[p].product + parts[p].last;
    }
    return on_all_parts(parts, num_parts, combine);
}

cudaError_t cpu_plain_threads_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    (void)stream;
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->reverse)
        return cudaErrorInvalidValue;

    for (size_t s = 0; s < args->num_seqs; s++) {
        const size_t row = s * args->seq_len;
        if (!seq_on_threads(args->seq_len, args->inputs + row, args->coeffs + row, args->outputs + row))
            return cudaErrorLaunchOutOfResources;
    }
    return cudaSuccess;
}
