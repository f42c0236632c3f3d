/* SPDX-License-Identifier: MIT */
/* unwritten.cpp - what a copy gives to the host though nothing has written it: the tail of an array that the grid does
   not cover, or all of it.

   What lies between the members of a struct is never written. Where the copy's pointers say what the elements are, it
   is known which bytes these are (cuda_runtime.h). Where they do not, few bytes at a time may be missing, or the same
   ones again and again, at the same distance; so may what lies between the rows of cudaMallocPitch, always. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../include/cuda_runtime_api.h"
#include "../include/sim_shape.h"
#include "../machine/announce.h"
#include "../machine/fault.h"
#include "../machine/region.h"
#include "../runtime/stream.h"
#include "../runtime/tasks.h"
#include "shadow.h"

/* Runs of bytes that nothing has written. */
struct holes {
    size_t bytes, count;
    const char *first; /* byte of all */
    const char *start; /* of the last one, */
    size_t length;     /* and its length */
    size_t longest;
    size_t distance; /* from one to the next, while they are alike */
    bool alike;
};

static void add(struct holes *h, const char *at)
{
    h->bytes++;
    if (h->count > 0 && at == h->start + h->length) {
        h->length++;
    } else {
        const size_t distance = h->count > 0 ? (size_t)(at - h->start) : 0;
        h->alike = h->count < 2 || (h->alike && distance == h->distance && h->length == h->longest);
        h->distance = distance;
        h->start = at;
        h->length = 1;
        h->count++;
    }
    h->first = h->count == 1 && h->length == 1 ? at : h->first;
    h->longest = h->length > h->longest ? h->length : h->longest;
}

static bool is_padding(const struct sim_elements *e, size_t offset)
{
    return e != NULL && e->padding != NULL && e->padding[offset % e->size];
}

/* Whether they may be what lies between members, or rows. */
static bool is_between(const struct holes *h, const struct sim_elements *e, size_t all)
{
    const bool regular = h->count > 1 && h->alike && h->length == h->longest;

    if (h->bytes == all)
        return false;
    return (regular && h->distance % 512 == 0) || (e == NULL && (regular || h->longest < 16));
}

static bool tells = true;

extern "C" void sim_tell_unwritten(bool on)
{
    tells = on;
}

void sim_shadow_given(const void *rows, size_t pitch, size_t width, size_t height, const struct sim_elements *e)
{
    const struct sim_region *const r = sim_region_near(rows);
    const size_t all = width * height;
    struct holes h = {};
    char what[700], how_many[100];
    bool is_late = false;

    if (!tells || !sim_watches || !sim_has_kernels || r->shadow == NULL)
        return;
    for (size_t y = 0; y < height; y++) {
        const char *const row = (const char *)rows + y * pitch;
        const size_t offset = (size_t)(row - r->start);
        for (size_t x = 0; x < width; x++) {
            const size_t at = offset + x;
            uint64_t bits;
            if (at % 64 == 0 && width - x >= 64) { /* mostly all are */
                memcpy(&bits, r->shadow->written + at / 8, sizeof(bits));
                if (bits == UINT64_MAX) {
                    x += 63;
                    continue;
                }
            }
            /* What a call of memset in a kernel has written is not seen, but no longer as it was. */
            if (!(r->shadow->written[at / 8] >> at % 8 & 1) && r->start[at] == (char)0xff && !is_padding(e, x))
                add(&h, r->start + at);
        }
    }
    if (h.bytes == 0 || is_between(&h, e, all))
        return;
    /* What another stream still has to do may be what is missing: then it races with the copy, and that is told. */
    sim_each_unwaited([&](const struct sim_call &, bool is_done) { is_late = is_late || !is_done; });
    if (is_late)
        return;
    sim_region_describe(h.first, 0, what, sizeof(what));
    if (h.bytes == all)
        snprintf(how_many, sizeof(how_many), "none of which anything has written");
    else
        snprintf(how_many, sizeof(how_many), "of which nothing has written %zu", h.bytes);
    sim_fault_at(
        sim_task_at(),
        "copies %zu bytes to the host, %s: from %s on. See whether the kernel ran, whether the grid has enough "
        "blocks (round up), and which elements no thread writes",
        all, how_many, what);
}
