/* SPDX-License-Identifier: MIT */
/* copy.cpp - asynchronous copies (cp.async): issued by a thread, done when it waits for them. */
#include <stdlib.h>

#include "block.h"
#include "../include/cuda_pipeline.h"
#include "region.h"
#include "fault.h"
#include "announce.h"

/* An asynchronous copy that has been issued and not yet waited for. */
struct async_copy {
    void *shared;
    const void *global;
    size_t size, zero;
    uint64_t group;
    const void *pc; /* where it was issued */
};

unsigned __isShared(const void *address)
{
    const struct sim_region *const r = sim_region_near(address);
    return r != NULL && sim_is_shared(r) && sim_region_holds(r, address, 1);
}

unsigned __isGlobal(const void *address)
{
    const struct sim_region *const r = sim_region_near(address);
    return r != NULL && !sim_is_shared(r) && sim_region_holds(r, address, 1);
}

void __pipeline_memcpy_async(void *shared, const void *global, size_t size, size_t zero, const char *file, int line)
{
    const char *name = "__pipeline_memcpy_async";
    char where[256];

    sim_need_kernel(name, file, line);
    if ((size != 4 && size != 8 && size != 16) || zero > size)
        sim_fault(file, line, "%s of %zu bytes, %zu of them zero. Copy 4, 8 or 16 bytes, at most all of them zero",
                  name, size, zero);
    if ((uintptr_t)shared % size != 0 || (uintptr_t)global % size != 0)
        sim_fault(file, line, "%s of %zu bytes between addresses that are not aligned to %zu. Copy in smaller pieces",
                  name, size, size);
    const struct sim_region *to = sim_region_near(shared), *from = sim_region_near(global);
    if (to == NULL || !sim_is_shared(to) || to->block != sim_block->number || !sim_region_holds(to, shared, size)) {
        sim_region_describe(shared, size, where, sizeof(where));
        sim_fault(file, line, "%s writes %s. Copy into shared memory, inside its size", name, where);
    }
    if (zero < size && (from == NULL || sim_is_shared(from) || !sim_region_holds(from, global, size - zero))) {
        sim_region_describe(global, size - zero, where, sizeof(where));
        sim_fault(file, line, "%s reads %s. Copy from device memory, inside its size", name, where);
    }
    if (sim_current->num_copies == sim_current->max_copies) {
        sim_current->max_copies = sim_current->max_copies * 2 + 16;
        sim_current->copies =
            (struct async_copy *)realloc(sim_current->copies, sim_current->max_copies * sizeof(struct async_copy));
        if (sim_current->copies == NULL)
            sim_fault(file, line, "no memory for another asynchronous copy. Wait for some first");
    }
    const void *const pc = __builtin_return_address(0);
    sim_tell.copy_begins(shared, size, pc);
    memset(shared, 0xff, size);
    sim_current->copies[sim_current->num_copies++] = {shared, global, size, zero, sim_current->group, pc};
    sim_counts.async_copies++;
    sim_tell.copy_reads(pc, shared, size, global, size - zero);
}

void __pipeline_commit(const char *file, int line)
{
    sim_need_kernel("__pipeline_commit", file, line);
    sim_current->group++;
}

void __pipeline_wait_prior(size_t prior, const char *file, int line)
{
    size_t kept = 0, bytes = 0; /* on their way when the wait ends; a copy of nothing but zeros takes no time */

    sim_need_kernel("__pipeline_wait_prior", file, line);
    for (size_t i = 0; i < sim_current->num_copies; i++) {
        const struct async_copy c = sim_current->copies[i];

        if (c.group + prior >= sim_current->group) {
            sim_current->copies[kept++] = c;
            bytes += c.size - c.zero;
            continue;
        }
        memcpy(c.shared, c.global, c.size - c.zero);
        memset((char *)c.shared + c.size - c.zero, 0, c.zero);
        sim_tell.copy_arrived(c.shared, c.size, c.pc, -1);
    }
    sim_tell.waits_on("copies", NULL, 0, kept);
    if (kept != sim_current->num_copies) {
        sim_step(sim_current);
        if (sim_thread_number(sim_current) % SIM_WARP == 0)
            sim_tell.waited(false);
        sim_counts.idle_waits += bytes == 0;
    }
    sim_current->num_copies = kept;
}
