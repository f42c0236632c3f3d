/* SPDX-License-Identifier: MIT */
/* race.cpp - remembers what happened to each byte last, and finds accesses that nothing orders.

   Two accesses to the same bytes race if one of them writes, two threads make them, neither *happens before* the other
   (Lamport 1978), and not both are strong (atomic or volatile). What happens before what is kept as in FastTrack
   (Flanagan and Freund, PLDI 2009): an access is remembered as an *epoch*, who made it and at what time of its own; a
   thread's *vector clock* holds up to what time it knows of each other thread. An access that is remembered happens
   before what a thread does now if the thread's clock has reached its epoch.

   Of every 4 bytes the epochs of the last write and of two reads are kept, each in 64 bits with its place in the code:

       | interval 25 | agent 11 | time 12 | place in the code 13 | kind 3 |
       '------------ epoch ------------'

   A GPU's barriers allow a short form. An *interval* ends with each __syncthreads, block and launch. So between two
   accesses of one block in different intervals lies a barrier, and vector clocks need only tell the times within the
   interval. A thread's time goes on when others learn what it has done (__syncwarp, an arrival at an mbarrier):

       thread 3  writes a, time 1 ----+                          thread 5 knows thread 3 up to time 1:
                                      | __syncwarp               the write comes before the read
       thread 5                       +----> reads a

       thread 3  writes b, time 2                                but not up to time 2: a race
       thread 5                              reads b

   Only flags reach across blocks (flag.cpp). Copies of the TMA are made by agents of their own, one for each
   mbarrier. */
#include <algorithm>
#include <stdlib.h>
#include "race.h"

#include <stdio.h>
#include <string.h>

#include "../machine/block.h"
#include "clock.h"
#include "../machine/clusters.h"
#include "../machine/fault.h"
#include "../machine/poison.h"
#include "flag.h"
#include "../runtime/memory.h"
#include "observe.h"
#include "shadow.h"
#include "../runtime/tasks.h"
#include "../machine/region.h"
#include "../machine/locate.h"
#include "../machine/access.h"
#include "../machine/announce.h"
#include "sites.h"

void (*sim_race_tells)(const void *pc, unsigned thread, uint32_t block, const void *at);

static bool is_strong(uint64_t record)
{
    return kind_of(record) == STRONG || kind_of(record) == VOLATILE;
}

/* Whether the recorded access happens before what the running thread does now, as far as its own block orders them.
   The record is of this launch, or of an earlier one that may not be over. */
static inline bool ordered_in_block(uint64_t record)
{
    const uint64_t then = interval_of(record), now = sim_race->interval;
    const unsigned other = agent_of(record);

    if (then == now)
        return other == sim_agent || clock_reaches(&sim_race->clocks[sim_agent], now, other, time_of(record));
    if (then < sim_launch_interval) /* another kernel, a copy, the host */
        return sim_task_orders(then);
    return then < now && (then >= sim_alone_since || sim_block_of(then) == sim_race->serial);
}

/* The same, by flags of other blocks, too. */
static inline bool ordered(uint64_t record)
{
    return ordered_in_block(record) || (interval_of(record) >= sim_launch_interval && sim_flag_orders(record));
}

/* ---- a race is reported ---- */

static void describe_thread(char *text, size_t size, unsigned number, uint32_t block)
{
    const uint3 t = {number % blockDim.x, number / blockDim.x % blockDim.y, number / blockDim.x / blockDim.y};
    const uint3 b = sim_index_of(block);

    if (block == sim_race->serial)
        snprintf(text, size, "thread (%u,%u,%u)", t.x, t.y, t.z);
    else
        snprintf(text, size, "thread (%u,%u,%u) of block (%u,%u,%u)", t.x, t.y, t.z, b.x, b.y, b.z);
}

/* For machines: the access that the reported one races with. */
static void note_other(uint64_t record, uint32_t block)
{
    const unsigned t = agent_of(record);
    const uint3 b = sim_index_of(block);

    sim_other = {sim_site_pc(site_of(record)),
                 t < SIM_MAX_THREADS,
                 {b.x, b.y, b.z},
                 {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y}};
}

/* What another task has done, or is about to do. */
[[noreturn]] static void report_task(const void *pc, const char *what, bool writes, const struct sim_task *other,
                                     const char *verb, const void *other_pc)
{
    char who[600], which[1200];

    sim_other.pc = other_pc;
    sim_describe_running(who, sizeof(who));
    sim_describe_task(other, verb, other_pc, which, sizeof(which));
    sim_fault_at(pc, "race: %s%s %s, which %s, and nothing orders the two. %s", who, writes ? "writes" : "reads", what,
                 which, sim_task_advice(other));
}

/* Which bytes of a word are told: all, unless a part of it is looked at. */
static struct {
    unsigned at, size;
} told_part = {0, 4};

static void describe_word(const struct sim_region *r, size_t word, char *text, size_t size)
{
    sim_region_describe(r->start + word * 4 + told_part.at, told_part.size, text, size);
}

[[noreturn]] static void report_record(const void *pc, const struct sim_region *r, size_t word, bool writes,
                                       uint64_t record, bool wrote)
{
    char what[600];

    describe_word(r, word, what, sizeof(what));
    report_task(pc, what, writes, sim_task_of(interval_of(record)), wrote ? "has written" : "has read",
                sim_site_pc(site_of(record)));
}

/* What to do about a race in shared memory, between two places, "file:line": one line that reads and writes (`both`)
   has to be taken apart; where the last barrier stands between them, the two are of different rounds of a loop. */
static const char *advise_barrier(const char *place, const char *other, bool both)
{
    static char text[400];
    const char *const colon = strrchr(place, ':'), *const other_colon = strrchr(other, ':');
    const char *const barrier = sim_block->barrier_file;

    if (both && strcmp(place, other) == 0)
        return "This line reads and writes, and a thread may write before another one has read: let each thread read "
               "into a variable of its own, call __syncthreads(), and write in a line after it";
    if (barrier == NULL || colon == NULL || other_colon == NULL || colon - place != other_colon - other ||
        memcmp(place, other, (size_t)(colon - place)) != 0)
        return "Put __syncthreads() between them, or __syncwarp() within a warp";
    const char *const name = strrchr(barrier, '/') != NULL ? strrchr(barrier, '/') + 1 : barrier;
    const size_t length = strlen(name);
    const int a = atoi(colon + 1), b = atoi(other_colon + 1), line = sim_block->barrier_line;
    if ((size_t)(colon - place) < length || memcmp(colon - length, name, length) != 0 || line < std::min(a, b) ||
        line >= std::max(a, b))
        return "Put __syncthreads() between them, or __syncwarp() within a warp";
    snprintf(
        text, sizeof(text),
        "The barrier at %.*s:%d is between them in one round of the loop (or call of the function), but not from one "
        "to the next: put another __syncthreads() at its end",
        (int)(colon - place), place, line);
    return text;
}

/* What to do about a race of plain accesses to global memory that no flag is meant to order. `same`: both are made by
   one line. `apart`: by two blocks. */
static const char *advise_plain(bool writes, bool wrote, bool same, bool apart)
{
    if (same && writes != wrote)
        return "This line reads and writes: let atomicAdd or its kin do both at once, or each thread have an element "
               "of "
               "its own";
    if (!writes && apart)
        return "No block knows how far another one has come: let a second kernel do what comes after, or wait for a "
               "flag: "
               "its writer calls __threadfence() before, its reader after, and both use a volatile pointer or an "
               "atomic";
    return apart ? "Let each write bytes that no other one touches"
                 : "Which elements are each thread's own? Let each write bytes that no other one touches";
}

/* What to do about an atomic or volatile access and a plain one, which `writes`, or reads. */
static const char *advise_mixed(bool writes, bool apart)
{
    return writes  ? "One of them is atomic or volatile: make the other so, too. A lock is given back by atomicExch, "
                     "behind "
                     "__threadfence()"
           : apart ? "One of them is atomic or volatile: make the other so, too. A loop that waits reads by a volatile "
                     "pointer or an atomic, and calls __threadfence() behind it"
                   : "One of them is atomic or volatile: make the other so, too";
}

[[noreturn]] static void report(const struct sim_region *r, size_t word, bool writes, bool strong, unsigned site,
                                uint64_t record, bool wrote)
{
    const void *const pc = sim_site_pc(site);
    const char *const verb = writes ? "writes" : "reads", *const past = wrote ? "has written" : "has read";
    const bool other_strong = is_strong(record);
    const bool mixed = strong != other_strong;
    char what[600], where[512], here[512] = "", told[1100], who[100];

    if (interval_of(record) < sim_launch_interval)
        report_record(pc, r, word, writes, record, wrote);
    describe_word(r, word, what, sizeof(what));
    sim_locate((const char *)sim_site_pc(site_of(record)) - 1, where, sizeof(where));
    sim_locate_call((const char *)sim_site_pc(site_of(record)) - 1, told, sizeof(told));
    if (kind_of(record) == IN_FLIGHT && !wrote)
        sim_fault_at(pc,
                     "race: writes %s, which the tma_store_box at %s has not read yet. Let the thread that called that "
                     "wait by tma_store_commit and tma_store_wait_read, and put a barrier between the wait and this",
                     what, told);
    if (kind_of(record) == IN_FLIGHT)
        sim_fault_at(
            pc,
            "%s %s, to which the copy of %s is on its way. Wait for it first (__pipeline_wait_prior, mbarrier_wait, "
            "cluster_receive)",
            verb, what, told);
    const uint32_t block = sim_block_of(interval_of(record));
    note_other(record, block);
    if (agent_of(record) >= SIM_MAX_THREADS)
        sim_fault_at(pc, "race: %s %s, which the bulk copy of %s %s. Let this thread, too, call mbarrier_wait for it",
                     verb, what, told, past);
    if (sim_race_tells != NULL)
        sim_race_tells(sim_site_pc(site_of(record)), agent_of(record), block, r->start + word * 4);
    describe_thread(who, sizeof(who), agent_of(record), block);
    sim_locate((const char *)pc - 1, here, sizeof(here));
    const char *const flag = mixed || sim_is_shared(r) ? NULL : sim_flag_advice(record);
    const bool apart = block != sim_race->serial, plain_writes = strong ? wrote : writes;
    const char *const advice = mixed          ? advise_mixed(plain_writes, apart)
                               : flag != NULL ? flag
                                              : advise_plain(writes, wrote, strcmp(here, where) == 0, apart);
    /* Two arrays that are cut from one piece may overlap. */
    const bool may_overlap = r == sim_block->dynamic && writes && wrote && strcmp(here, where) != 0;
    /* In global memory an index that runs into the next row is more likely than an exchange between threads. */
    if (block == sim_race->serial)
        sim_fault_at(pc, "race: %s %s, which %s %s%s at %s, and nothing orders the two. %s%s", verb, what, who, past,
                     kind_of(record) == COPIED ? " by an asynchronous copy" : "", told,
                     strong && other_strong ? "volatile does not keep the lanes of a warp in step: call __syncwarp() "
                                              "between them"
                     : sim_is_shared(r)     ? advise_barrier(here, where, writes != wrote)
                                            : advice,
                     may_overlap ? "; or, if these are two arrays cut from this memory, let one begin where the other "
                                   "ends: see the offsets, in bytes or in elements"
                                 : "");
    if (sim_is_shared(r))
        sim_fault_at(
            pc,
            "race: %s %s, which %s %s at %s, and nothing orders the two blocks. Put the barrier of the cluster "
            "between them: cluster_arrive() after that, cluster_wait() before this",
            verb, what, who, past, told);
    sim_fault_at(pc, "race: %s %s, which %s %s at %s. Blocks run in any order, or at once. %s", verb, what, who, past,
                 told, advice);
}

/* ---- reads before an atomic ---- */

/* A thread may read a word plainly and then compare and swap it, as in the Programming Guide's loop: a value that came
   too early does no harm then. So a plain read that races with an atomic is a suspect until the thread's next access:
   an atomic of the same word clears it. The same read may only ask whether the atomic is worth while, as in
   `if (v > *m) atomicMax(m, v)`. So where a place in the code was seen to read before an atomic, reads that no atomic
   follows get a remark. And so does a read that only an atomic which adds follows, as in `p = *n; atomicAdd(n, 1)`:
   nothing says whether the value is used. */
static bool asks[SIM_MAX_SITES];

/* Whether that is such a place. One line may be several of them, if the compiler has unrolled a loop. */
static bool is_asking(unsigned site)
{
    char place[512], other[512];

    if (asks[site])
        return true;
    sim_locate((const char *)sim_site_pc(site) - 1, place, sizeof(place));
    for (unsigned i = 0; i < sim_num_sites && !asks[site]; i++)
        if (asks[i]) {
            sim_locate((const char *)sim_site_pc(i) - 1, other, sizeof(other));
            asks[site] = strcmp(place, other) == 0;
        }
    return asks[site];
}

/* A plain read, here or there, that races with an atomic: a remark if it only asks, else a race. */
static void judge_read(const struct sim_region *r, size_t word, unsigned site, bool writes, uint64_t record,
                       bool counts)
{
    static bool told[SIM_MAX_SITES];
    const unsigned read = writes ? site_of(record) : site, atomic = writes ? site : site_of(record);
    char what[600], where[512];

    if (sim_strict || interval_of(record) < sim_launch_interval || !(counts || is_asking(read)))
        report(r, word, writes, writes, site, record, !writes);
    if (told[read])
        return;
    told[read] = true;
    sim_region_describe(r->start + word * 4, 4, what, sizeof(what));
    sim_locate_call((const char *)sim_site_pc(atomic) - 1, where, sizeof(where));
    sim_remark_at(
        sim_site_pc(read),
        "race: reads %s plainly, which other threads change at the same time by the atomic at %s. %s", what, where,
        counts ? "The atomic that comes next only adds, so several threads may have read the same value: go by what "
                 "it returns"
               : "A value that is too old does no harm where the atomic itself decides, as atomicMax does: read it by "
                 "a volatile pointer, or go by what the atomic returns");
}

static void settle(struct suspect *s)
{
    struct sim_region *const region = s->region;

    if (region == NULL)
        return;
    s->region = NULL;
    sim_race->num_suspects--;
    judge_read(region, s->word, s->site, false, s->record, false);
}

static void suspect(struct sim_region *r, size_t word, unsigned site, uint64_t record)
{
    struct suspect *s = &sim_race->suspects[sim_agent];

    sim_race->num_suspects += s->region == NULL;
    *s = {r, word, site, record};
}

const char *sim_just_read;

/* Turns what the running thread has just read of these words into strong reads. `ask`: they come before an atomic. */
static void make_reads_strong(struct sim_region *r, size_t first, size_t last, bool ask)
{
    for (size_t word = first; word < last; word++) {
        uint64_t *const reads[] = {&r->shadow->cells[word].read, &r->shadow->others[word]};
        for (uint64_t *read : reads)
            if ((*read ^ sim_epoch) >> TIME_AT == 0) {
                asks[site_of(*read)] |= ask;
                *read = (*read & ~(uint64_t)((1 << KIND_BITS) - 1)) | STRONG;
            }
    }
}

void sim_race_polls(struct sim_region *r, const char *at, size_t size)
{
    if (sim_watches)
        make_reads_strong(r, (size_t)(at - r->start) / 4, ((size_t)(at - r->start) + size) / 4, false);
}

/* An atomic access, which may only count: clears what the thread has just read there, for others too. */
static void clear_read(struct sim_region *r, size_t first, size_t last, const char *at, bool counts)
{
    struct suspect *s = &sim_race->suspects[sim_agent];

    if (sim_just_read != at)
        return;
    if (s->region == r && s->word >= first && s->word < last) {
        s->region = NULL;
        sim_race->num_suspects--;
        if (counts && interval_of(s->record) >= sim_launch_interval)
            judge_read(r, s->word, s->site, false, s->record, true);
    }
    make_reads_strong(r, first, last, true);
}

/* ---- writes whose value matters ---- */

/* A plain write is looked at once more when it is done, that is at the thread's next access, or when its turn ends: if
   it races with another write, whether it has changed anything; and while shuffles have left something undefined,
   whether that is what was written. */
static struct done {
    struct sim_region *region; /* NULL: none */
    const char *at;
    size_t size, word;
    unsigned site;
    uint64_t record; /* of the other write, 0: none */
    struct race_block *block;
    char before[16];
} done;

static void look_at_done(struct sim_region *r, const char *at, size_t size, size_t word, unsigned site, uint64_t record)
{
    if (done.region == NULL)
        sim_race->num_suspects++;
    done = {r, at, size, word, site, record, sim_race, {}};
    memcpy(done.before, at, size);
}

/* Whether a write that has changed nothing is meant so: by threads of one block, or of several where all write one
   value, as `*found = 1`. A value for each word is more likely to be each block's own work, done in a wrong place. */
static bool is_meant(const struct done *d)
{
    static struct {
        const char *at;
        char value[sizeof(d->before)];
    } first[SIM_MAX_SITES];

    if (sim_block_of(interval_of(d->record)) == d->block->serial)
        return true;
    if (first[d->site].at == NULL) {
        first[d->site].at = d->at;
        memcpy(first[d->site].value, d->at, d->size);
    }
    return first[d->site].at == d->at || memcmp(first[d->site].value, d->at, d->size) == 0;
}

static void remark_same_value(const struct sim_region *r, size_t word, unsigned site, uint64_t record)
{
    static bool told[SIM_MAX_SITES];
    char what[600], where[512];

    if (told[site])
        return;
    told[site] = true;
    describe_word(r, word, what, sizeof(what));
    sim_locate_call((const char *)sim_site_pc(site_of(record)) - 1, where, sizeof(where));
    sim_remark_at(sim_site_pc(site),
                  "race: writes %s, which another thread has written at %s, and nothing orders the two. All write the "
                  "same value, so the result does not depend on who is last. If several are to write there, let one do "
                  "it, or write by atomicExch or a volatile pointer, which says that it is meant; else see the index",
                  what, where);
}

void sim_race_look_at_done(void)
{
    const struct done d = done;
    const uint3 thread = threadIdx;

    if (d.region == NULL)
        return;
    done.region = NULL;
    d.block->num_suspects--;
    threadIdx = {sim_agent % blockDim.x, sim_agent / blockDim.x % blockDim.y, sim_agent / blockDim.x / blockDim.y};
    if (d.size < 4)
        told_part = {(unsigned)((size_t)(d.at - d.region->start) % 4), (unsigned)d.size};
    if (d.record != 0 && (sim_strict || memcmp(d.before, d.at, d.size) != 0 || !is_meant(&d)))
        report(d.region, d.word, true, false, d.site, d.record, true);
    if (d.record != 0)
        remark_same_value(d.region, d.word, d.site, d.record);
    told_part = {0, 4};
    if (d.size <= 8) {
        uint64_t value = 0;
        memcpy(&value, d.at, d.size);
        sim_check_stored(&sim_block->threads[sim_agent], d.at, value, 0, d.size, sim_site_pc(d.site));
    }
    threadIdx = thread;
}

void sim_race_block_end(void)
{
    sim_race_check_unwritten();
    for (unsigned i = 0; i < SIM_MAX_THREADS && sim_race->num_suspects > 0; i++) {
        threadIdx = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        settle(&sim_race->suspects[i]);
    }
}

/* ---- accesses ---- */

/* Strong accesses do not race with each other. But volatile alone does not make the lanes of a warp go in step: a sum
   over shared memory that relies on that is wrong. In global memory (lags_behind) `kind` is STRONG here. */
static bool both_strong(uint64_t record, enum kind kind)
{
    if (kind == PLAIN || !is_strong(record))
        return false;
    return kind == STRONG || kind_of(record) == STRONG || agent_of(record) / SIM_WARP != sim_agent / SIM_WARP;
}

/* Whether an access by the running thread races with the recorded one, which is of this launch or block. */
static bool conflicts(uint64_t record, enum kind kind)
{
    if (kind_of(record) == IN_FLIGHT)
        return true;
    if ((record ^ sim_epoch) >> TIME_AT == 0 || both_strong(record, kind))
        return false;
    return !ordered(record);
}

/* Remembers a read, so that a later write that is not ordered after all reads is told. Of many readers two are kept, of
   two warps if there are: who is ordered after its own warp only is found by the other one. */
static void remember_read(uint64_t *first, uint64_t *second, uint64_t floor, uint64_t record)
{
    if (ordered_in_block(*first)) {
        *first = record;
    } else if (*second < floor || (*second ^ record) >> TIME_AT == 0 || ordered_in_block(*second)) {
        *second = record;
    } else if (agent_of(*first) / SIM_WARP == agent_of(*second) / SIM_WARP &&
               sim_agent / SIM_WARP != agent_of(*first) / SIM_WARP) {
        *second = record;
    }
}

/* Whether shared memory is as it was when the block began. What is not was written by somebody whom nobody watches. */
static bool is_fresh(const char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != (char)0xff)
            return false;
    return true;
}

/* Of a plain read of shared memory the first one waits until the block's next barrier, or its end: if another thread
   writes there before that, the two race, and that says more. */
static void suspect_unwritten(struct sim_region *r, size_t offset, size_t size, unsigned site)
{
    if (sim_race->unwritten.region == NULL)
        sim_race->unwritten = {r, offset, size, site, sim_agent};
}

[[noreturn]] static void report_unwritten(const struct sim_region *r, size_t offset, size_t size, unsigned site)
{
    const bool cluster = sim_block->cluster->size > 1;
    char what[600];

    sim_region_describe(r->start + offset, size, what, sizeof(what));
    if (!sim_is_shared(r)) {
        bool writes;
        const struct sim_task *const late = sim_collides(r->start + offset, size, false, &writes);
        if (late != NULL)
            report_task(sim_site_pc(site), what, false, late, "writes", NULL);
        const size_t at = offset - (size_t)(r->array - r->start);
        if (r->pitch > 0 && at % r->pitch >= r->row)
            sim_fault_at(sim_site_pc(site),
                         "reads %s, which nothing has written: it lies behind the %zu bytes of row %zu. Rows of "
                         "cudaMallocPitch lie `pitch' bytes apart, %zu here: row j is (float *)((char *)x + j * pitch)",
                         what, r->row, at / r->pitch, r->pitch);
        sim_fault_at(sim_site_pc(site), "reads %s, which nothing has written. %s", what,
                     sim_early_advice() != NULL ? sim_early_advice() : "Fill it first");
    }
    sim_fault_at(sim_site_pc(site),
                 "reads %s, which no thread of this %s has written before. Let one write it, then call %s", what,
                 cluster ? "cluster" : "block", cluster ? "the barrier" : "__syncthreads()");
}

void sim_race_check_unwritten(void)
{
    const struct unwritten *u = &sim_race->unwritten;

    if (u->region == NULL)
        return;
    threadIdx = sim_block->threads[u->thread].index;
    report_unwritten(u->region, u->offset, u->size, u->site);
}

void sim_race_blame_unwritten(void)
{
    if (sim_place.in_thread && sim_race->unwritten.thread / SIM_WARP == sim_agent / SIM_WARP)
        sim_race_check_unwritten();
}

/* Of what nothing seems to have written, what a read of global memory may not take along: neither padding, nor managed
   memory that the host's C code has written to. `bytes`: a bit for each, the lowest for the one at offset + first. */
static uint32_t unwritten_of(struct sim_region *r, size_t offset, size_t size, size_t first, uint32_t bytes)
{
    if (r->managed && !sim_is_untouched(r, r->start + offset, size)) {
        sim_shadow_mark(r, r->start + offset, size);
        return 0;
    }
    return sim_without_padding(size, first, bytes);
}

/* Faults unless all bytes were written; afterwards they are, if this writes. In shared memory a wide read, as of a
   float4, may take along what nobody wrote, if some of it was: a row need not end where a float4 does. */
static inline void check_written(struct sim_region *r, size_t offset, size_t size, unsigned how, unsigned site)
{
    const bool only_writes = (how & (SIM_WRITES | SIM_ATOMIC)) == SIM_WRITES;

    for (size_t done = 0; done < size; done += 16) {
        const size_t at = offset + done, part = size - done < 16 ? size - done : 16;
        const uint32_t mask = ((1u << part) - 1) << at % 8;
        uint32_t bits;

        memcpy(&bits, r->shadow->written + at / 8, sizeof(bits));
        if ((bits & mask) == mask)
            continue;
        if (only_writes) {
            bits |= mask;
            memcpy(r->shadow->written + at / 8, &bits, sizeof(bits));
        } else if (!sim_is_shared(r)) {
            const uint32_t rest = unwritten_of(r, offset, size, done, (~bits & mask) >> at % 8);
            if (rest == 0)
                continue;
            const unsigned first = (unsigned)__builtin_ctz(rest);
            report_unwritten(r, at + first, 4 - (at + first) % 4, site);
        } else if ((bits & mask) == 0 && is_fresh(r->start + at, part)) {
            if (how == 0)
                suspect_unwritten(r, at, part, site);
            else
                report_unwritten(r, at, part, site);
        }
    }
}

/* ---- reads by __ldg ---- */

static bool has_read_only; /* there have been any */

/* Writes are not seen by the cache that __ldg reads through, whatever orders them. */
static void check_read_only(const struct sim_region *r, size_t word, unsigned site, uint64_t read)
{
    char what[600], where[512];

    if (kind_of(read) != READ_ONLY || interval_of(read) < sim_launch_interval)
        return;
    describe_word(r, word, what, sizeof(what));
    sim_locate_call((const char *)sim_site_pc(site_of(read)) - 1, where, sizeof(where));
    sim_fault_at(sim_site_pc(site),
                 "writes %s, which this launch reads by __ldg at %s. What __ldg reads must not change as long as the "
                 "kernel runs: read it without __ldg",
                 what, where);
}

/* ---- words, and their parts ---- */

/* An access to a part of a word, one or two bytes of it, against those to the whole word. */
static void check_part(struct sim_region *r, size_t word, bool writes, enum kind kind, uint64_t record, uint64_t floor)
{
    const struct sim_cell *cell = &r->shadow->cells[word];
    const bool beside_atomic = !writes && is_strong(cell->write);

    if (cell->write >= floor && !beside_atomic && conflicts(cell->write, kind))
        report(r, word, writes, kind != PLAIN, site_of(record), cell->write, true);
    if (writes && cell->read >= floor && conflicts(cell->read, kind))
        report(r, word, writes, kind != PLAIN, site_of(record), cell->read, false);
}

/* A write that races with a recorded read. */
static void judge_writing(const struct sim_region *r, size_t word, unsigned how, unsigned site, uint64_t record)
{
    if (how & SIM_ATOMIC && kind_of(record) == PLAIN)
        judge_read(r, word, site, true, record, false);
    else
        report(r, word, true, how & SIM_STRONG, site, record, false);
}

/* ---- volatile words of global memory ---- */

/* Whether that is a volatile access by another lane of the running thread's warp, which nothing orders. */
static bool is_of_lane(uint64_t record)
{
    return kind_of(record) == VOLATILE && interval_of(record) == sim_race->interval && agent_of(record) != sim_agent &&
           agent_of(record) / SIM_WARP == sim_agent / SIM_WARP && !ordered(record);
}

static bool is_by(uint64_t record, unsigned agent)
{
    return interval_of(record) == sim_race->interval && agent_of(record) == agent;
}

/* Volatile words of global memory may be flags, by which lanes of a warp, too, tell each other something. But a lane
   that writes a word which it reads itself is adding something up: if another lane reads that, both rely on going in
   step. (A lane that tells something has come to a fence before, or reads again and again, which makes it a STRONG
   read.) */
static void check_step(struct sim_region *r, const char *at, size_t word, bool writes, unsigned site)
{
    const uint64_t write = r->shadow->cells[word].write;
    const uint64_t reads[] = {r->shadow->cells[word].read, r->shadow->others[word]};

    for (unsigned i = 0; i < 2; i++) {
        if (writes && is_of_lane(reads[i]) && is_by(reads[1 - i], sim_agent) && !sim_flag_is_told(at, true))
            report(r, word, writes, true, site, reads[i], false);
        if (!writes && is_by(reads[i], agent_of(write)) && is_of_lane(write) && !sim_flag_is_told(at, false))
            report(r, word, writes, true, site, write, true);
    }
}

/* Data that one thread writes and then a flag, both volatile, and another one reads the flag and then the data: that
   lacks a fence between the writes, though neither of the words is in a race. */
static void check_handover(struct sim_region *r, const char *at, size_t word, unsigned site)
{
    const uint64_t write = r->shadow->cells[word].write;
    const char *advice;
    char what[600], who[100], where[512];

    if (kind_of(write) != VOLATILE || interval_of(write) < sim_launch_interval ||
        (write ^ sim_epoch) >> AGENT_AT == 0 || (advice = sim_flag_lacks_fence(at, write)) == NULL || ordered(write))
        return;
    sim_region_describe(at, 4, what, sizeof(what));
    describe_thread(who, sizeof(who), agent_of(write), sim_block_of(interval_of(write)));
    sim_locate_call((const char *)sim_site_pc(site_of(write)) - 1, where, sizeof(where));
    sim_fault_at(sim_site_pc(site), "race: reads %s, which %s has written at %s. %s", what, who, where, advice);
}

/* And against those to parts of it, of which a record is kept for each two bytes, or for each byte once one alone is
   accessed. */
static void access_part(struct sim_region *r, size_t offset, size_t size, unsigned how, enum kind kind, uint64_t record,
                        uint64_t floor)
{
    const unsigned wanted = offset % 2 == 0 && size % 2 == 0 ? 2 : 1, site = site_of(record);
    const bool writes = how & SIM_WRITES, strong = how & SIM_STRONG;
    struct sim_shadow *const s = r->shadow;
    const size_t word = offset / 4;

    told_part = {(unsigned)(offset % 4), (unsigned)size};
    check_part(r, word, writes, kind, record, floor);
    if ((s->parts == NULL || s->part_size > wanted) && !sim_shadow_divide(s, wanted))
        return;
    for (size_t i = offset / s->part_size; i * s->part_size < offset + size; i++) {
        struct sim_cell *const part = &s->parts[i];
        uint64_t *const other = &s->part_others[i];

        if (part->write >= floor && (writes || !is_strong(part->write)) && conflicts(part->write, kind)) {
            if (how == SIM_WRITES && kind_of(part->write) == PLAIN && interval_of(part->write) >= sim_launch_interval)
                look_at_done(r, r->start + offset, size, word, site, part->write);
            else
                report(r, word, writes, strong, site, part->write, true);
        }
        if (writes) {
            if (has_read_only)
                check_read_only(r, word, site, part->read);
            if (part->read >= floor && conflicts(part->read, kind))
                report(r, word, writes, strong, site, part->read, false);
            if (*other >= floor && conflicts(*other, kind))
                report(r, word, writes, strong, site, *other, false);
            part->write = record;
        } else if (part->read < floor || (part->read ^ record) >> TIME_AT == 0) {
            part->read = record;
        } else {
            remember_read(&part->read, other, floor, record);
        }
    }
    told_part = {0, 4};
    if (strong) /* other flags may share the word: they are kept */
        sim_flag_access(r->start + word * 4, 4, writes ? how | SIM_ATOMIC : how, site);
}

/* An access to a whole word against those to its parts. An atomic of the word may be meant for one of them, while
   others are read. */
static __attribute__((noinline)) void check_parts(struct sim_region *r, size_t word, unsigned how, enum kind kind,
                                                  uint64_t record, uint64_t floor)
{
    const bool writes = how & SIM_WRITES, strong = how & SIM_STRONG;
    const unsigned each = 4 / r->shadow->part_size;

    for (size_t i = word * each; i < word * each + each; i++) {
        struct sim_cell *const part = &r->shadow->parts[i];
        uint64_t *const other = &r->shadow->part_others[i];

        if (part->write >= floor && (how != 0 || !is_strong(part->write)) && conflicts(part->write, kind))
            report(r, word, writes, strong, site_of(record), part->write, true);
        if (writes && !(how & SIM_ATOMIC) && part->read >= floor && conflicts(part->read, kind))
            report(r, word, writes, strong, site_of(record), part->read, false);
        if (writes && !(how & SIM_ATOMIC) && *other >= floor && conflicts(*other, kind))
            report(r, word, writes, strong, site_of(record), *other, false);
        if (writes && (part->write | part->read | *other) != 0) { /* the record of the word tells more */
            *part = {};
            *other = 0;
        }
    }
}

void sim_race_read_only(struct sim_region *r, const char *at, size_t size, const void *pc)
{
    const size_t first = (size_t)(at - r->start) / 4;

    has_read_only = true;
    for (size_t word = first; word < first + size / 4; word++) {
        const uint64_t write = r->shadow->cells[word].write;
        uint64_t *const reads[] = {&r->shadow->cells[word].read, &r->shadow->others[word]};
        char what[600], where[512];

        for (uint64_t *read : reads)
            if ((*read ^ sim_epoch) >> TIME_AT == 0)
                *read = (*read & ~(uint64_t)((1 << KIND_BITS) - 1)) | READ_ONLY;
        if (interval_of(write) < sim_launch_interval)
            continue;
        sim_region_describe(r->start + word * 4, 4, what, sizeof(what));
        sim_locate_call((const char *)sim_site_pc(site_of(write)) - 1, where, sizeof(where));
        sim_fault_at(
            pc,
            "reads %s by __ldg, which this launch writes at %s. What __ldg reads must not change as long as the "
            "kernel runs: read it without __ldg",
            what, where);
    }
}

/* Shared memory forgets with the block, or the cluster; global memory with the launch, or the first one that may not be
   over. Smaller records are history. */
static inline uint64_t floor_of(const struct sim_region *r)
{
    return (sim_is_shared(r) ? sim_race->cluster : sim_known_interval) << INTERVAL_AT;
}

uint64_t sim_race_floor(const struct sim_region *r)
{
    return floor_of(r);
}

/* An access that begins or ends inside a word: its parts of words, and the whole words between. */
static void access_parts(struct sim_region *r, size_t offset, size_t size, unsigned how, unsigned site)
{
    const enum kind kind = !(how & SIM_STRONG) ? PLAIN : how & SIM_VOLATILE && sim_is_shared(r) ? VOLATILE : STRONG;
    const uint64_t record = sim_epoch | (uint64_t)site << SITE_AT | (how & SIM_VOLATILE ? VOLATILE : kind);

    for (const size_t end = offset + size; offset < end;) {
        const size_t rest = end - offset, most = 4 - offset % 4, now = rest < most ? rest : most;

        if (now == 4)
            sim_race_access(r, r->start + offset, now, how, site);
        else
            access_part(r, offset, now, how, kind, record, floor_of(r));
        offset += now;
    }
}

void sim_race_access(struct sim_region *r, const char *at, size_t size, unsigned how, unsigned site)
{
    const size_t offset = (size_t)(at - r->start), first = offset / 4, last = (offset + size) / 4;
    const bool writes = how & SIM_WRITES, strong = how & SIM_STRONG;
    const bool global_volatile = how & SIM_VOLATILE && !sim_is_shared(r);
    const enum kind kind = !strong ? PLAIN : how & SIM_VOLATILE && !global_volatile ? VOLATILE : STRONG;
    const uint64_t record = sim_epoch | (uint64_t)site << SITE_AT | (global_volatile ? VOLATILE : kind);
    const uint64_t floor = floor_of(r);
    struct sim_shadow *s = r->shadow;

    if (!sim_watches)
        return;
    if (!r->shape.is_raw)
        check_written(r, offset, size, how, site);
    if (how & SIM_ATOMIC)
        clear_read(r, first, last, at, how & SIM_COUNTS);
    if (sim_race->num_suspects > 0) {
        sim_race_look_at_done();
        settle(&sim_race->suspects[sim_agent]);
    }
    if (sim_num_poisons > 0 && how == SIM_WRITES && size <= 8)
        look_at_done(r, at, size, first, site, 0);
    if (offset % 4 != 0 || size % 4 != 0) {
        access_parts(r, offset, size, how, site);
        return;
    }
    sim_just_read = how == 0 ? at : NULL;
    for (size_t word = first; word < last; word++) {
        struct sim_cell *cell = &s->cells[word];

        if (global_volatile) {
            check_step(r, at, word, writes, site);
            if (!writes)
                check_handover(r, at, word, site);
        }
        if (strong && r->host && is_strong(cell->write) && interval_of(cell->write) < sim_launch_interval)
            sim_task_learns_of_host(interval_of(cell->write), sim_launch_interval);
        if (s->parts != NULL)
            check_parts(r, word, how, kind, record, floor);
        if (cell->write >= floor && conflicts(cell->write, kind)) {
            if (how == 0 && is_strong(cell->write))
                suspect(r, word, site, cell->write);
            else if (how == SIM_WRITES && kind_of(cell->write) == PLAIN && size <= sizeof(done.before) &&
                     interval_of(cell->write) >= sim_launch_interval)
                look_at_done(r, at, size, word, site, cell->write);
            else
                report(r, word, writes, strong, site, cell->write, true);
        }
        if (writes) {
            if (has_read_only)
                check_read_only(r, word, site, cell->read);
            if (cell->read >= floor && conflicts(cell->read, kind))
                judge_writing(r, word, how, site, cell->read);
            /* when the first read is history, so is the other one, but for those of other tasks */
            if ((cell->read >= floor || sim_known_interval < sim_launch_interval) && s->others[word] >= floor &&
                conflicts(s->others[word], kind))
                judge_writing(r, word, how, site, s->others[word]);
            cell->write = record;
        } else if (cell->read < floor || (cell->read ^ record) >> TIME_AT == 0) {
            cell->read = record;
        } else {
            remember_read(&cell->read, &s->others[word], floor, record);
        }
    }
    if (strong)
        sim_flag_access(at, size, how, site);
    if (strong && writes && !sim_is_shared(r))
        sim_flag_wrote(at, record);
}

void sim_race_pooled(const struct sim_region *r, const void *at, bool writes, const void *pc)
{
    char what[600];

    if (r->pooled == NULL || sim_task_known(r->pooled->task))
        return;
    sim_region_describe(at, 4, what, sizeof(what));
    report_task(pc, what, writes, r->pooled->task.get(), "makes", NULL);
}

/* Whether the running task, which is no kernel, may access what was accessed so. */
static bool may_access(uint64_t record, bool strong)
{
    return (strong && kind_of(record) != PLAIN) || sim_task_orders(interval_of(record));
}

static void check_task_parts(const struct sim_region *r, size_t word, bool writes, bool strong, unsigned site)
{
    const unsigned each = 4 / r->shadow->part_size;

    for (size_t i = word * each; i < word * each + each; i++) {
        const struct sim_cell *const part = &r->shadow->parts[i];

        if (!may_access(part->write, strong))
            report_record(sim_site_pc(site), r, word, writes, part->write, true);
        if (writes && !may_access(part->read, strong))
            report_record(sim_site_pc(site), r, word, writes, part->read, false);
        if (writes && !may_access(r->shadow->part_others[i], strong))
            report_record(sim_site_pc(site), r, word, writes, r->shadow->part_others[i], false);
    }
}

/* The last plain read by host code of a word that kernels see, too, and what it races with, or 0: an atomic of a
   kernel. If host code goes on with a compare-and-swap of the same word, that finds out whether the value is too old,
   and nothing is told. */
static struct {
    struct sim_region *region; /* NULL: none */
    const void *at;
    size_t word, num_words;
    unsigned site;
    uint64_t record, racing;
} host_read;

void sim_race_host_goes_on(void)
{
    const auto read = host_read;

    host_read = {};
    if (read.racing != 0)
        report_record(sim_site_pc(read.site), read.region, read.word, false, read.racing, true);
}

void sim_race_host_swaps(const volatile void *at)
{
    if (host_read.at != at || host_read.region == NULL)
        return;
    for (size_t word = host_read.word; word < host_read.word + host_read.num_words; word++) {
        uint64_t *const first = &host_read.region->shadow->cells[word].read;
        uint64_t *const second = &host_read.region->shadow->others[word];
        for (uint64_t *read : {first, second}) /* what comes later may be beside it, too */
            if (*read == host_read.record)
                *read = host_read.record - PLAIN + STRONG;
    }
    host_read = {};
}

__attribute__((constructor)) static void register_end(void)
{
    atexit(sim_race_host_goes_on);
}

void sim_race_task(struct sim_region *r, const void *at, size_t size, unsigned how, unsigned site)
{
    const bool writes = how & SIM_WRITES, strong = how & SIM_STRONG;
    const size_t offset = (size_t)((const char *)at - r->start), end = offset + size;
    bool other_writes;
    const struct sim_task *const late = sim_in_task() ? NULL : sim_collides(at, size, writes, &other_writes);
    const bool may_compare = how == 0 && !sim_in_task() && offset % 4 == 0 && (size == 4 || size == 8);
    char what[600];

    if (!may_compare || host_read.at != at)
        sim_race_host_goes_on();
    if (late != NULL) {
        sim_region_describe(at, size < 4 ? size : 4, what, sizeof(what));
        report_task(sim_site_pc(site), what, writes, late, other_writes ? "writes" : "reads", NULL);
    }
    sim_race_pooled(r, at, writes, sim_site_pc(site));
    if (sim_task_interval() == 0)
        sim_task_takes(sim_race_one_interval());
    const uint64_t record = sim_task_interval() << INTERVAL_AT | (uint64_t)site << SITE_AT | (strong ? STRONG : PLAIN);
    if (may_compare)
        host_read = {r, at, offset / 4, size / 4, site, record, 0};
    for (size_t word = offset / 4; word * 4 < end; word++) {
        struct sim_cell *const cell = &r->shadow->cells[word];
        uint64_t *const other = &r->shadow->others[word];

        if (strong && !sim_in_task() && !sim_task_orders(interval_of(cell->write)) && kind_of(cell->write) != PLAIN)
            sim_host_learns(sim_task_of(interval_of(cell->write))->known); /* a flag: what comes before it is done */
        if (!may_access(cell->write, strong)) {
            if (!may_compare || !is_strong(cell->write))
                report_record(sim_site_pc(site), r, word, writes, cell->write, true);
            host_read.racing = cell->write;
        }
        if (writes && !may_access(cell->read, strong))
            report_record(sim_site_pc(site), r, word, writes, cell->read, false);
        if (writes && !may_access(*other, strong))
            report_record(sim_site_pc(site), r, word, writes, *other, false);
        if (r->shadow->parts != NULL)
            check_task_parts(r, word, writes, strong, site);
        if (word * 4 < offset || word * 4 + 4 > end)
            continue; /* a part of a word: its neighbour may belong to another one */
        if (writes)
            cell->write = record;
        else if (sim_task_orders(interval_of(cell->read)))
            cell->read = record;
        else
            *other = record;
    }
    if (writes && strong && !sim_in_task())
        sim_host_asked(); /* a flag: what the host does from now on is later than what the flag tells of */
}

void sim_race_touch(struct sim_region *r, const void *at, size_t size, bool writes)
{
    if (r != NULL && sim_remembers())
        sim_race_task(r, at, size, writes ? SIM_WRITES : 0, sim_site(sim_task_at()));
}

/* An access by another block after which this one may end must be known to some thread of this one. */
static void check_end(struct sim_region *r, size_t word, uint64_t record, bool wrote)
{
    const uint32_t block = record < floor_of(r) ? sim_race->serial : sim_block_of(interval_of(record));
    char what[600], who[100];

    if (block == sim_race->serial || sim_flag_orders_end(record))
        return;
    sim_region_describe(r->start + word * 4, 4, what, sizeof(what));
    describe_thread(who, sizeof(who), agent_of(record), block);
    sim_fault_at(
        sim_site_pc(site_of(record)),
        "%s %s %s, and nothing keeps this block from ending before. Put the barrier of the cluster between the "
        "two: cluster_arrive() after that, cluster_wait() before the end",
        who, wrote ? "writes" : "reads", what);
}

void sim_race_leaves(struct sim_region *r)
{
    for (size_t word = 0; sim_watches && word < r->size / 4; word++) {
        const struct sim_cell *cell = &r->shadow->cells[word];

        check_end(r, word, cell->write, true);
        check_end(r, word, cell->read, false);
        if (cell->read >= floor_of(r)) /* when that is history, so is the other one */
            check_end(r, word, r->shadow->others[word], false);
        for (unsigned i = 0, each = r->shadow->parts != NULL ? 4 / r->shadow->part_size : 0; i < each; i++) {
            check_end(r, word, r->shadow->parts[word * each + i].write, true);
            check_end(r, word, r->shadow->parts[word * each + i].read, false);
        }
    }
}

static void set_writes(struct sim_region *r, const void *at, size_t size, uint64_t record)
{
    const size_t first = (size_t)((const char *)at - r->start) / 4;

    const size_t end = ((size_t)((const char *)at - r->start) + size + 3) / 4;

    for (size_t word = first; sim_watches && word < end; word++)
        r->shadow->cells[word].write = record;
}

void sim_race_copy_begins(struct sim_region *r, const void *at, size_t size, unsigned site)
{
    sim_race_access(r, (const char *)at, size, SIM_WRITES, site);
    if (done.region != NULL && done.record != 0)
        report(r, done.word, true, false, site, done.record, true);
    set_writes(r, at, size, sim_epoch | (uint64_t)site << SITE_AT | IN_FLIGHT);
}

void sim_race_copy_ends(struct sim_region *r, const void *at, size_t size, unsigned site)
{
    set_writes(r, at, size, sim_epoch | (uint64_t)site << SITE_AT | COPIED);
}

void sim_race_bulk_ends(struct sim_region *r, const void *at, size_t size, unsigned site, unsigned barrier)
{
    const unsigned engine = SIM_MAX_THREADS + barrier;

    set_writes(r, at, size,
               sim_race->interval << INTERVAL_AT | (uint64_t)engine << AGENT_AT |
                   (uint64_t)sim_race->times[engine] << TIME_AT | (uint64_t)site << SITE_AT | COPIED);
}

/* ---- stores by the TMA ---- */

/* What a store is still to read is remembered as a read in an interval that never comes: nothing is ordered after it,
   so no other read takes its place, and each write finds it. */
static uint64_t late_read(unsigned site)
{
    return ~(uint64_t)0 << INTERVAL_AT | (uint64_t)sim_agent << AGENT_AT | (uint64_t)site << SITE_AT | IN_FLIGHT;
}

void sim_race_proxy_fence(void)
{
    sim_race->fenced[sim_agent] = sim_epoch >> TIME_AT;
    sim_tick(sim_agent); /* what it does from now on is later */
    sim_race->told = sim_race->interval;
    sim_since_barrier = UINT64_MAX;
    sim_set_epoch();
}

/* Faults if a thread of the block has written that by an ordinary store, and called no fence_proxy_async since. */
static void check_fenced(const struct sim_region *r, size_t word, uint64_t record, unsigned site)
{
    const unsigned thread = agent_of(record);
    const enum kind kind = kind_of(record);
    char what[600], where[512], who[100];

    if (record < floor_of(r) || (kind != PLAIN && kind != STRONG && kind != VOLATILE) || thread >= SIM_MAX_THREADS ||
        sim_block_of(interval_of(record)) != sim_race->serial || record >> TIME_AT <= sim_race->fenced[thread])
        return;
    describe_word(r, word, what, sizeof(what));
    describe_thread(who, sizeof(who), thread, sim_race->serial);
    sim_locate_call((const char *)sim_site_pc(site_of(record)) - 1, where, sizeof(where));
    sim_fault_at(sim_site_pc(site),
                 "tma_store_box reads %s, which %s has written at %s, and called no fence_proxy_async since. Let each "
                 "thread call it behind what it has written, before the barrier",
                 what, who, where);
}

void sim_race_store_begins(const struct sim_piece *pieces, size_t count, unsigned site)
{
    for (const struct sim_piece *p = pieces; sim_watches && p < pieces + count; p++) {
        const struct sim_region *const r = sim_region_near(p->shared);
        const struct sim_shadow *const s = r->shadow;
        const size_t from = (size_t)(p->shared - r->start), end = from + p->bytes;

        for (size_t word = from / 4; word * 4 < end; word++)
            check_fenced(r, word, s->cells[word].write, site);
        for (size_t i = s->parts != NULL ? from / s->part_size : 0; s->parts != NULL && i * s->part_size < end; i++)
            check_fenced(r, i * s->part_size / 4, s->parts[i].write, site);
        for (size_t word = (from + 3) / 4; word < end / 4; word++) {
            struct sim_cell *const cell = &s->cells[word];

            if (kind_of(cell->read) == IN_FLIGHT || (cell->read ^ sim_epoch) >> TIME_AT != 0)
                s->others[word] = cell->read; /* else it is this thread's own */
            cell->read = late_read(site);
        }
    }
}

void sim_race_store_reads(const struct sim_piece *pieces, size_t count, unsigned site)
{
    for (const struct sim_piece *p = pieces; sim_watches && p < pieces + count; p++) {
        struct sim_region *const r = sim_region_near(p->shared);
        const size_t from = (size_t)(p->shared - r->start);

        for (size_t word = (from + 3) / 4; word < (from + p->bytes) / 4; word++)
            for (uint64_t *read : {&r->shadow->cells[word].read, &r->shadow->others[word]})
                if (*read == late_read(site))
                    *read = 0;
        sim_race_access(r, p->shared, p->bytes, 0, site);
    }
}

extern "C" bool sim_last_write(const void *address, unsigned *block, unsigned *thread, char *place, size_t size)
{
    const struct sim_region *r = sim_region_near(address);
    const size_t word = r == NULL ? 0 : (size_t)((const char *)address - r->start) / 4;

    if (r == NULL || r->shadow == NULL || !sim_region_holds(r, address, 4))
        return false;
    uint64_t record = r->shadow->cells[word].write;
    for (unsigned i = 0, each = r->shadow->parts != NULL ? 4 / r->shadow->part_size : 0; i < each; i++)
        record = std::max(record, r->shadow->parts[word * each + i].write);
    if (sim_launch_interval == 0 || interval_of(record) < sim_launch_interval ||
        !sim_same_task(interval_of(record), sim_launch_interval))
        return false;
    *block = sim_index_of(sim_block_of(interval_of(record))).x;
    *thread = agent_of(record);
    if (place != NULL)
        sim_locate_call((const char *)sim_site_pc(site_of(record)) - 1, place, size);
    return true;
}
