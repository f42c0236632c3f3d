/* SPDX-License-Identifier: MIT */
/* region.h - pieces of device and shared memory, with unreadable pages around each. */
#ifndef SIM_REGION_H
#define SIM_REGION_H

#include <functional>
#include <stddef.h>
#include <stdint.h>

#include "../include/sim_shape.h"

/* One piece of device or shared memory. */
struct sim_region {
    char *start; /* what the program was given */
    size_t size;
    char *array; /* of it, what kernels may touch: all, or what sim_name_array named */
    size_t array_size;
    const char *array_name; /* or NULL */
    char *pages;            /* the readable pages around it */
    size_t pages_size;
    char *map; /* these and the unreadable margins */
    size_t map_size;
    const char *name; /* of the __shared__ variable; NULL: from cudaMalloc */
    const char *file; /* where that is declared, or a variable of the device */
    int line;
    bool is_variable;          /* of the device, at file scope (runtime/variables.cpp): */
    bool constant;             /* kernels only read it */
    bool fixed;                /* it keeps the value that the program's text gives it */
    bool given;                /* host code has been told its address */
    size_t row, pitch;         /* of cudaMallocPitch: bytes of a row, and from one to the next; else 0 */
    const void *caller;        /* who called cudaMalloc */
    bool freed;                /* also: shared memory of a block that does not run */
    const char *freed_by;      /* the call that freed it, "cudaFree"; or NULL, */
    const void *freed_at;      /* and who called that */
    bool host;                 /* the host may touch it, too: pinned memory, or */
    bool managed;              /* managed memory */
    bool pageable;             /* memory of the host that only copies may touch (sim_host_array) */
    int device;                /* that it was made on */
    uint64_t block;            /* of shared memory: number of the block whose it is */
    size_t align;              /* of shared memory, */
    void *variable;            /* and whose it is: a sim_shared; NULL: dynamic */
    struct sim_shape shape;    /* of the array */
    struct sim_shadow *shadow; /* what observers remember of it (observe/shadow.h) */
    bool unobservable;         /* they have no room for that */
    struct sim_pooled *pooled; /* from a pool, in the order of a stream; or NULL */
};

/* A new one, NULL: no memory. `for_all`: other processes that run blocks of a launch see it, too (cores.h). */
struct sim_region *sim_region_create(size_t size, size_t align, bool for_all);
void sim_region_poison(struct sim_region *region);
void sim_region_verify(const struct sim_region *region); /* faults if bytes around it were written */
void sim_verify_all(void);                               /* of device memory */
void sim_region_free(struct sim_region *region); /* its memory goes back, its addresses stay taken and unreadable */
void sim_each_region(const std::function<void(struct sim_region *region)> &call);
struct sim_region *sim_region_near(const void *address); /* the region that is closest, within its margins, or NULL */

extern const char *sim_lowest_region; /* all regions lie between, and */
extern size_t sim_regions_span;       /* mostly nothing else */

/* False: certainly in no region. */
static inline bool sim_maybe_region(const void *address)
{
    return (size_t)((const char *)address - sim_lowest_region) < sim_regions_span;
}

/* Whether it is shared memory; else it is device memory. */
static inline bool sim_is_shared(const struct sim_region *r)
{
    return r->name != NULL;
}

/* Whether a kernel may touch these bytes of it. */
static inline bool sim_region_holds(const struct sim_region *r, const void *address, size_t size)
{
    const size_t offset = (size_t)((const char *)address - r->array);

    return !r->freed && offset <= r->array_size && size <= r->array_size - offset;
}

#endif
