/* SPDX-License-Identifier: MIT */
/* shadow.cpp - the record of each piece of memory: who accessed it last, which of its bytes were written. */
#include "shadow.h"

#include <algorithm>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../machine/region.h"
#include "../machine/sizes.h"

static struct sim_shadow **shadows;
static size_t num_shadows, max_shadows;

static size_t map_size(size_t size)
{
    const size_t words = size / 4 + 1, sectors = size / 32 + 2; /* a pair at the end */

    return sim_round_up(words * (sizeof(struct sim_cell) + sizeof(uint64_t)) +
                            sectors * (sizeof(uint64_t) + sizeof(uint32_t)) + size / 8 + 16,
                        4096);
}

/* Pages of the map that nobody touches take no memory. */
static struct sim_shadow *create(size_t size)
{
    const size_t words = size / 4 + 1, sectors = size / 32 + 2; /* a pair at the end */
    struct sim_shadow *s = (struct sim_shadow *)calloc(1, sizeof(*s));
    char *map =
        (char *)mmap(NULL, map_size(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (num_shadows == max_shadows) {
        void *more = realloc(shadows, (max_shadows * 2 + 64) * sizeof(*shadows));
        if (more != NULL) {
            shadows = (struct sim_shadow **)more;
            max_shadows = max_shadows * 2 + 64;
        }
    }
    if (s == NULL || map == MAP_FAILED || num_shadows == max_shadows) {
        if (map != MAP_FAILED)
            munmap(map, map_size(size));
        free(s);
        return NULL;
    }
    s->size = size;
    s->cells = (struct sim_cell *)map;
    s->others = (uint64_t *)(s->cells + words);
    s->loaded = s->others + words;
    s->stored = (uint32_t *)(s->loaded + sectors);
    s->written = (unsigned char *)(s->stored + sectors);
    shadows[num_shadows++] = s;
    return s;
}

static size_t num_parts(const struct sim_shadow *s)
{
    return (s->size / 4 + 1) * (4 / s->part_size);
}

static size_t parts_size(const struct sim_shadow *s)
{
    return num_parts(s) * (sizeof(struct sim_cell) + sizeof(uint64_t));
}

bool sim_shadow_divide(struct sim_shadow *s, unsigned part_size)
{
    const struct sim_shadow old = *s;

    s->part_size = part_size;
    void *const map =
        mmap(NULL, parts_size(s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        *s = old;
        return false;
    }
    s->parts = (struct sim_cell *)map;
    s->part_others = (uint64_t *)(s->parts + num_parts(s));
    if (old.parts == NULL)
        return true;
    for (size_t i = 0; i < num_parts(s); i++) { /* halves become bytes */
        const struct sim_cell *const from = &old.parts[i / 2];
        if (from->write != 0 || from->read != 0)
            s->parts[i] = *from;
        if (old.part_others[i / 2] != 0)
            s->part_others[i] = old.part_others[i / 2];
    }
    munmap(old.parts, parts_size(&old));
    return true;
}

static void destroy(struct sim_shadow *s)
{
    for (size_t i = 0; i < num_shadows; i++)
        if (shadows[i] == s) {
            shadows[i] = shadows[--num_shadows];
            munmap(s->cells, map_size(s->size));
            if (s->parts != NULL)
                munmap(s->parts, parts_size(s));
            free(s);
            return;
        }
}

void sim_shadow_mark(struct sim_region *r, const void *at, size_t size)
{
    unsigned char *bits = r->shadow->written;
    size_t i = (size_t)((const char *)at - r->start);
    const size_t end = i + size;

    for (; i < end && i % 8 != 0; i++)
        bits[i / 8] |= 1 << i % 8;
    if (i < end) {
        memset(bits + i / 8, 0xff, (end - i) / 8);
        i = end / 8 * 8;
    }
    for (; i < end; i++)
        bits[i / 8] |= 1 << i % 8;
}

void sim_shadow_copy(struct sim_region *to, const void *dst, struct sim_region *from, const void *src, size_t size)
{
    size_t t = (size_t)((const char *)dst - to->start), f = (size_t)((const char *)src - from->start);

    for (size_t i = 0; i < size; i++, t++, f++) {
        const bool written = from->shadow->written[f / 8] >> f % 8 & 1;
        to->shadow->written[t / 8] = (to->shadow->written[t / 8] & ~(1 << t % 8)) | written << t % 8;
        to->shadow->stored[t / 32] = std::max(to->shadow->stored[t / 32], from->shadow->stored[f / 32]);
    }
}

void sim_shadow_forget(void)
{
    for (size_t i = 0; i < num_shadows; i++)
        memset(shadows[i]->cells, 0, (char *)shadows[i]->loaded - (char *)shadows[i]->cells);
    for (size_t i = 0; i < num_shadows; i++)
        if (shadows[i]->parts != NULL)
            memset(shadows[i]->parts, 0, parts_size(shadows[i]));
}

void sim_shadow_made(struct sim_region *r)
{
    r->shadow = create(r->size);
    r->unobservable = r->shadow == NULL;
}

void sim_shadow_gone(struct sim_region *r)
{
    destroy(r->shadow);
    r->shadow = NULL;
}

void sim_shadow_unwritten(struct sim_region *r)
{
    memset(r->shadow->written, 0, r->size / 8 + 1);
}
