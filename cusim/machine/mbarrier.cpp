/* SPDX-License-Identifier: MIT */
/* mbarrier.cpp - mbarriers and bulk copies of sm_90, and what blocks of a cluster send each other.

       mbarrier_expect ---> missing - 1, announced + bytes --+
       tma_load ---------> loaded + bytes ------------------+--> no arrival missing, loaded == announced
       (or cluster_send)                                                 |
                            destination NaN                              |
                                                                         | the first mbarrier_wait
                                                                         v
                                                              copies are done, next phase

   That the phase ends at a wait and not by itself is as late as a GPU may be: whoever does not wait finds NaN. */

#include "mbarrier.h"

#include <stdlib.h>

#include "access.h"
#include "clusters.h"
#include "fiber.h"
#include "../include/sim_barrier.h"
#include "../include/sim_tma.h"
#include "../include/sim_cluster.h"
#include "region.h"
#include "named_barriers.h"
#include "fault.h"
#include "announce.h"

static const char *const receive_name = "cluster_receive", *const send_name = "cluster_send";

/* What the program calls it: a word in shared memory with functions of tma.h, or a cuda::barrier. */
struct mbarrier_words {
    const char *init, *arrive, *wait, *copy, *missing;
};
static const struct mbarrier_words by_word = {"mbarrier_init", "mbarrier_expect", "mbarrier_wait", "tma_load",
                                              "Let mbarrier_expect be called as often in each phase as mbarrier_init "
                                              "says, and wait for each phase before the next "
                                              "one ends"};
static const struct mbarrier_words by_class = {
    "init", "barrier.arrive()", "barrier.wait()", "memcpy_async",
    "Let as many threads arrive in each phase as init says; one that stops calls arrive_and_drop()"};
static const uint64_t mbarrier_word = 0x6d62617272696500; /* plus the number of the barrier */
static const unsigned mbarrier_most = (1 << 20) - 1;      /* arrivals or bytes that one can count */

/* "lacks 1 of 2 arrivals and 16 of 272 announced bytes": why a phase does not end. */
static void describe_phase(const struct mbarrier *b, char *text, size_t size)
{
    char arrivals[64] = "", bytes[64] = "";

    if (b->missing > 0)
        snprintf(arrivals, sizeof(arrivals), "%u of %u arrivals", b->missing, b->arrivals);
    if (b->loaded < b->announced)
        snprintf(bytes, sizeof(bytes), "%zu of %u announced bytes", b->announced - b->loaded, b->announced);
    if (b->missing == 0 && b->loaded > b->announced)
        snprintf(text, size, "has %zu bytes more than the %u announced", b->loaded - b->announced, b->announced);
    else if (*arrivals == '\0' && *bytes == '\0')
        snprintf(text, size, "is complete");
    else
        snprintf(text, size, "lacks %s%s%s", arrivals, *arrivals != '\0' && *bytes != '\0' ? " and " : "", bytes);
}

[[noreturn]] void sim_explain_mbarrier(struct thread *waits)
{
    const struct mbarrier *b = waits->barrier;
    char lack[200], hangs[600] = "";

    describe_phase(b, lack, sizeof(lack));
    for (struct thread *t = sim_block->threads; t < sim_threads_end() && *hangs == '\0'; t++)
        if (t->state == AT_BARRIER || t->state == AT_WARP || t->state == AT_NAMED_BARRIER)
            snprintf(hangs, sizeof(hangs), ", while thread (%u,%u,%u) waits at %s at %s:%d", t->index.x, t->index.y,
                     t->index.z, sim_waits_at(t), t->file, t->line);
    FAULT_OF(waits, "%s for parity %u never ends: phase %u of the barrier initialised at %s:%d %s%s. %s",
             waits->receives ? receive_name : b->words->wait, waits->parity, b->phase, b->file, b->line, lack, hangs,
             b->missing > 0    ? b->words->missing
             : waits->receives ? "Announce in mbarrier_expect as many bytes as blocks of the cluster send"
                               : "Announce in mbarrier_expect as many bytes as tma_load copies");
}

/* Faults if a barrier cannot lie there. */
static void check_place(const char *name, const uint64_t *barrier, const char *file, int line)
{
    char where[600];

    sim_need_kernel(name, file, line);
    const struct sim_region *r = sim_region_near(barrier);
    if (r == NULL || !sim_is_shared(r) || !sim_region_holds(r, barrier, sizeof(*barrier))) {
        sim_region_describe(barrier, 0, where, sizeof(where));
        sim_fault(file, line, "%s accesses %s. Give it a barrier in shared memory, __shared__ uint64_t", name, where);
    }
    if (r->block != sim_block->number) {
        sim_region_describe(barrier, 0, where, sizeof(where));
        sim_fault(file, line, "%s accesses %s. The simulator has mbarriers and bulk copies within a block only", name,
                  where);
    }
    if ((uintptr_t)barrier % sizeof(*barrier) != 0)
        sim_fault(file, line, "%s of a barrier at an address that is not aligned to 8. Declare it as uint64_t", name);
}

/* The barrier that mbarrier_init made there, unless something else was written to it. */
static struct mbarrier *known_mbarrier(const struct block *of, const uint64_t *place)
{
    const uint64_t number = *place - mbarrier_word;

    return number < of->num_mbarriers && of->mbarriers[number].place == place ? &of->mbarriers[number] : NULL;
}

static bool is_class(const char *name)
{
    return name == by_class.init || name == by_class.arrive || name == by_class.wait || name == by_class.copy;
}

[[noreturn]] static void no_mbarrier(const char *name, const uint64_t *barrier, const char *file, int line)
{
    sim_fault(
        file, line,
        "%s with a barrier that %s. Call %s in one thread, then __syncthreads in all, and write nothing else there",
        name, *barrier == ~(uint64_t)0 ? "is not initialised" : "something else was written to",
        is_class(name) ? "init(&barrier, threads)" : "mbarrier_init and mbarrier_init_done");
}

static struct mbarrier *find_mbarrier(const char *name, const uint64_t *barrier, const char *file, int line)
{
    check_place(name, barrier, file, line);
    struct mbarrier *b = known_mbarrier(sim_block, barrier);
    if (b == NULL)
        no_mbarrier(name, barrier, file, line);
    return b;
}

/* Does the copies of a phase that can end, and begins the next one. */
static void end_phase(struct mbarrier *b)
{
    const unsigned number = (unsigned)(b - sim_block->mbarriers);
    size_t kept = 0;

    sim_tell.gate_ends(b->known, (int)number);
    b->sent = false;
    for (size_t i = 0; i < sim_block->num_bulk_copies; i++) {
        const struct bulk_copy c = sim_block->bulk_copies[i];

        if (c.barrier != b) {
            sim_block->bulk_copies[kept++] = c;
            continue;
        }
        if (c.global != NULL || c.by == send_name)
            memcpy(c.shared, c.global != NULL ? c.global : &c.value, c.bytes);
        else
            memset(c.shared, 0, c.bytes);
        sim_tell.copy_arrived(c.shared, c.bytes, c.pc, (int)number);
    }
    sim_block->num_bulk_copies = kept;
    b->phase++;
    b->missing = b->arrivals;
    b->announced = 0;
    b->loaded = 0;
    sim_progress++;
    sim_tell.phase_begins(b->place, b->phase, b->missing);
}

/* Whether those who wait for the phase have something to do: end it or, when it has too many bytes, fault. */
static bool can_end(const struct mbarrier *b)
{
    return b->missing == 0 && b->loaded >= b->announced;
}

/* After something was counted at a barrier of that block. A phase without copies ends by itself. */
static void wake_waiters(struct mbarrier *b, struct block *of)
{
    if (!can_end(b))
        return;
    if (b->loaded == 0)
        end_phase(b);
    for (struct thread *t = of->threads; t < of->threads + sim_num_threads; t++)
        if (t->state == AT_MBARRIER && t->barrier == b) {
            t->state = READY;
            of->stuck = false;
            of->quiet = 0;
        }
}

static void init(uint64_t *barrier, unsigned arrivals, const struct mbarrier_words *words, const void *pc,
                 const char *file, int line)
{
    size_t pending = 0;

    check_place(words->init, barrier, file, line);
    if (arrivals == 0 || arrivals > mbarrier_most)
        sim_fault(file, line, "%s with %u arrivals. Take 1 to %u", words->init, arrivals, mbarrier_most);
    const struct mbarrier *old = known_mbarrier(sim_block, barrier);
    for (size_t i = 0; i < sim_block->num_bulk_copies; i++)
        pending += sim_block->bulk_copies[i].barrier == old;
    if (old != NULL)
        sim_fault(file, line,
                  "%s of a barrier that was initialised at %s:%d and has %zu copies pending. Initialise it "
                  "in one thread, once in a block",
                  words->init, old->file, old->line, pending);
    if (sim_block->num_mbarriers == SIM_MAX_BARRIERS)
        sim_fault(file, line, "more than %u barriers. Use fewer", SIM_MAX_BARRIERS);
    if (sim_block->mbarriers == NULL)
        sim_block->mbarriers = (struct mbarrier *)calloc(SIM_MAX_BARRIERS, sizeof(struct mbarrier));
    if (sim_block->mbarriers == NULL)
        sim_fault(file, line, "no memory for barriers. Free some memory");
    sim_tell.accessed(barrier, sizeof(*barrier), SIM_WRITES, pc);
    struct mbarrier *b = &sim_block->mbarriers[sim_block->num_mbarriers];
    b->place = barrier;
    b->arrivals = b->missing = arrivals;
    b->phase = b->announced = 0;
    b->loaded = 0;
    b->maker = sim_current;
    b->file = file;
    b->line = line;
    b->shown = words == &by_class;
    b->words = words;
    b->sent = false;
    sim_tell.gate_begins(&b->known);
    *barrier = mbarrier_word + sim_block->num_mbarriers++;
}

void mbarrier_init(uint64_t *barrier, unsigned arrivals, const char *file, int line)
{
    init(barrier, arrivals, &by_word, __builtin_return_address(0), file, line);
}

void sim_barrier_init(uint64_t *barrier, unsigned arrivals, const char *file, int line)
{
    init(barrier, arrivals, &by_class, __builtin_return_address(0), file, line);
}

void mbarrier_init_done(const char *file, int line)
{
    sim_need_kernel("mbarrier_init_done", file, line);
    for (unsigned i = 0; i < sim_block->num_mbarriers; i++)
        if (sim_block->mbarriers[i].maker == sim_current)
            sim_block->mbarriers[i].shown = true;
}

void mbarrier_expect(uint64_t *barrier, unsigned bytes, const char *file, int line)
{
    struct mbarrier *b = find_mbarrier("mbarrier_expect", barrier, file, line);

    if (b->missing == 0)
        sim_fault(file, line,
                  "mbarrier_expect, but the %u arrivals that mbarrier_init at %s:%d allows in a phase have come, and "
                  "nobody has waited for this phase. Wait before the next phase, or initialise for more arrivals",
                  b->arrivals, b->file, b->line);
    if (bytes > mbarrier_most - b->announced)
        sim_fault(file, line,
                  "mbarrier_expect of %u bytes, which makes more than %u in one phase. See where the number comes from",
                  bytes, mbarrier_most);
    sim_tell.accessed(barrier, sizeof(*barrier), SIM_STRONG, __builtin_return_address(0));
    sim_tell.gate_arrived(b->known);
    b->missing--;
    b->announced += bytes;
    wake_waiters(b, sim_block);
}

unsigned sim_barrier_arrive(uint64_t *barrier, unsigned count, bool drop, const char *file, int line)
{
    struct mbarrier *b = find_mbarrier(by_class.arrive, barrier, file, line);

    if (b->missing == 0 && b->arrivals > 0) /* with copies, for which nobody has waited */
        end_phase(b);
    if (count > b->missing)
        sim_fault(
            file, line,
            "barrier.arrive() of %u arrivals, while the phase lacks %u of the %u that init at %s:%d allows. Wait for "
            "each phase before the next one, or initialise for more threads",
            count, b->missing, b->arrivals, b->file, b->line);
    sim_tell.accessed(barrier, sizeof(*barrier), SIM_STRONG, __builtin_return_address(0));
    sim_tell.gate_arrived(b->known);
    const unsigned parity = b->phase % 2;
    b->missing -= count;
    b->arrivals -= drop;
    wake_waiters(b, sim_block);
    return parity;
}

/* Faults if somebody waits by mbarrier_wait for what another block has sent. */
static void check_receives(const struct mbarrier *b, bool receives, const char *file, int line)
{
    if (b->sent && !receives)
        sim_fault(file, line,
                  "mbarrier_wait for a phase of the barrier initialised at %s:%d to which another block has sent. Wait "
                  "by cluster_receive, which sees what other blocks do",
                  b->file, b->line);
}

static void wait_for(uint64_t *barrier, unsigned parity, bool receives, const char *name, const void *pc,
                     const char *file, int line)
{
    struct mbarrier *b = find_mbarrier(name, barrier, file, line);
    const struct bulk_copy *last = NULL;

    if (parity > 1)
        sim_fault(file, line, "%s for parity %u. Use the number of the phase modulo 2", name, parity);
    sim_tell.accessed(barrier, sizeof(*barrier), SIM_STRONG, pc);
    sim_step(sim_current);
    if (sim_thread_number(sim_current) % SIM_WARP == 0)
        sim_tell.waited(receives);
    sim_current->barrier = b;
    sim_current->parity = parity;
    sim_current->receives = receives;
    sim_current->file = file;
    sim_current->line = line;
    sim_tell.waits_on("mbarrier", b->place, parity, b->missing);
    while (b->phase % 2 == parity && !can_end(b))
        SIM_LEAVE(AT_MBARRIER);
    if (b->phase % 2 != parity) {
        sim_tell.gate_passed(b->known, sim_thread_number(sim_current));
        return;
    }
    if (b->loaded > b->announced) {
        for (size_t i = 0; i < sim_block->num_bulk_copies; i++)
            last = sim_block->bulk_copies[i].barrier == b ? &sim_block->bulk_copies[i] : last;
        sim_fault(file, line,
                  "%s for a phase that has %zu bytes more than the %u announced, the last by %s at %s:%d. Announce in "
                  "mbarrier_expect as many bytes as %s, and wait before the next phase",
                  name, b->loaded - b->announced, b->announced, last->by, last->file, last->line,
                  last->by != send_name ? "tma_load copies" : "are sent");
    }
    check_receives(b, receives, file, line);
    end_phase(b);
    sim_tell.gate_passed(b->known, sim_thread_number(sim_current));
}

void mbarrier_wait(uint64_t *barrier, unsigned parity, const char *file, int line)
{
    wait_for(barrier, parity, false, by_word.wait, __builtin_return_address(0), file, line);
}

void cluster_receive(uint64_t *barrier, unsigned parity, const char *file, int line)
{
    wait_for(barrier, parity, true, receive_name, __builtin_return_address(0), file, line);
}

void sim_barrier_wait(uint64_t *barrier, unsigned parity, const char *file, int line)
{
    wait_for(barrier, parity % 2, false, by_class.wait, __builtin_return_address(0), file, line);
}

void sim_check_piece(const char *name, const char *verb, const void *at, size_t bytes, bool shared, const char *advice,
                     const char *file, int line)
{
    const struct sim_region *r = sim_region_near(at);
    const bool kind = r != NULL && sim_is_shared(r) == shared && (!shared || r->block == sim_block->number);
    char where[600];

    if (kind && sim_region_holds(r, at, bytes))
        return;
    const bool begins = kind && sim_region_holds(r, at, 1); /* well: name the end */
    sim_region_describe(at, begins ? bytes : 0, where, sizeof(where));
    sim_fault(file, line, "%s %s %s. %s", name, verb, where, advice);
}

static void check_ends(const char *name, const void *shared, const void *global, size_t bytes, const char *file,
                       int line)
{
    sim_check_piece(name, "writes", shared, bytes, true, "Copy into shared memory, inside its size", file, line);
    sim_check_piece(name, "reads", global, bytes, false, "Copy from device memory, inside its size", file, line);
}

/* One more copy on its way in that block. */
static void add_copy(struct block *of, const struct bulk_copy *copy)
{
    if (of->num_bulk_copies == of->max_bulk_copies) {
        of->max_bulk_copies = of->max_bulk_copies * 2 + 16;
        of->bulk_copies = (struct bulk_copy *)realloc(of->bulk_copies, of->max_bulk_copies * sizeof(struct bulk_copy));
        if (of->bulk_copies == NULL)
            sim_fault(copy->file, copy->line, "no memory for another bulk copy. Wait for some first");
    }
    of->bulk_copies[of->num_bulk_copies++] = *copy;
    copy->barrier->loaded += copy->bytes;
    sim_progress++;
}

struct mbarrier *sim_find_shown_mbarrier(const char *name, const uint64_t *barrier, const char *file, int line)
{
    struct mbarrier *b = find_mbarrier(name, barrier, file, line);

    if (!b->shown)
        sim_fault(file, line,
                  "%s with the barrier initialised at %s:%d, which the TMA does not see yet. Call "
                  "mbarrier_init_done after mbarrier_init, in the same thread",
                  name, b->file, b->line);
    return b;
}

void sim_load_pieces(const char *name, void *shared, unsigned bytes, const struct sim_piece *pieces, size_t count,
                     struct mbarrier *b, const char *file, int line, const void *pc)
{
    sim_tell.accessed(b->place, sizeof(*b->place), SIM_STRONG, pc);
    sim_tell.copy_begins(shared, bytes, pc);
    sim_tell.tma_loads(pc, pieces, count);
    sim_tell.gate_arrived(b->known); /* its reads are done when the phase ends */
    memset(shared, 0xff, bytes);
    for (size_t i = 0; i < count; i++) {
        const struct sim_piece *const p = &pieces[i];
        const struct bulk_copy copy = {name,      p->shared, p->global, 0, (unsigned)p->bytes, bytes, b,
                                       threadIdx, file,      line,      pc};
        add_copy(sim_block, &copy);
    }
    sim_counts.bulk_copies++;
    wake_waiters(b, sim_block);
}

void tma_load(void *shared, const void *global, unsigned bytes, uint64_t *barrier, const char *file, int line)
{
    find_mbarrier(by_word.copy, barrier, file, line);
    if (bytes == 0 || bytes % 16 != 0)
        sim_fault(file, line, "tma_load of %u bytes. Copy a multiple of 16, and not 0", bytes);
    if ((uintptr_t)shared % 16 != 0 || (uintptr_t)global % 16 != 0)
        sim_fault(file, line,
                  "tma_load %s an address that is not aligned to 16. Declare shared arrays __align__(16), and copy "
                  "from a multiple of 16 bytes",
                  (uintptr_t)shared % 16 != 0 ? "to" : "from");
    check_ends(by_word.copy, shared, global, bytes, file, line);
    const struct sim_piece all = {(char *)shared, (char *)global, bytes};
    sim_load_pieces(by_word.copy, shared, bytes, &all, 1, sim_find_shown_mbarrier(by_word.copy, barrier, file, line),
                    file, line, __builtin_return_address(0));
}

void sim_barrier_copy(void *shared, const void *global, size_t bytes, uint64_t *barrier, const char *file, int line)
{
    struct mbarrier *b = find_mbarrier(by_class.copy, barrier, file, line);

    check_ends(by_class.copy, shared, global, bytes, file, line);
    const void *const pc = __builtin_return_address(0);
    sim_tell.accessed(barrier, sizeof(*barrier), SIM_STRONG, pc);
    sim_tell.copy_begins(shared, bytes, pc);
    sim_tell.copy_reads(pc, shared, bytes, global, bytes);
    sim_tell.gate_arrived(b->known); /* its reads are done when the phase ends */
    memset(shared, 0xff, bytes);
    b->announced += (unsigned)bytes;
    const struct bulk_copy copy = {by_class.copy, shared, global, 0, (unsigned)bytes, (unsigned)bytes, b,
                                   threadIdx,     file,   line,   pc};
    add_copy(sim_block, &copy);
    sim_counts.async_copies++;
}

/* Where the block of that rank has a word, which must be aligned to 8. */
static uint64_t *word_there(void *shared, unsigned rank, const char *file, int line)
{
    char what[600];

    if ((uintptr_t)shared % 8 != 0)
        sim_fault(file, line,
                  "cluster_send to an address that is not aligned to 8. Declare what it sends to as uint64_t "
                  "or __align__(8)");
    uint64_t *const there = (uint64_t *)cluster_shared(shared, rank, file, line);
    if (sim_has_ended(sim_block->cluster->blocks[rank])) {
        sim_region_describe(there, 0, what, sizeof(what));
        sim_fault(file, line, "cluster_send to %s. Let that block wait for all that is sent to it, by cluster_receive",
                  what);
    }
    if (!sim_region_holds(sim_region_near(there), there, sizeof(*there))) {
        sim_region_describe(there, sizeof(*there), what, sizeof(what));
        sim_fault(file, line, "cluster_send to %s. Send inside its size", what);
    }
    return there;
}

void cluster_send(void *shared, unsigned long long value, uint64_t *barrier, unsigned rank, const char *file, int line)
{
    sim_need_kernel("cluster_send", file, line);
    const void *const pc = __builtin_return_address(0);
    uint64_t *const word = word_there(shared, rank, file, line), *const there = word_there(barrier, rank, file, line);
    struct block *const to = sim_block->cluster->blocks[rank];

    if (to != sim_block)
        sim_cluster_access((const char *)word, SIM_WRITES, __builtin_return_address(0));
    struct mbarrier *b = known_mbarrier(to, there);
    if (b == NULL)
        no_mbarrier("cluster_send", there, file, line);
    if (!b->shown)
        sim_fault(file, line,
                  "cluster_send with the barrier initialised at %s:%d, which other blocks do not see yet. Call "
                  "mbarrier_init_done after mbarrier_init, in the same thread",
                  b->file, b->line);
    sim_tell.accessed(there, sizeof(*there), SIM_STRONG, pc);
    sim_tell.copy_begins(word, sizeof(*word), pc);
    if (to == sim_block)
        sim_tell.gate_arrived(b->known);
    else
        sim_tell.gate_sent(b->known);
    b->sent = b->sent || to != sim_block;
    sim_tell.word_sent(word, sizeof(*word));
    *word = ~(uint64_t)0;
    const struct bulk_copy copy = {send_name, word, NULL, value, sizeof(*word), sizeof(*word), b,
                                   threadIdx, file, line, pc};
    add_copy(to, &copy);
    wake_waiters(b, to);
}

void sim_check_bulk_copies(void)
{
    char phase[200];

    if (sim_block->num_bulk_copies == 0)
        return;
    const struct bulk_copy *c = &sim_block->bulk_copies[0];
    describe_phase(c->barrier, phase, sizeof(phase));
    threadIdx = c->issuer;
    sim_fault(c->file, c->line,
              "%s of %u bytes, and the block ended before anybody waited for phase %u of the barrier, which %s. "
              "Call %s for every phase, with its parity",
              c->by, c->all, c->barrier->phase, phase, c->by != send_name ? c->barrier->words->wait : receive_name);
}
