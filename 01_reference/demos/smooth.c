/* SPDX-License-Identifier: MIT */
/* smooth.c - an exponential moving average: one coefficient for all, the inputs scaled so that weights add up to 1. */
#include "../recurrence.h"
#include "demo.h"

#include <math.h>

enum { L = 400 };
static const char default_path[] = "results/01_smooth.csv";

/* Noise in [-1, 1], the same in every run. */
static float noise(void)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 8388608.0f - 1.0f;
}

/* y[l] = c * y[l-1] + (1 - c) * signal[l], starting at y = signal: the walk's first element has nothing to average. */
static void average(float c, bool reverse, const float *signal, float *y)
{
    float x[L], coeffs[L];
    const int first = reverse ? L - 1 : 0;

    for (int l = 0; l < L; l++) {
        x[l] = (1 - c) * signal[l];
        coeffs[l] = c;
    }
    x[first] = signal[first];
    seq_forward_float(L, reverse, x, coeffs, y);
}

/* Root of the mean square of the distance: its typical size. */
static double distance(const float *a, const float *b)
{
    double sum = 0;
    for (int l = 0; l < L; l++)
        sum += ((double)a[l] - b[l]) * ((double)a[l] - b[l]);
    return sqrt(sum / L);
}

int main(int argc, char **argv)
{
    const char *path = demo_path(argc, argv, "[FILE.csv]", default_path);
    const double tau = 2 * acos(-1.0);
    const float c = 0.9f;
    float clean[L], noisy[L], smooth[L], both[L];

    for (int l = 0; l < L; l++) {
        clean[l] = (float)(sin(tau * l / 200) + 0.5 * sin(tau * l / 80));
        noisy[l] = clean[l] + 0.8f * noise();
    }
    average(c, false, noisy, smooth); /* looks back only, so it lags behind */
    average(c, true, smooth, both);   /* the same from the other end takes the lag away */

    /* the last output as the weighted sum that it is: weight (1 - c) c^k for the element k steps back */
    double sum = pow(c, L - 1) * noisy[0];
    for (int k = 0; k < L - 1; k++)
        sum += (1 - c) * pow(c, k) * noisy[L - 1 - k];

    printf("typical distance from the clean signal, c = %g\n", c);
    printf("  noisy                   %.3f\n", distance(noisy, clean));
    printf("  smoothed                %.3f\n", distance(smooth, clean));
    printf("  smoothed, then reverse  %.3f\n", distance(both, clean));
    printf("last output %.5f, as a weighted sum %.5f\n", smooth[L - 1], sum);
    if (!(fabs(smooth[L - 1] - sum) <= 1e-5)) {
        printf("the last output is not the weighted sum\n");
        return 1;
    }

    struct output output;
    if (demo_open(&output, path, argv[0], "l,clean,noisy,smoothed,both") != 0)
        return 2;
    for (int l = 0; l < L; l++)
        fprintf(output.file, "%d,%.6f,%.6f,%.6f,%.6f\n", l, clean[l], noisy[l], smooth[l], both[l]);
    return demo_close(&output, path);
}
