/* SPDX-License-Identifier: MIT */
/* cub_block_scan.cu - one block for each sequence, from the parts that CUB has for a block: what one writes with that
   library if one knows that the sequences are independent.

       sequence   | tile 0: 2048 elements  | tile 1                 | tile 2       |
                    thread 0 has 0 ... 7,    the carry comes in       the last one is
                    thread 1 has 8 ... 15      through a callback       partly filled

   BlockLoad reads a warp's 256 elements side by side and hands each thread its eight consecutive ones by way of shared
   memory (WARP_TRANSPOSE); BlockStore does the same backwards. Where each row starts at a multiple of 16 bytes, a load
   moves a float4, else a float. Nothing is prefetched. After the barrier at a tile's end CUB may use its shared memory
   again. This file is in C++, as cub_scan.cu is; the simulator leaves it out. */
#ifndef CUSIM

#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#include "../common/cuda/launch_of.h"
#include "bench.h"
#include "cub_pair.cuh"

enum { THREADS = 256, ITEMS = 8, TILE = THREADS * ITEMS };

/* BlockScan calls it once for each tile, with what the whole tile does. It returns what all tiles before it have done,
   and keeps what they do together. */
struct carry {
    pair before;
    __device__ pair operator()(const pair &tile)
    {
        const pair old = before;
        before = join{}(old, tile);
        return old;
    }
};

template <typename Word> /* float or float4 */
static __global__ __launch_bounds__(THREADS) void cub_block(size_t seq_len, const float *__restrict__ inputs,
                                                            const float *__restrict__ coeffs,
                                                            float *__restrict__ outputs)
{
    enum { WORD = sizeof(Word) / sizeof(float), WORDS = ITEMS / WORD };
    using Load = cub::BlockLoad<Word, THREADS, WORDS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<pair, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    using Store = cub::BlockStore<Word, THREADS, WORDS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    __shared__ struct {
        typename Load::TempStorage inputs, coeffs;
        typename Scan::TempStorage scan;
        typename Store::TempStorage outputs;
    } shared;
    const size_t seq_begin = blockIdx.x * seq_len;
    carry tiles_before = {{1.0f, 0.0f}};

    for (size_t tile_begin = 0; tile_begin < seq_len; tile_begin += TILE) {
        const size_t left = seq_len - tile_begin, at = seq_begin + tile_begin;
        const Word *tile_inputs = (const Word *)(inputs + at), *tile_coeffs = (const Word *)(coeffs + at);
        Word *tile_outputs = (Word *)(outputs + at);
        union {
            Word words[WORDS];
            float items[ITEMS];
        } x, c, y;
        pair pairs[ITEMS];

        if (left >= TILE) {
            Load(shared.inputs).Load(tile_inputs, x.words);
            Load(shared.coeffs).Load(tile_coeffs, c.words);
        } else { /* zeros behind the end; nothing of them is stored */
            Load(shared.inputs).Load(tile_inputs, x.words, (int)left / WORD, Word{});
            Load(shared.coeffs).Load(tile_coeffs, c.words, (int)left / WORD, Word{});
        }
        for (int i = 0; i < ITEMS; i++)
            pairs[i] = {c.items[i], x.items[i]};
        if (tile_begin == 0) { /* nothing comes in, and so 0 * infinity cannot arise */
            Scan(shared.scan).InclusiveScan(pairs, pairs, join{}, tiles_before.before);
        } else {
            Scan(shared.scan).InclusiveScan(pairs, pairs, join{}, tiles_before);
        }
        for (int i = 0; i < ITEMS; i++)
            y.items[i] = pairs[i].value;
        if (left >= TILE)
            Store(shared.outputs).Store(tile_outputs, y.words);
        else
            Store(shared.outputs).Store(tile_outputs, y.words, (int)left / WORD);
        __syncthreads();
    }
}

extern "C" cudaError_t cub_block_scan_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->num_seqs > 0x7FFFFFFF || args->reverse)
        return cudaErrorInvalidValue;
    void (*const kernel)(size_t, const float *, const float *, float *) =
        args->seq_len % 4 == 0 ? cub_block<float4> : cub_block<float>;
    const cudaLaunchConfig_t launch = launch_of((unsigned)args->num_seqs, THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->seq_len, args->inputs, args->coeffs, args->outputs);
}

#endif
