/* SPDX-License-Identifier: MIT */
/* samples.c - the check as it goes on a GPU, here also where the device is the simulator: the whole result compared on
   the device, small ones and samples of large ones on the host, too. One element is made wrong. Prints TAP. */
#include <stdio.h>
#include <string.h>

#include "../../../02_cuda_ref/cuda_ref.h"
#include "../../harness/check.h"
#include "../../linrec/linrec_operation.h"

static size_t wrong_seq, wrong_pos;

/* The right result but for one element: of outputs, or backward of d_coeffs. */
static cudaError_t spoil(const struct linrec_args *args, float *array, cudaError_t error)
{
    const float value = 1e6f;
    if (error == cudaSuccess)
        error = cudaMemcpy(array + wrong_seq * args->seq_len + wrong_pos, &value, sizeof value, cudaMemcpyHostToDevice);
    return error;
}

static cudaError_t spoilt_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return spoil(args, args->outputs, cuda_ref_all_ways_forward(args, stream));
}

static cudaError_t spoilt_backward(const struct linrec_args *args, cudaStream_t stream)
{
    return spoil(args, args->d_coeffs, cuda_ref_all_ways_backward(args, stream));
}

static int number;

/* Checks a kernel; what is said must contain `must_say`, and be nothing if that is NULL. */
static void check(const char *what, const struct linrec_kernel *row, enum direction direction, size_t num_seqs,
                  size_t seq_len, const char *must_say)
{
    const size_t sizes[MAX_SIZES] = {[NUM_SEQS] = num_seqs, [SEQ_LEN] = seq_len};
    const struct data data = {1, linrec_operation.timed_kind};
    const struct kernel kernel = {.info = &row->info};
    struct arrays arrays;
    struct check found = {0.0, "no memory"};
    if (arrays_create(&arrays, &linrec_operation, sizes, direction, FLOAT32, ON_CUDA) == cudaSuccess &&
        arrays_fill(&arrays, &data) == cudaSuccess)
        check_launch(&arrays, &kernel, &data, &found);
    const bool good = must_say == NULL ? found.text[0] == '\0' && found.max_error <= 1.0
                                       : strstr(found.text, must_say) != NULL && !(found.max_error <= 1.0);
    printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
    if (!good)
        printf("# %s\n", found.text);
    arrays_free(&arrays);
}

int main(void)
{
    const struct linrec_kernel right = {.info.name = "right",
                                        .forward = cuda_ref_all_ways_forward,
                                        .backward = cuda_ref_all_ways_backward,
                                        .reverse = true};
    const struct linrec_kernel spoilt = {
        .info.name = "spoilt", .forward = spoilt_forward, .backward = spoilt_backward, .reverse = true};
    for (enum direction d = 0; d < NUM_DIRECTIONS; d++) {
        char what[64];
        snprintf(what, sizeof what, "a right result, %s", direction_name(d));
        check(what, &right, d, 5, 1000, NULL);
    }
    check("a right result, large", &right, FORWARD, 1100, 1000, NULL);
    check("a right result, backward and large", &right, BACKWARD, 1100, 1000, NULL);
    wrong_seq = 3, wrong_pos = 17;
    check("a wrong element", &spoilt, FORWARD, 5, 1000,
          "1 of 5000 elements are wrong, the first is outputs[3, 17]: expected ");
    wrong_seq = 701, wrong_pos = 999;
    check("one in a large result, which no sample holds: its values are told, too", &spoilt, FORWARD, 1100, 1000,
          "1 of 1100000 elements are wrong, the first is outputs[701, 999]: expected ");
    check("one of a gradient", &spoilt, BACKWARD, 1100, 1000,
          "1 of 2200000 elements are wrong, the first is d_coeffs[701, 999]: expected ");
    wrong_seq = 550;
    check("one in a sample", &spoilt, BACKWARD_REVERSE, 1100, 1000,
          "1 of 2200000 elements are wrong, the first is d_coeffs[550, 999]: expected ");
    printf("1..%d\n", number);
    return 0;
}
