/* threads.c - the recurrence by divide and conquer, on T threads of the CPU.

   Every sequence is cut into T parts, and thread p has part p of every sequence. Three phases:

       local     all threads: the recurrence over the own part, as if nothing came before it.
                 Kept for later: the product C of the part's coefficients and its last output Y.
       carry     one thread: walk over the T pairs (C, Y), a recurrence in small: carry = carry * C + Y.
                 This takes T steps. A tree would take log T; chapter 04 builds it.
       combine   all threads but the first: y += carry * (product of the part's coefficients up to here).

   All four directions run through this code. A direction is a step (+1 or -1), as in the loop, and for the backward
   pass the coefficient is taken from one element earlier in the walk. */
#include "recurrence.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* What a part says of itself after the first phase, and what it is told before the last. */
struct summary {
    float product; /* C: takes a value before the part to its share in the part's last output */
    float last;    /* Y: the part's last output, had nothing come before it */
    float carry;   /* the true output just before the part; not set for the first part of the walk */
};

/* The work that all threads share: outputs[l] = outputs[l - step] * coeffs[l - shift] + inputs[l] for every sequence.
 */
struct scan {
    size_t num_seqs, seq_len;
    size_t parts;    /* T, but never more than seq_len: no part is empty */
    ptrdiff_t step;  /* +1 or -1, in memory and from part to part */
    ptrdiff_t shift; /* 0, or backward: step */

    const float *inputs; /* (num_seqs, seq_len), as the other arrays of float */
    const float *coeffs;
    float *outputs;

    const float *forward_outputs; /* backward only, else NULL */
    float *d_coeffs;              /* backward only, else NULL */

    struct summary *summaries; /* (num_seqs, parts) */
};

typedef void phase_function(const struct scan *scan, size_t part);

struct worker {
    pthread_t id;
    const struct scan *scan;
    size_t part;
    phase_function *phase;
};

/* -- which elements a part has ------------------------------------------------------------------------------------ */

/* Parts lie in memory order and differ in length by one element at most. Part p is [begin(p), begin(p + 1)). */
static size_t part_begin(size_t seq_len, size_t parts, size_t part)
{
    const size_t longer = seq_len % parts; /* this many parts have one element more */
    return part * (seq_len / parts) + (part < longer ? part : longer);
}

static size_t part_len(const struct scan *scan, size_t part)
{
    return part_begin(scan->seq_len, scan->parts, part + 1) - part_begin(scan->seq_len, scan->parts, part);
}

/* Where the walk enters the part: at its left end, or going left at its right end. */
static ptrdiff_t part_entry(const struct scan *scan, size_t part)
{
    if (scan->step > 0)
        return (ptrdiff_t)part_begin(scan->seq_len, scan->parts, part);
    return (ptrdiff_t)part_begin(scan->seq_len, scan->parts, part + 1) - 1;
}

/* The part that the walk meets first. */
static size_t first_part(const struct scan *scan)
{
    return scan->step > 0 ? 0 : scan->parts - 1;
}

/* -- the three phases --------------------------------------------------------------------------------------------- */

/* Phase 1. The first part has no value before it: the coefficient of its first element is not even read. */
static void local(const struct scan *scan, size_t part)
{
    const size_t len = part_len(scan, part);

    for (size_t s = 0; s < scan->num_seqs; s++) {
        const float *x = scan->inputs + s * scan->seq_len;
        const float *c = scan->coeffs + s * scan->seq_len;
        float *out = scan->outputs + s * scan->seq_len;
        struct summary *summary = &scan->summaries[s * scan->parts + part];
        ptrdiff_t l = part_entry(scan, part);

        float product = part == first_part(scan) ? 1 : c[l - scan->shift];
        float y = x[l];
        out[l] = y;
        for (size_t n = 1; n < len; n++) {
            l += scan->step;
            y = y * c[l - scan->shift] + x[l];
            product *= c[l - scan->shift];
            out[l] = y;
        }
        summary->product = product; /* of the first part: never used */
        summary->last = y;
    }
}

/* Phase 2, on one thread. */
static void carry(const struct scan *scan)
{
    for (size_t s = 0; s < scan->num_seqs; s++) {
        struct summary *summaries = scan->summaries + s * scan->parts;
        ptrdiff_t p = (ptrdiff_t)first_part(scan);

        float y = summaries[p].last;
        for (size_t n = 1; n < scan->parts; n++) {
            p += scan->step;
            summaries[p].carry = y;
            y = y * summaries[p].product + summaries[p].last;
        }
    }
}

/* Phase 3, first half. The product of the coefficients is computed a second time: keeping all of them from phase 1
   would take one more array. */
static void add_carry(const struct scan *scan, size_t part)
{
    const size_t len = part_len(scan, part);

    if (part == first_part(scan))
        return;
    for (size_t s = 0; s < scan->num_seqs; s++) {
        const float *c = scan->coeffs + s * scan->seq_len;
        float *out = scan->outputs + s * scan->seq_len;
        const float carried = scan->summaries[s * scan->parts + part].carry;
        ptrdiff_t l = part_entry(scan, part);

        float product = c[l - scan->shift];
        out[l] += carried * product;
        for (size_t n = 1; n < len; n++) {
            l += scan->step;
            product *= c[l - scan->shift];
            out[l] += carried * product;
        }
    }
}

/* Phase 3, second half, backward only: d_coeffs[l] = y * d_inputs[l], with y the forward output that c[l] multiplied.
   It lies one step further on the walk, so the walk's last element has none. */
static void coeff_gradients(const struct scan *scan, size_t part)
{
    const ptrdiff_t begin = (ptrdiff_t)part_begin(scan->seq_len, scan->parts, part);
    const ptrdiff_t end = begin + (ptrdiff_t)part_len(scan, part);
    const ptrdiff_t unused = scan->step > 0 ? (ptrdiff_t)scan->seq_len - 1 : 0;

    for (size_t s = 0; s < scan->num_seqs; s++) {
        const float *y = scan->forward_outputs + s * scan->seq_len;
        const float *d_x = scan->outputs + s * scan->seq_len;
        float *d_c = scan->d_coeffs + s * scan->seq_len;

        for (ptrdiff_t l = begin; l < end; l++)
            d_c[l] = l == unused ? 0 : y[l + scan->step] * d_x[l];
    }
}

static void combine(const struct scan *scan, size_t part)
{
    add_carry(scan, part);
    if (scan->d_coeffs)
        coeff_gradients(scan, part);
}

/* -- threads ------------------------------------------------------------------------------------------------------ */

static void *run_worker(void *pointer)
{
    const struct worker *worker = pointer;
    worker->phase(worker->scan, worker->part);
    return NULL;
}

/* Runs one phase on every part, one thread each (the caller takes part 0), and waits for all of them. */
static cudaError_t on_all_parts(const struct scan *scan, phase_function *phase)
{
    struct worker workers[CPU_MAX_THREADS];
    size_t started = 1;

    while (started < scan->parts) {
        struct worker *worker = &workers[started];
        *worker = (struct worker){.scan = scan, .part = started, .phase = phase};
        if (pthread_create(&worker->id, NULL, run_worker, worker) != 0)
            break;
        started++;
    }
    if (started == scan->parts)
        phase(scan, 0);
    for (size_t part = 1; part < started; part++)
        pthread_join(workers[part].id, NULL);
    return started == scan->parts ? cudaSuccess : cudaErrorLaunchOutOfResources;
}

static cudaError_t run(const struct scan *scan)
{
    cudaError_t error = on_all_parts(scan, local);
    if (error != cudaSuccess)
        return error;
    carry(scan);
    return on_all_parts(scan, combine);
}

/* -- launchers ---------------------------------------------------------------------------------------------------- */

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

static size_t parts_for(const struct linrec_args *args, size_t threads)
{
    return threads < args->seq_len ? threads : args->seq_len;
}

static size_t workspace_for(const struct linrec_args *args, size_t threads)
{
    return args->num_seqs * parts_for(args, threads) * sizeof(struct summary);
}

static cudaError_t forward(const struct linrec_args *args, size_t threads)
{
    const cudaError_t error = linrec_check_args(args, false);

    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->workspace == NULL || args->workspace_size < workspace_for(args, threads))
        return cudaErrorInvalidValue;

    const struct scan scan = {
        .num_seqs = args->num_seqs,
        .seq_len = args->seq_len,
        .parts = parts_for(args, threads),
        .step = args->reverse ? -1 : 1,
        .shift = 0,
        .inputs = args->inputs,
        .coeffs = args->coeffs,
        .outputs = args->outputs,
        .summaries = args->workspace,
    };
    return run(&scan);
}

/* The same recurrence the other way round, over d_outputs and with shifted coefficients. */
static cudaError_t backward(const struct linrec_args *args, size_t threads)
{
    const cudaError_t error = linrec_check_args(args, true);

    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->workspace == NULL || args->workspace_size < workspace_for(args, threads))
        return cudaErrorInvalidValue;

    const struct scan scan = {
        .num_seqs = args->num_seqs,
        .seq_len = args->seq_len,
        .parts = parts_for(args, threads),
        .step = args->reverse ? 1 : -1,
        .shift = args->reverse ? 1 : -1,
        .inputs = args->d_outputs,
        .coeffs = args->coeffs,
        .outputs = args->d_inputs,
        .forward_outputs = args->outputs,
        .d_coeffs = args->d_coeffs,
        .summaries = args->workspace,
    };
    return run(&scan);
}

cudaError_t cpu_two_threads_forward(const struct linrec_args *args, cudaStream_t stream)
{
    (void)stream;
    return forward(args, 2);
}

cudaError_t cpu_two_threads_backward(const struct linrec_args *args, cudaStream_t stream)
{
    (void)stream;
    return backward(args, 2);
}

cudaError_t cpu_threads_forward(const struct linrec_args *args, cudaStream_t stream)
{
    (void)stream;
    return forward(args, cpu_threads_count());
}

cudaError_t cpu_threads_backward(const struct linrec_args *args, cudaStream_t stream)
{
    (void)stream;
    return backward(args, cpu_threads_count());
}

size_t cpu_two_threads_workspace(const struct linrec_args *args)
{
    return workspace_for(args, 2);
}

size_t cpu_threads_workspace(const struct linrec_args *args)
{
    return workspace_for(args, cpu_threads_count());
}

static void owner(const struct linrec_args *args, size_t threads, size_t pos, char *text, size_t size)
{
    const size_t parts = parts_for(args, threads);
    size_t part = 0;

    while (part + 1 < parts && part_begin(args->seq_len, parts, part + 1) <= pos)
        part++;
    snprintf(text, size, "thread %zu of %zu", part, parts);
}

void cpu_two_threads_owner(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size)
{
    (void)seq;
    owner(args, 2, pos, text, size);
}

void cpu_threads_owner(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size)
{
    (void)seq;
    owner(args, cpu_threads_count(), pos, text, size);
}
