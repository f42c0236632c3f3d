/* SPDX-License-Identifier: MIT */
/* shared.cpp - shared memory: each __shared__ variable is a region of its own, NaN when a block begins. */
#include "shared.h"

#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "clusters.h"
#include "chip.h"
#include "region.h"
#include "fault.h"
#include "announce.h"

/* Makes a region of a block NaN and has it verified when the block ends. */
static void prepare_shared(struct block *block, struct sim_region *region)
{
    if (block->num_shared == sizeof(block->shared) / sizeof(*block->shared))
        sim_fault(region->file, region->line, "more than %zu __shared__ variables. Join some into an array",
                  block->num_shared);
    block->shared[block->num_shared++] = region;
    region->freed = sim_has_ended(block);
    region->block = block->number;
    sim_region_poison(region);
    if (!region->shape.is_raw)
        sim_tell.region_unwritten(region);
}

static struct sim_region *make_shared(const char *name, size_t size, size_t align, const sim_shape *shape,
                                      const char *file, int line)
{
    struct sim_region *region = sim_region_create(size, align, false);

    if (region == NULL)
        sim_fault(file, line, "no memory for the shared array %s of %zu bytes. Free some memory", name, size);
    region->name = name;
    region->align = align;
    region->shape = *shape;
    region->file = file;
    region->line = line;
    return region;
}

/* A variable of a block, made when the block, or another one of its cluster, first comes to it. */
static struct sim_region *static_of(struct block *block, sim_shared *variable, const char *name, size_t size,
                                    size_t align, const sim_shape *shape, const char *file, int line)
{
    if (variable->regions == NULL)
        variable->regions = (struct sim_region **)calloc(SIM_MAX_RESIDENT, sizeof(*variable->regions));
    if (variable->regions == NULL)
        sim_fault(file, line, "no memory for the shared array %s. Free some memory", name);
    if (variable->regions[block->slot] == NULL) {
        variable->regions[block->slot] = make_shared(name, size, align, shape, file, line);
        variable->regions[block->slot]->variable = variable;
    }
    struct sim_region *region = variable->regions[block->slot];
    if (region->block != block->number) {
        const size_t limit = sim_info->max_dynamic > SIM_SHARED ? sim_chip.shared_optin : SIM_SHARED;

        block->static_bytes += size;
        if (block->static_bytes > sim_info->static_bytes)
            sim_info->static_bytes = block->static_bytes;
        if (block->static_bytes > SIM_SHARED)
            sim_fault(file, line, "%zu bytes of static shared memory, more than %zu. Make arrays smaller, or extern",
                      block->static_bytes, SIM_SHARED);
        if (block->static_bytes + sim_launched->dynamic_shared > limit)
            sim_fault(file, line,
                      "%zu bytes of static and %zu of dynamic shared memory, more than %zu together. Use less, or ask "
                      "for more with cudaFuncSetAttribute",
                      block->static_bytes, sim_launched->dynamic_shared, limit);
        prepare_shared(block, region);
    }
    return region;
}

void *sim_static_shared(sim_shared *variable, const char *name, size_t size, size_t align, const sim_shape *shape,
                        const char *file, int line)
{
    sim_need_kernel("a __shared__ variable", file, line);
    if (variable->block == sim_block->number)
        return variable->start;
    variable->start = static_of(sim_block, variable, name, size, align, shape, file, line)->start;
    variable->block = sim_block->number;
    return variable->start;
}

/* The dynamic shared memory of a block. */
static struct sim_region *dynamic_of(struct block *block, const char *name, size_t align, const sim_shape *shape,
                                     const char *file, int line)
{
    /* One region for each size in use, so that its end touches the unreadable margin. */
    static struct made {
        struct sim_region *region;
        unsigned slot;
    } made[256];
    static size_t next_made;

    if (block->dynamic == NULL) {
        for (const struct made &m : made)
            if (m.region != NULL && m.slot == block->slot && m.region->line == line &&
                strcmp(m.region->file, file) == 0 && m.region->size == sim_launched->dynamic_shared &&
                (uintptr_t)m.region->start % align == 0)
                block->dynamic = m.region;
        if (block->dynamic == NULL) {
            block->dynamic = make_shared(name, sim_launched->dynamic_shared, align, shape, file, line);
            block->dynamic->shape.is_raw |= shape->element >= 16; /* extern float4 x[]: how storage is asked for */
            made[next_made++ % 256] = {block->dynamic, block->slot};
        }
        block->dynamic->align = align;
        prepare_shared(block, block->dynamic);
    }
    return block->dynamic;
}

void *sim_dynamic_shared(const char *name, size_t align, const sim_shape *shape, const char *file, int line)
{
    sim_need_kernel("a __shared__ variable", file, line);
    align = align < 16 ? 16 : align;
    const struct sim_region *region = dynamic_of(sim_block, name, align, shape, file, line);
    if ((uintptr_t)region->start % align != 0)
        sim_fault(file, line, "%s aligned to %zu, less at %s:%d. Align all its declarations alike", name, align,
                  region->file, region->line);
    return region->start;
}

struct sim_region *sim_shared_of(struct block *other, const struct sim_region *own)
{
    return own->variable == NULL ? dynamic_of(other, own->name, own->align, &own->shape, own->file, own->line)
                                 : static_of(other, (sim_shared *)own->variable, own->name, own->size, own->align,
                                             &own->shape, own->file, own->line);
}

void sim_leave_shared(void)
{
    for (size_t i = 0; i < sim_block->num_shared; i++)
        sim_tell.shared_leaves(sim_block->shared[i]);
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
    const struct cluster *const c = sim_block->cluster;

    for (unsigned rank = 0; rank < c->size && c->blocks[rank] != NULL; rank++) /* NULL: the cluster is about to begin */
        for (size_t i = 0; i < c->blocks[rank]->num_shared && !sim_has_ended(c->blocks[rank]); i++)
            c->blocks[rank]->shared[i]->freed = !runs;
}
