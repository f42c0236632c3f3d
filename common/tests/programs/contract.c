/* contract.c - what the launchers of all chapters promise. cudaErrorInvalidValue for: a null pointer or one that
   is not aligned to 16 bytes, whichever it is of those that the pass needs; sizes whose bytes overflow; a direction, a
   length or a number of sequences that its table does not offer, rows, threads or stages that are not among those of
   its knobs. Success for zero sizes, whatever the pointers. Prints TAP. */
#include <stdio.h>
#include <string.h>

#include "../../linrec.h"

/* TABLES is X(chapter02_kernels) X(chapter03_kernels) ...: the makefile looks which chapters there are. */
#define X(table) extern const struct linrec_kernel table[];
TABLES
#undef X

static int number;

static void check(const struct linrec_kernel *kernel, bool backward, const char *what, const struct linrec_args *args,
                  cudaError_t must_be)
{
    const cudaError_t is = (backward ? kernel->backward : kernel->forward)(args, NULL);
    printf("%sok %d - %s %s: %s\n", is == must_be ? "" : "not ", ++number, kernel->name,
           backward ? "backward" : "forward", what);
}

/* Pointer number i of a pass, to change it. */
static void shift_pointer(struct linrec_args *args, bool backward, int i, bool to_null)
{
    const float **read[2][3] = {{&args->inputs, &args->coeffs, NULL}, {&args->d_outputs, &args->coeffs, NULL}};
    float **written[2][3] = {{&args->outputs, NULL, NULL}, {&args->outputs, &args->d_inputs, &args->d_coeffs}};
    if (i < 2)
        *read[backward][i] = to_null ? NULL : *read[backward][i] + 1;
    else
        *written[backward][i - 2] = to_null ? NULL : *written[backward][i - 2] + 1;
}

static bool takes_rows(const struct linrec_knobs *knobs, int rows)
{
    for (int i = 0; i < 4 && knobs->rows[i] != 0; i++)
        if (knobs->rows[i] == rows)
            return true;
    return false;
}

/* A shape that differs in one number from one that the kernel takes. */
static void check_config(const struct linrec_kernel *kernel, bool backward, const struct linrec_args *good)
{
    const struct linrec_knobs *const knobs = &kernel->knobs;
    struct linrec_args args = *good;
    char what[64];

    for (int rows = -1; rows <= 8 && knobs->rows[0] != 0; rows++)
        if (rows != 0 && !takes_rows(knobs, rows)) {
            args = *good, args.config.rows = rows;
            snprintf(what, sizeof what, "%d rows", rows);
            check(kernel, backward, what, &args, cudaErrorInvalidValue);
        }
    const int threads[] = {-32, 16, 33, 100, knobs->max_threads + 32};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0] && knobs->max_threads != 0; i++) {
        args = *good, args.config.threads = threads[i];
        snprintf(what, sizeof what, "%d threads", threads[i]);
        check(kernel, backward, what, &args, cudaErrorInvalidValue);
    }
    const int stages[] = {-1, knobs->max_stages + 1};
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && knobs->max_stages != 0; i++) {
        args = *good, args.config.stages = stages[i];
        snprintf(what, sizeof what, "%d stages", stages[i]);
        check(kernel, backward, what, &args, cudaErrorInvalidValue);
    }
}

static void check_launcher(const struct linrec_kernel *kernel, bool backward, float *memory)
{
    const struct linrec_args good = {.num_seqs = 1,
                                     .seq_len = 4,
                                     .inputs = memory,
                                     .coeffs = memory + 4,
                                     .outputs = memory + 8,
                                     .d_outputs = memory + 12,
                                     .d_inputs = memory + 16,
                                     .d_coeffs = memory + 20};
    struct linrec_args args;
    char what[64];

    for (int i = 0; i < (backward ? 5 : 3); i++) {
        args = good;
        shift_pointer(&args, backward, i, true);
        snprintf(what, sizeof what, "pointer %d null", i);
        check(kernel, backward, what, &args, cudaErrorInvalidValue);
        args = good;
        shift_pointer(&args, backward, i, false);
        snprintf(what, sizeof what, "pointer %d not aligned", i);
        check(kernel, backward, what, &args, cudaErrorInvalidValue);
    }
    args = good, args.num_seqs = SIZE_MAX / 2, args.seq_len = 3;
    check(kernel, backward, "bytes that overflow", &args, cudaErrorInvalidValue);
    if (!kernel->reverse) {
        args = good, args.reverse = true;
        check(kernel, backward, "reversed, which it does not run", &args, cudaErrorInvalidValue);
    }
    if (kernel->max_seq_len != 0) {
        args = good, args.seq_len = kernel->max_seq_len + 1;
        check(kernel, backward, "too long", &args, cudaErrorInvalidValue);
    }
    if (kernel->max_num_seqs != 0) {
        args = good, args.num_seqs = kernel->max_num_seqs + 1;
        check(kernel, backward, "too many sequences", &args, cudaErrorInvalidValue);
    }
    check_config(kernel, backward, &good);
    memset(&args, 0, sizeof args);
    args.seq_len = 3;
    check(kernel, backward, "zero sequences", &args, cudaSuccess);
    args.num_seqs = 3, args.seq_len = 0;
    check(kernel, backward, "zero length", &args, cudaSuccess);
}

int main(void)
{
#define X(table) table,
    const struct linrec_kernel *const tables[] = {TABLES};
#undef X
    float *memory;
    if (cudaMalloc((void **)&memory, 24 * sizeof *memory) != cudaSuccess) {
        printf("Bail out! no device memory\n");
        return 1;
    }
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct linrec_kernel *kernel = tables[t]; kernel->name != NULL; kernel++) {
            if (kernel->moves_nothing) /* its arguments mean nothing to it */
                continue;
            if (kernel->forward != NULL)
                check_launcher(kernel, false, memory);
            if (kernel->backward != NULL)
                check_launcher(kernel, true, memory);
        }
    printf("1..%d\n", number);
    cudaFree(memory);
    return 0;
}
