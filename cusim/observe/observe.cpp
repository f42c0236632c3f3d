/* SPDX-License-Identifier: MIT */
/* observe.cpp - sees every load and store of a kernel, judges it, and counts what it costs.

   Kernels are compiled with -fsanitize=thread, which puts a call such as __tsan_read4(address) before each access. The
   functions of these names are here, instead of the sanitizer's own. What each one does:

       __tsan_read4(p) --> its own stack? the program's data? --> nothing
                       --> which allocation or shared array?  --> none: a fault
                       --> inside, aligned, written, no race? --> no: a fault (race.cpp)
                       --> joins the request of its warp

   A *request* is what the lanes of a warp do at one place in the code together. Lanes run one after the other here, so
   requests are put together from the lanes' turns: the n-th access at one place in each lane's turn belongs to the n-th
   request of that place. When each lane has had its turn, the requests are complete:

       lane 0   A1 A2 B1            |        requests: A1 A1 A1    A2 A2    B1 B1 B1
       lane 1            A1 B1      | pass
       lane 2                 A1 A2 B1 ends

   A lane that does much without waiting for others pauses, so that no more than `most_in_turn` accesses of a lane are
   remembered. */
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "objects.h"
#include "observe.h"
#include "path.h"

#include "../machine/clusters.h"
#include "../machine/cores.h"
#include "../machine/access.h"
#include "../machine/chip.h"
#include "../machine/fault.h"
#include "../machine/image.h"
#include "../machine/fiber.h"
#include "../machine/poison.h"
#include "../runtime/host.h"
#include "../include/cuda_runtime.h"
#include "../runtime/memory.h"
#include "../machine/poll.h"
#include "../machine/shortcuts.h"
#include "quick.h"
#include "race.h"
#include "shadow.h"
#include "sites.h"
#include "../runtime/tasks.h"
#include "../runtime/stream.h"
#include "trace.h"
#include "watch.h"
#include "../machine/region.h"
#include "../machine/announce.h"

__attribute__((visibility("hidden"))) const void *sim_last_pc;

/* Whose accesses come from this host thread: the host's, or those of a kernel whose addresses alone are judged, or all
   of it. */
static __thread enum { OF_HOST, OF_BOUNDS, OF_ALL } accesses_are SIM_OFTEN;

static const unsigned most_in_turn = 512;
static const unsigned most_pictured = 8; /* requests of each place, for the picture of a warp */

/* What one place in the code has cost in this launch. */
struct cost {
    struct sim_traffic global;
    uint64_t shared_requests, shared_bytes, shared_lanes, conflicts, contention;
    uint64_t fills, merges;
    unsigned pictured; /* requests that trace.cpp was told of */
};

struct alignas(256) site {
    struct sim_quick quick;    /* an array that it has accessed in this block, */
    uint64_t turn, pass;       /* to which the next two belong: */
    unsigned in_turn;          /* accesses of this turn */
    unsigned in_pass;          /* requests of this pass, */
    struct request **requests; /* they themselves, */
    unsigned max_requests;     /* and room for so many */
    bool is_global;            /* that array lies in global memory, */
    bool is_in_sight;          /* or in what other blocks see */
    bool stores, used;         /* in this launch */
    bool is_atomic;            /* what it does */
    bool passes_l1;            /* its loads: volatile ones, and copies that run by themselves */
    bool copies;               /* nobody waits for it here */
    struct sim_region *region; /* where it went the last time */
    struct site *shared_end;   /* of an asynchronous copy: its stores to shared memory are counted there */
    struct cost cost;
};

struct request {
    struct site *site;
    struct sim_region *region;
    unsigned size, lanes;
    unsigned elsewhere; /* number of the request of those lanes that went to another region; 0: none */
    const char *address[SIM_WARP];
    unsigned char lane[SIM_WARP];
};

static struct site sites[SIM_MAX_SITES];
static unsigned used_sites[SIM_MAX_SITES], num_used;

static struct request requests[SIM_WARP * (most_in_turn + 4)];
static unsigned num_requests, num_pictured;

static uint64_t turn, pass;
static unsigned thread, accesses; /* of this turn, */
static unsigned quick_in_turn;    /* and how many may be judged in a quick way */
static unsigned char lane;        /* of the warp */
static const char *arguments;     /* of the kernel */
static size_t arguments_size;
static uint32_t launch;
static uint64_t first_fill[SIM_MAX_RESIDENT]; /* the first sector that L1 has fetched for the block in that slot */
static uint64_t num_fills, fills_before;      /* sectors fetched by L1 ever, and before this launch */
static uint64_t from_dram;                    /* sectors that neither L1 nor L2 held: L2 fetches two at once */
static uint64_t l1_sectors;                   /* that L1 holds for each of the blocks which share it */
static uint64_t *chain;                       /* of the running thread */
static bool in_global;                        /* whether its last access by judge was to global memory, */
static bool in_sight;                         /* or to what other blocks see */

/* ---- what a request costs ---- */

static void sort(uint64_t *list, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        const uint64_t item = list[i];
        unsigned at = i;
        for (; at > 0 && list[at - 1] > item; at--)
            list[at] = list[at - 1];
        list[at] = item;
    }
}

/* Counts the sector that begins at byte 32 * sector, the first time that this launch touches it, and each time that L1
   must fetch it. L1 holds what was fetched last; its blocks share it evenly. */
static void touch(struct site *site, struct sim_region *r, uint64_t sector)
{
    if (site->stores) {
        uint32_t *const last = &r->shadow->stored[sector];

        site->cost.global.once += *last != launch;
        sim_news += *last != launch;
        *last = launch;
        return;
    }
    uint64_t *const fill = &r->shadow->loaded[sector];
    const bool beside = r->shadow->loaded[sector ^ 1] > fills_before;
    site->cost.global.once += *fill <= fills_before;
    sim_news += *fill <= fills_before;
    if (site->passes_l1 || *fill <= first_fill[sim_block->slot] || num_fills - *fill >= l1_sectors) {
        from_dram += *fill <= fills_before && !beside && r->shadow->stored[sector] != launch;
        *fill = ++num_fills;
        site->cost.fills++;
    }
}

/* Sectors that a store touches and the one just before it has touched, too: L2 may get them together. */
static void count_merges(const struct request *before, const struct request *q)
{
    for (unsigned i = 0; i < q->lanes && i < before->lanes && before->region == q->region; i++)
        q->site->cost.merges += (uintptr_t)q->address[i] / 32 == (uintptr_t)before->address[i] / 32 &&
                                (i == 0 || (uintptr_t)q->address[i] / 32 != (uintptr_t)q->address[i - 1] / 32);
}

/* Puts a request into the path of its warp. */
static void walk(unsigned warp, const struct request *q, uint64_t fills, bool far)
{
    if (q->site->copies)
        sim_path_ask(warp, 32 * fills);
    else if (sim_is_shared(q->region))
        sim_path_shared(warp, q->site->stores);
    else if (q->site->stores)
        sim_path_store(warp);
    else
        sim_path_load(warp, far ? SIM_FAR : fills > 0 ? SIM_L2 : SIM_NEAR, 32 * fills, q->site->passes_l1);
}

static void count_global(const struct request *q)
{
    struct sim_traffic *c = &q->site->cost.global;
    uint64_t start[SIM_WARP], bytes = 0, next_byte = 0, next_sector = 0, next_line = 0;

    for (unsigned i = 0; i < q->lanes; i++)
        start[i] = (uint64_t)(q->address[i] - q->region->start);
    sort(start, q->lanes);
    for (unsigned i = 0; i < q->lanes; i++) { /* from the lowest address up: what is new behind the last one */
        const uint64_t end = start[i] + q->size;
        const uint64_t from = start[i] > next_byte ? start[i] : next_byte;

        if (end > from)
            bytes += end - from;
        for (uint64_t s = start[i] / 32 > next_sector ? start[i] / 32 : next_sector; s <= (end - 1) / 32; s++) {
            c->sectors++;
            touch(q->site, q->region, s);
            if (s / 4 >= next_line)
                c->lines++;
            next_line = s / 4 + 1;
            next_sector = s + 1;
        }
        next_byte = end > next_byte ? end : next_byte;
    }
    c->requests++;
    c->lanes += q->lanes;
    c->bytes += (uint64_t)q->size * q->lanes;
    c->least += (bytes + 31) / 32;
}

/* How many different words of one bank a list wants, at most. */
static unsigned most_in_bank(uint64_t *wanted, unsigned count)
{
    uint64_t word[32];
    uint32_t used = 0;
    unsigned different = 0, in_bank[32] = {0}, most = 0;

    for (; different < count; different++) { /* mostly each bank has one word at most */
        const unsigned bank = wanted[different] % 32;
        if (used >> bank & 1 && word[bank] != wanted[different])
            break;
        used |= (uint32_t)1 << bank;
        word[bank] = wanted[different];
    }
    if (different == count)
        return count > 0;
    sort(wanted, count);
    for (unsigned i = 0; i < count; i++)
        if (i == 0 || wanted[i] != wanted[i - 1])
            if (++in_bank[wanted[i] % 32] > most)
                most = in_bank[wanted[i] % 32];
    return most;
}

/* Whether a request of one word a lane, at most, wants no two different words of one bank: what most do, and mostly
   because all are among 32 words that follow each other. */
static bool is_one_turn(const struct request *q)
{
    const char *first = q->address[0], *last = first;
    uint32_t used = 0, word[32];

    if (q->size > 4)
        return false;
    for (unsigned i = 1; i < q->lanes; i++) {
        first = q->address[i] < first ? q->address[i] : first;
        last = q->address[i] > last ? q->address[i] : last;
    }
    if (last - first < 4 * 32 - 3)
        return true;
    for (unsigned i = 0; i < q->lanes; i++) {
        const uint32_t wanted = (uint32_t)(q->address[i] - q->region->start) / 4, bank = wanted % 32;
        if (used >> bank & 1 && word[bank] != wanted)
            return false;
        used |= (uint32_t)1 << bank;
        word[bank] = wanted;
    }
    return true;
}

/* 32 banks of 4 bytes; 8 bytes a lane are served in two halves of the warp, 16 in four quarters. A part must be
   repeated for as many different words as it wants of one bank. */
static void count_shared(const struct request *q)
{
    struct cost *c = &q->site->cost;
    const unsigned words = q->size > 4 ? q->size / 4 : 1, parts = words > 2 ? 4 : words;
    const unsigned lanes_at_once = SIM_WARP / parts;

    for (unsigned first = 0; first < SIM_WARP && !is_one_turn(q); first += lanes_at_once) {
        uint64_t wanted[SIM_WARP * 2];
        unsigned count = 0;

        for (unsigned i = 0; i < q->lanes; i++)
            if (q->lane[i] >= first && q->lane[i] < first + lanes_at_once)
                for (unsigned w = 0; w < words && count < SIM_WARP * 2; w++)
                    wanted[count++] = (uint64_t)(q->address[i] - q->region->start) / 4 + w;
        const unsigned most = most_in_bank(wanted, count);
        c->conflicts += most > 1 ? most - 1 : 0;
    }
    c->shared_requests++;
    c->shared_lanes += q->lanes;
    c->shared_bytes += (uint64_t)q->size * q->lanes;
}

/* An atomic operation has its word to itself: lanes that go to the same address come there one after the other. */
static void count_contention(const struct request *q)
{
    uint64_t wanted[SIM_WARP];
    unsigned most = 0, here = 0;

    for (unsigned i = 0; i < q->lanes; i++)
        wanted[i] = (uint64_t)q->address[i];
    sort(wanted, q->lanes);
    for (unsigned i = 0; i < q->lanes; i++) {
        here = i > 0 && wanted[i] == wanted[i - 1] ? here + 1 : 1;
        most = here > most ? here : most;
    }
    q->site->cost.contention += most - 1;
}

static void use(struct site *site)
{
    if (!site->used) {
        site->used = true;
        used_sites[num_used++] = (unsigned)(site - sites);
    }
}

static struct request *new_request(struct site *site, struct sim_region *r, size_t size)
{
    struct request *q = &requests[num_requests];
    q->site = site;
    q->region = r;
    q->size = (unsigned)size;
    q->lanes = q->elsewhere = 0;
    num_requests++;
    return q;
}

/* The request that this access joins: the n-th of its place, for the n-th time that this lane comes there in its turn.
   Lanes that go to different regions there make one for each. */
static unsigned join_request(struct site *site, struct sim_region *r, const char *p, size_t size)
{
    if (site->pass != pass) {
        site->pass = pass;
        site->in_pass = 0;
    }
    if (site->turn != turn) {
        site->turn = turn;
        site->in_turn = 0;
    }
    if (site->in_turn == site->in_pass) {
        if (site->in_pass == site->max_requests) {
            site->max_requests = site->max_requests * 2 + 8;
            site->requests = (struct request **)realloc(site->requests, site->max_requests * sizeof(*site->requests));
            if (site->requests == NULL)
                sim_fault(NULL, 0, "no memory to count requests. Free some memory");
        }
        site->requests[site->in_pass++] = new_request(site, r, size);
    }
    struct request *q = site->requests[site->in_turn++];
    while (q->region != r) {
        if (q->elsewhere == 0)
            q->elsewhere = (unsigned)(new_request(site, r, size) - requests);
        q = &requests[q->elsewhere];
    }
    if (q->lanes < SIM_WARP) {
        q->lane[q->lanes] = lane;
        q->address[q->lanes++] = p;
    }
    return (unsigned)(q - requests);
}

static void picture(const struct request *q)
{
    static const char *const kinds[2][2] = {{"load", "store"}, {"shared_load", "shared_store"}};
    const char *kind = kinds[sim_is_shared(q->region)][q->site->stores];

    q->site->cost.pictured++;
    num_pictured++;
    for (unsigned i = 0; i < q->lanes; i++)
        sim_trace_lane(sim_place.kernel, (const char *)sim_site_pc((unsigned)(q->site - sites)) - 1, kind, num_pictured,
                       q->lane[i], (size_t)(q->address[i] - q->region->start), q->size);
}

void sim_observe_pass(unsigned)
{
    const bool first_warp = thread < SIM_WARP && blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;

    const struct request *last_store = NULL;
    for (unsigned i = 0; i < num_requests; i++) {
        const struct request *q = &requests[i];
        const struct cost before = q->site->cost;
        const uint64_t dram = from_dram;

        use(q->site);
        if (!sim_is_shared(q->region)) {
            count_global(q);
            if (q->site->stores && last_store != NULL)
                count_merges(last_store, q);
            last_store = q->site->stores ? q : NULL;
        } else
            count_shared(q);
        if (q->site->is_atomic)
            count_contention(q);
        if (sim_watching)
            sim_watch_cost(i, q->site->cost.global.sectors - before.global.sectors,
                           q->site->cost.global.lines - before.global.lines,
                           q->site->cost.conflicts - before.conflicts);
        walk(thread / SIM_WARP, q, q->site->cost.fills - before.fills, from_dram > dram);
        sim_path_turns(q->site->cost.global.lines - before.global.lines + q->site->cost.shared_requests -
                       before.shared_requests + q->site->cost.conflicts - before.conflicts);
        if (first_warp && sim_traces_lanes() && q->site->cost.pictured < most_pictured)
            picture(q);
    }
    num_requests = 0;
    pass++;
}

/* ---- judgement ---- */

[[noreturn]] static void illegal(const char *p, size_t size, unsigned how, const void *pc)
{
    const char *verb = how & SIM_WRITES ? "writes" : "reads";
    const struct sim_region *r = sim_region_near(p);
    char what[600], undefined[500] = ""; /* what the index may come from */

    sim_race_blame_unwritten();
    sim_region_describe(p, size, what, sizeof(what));
    if (r != NULL && r->pageable)
        sim_fault_at(pc, "%s %s, which is the host's. Copy it to memory of the device, with cudaMemcpy", verb, what);
    if (r != NULL && sim_region_holds(r, p, 1)) /* begins well */
        sim_fault_at(pc, "%s %s. Take the last elements one by one", verb, what);
    if (r != NULL && r->freed && sim_cluster_owner(r) != NULL)
        sim_fault_at(pc,
                     "%s %s. Put the barrier of the cluster between this and its end: cluster_arrive() after this, "
                     "cluster_wait() before the end",
                     verb, what);
    if (r == NULL && (uintptr_t)p >= 4096 && !sim_is_local(p) && sim_host_memory(p) != NULL)
        sim_fault_at(pc,
                     "%s %s. Allocate memory with cudaMalloc, copy with cudaMemcpy, and give the kernel that pointer",
                     verb, what);
    if (sim_num_poisons > 0)
        sim_describe_poison(sim_current, undefined, sizeof(undefined));
    sim_fault_at(pc, "%s %s. Compare the index with the size, and see where the pointer comes from%s", verb, what,
                 undefined);
}

/* Host code touches what a copy has brought to pageable memory, before it has waited. */
static void check_arrival(const char *p, size_t size, unsigned how, const void *pc)
{
    char place[300];

    for (const sim_arrival &a : sim_arrivals)
        for (size_t y = 0; y < a.height; y++) {
            const char *const row = a.start + y * a.pitch;
            if (p >= row + a.width || p + size <= row)
                continue;
            sim_locate_call(&a.call, place, sizeof(place));
            sim_remark_at(
                pc,
                "%s what %s at %s brings, before anything was waited for. It is there only because the memory "
                "is pageable, for which the call waits: call cudaStreamSynchronize before, as pinned memory "
                "needs it",
                how & SIM_WRITES ? "writes" : "reads", a.call.name, place);
            sim_has_arrivals = false;
            return;
        }
}

static void check_host_of(struct sim_region *r, const char *p, size_t size, unsigned how, const void *pc)
{
    char what[600];

    if (r != NULL && r->pageable) {
        sim_region_describe(p, 0, what, sizeof(what));
        sim_fault_at(pc, "%s %s. That is a kernel's work: copy the array with cudaMemcpy",
                     how & SIM_WRITES ? "writes" : "reads", what);
    }
    if (r == NULL || sim_place.kernel != NULL)
        return;
    if (r->host && !r->freed && sim_region_holds(r, p, size)) {
        if (r->managed || (how & (SIM_STRONG | SIM_WRITES)) == SIM_STRONG)
            sim_finish_all(); /* it may be done by now, and then is known to touch this or not; not for a flag's sake,
                                 for which kernels may wait */
        if (sim_remembers())
            sim_race_task(r, p, size, how, sim_site(pc));
        return;
    }
    if (r->is_variable && !r->managed && sim_region_holds(r, p, size)) {
        if (r->fixed && !(how & SIM_WRITES))
            return; /* a function of both, in which the host has a table of its own on a GPU */
        sim_region_describe(p, size, what, sizeof(what));
        sim_fault_at(pc, "%s %s, a variable of the device, of which host code sees another one on a GPU. Use %s",
                     how & SIM_WRITES ? "writes" : "reads", what,
                     how & SIM_WRITES ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol");
    }
    sim_region_describe(p, r->host ? size : 0, what, sizeof(what));
    if (r->host)
        sim_fault_at(pc, "%s %s. Compare the index with the size, and see where the pointer comes from",
                     how & SIM_WRITES ? "writes" : "reads", what);
    sim_fault_at(pc, "%s %s, which is the device's. Use cudaMemcpy", how & SIM_WRITES ? "writes" : "reads", what);
}

/* Takes the device's lock for an access of host code. False: another thread has it and runs a kernel, which may wait
   for what this one writes, so the access is not looked at. */
static bool lock_for_host(void)
{
    while (!sim_try_lock()) {
        if (sim_kernel_thread != 0)
            return false;
        sched_yield();
    }
    return true;
}

/* In host code: device memory must not be touched. Who asks what lies where moves that in the list, so the device's
   lock is needed. */
static void check_host(const char *p, size_t size, unsigned how, const void *pc)
{
    if (!sim_maybe_region(p) || !lock_for_host())
        return;
    check_host_of(sim_region_near(p), p, size, how, pc);
    sim_unlock();
}

/* Lets the others run after many accesses, but not between a read and a compare-and-swap of the same word. */
static void pause_sometimes(const char *p, unsigned how)
{
    if (accesses >= most_in_turn && !(accesses == most_in_turn && how & SIM_ATOMIC && p == sim_just_read))
        sim_pause();
    accesses++;
}

/* Where a place in the code was seen to access an array, what else of that is legal, at once: where addresses alone are
   judged, by the pc, and else with the place. Forgotten when another block runs, or host code. */
static struct legal {
    const char *start;
    size_t size;
} legal[256];

static struct site *quick[SIM_MAX_SITES]; /* those that have an array */
static unsigned num_quick;

void sim_observe_switch(void)
{
    if (!sim_watches) {
        memset(legal, 0, sizeof(legal));
        sim_shortcuts_forget();
    }
    for (; num_quick > 0; num_quick--)
        quick[num_quick - 1]->quick.start = NULL;
}

static inline struct legal *legal_at(const void *pc)
{
    return &legal[(uintptr_t)pc / 2 % (sizeof(legal) / sizeof(*legal))];
}

static bool counts_plainly;

void sim_count_plainly(bool on)
{
    counts_plainly = on;
}

/* Counts what is not told otherwise where addresses alone are judged. Whoever compares two programs by it does not want
   to know how often a thread has looked before another one had written. */
static inline void count_plainly(const char *p, size_t size, unsigned how, const void *pc)
{
    struct thread *const t = sim_current;

    if (!counts_plainly || how & SIM_ATOMIC)
        return;
    if (how & SIM_WRITES) {
        sim_counts.plain_stores += size;
    } else if (t->load_at != p || t->load_pc != pc) {
        t->load_at = p;
        t->load_pc = pc;
        sim_counts.plain_loads += size;
    }
}

static inline bool is_legal(const char *p, size_t size, unsigned how, const void *pc)
{
    const struct legal *l = legal_at(pc);
    const size_t at = (size_t)(p - l->start);

    const size_t align = size & (size - 1) ? 1 : size < 8 ? size : 8;

    if (how & ~SIM_WRITES || at >= l->size || size > l->size - at || (uintptr_t)p % align != 0)
        return false;
    sim_changes[SIM_GLOBAL_MEMORY] += how;
    count_plainly(p, size, how, pc);
    return true;
}

/* Whether all bytes of a small array were written: true of most tiles in shared memory, once they are read. They stay
   so while the block runs. */
static bool is_whole(const struct sim_region *r)
{
    const unsigned char *const bits = r->shadow->written + (r->array - r->start) / 8;
    size_t i = 0;

    if (r->array_size > 4096 || r->array_size % 8 != 0)
        return false;
    while (i < r->array_size / 8 && bits[i] == 0xff)
        i++;
    return i == r->array_size / 8;
}

/* The place has plainly accessed such a region, of the running block or global: the next one there will be quick. */
static void expect(struct site *site, struct sim_region *r, size_t size)
{
    const size_t from = (size_t)(r->array - r->start);

    if (r->shadow->parts != NULL || (site->stores && r->shadow->is_read_only))
        return;
    if (site == sites || site->quick.start == r->array || r->array_size < size || from % 16 != 0 || sim_watching)
        return;
    if (site->quick.start == NULL)
        quick[num_quick++] = site;
    site->quick = {r->array,
                   r->array_size - size,
                   r->shadow->cells + from / 4,
                   r->shadow->others + from / 4,
                   r->shape.is_raw || (!site->stores && is_whole(r)) ? NULL : r->shadow->written + from / 8,
                   sim_race_floor(r),
                   (uint64_t)(site - sites) << SITE_AT};
    site->is_global = in_global;
    site->is_in_sight = in_sight;
}

/* Any access of the program's own code to memory that is not the thread's own. */
static void judge(const char *p, size_t size, unsigned how, const void *pc)
{
    const bool in_image = p >= sim_image_end && p < &end;
    if (in_image ? sim_is_private_data(p) : !sim_place.in_thread && sim_is_private_stack(p))
        sim_fault_at(pc, "%s memory that belongs to none of its variables and arrays. See where the pointer comes from",
                     how & SIM_WRITES ? "writes" : "reads");
    if (in_image)
        return;
    if (!sim_place.in_thread) {
        check_host(p, size, how, pc);
        return;
    }
    const unsigned number = sim_site(pc);
    struct site *site = &sites[number];
    struct sim_region *r = site->region;
    sim_last_pc = pc;
    if (r == NULL || !sim_region_holds(r, p, size)) {
        if ((size_t)(p - arguments) < arguments_size)
            return;
        r = sim_region_near(p);
        if (r == NULL || r->pageable || !sim_region_holds(r, p, size))
            illegal(p, size, how, pc);
        site->region = r;
        sim_race_pooled(r, p, how & SIM_WRITES, pc);
    }
    /* 16 bytes may be two members of 8, which are aligned to 8 */
    if ((size & (size - 1)) == 0 && (uintptr_t)p % (size < 8 ? size : 8) != 0) {
        char what[600];
        sim_region_describe(p, 0, what, sizeof(what));
        sim_fault_at(
            pc, "%s %zu bytes at %s, an address that is misaligned for its type. Align float4 to 16 bytes, float2 to 8",
            how & SIM_WRITES ? "writes" : "reads", size, what);
    }
    in_global = !sim_is_shared(r);
    if (r->constant) { /* the constant cache is not counted */
        if (how & SIM_WRITES) {
            char what[600];
            sim_region_describe(p, size, what, sizeof(what));
            sim_fault_at(pc, "writes %s, which is __constant__: a kernel can only read it. Declare it __device__",
                         what);
        }
        sim_race_access(r, p, size, how, number);
        return;
    }
    if (sim_num_devices > 1 && in_global && !r->host && !r->is_variable &&
        !sim_reaches(sim_running_device, r->device)) {
        char what[600];
        sim_region_describe(p, 0, what, sizeof(what));
        sim_fault_at(pc,
                     "%s %s, which is memory of device %d, in a kernel of device %d. Copy it with cudaMemcpyPeer, or "
                     "call cudaDeviceEnablePeerAccess",
                     how & SIM_WRITES ? "writes" : "reads", what, r->device, sim_running_device);
    }
    in_sight = in_global || sim_block->cluster->size > 1;
    if (!in_global && r->block != sim_block->number)
        sim_cluster_access(p, how, pc);
    if (how & SIM_STRONG && (how & (SIM_WRITES | SIM_ATOMIC)) != SIM_WRITES && sim_seen(p, pc, in_global)) {
        sim_race_polls(r, p, size);
        how &= ~SIM_VOLATILE;
        sim_poll(p, pc, in_global);
    }
    pause_sometimes(p, how);
    if (!sim_watches) {
        sim_changes[in_sight] += how & SIM_WRITES;
        count_plainly(p, size, how, pc);
        *legal_at(pc) = {r->array, r->array_size};
        sim_just_read = how == 0 ? p : NULL;
        return;
    }
    if (size == sizeof(char *) && !(how & SIM_WRITES) && in_global && *(const char *const *)p >= &etext &&
        *(const char *const *)p < &end)
        sim_hosts_pointer(r, p);
    if (how & SIM_STRONG && in_global) {
        if (how & SIM_WRITES)
            sim_path_publish(thread / SIM_WARP, p, how & SIM_ATOMIC);
        else
            sim_path_learn(thread / SIM_WARP, p);
    }
    __builtin_prefetch(&r->shadow->cells[(size_t)(p - r->start) / 4], 1);
    site->stores = how & SIM_WRITES;
    site->is_atomic = how & SIM_ATOMIC;
    site->passes_l1 = how & SIM_STRONG;
    if (how & SIM_WRITES && !(how & SIM_ATOMIC)) {
        sim_changes[in_sight]++;
        if (in_global)
            *chain += (size + 3) / 4;
    }
    const unsigned request = join_request(site, r, p, size);
    if (sim_watching)
        sim_watch_access(r, p, size, how, pc, request);
    const bool was_whole = r->shadow->parts == NULL;
    const uint64_t known = sim_known_interval;
    sim_race_access(r, p, size, how, number);
    if ((was_whole && r->shadow->parts != NULL) || sim_known_interval != known)
        sim_observe_switch(); /* accesses to whole words, too, look at the parts; or more is history, by a flag */
    sim_just_read = how == 0 ? p : NULL;
    if ((how & ~SIM_WRITES) == 0)
        expect(site, r, size);
    quick_in_turn = sim_race->num_suspects > 0 || sim_num_poisons > 0 ? 0 : most_in_turn;
}

static inline bool is_local(const char *p)
{
    return (size_t)(p - sim_place.stack) < SIM_STACK;
}

/* Local variables, and the program's own data (threadIdx is there), are neither judged nor counted. */
static inline bool is_own(const char *p)
{
    return is_local(p) || (size_t)(p - &__ehdr_start) < (size_t)(sim_image_end - &__ehdr_start);
}

/* But for a table of functions that host code has given to a kernel. */
static inline __attribute__((always_inline)) void judge_unless_own(const char *p, size_t size, unsigned how,
                                                                   const void *pc)
{
    if (!is_own(p))
        judge(p, size, how, pc);
    else if (size == sizeof(char *) && (size_t)(p - sim_hosts_table) < SIM_TABLE)
        sim_reads_table(p, pc);
}

static inline __attribute__((always_inline)) void observe(const void *at, size_t size, unsigned how, const void *pc)
{
    const char *p = (const char *)at;

    if (accesses_are == OF_BOUNDS) {
        if (is_legal(p, size, how, pc))
            return;
    } else if (accesses_are == OF_HOST) {
        if (sim_has_arrivals)
            check_arrival(p, size, how, pc);
        if (!sim_maybe_region(p) && !sim_has_private)
            return;
    }
    judge_unless_own(p, size, how, pc);
}

/* A plain access has been judged in the quick way: it joins its request, and the rest that judge does. */
template <size_t size, bool writes>
static inline __attribute__((always_inline)) void count_quick(struct site *site, const char *p)
{
    accesses++;
    sim_just_read = writes ? NULL : p;
    if (writes) {
        sim_changes[site->is_in_sight]++;
        *chain += site->is_global ? size / 4 : 0;
    }
    if (site->turn != turn && site->pass == pass) {
        site->turn = turn;
        site->in_turn = 0;
    }
    if (site->turn == turn && site->in_turn < site->in_pass) {
        struct request *const q = site->requests[site->in_turn];
        if (q->region == site->region && q->lanes < SIM_WARP) {
            site->in_turn++;
            q->lane[q->lanes] = lane;
            q->address[q->lanes++] = p;
            return;
        }
    }
    join_request(site, site->region, p, size);
}

/* Not inlined, so that the way without others has few registers to save. */
template <size_t size>
static __attribute__((noinline)) void read_beside(struct site *site, const char *p)
{
    if (sim_quick_read_beside<size>(&site->quick, (size_t)(p - site->quick.start), sim_epoch | site->quick.site))
        count_quick<size, false>(site, p);
    else
        judge(p, size, 0, sim_last_pc);
}

/* A plain access of a kernel's: most are judged in a quick way. */
template <size_t size, bool writes>
static inline __attribute__((always_inline)) void access_plainly(struct site *site, const char *p, const void *pc)
{
    asm("" : "+r"(site)); /* the compiler need not compute it again and again */
    const size_t at = (size_t)(p - site->quick.start);
    const uint64_t record = sim_epoch | site->quick.site;

    sim_last_pc = pc;
    if (at > site->quick.last || (uintptr_t)p % (size < 8 ? size : 8) != 0 || accesses >= quick_in_turn) {
        judge_unless_own(p, size, writes ? SIM_WRITES : 0, sim_last_pc);
    } else if (!sim_follows_writes<size, writes>(&site->quick, at))
        judge(p, size, writes ? SIM_WRITES : 0, sim_last_pc);
    else if (writes ? sim_quick_write<size>(&site->quick, at, record) : sim_quick_read<size>(&site->quick, at, record))
        count_quick<size, writes>(site, p);
    else if (writes)
        judge(p, size, SIM_WRITES, sim_last_pc);
    else
        read_beside<size>(site, p);
}

template <size_t size, unsigned how>
static inline __attribute__((always_inline)) void hook(const char *p, const void *pc)
{
    if constexpr (size >= 4 && (how & ~SIM_WRITES) == 0) {
        if (accesses_are == OF_BOUNDS && is_legal(p, size, how, pc))
            return;
        if (accesses_are == OF_ALL) {
            access_plainly<size, how != 0>(&sites[sim_known_site(pc)], p, pc);
            return;
        }
    }
    observe(p, size, how, pc);
}

/* Of one piece, what it adds to the request of its copy. `before`: where the piece before it ended, whose sector and
   line this one may share (a swizzled row comes as pieces of 16 bytes); NULL: it is the request's first. */
static void count_piece(struct site *site, const struct sim_piece *piece, const char *before)
{
    const bool is_part = before != NULL, goes_on = before == piece->global;
    struct sim_region *const r = sim_region_near(piece->global);
    const uint64_t from = (uint64_t)(piece->global - r->start), end = from + piece->bytes;
    const uint64_t sectors = (end + 31) / 32 - from / 32 - (goes_on && from % 32 != 0);
    const uint64_t lines = (end + 127) / 128 - from / 128 - (goes_on && from % 128 != 0);
    struct sim_traffic *const c = &site->cost.global;

    c->requests += !is_part;
    c->bytes += piece->bytes;
    c->sectors += sectors;
    c->lines += lines;
    for (uint64_t s = from / 32; s < (end + 31) / 32; s++)
        touch(site, r, s);
    if (sim_watching)
        sim_watch_tma(piece, site->stores, is_part, sectors, lines);
}

void sim_observe_tma(unsigned number, const struct sim_piece *pieces, size_t count, bool stores)
{
    struct site *site = &sites[number];
    const char *before = NULL;
    size_t bytes = 0, odd = 0, zeros = 0;

    if (!sim_watches)
        return;
    site->stores = stores;
    site->passes_l1 = site->copies = true;
    use(site);
    for (const struct sim_piece *p = pieces; p < pieces + count; p++)
        if (p->global != NULL) {
            if (!stores)
                sim_race_access(sim_region_near(p->global), p->global, p->bytes, 0, number);
            count_piece(site, p, before);
            before = p->global + p->bytes;
            bytes += p->bytes;
            odd |= (uintptr_t)p->global | (uintptr_t)p->shared | p->bytes;
        }
    for (const struct sim_piece *p = pieces; sim_watching && p < pieces + count; p++)
        if (p->global == NULL)
            sim_watch_tma(p, stores, bytes > 0 || zeros++ > 0, 0, 0);
    site->cost.global.least += (bytes + 31) / 32;
    if (stores)
        sim_path_store(thread / SIM_WARP);
    else
        sim_path_ask(thread / SIM_WARP, bytes);
    if (odd % 4 != 0)
        sim_observe_switch(); /* words may have got parts: accesses to whole words look at them, too */
}

void sim_observe_copy(unsigned number, const void *shared, size_t shared_size, const void *global, size_t size)
{
    struct site *site = &sites[number];
    struct sim_region *r = sim_region_near(global);

    if (accesses >= most_in_turn)
        sim_pause();
    if (!sim_watches)
        return;
    if (size > 0)
        sim_race_access(r, (const char *)global, size, 0, number);
    if (site->shared_end == NULL && sim_num_sites < SIM_MAX_SITES) {
        site->shared_end = &sites[sim_extra_site(sim_site_pc(number))];
        site->shared_end->stores = site->shared_end->copies = true;
    }
    site->passes_l1 = site->copies = true;
    unsigned request = 0, shared_request = 0;
    if (size > 0)
        request = join_request(site, r, (const char *)global, size);
    if (site->shared_end != NULL)
        shared_request = join_request(site->shared_end, sim_region_near(shared), (const char *)shared, shared_size);
    if (sim_watching)
        sim_watch_copy("cp.async", shared, size > 0 ? global : NULL, shared_size, size > 0 ? (int)request : -1,
                       site->shared_end != NULL ? (int)shared_request : -1);
    accesses += 2;
}

/* ---- what the compiler calls ---- */

#define HERE __builtin_return_address(0)
#define HOOK(name, size, how)                                                                                          \
    extern "C" void name(const void *p)                                                                                \
    {                                                                                                                  \
        hook<size, how>((const char *)p, HERE);                                                                        \
    }
#define HOOKS(size)                                                                                                    \
    HOOK(__tsan_read##size, size, 0)                                                                                   \
    HOOK(__tsan_write##size, size, SIM_WRITES)                                                                         \
    HOOK(__tsan_unaligned_read##size, size, 0)                                                                         \
    HOOK(__tsan_unaligned_write##size, size, SIM_WRITES)                                                               \
    HOOK(__tsan_volatile_read##size, size, SIM_STRONG | SIM_VOLATILE)                                                  \
    HOOK(__tsan_volatile_write##size, size, SIM_WRITES | SIM_STRONG | SIM_VOLATILE)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

/* A place has called that knows nothing yet, or whose access is not what it knows. Once that was judged, the next one
   there need not call, if it goes to the same array; in host code, if it goes to memory that is not the device's. */
template <size_t size, unsigned how>
static __attribute__((noinline)) void hook_and_learn(const char *p, const void *pc, struct sim_shortcut *place)
{
    hook<size, how>(p, pc);
    const size_t image_size = (size_t)(sim_image_end - &__ehdr_start);
    if (accesses_are == OF_ALL)
        place->site = sim_known_site(pc) == 0 ? NULL : &sites[sim_known_site(pc)];
    else if (accesses_are == OF_BOUNDS) {
        const struct legal *const l = legal_at(pc);
        if ((size_t)(p - &__ehdr_start) < image_size) /* threadIdx, which all may read */
            sim_shortcut_learn(place, (uintptr_t)&__ehdr_start, image_size, size);
        else if (!counts_plainly && (size_t)(p - l->start) < l->size)
            sim_shortcut_learn(place, (uintptr_t)l->start, l->size, size);
    } else if (!sim_has_arrivals && !sim_has_private && !sim_maybe_region(p))
        sim_shortcut_learn(place, (uintptr_t)sim_lowest_region + sim_regions_span, -sim_regions_span - 1, size);
}

/* What the compiler calls of plain accesses becomes a call of these (compile/shortcuts.pl). */
#define SHORTCUT(name, size, how)                                                                                      \
    extern "C" void name(const char *p, struct sim_shortcut *place)                                                    \
    {                                                                                                                  \
        if (is_local(p)) {                                                                                             \
            sim_last_pc = HERE;                                                                                        \
            return;                                                                                                    \
        }                                                                                                              \
        if constexpr (size >= 4)                                                                                       \
            if (accesses_are == OF_ALL && place->site != NULL) {                                                       \
                access_plainly<size, how != 0>((struct site *)place->site, p, HERE);                                   \
                return;                                                                                                \
            }                                                                                                          \
        hook_and_learn<size, how>(p, HERE, place);                                                                     \
    }
#define SHORTCUTS(size)                                                                                                \
    SHORTCUT(sim_read##size, size, 0)                                                                                  \
    SHORTCUT(sim_write##size, size, SIM_WRITES)
SHORTCUTS(1)
SHORTCUTS(2)
SHORTCUTS(4)
SHORTCUTS(8)
SHORTCUTS(16)

/* The address sanitizer's names (cusim --addresses). */
#define ADDRESSES(size)                                                                                                \
    HOOK(__asan_load##size, size, 0)                                                                                   \
    HOOK(__asan_store##size, size, SIM_WRITES)
ADDRESSES(1)
ADDRESSES(2)
ADDRESSES(4)
ADDRESSES(8)
ADDRESSES(16)

extern "C" void __asan_loadN(const void *p, size_t size)
{
    observe(p, size, 0, HERE);
}

extern "C" void __asan_storeN(const void *p, size_t size)
{
    observe(p, size, SIM_WRITES, HERE);
}

extern "C" void __asan_handle_no_return(void)
{
}

extern "C" void __tsan_read_range(const void *p, size_t size)
{
    observe(p, size, 0, HERE);
}

extern "C" void __tsan_write_range(const void *p, size_t size)
{
    observe(p, size, SIM_WRITES, HERE);
}

/* Of a range what one access of a thread reaches at the most: 16 bytes, and one after the other. */
static void observe_all(const void *from, size_t size, unsigned how, const void *pc)
{
    const char *const end = (const char *)from + size;

    for (const char *p = (const char *)from, *next; p < end; p = next) {
        next = std::min(end, p + 16 - (uintptr_t)p % 16);
        observe(p, (size_t)(next - p), how, pc);
    }
}

/* What the C library copies and sets, for a program and for its compiler: objects with kernels call it by these names
   (compile/cusim). So large structs in kernels are seen, and host code that is given a device's array. */
extern "C" void *sim_memcpy(void *to, const void *from, size_t size)
{
    observe_all(from, size, 0, HERE);
    observe_all(to, size, SIM_WRITES, HERE);
    return memcpy(to, from, size);
}

extern "C" void *sim_memmove(void *to, const void *from, size_t size)
{
    observe_all(from, size, 0, HERE);
    observe_all(to, size, SIM_WRITES, HERE);
    return memmove(to, from, size);
}

extern "C" void *sim_memset(void *to, int value, size_t size)
{
    observe_all(to, size, SIM_WRITES, HERE);
    return memset(to, value, size);
}

/* Each object file with kernels calls it before main. */
extern "C" void __tsan_init(void)
{
    sim_has_kernels = true;
}

void sim_atomic_load(const void *address, void *value, size_t size, unsigned order)
{
    sim_order(order);
    in_global = in_sight = false;
    observe(address, size, SIM_WRITES | SIM_STRONG | SIM_ATOMIC | order, HERE);
    if (in_global)
        sim_take_word(address);
    memcpy(value, address, size);
    sim_global_atomics += in_global;
}

/* Only a value that changes is a change: a lock that is taken stays as it is. */
void sim_atomic_store(void *address, const void *value, size_t size)
{
    sim_changes[in_sight] += memcmp(address, value, size) != 0;
    if (sim_num_poisons > 0 && size <= 8) {
        uint64_t before = 0, after = 0;
        memcpy(&before, address, size);
        memcpy(&after, value, size);
        sim_check_stored(sim_current, address, after, before, size, sim_last_pc);
    }
    memcpy(address, value, size);
    sim_give_word();
    sim_atomics++;
}

void sim_read_only(const void *address, size_t size)
{
    struct sim_region *const r = sim_watches && sim_place.in_thread ? sim_region_near(address) : NULL;

    if (r == NULL || sim_is_shared(r) || !sim_region_holds(r, address, size))
        return;
    if (!r->shadow->is_read_only)
        sim_observe_switch(); /* from now on writes there are to look at the reads */
    r->shadow->is_read_only = true;
    sim_race_read_only(r, (const char *)address, size, HERE);
}

void sim_strong_load(const void *address, void *value, size_t size, unsigned order)
{
    sim_order(order);
    observe(address, size, SIM_STRONG | order, HERE);
    memcpy(value, address, size);
}

void sim_strong_store(void *address, const void *value, size_t size, unsigned order)
{
    sim_order(order);
    in_global = in_sight = false;
    observe(address, size, SIM_WRITES | SIM_STRONG | order, HERE);
    if (in_global)
        sim_take_word(address);
    memcpy(address, value, size);
    sim_give_word();
}

/* The sanitizer's own atomics, in host code: std::atomic, the guards of static variables, the compiler's functions. Of
   memory that kernels see, too, they are accesses by a flag's rules, as volatile ones are. */
/* Host code that has changed nothing waits for a kernel to change the word first. */
static void host_waits(const volatile void *p)
{
    if (sim_place.in_thread || !sim_maybe_region((const void *)p) || !lock_for_host())
        return;
    sim_finish_all();
    sim_unlock();
}

static void host_compared(const volatile void *p, size_t size, const void *pc)
{
    sim_race_host_swaps(p);
    observe((const void *)p, size, SIM_WRITES | SIM_STRONG, pc);
}

#define HOST_ATOMICS(bits, type)                                                                                       \
    extern "C" type __tsan_atomic##bits##_load(const volatile type *p, int)                                            \
    {                                                                                                                  \
        observe((const void *)p, sizeof(type), SIM_STRONG, HERE);                                                      \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                                   \
    }                                                                                                                  \
    extern "C" void __tsan_atomic##bits##_store(volatile type *p, type value, int)                                     \
    {                                                                                                                  \
        observe((const void *)p, sizeof(type), SIM_WRITES | SIM_STRONG, HERE);                                         \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                                  \
    }                                                                                                                  \
    extern "C" int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *expected, type value, int,    \
                                                                 int)                                                  \
    {                                                                                                                  \
        host_compared(p, sizeof(type), HERE);                                                                          \
        if (__atomic_compare_exchange_n(p, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))                    \
            return 1;                                                                                                  \
        host_waits(p);                                                                                                 \
        return 0;                                                                                                      \
    }                                                                                                                  \
    extern "C" int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *expected, type value, int, int) \
    {                                                                                                                  \
        host_compared(p, sizeof(type), HERE);                                                                          \
        if (__atomic_compare_exchange_n(p, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))                    \
            return 1;                                                                                                  \
        host_waits(p);                                                                                                 \
        return 0;                                                                                                      \
    }                                                                                                                  \
    HOST_ATOMIC(bits, type, exchange, __atomic_exchange_n)                                                             \
    HOST_ATOMIC(bits, type, fetch_add, __atomic_fetch_add)                                                             \
    HOST_ATOMIC(bits, type, fetch_sub, __atomic_fetch_sub)                                                             \
    HOST_ATOMIC(bits, type, fetch_and, __atomic_fetch_and)                                                             \
    HOST_ATOMIC(bits, type, fetch_or, __atomic_fetch_or)                                                               \
    HOST_ATOMIC(bits, type, fetch_xor, __atomic_fetch_xor)
#define HOST_ATOMIC(bits, type, name, builtin)                                                                         \
    extern "C" type __tsan_atomic##bits##_##name(volatile type *p, type value, int)                                    \
    {                                                                                                                  \
        observe((const void *)p, sizeof(type), SIM_WRITES | SIM_STRONG, HERE);                                         \
        const type before = builtin(p, value, __ATOMIC_SEQ_CST);                                                       \
        if (__atomic_load_n(p, __ATOMIC_SEQ_CST) == before)                                                            \
            host_waits(p);                                                                                             \
        return before;                                                                                                 \
    }
HOST_ATOMICS(8, uint8_t)
HOST_ATOMICS(16, uint16_t)
HOST_ATOMICS(32, uint32_t)
HOST_ATOMICS(64, uint64_t)

extern "C" void __tsan_atomic_thread_fence(int)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

extern "C" void __tsan_atomic_signal_fence(int)
{
}

extern "C" void __tsan_vptr_read(void **)
{
}

extern "C" void __tsan_vptr_update(void **p, void *)
{
    observe(p, sizeof(*p), SIM_WRITES, HERE);
}

/* ---- launch, block, turn ---- */

void sim_observe_launch(const void *first, size_t size)
{
    arguments = (const char *)first;
    arguments_size = size;
    sim_watches =
        sim_watches && sim_has_kernels; /* compiled with CUSIM_CHECKS=none, it does not tell of its accesses */
    accesses_are = sim_watches ? OF_ALL : OF_BOUNDS;
    sim_shortcuts_forget();
    launch++;
    fills_before = num_fills;
    l1_sectors = sim_chip.shared_per_sm / 32 /
                 (sim_num_threads < SIM_MAX_THREADS_PER_SM ? SIM_MAX_THREADS_PER_SM / sim_num_threads : 1);
    num_pictured = 0;
}

void sim_observe_turn(struct thread *t)
{
    if (sim_watches && sim_race->num_suspects > 0)
        sim_race_look_at_done();
    sim_agent = thread = sim_thread_number(t);
    chain = &t->chain;
    accesses = 0;
    sim_just_read = NULL;
    if (!sim_watches)
        return;
    if (sim_watching)
        sim_watch_turn(thread);
    turn++;
    lane = (unsigned char)(thread % SIM_WARP);
    sim_set_epoch();
    quick_in_turn = sim_race->num_suspects > 0 || sim_num_poisons > 0 ? 0 : most_in_turn;
}

void sim_observe_block(const struct block *b)
{
    sim_observe_switch();
    first_fill[b->slot] = num_fills;
}

void sim_observe_launch_end(struct sim_counts *counts)
{
    sim_observe_switch();
    for (unsigned i = 0; i < num_used; i++) {
        struct site *site = &sites[used_sites[i]];
        struct sim_counts line = {};

        *(site->stores ? &line.stores : &line.loads) = site->cost.global;
        line.shared_requests = site->cost.shared_requests;
        line.shared_bytes = site->cost.shared_bytes;
        line.shared_lanes = site->cost.shared_lanes;
        line.conflicts = site->cost.conflicts;
        line.contention = site->cost.contention;
        line.fills = site->cost.fills;
        line.merges = site->cost.merges;
        sim_add_counts(counts, &line);
        sim_trace_add(sim_place.kernel, (const char *)sim_site_pc((unsigned)(site - sites)) - 1, &line);
        site->cost = {};
        site->used = false;
    }
    num_used = 0;
    accesses_are = OF_HOST;
    sim_shortcuts_forget();
    counts->atomics += sim_atomics;
    sim_atomics = 0;
    sim_trace_add(sim_place.kernel, NULL, counts);
}
