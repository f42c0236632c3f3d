/* contract.c - what every launcher promises: null pointers, bases that are not aligned to 16 bytes and sizes whose bytes overflow are
   refused with cudaErrorInvalidValue; zero sizes succeed, whatever the pointers. Prints TAP. */
#include <stdio.h>
#include <string.h>

#include "../../../02_cuda_ref/cuda_ref.h"
#include "../../../03_tile/tile.h"
#include "../../../04_warp_scan/warp_scan.h"
#include "../../../05_pipe/pipe.h"

static int number;

static void check(const char *kernel, const char *pass, const char *what, cudaError_t is, cudaError_t must_be)
{
    printf("%sok %d - %s %s: %s\n", is == must_be ? "" : "not ", ++number, kernel, pass, what);
}

static void check_launcher(const struct linrec_kernel *kernel, bool backward, float *memory)
{
    linrec_launcher *launch = backward ? kernel->backward : kernel->forward;
    const char *pass = backward ? "backward" : "forward";
    struct linrec_args good = {.num_seqs = 1, .seq_len = 4, .inputs = memory, .coeffs = memory + 4, .outputs = memory + 8,
                               .d_outputs = memory + 12, .d_inputs = memory + 16, .d_coeffs = memory + 20};
    struct linrec_args args;
    char workspace[4096];
    if (launch == NULL)
        return;
    good.workspace = workspace;
    good.workspace_size = sizeof workspace;

    args = good, args.coeffs = NULL;
    check(kernel->name, pass, "a null pointer is refused", launch(&args, NULL), cudaErrorInvalidValue);
    args = good, args.outputs = NULL;
    check(kernel->name, pass, "null outputs are refused", launch(&args, NULL), cudaErrorInvalidValue);
    args = good, args.outputs = memory + 9;
    check(kernel->name, pass, "a base that is not aligned to 16 bytes is refused", launch(&args, NULL), cudaErrorInvalidValue);
    args = good, args.num_seqs = SIZE_MAX / 2, args.seq_len = 3;
    check(kernel->name, pass, "sizes whose bytes overflow are refused", launch(&args, NULL), cudaErrorInvalidValue);
    memset(&args, 0, sizeof args);
    args.seq_len = 3;
    check(kernel->name, pass, "zero sequences succeed", launch(&args, NULL), cudaSuccess);
    args.num_seqs = 3, args.seq_len = 0;
    check(kernel->name, pass, "zero length succeeds", launch(&args, NULL), cudaSuccess);
}

int main(void)
{
    const struct linrec_kernel *const tables[] = {chapter02_kernels, chapter03_kernels, chapter04_kernels, chapter05_kernels};
    float *memory;
    if (cudaMalloc((void **)&memory, 24 * sizeof *memory) != cudaSuccess) {
        printf("Bail out! no device memory\n");
        return 1;
    }
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct linrec_kernel *kernel = tables[t]; kernel->name != NULL; kernel++)
            for (int backward = 0; backward < 2; backward++)
                check_launcher(kernel, backward, memory);
    printf("1..%d\n", number);
    cudaFree(memory);
    return 0;
}
