/* SPDX-License-Identifier: MIT */
/* judge.c - runs the answer on all shapes and all kinds of data, and stops at the first wrong element.

       PROGRAM                     compares; prints what is wrong and ends with status 1, or "@bits HASH" of all outputs
       PROGRAM count A [B]         launches once, on sizes A and B, and prints what the simulator has counted
       PROGRAM time A [B]          on a GPU: prints how many times as long as adding as many bytes it takes

   Exercises.pm calls it, and says what its lines mean. They begin with @, as the answer may print, too. */
#include "data.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CUSIM
#include "../sim/sim.h"
#endif

/* ---- the answer's arrays ---- */

/* What the answer gets. */
struct arrays {
    float *device[JUDGE_MAX_ARRAYS];
};

static void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        printf("@error %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

/* What outputs hold before: NaN. In host memory a signalling one, which no arithmetic gives, not even with itself. */
static const uint32_t host_poison = 0xFFBFFFFFu, device_poison = 0xFFFFFFFFu;

static struct arrays put_arrays(const struct a_case *c)
{
    struct arrays arrays;

    for (int a = 0; a < num_arrays(); a++) {
        const size_t n = c->count[a], bytes = n * sizeof(float);
        float **device = &arrays.device[a];
        const bool is_output = judge.arrays[a].role == JUDGE_OUTPUTS;
        if (judge.on_cpu)
            *device = judge_allocate(bytes);
        else
            must(cudaMalloc((void **)device, bytes + (bytes == 0)), "cudaMalloc");
        if (is_output) {
            for (size_t i = 0; judge.on_cpu && i < n; i++)
                memcpy(&(*device)[i], &host_poison, sizeof host_poison);
        } else if (judge.on_cpu) {
            memcpy(*device, c->host[a], bytes);
        } else {
            must(cudaMemcpy(*device, c->host[a], bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        }
#ifdef CUSIM
        if (!judge.on_cpu && bytes > 0)
            sim_name_array(*device, bytes, judge.arrays[a].name);
#else /* the simulator does that, and knows what nobody has written */
        if (!judge.on_cpu && is_output)
            must(cudaMemset(*device, 0xFF, bytes), "cudaMemset");
#endif
    }
    return arrays;
}

static void free_arrays(struct arrays *arrays)
{
    for (int a = 0; a < num_arrays(); a++) {
        if (judge.on_cpu)
            free(arrays->device[a]);
        else
            must(cudaFree(arrays->device[a]), "cudaFree");
    }
}

static void launch(const struct a_case *c, const struct arrays *arrays)
{
    if (judge.on_cpu) {
        judge_threads_begin();
        for (int a = 0; a < num_arrays(); a++)
            judge_threads_watch(arrays->device[a], c->count[a] * sizeof(float));
    }
    must(judge.launch(c->size, arrays->device), "of the launch");
    if (!judge.on_cpu)
        must(cudaDeviceSynchronize(), "while the kernel ran");
}

/* ---- comparing ---- */

/* "num_seqs 3, seq_len 33" */
static void print_sizes(const size_t *size)
{
    for (int s = 0; judge.sizes[s] != NULL; s++)
        printf("%s%s %zu", s > 0 ? ", " : "", judge.sizes[s], size[s]);
}

/* "outputs[2][17]" */
static void print_element(const struct a_case *c, int a, size_t i)
{
    if (judge.sizes[1] == NULL || judge.arrays[a].count != NULL)
        printf("%s[%zu]", judge.arrays[a].name, i);
    else
        printf("%s[%zu][%zu]", judge.arrays[a].name, i / c->size[1], i % c->size[1]);
}

static bool is_poison(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == (judge.on_cpu ? host_poison : device_poison);
}

/* Whether the answer has written an output. The simulator knows; elsewhere the bits of before are gone. */
static bool was_written(const struct a_case *c, const struct arrays *arrays, int a, size_t i)
{
#ifdef CUSIM
    unsigned block, thread;
    if (is_poison(c->host[a][i]) && !judge.on_cpu)
        return sim_last_write(arrays->device[a] + i, &block, &thread, NULL, 0);
#else
    (void)arrays;
#endif
    return !is_poison(c->host[a][i]);
}

/* Who wrote it, where that is known. */
static void print_owner(const struct arrays *arrays, int a, size_t i)
{
#ifdef CUSIM
    unsigned block = 0, thread = 0;
    char place[512];

    if (!judge.on_cpu && sim_last_write(arrays->device[a] + i, &block, &thread, place, sizeof place))
        printf("Thread %u of block %u wrote it, at %s.", thread, block, place);
#else
    (void)arrays, (void)a, (void)i;
#endif
}

static bool is_right(const struct a_case *c, const struct arrays *arrays, int a, size_t i, size_t roundings)
{
    const float got = c->host[a][i];
    const double right = c->right[a][i];

    if (!was_written(c, arrays, a, i))
        return false;
    if (isnan(right))
        return isnan(got);
    if (isinf(right))
        return got == right;
    return fabs(got - right) <= 2.0 * 0x1p-24 * (double)roundings * c->largest[a][i] + FLT_MIN;
}

static bool on_absolute_values; /* what judge.reference is run on */

/* Runs a case; returns false, with the message printed, when it is wrong. Adds the outputs' bits to *bits. */
static bool run_case(const size_t *size, enum kind kind, uint64_t *bits)
{
    struct a_case c = make_case(size, kind);
    struct arrays arrays = put_arrays(&c);
    size_t num_all = 0, num_bad = 0, first = 0;
    int bad_array = 0;

    printf("@with ");
    print_sizes(size);
    printf("\n@data %s\n", kind_says(kind));
    judge.reference(size, c.right);
    on_absolute_values = true;
    judge.reference(size, c.largest);
    on_absolute_values = false;
    launch(&c, &arrays);
    for (int a = 0; a < num_arrays(); a++) {
        if (judge.arrays[a].role != JUDGE_OUTPUTS)
            continue;
        const size_t bytes = c.count[a] * sizeof(float);
        const size_t roundings = judge.roundings != NULL ? judge.roundings(size) : size[judge.sizes[1] != NULL] + 32;
        if (judge.on_cpu)
            memcpy(c.host[a], arrays.device[a], bytes);
        else
            must(cudaMemcpy(c.host[a], arrays.device[a], bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
        for (size_t i = 0; i < c.count[a]; i++) {
            uint32_t of_this;
            memcpy(&of_this, &c.host[a][i], sizeof of_this);
            *bits = judge_hash(*bits, of_this);
            num_all++;
            if (!is_right(&c, &arrays, a, i, roundings) && num_bad++ == 0)
                bad_array = a, first = i;
        }
    }
    if (num_bad > 0) {
        const float got = c.host[bad_array][first];
        const double right = c.right[bad_array][first];
        const int digits = fabs(got - right) < 1e-5 * fabs(right) ? 9 : 6; /* enough to see the difference */
        printf("@wrong ");
        print_element(&c, bad_array, first);
        if (!was_written(&c, &arrays, bad_array, first))
            printf(" has not been written, and should be %.6g\n", right);
        else
            printf(" is %.*g, and should be %.*g\n", digits, fabs(got) >= 0 ? (double)got : NAN, digits, right);
        printf("@owner %s", num_bad == 1 && num_all > 1 ? "All else is right. " : "");
        print_owner(&arrays, bad_array, first);
        printf("\n");
    }
    free_arrays(&arrays);
    free_case(&c);
    return num_bad == 0;
}

/* All shapes with plain data first, then the other kinds. */
static int compare(void)
{
    uint64_t bits = 0;

    for (int kind = PLAIN; kind < NUM_KINDS; kind++) {
        if (!kind_applies((enum kind)kind))
            continue;
        for (int s = 0; judge.shapes[s][0] != 0 || judge.shapes[s][1] != 0; s++)
            if (!run_case(judge.shapes[s], (enum kind)kind, &bits))
                return 1;
    }
    printf("@bits %016llx\n", (unsigned long long)bits);
    return 0;
}

double judge_minus(double a, double b)
{
    return on_absolute_values ? a + b : a - b;
}

void judge_recurrence(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[0] * size[1]; i++)
        array[2][i] = i % size[1] == 0 ? array[0][i] : array[2][i - 1] * array[1][i] + array[0][i];
}

bool judge_is_first(const size_t *size, size_t i)
{
    return i % size[1] == 0;
}

/* ---- counting and timing ---- */

void judge_count(const char *name, double value)
{
    printf("@count %s %.17g\n", name, value);
}

#ifdef CUSIM
static void print_counts(void)
{
    const struct sim_counts n = sim_get_counts();
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"launches", n.launches},
        {"blocks", n.blocks},
        {"threads", n.threads},
        {"barriers", n.barriers},
        {"warp_barriers", n.warp_barriers},
        {"shuffles", n.shuffles},
        {"votes", n.votes},
        {"atomics", n.atomics},
        {"orders", n.orders},
        {"strong_orders", n.strong_orders},
        {"async_copies", n.async_copies},
        {"bulk_copies", n.bulk_copies},
        {"load_requests", n.loads.requests},
        {"load_bytes", n.loads.bytes},
        {"load_sectors", n.loads.sectors},
        {"load_once", n.loads.once},
        {"store_requests", n.stores.requests},
        {"store_bytes", n.stores.bytes},
        {"store_sectors", n.stores.sectors},
        {"store_once", n.stores.once},
        {"shared_requests", n.shared_requests},
        {"conflicts", n.conflicts},
        {"chain", n.chain},
        {"idle_waits", n.idle_waits},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        judge_count(counts[i].name, (double)counts[i].value);
}
#endif

static int count(const size_t *size)
{
    struct a_case c = make_case(size, PLAIN);
    struct arrays arrays = put_arrays(&c);

    if (judge.before_count != NULL)
        judge.before_count(size, arrays.device);
    judge_count("elements", (double)size[0] * (double)(judge.sizes[1] == NULL ? 1 : size[1]));
#ifdef CUSIM
    sim_reset_counts();
    launch(&c, &arrays);
    if (judge.on_cpu)
        judge_threads_count();
    else
        print_counts();
#else
    launch(&c, &arrays);
#endif
    if (judge.count != NULL)
        judge.count(size, arrays.device);
    free_arrays(&arrays);
    free_case(&c);
    return 0;
}

#ifndef CUSIM
static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median time of the answer's launch over that of an addition of as many bytes; the L2 cache is cold before each. */
static int take_time(const size_t *size)
{
    enum { REPEATS = 25, WARM_UP = 3 };
    const size_t sweep = (size_t)256 << 18; /* floats, 256 MiB */
    struct a_case c = make_case(size, PLAIN);
    struct arrays arrays = put_arrays(&c);
    float times[2][REPEATS], *added[3], *buffer;
    size_t total = 0;
    cudaEvent_t start, stop;

    for (int a = 0; a < num_arrays(); a++)
        total += c.count[a];
    for (int i = 0; i < 3; i++) {
        must(cudaMalloc((void **)&added[i], total / 3 * sizeof(float) + 16), "cudaMalloc");
        must(cudaMemset(added[i], 0, total / 3 * sizeof(float) + 16), "cudaMemset");
    }
    must(cudaMalloc((void **)&buffer, sweep * sizeof(float)), "cudaMalloc");
    must(cudaMemset(buffer, 0, sweep * sizeof(float)), "cudaMemset");
    must(cudaEventCreate(&start), "cudaEventCreate");
    must(cudaEventCreate(&stop), "cudaEventCreate");
    for (int which = 0; which < 2; which++) {
        for (int r = -WARM_UP; r < REPEATS; r++) {
            must(judge_sweep(sweep, buffer), "of the sweep");
            must(cudaEventRecord(start, NULL), "cudaEventRecord");
            must(which == 0 ? judge.launch(size, arrays.device) : judge_add(total / 3, added[0], added[1], added[2]),
                 "of the launch");
            must(cudaEventRecord(stop, NULL), "cudaEventRecord");
            must(cudaEventSynchronize(stop), "while the kernel ran");
            if (r >= 0)
                must(cudaEventElapsedTime(&times[which][r], start, stop), "cudaEventElapsedTime");
        }
        qsort(times[which], REPEATS, sizeof(float), by_size);
    }
    judge_count("time", times[0][REPEATS / 2] / times[1][REPEATS / 2]);
    judge_count("microseconds", 1e3 * times[0][REPEATS / 2]);
    return 0;
}
#endif

int main(int argc, char **argv)
{
    size_t size[JUDGE_MAX_SIZES] = {0};

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 1)
        return judge.reference == NULL ? 0 : compare();
    for (int i = 2; i < argc && i - 2 < JUDGE_MAX_SIZES; i++)
        size[i - 2] = strtoull(argv[i], NULL, 10);
    if (strcmp(argv[1], "count") == 0)
        return count(size);
#ifndef CUSIM
    if (strcmp(argv[1], "time") == 0)
        return take_time(size);
#endif
    fprintf(stderr, "%s: `%s' cannot be done here\n", argv[0], argv[1]);
    return 2;
}
