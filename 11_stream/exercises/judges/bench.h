/* SPDX-License-Identifier: MIT */
/* bench.h - the data of the judges of 11.2 and 11.3: arrays in pinned memory of the host, two slots on the device,
   three streams. When the answer returns, its outputs are taken as they are. */
#ifndef BENCH_H
#define BENCH_H

#include <stdlib.h>
#include <string.h>

#include "../../streams.h"
#include "judge.h"

#ifdef CUSIM
#include "../../../cusim/counts.h"
#endif

struct bench {
    size_t bytes; /* of an array */
    float *inputs, *coeffs, *outputs;
    struct slot slots[2];
    float *states[2]; /* (num_seqs), on the device */
    cudaStream_t in, kernel, out;
};

/* Of the answer's last run: waits of the host, and the longest chain of copies and kernels. */
static size_t bench_waits, bench_chain;

/* `in`, `out`: elements of a slot's arrays. */
static cudaError_t bench_make(struct bench *bench, size_t num_seqs, size_t seq_len, size_t in, size_t out,
                              float *const *array)
{
    cudaError_t error = cudaSuccess;
    memset(bench, 0, sizeof *bench);
    bench->bytes = num_seqs * seq_len * sizeof(float);
    float **const host[] = {&bench->inputs, &bench->coeffs, &bench->outputs};
    for (int i = 0; i < 3 && error == cudaSuccess; i++) {
        error = cudaMallocHost((void **)host[i], bench->bytes);
        if (i < 2 && error == cudaSuccess)
            error = cudaMemcpy(*host[i], array[i], bench->bytes, cudaMemcpyDeviceToHost);
    }
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&bench->in, cudaStreamNonBlocking); /* the stream `in` */
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&bench->kernel, cudaStreamNonBlocking); /* the stream `kernel` */
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&bench->out, cudaStreamNonBlocking); /* the stream `out` */
    for (int s = 0; s < 2 && error == cudaSuccess; s++) {
        struct slot *const slot = &bench->slots[s];
        float **const device[] = {&slot->in[0], &slot->in[1], &slot->out[0], &bench->states[s]};
        cudaEvent_t *const events[] = {&slot->filled, &slot->computed, &slot->emptied};
        for (int i = 0; i < 4 && error == cudaSuccess; i++) {
            const size_t bytes = (i < 2 ? in : i < 3 ? out : num_seqs) * sizeof(float);
            error = cudaMalloc((void **)device[i], bytes);
#ifdef CUSIM
            static const char *const names[2][4] = {
                {"slots[0].in[0]", "slots[0].in[1]", "slots[0].out[0]", "states[0]"},
                {"slots[1].in[0]", "slots[1].in[1]", "slots[1].out[0]", "states[1]"}};
            if (error == cudaSuccess)
                sim_name_array(*device[i], bytes, names[s][i]);
#endif
        }
        for (int i = 0; i < 3 && error == cudaSuccess; i++)
            error = cudaEventCreateWithFlags(events[i], cudaEventDisableTiming);
    }
    memset(bench->outputs, 0xFF, bench->bytes);
#ifdef CUSIM
    sim_watch_calls(true, -1);
#endif
    return error;
}

#ifdef CUSIM
/* Of a stream, or of an event: how many copies and kernels come one after the other up to there. */
struct chain {
    const void *of;
    size_t length;
};
enum { MOST_CHAINS = 16 }; /* there are 4 streams and 6 events, and the answer can make none */

static size_t *chain_of(struct chain *chains, const void *of)
{
    int i = 0; /* the first one is the default stream's, NULL */
    while (i < MOST_CHAINS - 1 && chains[i].of != of && (i == 0 || chains[i].of != NULL))
        i++;
    chains[i].of = of;
    return &chains[i].length;
}

static size_t longest_chain(void)
{
    struct chain chains[MOST_CHAINS] = {{NULL, 0}};
    size_t longest = 0;

    for (size_t i = 0; i < sim_num_calls(); i++) {
        const struct sim_call_made call = sim_get_call(i);
        size_t *const stream = chain_of(chains, call.stream), *const event = chain_of(chains, call.event);
        if (strcmp(call.name, "cudaEventRecord") == 0)
            *event = *stream;
        else if (call.event != NULL)
            *stream = *event > *stream ? *event : *stream;
        else if (call.is_launch || strstr(call.name, "Memcpy") != NULL)
            ++*stream;
        longest = *stream > longest ? *stream : longest;
    }
    return longest;
}
#endif

/* Hands the outputs to the judge, and returns the answer's error or one of its own. */
static cudaError_t bench_finish(struct bench *bench, cudaError_t error, float *outputs)
{
    float *const taken = malloc(bench->bytes);
    memcpy(taken, bench->outputs, bench->bytes);
    bench_waits = bench_chain = 0;
#ifdef CUSIM
    bench_chain = longest_chain();
    for (size_t i = 0; i < sim_num_calls(); i++)
        bench_waits += strstr(sim_get_call(i).name, "Synchronize") != NULL;
    sim_watch_calls(false, -1);
#endif
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(outputs, taken, bench->bytes, cudaMemcpyHostToDevice);
    free(taken);
    for (int s = 0; s < 2; s++) {
        struct slot *const slot = &bench->slots[s];
        cudaFree(slot->in[0]), cudaFree(slot->in[1]), cudaFree(slot->out[0]), cudaFree(bench->states[s]);
        cudaEventDestroy(slot->filled), cudaEventDestroy(slot->computed), cudaEventDestroy(slot->emptied);
    }
    cudaStreamDestroy(bench->in), cudaStreamDestroy(bench->kernel), cudaStreamDestroy(bench->out);
    cudaFreeHost(bench->inputs), cudaFreeHost(bench->coeffs), cudaFreeHost(bench->outputs);
    return error;
}

static void bench_count(const size_t *size, float *const *array)
{
    (void)size, (void)array;
    judge_count("host_waits", (double)bench_waits);
    judge_count("stream_chain", (double)bench_chain);
}

#endif
