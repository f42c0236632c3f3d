/* SPDX-License-Identifier: MIT */
/* flag.cpp - releases and acquires by flags.

   A *release* is what a thread knows when it comes to a fence (or makes a store with memory_order_release): what its
   block did in earlier intervals, its own accesses, those that its vector clock knows, and whatever was acquired
   before. It is kept as a node of a graph, whose sources are the releases acquired before:

       block 0    data  fence  flag = 1
                          |
                       release 1 <-----------------------+
                                                         |
       block 1               flag == 1  fence     ...  fence  flag2 = 1       release 2 knows release 1
                                        acquires         |
                                        release 1     release 2

   Each flag holds the release that its last writer made before: an atomic operation joins the one that was there, a
   store replaces it. An access was acquired if a release that the thread has acquired, or one of its sources and so on,
   knows it. A release knows nothing that began after it was made, so most of the graph is never looked at. */
#include "flag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../machine/block.h"
#include "clock.h"
#include "../machine/fault.h"
#include "../runtime/memory.h"
#include "observe.h"
#include "race.h"
#include "shadow.h"
#include "../machine/region.h"
#include "../machine/locate.h"
#include "../machine/access.h"
#include "../machine/announce.h"
#include "sites.h"

struct release {
    uint64_t born;   /* the last interval that had begun: nothing later is known */
    uint64_t epoch;  /* of who made it, at its place in a record; 0: only the sources are known */
    uint32_t block;  /* whose */
    bool block_only; /* made, or acquired, by a fence that orders within its block only */
    uint64_t visited;
    uint64_t chunks; /* of the thread's vector clock, */
    uint16_t *times; /* and their times, one chunk after the other */
    unsigned num_sources;
    struct release *sources[1];
};

struct flag {
    uintptr_t address; /* of a word of 4 bytes; 0: none */
    struct release *release;
};
static struct flag *flags; /* where their addresses' hash says, or behind; max_flags is a power of two */
static size_t num_flags, max_flags;

/* What a thread had acquired up to a time of its own, since the block's last barrier. */
struct version {
    unsigned time;
    struct release *known;
};

enum { NUM_RECENT = 4 };
struct thread_flags {
    uint64_t block;           /* first interval of the block for which this means something */
    struct release *released; /* at its last fence: what its flags tell */
    struct release *pending;  /* has been read, and is acquired at its next fence */
    struct version *versions; /* what it has acquired since the last barrier */
    unsigned num_versions, max_versions;
    struct release *told;  /* of that, what it has told at the barrier of the cluster */
    struct release *found; /* the last one that knew what was asked: often it knows the next, too */
    struct reading {
        const char *at;
        unsigned site;
        bool atomic;       /* and written, too: it may be no flag at all */
        uint64_t when;     /* num_writes */
        uint64_t interval; /* of the block */
    } recent[NUM_RECENT];  /* flags that it has read */
    unsigned last_recent;
};

/* Strong writes to global memory, the last ones of all threads: what comes before what. */
enum { NUM_WRITES = 512 };
static struct {
    const char *at;
    uint64_t record;
} writes[NUM_WRITES];
static uint64_t num_writes;

struct block_flags {
    struct thread_flags::reading recent[NUM_RECENT]; /* flags that any thread has read */
    unsigned num_recent;
    struct thread_flags threads[SIM_MAX_THREADS + SIM_MAX_BARRIERS]; /* by agent */
    struct release *acquired;                                        /* before the last barrier: known to all threads */
    unsigned acquirers[SIM_MAX_THREADS + SIM_MAX_BARRIERS], num_acquirers; /* agents that have versions */
    unsigned releasers[SIM_MAX_THREADS], num_releasers; /* threads that came to a fence since the last barrier */
    struct release *fenced; /* what such threads knew at their fences, at a barrier before */
};

/* ---- releases ---- */

/* Memory for releases, until the next launch. */
static void *allocate(size_t size)
{
    static const size_t chunk_size = 1 << 20;
    static char **chunks;
    static size_t num_chunks, at, used;

    if (size == 0) { /* a launch begins */
        at = used = 0;
        return NULL;
    }
    size = sim_round_up(size, 16);
    if (at < num_chunks && used + size > chunk_size) {
        at++;
        used = 0;
    }
    if (at == num_chunks) {
        chunks = (char **)realloc(chunks, (num_chunks + 1) * sizeof(*chunks));
        if (chunks == NULL || (chunks[num_chunks++] = (char *)malloc(chunk_size)) == NULL)
            sim_fault(NULL, 0, "no memory to remember fences. Free some memory");
    }
    used += size;
    return chunks[at] + used - size;
}

static struct release *new_release(unsigned num_sources)
{
    struct release *r = (struct release *)allocate(sizeof(struct release) + num_sources * sizeof(struct release *));

    memset(r, 0, sizeof(*r));
    r->born = sim_last_interval;
    r->block = sim_race->serial;
    return r;
}

/* What both know. */
static struct release *merge(struct release *a, struct release *b)
{
    if (a == NULL || a == b)
        return b;
    if (b == NULL)
        return a;
    if (b->epoch == 0 && !b->block_only && b->num_sources == 2 && (b->sources[0] == a || b->sources[1] == a))
        return b; /* it is merged with that already */
    struct release *r = new_release(2);
    r->num_sources = 2;
    r->sources[0] = a;
    r->sources[1] = b;
    return r;
}

static inline struct thread_flags *flags_of(unsigned agent)
{
    struct thread_flags *t = &sim_race->flags->threads[agent];

    if (t->block != sim_race->first) {
        t->block = sim_race->first;
        t->released = t->pending = t->found = NULL;
        t->num_versions = 0;
        memset(t->recent, 0, sizeof(t->recent));
    }
    return t;
}

/* What a thread has acquired since the block's last barrier. */
static struct release *acquired_by(const struct thread_flags *t)
{
    return t->num_versions > 0 ? t->versions[t->num_versions - 1].known : NULL;
}

/* What a thread of the block has acquired, as far as the running thread knows of it. */
static struct release *known_of(unsigned agent)
{
    const struct thread_flags *t = flags_of(agent);

    for (unsigned i = t->num_versions; i-- > 0;)
        if (agent == sim_agent ||
            clock_reaches(&sim_race->clocks[sim_agent], sim_race->interval, agent, t->versions[i].time))
            return t->versions[i].known;
    return NULL;
}

/* The release knows what a vector clock does. */
static void set_times(struct release *r, const struct vector_clock *c)
{
    uint16_t *to;

    if (c->chunks == 0)
        return;
    to = r->times = (uint16_t *)allocate((size_t)__builtin_popcountll(c->chunks) * 32 * sizeof(*r->times));
    r->chunks = c->chunks;
    for (uint64_t rest = c->chunks; rest != 0; rest &= rest - 1, to += 32)
        memcpy(to, c->time + __builtin_ctzll(rest) * 32, 32 * sizeof(*to));
}

static struct release *make_release(bool block_only)
{
    const struct block_flags *b = sim_race->flags;
    const struct vector_clock *c = &sim_race->clocks[sim_agent];
    struct release *r = new_release(b->num_acquirers + 1), *known;

    r->epoch = sim_epoch;
    r->block_only = block_only;
    if (b->acquired != NULL)
        r->sources[r->num_sources++] = b->acquired;
    for (unsigned i = 0; i < b->num_acquirers; i++)
        if ((known = known_of(b->acquirers[i])) != NULL)
            r->sources[r->num_sources++] = known;
    if (c->interval == sim_race->interval)
        set_times(r, c);
    sim_tick(sim_agent);
    sim_set_epoch();
    return r;
}

static void acquire(unsigned agent, struct release *what, bool block_only)
{
    struct thread_flags *t = flags_of(agent);
    const unsigned time = sim_race->times[agent];

    if (block_only) {
        struct release *only = new_release(1);
        only->block_only = true;
        only->num_sources = 1;
        only->sources[0] = what;
        what = only;
    }
    if (t->num_versions == 0)
        sim_race->flags->acquirers[sim_race->flags->num_acquirers++] = agent;
    if (t->num_versions == 0 || t->versions[t->num_versions - 1].time != time) {
        if (t->num_versions == t->max_versions) {
            t->max_versions = t->max_versions * 2 + 4;
            t->versions = (struct version *)realloc(t->versions, t->max_versions * sizeof(*t->versions));
            if (t->versions == NULL)
                sim_fault(NULL, 0, "no memory to remember who read a flag. Free some memory");
        }
        t->versions[t->num_versions] = {time, acquired_by(t)};
        t->num_versions++;
    }
    struct version *last = &t->versions[t->num_versions - 1];
    last->known = merge(what, last->known);
}

/* ---- what a release knows ---- */

static const uint32_t any_block = ~(uint32_t)0;

/* Releases that are still to be looked at: on behalf of a thread of block `reader`; `only` those of one block. */
static struct {
    struct release *release;
    uint32_t reader, only;
} * todo;
static size_t num_todo, max_todo;
static uint64_t search; /* number of the present one */
static bool any_scope;  /* it takes fences of a block for fences of the device */

static void look_at_later(struct release *r, uint32_t reader, uint32_t only)
{
    if (num_todo == max_todo) {
        max_todo = max_todo * 2 + 64;
        todo = (decltype(todo))realloc(todo, max_todo * sizeof(*todo));
        if (todo == NULL)
            sim_fault(NULL, 0, "no memory to search for races. Free some memory");
    }
    todo[num_todo++] = {r, reader, only};
}

static bool knows_itself(const struct release *r, uint64_t record)
{
    const unsigned other = agent_of(record), chunk = other / 32;

    if (r->block != sim_block_of(interval_of(record)) || interval_of(record) > interval_of(r->epoch))
        return false;
    if (interval_of(record) < interval_of(r->epoch))
        return true;
    if (other == agent_of(r->epoch))
        return time_of(record) <= time_of(r->epoch);
    return r->chunks >> chunk & 1 &&
           r->times[__builtin_popcountll(r->chunks & (((uint64_t)1 << chunk) - 1)) * 32 + other % 32] >=
               time_of(record);
}

/* The release that knows of the access: one of those to be looked at, or a source of one. NULL if none does. */
static struct release *search_releases(uint64_t record)
{
    search++;
    while (num_todo > 0) {
        const auto now = todo[--num_todo];
        struct release *r = now.release;
        uint32_t reader = now.reader, only = now.only;

        if (r->born < interval_of(record) || r->visited == search)
            continue;
        if (r->epoch != 0) {
            if (!any_scope && ((only != any_block && r->block != only) || (r->block_only && r->block != reader)))
                continue;
            if (knows_itself(r, record)) {
                num_todo = 0;
                return r;
            }
            reader = r->block;
            only = any_block;
        } else if (r->block_only) {
            only = r->block;
        }
        r->visited = search;
        for (unsigned i = r->num_sources; i-- > 0;) /* the newest, which comes first, is looked at next */
            look_at_later(r->sources[i], reader, only);
    }
    return NULL;
}

bool sim_flag_orders(uint64_t record)
{
    const struct block_flags *b = sim_race->flags;
    struct thread_flags *t = flags_of(sim_agent);
    struct release *known;

    if (t->found != NULL && knows_itself(t->found, record)) /* what a thread has once acquired it never loses */
        return true;
    if (b->acquired != NULL)
        look_at_later(b->acquired, sim_race->serial, any_block);
    for (unsigned i = 0; i < b->num_acquirers; i++)
        if ((known = known_of(b->acquirers[i])) != NULL && (num_todo == 0 || todo[num_todo - 1].release != known))
            look_at_later(known, sim_race->serial, any_block);
    if ((known = search_releases(record)) != NULL)
        t->found = known;
    return known != NULL;
}

static bool release_knows(struct release *r, uint64_t record, bool any)
{
    bool found;

    if (r == NULL)
        return false;
    any_scope = any;
    look_at_later(r, sim_race->serial, any_block);
    found = search_releases(record) != NULL;
    any_scope = false;
    return found;
}

/* ---- flags ---- */

static size_t place_of(uintptr_t address)
{
    size_t at = (size_t)(address / 4 * 0x9e3779b97f4a7c15) & (max_flags - 1);

    while (flags[at].address != 0 && flags[at].address != address)
        at = (at + 1) & (max_flags - 1);
    return at;
}

static struct flag *find_flag(const char *at, bool create)
{
    const uintptr_t address = (uintptr_t)at;

    if (num_flags > 0 && flags[place_of(address)].address == address)
        return &flags[place_of(address)];
    if (!create)
        return NULL;
    if (num_flags * 2 >= max_flags) {
        struct flag *old = flags;
        const size_t count = max_flags;
        max_flags = count == 0 ? 1024 : count * 2;
        flags = (struct flag *)calloc(max_flags, sizeof(*flags));
        if (flags == NULL)
            sim_fault(NULL, 0, "no memory to remember who wrote a flag. Free some memory");
        for (size_t i = 0; i < count; i++)
            if (old[i].address != 0)
                flags[place_of(old[i].address)] = old[i];
        free(old);
    }
    struct flag *flag = &flags[place_of(address)];
    num_flags++;
    *flag = {address, NULL};
    return flag;
}

static void read_flag(struct thread_flags *t, const char *at, unsigned how)
{
    const struct flag *flag = find_flag(at, false);

    if (flag == NULL || flag->release == NULL)
        return;
    if (how & SIM_ACQUIRE)
        acquire(sim_agent, flag->release, how & SIM_BLOCK_SCOPE);
    else if (t->pending == NULL || (t->pending != flag->release && t->pending->sources[0] != flag->release))
        t->pending = merge(flag->release, t->pending);
}

static void write_flag(struct release *release, const char *at, bool joins)
{
    struct flag *flag = find_flag(at, release != NULL);

    if (flag != NULL)
        flag->release = joins ? merge(release, flag->release) : release;
}

/* What the thread's flags tell: what it knew at its last fence; or, if a barrier came after that, what others of the
   block knew at theirs. (A fence is sequentially consistent: what all have written comes before the fence of whoever
   reads a flag that one of them writes behind the barrier.) */
static struct release *told_by(const struct thread_flags *t)
{
    struct release *const fenced = sim_race->flags->fenced;

    return fenced == NULL || (t->released != NULL && t->released->born > fenced->born) ? t->released : fenced;
}

void sim_flag_access(const char *at, size_t size, unsigned how, unsigned site)
{
    struct thread_flags *t = flags_of(sim_agent);
    const bool writes = how & SIM_WRITES, reads = !writes || how & SIM_ATOMIC;

    if (reads) {
        for (size_t i = 0; i < size && num_flags > 0; i += 4)
            read_flag(t, at + i, how);
        if (t->recent[t->last_recent].at != at)
            t->last_recent = (t->last_recent + 1) % NUM_RECENT;
        t->recent[t->last_recent] = {at, site, writes, num_writes, sim_race->interval};
        sim_race->flags->recent[sim_race->flags->num_recent++ % NUM_RECENT] = t->recent[t->last_recent];
    }
    if (writes) {
        struct release *release = how & SIM_RELEASE ? make_release(how & SIM_BLOCK_SCOPE) : told_by(t);
        for (size_t i = 0; i < size && (release != NULL || num_flags > 0); i += 4)
            write_flag(release, at + i, how & SIM_ATOMIC);
    }
}

void sim_flag_wrote(const char *at, uint64_t record)
{
    writes[num_writes++ % NUM_WRITES] = {at, record};
}

bool sim_flag_is_told(const char *at, bool writes)
{
    const struct flag *const flag = find_flag(at, false);

    return writes ? told_by(flags_of(sim_agent)) != NULL : flag != NULL && flag->release != NULL;
}

/* Whether the block that wrote a word (`record`) has written the flag after that, and before it was read. */
static bool comes_before(const char *at, uint64_t record, const struct thread_flags::reading *flag)
{
    const uint64_t oldest = num_writes > NUM_WRITES ? num_writes - NUM_WRITES : 0;

    for (uint64_t i = flag->when; i-- > oldest;) {
        const uint64_t wrote = writes[i % NUM_WRITES].record;
        if (writes[i % NUM_WRITES].at != flag->at ||
            sim_block_of(interval_of(wrote)) != sim_block_of(interval_of(record)))
            continue;
        if (interval_of(record) < interval_of(wrote))
            return true;
        for (uint64_t k = i; k-- > oldest && (wrote ^ record) >> AGENT_AT == 0;)
            if (writes[k % NUM_WRITES].at == at && (writes[k % NUM_WRITES].record ^ record) >> TIME_AT == 0)
                return true;
    }
    return false;
}

const char *sim_flag_lacks_fence(const char *at, uint64_t record)
{
    static char advice[900];
    const struct thread_flags *const t = flags_of(sim_agent);
    char place[300];

    if (t->recent[t->last_recent].at == at) /* it polls */
        return NULL;
    for (unsigned i = 0; i < 2 * NUM_RECENT; i++) {
        const struct thread_flags::reading *const r =
            i < NUM_RECENT ? &t->recent[i] : &sim_race->flags->recent[i - NUM_RECENT];
        if (r->at == NULL || r->at == at || (i >= NUM_RECENT && r->interval >= sim_race->interval))
            continue;
        const struct flag *const flag = find_flag(r->at, false);
        if (!comes_before(at, record, r) || release_knows(flag != NULL ? flag->release : NULL, record, false))
            continue;
        sim_locate((const char *)sim_site_pc(r->site) - 1, place, sizeof(place));
        snprintf(
            advice, sizeof(advice),
            "It has written the flag that is read at %s after that, but with no fence between the two, so the flag "
            "may come first: call __threadfence() between writing the data and writing the flag, and between "
            "reading the flag and reading the data",
            place);
        return advice;
    }
    return NULL;
}

void sim_race_fence(bool block_only)
{
    if (!sim_watches)
        return;
    struct thread_flags *t = flags_of(sim_agent);

    if (t->pending != NULL)
        acquire(sim_agent, t->pending, block_only);
    t->pending = NULL;
    if (!block_only && (t->released == NULL || t->released->born < sim_race->interval))
        sim_race->flags->releasers[sim_race->flags->num_releasers++] = sim_agent;
    t->released = make_release(block_only);
}

/* ---- the barrier of a cluster ---- */

/* It is a flag of its own. Who comes releases what he knows, and who has waited acquires what all released. */
void sim_race_cluster_arrive(void)
{
    const struct block_flags *b = sim_race->flags;
    struct arrivals *a = &sim_race->arrivals;

    a->known = merge(b->acquired, a->known);
    for (unsigned i = 0; i < b->num_acquirers; i++)
        a->known = merge(known_of(b->acquirers[i]), a->known);
    a->epoch = sim_epoch;
    flags_of(sim_agent)->told = acquired_by(flags_of(sim_agent));
    sim_race_release(&a->clock);
}

struct release *sim_race_cluster(struct block *const *blocks, unsigned count)
{
    struct release *const all = new_release(count);

    for (unsigned i = 0; i < count; i++) {
        const struct race_block *block = sim_race_of(blocks[i]->slot);
        struct arrivals *a = &sim_race_of(blocks[i]->slot)->arrivals;

        if (a->clock.interval == 0)
            continue; /* they came relaxed */
        struct release *r = new_release(1);
        r->block = block->serial;
        r->epoch = a->epoch;
        set_times(r, &a->clock);
        if (a->known != NULL)
            r->sources[r->num_sources++] = a->known;
        all->sources[all->num_sources++] = r;
        a->clock.interval = 0;
        a->known = NULL;
    }
    return all;
}

void sim_race_cluster_wait(struct release *learnt, bool has_told)
{
    struct thread_flags *t = flags_of(sim_agent);
    const bool is_new = !has_told || t->told != acquired_by(t); /* else all that it had acquired comes back to it */

    if (learnt == NULL || learnt->num_sources == 0)
        return;
    acquire(sim_agent, learnt, false);
    if (!is_new)
        t->versions[t->num_versions - 1].known = learnt;
}

/* ---- what blocks of a cluster send each other ---- */

/* The mbarrier is an agent, which acquires what all senders released, and tells it those who wait. */
void sim_race_send(struct release **sent)
{
    *sent = merge(make_release(false), *sent);
}

void sim_race_received(unsigned barrier, struct release *sent)
{
    if (sent != NULL)
        acquire(SIM_MAX_THREADS + barrier, sent, false);
}

bool sim_flag_orders_end(uint64_t record)
{
    const struct block_flags *b = sim_race->flags;

    if (b->acquired != NULL)
        look_at_later(b->acquired, sim_race->serial, any_block);
    for (unsigned i = 0; i < b->num_acquirers; i++) {
        struct release *const known = acquired_by(flags_of(b->acquirers[i]));
        if (num_todo == 0 || todo[num_todo - 1].release != known)
            look_at_later(known, sim_race->serial, any_block);
    }
    return search_releases(record) != NULL;
}

/* ---- what a race lacks ---- */

/* What a thread of the block has acquired by now. */
static struct release *all_known_of(unsigned agent)
{
    const struct thread_flags *t = flags_of(agent);

    return merge(sim_race->flags->acquired, acquired_by(t));
}

/* A word that this block has read by an atomic, as a counter or a lock, and the other one by an atomic that stands
   behind the recorded access in the code; NULL if none. */
static const struct thread_flags::reading *find_counter(uint64_t record)
{
    const uint32_t block = sim_block_of(interval_of(record));
    const char *const data = (const char *)sim_site_pc(site_of(record));

    for (unsigned i = 0; i < NUM_RECENT; i++) {
        const struct thread_flags::reading *const r = &sim_race->flags->recent[i];
        for (uint64_t k = 0; r->at != NULL && r->atomic && k < NUM_WRITES && k < num_writes; k++)
            if (writes[k].at == r->at && sim_block_of(interval_of(writes[k].record)) == block &&
                (const char *)sim_site_pc(site_of(writes[k].record)) > data)
                return r;
    }
    return NULL;
}

/* The last write of a flag, 0 if there was none in this launch or block. */
static uint64_t last_write(const char *at)
{
    const struct sim_region *r = at != NULL ? sim_region_near(at) : NULL;

    if (r == NULL || r->freed || r->shadow == NULL)
        return 0;
    const uint64_t record = r->shadow->cells[(size_t)(at - r->start) / 4].write;
    return interval_of(record) >= (sim_is_shared(r) ? sim_race->cluster : sim_launch_interval) ? record : 0;
}

const char *sim_flag_advice(uint64_t record)
{
    static char advice[1200];
    const uint32_t block = sim_block_of(interval_of(record));
    const struct thread_flags::reading *read = NULL;
    uint64_t wrote = 0;
    unsigned reader = 0;
    char flag_written[300], flag_read[300];

    /* A flag that this block has read, rather this thread, and that block has written, rather that thread. */
    for (unsigned i = 0, best = 0; i < SIM_MAX_THREADS; i++) {
        const struct thread_flags *t = &sim_race->flags->threads[i];
        for (unsigned k = 0; t->block == sim_race->first && k < NUM_RECENT; k++) {
            const uint64_t last = last_write(t->recent[k].at);
            if (last == 0 || sim_block_of(interval_of(last)) != block ||
                (block == sim_race->serial && agent_of(last) == i))
                continue;
            const unsigned rank =
                1 + 4 * !t->recent[k].atomic + 2 * (i == sim_agent) + (agent_of(last) == agent_of(record));
            if (rank > best) {
                best = rank;
                read = &t->recent[k];
                wrote = last;
                reader = i;
            }
        }
    }
    const struct thread_flags::reading *const counter = read == NULL ? find_counter(record) : NULL;
    if (counter != NULL) {
        sim_locate((const char *)sim_site_pc(counter->site) - 1, flag_read, sizeof(flag_read));
        snprintf(
            advice, sizeof(advice),
            "The atomic at %s orders nothing by itself: call __threadfence() between writing the data and the atomic "
            "that tells of it (for a lock: before it is given back), and again between that atomic and reading the "
            "data",
            flag_read);
        return advice;
    }
    if (read == NULL)
        return num_flags == 0 ? NULL
               : block == sim_race->serial
                   ? "If a flag orders them, call __threadfence() before writing it and after reading it; else let "
                     "each thread write bytes that no other one touches"
                   : "If a flag orders them, no thread may go on before one has read it and called __threadfence(), "
                     "and "
                     "__syncthreads() for the others; else let each block write bytes that no other one touches";
    sim_locate((const char *)sim_site_pc(site_of(wrote)) - 1, flag_written, sizeof(flag_written));
    sim_locate((const char *)sim_site_pc(read->site) - 1, flag_read, sizeof(flag_read));

    const struct flag *flag = find_flag(read->at, false);
    struct release *release = flag != NULL ? flag->release : NULL;
    const unsigned other = agent_of(wrote);
    if (!release_knows(release, record, true)) {
        if (other != agent_of(record) && interval_of(wrote) == interval_of(record))
            snprintf(
                advice, sizeof(advice),
                "The flag written at %s is another thread's: call __syncthreads() after the data are written, then "
                "__threadfence() in the thread that writes the flag",
                flag_written);
        else if (release != NULL && release->epoch != 0 && release->block == block)
            snprintf(
                advice, sizeof(advice),
                "The flag written at %s was released before: write the data first, then call __threadfence(), then "
                "write the flag",
                flag_written);
        else if (read->atomic)
            snprintf(advice, sizeof(advice),
                     "The atomic at %s orders nothing by itself: call __threadfence() between writing the data and the "
                     "atomic (for a lock: before it is given back), and again between the atomic and reading the data",
                     flag_written);
        else
            snprintf(advice, sizeof(advice),
                     "The flag written at %s has no release: write the data first, then call __threadfence(), then "
                     "write the flag",
                     flag_written);
    } else if (!release_knows(release, record, false)) {
        snprintf(advice, sizeof(advice),
                 "The release of the flag written at %s is for its own block only: take thread_scope_device, or call "
                 "__threadfence()",
                 flag_written);
    } else if (!release_knows(all_known_of(reader), record, true)) {
        snprintf(
            advice, sizeof(advice),
            "The flag read at %s has no acquire: call __threadfence() between reading the flag and what it tells of",
            flag_read);
    } else if (!release_knows(all_known_of(reader), record, false)) {
        snprintf(advice, sizeof(advice),
                 "The acquire of the flag read at %s is for its own block only: take thread_scope_device, or call "
                 "__threadfence()",
                 flag_read);
    } else {
        snprintf(advice, sizeof(advice),
                 "Another thread has read the flag, at %s: call __syncthreads() between that and this, or __syncwarp() "
                 "within a warp",
                 flag_read);
    }
    return advice;
}

/* ---- launch, block, barrier ---- */

void sim_flags_launch(void)
{
    allocate(0);
    if (num_flags > 0)
        memset(flags, 0, max_flags * sizeof(*flags));
    num_flags = 0;
    num_writes = 0;
}

void sim_flags_forget(void)
{
    struct race_block *const running = sim_race;

    sim_flags_launch();
    for (unsigned slot = 0; slot < SIM_MAX_RESIDENT; slot++)
        if ((sim_race = sim_race_of(slot)) != NULL)
            sim_flags_block();
    sim_race = running;
}

void sim_flags_block(void)
{
    if (sim_race->flags == NULL)
        sim_race->flags = (struct block_flags *)calloc(1, sizeof(*sim_race->flags));
    if (sim_race->flags == NULL)
        sim_fault(NULL, 0, "no memory to remember who reads flags. Free some memory");
    sim_race->flags->acquired = NULL;
    sim_race->flags->fenced = NULL;
    sim_race->flags->num_acquirers = sim_race->flags->num_releasers = 0;
    memset(sim_race->flags->recent, 0, sizeof(sim_race->flags->recent));
}

void sim_flags_barrier(void)
{
    struct block_flags *b = sim_race->flags;

    for (unsigned i = 0; i < b->num_acquirers; i++) {
        struct thread_flags *t = flags_of(b->acquirers[i]);
        b->acquired = merge(t->versions[t->num_versions - 1].known, b->acquired);
        t->num_versions = 0;
    }
    b->num_acquirers = 0;
    if (b->num_releasers == 0)
        return;
    b->fenced = new_release(b->num_releasers); /* it knows what those before did, too: a barrier came between */
    for (unsigned i = 0; i < b->num_releasers; i++)
        b->fenced->sources[b->fenced->num_sources++] = flags_of(b->releasers[i])->released;
    b->num_releasers = 0;
}
