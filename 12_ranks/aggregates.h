/* SPDX-License-Identifier: MIT */
/* aggregates.h - the aggregate of a stretch of a sequence, and the kernels that compute and join them. */
#ifndef AGGREGATES_H
#define AGGREGATES_H

#include "../common/linrec/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whatever y comes into a stretch, y * product + sum leaves it: chapter 04's pair, and all that travels. */
struct aggregate {
    float product, sum;
};

/* Elements number [first, last) of each sequence in the order of the scan, which begins at the end if `from_end`. */
struct piece {
    size_t first, last;
    bool from_end;
    bool starts; /* its first element is the whole sequence's: that coefficient is not used, and may be NaN */
};

/* Tiles of a piece of `length` elements, in each sequence. */
size_t aggregates_tiles(size_t length);

/* Queues the kernels that write what the piece does in each sequence to aggregates[num_seqs]. Of args they need the
   sizes and the arrays: inputs and coeffs, or if `backward` d_outputs and coeffs. `tiles` is scratch memory for
   num_seqs * aggregates_tiles(last - first) of them. Both lie on the device. Returns the launches' error; without any
   element in the piece, cudaErrorInvalidValue. */
cudaError_t aggregates_launch(const struct linrec_args *args, bool backward, const struct piece *piece,
                              struct aggregate *tiles, struct aggregate *aggregates, cudaStream_t stream);

/* Queues the kernel that joins the aggregates of the first `before` ranks, at least 1, of each sequence: what comes
   into the rank behind them is written to carries[num_seqs]. all[rank * num_seqs + seq], on the device. Returns the
   launch's error; without a rank or a sequence, cudaErrorInvalidValue. */
cudaError_t carries_launch(int before, size_t num_seqs, const struct aggregate *all, float *carries,
                           cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
