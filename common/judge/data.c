/* SPDX-License-Identifier: MIT */
/* data.c - kinds of data, the numbers of each, and a case's arrays. */
#include "data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t judge_seed = 1;

/* ---- kinds ---- */

const char *kind_says(enum kind kind)
{
    static const char *const says[NUM_KINDS] = {
        "",
        "The coefficients are close to 1 here, so what was long ago still counts.",
        "The coefficients that must not be used are NaN here.",
        "The first value is NaN here, and must reach nobody else's results.",
        "A value in the middle is NaN here, and must not reach results that do not depend on it.",
    };
    return says[kind];
}

static bool has_coeffs(void)
{
    for (int a = 0; a < num_arrays(); a++)
        if (judge.arrays[a].role == JUDGE_COEFFS)
            return true;
    return false;
}

bool kind_applies(enum kind kind)
{
    return !(kind == LONG_MEMORY && !has_coeffs()) && !(kind == UNUSED_NAN && judge.is_unused == NULL);
}

/* ---- numbers ---- */

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014). */
uint64_t judge_hash(uint64_t a, uint64_t b)
{
    uint64_t z = (a + 1) * 0x9E3779B97F4A7C15u + (b + 1) * 0xD1B54A32D192ED03u;
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

/* A number that depends on the seed, its array and its index alone, and on the kind of data. */
static float value(const struct a_case *c, int array, size_t i)
{
    const enum judge_role role = judge.arrays[array].role;
    const uint64_t bits = judge_hash((uint64_t)array + ((judge_seed - 1) << 8), i);

    if (role == JUDGE_VALUES) {
        const bool hit = c->kind == FIRST_NAN ? i == 0 : c->kind == MIDDLE_NAN && i == c->count[array] / 2;
        return hit ? NAN : normal(bits);
    }
    if (c->kind == UNUSED_NAN && judge.is_unused(c->size, i))
        return NAN;
    const float uniform = (float)(bits >> 40) * 0x1p-24f;
    return c->kind == LONG_MEMORY ? 1.0f - uniform * 0x1p-10f : 2.0f * uniform - 1.0f;
}

/* ---- shapes ---- */

static size_t common_divisor(size_t a, size_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* A drawn shape is at most as large as a listed one, at least as the smallest in each size, and a multiple of whatever
   all listed ones are multiples of. Sizes of 0 are listed, never drawn. */
static void draw_shape(int number, int num_listed, size_t *shape)
{
    const size_t *most;
    uint64_t bits = judge_hash(judge_seed, (uint64_t)number);

    do {
        bits = judge_hash(bits, 0);
        most = judge.shapes[bits % (uint64_t)num_listed];
    } while (most[0] == 0 || (judge.sizes[1] != NULL && most[1] == 0));
    for (int d = 0; d < JUDGE_MAX_SIZES; d++) {
        size_t step = 0, least = most[d];
        for (int s = 0; s < num_listed; s++) {
            const size_t size = judge.shapes[s][d];
            step = common_divisor(step, size);
            least = size > 0 && size < least ? size : least;
        }
        bits = judge_hash(bits, 1);
        shape[d] = step == 0 ? 0 : least + bits % ((most[d] - least) / step + 1) * step;
    }
}

int all_shapes(size_t shapes[][JUDGE_MAX_SIZES])
{
    int n = 0, num_listed;

    for (; judge.shapes[n][0] != 0 || judge.shapes[n][1] != 0; n++)
        for (int d = 0; d < JUDGE_MAX_SIZES; d++)
            shapes[n][d] = judge.shapes[n][d];
    num_listed = n;
    for (; judge_seed != 1 && num_listed > 0 && n < num_listed + DRAWN_SHAPES; n++)
        draw_shape(n, num_listed, shapes[n]);
    return n;
}

/* ---- a case ---- */

int num_arrays(void)
{
    int n = 0;
    while (judge.arrays[n].name != NULL)
        n++;
    return n;
}

void *judge_allocate(size_t bytes)
{
    void *p = malloc(bytes + (bytes == 0));
    if (p == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(2);
    }
    return p;
}

struct a_case make_case(const size_t *size, enum kind kind)
{
    struct a_case c = {.size = size, .kind = kind};

    for (int a = 0; a < num_arrays(); a++) {
        const struct judge_array *array = &judge.arrays[a];
        const size_t product = size[0] * (judge.sizes[1] == NULL ? 1 : size[1]);
        const size_t n = array->count != NULL ? array->count(size) : product;

        c.count[a] = n;
        c.host[a] = judge_allocate(n * sizeof(float));
        c.right[a] = judge_allocate(n * sizeof(double));
        c.largest[a] = judge_allocate(n * sizeof(double));
        c.written[a] = judge_allocate(n);
        for (size_t i = 0; array->role != JUDGE_OUTPUTS && i < n; i++) {
            c.host[a][i] = value(&c, a, i);
            c.right[a][i] = c.host[a][i];
            c.largest[a][i] = fabs(c.host[a][i]);
        }
    }
    return c;
}

void free_case(struct a_case *c)
{
    for (int a = 0; a < num_arrays(); a++) {
        free(c->host[a]);
        free(c->right[a]);
        free(c->largest[a]);
        free(c->written[a]);
    }
}
