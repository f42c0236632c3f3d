/* SPDX-License-Identifier: MIT */
/* product_operation.c - the product of matrices as an operation of the harness (common/harness/operation.h). */
#include <stdio.h>

#include "../../common/harness/machine.h"
#include "../../common/harness/operation.h"
#include "../kernels/product_kernels.h"
#include "product_data.h"

static const char *kind_name(int kind)
{
    static const char *const names[PRODUCT_NUM_KINDS] = {"normal", "positive", "whole", "nonfinite"};
    return names[kind];
}

static bool kind_fits(const struct problem *problem, int kind)
{
    return kind != PRODUCT_WHOLE || problem->sizes[P_K] <= PRODUCT_WHOLE_K;
}

static struct product_spec spec_of(const struct problem *problem, const struct data *data)
{
    return (struct product_spec){data->seed, data->kind, problem->sizes[P_N], problem->sizes[P_K]};
}

static void fill(const struct problem *problem, const struct data *data)
{
    const struct product_spec spec = spec_of(problem, data);
    for (int a = P_A; a <= P_B; a++) {
        const size_t count = array_count(&problem->operation->arrays[a], problem->sizes);
        for (size_t i = 0; i < count; i++)
            array_set(problem, a, i, product_value(&spec, a, i));
    }
}

static cudaError_t device_fill(const struct problem *problem, const struct data *data)
{
    const struct product_spec spec = spec_of(problem, data);
    cudaError_t error = cudaSuccess;
    for (int a = P_A; a <= P_B && error == cudaSuccess; a++)
        error = product_fill_array(&spec, a, problem->dtype, problem->arrays[a],
                                   array_count(&problem->operation->arrays[a], problem->sizes));
    return error;
}

/* ---- the way to the kernels ---- */

static struct product_args args_of(const struct problem *problem)
{
    return (struct product_args){.m = problem->sizes[P_M],
                                 .n = problem->sizes[P_N],
                                 .k = problem->sizes[P_K],
                                 .dtype = problem->dtype,
                                 .config = problem->config,
                                 .a = problem->arrays[P_A],
                                 .b = problem->arrays[P_B],
                                 .c = problem->arrays[P_C]};
}

static void describe(const void *which, struct kernel *kernel)
{
    const struct product_kernel *row = which;
    kernel->runs[FORWARD] = true;
    if (row->k_of != 0 && row->n_of != 0)
        snprintf(kernel->limits, sizeof kernel->limits, "k in multiples of %u, n of %u", (unsigned)row->k_of,
                 (unsigned)row->n_of);
    else if (row->k_of != 0 || row->n_of != 0)
        snprintf(kernel->limits, sizeof kernel->limits, "%c in multiples of %u", row->k_of != 0 ? 'k' : 'n',
                 (unsigned)(row->k_of + row->n_of));
}

static bool refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    const struct product_kernel *row = which;
    const bool of_k = row->k_of != 0 && sizes[P_K] % row->k_of != 0;
    if (!of_k && (row->n_of == 0 || sizes[P_N] % row->n_of == 0))
        return false;
    snprintf(why, size, "takes %c in multiples of %zu, not %zu", of_k ? 'k' : 'n', of_k ? row->k_of : row->n_of,
             of_k ? sizes[P_K] : sizes[P_N]);
    return true;
}

static cudaError_t launch(const void *which, const struct problem *problem, cudaStream_t stream)
{
    const struct product_args args = args_of(problem);
    return ((const struct product_kernel *)which)->forward(&args, stream);
}

/* A multiplication and an addition for each element of C and each of k. */
static double operations(const struct problem *problem)
{
    const size_t *sizes = problem->sizes;
    return 2.0 * (double)sizes[P_M] * (double)sizes[P_N] * (double)sizes[P_K];
}

/* ---- what is right ---- */

static void check(const struct problem *problem, const struct data *data, int levels, struct finding *finding)
{
    const struct product_args args = args_of(problem);
    (void)levels;
    for (size_t at = 0; at < args.m * args.n; at++)
        product_check_element(&args, data->kind, at, finding);
}

static cudaError_t device_check(const struct problem *problem, const struct data *data, int levels,
                                struct finding *finding)
{
    const struct product_args args = args_of(problem);
    const struct product_spec spec = spec_of(problem, data);
    (void)levels;
    return product_device_check(&args, &spec, finding);
}

/* ---- shapes ---- */

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[][MAX_SIZES] = {
        {4096, 4096, 4096}, {8192, 8192, 4096}, {1024, 1024, 1024}, {4093, 4099, 4091}};
    static const size_t on_sim[][MAX_SIZES] = {{5, 3, 7}, {33, 65, 17}, {130, 132, 20}, {130, 264, 72}};
    for (int i = 0; i < 4; i++)
        shapes_add(shapes, machine->backend == ON_CUDA ? on_gpu[i] : on_sim[i]);
}

#define MATRIX .stored = true, .num_dims = 2

const struct operation product_operation = {
    .name = "the product of two matrices",
    .asked_by = "operation",
    .asked_value = "product",
    .pass = "product",
    .num_sizes = 3,
    .sizes = {{"m", "number of rows", "rows of A and C", .is_list = false},
              {"n", "number of columns", "columns of B and C", .is_list = false},
              {"k", "number of products", "columns of A, rows of B: products that an element adds up",
               .is_list = true}},
    .num_arrays = NUM_PRODUCT_ARRAYS,
    .arrays = {[P_A] = {"a", "A", READ, UNTOUCHED, MATRIX, .dims = {P_M, P_K}},
               [P_B] = {"b", "B", READ, UNTOUCHED, MATRIX, .dims = {P_K, P_N}},
               [P_C] = {"c", "C", WRITTEN, UNTOUCHED, MATRIX, .dims = {P_M, P_N}}},
    .default_shapes = default_shapes,
    .filled = "matrices",
    .num_kinds = PRODUCT_NUM_KINDS,
    .timed_kind = PRODUCT_NORMAL,
    .hardest_kind = PRODUCT_WHOLE,
    .kind_name = kind_name,
    .kind_fits = kind_fits,
    .fill = fill,
    .device_fill = device_fill,
    .check = check,
    .device_check = device_check,
    .device_samples = true,
    .operations = operations,
    .row_bytes = sizeof(struct product_kernel),
    .describe = describe,
    .launch = launch,
    .refuses = refuses,
};
