/* SPDX-License-Identifier: MIT */
/* texture.cpp - arrays, texture objects and surface objects: addresses that wrap or are clamped, and the mean of
   neighbours, as the CUDA Programming Guide defines them ("Texture Fetching"). Linear filtering is done in double,
   where a GPU's has 8 bits of fraction. */
#include <algorithm>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../machine/fault.h"
#include "host.h"
#include "../include/cuda_runtime.h"
#include "memory.h"
#include "stream.h"
#include "../machine/announce.h"

struct cudaArray {
    cudaChannelFormatDesc desc;
    size_t width, height, depth, element; /* height and depth: at least 1; element: bytes */
    size_t map_size;
    char data[];
};

struct texture {
    cudaResourceDesc resource;
    cudaTextureDesc desc;
    cudaChannelFormatDesc channels;
    const char *data;
    size_t width, height, depth, element, pitch;
};

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return {x, y, z, w, f};
}

static size_t bytes_of(const cudaChannelFormatDesc *d)
{
    return (size_t)(d->x + d->y + d->z + d->w) / 8;
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, cudaExtent extent, unsigned)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    const size_t element = desc != NULL ? bytes_of(desc) : 0;
    if (array == NULL || element == 0 || extent.width == 0)
        return sim_error(cudaErrorInvalidValue);
    const size_t height = std::max<size_t>(extent.height, 1), depth = std::max<size_t>(extent.depth, 1);
    const size_t size = sizeof(cudaArray) + extent.width * height * depth * element;
    /* shared by the processes that run blocks of a launch: kernels write to surfaces */
    void *const map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return sim_error(cudaErrorMemoryAllocation);
    cudaArray *const a = (cudaArray *)map;
    a->map_size = size;
    a->desc = *desc;
    a->width = extent.width;
    a->height = height;
    a->depth = depth;
    a->element = element;
    sim_tell.made(a, "array", 0);
    *array = a;
    return cudaSuccess;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, size_t width, size_t height,
                            unsigned flags)
{
    const sim_guard guard;
    SIM_MAY_FAIL(cudaErrorMemoryAllocation);
    return cudaMalloc3DArray(array, desc, {width, height, 0}, flags);
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    if (desc == NULL || array == NULL)
        return sim_error(cudaErrorInvalidValue);
    *desc = array->desc;
    return cudaSuccess;
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    const sim_guard guard;
    sim_wait_for_all();
    sim_tell.gone(array);
    if (array != NULL)
        munmap(array, array->map_size);
    return cudaSuccess;
}

/* ---- copies: an array is memory of the host, of which nobody else has the address ---- */

static size_t row_bytes(cudaArray_const_t a)
{
    return a->width * a->element;
}

static cudaMemcpyKind other_side(cudaMemcpyKind kind, bool to_array)
{
    if (kind == cudaMemcpyDefault)
        return kind;
    const bool device = to_array ? kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDeviceToHost
                                 : kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyHostToDevice;
    return !device ? cudaMemcpyHostToHost : to_array ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind)
{
    if (dst == NULL || x + width > row_bytes(dst) || y + height > dst->height * dst->depth)
        return sim_error(cudaErrorInvalidValue);
    return cudaMemcpy2D(dst->data + y * row_bytes(dst) + x, row_bytes(dst), src, pitch, width, height,
                        other_side(kind, true));
}

cudaError_t cudaMemcpy2DFromArray(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind)
{
    if (src == NULL || x + width > row_bytes(src) || y + height > src->height * src->depth)
        return sim_error(cudaErrorInvalidValue);
    return cudaMemcpy2D(dst, pitch, src->data + y * row_bytes(src) + x, row_bytes(src), width, height,
                        other_side(kind, false));
}

/* From element (x, y) on, over the ends of rows. */
cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t size,
                              enum cudaMemcpyKind kind)
{
    if (dst == NULL || y * row_bytes(dst) + x + size > row_bytes(dst) * dst->height * dst->depth)
        return sim_error(cudaErrorInvalidValue);
    return cudaMemcpy(dst->data + y * row_bytes(dst) + x, src, size, other_side(kind, true));
}

cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t size,
                                enum cudaMemcpyKind kind)
{
    if (src == NULL || y * row_bytes(src) + x + size > row_bytes(src) * src->height * src->depth)
        return sim_error(cudaErrorInvalidValue);
    return cudaMemcpy(dst, src->data + y * row_bytes(src) + x, size, other_side(kind, false));
}

cudaMemcpy3DParms sim_without_arrays(const cudaMemcpy3DParms *p)
{
    cudaMemcpy3DParms plain = *p;
    const cudaArray_t arrays[2] = {p->srcArray, p->dstArray};

    for (int side = 0; side < 2; side++) {
        cudaArray_t a = arrays[side];
        if (a == NULL)
            continue;
        cudaPos &at = side == 0 ? plain.srcPos : plain.dstPos;
        cudaPitchedPtr &pointer = side == 0 ? plain.srcPtr : plain.dstPtr;
        pointer = make_cudaPitchedPtr(a->data, row_bytes(a), a->width, a->height);
        at.x *= a->element;
        if (arrays[0] == NULL || arrays[1] == NULL || side == 0)
            plain.extent.width = p->extent.width * a->element; /* counted in elements, where there is an array */
        plain.kind = other_side(plain.kind, side == 1);
    }
    plain.srcArray = plain.dstArray = NULL;
    return plain;
}

/* ---- textures ---- */

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *desc, const cudaResourceViewDesc *)
{
    const sim_guard guard;
    if (texture == NULL || resource == NULL || desc == NULL || resource->resType == cudaResourceTypeMipmappedArray)
        return sim_error(cudaErrorInvalidValue);
    struct texture *t = new struct texture();
    t->resource = *resource;
    t->desc = *desc;
    t->height = t->depth = 1;
    if (resource->resType == cudaResourceTypeArray) {
        const cudaArray_t a = resource->res.array.array;
        t->channels = a->desc;
        t->data = a->data;
        t->width = a->width;
        t->height = a->height;
        t->depth = a->depth;
        t->pitch = row_bytes(a);
    } else if (resource->resType == cudaResourceTypeLinear) {
        t->channels = resource->res.linear.desc;
        t->data = (const char *)resource->res.linear.devPtr;
        t->width = resource->res.linear.sizeInBytes / bytes_of(&t->channels);
    } else {
        t->channels = resource->res.pitch2D.desc;
        t->data = (const char *)resource->res.pitch2D.devPtr;
        t->width = resource->res.pitch2D.width;
        t->height = resource->res.pitch2D.height;
        t->pitch = resource->res.pitch2D.pitchInBytes;
    }
    t->element = bytes_of(&t->channels);
    sim_tell.made(t, "texture", 0);
    *texture = (cudaTextureObject_t)(uintptr_t)t;
    return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture)
{
    const sim_guard guard;
    sim_wait_for_all();
    sim_tell.gone((const void *)(uintptr_t)texture);
    delete (struct texture *)(uintptr_t)texture;
    return cudaSuccess;
}

static const struct texture *texture_of(cudaTextureObject_t object)
{
    if (object == 0)
        sim_fault(NULL, 0,
                  "fetches from a texture that was not created. Pass the object that cudaCreateTextureObject gave");
    return (const struct texture *)(uintptr_t)object;
}

/* The element at whole indices, which lie inside. */
static sim_texel element(const struct texture *t, size_t x, size_t y, size_t z)
{
    const int bits[4] = {t->channels.x, t->channels.y, t->channels.z, t->channels.w};
    const char *at = t->data + (z * t->height + y) * t->pitch + x * t->element;
    const bool normalized = t->desc.readMode == cudaReadModeNormalizedFloat;
    sim_texel result = {};

    for (int c = 0; c < 4 && bits[c] > 0; at += bits[c] / 8, c++) {
        double value, most = 1;
        if (t->channels.f == cudaChannelFormatKindFloat) {
            float f;
            memcpy(&f, at, sizeof(f));
            value = f;
        } else if (t->channels.f == cudaChannelFormatKindSigned) {
            value = bits[c] == 8 ? *(const signed char *)at : bits[c] == 16 ? *(const short *)at : *(const int *)at;
            most = bits[c] == 8 ? 127 : bits[c] == 16 ? 32767 : 1;
        } else {
            value = bits[c] == 8    ? *(const unsigned char *)at
                    : bits[c] == 16 ? *(const unsigned short *)at
                                    : *(const unsigned *)at;
            most = bits[c] == 8 ? 255 : bits[c] == 16 ? 65535 : 1;
        }
        result.channel[c] = normalized ? std::max(value / most, -1.0) : value;
    }
    return result;
}

/* The index that an address means in one direction; -1: outside, where the border begins. */
static long inside(double index, size_t size, cudaTextureAddressMode mode)
{
    const long n = (long)size, i = (long)floor(index);

    if (i >= 0 && i < n)
        return i;
    switch (mode) {
    case cudaAddressModeWrap:
        return (i % n + n) % n;
    case cudaAddressModeMirror: {
        const long twice = (i % (2 * n) + 2 * n) % (2 * n);
        return twice < n ? twice : 2 * n - 1 - twice;
    }
    case cudaAddressModeBorder:
        return -1;
    default:
        return i < 0 ? 0 : n - 1;
    }
}

sim_texel sim_fetch(cudaTextureObject_t object, float x, float y, float z, int dimensions, int layer)
{
    const struct texture *t = texture_of(object);
    const size_t size[3] = {t->width, t->height, t->depth};
    double at[3] = {x, y, z};
    const bool linear = t->desc.filterMode == cudaFilterModeLinear;
    sim_texel sum = {};

    for (int d = 0; d < dimensions; d++) {
        at[d] *= t->desc.normalizedCoords ? (double)size[d] : 1.0;
        at[d] -= linear ? 0.5 : 0.0;
    }
    for (int corner = 0; corner < (linear ? 1 << dimensions : 1); corner++) {
        double weight = 1;
        long place[3] = {0, 0, layer > 0 ? layer : 0};
        bool border = false;
        for (int d = 0; d < dimensions; d++) {
            const double part = at[d] - floor(at[d]);
            const bool next = corner >> d & 1;
            weight *= !linear ? 1 : next ? part : 1 - part;
            /* addresses wrap and are mirrored where they are normalized only */
            const cudaTextureAddressMode mode = t->desc.addressMode[d];
            place[d] = inside(floor(at[d]) + next, size[d],
                              t->desc.normalizedCoords || mode == cudaAddressModeBorder ? mode : cudaAddressModeClamp);
            border = border || place[d] < 0;
        }
        if (weight == 0)
            continue;
        const sim_texel e = border ? sim_texel{{t->desc.borderColor[0], t->desc.borderColor[1], t->desc.borderColor[2],
                                                t->desc.borderColor[3]}}
                                   : element(t, (size_t)place[0], (size_t)place[1], (size_t)place[2]);
        for (int c = 0; c < 4; c++)
            sum.channel[c] += weight * e.channel[c];
    }
    return sum;
}

sim_texel sim_fetch_at(cudaTextureObject_t object, int i)
{
    const struct texture *t = texture_of(object);

    return i >= 0 && (size_t)i < t->width ? element(t, (size_t)i, 0, 0) : sim_texel{};
}

/* ---- surfaces ---- */

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const cudaResourceDesc *resource)
{
    if (surface == NULL || resource == NULL || resource->resType != cudaResourceTypeArray)
        return sim_error(cudaErrorInvalidValue);
    *surface = (cudaSurfaceObject_t)(uintptr_t)resource->res.array.array;
    return cudaSuccess;
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t)
{
    return cudaSuccess;
}

static char *surface_at(cudaSurfaceObject_t surface, int x, int y, int z, size_t size, const char *file, int line)
{
    cudaArray *a = (cudaArray *)(uintptr_t)surface;

    if (a == NULL || x < 0 || y < 0 || z < 0 || (size_t)x + size > row_bytes(a) || (size_t)y >= a->height ||
        (size_t)z >= a->depth)
        sim_fault(file, line,
                  "a surface is accessed outside, at byte %d of row %d. x counts bytes: multiply it by the size of an "
                  "element",
                  x, y);
    return a->data + ((size_t)z * a->height + (size_t)y) * row_bytes(a) + x;
}

void sim_surface_write(cudaSurfaceObject_t surface, int x, int y, int z, const void *value, size_t size,
                       const char *file, int line)
{
    memcpy(surface_at(surface, x, y, z, size, file, line), value, size);
}

void sim_surface_read(cudaSurfaceObject_t surface, int x, int y, int z, void *value, size_t size, const char *file,
                      int line)
{
    memcpy(value, surface_at(surface, x, y, z, size, file, line), size);
}
