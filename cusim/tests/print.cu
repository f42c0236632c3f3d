/* SPDX-License-Identifier: MIT */
/* print.cu - threads that print: to standard output, then to a function that is told whose words they are. */
#include "../counts.h"

#include <cuda_runtime.h>

#include <stdio.h>

__global__ void speak(float zero)
{
    if (threadIdx.x != 3)
        return;
    printf("%d and %.1f\n", threadIdx.x, 0.5);
    printf("plain text\n"); /* the compiler calls puts, */
    printf("+");            /* putchar, */
    printf("%c", '\n');     /* and that again */
    printf("%f|%8.3f|%s\n", zero / zero, -(zero / zero), "minus one");
}

static void hear(unsigned block, unsigned thread, const char *text, void *context)
{
    fprintf((FILE *)context, "%u/%u: %s", block, thread, text);
}

int main(void)
{
    speak<<<1, 32>>>(0);
    printf("to the function\n");
    sim_print_to(hear, stdout);
    speak<<<2, dim3(2, 2)>>>(0); /* x is 0 or 1: nobody speaks */
    speak<<<2, 32>>>(0);
    printf("of the host %f\n", -1.0);
    sim_print_to(NULL, NULL);
    speak<<<1, 32>>>(0);
    return 0;
}
