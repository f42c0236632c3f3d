/* SPDX-License-Identifier: MIT */
/* matrix.c - the recurrence as a matrix: write the mixing matrix down, multiply it out, compare with the loop. */
#include "../recurrence.h"
#include "demo.h"

#include <math.h>

enum { L = 5 };

/* Row l, column k: the product of the coefficients k+1 ... l, which is what is left of x[k] in y[l]. */
static void mixing_matrix(const double *c, double matrix[L][L])
{
    for (int l = 0; l < L; l++)
        for (int k = 0; k < L; k++) {
            matrix[l][k] = k <= l ? 1 : 0;
            for (int i = k + 1; i <= l; i++)
                matrix[l][k] *= c[i];
        }
}

int main(int argc, char **argv)
{
    const double x[L] = {1, 2, 3, 4, 5};
    const double c[L] = {NAN, 0.5, -1, 2, 0.25}; /* the first coefficient is never used */
    double matrix[L][L], loop[L], worst = 0;

    demo_path(argc, argv, "(takes no arguments)", NULL);

    mixing_matrix(c, matrix);
    seq_forward_double(L, false, x, c, loop);

    printf("             mixing matrix                 x    matrix * x      loop\n");
    for (int l = 0; l < L; l++) {
        double product = 0;
        for (int k = 0; k < L; k++) {
            product += matrix[l][k] * x[k];
            if (k <= l)
                printf("%7.3f", matrix[l][k]);
            else
                printf("      .");
        }
        printf(" %7.3f %13.4f %9.4f\n", x[l], product, loop[l]);
        worst = demo_worse(worst, fabs(product - loop[l]));
    }

    const bool good = worst <= 1e-12;
    printf("%s: largest difference %g\n", good ? "they agree" : "they differ", worst);
    return good ? 0 : 1;
}
