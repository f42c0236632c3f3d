/* SPDX-License-Identifier: MIT */
/* dual.c - one head of the layer, computed in three ways: step after step, as one masked product of matrices, and in
   chunks. They agree, and each counts its multiplications. What was counted on a small head is what the formulas say,
   and these then tell of a head of real size. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../../common/base/output.h"

enum { L = 192, DK = 16, DV = 8 };

static double x[L][DV], B[L][DK], C[L][DK], dt[L];
static const double A = -2.0;

/* Multiplications in products of matrices, all others, and exponentials. */
struct cost {
    double in_products, others, exponentials;
};

/* A number in [-1, 1), the same in every run. */
static double number(void)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / 0x1p23 - 1.0;
}

/* [loop] The definition. The state H is a matrix, and each step changes all of it. */
static struct cost loop(double y[L][DV])
{
    double H[DV][DK] = {{0.0}};
    struct cost cost = {0.0, 0.0, 0.0};
    for (int t = 0; t < L; t++) {
        const double decay = exp(dt[t] * A);
        cost.exponentials++;
        for (int p = 0; p < DV; p++) {
            y[t][p] = 0.0;
            for (int n = 0; n < DK; n++) {
                H[p][n] = decay * H[p][n] + dt[t] * x[t][p] * B[t][n];
                y[t][p] += H[p][n] * C[t][n];
                cost.others += 3; /* dt x is one number for all n */
            }
        }
    }
    return cost;
}

/* [masked] Steps first ... first + length - 1, as if nothing had been before: scores, the mask, and one more product.
   `total` has the sums of dt A from the first step on. */
static struct cost masked_product(int first, int length, const double total[], double y[L][DV])
{
    static double S[L][L];
    struct cost cost = {0.0, 0.0, 0.0};
    for (int t = 0; t < length; t++)
        for (int s = 0; s < length; s++) {
            double score = 0.0;
            for (int n = 0; n < DK; n++)
                score += C[first + t][n] * B[first + s][n];
            S[t][s] = s <= t ? score * exp(total[t] - total[s]) * dt[first + s] : 0.0;
            cost.in_products += DK; /* a product of matrices does not know of the mask */
            cost.exponentials += s <= t;
        }
    for (int t = 0; t < length; t++)
        for (int p = 0; p < DV; p++) {
            y[first + t][p] = 0.0;
            for (int s = 0; s < length; s++)
                y[first + t][p] += S[t][s] * x[first + s][p];
            cost.in_products += length;
        }
    return cost;
}

/* [chunks] Chunks of Q steps: a masked product inside each, and the state that came in. */
static struct cost chunks(int Q, double y[L][DV])
{
    double H[DV][DK] = {{0.0}}, total[L];
    struct cost cost = {0.0, 0.0, 0.0};
    for (int first = 0; first < L; first += Q) {
        const int length = L - first < Q ? L - first : Q, last = length - 1;
        for (int t = 0; t < length; t++)
            total[t] = (t > 0 ? total[t - 1] : 0.0) + dt[first + t] * A;
        const struct cost inside = masked_product(first, length, total, y);
        for (int t = 0; t < length; t++) /* what is left of the state that came in */
            for (int p = 0; p < DV; p++)
                for (int n = 0; n < DK; n++)
                    y[first + t][p] += exp(total[t]) * C[first + t][n] * H[p][n];
        for (int p = 0; p < DV; p++)
            for (int n = 0; n < DK; n++) {
                double joins = 0.0; /* what the chunk leaves, each step with its decay up to the chunk's end */
                for (int t = 0; t < length; t++)
                    joins += dt[first + t] * exp(total[last] - total[t]) * x[first + t][p] * B[first + t][n];
                H[p][n] = exp(total[last]) * H[p][n] + joins;
            }
        cost.in_products += inside.in_products + 2.0 * length * DV * DK;
        cost.others += DV * DK;
        cost.exponentials += inside.exponentials + 2 * length; /* one for C and one for B in each step */
    }
    return cost;
}

/* What the counts above must be, a step, for whole chunks of Q. 0: the loop. */
static struct cost formula(double Q, double dk, double dv)
{
    if (Q == 0)
        return (struct cost){0.0, 3 * dk * dv, 1.0};
    return (struct cost){Q * (dk + dv) + 2 * dk * dv, dk * dv / Q, (Q + 1) / 2 + 2};
}

static double multiplications(double Q, double dk, double dv)
{
    const struct cost cost = formula(Q, dk, dv);
    return cost.in_products + cost.others;
}

static double difference(double a[L][DV], double b[L][DV])
{
    double worst = 0.0, most = 0.0;
    for (int t = 0; t < L; t++)
        for (int p = 0; p < DV; p++) {
            const double error = fabs(a[t][p] - b[t][p]);
            worst = error <= worst ? worst : error;
            most = fmax(most, fabs(b[t][p]));
        }
    return worst / most;
}

static int mistakes;

/* Compares a way with the loop, and what it has counted with what it should. */
static void compare(const char *name, int Q, struct cost cost, double y[L][DV], double reference[L][DV])
{
    struct cost should = formula(Q, DK, DV);
    if (Q == L) { /* all at once: no state */
        should.in_products -= 2.0 * DK * DV;
        should.others = 0.0;
        should.exponentials -= 2.0;
    }
    const double error = difference(y, reference);
    const bool agrees = error <= 1e-12, counts = cost.in_products == L * should.in_products &&
                                                 cost.others == L * should.others &&
                                                 cost.exponentials == L * should.exponentials;
    printf("%-22s %11.0f %11.0f %13.1f   %s\n", name, cost.in_products / L, cost.others / L, cost.exponentials / L,
           !agrees   ? "IT DIFFERS"
           : !counts ? "IT COUNTS OTHERWISE"
                     : "yes");
    mistakes += !agrees || !counts;
}

/* A line of the second table: real sizes, where a multiplication in a product costs a sixteenth of another. */
static double real_line(const char *name, double Q, double length, double dk, double dv)
{
    struct cost cost = formula(Q, dk, dv);
    const double states = Q == 0 || Q == length ? 0.0 : length / Q;
    if (Q == length) {
        cost.in_products -= 2 * dk * dv;
        cost.others = 0.0;
    }
    const double weighted = cost.in_products / 16 + cost.others;
    printf("%-22s %11.0f %11.0f %13.0f %10.0f %12.0f\n", name, cost.in_products, cost.others, weighted,
           Q == 0 ? length : length / Q, states * 2 * 4 * dk * dv / length);
    return weighted;
}

int main(int argc, char **argv)
{
    static double reference[L][DV], y[L][DV];
    double total[L];
    output_watch_stdout();
    if (argc > 1) {
        fprintf(stderr, "%s takes no arguments, and got '%s'\n", argv[0], argv[1]);
        return 2;
    }
    for (int t = 0; t < L; t++) {
        dt[t] = 0.05 + 0.045 * number();
        total[t] = (t > 0 ? total[t - 1] : 0.0) + dt[t] * A;
        for (int p = 0; p < DV; p++)
            x[t][p] = number();
        for (int n = 0; n < DK; n++)
            B[t][n] = number(), C[t][n] = number();
    }

    printf("a head of %d steps, dk %d, dv %d: multiplications and exponentials a step\n\n", L, DK, DV);
    printf("%-22s %11s %11s %13s   %s\n", "", "in products", "others", "exponentials", "agrees");
    compare("loop", 0, loop(reference), reference, reference);
    for (int Q = 1; Q <= 64; Q *= 4) {
        char name[32];
        snprintf(name, sizeof name, "chunks of %d", Q);
        compare(name, Q, chunks(Q, y), y, reference);
    }
    compare("one masked product", L, masked_product(0, L, total, y), y, reference);

    const double length = 4096, dk = 128, dv = 64;
    printf("\na head of %.0f steps, dk %.0f, dv %.0f, by the same formulas, a step\n\n", length, dk, dv);
    printf("%-22s %11s %11s %13s %10s %12s\n", "", "in products", "others", "products / 16", "steps in a",
           "state bytes,");
    printf("%-22s %11s %11s %13s %10s %12s\n", "", "", "", "+ others", "row", "if stored");
    const double by_loop = real_line("loop", 0, length, dk, dv);
    double best = 0.0, best_cost = INFINITY;
    for (double Q = 8; Q <= 512; Q *= 2) {
        char name[32];
        snprintf(name, sizeof name, "chunks of %.0f", Q);
        const double cost = real_line(name, Q, length, dk, dv);
        if (cost < best_cost)
            best = Q, best_cost = cost;
    }
    real_line("one masked product", length, length, dk, dv);
    double from = 1, to;
    while (multiplications(from, dk, dv) >= multiplications(0, dk, dv))
        from++;
    for (to = from; multiplications(to + 1, dk, dv) < multiplications(0, dk, dv);)
        to++;
    printf("\nfewer multiplications than the loop: chunks of %.0f to %.0f\n", from, to);
    printf("one masked product costs what the loop does: at %.0f steps\n", 16 * by_loop / (dk + dv));
    printf("the cheapest chunks of these, without their bytes: %.0f\n", best);
    printf("%s\n", mistakes == 0 ? "all ways agree, and cost what the formulas say" : "something is wrong");
    return mistakes == 0 ? 0 : 1;
}
