/* SPDX-License-Identifier: MIT */
/* memory.h - device and shared memory: pieces with unreadable pages around each. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "../include/sim_shape.h"
#include "tasks.h"

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
    const char *file; /* where that is declared */
    int line;
    const void *caller;     /* who called cudaMalloc */
    bool freed;             /* also: shared memory of a block that does not run */
    bool host;              /* the host may touch it, too: pinned memory, or */
    bool managed;           /* managed memory */
    bool pageable;          /* memory of the host that only copies may touch (sim_host_array) */
    int device;             /* that it was made on */
    uint64_t block;         /* of shared memory: number of the block whose it is */
    size_t align;           /* of shared memory, */
    void *variable;         /* and whose it is: a sim_shared; NULL: dynamic */
    struct sim_shape shape; /* of the array */
    struct sim_shadow *shadow;
    struct sim_pooled *pooled; /* from a pool, in the order of a stream; or NULL */
};

/* A new one, NULL: no memory. `for_all`: other processes that run blocks of a launch see it, too (cores.h). */
struct sim_region *sim_region_create(size_t size, size_t align, bool for_all);
void sim_region_poison(struct sim_region *region);
void sim_region_verify(const struct sim_region *region); /* faults if bytes around it were written */
void sim_verify_all(void);
struct sim_region *sim_region_near(const void *address); /* the region that is closest, within its margins, or NULL */
bool sim_maybe_region(const void *address);              /* false: certainly in no region */

/* The task behind which memory from a pool may be used. */
struct sim_pooled {
    sim_task_ref task;
};

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

/* Whether the memory of the host is pinned: made so, or registered. */
bool sim_is_pinned(const void *pointer);

extern bool sim_has_pageable; /* there is a sim_host_array: copies to the host go there alone */
extern bool sim_has_managed;  /* there has been managed memory: then the default stream is late, too */

/* For messages (describe.cpp): the bytes of [address, address + length), "inputs[1]", "inputs[4] to inputs[7], past the
   end (the last is inputs[5])", "byte 4 of the 1600-byte allocation made at scale.cu:40"; length 0: where it begins.
   And the name of the whole: "the array inputs". */
void sim_region_describe(const void *address, size_t length, char *text, size_t size);
void sim_region_name(const struct sim_region *region, char *text, size_t size);

/* The memory that the machine has, and of that what is free, in bytes. False: unknown. */
bool sim_memory(size_t *available, size_t *total);

#endif
