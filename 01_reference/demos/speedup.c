/* SPDX-License-Identifier: MIT */
/* speedup.c - one long sequence on 1, 2, ... all cores: what do threads gain over the loop? */
#include "../recurrence.h"
#include "demo.h"

#include <math.h>

enum { L = 1 << 22, RUNS = 9 };
static const char default_path[] = "results/01_speedup.csv";

/* Numbers in [0, 1), the same in every run. */
static float number(void)
{
    static uint32_t state = 3;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 16777216.0f;
}

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

/* The median of several runs; one more before them is not counted. Negative if a launch failed. */
static double median_ms(linrec_launcher *launcher, const struct linrec_args *args)
{
    float times[RUNS];

    for (int run = -1; run < RUNS; run++) {
        const double begin = now_ms();
        if (launcher(args, 0) != cudaSuccess)
            return -1;
        if (run >= 0)
            times[run] = (float)(now_ms() - begin);
    }
    return timing_of(times, RUNS).median_ms;
}

static float *array(void)
{
    float *data = aligned_alloc(64, L * sizeof(float));
    if (data == NULL) {
        fprintf(stderr, "not enough memory for four arrays of %zu MB\n", L * sizeof(float) >> 20);
        exit(2);
    }
    return data;
}

/* Largest distance from the loop, NaN if there is one. */
static double difference(const float *a, const float *b)
{
    double worst = 0;
    for (int l = 0; l < L; l++)
        worst = demo_worse(worst, fabs((double)a[l] - b[l]));
    return worst;
}

/* 1, 2, 4, 8, ..., and all cores to end with. */
static size_t next_count(size_t threads, size_t cores)
{
    return threads < cores && 2 * threads > cores ? cores : 2 * threads;
}

int main(int argc, char **argv)
{
    const char *path = demo_path(argc, argv, "[FILE.csv]", default_path);
    const size_t cores = cpu_threads_count();
    float *inputs = array(), *coeffs = array(), *expected = array(), *outputs = array();
    double workspace[3 * CPU_MAX_THREADS]; /* more than enough for one sequence */

    for (int l = 0; l < L; l++) {
        inputs[l] = number() - 0.5f;
        coeffs[l] = number();
    }
    struct linrec_args args = {
        .num_seqs = 1,
        .seq_len = L,
        .inputs = inputs,
        .coeffs = coeffs,
        .outputs = expected,
        .workspace = workspace,
        .workspace_size = sizeof workspace,
    };
    const double loop_ms = median_ms(cpu_loop_forward, &args);
    args.outputs = outputs;

    struct output output;
    if (demo_open(&output, path, argv[0], "threads,median_ms,speedup,predicted") != 0)
        return 2;
    /* two passes instead of one, each T times faster: predict T / 2 */
    printf("one sequence of %d elements, up to %zu threads, median of %d runs\n", L, cores, RUNS);
    printf("  threads      ms   speed-up   predicted\n");
    printf("  loop    %7.2f       1.00        1.00\n", loop_ms);
    for (size_t threads = 1; threads <= cores; threads = next_count(threads, cores)) {
        const double predicted = threads == 1 ? 1 : threads / 2.0;
        cpu_threads_set(threads);
        memset(outputs, 0xff, L * sizeof(float)); /* NaN: what is not written shows up */
        const double ms = median_ms(cpu_threads_forward, &args);
        const double error = difference(outputs, expected);

        if (!(ms >= 0) || !(error <= 1e-5)) {
            printf("with %zu threads %s\n", threads,
                   ms < 0 ? "the launch fails" : "the result differs from the loop's");
            output_discard(&output);
            return 1;
        }
        printf("  %4zu    %7.2f    %7.2f     %7.2f\n", threads, ms, loop_ms / ms, predicted);
        fprintf(output.file, "%zu,%.4f,%.3f,%.3f\n", threads, ms, loop_ms / ms, predicted);
    }
    const int status = demo_close(&output, path);

    free(inputs);
    free(coeffs);
    free(expected);
    free(outputs);
    return status;
}
