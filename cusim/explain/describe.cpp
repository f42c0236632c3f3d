/* SPDX-License-Identifier: MIT */
/* describe.cpp - names a place in memory for messages: outputs[2][17] where the array's shape is known, byte 268 of the
   400-byte allocation made at scale.cu:40 where it is not. */
#include <string.h>

#include "../machine/clusters.h"
#include "../machine/fault.h"
#include "../machine/locate.h"
#include "../machine/fiber.h"
#include "../machine/image.h"
#include "../machine/region.h"
#include "../machine/announce.h"

/* The field of a struct in which that byte lies, or NULL. */
static const struct sim_field *field_at(const struct sim_region *r, size_t rest)
{
    for (const struct sim_field *f = r->shape.fields; f != NULL && f->name != NULL; f++)
        if (rest >= f->offset && rest < f->offset + f->size)
            return f;
    return NULL;
}

static bool has_elements(const struct sim_region *r)
{
    return r->shape.element > 0 && !r->shape.is_raw;
}

static const char *name_of(const struct sim_region *r)
{
    return sim_is_shared(r) ? r->name : r->array_name;
}

/* " of block (1,0,0)", when it is shared memory of another block of the cluster. */
static void owner_of(const struct sim_region *r, char *text, size_t size)
{
    const struct block *const owner = sim_is_shared(r) ? sim_cluster_owner(r) : NULL;

    text[0] = '\0';
    if (owner != NULL && owner != sim_block)
        snprintf(text, size, " of block (%u,%u,%u)", owner->index.x, owner->index.y, owner->index.z);
}

/* "outputs[2][17]", the element in which byte `offset` lies, which may be outside. `whole`: all of it is meant. */
static void element_text(const struct sim_region *r, ptrdiff_t offset, bool whole, char *text, size_t size)
{
    const struct sim_shape *s = &r->shape;
    const ptrdiff_t element = (ptrdiff_t)s->element, index = offset / element - (offset % element < 0);
    const size_t rest = (size_t)(offset - index * element);
    ptrdiff_t left = index, indices[SIM_MAX_DIMS] = {0};
    const struct sim_field *const field = whole ? NULL : field_at(r, rest);
    size_t used = 0;

    for (unsigned d = s->rank; d-- > 0;) { /* a negative index stays the innermost one */
        const bool outermost = d == 0 || left < 0;
        const ptrdiff_t dim = s->dims[d] > 0 ? (ptrdiff_t)s->dims[d] : 1;
        indices[d] = outermost ? left : left % dim;
        left = outermost ? 0 : left / dim;
    }
    if (!whole && s->is_class && s->member == 0 && field == NULL && rest > 0)
        used += (size_t)snprintf(text, size, "byte %zu of ", rest);
    used += (size_t)snprintf(text + used, size - used, "%s", name_of(r));
    for (unsigned d = 0; d < s->rank; d++)
        used += (size_t)snprintf(text + used, size - used, "[%td]", indices[d]);
    if (s->rank == 0 && index != 0)
        used += (size_t)snprintf(text + used, size - used, "[%td]", index);
    if (field != NULL)
        used += (size_t)snprintf(text + used, size - used, ".%s", field->name);
    if (field != NULL && field->size > field->element)
        snprintf(text + used, size - used, "[%zu]", (rest - field->offset) / field->element);
    if (!whole && s->member > 0)
        snprintf(text + used, size - used, ".%c", "xyzw"[rest / s->member % 4]);
}

/* All that lies in [address, address + length) as elements. */
/* Whether two bytes lie in the same element, of which no members are known. */
static bool is_one(const struct sim_region *r, ptrdiff_t first, ptrdiff_t last)
{
    const ptrdiff_t element = (ptrdiff_t)r->shape.element;

    return r->shape.member == 0 && r->shape.fields == NULL && last - first < element && first >= 0 &&
           first / element == last / element;
}

static void describe_elements(const struct sim_region *r, const char *at, size_t length, char *text, size_t size)
{
    const ptrdiff_t first = at - r->array, last = first + (ptrdiff_t)(length > 0 ? length : 1) - 1;
    const bool whole = length >= r->shape.element;
    char begin[300], end[300], owner[60], declared[600] = "";

    element_text(r, first, whole, begin, sizeof(begin));
    element_text(r, last, whole || (r->shape.member == 0 && r->shape.fields == NULL), end, sizeof(end));
    owner_of(r, owner, sizeof(owner));
    size_t used = (size_t)(strcmp(begin, end) == 0 || length == 0 || is_one(r, first, last)
                               ? snprintf(text, size, "%s%s", begin, owner)
                               : snprintf(text, size, "%s to %s%s", begin, end, owner));
    if (first >= 0 && last < (ptrdiff_t)r->array_size)
        return;
    if (sim_is_shared(r))
        snprintf(declared, sizeof(declared), ", declared at %s:%d", r->file, r->line);
    element_text(r, (ptrdiff_t)r->array_size - 1, true, end, sizeof(end));
    element_text(r, 0, true, begin, sizeof(begin));
    if (first < 0)
        snprintf(text + used, size - used, ", before the start (the first is %s%s)", begin, declared);
    else if (r->array_size == 0)
        snprintf(text + used, size - used,
                 ", past the end (it has no elements: the launch gives it no bytes, which stand third in <<<blocks, "
                 "threads, "
                 "bytes>>>)");
    else
        snprintf(text + used, size - used, ", past the end (the last is %s%s)", end, declared);
}

/* "the 1600-byte array inputs", or "the 1600-byte allocation made at scale.cu:40" */
static void region_name(const struct sim_region *r, char *text, size_t size)
{
    char made[256], owner[60];

    owner_of(r, owner, sizeof(owner));
    if (sim_is_shared(r)) {
        snprintf(text, size, "the %zu-byte shared array %s%s declared at %s:%d", r->size, r->name, owner, r->file,
                 r->line);
    } else if (r->array_name != NULL) {
        snprintf(text, size, "the %zu-byte array %s", r->array_size, r->array_name);
    } else {
        sim_locate((const char *)r->caller - 1, made, sizeof(made));
        snprintf(text, size, "the %zu-byte allocation made at %s", r->size, made);
    }
}

static void describe_bytes(const struct sim_region *r, const char *at, size_t length, char *text, size_t size)
{
    const ptrdiff_t end = r->array_size, first = at - r->array, last = first + (ptrdiff_t)length;
    char name[700];

    region_name(r, name, sizeof(name));
    if (first < 0)
        snprintf(text, size, "%td bytes before the start of %s", -first, name);
    else if (first < end && last > end && !r->freed)
        snprintf(text, size, "%zu bytes, up to %td bytes past the end of %s", length, last - end, name);
    else if (first < end)
        snprintf(text, size, "byte %td of %s", first, name);
    else if (first == end)
        snprintf(text, size, "right past the end of %s", name);
    else
        snprintf(text, size, "%td bytes past the end of %s", first - end, name);
}

static void describe(const void *address, size_t length, char *text, size_t size)
{
    const struct sim_region *r = sim_region_near(address);
    const char *const at = (const char *)address;

    if (r == NULL && (uintptr_t)at < 4096)
        snprintf(text, size, "through a null pointer");
    else if (r == NULL && sim_is_local(address))
        snprintf(text, size, "%p, which is a local variable of another thread", address);
    else if (r == NULL && sim_host_memory(address) != NULL)
        snprintf(text, size, "%p, which is memory of the host (%s)", address, sim_host_memory(address));
    else if (r == NULL)
        snprintf(text, size, "%p, which is no device memory", address);
    if (r == NULL)
        return;
    if (has_elements(r))
        describe_elements(r, at, length, text, size);
    else
        describe_bytes(r, at, length, text, size);
    if (r->freed && r->freed_by != NULL) {
        char place[300];
        sim_locate((const char *)r->freed_at - 1, place, sizeof(place));
        snprintf(text + strlen(text), size - strlen(text), ", which was freed by %s at %s", r->freed_by, place);
    } else if (r->freed) {
        snprintf(text + strlen(text), size - strlen(text), ", which %s",
                 !sim_is_shared(r)              ? "was freed"
                 : sim_cluster_owner(r) != NULL ? "has ended"
                                                : "was another block's");
    }
}

static void name_region(const struct sim_region *r, char *text, size_t size)
{
    if (has_elements(r))
        snprintf(text, size, "the %s %s", r->is_variable && r->shape.rank == 0 ? "variable" : "array", name_of(r));
    else
        region_name(r, text, size);
}

__attribute__((constructor(102))) static void subscribe(void)
{
    sim_tell.describe.add(describe);
    sim_tell.name_region.add(name_region);
}
