/* SPDX-License-Identifier: MIT */
/* objects.cpp - objects with virtual functions that host code has made, and whose functions a kernel calls. Such an
   object begins with a pointer to its class's table of functions. Host code's is the host's, which a GPU cannot read;
   here it is the same as the kernels'. */
#include "../machine/block.h"
#include "../machine/fault.h"
#include "../machine/image.h"
#include "../machine/region.h"
#include "objects.h"
#include "observe.h"
#include "shadow.h"

const char *sim_hosts_table;
static const char *object;
static const struct thread *reader;

void sim_hosts_pointer(const struct sim_region *r, const char *at)
{
    unsigned block, thread;
    const size_t sector = (size_t)(at - r->start) / 32;

    /* of a variable the first value is the compiler's: nvcc's is the device's */
    if (r->is_variable || r->shadow->stored[sector] != 0 || sim_last_write(at, &block, &thread, NULL, 0))
        return;
    object = at;
    reader = sim_current;
    sim_hosts_table = *(const char *const *)at;
}

void sim_reads_table(const char *at, const void *pc)
{
    char what[600];
    const char *const function = *(const char *const *)at;

    if (!sim_place.in_thread || sim_current != reader || function < &__ehdr_start || function >= &etext)
        return;
    sim_region_describe(object, 0, what, sizeof(what));
    sim_fault_at(
        pc,
        "calls a virtual function of the object at %s, which host code has made: its table of functions is the "
        "host's, and a GPU has another one. Let a kernel make the object, by new",
        what);
}
