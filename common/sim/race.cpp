/* race.cpp - remembers what happened to each byte last, and finds accesses that nothing orders.

   Two accesses to the same bytes race if one of them writes, two threads make them, neither *happens before* the other
   (Lamport 1978), and not both are strong (atomic or volatile). What happens before what is kept as in FastTrack
   (Flanagan and Freund, PLDI 2009): an access is remembered as an *epoch*, who made it and at what time of its own; a
   thread's *vector clock* holds up to what time it knows of each other thread. An access that is remembered happens
   before what a thread does now if the thread's clock has reached its epoch.

   Of every 4 bytes the epochs of the last write and of two reads are kept, each in 64 bits with its place in the code:

       | interval 26 | agent 11 | time 12 | place in the code 13 | kind 2 |
       '------------ epoch ------------'

   A GPU's barriers allow a short form. An *interval* ends with each __syncthreads, block and launch. So between two
   accesses of one block in different intervals lies a barrier, and vector clocks need only tell the times within the
   interval. A thread's time goes on when others learn what it has done (__syncwarp, an arrival at an mbarrier):

       thread 3  writes a, time 1 ----+                          thread 5 knows thread 3 up to time 1:
                                      | __syncwarp               the write comes before the read
       thread 5                       +----> reads a

       thread 3  writes b, time 2                                but not up to time 2: a race
       thread 5                              reads b

   A *flag*, an atomic or volatile word, orders too: who writes it after a fence releases what it has done before the
   fence; who reads it and then comes to a fence acquires that. Only flags reach across blocks. Blocks of one launch are
   not ordered otherwise. Copies of the copy engine are made by agents of their own, one for each mbarrier. */
#include <stdlib.h>
#include <sys/mman.h>

#include "fault.h"
#include "include/cuda_runtime.h"
#include "memory.h"
#include "observe.h"
#include "race.h"

enum { KIND_BITS = 2, SITE_BITS = 13, TIME_BITS = 12, AGENT_BITS = 11 };
enum {
    SITE_AT = KIND_BITS,
    TIME_AT = SITE_AT + SITE_BITS,
    AGENT_AT = TIME_AT + TIME_BITS,
    INTERVAL_AT = AGENT_AT + AGENT_BITS
};
enum kind { PLAIN, STRONG, IN_FLIGHT, COPIED }; /* the last two: an asynchronous copy, on its way and done */
static const unsigned last_time = (1 << TIME_BITS) - 1;
static const uint64_t last_interval = (1 << 26) - 2;
static_assert(SIM_MAX_SITES == 1 << SITE_BITS && SIM_MAX_THREADS + SIM_MAX_BARRIERS == 1 << AGENT_BITS, "fields");

static uint64_t interval = 1, launch_interval, block_interval;
static uint64_t epoch;                            /* of the running thread, at its place in a record */
static unsigned agent, num_threads, num_barriers; /* of the block; barriers: mbarriers that have been used */
static uint16_t times[SIM_MAX_THREADS + SIM_MAX_BARRIERS];
static struct vector_clock clocks[SIM_MAX_THREADS];

/* The blocks of the launch so far, by their first intervals, to name them. */
static struct {
    uint64_t interval;
    uint3 index;
} * blocks;
static size_t num_blocks, max_blocks;

/* ---- memory of what happened ---- */

static struct sim_shadow **shadows;
static size_t num_shadows, max_shadows;

static size_t map_size(size_t size)
{
    const size_t words = size / 4 + 1, sectors = size / 32 + 1;

    return sim_round_up(
        words * (sizeof(struct sim_cell) + sizeof(uint64_t)) + sectors * 2 * sizeof(uint32_t) + size / 8 + 16, 4096);
}

/* Untouched pages take no memory. */
struct sim_shadow *sim_shadow_create(size_t size)
{
    const size_t words = size / 4 + 1, sectors = size / 32 + 1;
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
    s->loaded = (uint32_t *)(s->others + words);
    s->stored = s->loaded + sectors;
    s->written = (unsigned char *)(s->stored + sectors);
    shadows[num_shadows++] = s;
    return s;
}

void sim_shadow_destroy(struct sim_shadow *s)
{
    for (size_t i = 0; i < num_shadows; i++)
        if (shadows[i] == s) {
            shadows[i] = shadows[--num_shadows];
            munmap(s->cells, map_size(s->size));
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
    memset(bits + i / 8, 0xff, (end - i) / 8 * (i < end));
    for (i = i < end ? end / 8 * 8 : end; i < end; i++)
        bits[i / 8] |= 1 << i % 8;
}

void sim_shadow_copy(struct sim_region *to, const void *dst, struct sim_region *from, const void *src, size_t size)
{
    size_t t = (size_t)((const char *)dst - to->start), f = (size_t)((const char *)src - from->start);

    for (size_t i = 0; i < size; i++, t++, f++) {
        const bool written = from->shadow->written[f / 8] >> f % 8 & 1;
        to->shadow->written[t / 8] = (to->shadow->written[t / 8] & ~(1 << t % 8)) | written << t % 8;
    }
}

/* ---- clocks ---- */

static void set_epoch(void)
{
    epoch = interval << INTERVAL_AT | (uint64_t)agent << AGENT_AT | (uint64_t)times[agent] << TIME_AT;
}

static void refresh(struct vector_clock *c)
{
    if (c->interval != interval) {
        c->interval = interval;
        c->chunks = 0;
    }
}

static void set_time(struct vector_clock *c, unsigned of, uint16_t time)
{
    refresh(c);
    if (!(c->chunks >> of / 32 & 1)) {
        memset(c->time + of / 32 * 32, 0, 32 * sizeof(*c->time));
        c->chunks |= (uint64_t)1 << of / 32;
    }
    if (c->time[of] < time)
        c->time[of] = time;
}

/* to: whatever to or from knew. */
static void join(struct vector_clock *to, const struct vector_clock *from)
{
    if (from->interval != interval)
        return; /* a barrier has told all since */
    refresh(to);
    for (uint64_t rest = from->chunks; rest != 0; rest &= rest - 1) {
        const unsigned chunk = (unsigned)__builtin_ctzll(rest), first = chunk * 32;
        const bool fresh = !(to->chunks >> chunk & 1);

        for (unsigned i = first; i < first + 32; i++)
            to->time[i] = fresh || to->time[i] < from->time[i] ? from->time[i] : to->time[i];
    }
    to->chunks |= from->chunks;
}

static void tick(unsigned a)
{
    if (times[a] < last_time)
        times[a]++;
}

/* The numbers of intervals are used up: begins again, all forgotten. */
static void forget(void)
{
    for (size_t i = 0; i < num_shadows; i++)
        memset(shadows[i]->cells, 0, (char *)shadows[i]->loaded - (char *)shadows[i]->cells);
    for (auto &c : clocks)
        c.interval = 0;
    interval = launch_interval = block_interval = 1;
    num_blocks = 0;
}

static void new_interval(void)
{
    if (interval++ == last_interval)
        forget();
    for (unsigned i = 0; i < num_threads; i++)
        times[i] = 1;
    for (unsigned i = SIM_MAX_THREADS; i < SIM_MAX_THREADS + num_barriers; i++)
        times[i] = 1;
}

/* ---- flags ---- */

/* That a thread has written a flag, and when: it released all that its block did in earlier intervals, and itself until
   `time`. */
struct release {
    uint64_t block, interval; /* block: its first interval */
    unsigned agent, time;
};

struct flag {
    const void *address;
    struct vector_clock clock; /* released to threads of the block that runs */
    struct release *releases;  /* and to other blocks, in the order of time */
    size_t num_releases, max_releases;
};

/* A flag that was read, when it had so many releases. */
struct reading {
    const struct flag *flag;
    size_t count;
};

static struct flag flags[1024]; /* of the launch, where their addresses' hash says, or behind */
static unsigned num_flags;

/* Of each thread: what it releases, since when, and what it has read and acquires at its next fence. */
static struct {
    uint64_t block, interval;
    unsigned time;
    struct vector_clock released, read;
    struct reading flags[8];
    unsigned num_flags;
} fences[SIM_MAX_THREADS];

static struct reading known_flags[64]; /* to the block that runs */
static unsigned num_known_flags;

static struct flag *find_flag(const void *address, bool create)
{
    const unsigned count = sizeof(flags) / sizeof(*flags);
    unsigned at = (unsigned)((uintptr_t)address / 4 * 2654435761u) % count;

    while (flags[at].address != NULL && flags[at].address != address)
        at = (at + 1) % count;
    if (flags[at].address == NULL) {
        if (!create || num_flags == count - 1)
            return NULL;
        num_flags++;
        flags[at].address = address;
        flags[at].clock.interval = flags[at].num_releases = 0;
    }
    return &flags[at];
}

void sim_race_fence(void)
{
    auto *f = &fences[agent];

    if (f->block != block_interval) {
        f->block = block_interval;
        f->read.interval = f->num_flags = 0;
    }
    join(&clocks[agent], &f->read);
    for (unsigned i = 0; i < f->num_flags; i++)
        known_flags[num_known_flags++ % 64] = f->flags[i];
    f->num_flags = 0;
    f->interval = interval;
    f->time = times[agent];
    f->released.interval = 0;
    join(&f->released, &clocks[agent]);
    set_time(&f->released, agent, times[agent]);
    tick(agent);
    set_epoch();
}

/* A strong access to memory: it acquires what others have released there, at the next fence. */
static void touch_flag(const void *address, bool writes, bool reads)
{
    auto *f = &fences[agent];
    struct flag *flag;

    if (f->block != block_interval) {
        f->block = block_interval;
        f->interval = f->read.interval = f->num_flags = 0;
    }
    if (reads && num_flags > 0 && (flag = find_flag(address, false)) != NULL) {
        join(&f->read, &flag->clock);
        f->flags[f->num_flags < 8 ? f->num_flags++ : 7] = {flag, flag->num_releases};
    }
    if (!writes || f->interval == 0 || (flag = find_flag(address, true)) == NULL)
        return;
    join(&flag->clock, &f->released);
    if (flag->num_releases == flag->max_releases) {
        flag->max_releases = flag->max_releases * 2 + 4;
        flag->releases = (struct release *)realloc(flag->releases, flag->max_releases * sizeof(struct release));
        if (flag->releases == NULL)
            sim_fault(NULL, 0, "no memory to remember who wrote a flag. Free some memory");
    }
    flag->releases[flag->num_releases++] = {block_interval, interval, agent, f->interval == interval ? f->time : 0};
}

/* Whether the block that runs has acquired an access of another block through a flag. */
static bool acquired(uint64_t then, unsigned other, unsigned time)
{
    for (unsigned k = 0; k < num_known_flags && k < 64; k++) {
        size_t low = 0, high = known_flags[k].count; /* the releases at `then` or later begin between */
        const struct release *list = known_flags[k].flag->releases;

        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (list[middle].interval < then)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < known_flags[k].count && list[low].block <= then; low++)
            if (list[low].interval > then || (list[low].agent == other && list[low].time >= time))
                return true;
    }
    return false;
}

/* ---- launch, block, turn, and what orders ---- */

void sim_race_launch(void)
{
    new_interval();
    launch_interval = interval;
    num_blocks = 0;
    for (auto &flag : flags)
        if (num_flags > 0)
            flag.address = NULL;
    num_flags = 0;
}

void sim_race_block(unsigned threads)
{
    num_threads = threads;
    new_interval();
    num_barriers = num_known_flags = 0;
    block_interval = interval;
    if (num_blocks == max_blocks) {
        max_blocks = max_blocks * 2 + 1024;
        blocks = (decltype(blocks))realloc(blocks, max_blocks * sizeof(*blocks));
        if (blocks == NULL)
            sim_fault(NULL, 0, "no memory to remember the blocks. Free some memory, or launch fewer");
    }
    blocks[num_blocks++] = {interval, blockIdx};
}

void sim_race_turn(unsigned thread)
{
    agent = thread;
    set_epoch();
}

void sim_race_barrier(void)
{
    new_interval();
}

void sim_race_syncwarp(unsigned first_thread, unsigned mask)
{
    static struct vector_clock all;

    all.interval = 0;
    refresh(&all);
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        const unsigned thread = first_thread + (unsigned)__builtin_ctz(rest);
        join(&all, &clocks[thread]);
        set_time(&all, thread, times[thread]);
        tick(thread);
    }
    for (unsigned rest = mask; rest != 0; rest &= rest - 1)
        join(&clocks[first_thread + (unsigned)__builtin_ctz(rest)], &all);
    set_epoch();
}

void sim_race_release(struct vector_clock *clock)
{
    join(clock, &clocks[agent]);
    set_time(clock, agent, times[agent]);
    tick(agent);
    set_epoch();
}

void sim_race_acquire(const struct vector_clock *clock)
{
    join(&clocks[agent], clock);
}

void sim_race_phase_ends(unsigned barrier, const struct vector_clock *arrived, struct vector_clock *ended)
{
    const unsigned engine = SIM_MAX_THREADS + barrier;

    if (barrier >= num_barriers) {
        for (; num_barriers <= barrier; num_barriers++)
            times[SIM_MAX_THREADS + num_barriers] = 1;
    }
    tick(engine);
    join(ended, arrived);
    set_time(ended, engine, times[engine]);
}

/* ---- races ---- */

static unsigned agent_of(uint64_t record)
{
    return record >> AGENT_AT & ((1 << AGENT_BITS) - 1);
}

static enum kind kind_of(uint64_t record)
{
    return (enum kind)(record & ((1 << KIND_BITS) - 1));
}

/* Whether what the record tells of came before whatever the running thread does now. The record is of this launch. */
static bool ordered(uint64_t record)
{
    const uint64_t then = record >> INTERVAL_AT;
    const unsigned other = agent_of(record);
    const struct vector_clock *c = &clocks[agent];

    if (then < block_interval)
        return acquired(then, other, record >> TIME_AT & last_time);
    if (then < interval || other == agent)
        return true;
    return c->interval == interval && c->chunks >> other / 32 & 1 && c->time[other] >= (record >> TIME_AT & last_time);
}

/* What to do about a race that an atomic or volatile access has with a plain one, as in the loop of compare-and-swap
   that begins with a plain read. */
static const char *const make_strong = "One of them is atomic or volatile: make the other so, too";

static uint64_t flags_launch; /* the last one with an atomic or volatile access: a flag may be meant */

[[noreturn]] static void report(const struct sim_region *r, size_t word, bool writes, bool strong, unsigned site,
                                uint64_t record, bool wrote)
{
    const bool mixed = r->name == NULL && strong != (kind_of(record) == STRONG);
    const bool flags = r->name == NULL && flags_launch == launch_interval;
    const uint64_t then = record >> INTERVAL_AT;
    const unsigned other = agent_of(record);
    const void *pc = sim_site_pc(record >> SITE_AT & (SIM_MAX_SITES - 1));
    char what[600], where[512], who[100];
    uint3 block = blockIdx;

    sim_region_describe(r->start + word * 4, what, sizeof(what));
    sim_locate((const char *)pc - 1, where, sizeof(where));
    if (kind_of(record) == IN_FLIGHT)
        sim_fault_at(sim_site_pc(site),
                     "%s %s, to which the copy of %s is on its way. Wait for it first (__pipeline_wait_prior, "
                     "mbarrier_wait)",
                     writes ? "writes" : "reads", what, where);
    if (other >= SIM_MAX_THREADS)
        sim_fault_at(sim_site_pc(site),
                     "race: %s %s, which the bulk copy of %s %s. Let this thread, too, call mbarrier_wait for it",
                     writes ? "writes" : "reads", what, where, wrote ? "has written" : "has read");
    const uint3 t = {other % blockDim.x, other / blockDim.x % blockDim.y, other / blockDim.x / blockDim.y};
    snprintf(who, sizeof(who), "thread (%u,%u,%u)", t.x, t.y, t.z);
    /* In global memory an index that runs into the next row is more likely than an exchange between threads. */
    if (then >= block_interval)
        sim_fault_at(sim_site_pc(site), "race: %s %s, which %s %s%s at %s, and nothing orders the two. %s",
                     writes ? "writes" : "reads", what, who, wrote ? "has written" : "has read",
                     kind_of(record) == COPIED ? " by an asynchronous copy" : "", where,
                     r->name != NULL ? "Put __syncthreads() between them, or __syncwarp() within a warp"
                     : mixed         ? make_strong
                     : flags ? "If a flag orders them, call __threadfence() before writing it and after reading "
                               "it; else compare the index with the end of the row"
                             : "Compare the index with the end of the row: let each thread write bytes that no "
                               "other one touches");
    for (size_t i = 0; i < num_blocks && blocks[i].interval <= then; i++)
        block = blocks[i].index;
    sim_fault_at(sim_site_pc(site),
                 "race: %s %s, which %s of block (%u,%u,%u) %s at %s. Blocks run in any order, or at once%s%s",
                 writes ? "writes" : "reads", what, who, block.x, block.y, block.z, wrote ? "has written" : "has read",
                 where, mixed ? ". " : "", mixed ? make_strong : ": let each write bytes that no other one touches");
}

/* Whether an access now conflicts with what the record, one of this launch or block, tells of. */
static bool conflicts(uint64_t record, bool strong)
{
    if (kind_of(record) == IN_FLIGHT)
        return true;
    if ((record ^ epoch) >> TIME_AT == 0 || (strong && kind_of(record) == STRONG))
        return false;
    return !ordered(record);
}

/* Remembers a read, so that a later write that is not ordered after all reads is told. Of many readers two are kept, of
   two warps if there are: who is ordered after its own warp only is found by the other one. */
static void remember_read(uint64_t *first, uint64_t *second, uint64_t floor, uint64_t record)
{
    if (ordered(*first)) {
        *first = record;
    } else if (*second < floor || (*second ^ record) >> TIME_AT == 0 || ordered(*second)) {
        *second = record;
    } else if (agent_of(*first) / SIM_WARP == agent_of(*second) / SIM_WARP &&
               agent / SIM_WARP != agent_of(*first) / SIM_WARP) {
        *second = record;
    }
}

/* Faults unless all bytes were written; afterwards they are, if this writes. */
static inline void check_written(struct sim_region *r, size_t offset, size_t size, unsigned how, unsigned site)
{
    for (size_t done = 0; done < size; done += 16) {
        const size_t at = offset + done, part = size - done < 16 ? size - done : 16;
        const uint32_t mask = ((1u << part) - 1) << at % 8;
        uint32_t bits;

        memcpy(&bits, r->shadow->written + at / 8, sizeof(bits));
        if ((bits & mask) == mask)
            continue;
        if ((how & (SIM_WRITES | SIM_ATOMIC)) != SIM_WRITES) {
            char what[600];
            const unsigned first = (unsigned)__builtin_ctz(~bits & mask) - at % 8;
            sim_region_describe(r->start + at + first, what, sizeof(what));
            sim_fault_at(sim_site_pc(site), "reads %s, which nothing has written. Fill it first", what);
        }
        bits |= mask;
        memcpy(r->shadow->written + at / 8, &bits, sizeof(bits));
    }
}

void sim_race_access(struct sim_region *r, const char *at, size_t size, unsigned how, unsigned site)
{
    const size_t offset = (size_t)(at - r->start), first = offset / 4, last = (offset + size) / 4;
    const bool writes = how & SIM_WRITES, strong = how & SIM_STRONG;
    const uint64_t record = epoch | (uint64_t)site << SITE_AT | (strong ? STRONG : PLAIN);
    /* Shared memory forgets with the block, global memory with the launch: smaller records are history. */
    const uint64_t floor = (r->name != NULL ? block_interval : launch_interval) << INTERVAL_AT;
    struct sim_shadow *s = r->shadow;

    if (r->name == NULL)
        check_written(r, offset, size, how, site);
    if (offset % 4 != 0 || size % 4 != 0)
        return; /* single bytes are not followed */
    if (strong) {
        flags_launch = launch_interval;
        touch_flag(at, writes, !writes || how & SIM_ATOMIC);
    }
    for (size_t word = first; word < last; word++) {
        struct sim_cell *cell = &s->cells[word];

        if (cell->write >= floor && conflicts(cell->write, strong))
            report(r, word, writes, strong, site, cell->write, true);
        if (writes) {
            if (cell->read >= floor && conflicts(cell->read, strong))
                report(r, word, writes, strong, site, cell->read, false);
            /* when the first read is history, so is the other one */
            if (cell->read >= floor && s->others[word] >= floor && conflicts(s->others[word], strong))
                report(r, word, writes, strong, site, s->others[word], false);
            cell->write = record;
        } else if (cell->read < floor || (cell->read ^ record) >> TIME_AT == 0) {
            cell->read = record;
        } else {
            remember_read(&cell->read, &s->others[word], floor, record);
        }
    }
}

static void set_writes(struct sim_region *r, const void *at, size_t size, uint64_t record)
{
    const size_t first = (size_t)((const char *)at - r->start) / 4;

    for (size_t word = first; word < first + size / 4; word++)
        r->shadow->cells[word].write = record;
}

void sim_race_copy_begins(struct sim_region *r, const void *at, size_t size, unsigned site)
{
    sim_race_access(r, (const char *)at, size, SIM_WRITES, site);
    set_writes(r, at, size, epoch | (uint64_t)site << SITE_AT | IN_FLIGHT);
}

void sim_race_copy_ends(struct sim_region *r, const void *at, size_t size, unsigned site)
{
    set_writes(r, at, size, epoch | (uint64_t)site << SITE_AT | COPIED);
}

void sim_race_bulk_ends(struct sim_region *r, const void *at, size_t size, unsigned site, unsigned barrier)
{
    const unsigned engine = SIM_MAX_THREADS + barrier;

    set_writes(r, at, size,
               interval << INTERVAL_AT | (uint64_t)engine << AGENT_AT | (uint64_t)times[engine] << TIME_AT |
                   (uint64_t)site << SITE_AT | COPIED);
}
