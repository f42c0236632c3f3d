/* SPDX-License-Identifier: MIT */

#include "region.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fault.h"
#include "shortcuts.h"
#include "sizes.h"
#include "announce.h"

static const size_t page = 4096;
static const size_t least_margin = 1 << 20;

/* Four bytes that are a NaN as a float, and not the one that fresh memory holds. */
static const unsigned char canary[4] = {0xa5, 0xa5, 0xa5, 0xff};

static struct sim_region **regions;
static size_t num_regions, max_regions;

/* Regions lie far from what else the program has: host code touches much, and one comparison shows that it is none of
   them. Where these addresses cannot be had, regions lie anywhere, and that takes longer. */
static char *next_map = (char *)((uintptr_t)1 << 45);
const char *sim_lowest_region;
size_t sim_regions_span;

static void write_canary(char *from, const char *to)
{
    for (; from < to; from++)
        *from = (char)canary[(uintptr_t)from % 4];
}

/* Whether all bytes of [from, to) are the canary's: the first four are, and each one is that of four places before. */
static bool is_whole(const char *from, const char *to)
{
    const char *const fifth = to - from > 4 ? from + 4 : to;

    for (const char *c = from; c < fifth; c++)
        if ((unsigned char)*c != canary[(uintptr_t)c % 4])
            return false;
    return memcmp(from, fifth, (size_t)(to - fifth)) == 0;
}

/* Number of bytes from the first of [from, to) that is not the canary's up to `to`; 0 when all are whole. */
static size_t damage_before(const char *from, const char *to)
{
    if (is_whole(from, to))
        return 0;
    while ((unsigned char)*from == canary[(uintptr_t)from % 4])
        from++;
    return (size_t)(to - from);
}

/* Number of bytes from `from` up to the last of [from, to) that is not the canary's. */
static size_t damage_after(const char *from, const char *to)
{
    if (is_whole(from, to))
        return 0;
    while ((unsigned char)to[-1] == canary[(uintptr_t)(to - 1) % 4])
        to--;
    return (size_t)(to - from);
}

/* All regions lie between, the new one, too. */
static void widen(const struct sim_region *r)
{
    const char *const end = r->map + r->map_size, *const highest = sim_lowest_region + sim_regions_span;
    const bool first = sim_lowest_region == NULL;

    if (r->map == next_map)
        next_map += r->map_size;
    if (first || r->map < sim_lowest_region)
        sim_lowest_region = r->map;
    sim_regions_span = (size_t)((first || end > highest ? end : highest) - sim_lowest_region);
    sim_shortcuts_forget();
}

struct sim_region *sim_region_create(size_t size, size_t align, bool for_all)
{
    const int kind = for_all ? MAP_SHARED : MAP_PRIVATE;
    const size_t room = sim_round_up(size, align), pages_size = sim_round_up(room, page);
    const size_t margin = pages_size > least_margin ? pages_size : least_margin;
    struct sim_region *r = (struct sim_region *)calloc(1, sizeof(*r));

    if (num_regions == max_regions) {
        void *more = realloc(regions, (max_regions * 2 + 64) * sizeof(*regions));
        if (more != NULL) {
            regions = (struct sim_region **)more;
            max_regions = max_regions * 2 + 64;
        }
    }
    if (r == NULL || num_regions == max_regions) {
        free(r);
        return NULL;
    }
    r->size = size;
    r->pages_size = pages_size;
    r->map_size = margin + pages_size + margin;
    r->map = (char *)mmap(next_map, r->map_size, PROT_NONE, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->map == MAP_FAILED) {
        free(r);
        return NULL;
    }
    r->pages = r->map + margin;
    r->start = r->array = r->pages + pages_size - room;
    r->array_size = size;
    if (pages_size > 0 && mprotect(r->pages, pages_size, PROT_READ | PROT_WRITE) != 0) {
        munmap(r->map, r->map_size);
        free(r);
        return NULL;
    }
    sim_tell.region_made(r);
    if (r->unobservable) {
        munmap(r->map, r->map_size);
        free(r);
        return NULL;
    }
    widen(r);
    write_canary(r->pages, r->start);
    write_canary(r->start + size, r->pages + pages_size);
    regions[num_regions++] = r;
    return r;
}

void sim_region_poison(struct sim_region *r)
{
    memset(r->start, 0xff, r->size);
}

void sim_region_free(struct sim_region *r)
{
    if (r->pages_size > 0)
        mmap(r->pages, r->pages_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    r->freed = true;
    sim_tell.region_gone(r);
}

struct sim_region *sim_region_near(const void *address)
{
    for (size_t i = 0; i < num_regions; i++)
        if ((size_t)((const char *)address - regions[i]->map) < regions[i]->map_size) {
            struct sim_region *found = regions[i];
            regions[i] = regions[i / 2]; /* those asked for often come to the front */
            regions[i / 2] = found;
            return found;
        }
    return NULL;
}

void sim_region_verify(const struct sim_region *r)
{
    const size_t before = damage_before(r->pages, r->start);
    const size_t after = damage_after(r->start + r->size, r->pages + r->pages_size);
    char name[700];

    if (before == 0 && after == 0)
        return;
    sim_region_name(r, name, sizeof(name));
    sim_fault(sim_place.file, sim_place.line, "wrote %zu bytes %s %s. Compare the index with the size before writing",
              before ? before : after, before ? "before the start of" : "past the end of", name);
}

void sim_verify_all(void)
{
    for (size_t i = 0; i < num_regions; i++)
        if (!sim_is_shared(regions[i]) && !regions[i]->freed)
            sim_region_verify(regions[i]);
}

void sim_each_region(const std::function<void(struct sim_region *region)> &call)
{
    for (size_t i = 0; i < num_regions; i++)
        call(regions[i]);
}
