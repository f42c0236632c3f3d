/* SPDX-License-Identifier: MIT */
/* threads.c - the recurrence on T threads, in all four directions. Read plain_threads.c first.

   What is new against plain_threads.c:

   - A direction. Steps are counted along the walk: step n is at element n, or going left at element seq_len - 1 - n.
     Parts are counted along the walk, too, so nothing ever comes before part 0.

         step +1    |part 0|part 1|part 2|            step -1    |part 2|part 1|part 0|

   - The gradients: the same recurrence over d_outputs, against the direction of the outputs and with the coefficients
     shifted by one; then one multiplication for each element.
   - A thread has its part of every sequence. So threads are started twice in all, and not twice for each sequence.
     What the parts hand to each other lies in the workspace. */
#include "recurrence.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct summary {
    float product; /* C, of all coefficients of the part; of part 0: 1 */
    float last;    /* Y, the part's last output, had nothing come before it */
    float carry;   /* the true output just before the part; of part 0: not set */
};

/* What all threads share: out[l] = out[l - step] * coeffs[l - shift] + in[l] for every sequence. */
struct scan {
    size_t num_seqs, seq_len;
    size_t num_parts; /* T, but never more than seq_len: no part is empty */
    ptrdiff_t step;   /* +1 or -1 */
    ptrdiff_t shift;  /* 0; for gradients: step */

    const float *in, *coeffs; /* (num_seqs, seq_len), as the other arrays of float */
    float *out;

    const float *outputs; /* for gradients: what the forward pass wrote; else NULL */
    float *d_coeffs;      /* for gradients; else NULL */

    struct summary *summaries; /* (num_seqs, num_parts) */
};

/* Part p has the steps part_begin(p) ... part_begin(p + 1) - 1. */
static size_t part_begin(size_t seq_len, size_t num_parts, size_t part)
{
    return seq_len * part / num_parts;
}

/* The element, of all sequences together, where step n of sequence s is. */
static ptrdiff_t element(const struct scan *scan, size_t s, size_t n)
{
    return (ptrdiff_t)(s * scan->seq_len + (scan->step > 0 ? n : scan->seq_len - 1 - n));
}

/* Phase 1. */
static void local(const struct scan *scan, size_t s, size_t part, size_t begin, size_t end)
{
    const float *x = scan->in, *c = scan->coeffs;
    ptrdiff_t l = element(scan, s, begin);

    float product = part == 0 ? 1 : c[l - scan->shift]; /* nothing before part 0: its first coefficient is not read */
    float y = x[l];
    scan->out[l] = y;
    for (size_t n = begin + 1; n < end; n++) {
        l += scan->step;
        product *= c[l - scan->shift];
        y = y * c[l - scan->shift] + x[l];
        scan->out[l] = y;
    }
    struct summary *summary = &scan->summaries[s * scan->num_parts + part];
    summary->product = product;
    summary->last = y;
}

/* Phase 2, on one thread. */
static void carry(const struct scan *scan)
{
    for (size_t s = 0; s < scan->num_seqs; s++) {
        struct summary *summaries = scan->summaries + s * scan->num_parts;
        float y = summaries[0].last;
        for (size_t p = 1; p < scan->num_parts; p++) {
            summaries[p].carry = y;
            y = y * summaries[p].product + summaries[p].last;
        }
    }
}

/* Phase 3; and the gradients of the coefficients, d_coeffs[l] = y * d_inputs[l] with y the output that c[l] multiplied:
   one step further along the walk, so the walk's last element has none. */
static void combine(const struct scan *scan, size_t s, size_t part, size_t begin, size_t end)
{
    const float *c = scan->coeffs;
    ptrdiff_t l = element(scan, s, begin);

    if (part > 0) {
        const float carried = scan->summaries[s * scan->num_parts + part].carry;
        float product = 1;
        for (size_t n = begin; n < end; n++, l += scan->step) {
            product *= c[l - scan->shift];
            scan->out[l] += carried * product;
        }
    }
    if (scan->d_coeffs != NULL) {
        l = element(scan, s, begin);
        for (size_t n = begin; n < end; n++, l += scan->step)
            scan->d_coeffs[l] = n == scan->seq_len - 1 ? 0 : scan->outputs[l + scan->step] * scan->out[l];
    }
}

/* -- threads ------------------------------------------------------------------------------------------------------ */

typedef void phase_function(const struct scan *scan, size_t s, size_t part, size_t begin, size_t end);

struct worker {
    pthread_t id;
    const struct scan *scan;
    size_t part;
    phase_function *phase;
};

static void *run_worker(void *pointer)
{
    const struct worker *worker = pointer;
    const struct scan *scan = worker->scan;
    const size_t begin = part_begin(scan->seq_len, scan->num_parts, worker->part);
    const size_t end = part_begin(scan->seq_len, scan->num_parts, worker->part + 1);

    for (size_t s = 0; s < scan->num_seqs; s++)
        worker->phase(scan, s, worker->part, begin, end);
    return NULL;
}

/* Runs a phase on all parts at once and waits for the last one. Returns false if a thread could not be started. */
static bool on_all_parts(const struct scan *scan, phase_function *phase)
{
    struct worker workers[CPU_MAX_THREADS];
    size_t started = 0;

    for (; started < scan->num_parts; started++) {
        struct worker *worker = &workers[started];
        *worker = (struct worker){.scan = scan, .part = started, .phase = phase};
        if (pthread_create(&worker->id, NULL, run_worker, worker) != 0)
            break;
    }
    for (size_t p = 0; p < started; p++)
        pthread_join(workers[p].id, NULL);
    return started == scan->num_parts;
}

static size_t threads_wanted; /* 0: as many as there are cores */

void cpu_threads_set(size_t count)
{
    threads_wanted = count;
}

size_t cpu_threads_count(void)
{
    size_t count = threads_wanted;

    if (count == 0) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        count = cores > 2 ? (size_t)cores : 2;
    }
    return count < CPU_MAX_THREADS ? count : CPU_MAX_THREADS;
}

/* -- launchers ---------------------------------------------------------------------------------------------------- */

static size_t parts_for(const struct linrec_args *args)
{
    const size_t threads = cpu_threads_count();
    return threads < args->seq_len ? threads : args->seq_len;
}

size_t cpu_threads_workspace(const struct linrec_args *args)
{
    return args->num_seqs * parts_for(args) * sizeof(struct summary);
}

static cudaError_t run(const struct linrec_args *args, bool backward)
{
    const cudaError_t error = linrec_check_args(args, backward);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->workspace == NULL || args->workspace_size < cpu_threads_workspace(args))
        return cudaErrorInvalidValue;

    const ptrdiff_t step = args->reverse != backward ? -1 : 1; /* gradients go against the outputs */
    const struct scan scan = {
        .num_seqs = args->num_seqs,
        .seq_len = args->seq_len,
        .num_parts = parts_for(args),
        .step = step,
        .shift = backward ? step : 0,
        .in = backward ? args->d_outputs : args->inputs,
        .coeffs = args->coeffs,
        .out = backward ? args->d_inputs : args->outputs,
        .outputs = backward ? args->outputs : NULL,
        .d_coeffs = backward ? args->d_coeffs : NULL,
        .summaries = args->workspace,
    };
    if (!on_all_parts(&scan, local))
        return cudaErrorLaunchOutOfResources;
    carry(&scan);
    return on_all_parts(&scan, combine) ? cudaSuccess : cudaErrorLaunchOutOfResources;
}

cudaError_t cpu_threads_forward(const struct linrec_args *args, cudaStream_t stream)
{
    (void)stream;
    return run(args, false);
}

cudaError_t cpu_threads_backward(const struct linrec_args *args, cudaStream_t stream)
{
    (void)stream;
    return run(args, true);
}

/* A backward pass is known by its arrays: only it has d_inputs. */
void cpu_threads_owner(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size)
{
    const bool backward = args->d_inputs != NULL;
    const size_t n = args->reverse != backward ? args->seq_len - 1 - pos : pos, num_parts = parts_for(args);
    size_t part = 0;

    (void)seq;
    while (part + 1 < num_parts && part_begin(args->seq_len, num_parts, part + 1) <= n)
        part++;
    snprintf(text, size, "thread %zu of %zu", part, num_parts);
}
