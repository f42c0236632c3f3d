/* SPDX-License-Identifier: MIT */
/* layer.c - what the layer's program does not show: the check as it goes on a GPU, here also where the device is the
   simulator, says what the host's says, of right results and of wrong ones; and launchers refuse what they cannot
   take, before they touch anything. Prints TAP. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../../common/harness/check.h"
#include "../../kernels/layer_kernels.h"
#include "../../operation/layer_oracle.h"

static int number;

static void tell(bool good, const char *what, const char *more)
{
    printf("%sok %d - %s%s\n", good ? "" : "not ", ++number, what, more);
}

/* ---- the check on the device ---- */

enum { SEED = 3 };

/* What the device finds, and what the host finds in all rows or in these alone. */
static bool device_finds(const struct problem *problem, const struct data *data, struct finding *device_finding,
                         struct finding *found)
{
    const struct finding nothing = FINDING_NOTHING;
    return cudaMemcpy(device_finding, &nothing, sizeof nothing, cudaMemcpyHostToDevice) == cudaSuccess &&
           layer_operation.device_check(problem, data, 1, device_finding) == cudaSuccess &&
           cudaMemcpy(found, device_finding, sizeof *found, cudaMemcpyDeviceToHost) == cudaSuccess;
}

static bool host_finds(const struct problem *problem, const struct data *data, struct finding *found)
{
    const struct finding nothing = FINDING_NOTHING;
    struct problem host;
    *found = nothing;
    const bool copied = host_copy(&host, problem, 0, problem->sizes[0]);
    if (copied)
        layer_operation.check(&host, data, 1, found);
    host_free(&host);
    return copied;
}

static bool agree(const struct finding *a, const struct finding *b)
{
    return a->num_bad == b->num_bad && a->first_bad == b->first_bad && a->got == b->got && a->bound > 0.0 &&
           fabs(a->expected - b->expected) <= 1e-9 * fabs(b->expected) &&
           fabs(a->bound - b->bound) <= 1e-9 * b->bound && fabs(a->max_error - b->max_error) <= 1e-6 * b->max_error;
}

static void set(const struct problem *problem, int array, size_t index, float value)
{
    char element[4];
    const enum dtype dtype = array_dtype(&layer_operation.arrays[array], problem->dtype);
    dtype_set(dtype, element, 0, value);
    cudaMemcpy((char *)problem->arrays[array] + index * dtype_bytes(dtype), element, dtype_bytes(dtype),
               cudaMemcpyHostToDevice);
}

/* All rows are looked at. A wrong element of an array: what both say of it. */
static void check_whole(enum dtype dtype)
{
    const size_t sizes[MAX_SIZES] = {2, 7, 4, 37, 5, 2};
    const size_t spoilt[][2] = {
        {LAYER_OUT, 0}, {LAYER_OUT, 2 * 7 * 4 * 5 - 1}, {LAYER_FINAL_STATE, 2 * 4 * 5 * 37 - 3}};
    const struct kernel kernel = {.info = &chapter14_layer_kernels[0].info};
    struct arrays arrays;
    struct finding on_device, on_host;
    if (arrays_create(&arrays, &layer_operation, sizes, FORWARD, dtype, ON_CUDA) != cudaSuccess) {
        tell(false, "memory", "");
        return;
    }
    arrays_choose(&arrays, choice_all(&layer_operation, FORWARD));
    for (int kind = 0; kind < NUM_LAYER_KINDS; kind++) {
        const struct data data = {SEED, kind};
        bool right = arrays_fill(&arrays, &data) == cudaSuccess && arrays_launch(&arrays, &kernel) == cudaSuccess;
        right = right && device_finds(&arrays.problem, &data, arrays.finding, &on_device) && on_device.num_bad == 0;
        right = right && host_finds(&arrays.problem, &data, &on_host) && on_host.num_bad == 0 &&
                fabs(on_device.max_error - on_host.max_error) <= 1e-6;
        tell(right, "device and host find nothing wrong, ", layer_operation.kind_name(kind));
        for (int i = 0; i < 3; i++) {
            right = arrays_launch(&arrays, &kernel) == cudaSuccess;
            set(&arrays.problem, (int)spoilt[i][0], spoilt[i][1], 1e4f);
            right = right && device_finds(&arrays.problem, &data, arrays.finding, &on_device) &&
                    host_finds(&arrays.problem, &data, &on_host) && on_device.num_bad == 1 &&
                    on_device.first_bad == finding_place((int)spoilt[i][0], spoilt[i][1]) &&
                    agree(&on_device, &on_host);
            tell(right, "and both the same that is wrong, ", layer_operation.kind_name(kind));
        }
    }
    arrays_free(&arrays);
}

/* The same of gradients, of which the device's check takes whole arrays to the host, or samples: what is wrong there
   must be seen. */
static void check_gradients(const size_t sizes[MAX_SIZES], bool samples)
{
    const struct data data = {SEED, LAYER_STRONG};
    const struct kernel kernel = {.info = &chapter14_layer_kernels[0].info};
    struct arrays arrays;
    struct finding found;
    if (arrays_create(&arrays, &layer_operation, sizes, BACKWARD, FLOAT32, ON_CUDA) != cudaSuccess) {
        tell(false, "memory", "");
        return;
    }
    arrays_choose(&arrays, choice_all(&layer_operation, BACKWARD));
    bool right = arrays_fill(&arrays, &data) == cudaSuccess && arrays_take_workspace(&arrays, &kernel) == cudaSuccess;
    right = right && arrays_launch(&arrays, &kernel) == cudaSuccess &&
            device_finds(&arrays.problem, &data, arrays.finding, &found) && found.num_bad == 0;
    tell(right, samples ? "samples of right gradients" : "right gradients", "");
    for (int array = LAYER_D_X; array < NUM_LAYER_ARRAYS; array++) {
        const bool of_columns =
            array == LAYER_D_B || array == LAYER_D_C; /* the first is a sample; so is the last head */
        const size_t at = of_columns ? 0 : array_count(&layer_operation.arrays[array], sizes) - 1;
        const float *const element = (const float *)arrays.problem.arrays[array] + at;
        float was;
        right = cudaMemcpy(&was, element, sizeof was, cudaMemcpyDeviceToHost) == cudaSuccess;
        set(&arrays.problem, array, at, 1e4f);
        right = right && device_finds(&arrays.problem, &data, arrays.finding, &found) && found.num_bad >= 1 &&
                found.num_bad <= (samples ? 2 : 1) && found.first_bad == finding_place(array, at);
        set(&arrays.problem, array, at, was);
        tell(right, samples ? "samples find a wrong gradient in " : "a wrong gradient is found in ",
             layer_operation.arrays[array].name);
    }
    arrays_drop_workspace(&arrays);
    arrays_free(&arrays);
}

/* More rows than are looked at: the first and the last one are among these. */
static void check_samples(void)
{
    const size_t sizes[MAX_SIZES] = {2, 3, 3, 4, 1000, 1};
    const struct data data = {SEED, LAYER_ORDINARY};
    const struct kernel kernel = {.info = &chapter14_layer_kernels[0].info};
    const size_t places[] = {0, 2 * 3 * 3 * 1000 - 1};
    struct arrays arrays;
    struct finding found;
    if (arrays_create(&arrays, &layer_operation, sizes, FORWARD, BF16, ON_CUDA) != cudaSuccess) {
        tell(false, "memory", "");
        return;
    }
    arrays_choose(&arrays, choice_all(&layer_operation, FORWARD));
    bool right = arrays_fill(&arrays, &data) == cudaSuccess && arrays_launch(&arrays, &kernel) == cudaSuccess;
    right = right && device_finds(&arrays.problem, &data, arrays.finding, &found) && found.num_bad == 0;
    tell(right, "samples of a right result", "");
    for (int i = 0; i < 2; i++) {
        right = arrays_launch(&arrays, &kernel) == cudaSuccess;
        set(&arrays.problem, LAYER_OUT, places[i], 1e4f);
        right = right && device_finds(&arrays.problem, &data, arrays.finding, &found) && found.num_bad >= 1 &&
                found.first_bad == finding_place(LAYER_OUT, places[i]);
        tell(right, "samples find what is wrong in the ", i == 0 ? "first row" : "last row");
    }
    arrays_free(&arrays);
}

/* ---- what launchers refuse ---- */

static struct layer_args good; /* its pointers are never followed */

static void expect(const char *what, struct layer_args args, cudaError_t expected)
{
    for (const struct layer_kernel *row = chapter14_layer_kernels; row->info.name != NULL; row++) {
        char more[64];
        snprintf(more, sizeof more, ", %s", row->info.name);
        tell(row->forward(&args, 0) == expected, what, more);
    }
}

#define EXPECT_INVALID(what, ...)                                                                                      \
    do {                                                                                                               \
        struct layer_args args = good;                                                                                 \
        __VA_ARGS__;                                                                                                   \
        expect(what, args, cudaErrorInvalidValue);                                                                     \
    } while (0)

static void check_refusals(void)
{
    static _Alignas(16) float somewhere[16];
    void *const there = somewhere, *const askew = (char *)somewhere + 8;
    good = (struct layer_args){.batch = 1,
                               .seq_len = 2,
                               .heads = 2,
                               .dk = 64,
                               .dv = 64,
                               .groups = 1,
                               .dtype = BF16,
                               .x = there,
                               .dt = there,
                               .B = there,
                               .C = there,
                               .A = there,
                               .out = there,
                               .workspace = there,
                               .workspace_size = SIZE_MAX};
    EXPECT_INVALID("no x", args.x = NULL);
    EXPECT_INVALID("no dt", args.dt = NULL);
    EXPECT_INVALID("no A", args.A = NULL);
    EXPECT_INVALID("no B", args.B = NULL);
    EXPECT_INVALID("no C", args.C = NULL);
    EXPECT_INVALID("no out", args.out = NULL);
    EXPECT_INVALID("x is not aligned", args.x = askew);
    EXPECT_INVALID("z is not aligned", args.z = askew);
    EXPECT_INVALID("final_state is not aligned", args.final_state = askew);
    EXPECT_INVALID("no type", args.dtype = NUM_DTYPES);
    EXPECT_INVALID("no number in a row of the state", args.dk = 0);
    EXPECT_INVALID("too many of them", args.dk = LAYER_MAX_DK + 1);
    EXPECT_INVALID("no group", args.groups = 0);
    EXPECT_INVALID("groups that do not divide the heads", args.heads = 3, args.groups = 2);
    EXPECT_INVALID("more bytes than can be counted", args.dk = 1, args.seq_len = (size_t)1 << 53);
    EXPECT_INVALID("packed sequences that are not of one batch", args.starts = there, args.num_seqs = 2,
                   args.batch = 2);
    EXPECT_INVALID("starts are not aligned", args.starts = (int *)((char *)there + 2), args.num_seqs = 2);
    EXPECT_INVALID("more of their steps than an int counts", args.starts = there, args.num_seqs = 2,
                   args.heads = args.dk = args.dv = 8, args.seq_len = (size_t)1 << 31);
    struct layer_args little = good;
    little.seq_len = 1000;
    little.workspace_size = layer_cut_workspace(&little) - 1;
    tell(layer_stretches(&little, 0) == cudaErrorInvalidValue, "a workspace that is too small", ", stretches");
    tell(layer_wgmma(&little, 0) == cudaErrorInvalidValue, "a workspace that is too small", ", wgmma");
    struct layer_args nothing = good;
    nothing.batch = 0, nothing.x = NULL;
    expect("no batch is nothing to do", nothing, cudaSuccess);
    nothing.batch = 1, nothing.starts = there;
    expect("nor is no sequence", nothing, cudaSuccess);
}

/* `good` is filled by then. */
static void check_backward_refusals(void)
{
    static const char *const what[] = {"no d_out",
                                       "no d_x",
                                       "a z without d_z",
                                       "d_D without a D",
                                       "d_B is not aligned",
                                       "no workspace",
                                       "a workspace that is too small"};
    void *const there = (void *)good.x, *const askew = (char *)there + 8;
    struct layer_backward_args right = {
        .layer = good, .d_out = there, .d_x = there, .d_dt = there, .d_B = there, .d_C = there, .d_A = there};
    right.layer.workspace = there, right.layer.workspace_size = SIZE_MAX;
    for (const struct layer_kernel *row = chapter14_layer_kernels; row->info.name != NULL; row++)
        for (int i = 0; i < 8 && row->backward != NULL; i++) {
            struct layer_backward_args args = right;
            args.d_out = i == 0 ? NULL : there;
            args.d_x = i == 1 ? NULL : there;
            args.layer.z = i == 2 ? there : NULL;
            args.d_D = i == 3 ? there : NULL;
            args.d_B = i == 4 ? askew : there;
            args.layer.workspace = i == 5 ? NULL : there;
            args.layer.workspace_size = i == 6 ? 64 : SIZE_MAX;
            args.layer.batch = i == 7 ? 0 : 1; /* then only sums over nothing are left, and NULL wants none */
            if (i == 7)
                args.d_B = args.d_C = args.d_A = NULL;
            char more[64];
            snprintf(more, sizeof more, ", %s backward", row->info.name);
            tell(row->backward(&args, 0) == (i == 7 ? cudaSuccess : cudaErrorInvalidValue),
                 i == 7 ? "no batch is nothing to do" : what[i], more);
        }
}

int main(void)
{
    for (enum dtype dtype = FLOAT32; dtype < NUM_DTYPES; dtype++)
        check_whole(dtype);
    check_gradients((const size_t[MAX_SIZES]){2, 5, 4, 9, 3, 2}, false);
    check_gradients((const size_t[MAX_SIZES]){2, 2, 2, 256, 66, 1}, true);
    check_samples();
    check_refusals();
    check_backward_refusals();
    printf("1..%d\n", number);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
