/* SPDX-License-Identifier: MIT */
/* device.c - what the harness asks for on a GPU alone: the data that are written there, and the check of a product
   there, which must find one wrong element and say what it should be. And what a launcher does not take. Prints a line
   for each mistake; the exit status is 1 if there is one. */
#include <stdio.h>
#include <stdlib.h>

#include "../../kernels/product_kernels.h"
#include "../../operation/product_data.h"

enum { M = 33, N = 37, K = 41 };

static int failed;

static void need(cudaError_t error)
{
    if (error != cudaSuccess) {
        printf("a call failed: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static void expect(bool is_so, const char *what, const char *where)
{
    if (!is_so)
        printf("%s: %s\n", where, what);
    failed += !is_so;
}

static void *create(size_t bytes)
{
    void *array;
    need(cudaMalloc(&array, bytes));
    return array;
}

/* What the check on the device finds. */
static struct finding check(const struct product_args *args, const struct product_spec *spec)
{
    const struct finding nothing = FINDING_NOTHING;
    struct finding found, *const on_device = create(sizeof nothing);
    need(cudaMemcpy(on_device, &nothing, sizeof nothing, cudaMemcpyHostToDevice));
    need(product_device_check(args, spec, on_device));
    need(cudaMemcpy(&found, on_device, sizeof found, cudaMemcpyDeviceToHost));
    need(cudaFree(on_device));
    return found;
}

static void try_kind(enum dtype dtype, int kind)
{
    const struct product_spec spec = {7, kind, N, K};
    const size_t counts[] = {M * K, K * N, M * N}, bytes = dtype_bytes(dtype), spoilt = 17 * N + 5;
    struct product_args args = {.m = M, .n = N, .k = K, .dtype = dtype};
    void *arrays[3], *host[3];
    for (int a = 0; a < 3; a++) {
        arrays[a] = create(counts[a] * bytes);
        host[a] = malloc(counts[a] * bytes);
    }
    for (int a = P_A; a <= P_B; a++) {
        bool same = true;
        need(product_fill_array(&spec, a, dtype, arrays[a], counts[a]));
        need(cudaMemcpy(host[a], arrays[a], counts[a] * bytes, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < counts[a]; i++) {
            float rounded;
            dtype_set(dtype, &rounded, 0, product_value(&spec, a, i));
            same = same && memcmp(&rounded, (const char *)host[a] + i * bytes, bytes) == 0;
        }
        expect(same, "the data on the device are not those of the host", dtype_name(dtype));
    }
    args.a = arrays[P_A], args.b = arrays[P_B], args.c = arrays[P_C];
    need(product_registers(&args, NULL));
    struct finding found = check(&args, &spec);
    expect(found.num_bad == 0 && found.max_error <= 1.0, "a right result is taken for wrong", dtype_name(dtype));

    need(cudaMemcpy(host[P_C], arrays[P_C], counts[P_C] * bytes, cudaMemcpyDeviceToHost));
    const float was = dtype_get(dtype, host[P_C], spoilt);
    dtype_set(dtype, host[P_C], spoilt, was + 16.0f);
    const float is = dtype_get(dtype, host[P_C], spoilt);
    need(cudaMemcpy(arrays[P_C], host[P_C], counts[P_C] * bytes, cudaMemcpyHostToDevice));
    found = check(&args, &spec);
    expect(found.num_bad == 1 && found.first_bad == finding_place(P_C, spoilt), "the wrong element is not found",
           dtype_name(dtype));
    expect(fabs(found.expected - was) <= 0.125 && found.got == is, "what it should be is not said", dtype_name(dtype));
    for (int a = 0; a < 3; a++) {
        need(cudaFree(arrays[a]));
        free(host[a]);
    }
}

/* Samples are one from each stretch, and not all at the same place of it. */
static void try_samples(void)
{
    const struct product_args small = {.m = 1024, .n = 1024, .k = 4096}, large = {.m = 4096, .n = 4096, .k = 4096};
    const struct product_spec spec = {7, PRODUCT_NORMAL, 4096, 4096};
    const size_t stretch = product_stretch(&large);
    bool inside = true, differ = false;
    for (size_t number = 0; number < 1000; number++) {
        const size_t at = product_sample(&spec, stretch, number);
        inside = inside && at / stretch == number;
        differ = differ || at % stretch != product_sample(&spec, stretch, 0);
    }
    expect(product_stretch(&small) == 1 && stretch == 64, "stretches have another length", "samples");
    expect(inside && differ, "they are not one from each stretch", "samples");
}

/* What no launcher takes, and an empty C, of which nothing may be read. */
static void try_arguments(const char *name, product_launcher *launcher)
{
    float *const array = create(64 * sizeof *array);
    const struct product_args good = {.m = 4, .n = 4, .k = 4, .a = array, .b = array + 16, .c = array + 32};
    struct product_args args = good;
    expect(launcher(NULL, NULL) == cudaErrorInvalidValue, "takes no arguments at all", name);
    args.a = array + 1;
    expect(launcher(&args, NULL) == cudaErrorInvalidValue, "takes an A that is not aligned", name);
    args = good, args.c = array + 33;
    expect(launcher(&args, NULL) == cudaErrorInvalidValue, "takes a C that is not aligned", name);
    args = good, args.b = NULL;
    expect(launcher(&args, NULL) == cudaErrorInvalidValue, "takes no B", name);
    args = good, args.dtype = NUM_DTYPES;
    expect(launcher(&args, NULL) == cudaErrorInvalidValue, "takes a type that there is not", name);
    args = good, args.m = args.k = (size_t)1 << 32;
    expect(launcher(&args, NULL) == cudaErrorInvalidValue, "takes an A past all memory", name);
    args = (struct product_args){.m = 0, .n = 3, .k = 5};
    expect(launcher(&args, NULL) == cudaSuccess, "does not take an empty C", name);
    args = (struct product_args){.m = 4, .n = 4, .k = 0, .c = array};
    expect(launcher(&args, NULL) == cudaSuccess, "does not take a k of 0", name);
    expect(cudaDeviceSynchronize() == cudaSuccess, "has launched something that failed", name);
    need(cudaFree(array));
}

int main(void)
{
    for (enum dtype dtype = FLOAT32; dtype < NUM_DTYPES; dtype++)
        for (int kind = PRODUCT_NORMAL; kind <= PRODUCT_WHOLE; kind++)
            try_kind(dtype, kind);
    try_samples();
    for (const struct product_kernel *row = chapter14_product_kernels; row->info.name != NULL; row++)
        try_arguments(row->info.name, row->forward);
    return failed != 0;
}
