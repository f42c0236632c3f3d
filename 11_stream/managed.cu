/* SPDX-License-Identifier: MIT */
/* managed.cu - no plan: the arrays are managed memory, which host and device both reach by the same pointer. Its pages
   move to who touches them; to say beforehand who will, prefetch them.

       bus in   | x | c |
       kernel           | k |         no slots, and no copies: the kernel gets the host's pointers
       bus out              | y |  */
#include "streams.h"

/* Moves an array's pages, in the order of the stream. `device`: cudaCpuDeviceId is the host. */
static void prefetch(const float *array, size_t bytes, int device, cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
    struct cudaMemLocation place;
    place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    place.id = device == cudaCpuDeviceId ? 0 : device;
    need(cudaMemPrefetchAsync(array, bytes, place, 0, stream), "no prefetch");
#else
    need(cudaMemPrefetchAsync(array, bytes, device, stream), "no prefetch");
#endif
}

void run_managed(struct job *job)
{
    const size_t bytes = job->host.num_seqs * job->host.seq_len * sizeof(float);
    const cudaStream_t stream = job->streams[0];
    struct linrec_args args = job->host;
    int device, prefetches;

    args.workspace = job->slots[0].workspace;
    args.workspace_size = job->slots[0].workspace_size;
    need(cudaGetDevice(&device), "no device");
    /* Not under Windows: there all pages move when a kernel is launched. */
    need(cudaDeviceGetAttribute(&prefetches, cudaDevAttrConcurrentManagedAccess, device), "no answer");

    for (int a = 0; a < job->num_in && prefetches; a++)
        prefetch(job->in[a], bytes, device, stream);
    compute(job, &args, stream);
    for (int a = 0; a < job->num_out && prefetches; a++)
        prefetch(job->out[a], bytes, cudaCpuDeviceId, stream);
    need(cudaStreamSynchronize(stream), "a kernel failed");
}
