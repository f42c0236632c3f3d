/* SPDX-License-Identifier: MIT */
/* sums.c - the recurrence as a sum that runs, a sum that starts again, a product that runs. */
#include "../recurrence.h"
#include "demo.h"

#include <math.h>

enum { L = 8 };

static void print_row(const char *name, const float *row)
{
    printf("  %-3s", name);
    for (int l = 0; l < L; l++)
        printf(" %5g", row[l]);
    printf("\n");
}

/* Runs the recurrence, prints it and compares with what was computed some other way. */
static bool show(const char *title, const float *x, const float *c, const float *expected)
{
    float y[L];
    bool good = true;

    seq_forward_float(L, false, x, c, y);
    for (int l = 0; l < L; l++)
        good = good && fabsf(y[l] - expected[l]) <= 0; /* small whole numbers: no rounding, and a NaN is not good */

    printf("%s\n", title);
    print_row("x", x);
    print_row("c", c);
    print_row("y", y);
    if (!good)
        print_row("!=", expected);
    return good;
}

int main(int argc, char **argv)
{
    const float numbers[L] = {3, 1, 4, 1, 5, 9, 2, 6};
    const float factors[L] = {1, 2, 3, 4, 5, 6, 7, 8};
    const float ones[L] = {1, 1, 1, 1, 1, 1, 1, 1};
    const float start[L] = {1, 0, 0, 0, 0, 0, 0, 0};
    const float gates[L] = {1, 1, 1, 0, 1, 1, 0, 1}; /* 0: forget all that was */
    float sum[L], restarted[L], product[L];
    bool good = true;

    demo_path(argc, argv, "(takes no arguments)", NULL);

    for (int l = 0; l < L; l++) {
        sum[l] = numbers[l] + (l > 0 ? sum[l - 1] : 0);
        restarted[l] = gates[l] > 0 && l > 0 ? restarted[l - 1] + numbers[l] : numbers[l];
        product[l] = l > 0 ? product[l - 1] * factors[l] : 1;
    }
    good &= show("cumulative sum: all coefficients 1", numbers, ones, sum);
    good &= show("a sum that starts again: a coefficient 0 forgets", numbers, gates, restarted);
    good &= show("cumulative product: inputs 1, 0, 0, ...; it is made of the coefficients", start, factors, product);

    printf("%s\n", good ? "all three agree with plain loops" : "a result differs from the plain loop");
    return good ? 0 : 1;
}
