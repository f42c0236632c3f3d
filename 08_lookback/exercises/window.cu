/* 08.2  Look back over 32 tiles at once

   One pass over memory: each tile publishes what it does, looks back for what comes in, and publishes what leaves it.
   To keep this short, a tile is 32 elements here, and a block one warp. Everything is right. But this warp looks back
   tile by tile, and it asks for a word only when the nearer one has come:

       tile     t-5    t-4    t-3    t-2    t-1     t
       word     total  carry  total  total  total   looks at t-1, t-2, t-3, t-4: four loads, one after the other
                       <------<------<------<----

   A warp has 32 lanes. Let lane 31 read the word of t-1, lane 30 that of t-2, and so on, all with one load. If a lane
   has found a carry, then what leaves that tile, passed through the tiles after it, is what comes into t. If no lane
   has, then the warp knows what these 32 tiles do together, and looks at the 32 before them.

       lane     26 27 28 29 30 31
       word      T  -  C  T  T  T        T: total, C: carry, -: nothing yet. Must the warp wait for lane 27's?

   The words are those of lookback.cuh, product and sum in 8 bytes. word_read reads both at once. NOTHING_YET has not
   been published, word_is_carry says whether it is what leaves the tile, and word_pair is its pair. A carry has no
   product, so give it one before you join it. A sequence's first tile publishes its carry and no total, and before it
   there is nothing to look at: number_in_seq says how many tiles of the sequence come before.

   Goal: 3.5 loads a warp, not 33.5. It is counted for a sequence of 64 tiles, when all of them have published what
   they do, and only the first one knows its carry. Two of the loads are the warp's elements; so 1.5 are left for
   looking back. The result may differ by roundings from the one above: the tiles are joined in another order.

   Write carry_before anew, where it says "here". lookback.cuh has look_back, but write yours first. You may take
   __ballot_sync, __clz, warp_scan and pair_shfl. */
#include <cuda_runtime.h>

#include "lookback.cuh"

/* What comes into tile `number`, which is not its sequence's first. All lanes of a warp call it, and get it. */
static __device__ __forceinline__ float carry_before(unsigned long long *words, unsigned number, unsigned number_in_seq,
                                                     int lane)
{
    struct pair since = {1.0f, 0.0f}; /* what the tiles do that have been looked at */
    (void)number_in_seq, (void)lane;
    for (unsigned back = 1;; back++) { /* here: 32 tiles at a time */
        unsigned long long word;
        do
            word = word_read(&words[number - back]);
        while (word == NOTHING_YET);
        if (word_is_carry(word))
            return word_pair(word).sum * since.product + since.sum;
        since = pair_join(word_pair(word), since);
    }
}

/* Each block takes the next tile of 32 elements. inputs, coeffs, outputs: (num_seqs, seq_len). */
static __global__ void __launch_bounds__(32)
    window(size_t seq_len, unsigned seq_tiles, const float *__restrict__ inputs, const float *__restrict__ coeffs,
           float *__restrict__ outputs, struct workspace *space)
{
    __shared__ unsigned number_taken;
    const int lane = threadIdx.x;

    if (lane == 0)
        number_taken = take_ticket(space);
    __syncthreads();
    const unsigned number = number_taken, number_in_seq = number % seq_tiles;
    const size_t l = (size_t)number_in_seq * 32 + lane, at = number / seq_tiles * seq_len + l;

    struct pair mine = {1.0f, 0.0f};
    if (l < seq_len)
        mine.sum = inputs[at];
    if (l < seq_len && l > 0)
        mine.product = coeffs[at];
    mine = warp_scan(mine, lane);

    float y = mine.sum; /* nothing comes into a sequence's first tile */
    if (number_in_seq > 0) {
        if (lane == 31)
            word_write(&space->words[number], word_half(mine.product), word_half(mine.sum));
        const float carry = carry_before(space->words, number, number_in_seq, lane);
        y = carry * mine.product + mine.sum;
    }
    if (lane == 31)
        word_write(&space->words[number], NO_PRODUCT, word_half(y));
    if (l < seq_len)
        outputs[at] = y;
}

/* workspace: filled with 0xFF, with a word for each tile. */
extern "C" cudaError_t launch_window(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs,
                                     float *outputs, void *workspace)
{
    const unsigned seq_tiles = (unsigned)((seq_len + 31) / 32);
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    window<<<(unsigned)num_seqs * seq_tiles, 32>>>(seq_len, seq_tiles, inputs, coeffs, outputs,
                                                   (struct workspace *)workspace);
    return cudaGetLastError();
}
