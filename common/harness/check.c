/* SPDX-License-Identifier: MIT */
/* check.c - see check.h */
#include "check.h"

#include <stdio.h>
#include <string.h>

/* What is compared on the host even if the device has compared it: arrays of up to HOST_COUNT elements whole, and of
   larger ones a few parts, if a part has up to HOST_PART elements. */
#define HOST_COUNT ((size_t)1 << 20)
#define HOST_PART ((size_t)1 << 20)

/* Elements of the largest array that belong to one value of the first size. */
static size_t part_count(const struct problem *problem)
{
    struct problem part = *problem;
    part.sizes[0] = 1;
    return problem_count(&part);
}

/* A place in a copy of the parts from `first` on, as a place in the whole. */
static unsigned long long place_in_whole(const struct problem *problem, unsigned long long place, size_t first)
{
    const struct array *array = &problem->operation->arrays[finding_array(place)];
    if (!array_is_independent(array) || problem->sizes[0] == 0)
        return place;
    return place + first * (array_count(array, problem->sizes) / problem->sizes[0]);
}

/* Compares `count` parts from `first` on with the oracle on the host, adding to *finding. */
static bool check_parts(const struct problem *problem, const struct data *data, int levels, size_t first, size_t count,
                        struct finding *finding)
{
    struct problem host;
    struct finding found = FINDING_NOTHING;
    const bool copied = host_copy(&host, problem, first, count);
    if (copied)
        problem->operation->check(&host, data, levels, &found);
    host_free(&host);
    finding->max_error = fmax(finding->max_error, found.max_error);
    finding->num_bad += found.num_bad;
    if (found.num_bad == 0)
        return copied;
    const unsigned long long place = place_in_whole(problem, found.first_bad, first);
    if (place < finding->first_bad) {
        finding->first_bad = place;
        finding->expected = found.expected;
        finding->bound = found.bound;
        finding->got = found.got;
    }
    return copied;
}

/* Finds out whether the launch has changed what it should only read. Returns false if there is no memory for that. */
static bool find_changes(const struct problem *problem, const struct data *data, bool *changed)
{
    struct problem is, was;
    const struct operation *operation = problem->operation;
    const bool created = host_create(&was, problem), copied = host_copy(&is, problem, 0, problem->sizes[0]);
    *changed = false;
    if (created && copied)
        operation->fill(&was, data);
    for (int a = 0; a < operation->num_arrays && created && copied; a++)
        if (array_is_read(&was, a))
            *changed = *changed || memcmp(is.arrays[a], was.arrays[a],
                                          array_count(&operation->arrays[a], problem->sizes) *
                                              array_element_bytes(&operation->arrays[a], problem->dtype)) != 0;
    host_free(&is);
    host_free(&was);
    return created && copied;
}

void check_position(const struct problem *problem, unsigned long long place, size_t position[MAX_DIMS])
{
    const struct array *array = &problem->operation->arrays[finding_array(place)];
    size_t index = finding_index(place);
    for (int d = array->num_dims - 1; d >= 0; d--) {
        position[d] = index % problem->sizes[array->dims[d]];
        index /= problem->sizes[array->dims[d]];
    }
}

/* The first bad element's values, where the finding comes from the device, which does not say them: the host compares
   that part again. Returns false if it cannot, because the part is too large or there is none. */
static bool find_values(const struct problem *problem, const struct data *data, int levels, struct finding *finding)
{
    size_t position[MAX_DIMS];
    struct finding part = FINDING_NOTHING;
    if (!array_is_independent(&problem->operation->arrays[finding_array(finding->first_bad)]) ||
        part_count(problem) > HOST_PART)
        return false;
    check_position(problem, finding->first_bad, position);
    if (!check_parts(problem, data, levels, position[0], 1, &part) || part.first_bad != finding->first_bad)
        return false;
    finding->expected = part.expected;
    finding->bound = part.bound;
    finding->got = part.got;
    return true;
}

/* A NaN's sign says nothing. */
static double unsigned_nan(double value)
{
    return isnan(value) ? (double)NAN : value;
}

/* One line about the first bad element: where, whose it is, and if that is known expected and got. */
static void describe_bad(const struct problem *problem, const struct kernel *kernel, const struct finding *finding,
                         bool values_known, char *text, size_t size)
{
    const struct operation *operation = problem->operation;
    const int number = finding_array(finding->first_bad);
    const struct array *array = &operation->arrays[number];
    size_t position[MAX_DIMS] = {0}, total = 0;
    char owner[128] = "", where[128] = "";
    int used = 0;

    for (int a = 0; a < operation->num_arrays; a++)
        if (problem->arrays[a] != NULL && array_role(&operation->arrays[a], problem->direction) == WRITTEN)
            total += array_count(&operation->arrays[a], problem->sizes);
    check_position(problem, finding->first_bad, position);
    for (int d = 0; d < array->num_dims; d++)
        used += snprintf(where + used, sizeof where - (size_t)used, "%s%zu", d == 0 ? "" : ", ", position[d]);
    if (operation->owner != NULL)
        operation->owner(kernel->info, problem, number, position, owner, sizeof owner);
    used = snprintf(text, size, "%llu of %zu elements are wrong, the first is %s[%s]%s%s", finding->num_bad, total,
                    array->name, where, *owner != '\0' ? " of " : "", owner);
    if (!values_known)
        return;
    used += snprintf(text + used, size - (size_t)used, ": expected %.9g", unsigned_nan(finding->expected));
    if (isfinite(finding->expected))
        used += snprintf(text + used, size - (size_t)used, " (+- %.2g)", finding->bound);
    if (is_poison((float)finding->got))
        snprintf(text + used, size - (size_t)used,
                 ", got what was there before: it is not written, or computed from that");
    else
        snprintf(text + used, size - (size_t)used, ", got %.9g", unsigned_nan(finding->got));
}

/* Compares on the host: the whole result, or the first part of it and one in the middle. Returns false if there is no
   memory. */
static bool check_on_host(const struct problem *problem, const struct data *data, int levels, bool whole,
                          struct finding *finding)
{
    const size_t parts = problem->sizes[0];
    bool checked = true;
    if (whole)
        return check_parts(problem, data, levels, 0, parts, finding);
    for (size_t part = 0; part < parts && part_count(problem) <= HOST_PART; part += (parts + 1) / 2)
        checked = checked && check_parts(problem, data, levels, part, 1, finding);
    return checked;
}

/* Compares the whole result on the device. Returns false if a call fails. */
static bool check_on_device(const struct arrays *arrays, const struct data *data, int levels, struct finding *finding)
{
    const struct finding nothing = FINDING_NOTHING;
    const struct problem *problem = &arrays->problem;
    return cudaMemcpy(arrays->finding, &nothing, sizeof nothing, cudaMemcpyHostToDevice) == cudaSuccess &&
           problem->operation->device_check(problem, data, levels, arrays->finding) == cudaSuccess &&
           cudaMemcpy(finding, arrays->finding, sizeof *finding, cudaMemcpyDeviceToHost) == cudaSuccess;
}

/* Whether the two checks contradict each other. A few parts have no more errors than the whole. */
static bool disagree(const struct finding *device, const struct finding *host, bool whole)
{
    const double beyond = host->max_error - device->max_error;
    return whole ? device->num_bad != host->num_bad || fabs(beyond) > 1e-6
                 : device->num_bad < host->num_bad || beyond > 1e-6;
}

void check_launch(struct arrays *arrays, const struct kernel *kernel, const struct data *data, struct check *check)
{
    const struct problem *problem = &arrays->problem;
    const struct operation *operation = problem->operation;
    const int levels = operation->levels != NULL ? operation->levels(kernel->info, problem) : 1;
    const bool on_device = arrays->backend == ON_CUDA && operation->device_check != NULL;
    struct finding finding, host = FINDING_NOTHING;
    bool inputs_differ = false;
    memset(check, 0, sizeof *check);

    check->max_error = INFINITY; /* until it is known */
    cudaError_t error = arrays_launch(arrays, kernel);
    if (error != cudaSuccess) {
        snprintf(check->text, sizeof check->text, "the launch failed: %s", cudaGetErrorString(error));
        return;
    }
    const size_t changed = arrays_changed_guards(arrays);
    if (changed != 0) {
        snprintf(check->text, sizeof check->text, "%zu bytes before or past an output array were written", changed);
        return;
    }
    if (problem_count(problem) == 0) {
        check->max_error = 0.0;
        return;
    }

    const bool whole = !on_device || problem_count(problem) <= HOST_COUNT;
    const bool alone = on_device && operation->device_samples; /* the host has nothing to add */
    bool checked = alone || check_on_host(problem, data, levels, whole, &host);
    finding = host;
    if (on_device && checked) {
        checked = check_on_device(arrays, data, levels, &finding);
        if (checked && !alone && disagree(&finding, &host, whole)) {
            snprintf(check->text, sizeof check->text,
                     "the check on the device (error %g) and on the host (%g) disagree", finding.max_error,
                     host.max_error);
            return;
        }
    }
    if (checked && whole && data->kind == operation->timed_kind)
        checked = find_changes(problem, data, &inputs_differ);
    if (!checked) {
        snprintf(check->text, sizeof check->text, "the result could not be copied back and checked");
        return;
    }
    if (inputs_differ) {
        snprintf(check->text, sizeof check->text, "the launch changed an array that it should only read");
        return;
    }
    check->max_error = finding.max_error;
    if (finding.num_bad != 0) {
        const bool values_known = !on_device || alone || find_values(problem, data, levels, &finding);
        describe_bad(problem, kernel, &finding, values_known, check->text, sizeof check->text);
    }
}
