/* SPDX-License-Identifier: MIT */
/* totals.h - the aggregate of a stretch of a sequence, and the kernels that compute it. */
#ifndef TOTALS_H
#define TOTALS_H

#include "../common/linrec/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whatever y comes into a stretch, y * product + sum leaves it: chapter 04's pair, and all that travels. */
struct total {
    float product, sum;
};

/* Elements number [first, last) of each sequence in the order of the scan, which is the other one if `reverse`. */
struct piece {
    size_t first, last;
    bool reverse;
    bool starts; /* its first element is the whole sequence's: that coefficient is not used, and may be NaN */
};

/* Tiles of a piece of `length` elements, in each sequence. */
size_t totals_tiles(size_t length);

/* Queues the kernels that write what the piece does in each sequence to totals[num_seqs]. Of args they need the sizes
   and the arrays: inputs and coeffs, or if `backward` d_outputs and coeffs. `tiles` is scratch memory for num_seqs *
   totals_tiles(last - first) of them. Both lie on the device. Returns the launches' error; without any element in the
   piece, cudaErrorInvalidValue. */
cudaError_t totals_launch(const struct linrec_args *args, bool backward, const struct piece *piece, struct total *tiles,
                          struct total *totals, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
