/* SPDX-License-Identifier: MIT */
/* arrays.c - see arrays.h */
#include "arrays.h"

#include <stdlib.h>
#include <string.h>

#ifdef CUSIM
#include "../../cusim/counts.h"
#endif

/* The simulator's messages name the arrays, and a kernel must not even touch their guards. */
static void name_array(const void *start, size_t bytes, const char *name)
{
#ifdef CUSIM
    sim_name_array(start, bytes, name);
#else
    (void)start, (void)bytes, (void)name;
#endif
}

static enum role role_of(const struct arrays *arrays, int a)
{
    return array_role(&arrays->problem.operation->arrays[a], arrays->problem.direction);
}

static size_t bytes_of(const struct problem *problem, int a)
{
    const struct array *array = &problem->operation->arrays[a];
    return array_count(array, problem->sizes) * array_element_bytes(array, problem->dtype);
}

/* Where an array begins in its block. */
static char *start_of(const struct arrays *arrays, int a)
{
    return (char *)arrays->blocks[a] + (role_of(arrays, a) == WRITTEN ? GUARD_BYTES : 0);
}

size_t arrays_bytes(const struct operation *operation, const size_t sizes[MAX_SIZES], enum direction direction,
                    enum dtype dtype)
{
    size_t bytes = 0;
    for (int a = 0; a < operation->num_arrays; a++) {
        const struct array *array = &operation->arrays[a];
        const enum role role = array_role(array, direction);
        const size_t count = array_count(array, sizes);
        if (role == UNTOUCHED)
            continue;
        if (count >= (PTRDIFF_MAX - bytes - 2 * GUARD_BYTES) / array_element_bytes(array, dtype))
            return SIZE_MAX;
        bytes += count * array_element_bytes(array, dtype) + (role == WRITTEN ? 2 * GUARD_BYTES : 0);
    }
    return bytes;
}

/* An array of the operation: by name and shape. */
static void name_operand(const struct arrays *arrays, int a)
{
    const struct problem *problem = &arrays->problem;
    const struct array *array = &problem->operation->arrays[a];
    name_array(start_of(arrays, a), bytes_of(problem, a), array->name);
#ifdef CUSIM
    size_t dims[MAX_DIMS] = {1};
    for (int d = 0; d < array->num_dims; d++)
        dims[d] = array_length(array, d, problem->sizes);
    sim_shape_array(start_of(arrays, a), array_element_bytes(array, problem->dtype),
                    array->num_dims > 0 ? (unsigned)array->num_dims : 1, dims);
#endif
}

cudaError_t arrays_create(struct arrays *arrays, const struct operation *operation, const size_t sizes[MAX_SIZES],
                          enum direction direction, enum dtype dtype, enum backend backend)
{
    struct problem *problem = &arrays->problem;
    memset(arrays, 0, sizeof *arrays);
    problem->operation = operation;
    memcpy(problem->sizes, sizes, sizeof problem->sizes);
    problem->direction = direction;
    problem->dtype = dtype;
    arrays->backend = backend;

    cudaError_t error = cudaMalloc((void **)&arrays->finding, sizeof *arrays->finding);
    for (int a = 0; a < operation->num_arrays && error == cudaSuccess; a++) {
        if (role_of(arrays, a) == UNTOUCHED)
            continue;
        const size_t bytes = bytes_of(problem, a) + (role_of(arrays, a) == WRITTEN ? 2 * GUARD_BYTES : 0);
        error = cudaMalloc(&arrays->blocks[a], bytes != 0 ? bytes : 1);
    }
    if (error != cudaSuccess) {
        cudaGetLastError();
        arrays_free(arrays);
        return error;
    }
    for (int a = 0; a < operation->num_arrays; a++)
        if (arrays->blocks[a] != NULL)
            name_operand(arrays, a);
    arrays_choose(arrays, choice_timed(operation));
    return cudaSuccess;
}

void arrays_free(struct arrays *arrays)
{
    for (int a = 0; a < MAX_ARRAYS; a++)
        if (arrays->blocks[a] != NULL)
            cudaFree(arrays->blocks[a]);
    if (arrays->finding != NULL)
        cudaFree(arrays->finding);
    memset(arrays, 0, sizeof *arrays);
}

void arrays_choose(struct arrays *arrays, choice chosen)
{
    struct problem *problem = &arrays->problem;
    const struct operation *operation = problem->operation;
    arrays->chosen = chosen;
    for (int f = 0; f < operation->num_flags; f++)
        problem->flags[f] = (chosen & choice_of_flag(f)) != 0;
    for (int a = 0; a < operation->num_arrays; a++)
        problem->arrays[a] = arrays->blocks[a] != NULL && choice_has(operation, chosen, a) ? start_of(arrays, a) : NULL;
}

cudaError_t arrays_fill(struct arrays *arrays, const struct data *data)
{
    const struct problem *problem = &arrays->problem;
    const struct operation *operation = problem->operation;
    if (operation->device_fill != NULL && arrays->backend != ON_CPU)
        return operation->device_fill(problem, data);

    struct problem host;
    cudaError_t error = host_create(&host, problem) ? cudaSuccess : cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        operation->fill(&host, data);
    for (int a = 0; a < operation->num_arrays && error == cudaSuccess; a++)
        if (array_is_read(problem, a))
            error = cudaMemcpy(problem->arrays[a], host.arrays[a], bytes_of(problem, a), cudaMemcpyHostToDevice);
    host_free(&host);
    return error;
}

cudaError_t arrays_poison(struct arrays *arrays)
{
    cudaError_t error = cudaSuccess;
    for (int a = 0; a < arrays->problem.operation->num_arrays && error == cudaSuccess; a++)
        if (role_of(arrays, a) == WRITTEN)
            error = cudaMemset(arrays->blocks[a], 0xFF, bytes_of(&arrays->problem, a) + 2 * GUARD_BYTES);
    return error;
}

size_t arrays_changed_guards(const struct arrays *arrays)
{
    size_t changed = 0;
    for (int a = 0; a < arrays->problem.operation->num_arrays; a++)
        for (int side = 0; side < 2 && role_of(arrays, a) == WRITTEN; side++) {
            unsigned char guard[GUARD_BYTES] = {0}; /* a copy that fails leaves bytes that are not the poison's */
            const size_t at = side == 0 ? 0 : GUARD_BYTES + bytes_of(&arrays->problem, a);
            cudaMemcpy(guard, (const char *)arrays->blocks[a] + at, GUARD_BYTES, cudaMemcpyDeviceToHost);
            for (int i = 0; i < GUARD_BYTES; i++)
                changed += guard[i] != 0xFF;
        }
    return changed;
}

cudaError_t arrays_take_workspace(struct arrays *arrays, const struct kernel *kernel)
{
    struct problem *problem = &arrays->problem;
    const struct operation *operation = problem->operation;
    problem->workspace = NULL;
    problem->workspace_size = operation->workspace_size != NULL ? operation->workspace_size(kernel->info, problem) : 0;
    if (problem->workspace_size == 0)
        return cudaSuccess;
    cudaError_t error = cudaMalloc(&problem->workspace, problem->workspace_size);
    if (error == cudaSuccess)
        error = cudaMemset(problem->workspace, 0xFF, problem->workspace_size);
    if (error == cudaSuccess)
        name_array(problem->workspace, problem->workspace_size, "workspace");
    return error;
}

void arrays_drop_workspace(struct arrays *arrays)
{
    if (arrays->problem.workspace != NULL)
        cudaFree(arrays->problem.workspace);
    arrays->problem.workspace = NULL;
    arrays->problem.workspace_size = 0;
}

cudaError_t arrays_launch(struct arrays *arrays, const struct kernel *kernel)
{
    cudaError_t error = arrays_take_workspace(arrays, kernel);
    const int launches = arrays->problem.workspace_size != 0 ? 2 : 1; /* the second with what the first left there */
    for (int i = 0; i < launches && error == cudaSuccess; i++) {
        error = arrays_poison(arrays);
        if (error == cudaSuccess)
            error = arrays->problem.operation->launch(kernel->info, &arrays->problem, NULL);
    }
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    arrays_drop_workspace(arrays);
    return error;
}

/* ---- on the host ---- */

bool host_create(struct problem *host, const struct problem *problem)
{
    *host = *problem;
    memset(host->arrays, 0, sizeof host->arrays);
    for (int a = 0; a < problem->operation->num_arrays; a++)
        if (problem->arrays[a] != NULL && (host->arrays[a] = malloc(bytes_of(problem, a) + 1)) == NULL)
            return false;
    return true;
}

bool host_copy(struct problem *host, const struct problem *problem, size_t first, size_t count)
{
    *host = *problem;
    memset(host->arrays, 0, sizeof host->arrays);
    host->sizes[0] = count;
    for (int a = 0; a < problem->operation->num_arrays; a++) {
        const struct array *array = &problem->operation->arrays[a];
        const size_t bytes = bytes_of(host, a);
        const char *from = problem->arrays[a];
        if (from == NULL || (!array_is_independent(array) && array_role(array, problem->direction) == WRITTEN &&
                             count != problem->sizes[0]))
            continue;
        if (array_is_independent(array) && count != 0)
            from += first * (bytes / count);
        host->arrays[a] = malloc(bytes + 1);
        if (host->arrays[a] == NULL || cudaMemcpy(host->arrays[a], from, bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
            return false;
    }
    return true;
}

void host_free(struct problem *host)
{
    for (int a = 0; a < MAX_ARRAYS; a++)
        free(host->arrays[a]);
}

cudaError_t host_check(const struct problem *problem, const struct data *data, int levels, struct finding *finding)
{
    struct finding found = FINDING_NOTHING;
    struct problem host;
    const bool copied = host_copy(&host, problem, 0, problem->sizes[0]);
    if (copied)
        problem->operation->check(&host, data, levels, &found);
    host_free(&host);
    return copied ? cudaMemcpy(finding, &found, sizeof found, cudaMemcpyHostToDevice) : cudaErrorMemoryAllocation;
}
