/* SPDX-License-Identifier: MIT */
/* gradients.c - the gradients of the chapter against central differences, in double precision.

   The loss is E = sum of (y[l] - target[l])^2 / 2, so the gradient with respect to y is y - target. */
#include "../recurrence.h"
#include "demo.h"

#include <math.h>

enum { L = 12 };
static const double step = 1e-4;     /* of a difference */
static const double bound = 1e-6;    /* on a relative error */
static const double smallest = 1e-3; /* gradients below this are compared as if they were this large: some are 0 */

static double target[L];
static double worst_of_all;

/* Numbers in [-1, 1], the same in every run. */
static double number(void)
{
    static uint32_t state = 7;
    state = state * 1664525u + 1013904223u;
    return state / 2147483648.0 - 1;
}

static double sigmoid(double z)
{
    return 1 / (1 + exp(-z));
}

/* -- three functions of some parameters: forward is a loss, backward fills its gradient -- */

/* Inputs and coefficients are free: parameters are x[0 ... L-1], c[0 ... L-1]. */
static double free_loss(bool reverse, const double *params)
{
    double y[L], loss = 0;
    seq_forward_double(L, reverse, params, params + L, y);
    for (int l = 0; l < L; l++)
        loss += (y[l] - target[l]) * (y[l] - target[l]) / 2;
    return loss;
}

static void free_gradient(bool reverse, const double *params, double *gradient)
{
    double y[L], d_y[L];
    seq_forward_double(L, reverse, params, params + L, y);
    for (int l = 0; l < L; l++)
        d_y[l] = y[l] - target[l];
    seq_backward_double(L, reverse, d_y, params + L, y, gradient, gradient + L);
}

/* The coefficient depends on the input, as in Mamba: parameters z[0 ... L-1], x = z, c = sigmoid(z). */
static void gate(const double *z, double *free_params)
{
    for (int l = 0; l < L; l++) {
        free_params[l] = z[l];
        free_params[L + l] = sigmoid(z[l]);
    }
}

static double gated_loss(bool reverse, const double *z)
{
    double params[2 * L];
    gate(z, params);
    return free_loss(reverse, params);
}

static void gated_gradient(bool reverse, const double *z, double *gradient)
{
    double params[2 * L], d_params[2 * L];
    gate(z, params);
    free_gradient(reverse, params, d_params);
    for (int l = 0; l < L; l++) {
        const double c = params[L + l];
        gradient[l] = d_params[l] * 1 + d_params[L + l] * c * (1 - c); /* dx/dz = 1, dc/dz = c (1 - c) */
    }
}

/* One coefficient for all, as in S4: the parameter is that coefficient; the inputs stay fixed. */
static double fixed_inputs[L];

static void share(const double *c, double *free_params)
{
    for (int l = 0; l < L; l++) {
        free_params[l] = fixed_inputs[l];
        free_params[L + l] = *c;
    }
}

static double shared_loss(bool reverse, const double *c)
{
    double params[2 * L];
    share(c, params);
    return free_loss(reverse, params);
}

static void shared_gradient(bool reverse, const double *c, double *gradient)
{
    double params[2 * L], d_params[2 * L];
    share(c, params);
    free_gradient(reverse, params, d_params);
    *gradient = 0;
    for (int l = 0; l < L; l++)
        *gradient += d_params[L + l];
}

/* -- the comparison ------------------------------------------------------------------------------------------------ */

typedef double loss_function(bool reverse, const double *params);
typedef void gradient_function(bool reverse, const double *params, double *gradient);

/* Compares parameters begin ... end-1 of count and prints the worst relative error. */
static void compare(const char *name, bool reverse, loss_function *loss, gradient_function *gradient, double *params,
                    int count, int begin, int end)
{
    double analytic[2 * L], worst = 0;

    for (int i = 0; i < count; i++)
        analytic[i] = NAN; /* an element that is never written shows up */
    gradient(reverse, params, analytic);
    for (int i = begin; i < end; i++) {
        const double here = params[i];
        params[i] = here + step;
        const double above = loss(reverse, params);
        params[i] = here - step;
        const double below = loss(reverse, params);
        params[i] = here;

        const double numeric = (above - below) / (2 * step);
        worst = demo_worse(worst, fabs(analytic[i] - numeric) / fmax(fabs(numeric), smallest));
    }
    printf("  %-7s %-25s %9.5f   %.1e\n", reverse ? "reverse" : "forward", name, analytic[end - 1], worst);
    worst_of_all = demo_worse(worst_of_all, worst);
}

int main(int argc, char **argv)
{
    double params[2 * L], z[L], c = 0.8;

    demo_path(argc, argv, "(takes no arguments)", NULL);

    for (int l = 0; l < L; l++) {
        params[l] = number();
        params[L + l] = 1.2 * number();
        z[l] = 2 * number();
        fixed_inputs[l] = number();
        target[l] = number();
    }
    printf("  loop    gradient with respect to  last one    worst relative error\n");
    for (int reverse = 0; reverse < 2; reverse++) {
        compare("inputs", reverse, free_loss, free_gradient, params, 2 * L, 0, L);
        compare("coefficients", reverse, free_loss, free_gradient, params, 2 * L, L, 2 * L);
        compare("z: x = z, c = sigmoid(z)", reverse, gated_loss, gated_gradient, z, L, 0, L);
        compare("one shared coefficient", reverse, shared_loss, shared_gradient, &c, 1, 0, 1);
    }

    const bool good = worst_of_all <= bound;
    printf("%s: worst relative error %.1e, allowed %.0e\n", good ? "they agree" : "they differ", worst_of_all, bound);
    return good ? 0 : 1;
}
