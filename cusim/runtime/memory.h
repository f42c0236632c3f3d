/* SPDX-License-Identifier: MIT */
/* memory.h - memory that the program asks the runtime for. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stddef.h>

#include "../machine/region.h"
#include "tasks.h"

/* The task behind which memory from a pool may be used. */
struct sim_pooled {
    sim_task_ref task;
};

/* Faults if that is a variable of the device, whose address host code knows only as the host's; `instead`: what to
   call. */
void sim_check_address(const void *pointer, const char *instead);

/* Faults if the program has more __constant__ memory than a GPU. */
void sim_check_constants(void);

/* Host code gets these bytes of the device's: addresses of variables among them, which it knows from now on. */
void sim_addresses_come(const void *bytes, size_t size);

/* Whether managed memory still holds what it held when it was made. */
bool sim_is_untouched(const struct sim_region *region, const char *at, size_t size);

/* Of these bytes (a bit for each, the lowest for the one at `first`) those that are not padding, if they are of a type
   of that size to which kernels get pointers. */
uint32_t sim_without_padding(size_t size, size_t first, uint32_t bytes);

/* Whether the memory of the host is pinned: made so, or registered. */
bool sim_is_pinned(const void *pointer);

extern bool sim_has_pageable; /* there is a sim_host_array: copies to the host go there alone */
extern bool sim_has_managed;  /* there has been managed memory: then the default stream is late, too */

/* The memory that the machine has, and of that what is free, in bytes. False: unknown. */
bool sim_memory(size_t *available, size_t *total);

#endif
