/* SPDX-License-Identifier: MIT */
/* copies.cpp - copies and fills that the host asks for.

   A copy in a stream is late, and so is one from or to pinned memory on the default stream:

       from pinned memory   what stands there is remembered. If it has changed when the copy is done, somebody did not
                            wait: that is told
       to pinned memory     NaN stands there until the copy is done
       pageable memory      as on a GPU: what comes from there has been taken when the call returns, what goes there has
                            arrived                                                                                  */
#include <string.h>
#include <utility>
#include <vector>

#include "../machine/fault.h"
#include "host.h"
#include "../include/cuda_runtime.h"
#include "memory.h"
#include "stream.h"
#include "../machine/region.h"
#include "../machine/announce.h"
#include "../machine/image.h"

struct cudaMemcpy3DParms sim_without_arrays(const struct cudaMemcpy3DParms *copy); /* texture.cpp */

/* Other variables at file scope that the program has named as symbols: the host's and the device's at once. */
static std::vector<std::pair<const char *, size_t>> symbols;

void sim_know_symbol(const void *start, size_t size)
{
    const sim_guard guard;
    if (sim_region_near(start) != NULL)
        return;
    for (const auto &symbol : symbols)
        if (symbol.first == start)
            return;
    symbols.push_back({(const char *)start, size});
}

cudaError_t sim_past_symbol(const char *call)
{
    const sim_guard guard(call, __builtin_return_address(0));
    return sim_error(cudaErrorInvalidValue, "it reaches past the end of the variable. The size and the offset are in "
                                            "bytes: compare them with sizeof of the variable");
}

static bool is_symbol(const void *pointer)
{
    for (const auto &symbol : symbols)
        if ((size_t)((const char *)pointer - symbol.first) < symbol.second)
            return true;
    return false;
}

/* Memory of the host that is not pinned. */
static bool is_pageable(const void *pointer)
{
    const struct sim_region *r = sim_region_near(pointer);
    return r == NULL || r->pageable;
}

/* Whether [pointer, pointer + size) is what a copy may touch: inside one allocation, or memory of the host. */
static bool usable(const void *pointer, size_t size, bool may_be_device, bool may_be_host)
{
    const struct sim_region *r = sim_region_near(pointer);

    if (pointer == NULL)
        return false;
    if (r == NULL)
        return (may_be_host || is_symbol(pointer)) && !sim_is_private(pointer, size);
    const size_t offset = (size_t)((const char *)pointer - r->start); /* the host may go around a named array */
    return (r->pageable ? may_be_host : may_be_device || r->host) && !sim_is_shared(r) && !r->freed &&
           offset <= r->size && size <= r->size - offset;
}

static bool is_hosts(const void *pointer)
{
    return is_pageable(pointer) && !is_symbol(pointer);
}

/* What a copy of so many rows wants is there, and the kind fits. One row: pitches mean nothing. */
struct copy {
    char *dst;
    size_t dst_pitch;
    const char *src;
    size_t src_pitch, width, height;
    const struct sim_elements *elements; /* what they are, or NULL */
};

static thread_local const struct sim_elements *sim_copied;

void sim_copies_elements(const struct sim_elements *elements)
{
    sim_copied = elements;
}

static const char *kind_name(bool from_device, bool to_device)
{
    static const char *const names[2][2] = {{"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice"},
                                            {"cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice"}};
    return names[from_device][to_device];
}

static bool is_on_device(const void *pointer)
{
    const struct sim_region *r = sim_region_near(pointer);
    return r != NULL ? !r->pageable : is_symbol(pointer);
}

/* Pinned and managed memory may be either side of a copy. */
static bool is_of_both(const void *pointer)
{
    const struct sim_region *r = sim_region_near(pointer);
    return r != NULL && r->host;
}

/* What is wrong with one end of a copy or a fill, and what to do; nothing: nothing. */
static void explain_end(const void *pointer, size_t size, const char *which, char *text, size_t text_size)
{
    const struct sim_region *const r = sim_region_near(pointer);
    char what[700];

    sim_region_describe(pointer, 0, what, sizeof(what));
    if (pointer == NULL)
        snprintf(text, text_size, "%s is a null pointer. See what was to allocate it", which);
    else if (r == NULL || r->pageable)
        snprintf(text, text_size, "%s is no memory of the device. Give it what cudaMalloc has given", which);
    else if (r->freed)
        snprintf(text, text_size, "%s is %s. Free it behind its last use", which, what);
    else if (!sim_is_shared(r) && (size_t)((const char *)pointer - r->start) + size > r->size)
        snprintf(text, text_size,
                 "%s is %s, and %zu bytes from there are too many. The size is in bytes: compare it with what was "
                 "allocated",
                 which, what, size);
}

/* Why a copy is refused, and what to do. */
static const char *explain(const struct copy *c, enum cudaMemcpyKind asked)
{
    static char text[1200];
    const enum cudaMemcpyKind kind = (enum cudaMemcpyKind)(asked & ~SIM_BY_SYMBOL);
    const bool from = is_on_device(c->src), to = is_on_device(c->dst);
    const bool kind_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    const bool kind_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const size_t rows = c->height - 1;

    text[0] = '\0';
    if ((int)kind < 0 || kind > cudaMemcpyDefault)
        return "there is no such direction. The last argument is cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost or ...";
    if (rows > 0 && (c->dst_pitch < c->width || c->src_pitch < c->width))
        return "the rows are longer than the pitch, by which they lie apart. Give it the pitch in bytes, and the width";
    explain_end(c->dst, rows * c->dst_pitch + c->width, "the destination", text, to || kind_to ? sizeof(text) : 0);
    if (text[0] == '\0')
        explain_end(c->src, rows * c->src_pitch + c->width, "the source", text, from || kind_from ? sizeof(text) : 0);
    if (c->dst != NULL && c->src != NULL && kind != cudaMemcpyDefault &&
        ((from != kind_from && !is_of_both(c->src)) || (to != kind_to && !is_of_both(c->dst))))
        snprintf(text, sizeof(text), "it is given memory of the %s to read and of the %s to write, and %s. Write %s%s",
                 from ? "device" : "host", to ? "device" : "host", kind_name(kind_from, kind_to), kind_name(from, to),
                 from != to ? ", or change the two pointers: the destination is the first one" : "");
    return text[0] != '\0' ? text : NULL;
}

static cudaError_t check(const struct copy *c, enum cudaMemcpyKind asked)
{
    const enum cudaMemcpyKind kind = (enum cudaMemcpyKind)(asked & ~SIM_BY_SYMBOL);
    const bool any = kind == cudaMemcpyDefault;
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;

    if ((int)kind < 0 || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (c->width == 0 || c->height == 0)
        return cudaSuccess;
    if (asked == kind) {
        sim_check_address(c->dst, "cudaMemcpyToSymbol");
        sim_check_address(c->src, "cudaMemcpyFromSymbol");
    }
    if (c->height > 1 && (c->dst_pitch < c->width || c->src_pitch < c->width))
        return cudaErrorInvalidPitchValue;
    if (sim_has_pageable && is_hosts(c->dst) && (is_hosts(c->src) || sim_region_near(c->dst) == NULL))
        return cudaErrorInvalidValue; /* sim_host_array */
    const size_t dst_size = (c->height - 1) * c->dst_pitch + c->width;
    const size_t src_size = (c->height - 1) * c->src_pitch + c->width;
    return usable(c->dst, dst_size, any || to_device, any || !to_device) &&
                   usable(c->src, src_size, any || from_device, any || !from_device)
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

/* What a stream does late may find that its memory was freed in another one, which has not waited. */
static void must_live(const void *at, const char *verb)
{
    const struct sim_region *const r = sim_region_near(at);
    char who[600], what[700];

    if (r == NULL || !r->freed)
        return;
    sim_describe_running(who, sizeof(who));
    sim_region_describe(at, 0, what, sizeof(what));
    sim_fault_at(
        sim_task_at(),
        "race: %s%s %s, and nothing orders the two. Free it in the stream that uses it last, or let one stream wait "
        "for the other: cudaEventRecord behind the use, cudaStreamWaitEvent before cudaFreeAsync",
        who, verb, what);
}

static bool is_of_host(const void *pointer)
{
    const struct sim_region *r = sim_region_near(pointer);
    return r != NULL ? r->host || r->pageable : !is_symbol(pointer);
}

static void do_copy(const struct copy *c)
{
    must_live(c->dst, "writes");
    must_live(c->src, "reads");
    if (is_of_host(c->dst) && sim_region_near(c->src) != NULL)
        sim_tell.given(c->src, c->src_pitch, c->width, c->height, c->elements);
    for (size_t y = 0; y < c->height; y++) {
        char *const dst = c->dst + y * c->dst_pitch;
        const char *const src = c->src + y * c->src_pitch;
        struct sim_region *to = sim_region_near(dst), *from = sim_region_near(src);
        sim_tell.touched(from, src, c->width, false);
        sim_tell.touched(to, dst, c->width, true);
        memmove(dst, src, c->width);
        if (from != NULL && is_pageable(dst))
            sim_addresses_come(dst, c->width);
        if (to != NULL && from != NULL)
            sim_tell.copied(to, dst, from, src, c->width);
        else if (to != NULL)
            sim_tell.written(to, dst, c->width);
    }
}

static bool is_devices(const void *pointer)
{
    const struct sim_region *r = sim_region_near(pointer);
    return r != NULL && !r->host;
}

/* At once, as far as the caller can see. But the host is not told when a copy from the device to itself is done. */
static cudaError_t copy_now(struct copy c, enum cudaMemcpyKind kind)
{
    c.elements = sim_copied;
    const cudaError_t error = check(&c, kind);
    if (error != cudaSuccess)
        return sim_error(error, explain(&c, kind));
    const bool on_device = is_devices(c.src) && is_devices(c.dst);
    sim_do_now(
        NULL, [c] { do_copy(&c); }, !on_device);
    return cudaSuccess;
}

/* The source as it stands there. */
static std::vector<char> taken(const struct copy *c)
{
    std::vector<char> bytes(c->width * c->height);
    for (size_t y = 0; y < c->height; y++)
        memcpy(bytes.data() + y * c->width, c->src + y * c->src_pitch, c->width);
    return bytes;
}

/* Faults if the source is no longer what it was. */
static void must_be(const struct copy *c, const std::vector<char> &bytes)
{
    for (size_t y = 0; y < c->height; y++)
        for (size_t x = 0; x < c->width; x++)
            if (c->src[y * c->src_pitch + x] != bytes[y * c->width + x])
                sim_fault_at(sim_task_at(),
                             "byte %zu of the host memory that this copy reads has changed before it was done. Wait "
                             "for the stream, or for an event behind the copy, before you write there again",
                             y * c->src_pitch + x);
}

static void on_its_way(const sim_task_ref &task, const struct copy *c)
{
    sim_on_its_way(task, c->src, c->src_pitch, c->width, c->height, false);
    sim_on_its_way(task, c->dst, c->dst_pitch, c->width, c->height, true);
}

static cudaError_t copy_in_stream(struct copy c, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    c.elements = sim_copied;
    if (!sim_is_stream(stream))
        return sim_error(cudaErrorInvalidResourceHandle);
    const cudaError_t error = check(&c, kind);
    if (error != cudaSuccess)
        return sim_error(error, explain(&c, kind));
    if (c.width == 0 || c.height == 0)
        return cudaSuccess;
    const bool from_host = is_pageable(c.src), to_host = is_pageable(c.dst);
    const bool from_pinned = sim_is_pinned(c.src), to_pinned = sim_is_pinned(c.dst);

    if (sim_is_captured(stream)) {
        sim_do(stream, [c] { do_copy(&c); });
    } else if (to_pinned) {
        sim_finish(stream); /* what comes before may read there */
        for (size_t y = 0; y < c.height; y++)
            memset(c.dst + y * c.dst_pitch, 0xff, c.width);
        on_its_way(sim_do_late(stream, [c] { do_copy(&c); }), &c);
    } else if (from_pinned) {
        const auto task = sim_do_late(stream, [c, bytes = taken(&c)] {
            must_be(&c, bytes);
            do_copy(&c);
        });
        on_its_way(task, &c);
    } else if (to_host) {
        const std::vector<sim_arrival> before = sim_arrivals;
        sim_do_now(
            stream, [c] { do_copy(&c); }, true);
        sim_arrives(before, {c.dst, c.dst_pitch, c.width, c.height, sim_call});
    } else if (from_host) {
        const auto task = sim_do(stream, [c, bytes = taken(&c)] {
            const struct copy staged = {c.dst, c.dst_pitch, bytes.data(), c.width, c.width, c.height, NULL};
            do_copy(&staged);
        });
        sim_on_its_way(task, c.dst, c.dst_pitch, c.width, c.height, true);
    } else {
        on_its_way(sim_do(stream, [c] { do_copy(&c); }), &c);
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return copy_now({(char *)dst, size, (const char *)src, size, size, 1, NULL}, kind);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return copy_in_stream({(char *)dst, size, (const char *)src, size, size, 1, NULL}, kind, stream);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return copy_now({(char *)dst, dst_pitch, (const char *)src, src_pitch, width, height, NULL}, kind);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return copy_in_stream({(char *)dst, dst_pitch, (const char *)src, src_pitch, width, height, NULL}, kind, stream);
}

/* One slice after the other. */
static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, bool late, cudaStream_t stream)
{
    if (p == NULL)
        return sim_error(cudaErrorInvalidValue);
    const struct cudaMemcpy3DParms plain = sim_without_arrays(p);
    p = &plain;
    for (size_t z = 0; z < p->extent.depth; z++) {
        const struct copy c = {(char *)p->dstPtr.ptr + p->dstPos.x +
                                   ((p->dstPos.z + z) * p->dstPtr.ysize + p->dstPos.y) * p->dstPtr.pitch,
                               p->dstPtr.pitch,
                               (const char *)p->srcPtr.ptr + p->srcPos.x +
                                   ((p->srcPos.z + z) * p->srcPtr.ysize + p->srcPos.y) * p->srcPtr.pitch,
                               p->srcPtr.pitch,
                               p->extent.width,
                               p->extent.height,
                               NULL};
        const cudaError_t error = late ? copy_in_stream(c, p->kind, stream) : copy_now(c, p->kind);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *copy)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return copy_3d(copy, false, NULL);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *copy, cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return copy_3d(copy, true, stream);
}

cudaError_t cudaMemcpyPeer(void *dst, int, const void *src, int, size_t size)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return cudaMemcpy(dst, src, size, cudaMemcpyDeviceToDevice);
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int, const void *src, int, size_t size, cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return copy_in_stream({(char *)dst, size, (const char *)src, size, size, 1, NULL}, cudaMemcpyDeviceToDevice,
                          stream);
}

/* ---- fills ---- */

static cudaError_t fill(void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream,
                        bool is_async)
{
    char why[1000] = "";

    if (!sim_is_stream(stream))
        return sim_error(cudaErrorInvalidResourceHandle);
    if (width == 0 || height == 0)
        return cudaSuccess;
    if (height > 1 && pitch < width)
        return sim_error(cudaErrorInvalidPitchValue);
    sim_check_address(pointer, "cudaGetSymbolAddress, and fill what that names");
    if (!usable(pointer, (height - 1) * pitch + width, true, false)) {
        explain_end(pointer, (height - 1) * pitch + width, "the destination", why, sizeof(why));
        return sim_error(cudaErrorInvalidValue, why[0] != '\0' ? why : NULL);
    }
    const auto what = [=] {
        must_live(pointer, "writes");
        for (size_t y = 0; y < height; y++) {
            char *const row = (char *)pointer + y * pitch;
            struct sim_region *const r = sim_region_near(row);
            sim_tell.touched(r, row, width, true);
            memset(row, value, width);
            if (r != NULL)
                sim_tell.written(r, row, width);
        }
    };
    if (!is_async && sim_is_pinned(pointer)) /* for which the host waits */
        sim_do_now(stream, what, true);
    else
        sim_on_its_way(sim_do(stream, what), pointer, pitch, width, height, true);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *pointer, int value, size_t size)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return fill(pointer, size, value, size, 1, NULL, false);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t size, cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return fill(pointer, size, value, size, 1, stream, true);
}

cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return fill(pointer, pitch, value, width, height, NULL, false);
}

cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorInvalidValue);
    return fill(pointer, pitch, value, width, height, stream, true);
}

/* ---- rows that begin at multiples of 512 bytes, as on a GPU ---- */

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    if (pointer == NULL || pitch == NULL)
        return sim_error(cudaErrorInvalidValue);
    *pitch = (width + 511) / 512 * 512;
    const cudaError_t error = cudaMalloc(pointer, *pitch * height);
    struct sim_region *const r = error == cudaSuccess && height > 0 ? sim_region_near(*pointer) : NULL;
    if (r != NULL) {
        r->row = width;
        r->pitch = *pitch;
    }
    return error;
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    if (pitched == NULL)
        return sim_error(cudaErrorInvalidValue);
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width, extent.height * extent.depth);
}
