/* SPDX-License-Identifier: MIT */
/* judge.c - runs the answer on all shapes and all kinds of data, and stops at the first wrong element.

       PROGRAM                     compares; prints what is wrong and ends with status 1, or "@bits HASH" of all outputs
       PROGRAM count A [B]         launches once, on sizes A and B, and prints what the simulator has counted
       PROGRAM time A [B]          on a GPU: prints how many times as long as adding as many bytes it takes

   Exercises.pm calls it, and says what its lines mean. They begin with @, as the answer may print, too. */
#include "judge.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CUSIM
#include "../sim/sim.h"
#endif

/* ---- data ---- */

enum kind { PLAIN, LONG_MEMORY, UNUSED_NAN, FIRST_NAN, MIDDLE_NAN, NUM_KINDS };

static const char *const kind_says[NUM_KINDS] = {
    "",
    "The coefficients are close to 1 here, so what was long ago still counts.",
    "The coefficients that must not be used are NaN here.",
    "The first value is NaN here, and must reach nobody else's results.",
    "A value in the middle is NaN here, and must not reach results that do not depend on it.",
};

/* A number that depends on its array and index alone: the finalizer of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t hash(uint64_t array, uint64_t index)
{
    uint64_t z = (array + 1) * 0x9E3779B97F4A7C15u + (index + 1) * 0xD1B54A32D192ED03u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Nearly normal: the sum of four uniform numbers less its mean. */
static float normal(uint64_t bits)
{
    int sum = 0;
    for (int part = 0; part < 4; part++)
        sum += (int)(bits >> (16 * part) & 0xFFFF) - 32768;
    return (float)sum * 0x1p-15f;
}

/* ---- one case: a shape and a kind of data ---- */

struct a_case {
    const size_t *size;
    enum kind kind;
    size_t count[JUDGE_MAX_ARRAYS];    /* elements of each array */
    float *device[JUDGE_MAX_ARRAYS];   /* what the answer gets */
    float *host[JUDGE_MAX_ARRAYS];     /* the inputs; afterwards the outputs */
    double *right[JUDGE_MAX_ARRAYS];   /* the same for the reference */
    double *largest[JUDGE_MAX_ARRAYS]; /* and on absolute values: the size of what was added up */
};

static int num_arrays(void)
{
    int n = 0;
    while (judge.arrays[n].name != NULL)
        n++;
    return n;
}

static void *allocate(size_t size)
{
    void *p = malloc(size + (size == 0));
    if (p == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", size);
        exit(2);
    }
    return p;
}

static void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        printf("@error %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

static float value(const struct a_case *c, int array, size_t i)
{
    const enum judge_role role = judge.arrays[array].role;
    const uint64_t bits = hash((uint64_t)array, i);

    if (role == JUDGE_VALUES) {
        const bool hit = c->kind == FIRST_NAN ? i == 0 : c->kind == MIDDLE_NAN && i == c->count[array] / 2;
        return hit ? NAN : normal(bits);
    }
    if (c->kind == UNUSED_NAN && judge.is_unused(c->size, i))
        return NAN;
    const float uniform = (float)(bits >> 40) * 0x1p-24f;
    return c->kind == LONG_MEMORY ? 1.0f - uniform * 0x1p-10f : 2.0f * uniform - 1.0f;
}

/* Whether it has one dimension, not rows of size[1]. */
static bool is_list(const struct judge_array *array)
{
    return judge.sizes[1] == NULL || array->count != NULL;
}

/* What outputs hold before: NaN. In host memory a signalling one, which no arithmetic gives, not even with itself. */
static const uint32_t host_poison = 0xFFBFFFFFu, device_poison = 0xFFFFFFFFu;

static struct a_case make_case(const size_t *size, enum kind kind)
{
    struct a_case c = {.size = size, .kind = kind};

    for (int a = 0; a < num_arrays(); a++) {
        const struct judge_array *array = &judge.arrays[a];
        const size_t product = size[0] * (judge.sizes[1] == NULL ? 1 : size[1]);
        c.count[a] = array->count != NULL ? array->count(size) : product;

        const size_t n = c.count[a], bytes = n * sizeof(float);
        c.host[a] = allocate(bytes);
        c.right[a] = allocate(n * sizeof(double));
        c.largest[a] = allocate(n * sizeof(double));
        if (judge.on_cpu)
            c.device[a] = allocate(bytes);
        else
            must(cudaMalloc((void **)&c.device[a], bytes + (bytes == 0)), "cudaMalloc");
        if (array->role == JUDGE_OUTPUTS) {
            for (size_t i = 0; judge.on_cpu && i < n; i++)
                memcpy(&c.device[a][i], &host_poison, sizeof host_poison);
        } else {
            for (size_t i = 0; i < n; i++) {
                c.host[a][i] = value(&c, a, i);
                c.right[a][i] = c.host[a][i];
                c.largest[a][i] = fabs(c.host[a][i]);
            }
            if (judge.on_cpu)
                memcpy(c.device[a], c.host[a], bytes);
            else
                must(cudaMemcpy(c.device[a], c.host[a], bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        }
#ifdef CUSIM
        if (!judge.on_cpu && bytes > 0) {
            sim_name_array(c.device[a], bytes, array->name);
            if (is_list(array))
                sim_shape_array(c.device[a], sizeof(float), 1, &n);
            else
                sim_shape_array(c.device[a], sizeof(float), 2, size);
        }
#else /* the simulator does that, and knows what nobody has written */
        if (!judge.on_cpu && array->role == JUDGE_OUTPUTS)
            must(cudaMemset(c.device[a], 0xFF, bytes), "cudaMemset");
#endif
    }
    return c;
}

static void free_case(struct a_case *c)
{
    for (int a = 0; a < num_arrays(); a++) {
        if (judge.on_cpu)
            free(c->device[a]);
        else
            must(cudaFree(c->device[a]), "cudaFree");
        free(c->host[a]);
        free(c->right[a]);
        free(c->largest[a]);
    }
}

static void launch(const struct a_case *c)
{
    if (judge.on_cpu) {
        judge_threads_begin();
        for (int a = 0; a < num_arrays(); a++)
            judge_threads_watch(c->device[a], c->count[a] * sizeof(float));
    }
#ifdef CUSIM
    sim_watch_host(true);
#endif
    const cudaError_t error = judge.launch(c->size, c->device);
#ifdef CUSIM
    sim_watch_host(false);
#endif
    must(error, "of the launch");
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
    if (is_list(&judge.arrays[a]))
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
static bool was_written(const struct a_case *c, int a, size_t i)
{
#ifdef CUSIM
    unsigned block, thread;
    if (is_poison(c->host[a][i]) && !judge.on_cpu)
        return sim_last_write(c->device[a] + i, &block, &thread, NULL, 0);
#endif
    return !is_poison(c->host[a][i]);
}

/* Who wrote it, where that is known. */
static void print_owner(const struct a_case *c, int a, size_t i)
{
#ifdef CUSIM
    unsigned block = 0, thread = 0;
    char place[512];

    if (!judge.on_cpu && sim_last_write(c->device[a] + i, &block, &thread, place, sizeof place))
        printf("Thread %u of block %u wrote it, at %s.", thread, block, place);
#else
    (void)c, (void)a, (void)i;
#endif
}

static bool is_right(const struct a_case *c, int a, size_t i, size_t roundings)
{
    const float got = c->host[a][i];
    const double right = c->right[a][i];

    if (!was_written(c, a, i))
        return false;
    if (isnan(right))
        return isnan(got);
    return fabs(got - right) <= 2.0 * 0x1p-24 * (double)roundings * c->largest[a][i] + FLT_MIN;
}

static bool on_absolute_values; /* what judge.reference is run on */

/* Runs a case; returns false, with the message printed, when it is wrong. Adds the outputs' bits to *bits. */
static bool run_case(const size_t *size, enum kind kind, uint64_t *bits)
{
    struct a_case c = make_case(size, kind);
    size_t num_all = 0, num_bad = 0, first = 0;
    int bad_array = 0;

    printf("@with ");
    print_sizes(size);
    printf("\n@data %s\n", kind_says[kind]);
    judge.reference(size, c.right);
    on_absolute_values = true;
    judge.reference(size, c.largest);
    on_absolute_values = false;
    launch(&c);
    for (int a = 0; a < num_arrays(); a++) {
        if (judge.arrays[a].role != JUDGE_OUTPUTS)
            continue;
        const size_t bytes = c.count[a] * sizeof(float);
        const size_t roundings = judge.roundings != NULL ? judge.roundings(size) : size[judge.sizes[1] != NULL] + 32;
        if (judge.on_cpu)
            memcpy(c.host[a], c.device[a], bytes);
        else
            must(cudaMemcpy(c.host[a], c.device[a], bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
        for (size_t i = 0; i < c.count[a]; i++) {
            uint32_t of_this;
            memcpy(&of_this, &c.host[a][i], sizeof of_this);
            *bits = hash(*bits, of_this);
            num_all++;
            if (!is_right(&c, a, i, roundings) && num_bad++ == 0)
                bad_array = a, first = i;
        }
    }
    if (num_bad > 0) {
        const float got = c.host[bad_array][first];
        const double right = c.right[bad_array][first];
        const int digits = fabs(got - right) < 1e-5 * fabs(right) ? 9 : 6; /* enough to see the difference */
        printf("@wrong ");
        print_element(&c, bad_array, first);
        if (!was_written(&c, bad_array, first))
            printf(" has not been written, and should be %.6g\n", right);
        else
            printf(" is %.*g, and should be %.*g\n", digits, fabs(got) >= 0 ? (double)got : NAN, digits, right);
        printf("@owner %s", num_bad == 1 && num_all > 1 ? "All else is right. " : "");
        print_owner(&c, bad_array, first);
        printf("\n");
    }
    free_case(&c);
    return num_bad == 0;
}

static bool has_coeffs(void)
{
    for (int a = 0; a < num_arrays(); a++)
        if (judge.arrays[a].role == JUDGE_COEFFS)
            return true;
    return false;
}

/* All shapes with plain data first, then the other kinds. */
static int compare(void)
{
    uint64_t bits = 0;

    for (int kind = PLAIN; kind < NUM_KINDS; kind++) {
        if ((kind == LONG_MEMORY && !has_coeffs()) || (kind == UNUSED_NAN && judge.is_unused == NULL))
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

    if (judge.before_count != NULL)
        judge.before_count(size, c.device);
    judge_count("elements", (double)size[0] * (double)(judge.sizes[1] == NULL ? 1 : size[1]));
#ifdef CUSIM
    sim_reset_counts();
    launch(&c);
    if (judge.on_cpu)
        judge_threads_count();
    else
        print_counts();
#else
    launch(&c);
#endif
    if (judge.count != NULL)
        judge.count(size, c.device);
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
    float times[2][REPEATS], *arrays[3], *buffer;
    size_t total = 0;
    cudaEvent_t start, stop;

    for (int a = 0; a < num_arrays(); a++)
        total += c.count[a];
    for (int i = 0; i < 3; i++) {
        must(cudaMalloc((void **)&arrays[i], total / 3 * sizeof(float) + 16), "cudaMalloc");
        must(cudaMemset(arrays[i], 0, total / 3 * sizeof(float) + 16), "cudaMemset");
    }
    must(cudaMalloc((void **)&buffer, sweep * sizeof(float)), "cudaMalloc");
    must(cudaMemset(buffer, 0, sweep * sizeof(float)), "cudaMemset");
    must(cudaEventCreate(&start), "cudaEventCreate");
    must(cudaEventCreate(&stop), "cudaEventCreate");
    for (int which = 0; which < 2; which++) {
        for (int r = -WARM_UP; r < REPEATS; r++) {
            must(judge_sweep(sweep, buffer), "of the sweep");
            must(cudaEventRecord(start, NULL), "cudaEventRecord");
            must(which == 0 ? judge.launch(size, c.device) : judge_add(total / 3, arrays[0], arrays[1], arrays[2]),
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
