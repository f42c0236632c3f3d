/* shared.cpp - shared memory: each __shared__ variable is a region of its own, NaN when a block begins. */
#include "shared.h"

#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "host.h"
#include "memory.h"
#include "shadow.h"

/* Makes a region NaN and has it verified when the block ends. */
static void prepare_shared(struct sim_region *region)
{
    if (sim_block->num_shared == sizeof(sim_block->shared) / sizeof(*sim_block->shared))
        sim_fault(region->file, region->line, "more than %zu __shared__ variables. Join some into an array",
                  sim_block->num_shared);
    sim_block->shared[sim_block->num_shared++] = region;
    region->freed = false;
    region->block = sim_block->number;
    sim_region_poison(region);
    if (region->strict)
        sim_shadow_unwritten(region);
}

static struct sim_region *make_shared(const char *name, size_t size, size_t align, bool strict, const char *file,
                                      int line)
{
    struct sim_region *region = sim_region_create(size, align);

    if (region == NULL)
        sim_fault(file, line, "no memory for the shared array %s of %zu bytes. Free some memory", name, size);
    region->name = name;
    region->strict = strict;
    region->file = file;
    region->line = line;
    return region;
}

void *sim_static_shared(sim_shared *variable, const char *name, size_t size, size_t align, bool integers,
                        const char *file, int line)
{
    sim_need_kernel("a __shared__ variable", file, line);
    if (variable->block == sim_block->number)
        return variable->start;
    if (variable->regions == NULL)
        variable->regions = (struct sim_region **)calloc(SIM_MAX_RESIDENT, sizeof(*variable->regions));
    if (variable->regions == NULL)
        sim_fault(file, line, "no memory for the shared array %s. Free some memory", name);
    if (variable->regions[sim_block->slot] == NULL)
        variable->regions[sim_block->slot] = make_shared(name, size, align, integers, file, line);
    struct sim_region *region = variable->regions[sim_block->slot];
    if (region->block != sim_block->number) {
        const size_t limit = sim_info->max_dynamic > SIM_SHARED ? SIM_SHARED_OPTIN : SIM_SHARED;

        sim_block->static_bytes += size;
        if (sim_block->static_bytes > sim_info->static_bytes)
            sim_info->static_bytes = sim_block->static_bytes;
        if (sim_block->static_bytes > SIM_SHARED)
            sim_fault(file, line, "%zu bytes of static shared memory, more than %zu. Make arrays smaller, or extern",
                      sim_block->static_bytes, SIM_SHARED);
        if (sim_block->static_bytes + sim_launched->dynamic_shared > limit)
            sim_fault(file, line,
                      "%zu bytes of static and %zu of dynamic shared memory, more than %zu together. Use less, or ask "
                      "for more with cudaFuncSetAttribute",
                      sim_block->static_bytes, sim_launched->dynamic_shared, limit);
        prepare_shared(region);
    }
    variable->block = sim_block->number;
    variable->start = region->start;
    return region->start;
}

void *sim_dynamic_shared(const char *name, size_t align, const char *file, int line)
{
    /* One region for each size in use, so that its end touches the unreadable margin. */
    static struct made {
        struct sim_region *region;
        unsigned slot;
    } made[256];
    static size_t next_made;

    sim_need_kernel("a __shared__ variable", file, line);
    align = align < 16 ? 16 : align;
    if (sim_block->dynamic == NULL) {
        for (const struct made &m : made)
            if (m.region != NULL && m.slot == sim_block->slot && m.region->line == line &&
                strcmp(m.region->file, file) == 0 && m.region->size == sim_launched->dynamic_shared &&
                (uintptr_t)m.region->start % align == 0)
                sim_block->dynamic = m.region;
        if (sim_block->dynamic == NULL) {
            sim_block->dynamic = make_shared(name, sim_launched->dynamic_shared, align, false, file, line);
            made[next_made++ % 256] = {sim_block->dynamic, sim_block->slot};
        }
        prepare_shared(sim_block->dynamic);
    }
    if ((uintptr_t)sim_block->dynamic->start % align != 0)
        sim_fault(file, line, "%s aligned to %zu, less at %s:%d. Align all its declarations alike", name, align,
                  sim_block->dynamic->file, sim_block->dynamic->line);
    return sim_block->dynamic->start;
}

void sim_end_shared(void)
{
    for (size_t i = 0; i < sim_block->num_shared; i++) {
        sim_region_verify(sim_block->shared[i]);
        sim_block->shared[i]->freed = true;
    }
}

void sim_switch_shared(bool runs)
{
    for (size_t i = 0; i < sim_block->num_shared; i++)
        sim_block->shared[i]->freed = !runs;
}
