/* SPDX-License-Identifier: MIT */
/* broken.cu - wrong kernels. Each has one mistake that the harness or the simulator must catch; `right` has none.

   The kernels take a sequence a block and scan it by doubling in shared memory, so that there is something to get
   wrong: after the step of distance d, thread l holds the sum and the product over the last 2 d elements.  */
#include <cuda_runtime.h>

#include "../../harness/harness.h"
#include "../../linrec/linrec_operation.h"

enum { MAX_LEN = 400 };

enum mistake {
    NONE,
    OFF_BY_ONE,
    A_NAN,
    UNWRITTEN,
    PAST_THE_END,
    PAST_BY_MEMCPY,
    READS_EARLY,
    WRITES_EARLY,
    BARRIER_IN_BRANCH,
    ABSENT_LANE,
    CHANGES_INPUTS,
    SKIPS_NAN,
    ZERO_FORGETS,
    SKIPS_A_BLOCK,
    DEFAULT_STREAM,
    HIDES_ERRORS,
    TAKES_NULL,
    REFUSES_NOTHING,
    KEEPS_AN_INPUT
};

template <int mistake>
static __global__ void scan(int seq_len, bool reverse, const float *inputs, const float *coeffs, float *outputs,
                            float *workspace)
{
    __shared__ float sums[MAX_LEN], products[MAX_LEN];
    const int l = threadIdx.x;
    const size_t row = (size_t)blockIdx.x * seq_len;
    const size_t i = row + (reverse ? seq_len - 1 - l : l);

    float y = inputs[i];
    float c = l == 0 ? 1.0f : coeffs[i];
    if (mistake == KEEPS_AN_INPUT && blockIdx.x == 0 && l == 0) { /* right as long as that input stays the same */
        y = isnan(*workspace) ? y : *workspace;
        *workspace = y;
    }
    for (int d = 1; d < seq_len; d *= 2) {
        sums[l] = y;
        products[l] = c;
        if (mistake == BARRIER_IN_BRANCH) {
            if (l >= d)
                __syncthreads();
        } else if (mistake != READS_EARLY) {
            __syncthreads();
        }
        if (l >= d) {
            y = mistake == ZERO_FORGETS && c == 0.0f ? y : y + c * sums[l - d];
            c = c * products[l - d];
        }
        if (mistake != WRITES_EARLY)
            __syncthreads(); /* before the next step overwrites what others still read */
    }
    if (mistake == ABSENT_LANE) {
        if (l == seq_len - 1 && l > 0)
            return; /* leaves its warp, which counts on it */
        y += 0.0f * __shfl_up_sync(0xFFFFFFFF, y, 1);
    }
    if (mistake == A_NAN && l == seq_len / 2)
        y = NAN;
    if (mistake == UNWRITTEN && l == seq_len - 1)
        return;
    if (mistake == OFF_BY_ONE) { /* each result goes one place too far to the front, the first one to the end */
        const int to = l > 0 ? l - 1 : seq_len - 1;
        outputs[row + (reverse ? seq_len - 1 - to : to)] = y;
        return;
    }
    if (mistake == CHANGES_INPUTS && l == 0)
        const_cast<float *>(coeffs)[i] = 0.0f;
    if (mistake == SKIPS_NAN && isnan(y))
        return;
    if (mistake == SKIPS_A_BLOCK && blockIdx.x % 1000 == 999)
        return;
    outputs[i] = y;
    if (mistake == PAST_THE_END && blockIdx.x == gridDim.x - 1 && l == 0)
        outputs[row + seq_len] = 0.0f;
    if (mistake == PAST_BY_MEMCPY && blockIdx.x == gridDim.x - 1 && l == 0)
        memcpy(&outputs[row + seq_len], &inputs[i], 4 * min(seq_len, 1)); /* a call, which the simulator does not see */
}

template <int mistake>
static cudaError_t launch(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return mistake == TAKES_NULL ? cudaSuccess : error;
    if (mistake == KEEPS_AN_INPUT && (args->workspace == NULL || args->workspace_size < sizeof(float)))
        return cudaErrorInvalidValue;
    if (args->seq_len > MAX_LEN)
        return mistake == REFUSES_NOTHING ? cudaSuccess : cudaErrorInvalidValue;
    scan<mistake><<<(unsigned)args->num_seqs, (unsigned)args->seq_len, 0, mistake == DEFAULT_STREAM ? 0 : stream>>>(
        (int)args->seq_len, args->reverse, args->inputs, args->coeffs, args->outputs, (float *)args->workspace);
    return mistake == HIDES_ERRORS ? cudaSuccess : cudaGetLastError();
}

/* Says that nothing comes into any element, which is not what the kernel computes. */
static void instead(const struct linrec_args *, size_t, size_t, struct linrec_element *element)
{
    element->coeff = 0.0;
}

static size_t a_float(const struct linrec_args *)
{
    return sizeof(float);
}

static int levels(size_t seq_len)
{
    int count = 1;
    while (seq_len > 1) {
        seq_len = (seq_len + 1) / 2;
        count++;
    }
    return count;
}

static struct linrec_kernel row(const char *name, linrec_launcher *forward)
{
    struct linrec_kernel kernel = {};
    kernel.info.name = name;
    kernel.info.idea = "for the tests";
    kernel.forward = forward;
    kernel.reverse = true;
    kernel.max_seq_len = MAX_LEN;
    kernel.finite_products = true; /* doubling multiplies all coefficients up to an element */
    kernel.levels = levels;
    return kernel;
}

int main(int argc, char **argv)
{
    struct linrec_kernel kernels[] = {
        row("right", launch<NONE>),
        row("off_by_one", launch<OFF_BY_ONE>),
        row("a_nan", launch<A_NAN>),
        row("unwritten", launch<UNWRITTEN>),
        row("past_the_end", launch<PAST_THE_END>),
        row("past_by_memcpy", launch<PAST_BY_MEMCPY>),
        row("reads_early", launch<READS_EARLY>),
        row("writes_early", launch<WRITES_EARLY>),
        row("barrier_in_branch", launch<BARRIER_IN_BRANCH>),
        row("absent_lane", launch<ABSENT_LANE>),
        row("changes_inputs", launch<CHANGES_INPUTS>),
        row("skips_nan", launch<SKIPS_NAN>),
        row("zero_forgets", launch<ZERO_FORGETS>),
        row("skips_a_block", launch<SKIPS_A_BLOCK>),
        row("default_stream", launch<DEFAULT_STREAM>),
        row("hides_errors", launch<HIDES_ERRORS>),
        row("takes_null", launch<TAKES_NULL>),
        row("refuses_nothing", launch<REFUSES_NOTHING>),
        row("promises_too_much", launch<NONE>),
        row("takes_any_workspace", launch<NONE>),
        row("keeps_an_input", launch<KEEPS_AN_INPUT>),
        row("does_more", launch<NONE>),
        row(NULL, NULL),
    };
    struct linrec_kernel *const does_more = &kernels[sizeof kernels / sizeof kernels[0] - 2];
    does_more[-1].workspace_size = does_more[-2].workspace_size = a_float;
    does_more->info.partial = true;
    does_more->instead = instead;
    does_more[-3].finite_products = false;
    kernels[0].info.is_default = true;
    struct chapter chapter = {};
    chapter.operation = &linrec_operation;
    chapter.name = "broken";
    chapter.kernels = kernels;
    return harness_main(argc, argv, &chapter);
}
