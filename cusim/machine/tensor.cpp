/* SPDX-License-Identifier: MIT */
/* tensor.cpp - the TMA copies boxes of arrays of three dimensions (sm_90).

       the array's memory                     shared memory
       +-------------------+
       |      box          |   tma_load_box   +------+    a row of the box behind the other,
       |     +------+      |  ------------->  | rows |    and where the box is outside of
       |     | rows |      |  <-------------  |      |    the array, zeros
       |     +------+      |   tma_store_box  +------+
       +-------------------+

   A load is pieces of rows that count at an mbarrier (mbarrier.cpp). A store reads shared memory as late as a GPU may:
   when its thread waits. */
#include "tensor.h"

#include <stdlib.h>
#include <string.h>
#include <vector>

#include "../include/sim_tma.h"
#include "access.h"
#include "announce.h"
#include "block.h"
#include "fault.h"
#include "mbarrier.h"
#include "poll.h"
#include "region.h"

/* A store that was asked for and not yet waited for. */
struct box_store {
    struct sim_piece *pieces; /* inside of the array; the thread's own */
    size_t count;
    const char *file;
    int line;
    const void *pc; /* where it was asked for */
};

enum { SWIZZLED_PIECE = 16, SWIZZLED_ROW = 128, SWIZZLED_ROWS = 8 };

static const char *const stay_inside = "Give tensor_map_of sizes and strides of memory that is there";

/* The box that a call moves. */
struct box {
    const char *name, *verb; /* the call, and what it does in global memory: "reads" or "writes" */
    const char *file;
    int line;
    struct sim_tensor of;
    char *shared;
    size_t bytes;                         /* there */
    std::vector<struct sim_piece> pieces; /* in the order of shared memory */
};

/* Adds a piece, or what it is to the one before it. */
static void add_piece(struct box *box, char *shared, char *global, size_t bytes)
{
    struct sim_piece *const last = box->pieces.empty() ? NULL : &box->pieces.back();

    if (bytes == 0)
        return;
    if (last != NULL && last->shared + last->bytes == shared &&
        (global == NULL ? last->global == NULL : last->global != NULL && last->global + last->bytes == global))
        last->bytes += bytes;
    else
        box->pieces.push_back({shared, global, bytes});
}

/* One row of the box, of `count` elements, of which the first has the coordinate x; `row`: the array's, or NULL. */
static void add_row(struct box *box, char *shared, char *row, int64_t x, int64_t count)
{
    const int64_t size = (int64_t)box->of.sizes[0], element = box->of.element;
    const int64_t first = x < 0 ? -x : 0, last = x + count > size ? size - x : count; /* [first, last): inside */

    if (row == NULL || first >= last) {
        add_piece(box, shared, NULL, (size_t)(count * element));
        return;
    }
    char *const from = row + (x + first) * element;
    const size_t bytes = (size_t)((last - first) * element);
    const struct sim_region *const r = sim_region_near(box->of.base);
    if (r == NULL || sim_is_shared(r) || !sim_region_holds(r, from, bytes))
        sim_check_piece(box->name, box->verb, from, bytes, false, stay_inside, box->file, box->line);
    add_piece(box, shared, NULL, (size_t)(first * element));
    add_piece(box, shared + first * element, from, bytes);
    add_piece(box, shared + last * element, NULL, (size_t)((count - last) * element));
}

/* The same of a swizzled one: 16 bytes after the other. */
static void add_swizzled(struct box *box, char *shared, char *row, int64_t x)
{
    const int number = (int)((uintptr_t)shared / SWIZZLED_ROW % SWIZZLED_ROWS),
              count = SWIZZLED_PIECE / box->of.element;

    for (int i = 0; i < SWIZZLED_ROW / SWIZZLED_PIECE; i++)
        add_row(box, shared + (i ^ number) * SWIZZLED_PIECE, row, x + (int64_t)i * count, count);
}

/* The box of the map at those coordinates, all checked but what the call itself does with it. */
static struct box find_box(const char *name, bool stores, const CUtensorMap *map, int x, int y, int z,
                           const void *shared, const char *file, int line)
{
    struct box box = {name, stores ? "writes" : "reads", file, line, {}, (char *)shared, 0, {}};
    struct sim_tensor *const t = &box.of;
    const int64_t first[3] = {x, y, z};

    sim_need_kernel(name, file, line);
    memcpy(t, map, sizeof(*t));
    if (t->mark != sim_tensor_mark)
        sim_fault(file, line,
                  "%s with a map that tensor_map_of (cuTensorMapEncodeTiled) has not made. Make one, check for errors, "
                  "and pass it as const __grid_constant__ CUtensorMap",
                  name);
    if (t->rank != 3)
        sim_fault(file, line, "%s with a map of %u dimensions. Make one of 3, of which some may have the size 1", name,
                  t->rank);
    if ((uintptr_t)shared % 128 != 0)
        sim_fault(file, line,
                  "%s %s an address that is not aligned to 128. Declare shared arrays __align__(128), and let boxes "
                  "begin at multiples of 128 bytes",
                  name, stores ? "from" : "to");
    if (t->swizzled && (uintptr_t)shared % (SWIZZLED_ROW * SWIZZLED_ROWS) != 0)
        sim_fault(
            file, line,
            "%s of a swizzled box %s an address that is not aligned to 1024: a GPU takes the row, which says where "
            "its 16 bytes lie, from the address. Declare shared arrays __align__(1024), and let boxes begin there",
            name, stores ? "from" : "to");
    if ((int64_t)x * t->element % 16 != 0)
        sim_fault(
            file, line,
            "%s of a box that begins at x = %d, %lld bytes from where a row does: a GPU refuses what is no multiple "
            "of 16. Let x be a multiple of %d elements",
            name, x, (long long)x * t->element, 16 / t->element);
    if (stores && (x < 0 || y < 0 || z < 0))
        sim_fault(file, line,
                  "%s at (%d, %d, %d): a GPU loads from negative coordinates, but refuses to store there. Let the box "
                  "begin inside of the array, or at its end",
                  name, x, y, z);
    if (stores) /* the hardware writes 16 bytes or none */
        t->sizes[0] = (t->sizes[0] * t->element + 15) / 16 * 16 / t->element;
    const size_t row_bytes = (size_t)t->box[0] * t->element;
    box.bytes = row_bytes * t->box[1] * t->box[2];
    sim_check_piece(name, stores ? "reads" : "writes", shared, box.bytes, true,
                    "Make the shared array as large as the map's box", file, line);
    char *to = box.shared;
    for (int64_t k = first[2]; k < first[2] + t->box[2]; k++)
        for (int64_t j = first[1]; j < first[1] + t->box[1]; j++) {
            const bool inside = k >= 0 && k < (int64_t)t->sizes[2] && j >= 0 && j < (int64_t)t->sizes[1];
            char *const row = inside ? t->base + k * (int64_t)t->strides[1] + j * (int64_t)t->strides[0] : NULL;
            if (t->swizzled)
                add_swizzled(&box, to, row, first[0]);
            else
                add_row(&box, to, row, first[0], t->box[0]);
            to += row_bytes;
        }
    return box;
}

void tma_load_box(void *shared, const CUtensorMap *map, int x, int y, int z, uint64_t *barrier, const char *file,
                  int line)
{
    static const char *const name = "tma_load_box";
    struct mbarrier *const b = sim_find_shown_mbarrier(name, barrier, file, line);
    const struct box box = find_box(name, false, map, x, y, z, shared, file, line);

    sim_load_pieces(name, shared, (unsigned)box.bytes, box.pieces.data(), box.pieces.size(), b, file, line,
                    __builtin_return_address(0));
}

void tma_store_box(const CUtensorMap *map, int x, int y, int z, const void *shared, const char *file, int line)
{
    const struct box box = find_box("tma_store_box", true, map, x, y, z, shared, file, line);
    struct thread *const t = sim_current;
    struct box_store store = {NULL, 0, file, line, __builtin_return_address(0)};

    if (t->num_stores == t->max_stores) {
        t->max_stores = t->max_stores * 2 + 4;
        t->stores = (struct box_store *)realloc(t->stores, t->max_stores * sizeof(struct box_store));
    }
    store.pieces = (struct sim_piece *)malloc((box.pieces.size() + 1) * sizeof(struct sim_piece));
    if (t->stores == NULL || store.pieces == NULL)
        sim_fault(file, line, "no memory for another tma_store_box. Wait for some first");
    for (const struct sim_piece &p : box.pieces)
        if (p.global != NULL) {
            sim_tell.accessed(p.shared, p.bytes, 0, store.pc);
            store.pieces[store.count++] = p;
        }
    sim_tell.tma_stores(store.pc, store.pieces, store.count);
    t->stores[t->num_stores++] = store;
    sim_counts.bulk_copies++;
    sim_progress++;
}

void tma_store_commit(const char *file, int line)
{
    sim_need_kernel("tma_store_commit", file, line);
    sim_current->num_committed = sim_current->num_stores;
}

static void do_store(const struct box_store *store)
{
    sim_tell.store_reads(store->pc, store->pieces, store->count);
    for (size_t i = 0; i < store->count; i++) {
        const struct sim_piece *const p = &store->pieces[i];

        sim_check_piece("tma_store_box", "writes", p->global, p->bytes, false, stay_inside, store->file, store->line);
        sim_tell.accessed(p->global, p->bytes, SIM_WRITES, store->pc);
        memcpy(p->global, p->shared, p->bytes);
    }
    sim_tell.stored(store->pieces, store->count);
    sim_changes[SIM_GLOBAL_MEMORY]++;
    free(store->pieces);
}

void tma_store_wait_read(const char *file, int line)
{
    sim_need_kernel("tma_store_wait_read", file, line);
    struct thread *const t = sim_current;

    if (t->num_committed < t->num_stores) {
        const struct box_store *const open = &t->stores[t->num_committed];
        sim_fault(file, line,
                  "tma_store_wait_read, which does not wait for the tma_store_box at %s:%d, as that is not committed. "
                  "Call tma_store_commit between the two",
                  open->file, open->line);
    }
    for (size_t i = 0; i < t->num_stores; i++)
        do_store(&t->stores[i]);
    sim_tell.waits_on("copies", NULL, 0, 0);
    if (t->num_stores > 0) {
        sim_step(t);
        if (sim_thread_number(t) % SIM_WARP == 0)
            sim_tell.waited(false);
        sim_progress++;
    }
    t->num_stores = t->num_committed = 0;
}

void fence_proxy_async(void)
{
    sim_tell.proxy_fence();
}

[[noreturn]] void sim_check_stores(const struct thread *t)
{
    threadIdx = t->index;
    sim_fault(t->stores[0].file, t->stores[0].line,
              "tma_store_box, and its thread ends without tma_store_wait_read: its shared memory may go before it is "
              "read. Call tma_store_commit and tma_store_wait_read in the same thread");
}
