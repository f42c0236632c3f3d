/* SPDX-License-Identifier: MIT */
/* memory.cpp - memory that the program asks for: the device's, pinned, managed, from pools. */
#include <stdlib.h>
#include <string.h>

#include "../counts.h"
#include "../include/cuda_runtime.h"
#include "../machine/cores.h"
#include "../machine/sizes.h"
#include "../machine/fault.h"
#include "host.h"
#include "memory.h"
#include "stream.h"
#include "../machine/region.h"
#include "../machine/announce.h"

/* ---- names and shapes ---- */

void sim_name_array(const void *start, size_t size, const char *name)
{
    struct sim_region *r = sim_region_near(start);

    if (r == NULL || sim_is_shared(r) || r->freed || (const char *)start < r->start ||
        size > r->size - (size_t)((const char *)start - r->start))
        sim_fault(NULL, 0, "no allocation holds %zu bytes for the array %s. Name what cudaMalloc gave", size, name);
    r->array = (char *)start;
    r->array_size = size;
    r->array_name = name;
    r->shape = {};
}

void sim_shape_array(const void *start, size_t element, unsigned num_dims, const size_t *dims)
{
    struct sim_region *r = sim_region_near(start);

    if (r == NULL || r->array != start || r->array_name == NULL || element == 0 || num_dims == 0 ||
        num_dims > SIM_MAX_DIMS)
        sim_fault(NULL, 0, "no array begins there that has a name. Call sim_name_array first");
    r->shape = {};
    r->shape.element = element;
    r->shape.rank = num_dims;
    memcpy(r->shape.dims, dims, num_dims * sizeof(*dims));
}

/* ---- host API ---- */

/* What is known of a region beside its memory goes with it. `by`: the call that frees it. */
static void region_free(struct sim_region *r, const struct sim_call *by)
{
    r->freed_by = by->name;
    r->freed_at = by->at;
    sim_num_lines -= r->host;
    delete r->pooled;
    r->pooled = NULL;
    sim_region_free(r);
}

/* Whether there is memory for an allocation, all of which is written at once; a sixteenth is left for the rest of the
   program. To ask Linux takes ten times as long as a small allocation, so it is asked once for some megabytes. */
static bool has_room(size_t size)
{
    enum { TOGETHER = 16 << 20 };
    static size_t granted; /* bytes, and sim_guard's lock is held */
    size_t available, total;

    if (size > granted) {
        granted = 0;
        if (!sim_memory(&available, &total) || size > available - available / 16)
            return false;
        granted = size + TOGETHER <= available - available / 16 ? size + TOGETHER : size;
    }
    granted -= size;
    return true;
}

cudaError_t cudaMalloc(void **pointer, size_t size)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    struct sim_region *r;

    if (pointer == NULL)
        return sim_error(cudaErrorInvalidValue);
    *pointer = NULL;
    if (size == 0)
        return cudaSuccess;
    if (!has_room(size))
        return sim_error(cudaErrorMemoryAllocation);
    r = sim_region_create(size, 256, sim_may_split());
    if (r == NULL)
        return sim_error(cudaErrorMemoryAllocation);
    r->caller = sim_call.at;
    r->device = sim_device;
    sim_region_poison(r);
    sim_tell.made(r->start, NULL, size);
    *pointer = r->start;
    return cudaSuccess;
}

/* What stands in managed memory to which nobody has written: NaN as a float or a double. */
static const unsigned char untouched[4] = {0xd5, 0xd5, 0xff, 0xff};

bool sim_is_untouched(const struct sim_region *r, const char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)at[i] != untouched[(size_t)(at + i - r->start) % 4])
            return false;
    return true;
}

/* Memory that the host may touch as well. */
static cudaError_t host_region(void **pointer, size_t size, bool managed)
{
    const cudaError_t error = cudaMalloc(pointer, size);
    struct sim_region *r = error == cudaSuccess && size > 0 ? sim_region_near(*pointer) : NULL;

    if (r != NULL) {
        r->host = true;
        r->managed = managed;
        if (managed) /* what the host's C code writes there is not seen, but that this is no longer there */
            for (size_t i = 0; i < size; i++)
                r->start[i] = (char)untouched[i % 4];
        else
            sim_tell.written(r, r->start, r->size);
        sim_has_managed = sim_has_managed || managed;
        sim_num_lines++;
    }
    return error;
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    if (flags > (cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
        return sim_error(cudaErrorInvalidValue);
    return host_region(pointer, size, false);
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    return host_region(pointer, size, false);
}

cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned flags)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    if (size == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return sim_error(cudaErrorInvalidValue);
    return host_region(pointer, size, true);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *pointer, size_t, unsigned)
{
    return sim_place_of_managed(pointer, 0);
}

cudaError_t sim_place_of_managed(const void *pointer, size_t size)
{
    const sim_guard guard;
    const struct sim_region *r = sim_region_near(pointer);
    return r != NULL && r->managed && sim_region_holds(r, pointer, size) ? cudaSuccess
                                                                         : sim_error(cudaErrorInvalidValue);
}

static cudaError_t cannot_free(const void *pointer, const char *advice)
{
    char what[700], why[1000];

    sim_region_describe(pointer, 0, what, sizeof(what));
    snprintf(why, sizeof(why), "%s of %s. %s", sim_call.name, what, advice);
    return sim_error(cudaErrorInvalidValue, why);
}

/* What cudaDeviceReset has freed, the destructors of a right program may free again. */
static cudaError_t is_free(const struct sim_region *r)
{
    return r->freed_by != NULL && strcmp(r->freed_by, "cudaDeviceReset") == 0
               ? sim_error(cudaErrorInvalidValue)
               : cannot_free(r->start, "Free it once, and set the pointer to NULL then");
}

static cudaError_t free_region(void *pointer, bool pinned)
{
    struct sim_region *r = sim_region_near(pointer);

    if (pointer == NULL)
        return cudaSuccess;
    if (r == NULL || r->is_variable || r->pageable || sim_is_shared(r))
        return cannot_free(pointer, "Give it what cudaMalloc has given");
    if (r->freed)
        return is_free(r);
    if (pointer != r->start)
        return cannot_free(pointer, "Give it the pointer that cudaMalloc has given, not one that was moved");
    if (pinned != (r->host && !r->managed))
        return cannot_free(pointer, pinned ? "Free it with cudaFree" : "It is pinned: free it with cudaFreeHost");
    sim_wait_for_all();
    sim_region_verify(r);
    sim_tell.gone(r->start);
    region_free(r, &sim_call);
    return cudaSuccess;
}

cudaError_t cudaFree(void *pointer)
{
    const sim_guard guard;
    return free_region(pointer, false);
}

cudaError_t cudaFreeHost(void *pointer)
{
    const sim_guard guard;
    return free_region(pointer, true);
}

cudaError_t cudaDeviceReset(void)
{
    const sim_guard guard;
    sim_wait_for_all();
    sim_tell.gone(NULL);
    sim_each_region([](struct sim_region *r) {
        if (!sim_is_shared(r) && !r->freed && !r->pageable && !r->is_variable)
            free_region(r->start, r->host && !r->managed);
    });
    cudaGetLastError();
    return cudaSuccess;
}

/* ---- padding ---- */

static const sim_elements *padded[256]; /* to which kernels get pointers */
static size_t num_padded;

bool sim_know_padding(const sim_elements *e)
{
    const sim_lock_guard guard;

    if (e == NULL || e->padding == NULL || memchr(e->padding, 1, e->size) == NULL ||
        num_padded == sizeof(padded) / sizeof(*padded))
        return false;
    padded[num_padded++] = e;
    return true;
}

uint32_t sim_without_padding(size_t size, size_t first, uint32_t bytes)
{
    uint32_t least = bytes;

    for (size_t i = 0; i < num_padded; i++) {
        uint32_t rest = bytes;
        for (unsigned k = 0; k < 32 && padded[i]->size == size; k++)
            if (bytes >> k & 1 && padded[i]->padding[first + k])
                rest &= ~((uint32_t)1 << k);
        if (__builtin_popcount(rest) < __builtin_popcount(least))
            least = rest;
    }
    return least;
}

/* ---- memory of the host that is watched ---- */

bool sim_has_pageable;

void *sim_host_array(size_t size)
{
    const sim_guard guard;
    struct sim_region *r = sim_region_create(size, 64, sim_may_split());

    if (r == NULL)
        return NULL;
    sim_region_poison(r);
    sim_tell.written(r, r->start, r->size);
    r->pageable = sim_has_pageable = true;
    return r->start;
}

void sim_free_host_array(void *array)
{
    const sim_guard guard;
    struct sim_region *r = sim_region_near(array);

    sim_finish_all();
    sim_region_verify(r);
    region_free(r, &sim_call);
}

/* ---- memory of the host that is pinned afterwards: copies know it, kernels do not reach it ---- */

struct registered {
    char *start;
    size_t size;
};
static struct registered *pieces;
static size_t num_pieces;

static struct registered *piece_of(const void *pointer)
{
    for (size_t i = 0; i < num_pieces; i++)
        if ((size_t)((const char *)pointer - pieces[i].start) < pieces[i].size)
            return &pieces[i];
    return NULL;
}

bool sim_is_pinned(const void *pointer)
{
    const struct sim_region *r = sim_region_near(pointer);
    return r != NULL ? r->host && !r->managed : piece_of(pointer) != NULL;
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    if (pointer == NULL || size == 0 || sim_region_near(pointer) != NULL)
        return sim_error(cudaErrorInvalidValue);
    if (piece_of(pointer) != NULL)
        return sim_error(cudaErrorHostMemoryAlreadyRegistered);
    struct registered *more = (struct registered *)realloc(pieces, (num_pieces + 1) * sizeof(*pieces));
    if (more == NULL)
        return sim_error(cudaErrorMemoryAllocation);
    pieces = more;
    pieces[num_pieces++] = {(char *)pointer, size};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *pointer)
{
    const sim_guard guard;
    struct registered *piece = piece_of(pointer);
    if (piece == NULL || piece->start != pointer)
        return sim_error(cudaErrorHostMemoryNotRegistered);
    sim_wait_for_all();
    *piece = pieces[--num_pieces];
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    const sim_guard guard;
    const struct sim_region *r = sim_region_near(host);
    if (device == NULL || flags != 0 || r == NULL || !r->host)
        return sim_error(cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    if (flags == NULL || !sim_is_pinned(host))
        return sim_error(cudaErrorInvalidValue);
    *flags = cudaHostAllocMapped;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    const sim_guard guard;
    const struct sim_region *r = sim_region_near(pointer);
    if (attributes == NULL)
        return sim_error(cudaErrorInvalidValue);
    *attributes = {};
    attributes->device = r != NULL ? r->device : -1;
    attributes->type = r == NULL    ? sim_is_pinned(pointer) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered
                       : r->managed ? cudaMemoryTypeManaged
                       : r->host    ? cudaMemoryTypeHost
                                    : cudaMemoryTypeDevice;
    attributes->devicePointer = r != NULL ? (void *)pointer : NULL;
    attributes->hostPointer = r == NULL || r->host ? (void *)pointer : NULL;
    return cudaSuccess;
}

/* ---- memory from a pool, in the order of a stream ---- */

struct CUmemPoolHandle_st {
    uint64_t threshold;
};
static struct CUmemPoolHandle_st default_pool;

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size, cudaMemPool_t, cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    const cudaError_t error =
        sim_is_stream(stream) ? cudaMalloc(pointer, size) : sim_error(cudaErrorInvalidResourceHandle);
    if (error == cudaSuccess && size > 0 && sim_remembers()) /* another stream must wait before it may use that */
        sim_region_near(*pointer)->pooled = new sim_pooled{sim_do(stream, [] {})};
    return error;
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    return cudaMallocFromPoolAsync(pointer, size, &default_pool, stream);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    const sim_guard guard;
    struct sim_region *r = sim_region_near(pointer);
    if (r == NULL || r->is_variable || sim_is_shared(r) || pointer != r->start || r->host)
        return cannot_free(pointer, "Give it what cudaMallocAsync has given");
    if (r->freed)
        return is_free(r);
    sim_tell.gone(pointer);
    sim_do(stream, [r, by = sim_call] {
        sim_tell.touched(r, r->start, r->size, true);
        sim_region_verify(r);
        region_free(r, &by);
    });
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
    *pool = &default_pool;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return cudaDeviceGetDefaultMemPool(pool, device);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    if (attribute == cudaMemPoolAttrReleaseThreshold)
        pool->threshold = *(uint64_t *)value;
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    *(uint64_t *)value = attribute == cudaMemPoolAttrReleaseThreshold ? pool->threshold : 0;
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t)
{
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    if (available == NULL || total == NULL)
        return sim_error(cudaErrorInvalidValue);
    return sim_memory(available, total) ? cudaSuccess : sim_error(cudaErrorUnknown);
}
