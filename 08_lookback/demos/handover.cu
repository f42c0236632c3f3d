/* SPDX-License-Identifier: MIT */
/* handover.cu - block 0 hands a number to block 1 (memory.md).

       08_lookback_handover            in the ways that are right
       08_lookback_handover WAY        in one way: one_word, release, fences or ticket, which are right,
                                       relaxed, flag_first, own_block or no_ticket, which are not

   A GPU may well print the right number for a wrong way, today. The simulator says what is missing. */
#include <cuda/atomic>
#include <cuda_runtime.h>

#include <stdio.h>
#include <string.h>

enum { CHAIN = 100 }; /* blocks of ticket and no_ticket */

/* Where the blocks meet. All of it is 0 at first. */
struct board {
    int data, flag, got;
    unsigned ticket;
    unsigned long long word;
    int numbers[CHAIN];
};

typedef cuda::atomic_ref<int, cuda::thread_scope_device> device_int;
typedef cuda::atomic_ref<int, cuda::thread_scope_block> block_int;
typedef cuda::atomic_ref<unsigned, cuda::thread_scope_device> device_unsigned;
typedef cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> device_word;

/* ---- right ---- */

static __global__ void release(struct board *board)
{
    const device_int flag(board->flag);
    if (blockIdx.x == 0) {
        board->data = 42;
        flag.store(1, cuda::memory_order_release);
    } else {
        while (flag.load(cuda::memory_order_acquire) == 0)
            ;
        board->got = board->data;
    }
}

static __global__ void fences(struct board *board)
{
    const device_int flag(board->flag);
    if (blockIdx.x == 0) {
        board->data = 42;
        __threadfence();
        flag.store(1, cuda::memory_order_relaxed);
    } else {
        while (flag.load(cuda::memory_order_relaxed) == 0)
            ;
        __threadfence();
        board->got = board->data;
    }
}

static __global__ void one_word(struct board *board)
{
    const device_word word(board->word);
    if (blockIdx.x == 0) {
        word.store(42ull << 32 | 1, cuda::memory_order_relaxed);
    } else {
        unsigned long long both;
        do
            both = word.load(cuda::memory_order_relaxed);
        while ((unsigned)both == 0);
        board->got = (int)(both >> 32);
    }
}

/* Each block adds 1 to what the one before has written, in the order in which they begin. */
static __global__ void ticket(struct board *board)
{
    const int number = (int)device_unsigned(board->ticket).fetch_add(1, cuda::memory_order_relaxed);
    int before = 0;
    while (number > 0 && before == 0)
        before = device_int(board->numbers[number - 1]).load(cuda::memory_order_relaxed);
    device_int(board->numbers[number]).store(before + 1, cuda::memory_order_relaxed);
    if (number == CHAIN - 1)
        board->got = before + 1;
}

/* ---- wrong ---- */

static __global__ void relaxed(struct board *board)
{
    const device_int flag(board->flag);
    if (blockIdx.x == 0) {
        board->data = 42;
        flag.store(1, cuda::memory_order_relaxed);
    } else {
        while (flag.load(cuda::memory_order_relaxed) == 0)
            ;
        board->got = board->data;
    }
}

static __global__ void flag_first(struct board *board)
{
    const device_int flag(board->flag);
    if (blockIdx.x == 0) {
        flag.store(1, cuda::memory_order_release);
        board->data = 42;
    } else {
        while (flag.load(cuda::memory_order_acquire) == 0)
            ;
        board->got = board->data;
    }
}

static __global__ void own_block(struct board *board)
{
    const block_int flag(board->flag);
    if (blockIdx.x == 0) {
        board->data = 42;
        flag.store(1, cuda::memory_order_release);
    } else {
        while (flag.load(cuda::memory_order_acquire) == 0)
            ;
        board->got = board->data;
    }
}

/* The same as ticket, in the order of the blocks' numbers. */
static __global__ void no_ticket(struct board *board)
{
    const int number = (int)blockIdx.x;
    int before = 0;
    while (number > 0 && before == 0)
        before = device_int(board->numbers[number - 1]).load(cuda::memory_order_relaxed);
    device_int(board->numbers[number]).store(before + 1, cuda::memory_order_relaxed);
    if (number == CHAIN - 1)
        board->got = before + 1;
}

static const struct way {
    const char *name;
    void (*kernel)(struct board *);
    int blocks;
    bool right;
} ways[] = {
    {"release", release, 2, true},      {"fences", fences, 2, true},
    {"one_word", one_word, 2, true},    {"ticket", ticket, CHAIN, true},
    {"relaxed", relaxed, 2, false},     {"flag_first", flag_first, 2, false},
    {"own_block", own_block, 2, false}, {"no_ticket", no_ticket, CHAIN, false},
};

static bool run(const struct way *way, struct board *board)
{
    int got = 0;
    cudaError_t error = cudaMemset(board, 0, sizeof(*board));
    if (error == cudaSuccess) {
        way->kernel<<<way->blocks, 1>>>(board);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess)
        error = cudaMemcpy(&got, &board->got, sizeof(got), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess)
        fprintf(stderr, "handover: %s\n", cudaGetErrorString(error));
    else
        printf("%-9s  handed over: %d\n", way->name, got);
    return error == cudaSuccess;
}

int main(int argc, char **argv)
{
    struct board *board;
    const cudaError_t error = cudaMalloc(&board, sizeof(*board));
    bool known = false;

    if (error != cudaSuccess) {
        fprintf(stderr, "handover: %s\n", cudaGetErrorString(error));
        return 1;
    }
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (argc == 1 ? !ways[i].right : strcmp(argv[1], ways[i].name) != 0)
            continue;
        known = true;
        if (!run(&ways[i], board))
            return 1;
    }
    if (!known) {
        fprintf(stderr, "handover: there is no way %s; see the top of handover.cu\n", argv[1]);
        return 2;
    }
    return 0;
}
