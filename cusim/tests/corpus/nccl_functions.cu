// right
// SPDX-License-Identifier: MIT
// What the stand-in for NCCL offers, on three ranks: each of its functions, types and operations, groups, in place,
// more than a message holds at once, a graph.
#include "ranks.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

enum { RANKS = 3, MANY = 10000 };

static int wrong;

static void must(bool right, const char *what)
{
    if (!right)
        fprintf(stderr, "wrong: %s\n", what);
    wrong += !right;
}

template <class T>
__global__ void fill(T *x, int n, int first)
{
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        x[i] = (T)(float)(first + i % 7);
}

template <class T>
static bool holds(const T *device, int at, float value)
{
    T host;
    cudaMemcpy(&host, device + at, sizeof(host), cudaMemcpyDeviceToHost);
    return (float)host == value;
}

// Rank r has r + 1, r + 2 ... r + 7 again and again: element 3 is 4, 5, 6.
template <class T>
static void reduce(ncclDataType_t type, int rank, ncclComm_t comm, cudaStream_t stream, const char *name)
{
    const float sums[] = {15, 120, 6, 4, 5};
    T *x, *y;

    cudaMalloc(&x, MANY * sizeof(T));
    cudaMalloc(&y, MANY * sizeof(T));
    for (int op = ncclSum; op <= ncclAvg; op++) {
        fill<<<1, 32, 0, stream>>>(x, MANY, rank + 1);
        must(ncclAllReduce(x, y, MANY, type, (ncclRedOp_t)op, comm, stream) == ncclSuccess, name);
        cudaStreamSynchronize(stream);
        must(holds(y, 3, sums[op]) && holds(y, MANY - MANY % 7 - 4, sums[op]), name);
    }
    cudaFree(x);
    cudaFree(y);
}

int main(void)
{
    int rank, ranks, device, version;
    ncclResult_t error;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    float *x, *all;
    const ncclComm_t comm = join_ranks(RANKS, &rank);
    const int next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;

    ncclCommCount(comm, &ranks);
    ncclCommUserRank(comm, &device);
    must(ranks == RANKS && device == rank, "count and rank");
    must(ncclCommCuDevice(comm, &device) == ncclSuccess && device == 0, "device");
    must(ncclGetVersion(&version) == ncclSuccess && version == NCCL_VERSION_CODE, "version");
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    reduce<int8_t>(ncclInt8, rank, comm, stream, "int8");
    reduce<uint8_t>(ncclUint8, rank, comm, stream, "uint8");
    reduce<int>(ncclInt32, rank, comm, stream, "int32");
    reduce<unsigned>(ncclUint32, rank, comm, stream, "uint32");
    reduce<int64_t>(ncclInt64, rank, comm, stream, "int64");
    reduce<uint64_t>(ncclUint64, rank, comm, stream, "uint64");
    reduce<__half>(ncclFloat16, rank, comm, stream, "float16");
    reduce<__nv_bfloat16>(ncclBfloat16, rank, comm, stream, "bfloat16");
    reduce<float>(ncclFloat32, rank, comm, stream, "float32");
    reduce<double>(ncclFloat64, rank, comm, stream, "float64");

    // gathered in place, a part of it spread again, and the sums spread
    cudaMalloc(&x, MANY * sizeof(*x));
    cudaMalloc(&all, RANKS * MANY * sizeof(*all));
    fill<<<1, 32, 0, stream>>>(all + rank * MANY, MANY, 10 * rank);
    ncclAllGather(all + rank * MANY, all, MANY, ncclFloat, comm, stream);
    cudaStreamSynchronize(stream);
    for (int r = 0; r < RANKS; r++)
        must(holds(all, r * MANY + 2, 10.0f * r + 2) && holds(all, r * MANY + MANY - 4, 10.0f * r + (MANY - 4) % 7),
             "gathered");
    ncclReduceScatter(all, x, MANY, ncclFloat, ncclSum, comm, stream);
    cudaStreamSynchronize(stream);
    must(holds(x, 2, RANKS * (10.0f * rank + 2)), "reduced and scattered");
    ncclBroadcast(all + 2 * MANY, x, MANY, ncclFloat, 1, comm, stream);
    ncclBcast(all, 8, ncclFloat, 2, comm, stream);
    cudaStreamSynchronize(stream);
    must(holds(x, 5, 25) && holds(all, 5, 5), "broadcast");
    ncclReduce(all, x, MANY, ncclFloat, ncclMax, 2, comm, stream);
    ncclAllReduce(all, all, 0, ncclFloat, ncclMax, comm, stream);
    cudaStreamSynchronize(stream);
    must(holds(x, 6, rank == 2 ? 6 : 26), "reduced for one rank"); // the others keep what was broadcast

    // around in a ring, to oneself, and one sum, all in one group; on the default stream
    fill<<<1, 32>>>(x, MANY, 100 * rank);
    ncclGroupStart();
    ncclSend(x, MANY, ncclFloat, next, comm, NULL);
    ncclRecv(all, MANY, ncclFloat, before, comm, NULL);
    ncclSend(x, 8, ncclFloat, rank, comm, NULL);
    ncclRecv(all + MANY, 8, ncclFloat, rank, comm, NULL);
    ncclAllReduce(x, all + 2 * MANY, MANY, ncclFloat, ncclSum, comm, NULL);
    ncclGroupEnd();
    must(holds(all, 4, 100.0f * before + 4) && holds(all + MANY, 4, 100.0f * rank + 4) && holds(all + 2 * MANY, 4, 312),
         "a group");

    // the same again and again, by a graph: x becomes 3 x + 3 x (the sum) twice
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    ncclAllReduce(all + 2 * MANY, all + 2 * MANY, MANY, ncclFloat, ncclSum, comm, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&runs, graph, NULL, NULL, 0);
    cudaGraphLaunch(runs, stream);
    cudaGraphLaunch(runs, stream);
    must(ncclCommGetAsyncError(comm, &error) == ncclSuccess && error == ncclSuccess, "no error");
    cudaStreamSynchronize(stream);
    must(holds(all + 2 * MANY, 4, 9 * 312), "a graph");

    // what is refused by an error
    must(ncclSend(x, 8, ncclFloat, RANKS, comm, stream) == ncclInvalidArgument, "no such rank");
    must(ncclAllGather(x, all, 8, (ncclDataType_t)12, comm, stream) == ncclInvalidArgument, "no such type");
    must(ncclGroupEnd() == ncclInvalidUsage && *ncclGetLastError(comm) != '\0', "no group");
    must(ncclCommDestroy(comm) == ncclSuccess && ncclCommDestroy(comm) == ncclInvalidArgument, "destroyed");
    if (rank > 0)
        _exit(wrong);
    puts(part_ranks(RANKS, rank) + wrong == 0 ? "right" : "wrong");
    return 0;
}
