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
        "One coefficient in eight is 0 here: nothing from before it counts any longer.",
        "All values are 0 here, and the product of the first coefficients is infinite. 0 * infinity is NaN: where "
        "nothing "
        "comes in, nothing may be multiplied by it.",
        "A value in the middle is infinite here.",
        "Every other sequence holds a NaN here, and the sequences between must not notice.",
    };
    return says[kind];
}

bool is_whole(int array)
{
    return judge.arrays[array].count == NULL || judge.is_one_seq;
}

static bool has(enum judge_role role, bool whole)
{
    for (int a = 0; a < num_arrays(); a++)
        if (judge.arrays[a].role == role && (!whole || is_whole(a)))
            return true;
    return false;
}

bool kind_applies(enum kind kind)
{
    switch (kind) {
    case LONG_MEMORY:
    case ZEROS:
        return has(JUDGE_COEFFS, false);
    case UNUSED_NAN:
        return judge.is_unused != NULL;
    case OVERFLOW: /* where a coefficient is left out, products of coefficients are meant to be taken */
        return judge.is_unused != NULL && has(JUDGE_COEFFS, true) && !judge.shows_products;
    case INFINITE:
        return !judge.shows_products;
    case NAN_NEIGHBOUR:
        return judge.sizes[1] != NULL && !judge.is_one_seq && has(JUDGE_VALUES, true);
    default:
        return true;
    }
}

struct position position_of(const struct a_case *c, int array, size_t i)
{
    const bool one_seq = judge.sizes[1] == NULL || judge.is_one_seq;
    const size_t across = one_seq ? 1 : judge.down_columns ? c->size[1] : c->size[0];
    const size_t len = one_seq ? c->count[array] : judge.down_columns ? c->size[0] : c->size[1];
    const size_t seq = one_seq ? 0 : judge.down_columns ? i % across : i / len;
    const size_t at = one_seq ? i : judge.down_columns ? i / across : i % len;
    const ptrdiff_t stride = one_seq || !judge.down_columns ? 1 : (ptrdiff_t)across;
    return (struct position){.seq = seq,
                             .step = judge.reversed ? len - 1 - at : at,
                             .len = len,
                             .to_next = judge.reversed ? -stride : stride};
}

size_t beside(const struct a_case *c)
{
    return judge.down_columns ? 1 : c->size[1];
}

size_t in_order(const struct a_case *c, int array, size_t n)
{
    if (!judge.reversed || !is_whole(array))
        return n;
    const struct position at = position_of(c, array, n);
    return n + (at.len - 1 - 2 * at.step) * (size_t)at.to_next;
}

void name_element(const struct a_case *c, int array, size_t i, char *name, size_t size)
{
    if (judge.sizes[1] == NULL || judge.arrays[array].count != NULL)
        snprintf(name, size, "%s[%zu]", judge.arrays[array].name, i);
    else
        snprintf(name, size, "%s[%zu][%zu]", judge.arrays[array].name, i / c->size[1], i % c->size[1]);
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

/* Every other sequence has one NaN: half of them among the values, half among the coefficients, if any. Where no
   coefficient is said to be unused, the first one is none of these: nothing comes in, and whether an answer multiplies
   that by it (0 * NaN) or leaves it out, it is right. */
static bool has_nan(const struct a_case *c, int array, size_t i)
{
    const struct position at = position_of(c, array, i);
    const enum judge_role role = at.seq % 4 == 0 || !has(JUDGE_COEFFS, true) ? JUDGE_VALUES : JUDGE_COEFFS;
    const size_t least = role == JUDGE_COEFFS && judge.is_unused == NULL;
    return at.seq % 2 == 0 && judge.arrays[array].role == role && at.len > least &&
           at.step == least + judge_hash(at.seq, at.len) % (at.len - least);
}

/* In the order of the walk: the coefficient that is not used, three large ones, and zeros. No two of them next to each
   other have an infinite product, but all three have. So however few elements a thread has, only a product that begins
   where the sequence begins is infinite, and that one no result needs. (A thread that takes a float4 may begin at the
   second element where the first one does not lie at a multiple of 16 bytes: such a sequence gets no large ones.) */
static float overflowing(const struct a_case *c, int array, size_t i)
{
    const struct position at = position_of(c, array, i);
    const size_t first = i - at.step * (size_t)at.to_next;
    const size_t taken = at.step + !judge.is_unused(c->size, first);
    if ((first + judge.reversed) % 4 != 0 && !judge.down_columns)
        return 0.5f;
    return taken == 0 ? 1.0f : taken <= 3 ? 1e15f : 0.0f;
}

static float a_value(const struct a_case *c, int array, size_t i, uint64_t bits)
{
    const bool is_middle = i == c->count[array] / 2;

    if (c->kind == OVERFLOW)
        return 0.0f;
    if (c->kind == INFINITE && is_middle)
        return INFINITY;
    if ((c->kind == FIRST_NAN && i == 0) || (c->kind == MIDDLE_NAN && is_middle))
        return NAN;
    return normal(bits);
}

/* A number that depends on the seed, its array and its index alone, and on the kind of data. */
static float value(const struct a_case *c, int array, size_t i)
{
    const enum judge_role role = judge.arrays[array].role;
    const uint64_t bits = judge_hash((uint64_t)array + ((judge_seed - 1) << 8), i);

    if (c->kind == NAN_NEIGHBOUR && is_whole(array) && has_nan(c, array, i))
        return NAN;
    if (role == JUDGE_VALUES)
        return a_value(c, array, i, bits);
    if (c->kind == UNUSED_NAN && judge.is_unused(c->size, i))
        return NAN;
    if (c->kind == ZEROS && bits % 8 == 0)
        return 0.0f;
    if (c->kind == OVERFLOW && is_whole(array))
        return overflowing(c, array, i);
    const float uniform = (float)(bits >> 40) * 0x1p-24f;
    return c->kind == LONG_MEMORY || c->kind == INFINITE ? 1.0f - uniform * 0x1p-10f : 2.0f * uniform - 1.0f;
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

/* malloc, which also takes 0 bytes; without memory the program ends with status 2 and says so. */
static void *allocate(size_t bytes)
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
        c.host[a] = allocate(n * sizeof(float));
        c.right[a] = allocate(n * sizeof(double));
        c.largest[a] = allocate(n * sizeof(double));
        c.written[a] = allocate(n);
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
