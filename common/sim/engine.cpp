/* engine.cpp - runs a grid: block after block, the threads of a block in turns on one CPU thread.

   Each GPU thread of a block is a fiber: a stack of its own and a saved place in its code (_setjmp). A fiber runs until
   it must wait, then jumps back to the scheduler, which jumps into another one:

       scheduler   ----+           +-----+           +------- ...     a warp runs as far as it can,
       lane 0          +-- shfl ---+     |           |                then the next warp starts
       lane 1                            +-- shfl ---+

   Jumping costs some 50 ns. Fibers and stacks are made once and serve all later blocks and launches.

   States of a thread:

                  its turn               all lanes of the mask are here
       READY  --------------->  running  ----------+-------> AT_WARP ------> READY
         ^                         |  |            |         all threads of the block are here
         |      next round         |  | returns    +-------> AT_BARRIER ---> READY
         +------ YIELDED <---------+  +-> DONE     |         the phase can end
                                                   +-------> AT_MBARRIER --> READY

   When a round over all warps runs no thread and some are not DONE, they wait for what never comes: a fault. */
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "include/cuda_pipeline.h"
#include "include/bulk_copy.h"
#include "internal.h"
#include "sim.h"

enum state { READY, YIELDED, AT_WARP, AT_BARRIER, AT_MBARRIER, DONE };

/* An asynchronous copy that has been issued and not yet waited for. */
struct copy {
    void *shared;
    const void *global;
    size_t size, zero;
    uint64_t group;
    unsigned site; /* where it was issued */
};

/* A barrier that lies in shared memory. The word there says which one it is. */
struct mbarrier {
    const uint64_t *place; /* of the word */
    unsigned arrivals;     /* of each phase */
    unsigned missing;      /* of them, in the phase that has not ended yet */
    unsigned phase;        /* that phase; the first is 0 */
    unsigned announced;    /* bytes of that phase */
    size_t loaded;         /* bytes asked for in it */
    struct thread *maker;  /* who initialised it, and where: */
    const char *file;
    int line;
    bool shown; /* to the copy engine: mbarrier_init_done */
};

/* What an mbarrier has been told in the phase that has not ended yet, and what it tells those who wait. */
static struct sim_clock mbarrier_told[SIM_MAX_BARRIERS], mbarrier_tells[SIM_MAX_BARRIERS];

/* A bulk copy of the phase that its barrier is in. */
struct bulk_copy {
    void *shared;
    const void *global;
    unsigned bytes;
    struct mbarrier *barrier;
    struct thread *issuer;
    const char *file;
    int line;
    unsigned site;
};

struct thread {
    jmp_buf context;
    char *stack;
    uint3 index;
    enum state state;

    /* the call at which it waits: */
    const char *file;
    int line;
    int kind;       /* sim_warp_kind or sim_barrier_kind */
    unsigned mask;  /* lanes that take part */
    uint64_t value; /* what it contributes; afterwards what it gets */
    unsigned lane;  /* a shuffle's lane operand */
    unsigned width;
    struct mbarrier *barrier; /* and the parity of its phase: */
    unsigned parity;

    struct copy *copies;
    size_t num_copies, max_copies;
    uint64_t group;  /* number of the group that is open */
    uint64_t polled; /* sim_progress at its last __nanosleep */
};

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
uint64_t sim_atomics;
const void *sim_last_pc;
struct sim_place sim_place;
volatile uint64_t sim_progress;

static struct sim_counts counts, total;        /* of the launch that runs, and since the last reset */
static struct thread threads[SIM_MAX_THREADS]; /* of the block that runs, by linear index */
static struct thread *current;                 /* the one that runs */
static jmp_buf scheduler;
static unsigned num_threads, num_done, num_at_barrier;
static uint32_t warp_waiting[SIM_MAX_THREADS / SIM_WARP]; /* lanes AT_WARP */
static void (*kernel_body)(void *);
static void *kernel_arguments;

static const sim_config *config;
static struct sim_kernel_info *info;
static uint64_t block_number; /* counts all blocks of all launches */
static struct sim_region *block_shared[256];
static size_t num_block_shared, static_bytes;
static struct sim_region *dynamic_region;

static const uint64_t mbarrier_word = 0x6d62617272696500; /* plus the number of the barrier */
static const unsigned mbarrier_most = (1 << 20) - 1;      /* arrivals or bytes that one can count */
static struct mbarrier mbarriers[SIM_MAX_BARRIERS];       /* of the block that runs */
static unsigned num_mbarriers;
static struct bulk_copy *bulk_copies;
static size_t num_bulk_copies, max_bulk_copies;

/* ---- order: who comes first ---- */

enum schedule { FORWARD, REVERSE, RANDOM };
static enum schedule schedule;
static uint64_t random_state = 1;

__attribute__((constructor)) static void read_schedule(void)
{
    const char *text = getenv("SIM_SCHEDULE");
    char *end = NULL;

    if (text == NULL || strcmp(text, "warp") == 0)
        return;
    if (strcmp(text, "reverse") == 0) {
        schedule = REVERSE;
        return;
    }
    if (strncmp(text, "random", 6) == 0) {
        schedule = RANDOM;
        if (text[6] == '\0')
            return;
        random_state = strtoull(text + 7, &end, 10);
        if (text[6] == ':' && text[7] >= '0' && text[7] <= '9' && *end == '\0' && errno == 0)
            return;
    }
    sim_bad_setting("SIM_SCHEDULE", text, "warp, reverse, random or random:SEED");
}

static uint64_t random_number(void) /* splitmix64 */
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* A way through 0 ... count-1: at, at + step, at + 2 step, ... modulo count. A step without a common divisor with count
   meets every number once, so no list is needed. */
struct order {
    uint64_t at, step, count;
};

static struct order make_order(uint64_t count)
{
    struct order order = {0, 1, count};

    if (schedule == REVERSE)
        order.at = order.step = count - 1;
    if (schedule == RANDOM) {
        uint64_t a, b;
        order.at = random_number() % count;
        do {
            order.step = a = 1 + random_number() % count;
            for (b = count; b != 0;) { /* a becomes the greatest common divisor */
                const uint64_t rest = a % b;
                a = b;
                b = rest;
            }
        } while (a != 1);
    }
    return order;
}

static uint64_t next(struct order *order)
{
    const uint64_t at = order->at;

    order->at += order->step;
    if (order->at >= order->count)
        order->at -= order->count;
    return at;
}

/* ---- fibers ---- */

/* Leaves the running thread until the scheduler takes it up again. */
static void leave(enum state state)
{
    current->state = state;
    if (_setjmp(current->context) == 0)
        _longjmp(scheduler, 1);
}

bool sim_is_local(const void *address)
{
    for (const struct thread *t = threads; t < threads + num_threads; t++)
        if (t->stack != NULL && (size_t)((const char *)address - t->stack) < SIM_STACK)
            return true;
    return false;
}

void sim_pause(void)
{
    leave(READY);
}

/* A fiber's life: each round of the loop is one GPU thread. */
static void fiber_main(void)
{
    for (;;) {
        leave(DONE);
        kernel_body(kernel_arguments);
        num_done++;
        sim_progress++;
    }
}

/* Lets a thread run until it leaves. */
static void resume(struct thread *t)
{
    current = t;
    threadIdx = t->index;
    sim_place.stack = t->stack;
    sim_observe_turn((unsigned)(t - threads));
    if (_setjmp(scheduler) == 0)
        _longjmp(t->context, 1);
}

/* Makes a fiber, which waits for its first thread in fiber_main. */
static void make_fiber(struct thread *t)
{
    char *map = (char *)mmap(NULL, SIM_STACK_GUARD + SIM_STACK, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ucontext_t start;

    if (map == MAP_FAILED || mprotect(map, SIM_STACK_GUARD, PROT_NONE) != 0)
        sim_fault(config->file, config->line, "no memory for the stacks of %u threads. Free some memory", num_threads);
    t->stack = map + SIM_STACK_GUARD;
    getcontext(&start);
    start.uc_stack.ss_sp = t->stack;
    /* Stack tops at the same place of each page would compete for the same lines of the CPU's cache. */
    start.uc_stack.ss_size = SIM_STACK - (size_t)(t - threads) % 32 * 128;
    makecontext(&start, fiber_main, 0);
    current = t;
    if (_setjmp(scheduler) == 0)
        setcontext(&start);
}

/* ---- misuse ---- */

#define SIM_NAME(kind, name) name,
static const char *const warp_names[] = {SIM_WARP_CALLS(SIM_NAME)};
static const char *const barrier_names[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and",
                                            "__syncthreads_or"};

/* Faults in the name of a thread that may not be the running one. */
#define FAULT_OF(t, ...)                                                                                               \
    do {                                                                                                               \
        threadIdx = (t)->index;                                                                                        \
        sim_fault((t)->file, (t)->line, __VA_ARGS__);                                                                  \
    } while (0)

static void need_kernel(const char *what, const char *file, int line)
{
    if (!sim_place.in_thread)
        sim_fault(file, line, "%s outside a kernel. Call it from device code only", what);
}

/* Two threads wait at barriers that are not the same. */
static void divergent_barrier(struct thread *a, struct thread *b)
{
    FAULT_OF(
        a,
        "%s, while thread (%u,%u,%u) waits at %s at %s:%d. Let all threads of the block reach the same barrier: move "
        "it out of the branch",
        barrier_names[a->kind], b->index.x, b->index.y, b->index.z, barrier_names[b->kind], b->file, b->line);
}

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

/* A thread waits for a phase that never ends: says what the phase lacks, and where another thread hangs. */
[[noreturn]] static void explain_mbarrier(struct thread *waits)
{
    const struct mbarrier *b = waits->barrier;
    char lack[200], hangs[600] = "";

    describe_phase(b, lack, sizeof(lack));
    for (struct thread *t = threads; t < threads + num_threads && *hangs == '\0'; t++)
        if (t->state == AT_BARRIER || t->state == AT_WARP)
            snprintf(hangs, sizeof(hangs), ", while thread (%u,%u,%u) waits at %s at %s:%d", t->index.x, t->index.y,
                     t->index.z, t->state == AT_WARP ? warp_names[t->kind] : barrier_names[t->kind], t->file, t->line);
    FAULT_OF(waits, "mbarrier_wait for parity %u never ends: phase %u of the barrier initialised at %s:%d %s%s. %s",
             waits->parity, b->phase, b->file, b->line, lack, hangs,
             b->missing > 0 ? "Let mbarrier_expect be called as often in each phase as mbarrier_init says, and wait "
                              "for each phase before the next one ends"
                            : "Announce in mbarrier_expect as many bytes as bulk_load copies");
}

/* Nothing can run any more: says who waits for whom. */
[[noreturn]] static void explain_stall(void)
{
    struct thread *held = NULL;

    for (struct thread *t = threads; t < threads + num_threads && held == NULL; t++)
        if (t->state == AT_MBARRIER)
            held = t;
    for (struct thread *t = threads; t < threads + num_threads; t++) {
        const unsigned first = (unsigned)(t - threads) / SIM_WARP * SIM_WARP;

        for (unsigned lane = 0; t->state == AT_WARP && lane < SIM_WARP; lane++) {
            struct thread *other = &threads[first + lane];
            const char *call = warp_names[t->kind];

            if (!(t->mask >> lane & 1))
                continue;
            if (first + lane >= num_threads)
                FAULT_OF(t,
                         "%s with mask 0x%08x names lane %u, which does not exist in a block of %u threads. Launch "
                         "a multiple of 32 threads or leave the lane out of the mask",
                         call, t->mask, lane, num_threads);
            if (other->state == DONE)
                FAULT_OF(t,
                         "%s with mask 0x%08x waits for lane %u, whose thread has returned. Let every lane of the "
                         "mask make the call, or leave it out of the mask",
                         call, t->mask, lane);
            if (other->state == AT_BARRIER)
                FAULT_OF(t,
                         "%s with mask 0x%08x waits for lane %u, which waits at %s at %s:%d. Let every lane of the "
                         "mask make the call, or leave it out of the mask",
                         call, t->mask, lane, barrier_names[other->kind], other->file, other->line);
            if (held == NULL && (other->kind != t->kind || other->mask != t->mask))
                FAULT_OF(t,
                         "%s with mask 0x%08x waits for lane %u, which waits at %s with mask 0x%08x at %s:%d. Let all "
                         "lanes of a mask make the same call with the same mask",
                         call, t->mask, lane, warp_names[other->kind], other->mask, other->file, other->line);
        }
    }
    if (held != NULL)
        explain_mbarrier(held);
    struct thread *waits = NULL, *done = NULL;
    for (struct thread *t = threads; t < threads + num_threads; t++) {
        if (t->state == DONE && done == NULL)
            done = t;
        if (t->state == AT_BARRIER && waits != NULL && t->line != waits->line)
            divergent_barrier(waits, t);
        if (t->state == AT_BARRIER && waits == NULL)
            waits = t;
    }
    FAULT_OF(waits,
             "%s waits for thread (%u,%u,%u), which has returned before the barrier. Let all threads of the block "
             "reach it: put the work inside the condition, not the barrier or the return",
             barrier_names[waits->kind], done->index.x, done->index.y, done->index.z);
}

/* ---- barriers ---- */

int sim_barrier(sim_barrier_kind kind, int predicate, const char *file, int line)
{
    need_kernel(barrier_names[kind], file, line);
    current->kind = kind;
    current->value = predicate != 0;
    current->file = file;
    current->line = line;
    num_at_barrier++;
    leave(AT_BARRIER);
    return (int)current->value;
}

/* All threads of the block have arrived. */
static void release_barrier(void)
{
    uint64_t sum = 0;

    for (struct thread *t = threads; t < threads + num_threads; t++) {
        if (t->line != threads->line || t->kind != threads->kind || strcmp(t->file, threads->file) != 0)
            divergent_barrier(threads, t);
        sum += t->value;
    }
    for (struct thread *t = threads; t < threads + num_threads; t++) {
        t->value = t->kind == SIM_BARRIER_COUNT ? sum : t->kind == SIM_BARRIER_AND ? sum == num_threads : sum > 0;
        t->state = READY;
        sim_observe_step((unsigned)(t - threads));
    }
    sim_race_barrier();
    num_at_barrier = 0;
    counts.barriers++;
    sim_progress++;
}

void sim_fence(const char *what, const char *file, int line)
{
    need_kernel(what, file, line);
    sim_race_fence();
}

void __nanosleep(unsigned, const char *file, int line)
{
    need_kernel("__nanosleep", file, line);
    current->file = file;
    current->line = line;
    current->polled = sim_progress;
    leave(YIELDED);
}

bool sim_polls(const char **file, int *line)
{
    *file = current->file;
    *line = current->line;
    return current->polled == sim_progress;
}

/* ---- warp collectives ---- */

/* The lane that `lane` reads from, by the rules of CUDA: its own where the source lies outside its group of `width`. */
static unsigned source_lane(const struct thread *t, unsigned lane)
{
    const unsigned first = lane & ~(t->width - 1), last = lane | (t->width - 1), operand = t->lane & 31;

    switch (t->kind) {
    case SIM_SHFL:
        return first | (operand & (t->width - 1));
    case SIM_SHFL_UP:
        return lane < first + operand ? lane : lane - operand;
    case SIM_SHFL_DOWN:
        return lane + operand > last ? lane : lane + operand;
    default: /* SIM_SHFL_XOR */
        return (lane ^ operand) > last ? lane : lane ^ operand;
    }
}

/* a and b combined as votes and reductions do. */
static uint64_t combine(int kind, uint64_t a, uint64_t b)
{
    switch (kind) {
    case SIM_REDUCE_ADD:
        return (uint32_t)(a + b);
    case SIM_REDUCE_MIN:
        return (int32_t)a < (int32_t)b ? a : b;
    case SIM_REDUCE_MAX:
        return (int32_t)a > (int32_t)b ? a : b;
    case SIM_REDUCE_UMIN:
        return a < b ? a : b;
    case SIM_REDUCE_UMAX:
        return a > b ? a : b;
    case SIM_ALL:
    case SIM_REDUCE_AND:
        return a & b;
    case SIM_REDUCE_XOR:
        return a ^ b;
    default: /* SIM_ANY, SIM_REDUCE_OR, SIM_BALLOT */
        return a | b;
    }
}

/* All lanes of the mask have arrived: gives each its result. warp[0] is lane 0. */
static void complete(struct thread *warp, int kind, unsigned mask)
{
    uint64_t in[SIM_WARP], all = 0;
    bool first = true;

    for (unsigned lane = 0; lane < SIM_WARP; lane++) {
        if (!(mask >> lane & 1))
            continue;
        in[lane] = kind == SIM_BALLOT ? warp[lane].value << lane : warp[lane].value;
        all = first ? in[lane] : combine(kind, all, in[lane]);
        first = false;
    }
    for (unsigned lane = 0; lane < SIM_WARP; lane++) {
        struct thread *t = &warp[lane];

        if (!(mask >> lane & 1))
            continue;
        t->state = READY;
        t->value = all;
        sim_observe_step((unsigned)(t - threads));
        if (kind >= SIM_SHFL && kind <= SIM_SHFL_XOR) {
            const unsigned source = source_lane(t, lane);
            t->value = mask >> source & 1 ? in[source] : ~(uint64_t)0; /* CUDA leaves this one undefined: NaN */
        } else if (kind == SIM_MATCH_ANY) {
            t->value = 0;
            for (unsigned other = 0; other < SIM_WARP; other++)
                if (mask >> other & 1 && in[other] == in[lane])
                    t->value |= (uint64_t)1 << other;
        }
    }
    if (kind == SIM_SYNCWARP)
        sim_race_syncwarp((unsigned)(warp - threads), mask);
    *(kind == SIM_SYNCWARP ? &counts.warp_barriers : kind <= SIM_SHFL_XOR ? &counts.shuffles : &counts.votes) += 1;
    sim_progress++;
}

uint64_t sim_warp_call(sim_warp_kind kind, unsigned mask, uint64_t value, unsigned lane, int width, const char *file,
                       int line)
{
    need_kernel(warp_names[kind], file, line);
    const unsigned index = (unsigned)(current - threads), warp = index / SIM_WARP, own = index % SIM_WARP;
    struct thread *lanes = &threads[warp * SIM_WARP];
    bool all_here;

    if (!(mask >> own & 1))
        sim_fault(file, line,
                  "%s with mask 0x%08x by lane %u, which the mask does not name. Put the lane into the mask",
                  warp_names[kind], mask, own);
    if (width < 1 || width > (int)SIM_WARP || (width & (width - 1)) != 0)
        sim_fault(file, line, "%s with width %d. Use 1, 2, 4, 8, 16 or 32", warp_names[kind], width);

    current->kind = kind;
    current->mask = mask;
    current->value = value;
    current->lane = lane;
    current->width = (unsigned)width;
    current->file = file;
    current->line = line;
    warp_waiting[warp] |= 1u << own;
    all_here = (warp_waiting[warp] & mask) == mask;
    for (unsigned i = 0; all_here && i < SIM_WARP; i++)
        if (mask >> i & 1 && (lanes[i].kind != kind || lanes[i].mask != mask))
            all_here = false;
    if (all_here) {
        complete(lanes, kind, mask);
        warp_waiting[warp] &= ~mask;
        leave(READY); /* back in line: the lanes go on in their order */
    } else {
        leave(AT_WARP);
    }
    return current->value;
}

unsigned __activemask(void)
{
    const unsigned first = (unsigned)(current - threads) / SIM_WARP * SIM_WARP;
    unsigned mask = 0;

    for (unsigned lane = 0; lane < SIM_WARP && first + lane < num_threads; lane++)
        mask |= (unsigned)(threads[first + lane].state != DONE) << lane;
    return mask;
}

/* ---- asynchronous copies ---- */

void __pipeline_memcpy_async(void *shared, const void *global, size_t size, size_t zero, const char *file, int line)
{
    const char *name = "__pipeline_memcpy_async";
    char where[256];

    need_kernel(name, file, line);
    if ((size != 4 && size != 8 && size != 16) || zero > size)
        sim_fault(file, line, "%s of %zu bytes, %zu of them zero. Copy 4, 8 or 16 bytes, at most all of them zero",
                  name, size, zero);
    if ((uintptr_t)shared % size != 0 || (uintptr_t)global % size != 0)
        sim_fault(file, line, "%s of %zu bytes between addresses that are not aligned to %zu. Copy in smaller pieces",
                  name, size, size);
    const struct sim_region *to = sim_region_near(shared), *from = sim_region_near(global);
    if (to == NULL || to->name == NULL || !sim_region_holds(to, shared, size)) {
        sim_region_describe(shared, where, sizeof(where));
        sim_fault(file, line, "%s writes %s. Copy into shared memory, inside its size", name, where);
    }
    if (zero < size && (from == NULL || from->name != NULL || !sim_region_holds(from, global, size - zero))) {
        sim_region_describe(global, where, sizeof(where));
        sim_fault(file, line, "%s reads %s. Copy from device memory, inside its size", name, where);
    }
    if (current->num_copies == current->max_copies) {
        current->max_copies = current->max_copies * 2 + 16;
        current->copies = (struct copy *)realloc(current->copies, current->max_copies * sizeof(struct copy));
        if (current->copies == NULL)
            sim_fault(file, line, "no memory for another asynchronous copy. Wait for some first");
    }
    const unsigned site = sim_site(__builtin_return_address(0));
    sim_race_copy_begins(sim_region_near(shared), shared, size, site);
    memset(shared, 0xff, size);
    current->copies[current->num_copies++] = {shared, global, size, zero, current->group, site};
    counts.async_copies++;
    sim_observe_copy(site, shared, size, global, size - zero, true);
}

void __pipeline_commit(const char *file, int line)
{
    need_kernel("__pipeline_commit", file, line);
    current->group++;
}

void __pipeline_wait_prior(size_t prior, const char *file, int line)
{
    size_t kept = 0;

    need_kernel("__pipeline_wait_prior", file, line);
    for (size_t i = 0; i < current->num_copies; i++) {
        const struct copy c = current->copies[i];

        if (c.group + prior >= current->group) {
            current->copies[kept++] = c;
            continue;
        }
        memcpy(c.shared, c.global, c.size - c.zero);
        memset((char *)c.shared + c.size - c.zero, 0, c.zero);
        sim_race_copy_ends(sim_region_near(c.shared), c.shared, c.size, c.site);
    }
    if (kept != current->num_copies) {
        sim_observe_step((unsigned)(current - threads));
        counts.idle_waits += kept == 0;
    }
    current->num_copies = kept;
}

/* ---- mbarriers and bulk copies ---- */

/*     mbarrier_expect ---> missing - 1, announced + bytes --+
       bulk_load ---------> loaded + bytes ------------------+--> no arrival missing, loaded == announced
                            destination NaN                              |
                                                                         | the first mbarrier_wait
                                                                         v
                                                              copies are done, next phase

   That the phase ends at a wait and not by itself is as late as a GPU may be: whoever does not wait finds NaN. */

/* Faults if a barrier cannot lie there. */
static void check_place(const char *name, const uint64_t *barrier, const char *file, int line)
{
    char where[600];

    need_kernel(name, file, line);
    const struct sim_region *r = sim_region_near(barrier);
    if (r == NULL || r->name == NULL || !sim_region_holds(r, barrier, sizeof(*barrier))) {
        sim_region_describe(barrier, where, sizeof(where));
        sim_fault(file, line, "%s accesses %s. Give it a barrier in shared memory, __shared__ uint64_t", name, where);
    }
    if ((uintptr_t)barrier % sizeof(*barrier) != 0)
        sim_fault(file, line, "%s of a barrier at an address that is not aligned to 8. Declare it as uint64_t", name);
}

/* The barrier that mbarrier_init made there, unless something else was written to it. */
static struct mbarrier *known_mbarrier(const uint64_t *place)
{
    const uint64_t number = *place - mbarrier_word;

    return number < num_mbarriers && mbarriers[number].place == place ? &mbarriers[number] : NULL;
}

static struct mbarrier *find_mbarrier(const char *name, const uint64_t *barrier, const char *file, int line)
{
    check_place(name, barrier, file, line);
    struct mbarrier *b = known_mbarrier(barrier);
    if (b == NULL)
        sim_fault(file, line,
                  "%s with a barrier that %s. Call mbarrier_init and mbarrier_init_done in one thread, then "
                  "__syncthreads in all, and write nothing else there",
                  name, *barrier == ~(uint64_t)0 ? "is not initialised" : "something else was written to");
    return b;
}

/* Does the copies of a phase that can end, and begins the next one. */
static void end_phase(struct mbarrier *b)
{
    const unsigned number = (unsigned)(b - mbarriers);
    size_t kept = 0;

    sim_race_phase_ends(number, &mbarrier_told[number], &mbarrier_tells[number]);
    for (size_t i = 0; i < num_bulk_copies; i++) {
        const struct bulk_copy c = bulk_copies[i];

        if (c.barrier != b) {
            bulk_copies[kept++] = c;
            continue;
        }
        memcpy(c.shared, c.global, c.bytes);
        sim_race_bulk_ends(sim_region_near(c.shared), c.shared, c.bytes, c.site, number);
    }
    num_bulk_copies = kept;
    b->phase++;
    b->missing = b->arrivals;
    b->announced = 0;
    b->loaded = 0;
    sim_progress++;
}

/* Whether those who wait for the phase have something to do: end it or, when it has too many bytes, fault. */
static bool can_end(const struct mbarrier *b)
{
    return b->missing == 0 && b->loaded >= b->announced;
}

/* After something was counted. A phase without copies ends by itself. */
static void wake_waiters(struct mbarrier *b)
{
    if (!can_end(b))
        return;
    if (b->loaded == 0)
        end_phase(b);
    for (struct thread *t = threads; t < threads + num_threads; t++)
        if (t->state == AT_MBARRIER && t->barrier == b)
            t->state = READY;
}

void mbarrier_init(uint64_t *barrier, unsigned arrivals, const char *file, int line)
{
    size_t pending = 0;

    check_place("mbarrier_init", barrier, file, line);
    if (arrivals == 0 || arrivals > mbarrier_most)
        sim_fault(file, line, "mbarrier_init with %u arrivals. Take 1 to %u", arrivals, mbarrier_most);
    const struct mbarrier *old = known_mbarrier(barrier);
    for (size_t i = 0; i < num_bulk_copies; i++)
        pending += bulk_copies[i].barrier == old;
    if (old != NULL)
        sim_fault(file, line,
                  "mbarrier_init of a barrier that was initialised at %s:%d and has %zu copies pending. Initialise it "
                  "in one thread, once in a block",
                  old->file, old->line, pending);
    if (num_mbarriers == sizeof(mbarriers) / sizeof(*mbarriers))
        sim_fault(file, line, "more than %u barriers. Use fewer", num_mbarriers);
    sim_race_access(sim_region_near(barrier), (const char *)barrier, sizeof(*barrier), SIM_WRITES,
                    sim_site(__builtin_return_address(0)));
    mbarrier_told[num_mbarriers].epoch = mbarrier_tells[num_mbarriers].epoch = 0;
    *barrier = mbarrier_word + num_mbarriers;
    mbarriers[num_mbarriers++] = {barrier, arrivals, arrivals, 0, 0, 0, current, file, line, false};
}

void mbarrier_init_done(const char *file, int line)
{
    need_kernel("mbarrier_init_done", file, line);
    for (unsigned i = 0; i < num_mbarriers; i++)
        if (mbarriers[i].maker == current)
            mbarriers[i].shown = true;
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
    sim_race_access(sim_region_near(barrier), (const char *)barrier, sizeof(*barrier), SIM_STRONG,
                    sim_site(__builtin_return_address(0)));
    sim_race_arrive(&mbarrier_told[b - mbarriers]);
    b->missing--;
    b->announced += bytes;
    wake_waiters(b);
}

void mbarrier_wait(uint64_t *barrier, unsigned parity, const char *file, int line)
{
    struct mbarrier *b = find_mbarrier("mbarrier_wait", barrier, file, line);
    const struct bulk_copy *last = NULL;

    if (parity > 1)
        sim_fault(file, line, "mbarrier_wait for parity %u. Use the number of the phase modulo 2", parity);
    sim_race_access(sim_region_near(barrier), (const char *)barrier, sizeof(*barrier), SIM_STRONG,
                    sim_site(__builtin_return_address(0)));
    sim_observe_step((unsigned)(current - threads));
    current->barrier = b;
    current->parity = parity;
    current->file = file;
    current->line = line;
    while (b->phase % 2 == parity && !can_end(b))
        leave(AT_MBARRIER);
    if (b->phase % 2 != parity) {
        sim_race_wait(&mbarrier_tells[b - mbarriers]);
        return;
    }
    if (b->loaded > b->announced) {
        for (size_t i = 0; i < num_bulk_copies; i++)
            last = bulk_copies[i].barrier == b ? &bulk_copies[i] : last;
        sim_fault(
            file, line,
            "mbarrier_wait for a phase that has %zu bytes more than the %u announced, the last by bulk_load at "
            "%s:%d. Announce in mbarrier_expect as many bytes as bulk_load copies, and wait before the next phase",
            b->loaded - b->announced, b->announced, last->file, last->line);
    }
    end_phase(b);
    sim_race_wait(&mbarrier_tells[b - mbarriers]);
}

/* Faults unless the piece lies in one region of the right kind. */
static void check_piece(const char *verb, const void *at, unsigned bytes, bool shared, const char *file, int line)
{
    const struct sim_region *r = sim_region_near(at);
    const bool kind = r != NULL && (r->name != NULL) == shared;
    char where[600];

    if (kind && sim_region_holds(r, at, bytes))
        return;
    const bool begins = kind && sim_region_holds(r, at, 1); /* well: name the end */
    sim_region_describe(begins ? (const char *)at + bytes : at, where, sizeof(where));
    sim_fault(file, line, "bulk_load of %u bytes %s %s%s. Copy %s memory, inside its size", bytes, verb,
              begins ? "up to " : "", where, shared ? "into shared" : "from device");
}

void bulk_load(void *shared, const void *global, unsigned bytes, uint64_t *barrier, const char *file, int line)
{
    struct mbarrier *b = find_mbarrier("bulk_load", barrier, file, line);

    if (bytes == 0 || bytes % 16 != 0)
        sim_fault(file, line, "bulk_load of %u bytes. Copy a multiple of 16, and not 0", bytes);
    if ((uintptr_t)shared % 16 != 0 || (uintptr_t)global % 16 != 0)
        sim_fault(file, line,
                  "bulk_load %s an address that is not aligned to 16. Declare shared arrays __align__(16), and copy "
                  "from a multiple of 16 bytes",
                  (uintptr_t)shared % 16 != 0 ? "to" : "from");
    check_piece("writes", shared, bytes, true, file, line);
    check_piece("reads", global, bytes, false, file, line);
    if (!b->shown)
        sim_fault(file, line,
                  "bulk_load with the barrier initialised at %s:%d, which the copy engine does not see yet. Call "
                  "mbarrier_init_done after mbarrier_init, in the same thread",
                  b->file, b->line);
    if (num_bulk_copies == max_bulk_copies) {
        max_bulk_copies = max_bulk_copies * 2 + 16;
        bulk_copies = (struct bulk_copy *)realloc(bulk_copies, max_bulk_copies * sizeof(struct bulk_copy));
        if (bulk_copies == NULL)
            sim_fault(file, line, "no memory for another bulk copy. Wait for some first");
    }
    const unsigned site = sim_site(__builtin_return_address(0));
    sim_race_access(sim_region_near(barrier), (const char *)barrier, sizeof(*barrier), SIM_STRONG, site);
    sim_race_copy_begins(sim_region_near(shared), shared, bytes, site);
    sim_observe_copy(site, shared, bytes, global, bytes, false);
    sim_race_arrive(&mbarrier_told[b - mbarriers]); /* its reads are done when the phase ends */
    memset(shared, 0xff, bytes);
    bulk_copies[num_bulk_copies++] = {shared, global, bytes, b, current, file, line, site};
    b->loaded += bytes;
    counts.bulk_copies++;
    wake_waiters(b);
}

/* When the block has ended: its shared memory goes to another one, whatever still flies. */
static void check_bulk_copies(void)
{
    char phase[200];

    if (num_bulk_copies == 0)
        return;
    const struct bulk_copy *c = &bulk_copies[0];
    describe_phase(c->barrier, phase, sizeof(phase));
    threadIdx = c->issuer->index;
    sim_fault(c->file, c->line,
              "bulk_load of %u bytes, and the block ended before anybody waited for phase %u of the barrier, which %s. "
              "Call mbarrier_wait for every phase, with its parity",
              c->bytes, c->barrier->phase, phase);
}

/* ---- shared memory ---- */

/* Makes a region NaN and has it verified when the block ends. */
static void prepare_shared(struct sim_region *region)
{
    if (num_block_shared == sizeof(block_shared) / sizeof(*block_shared))
        sim_fault(region->file, region->line, "more than %zu __shared__ variables. Join some into an array",
                  num_block_shared);
    block_shared[num_block_shared++] = region;
    region->freed = false;
    sim_region_poison(region);
}

static struct sim_region *make_shared(const char *name, size_t size, size_t align, const char *file, int line)
{
    struct sim_region *region = sim_region_create(size, align);

    if (region == NULL)
        sim_fault(file, line, "no memory for the shared array %s of %zu bytes. Free some memory", name, size);
    region->name = name;
    region->file = file;
    region->line = line;
    return region;
}

void *sim_static_shared(sim_shared *variable, const char *name, size_t size, size_t align, const char *file, int line)
{
    need_kernel("a __shared__ variable", file, line);
    if (variable->region == NULL)
        variable->region = make_shared(name, size, align, file, line);
    struct sim_region *region = (struct sim_region *)variable->region;
    if (variable->block != block_number) {
        const size_t limit = info->max_dynamic > SIM_SHARED ? SIM_SHARED_OPTIN : SIM_SHARED;

        variable->block = block_number;
        static_bytes += size;
        if (static_bytes > info->static_bytes)
            info->static_bytes = static_bytes;
        if (static_bytes > SIM_SHARED)
            sim_fault(file, line, "%zu bytes of static shared memory, more than %zu. Make arrays smaller, or extern",
                      static_bytes, SIM_SHARED);
        if (static_bytes + config->dynamic_shared > limit)
            sim_fault(file, line,
                      "%zu bytes of static and %zu of dynamic shared memory, more than %zu together. Use less, or ask "
                      "for more with cudaFuncSetAttribute",
                      static_bytes, config->dynamic_shared, limit);
        prepare_shared(region);
    }
    return region->start;
}

void *sim_dynamic_shared(const char *name, size_t align, const char *file, int line)
{
    /* One region for each size in use, so that its end touches the unreadable margin. */
    static struct sim_region *made[64];
    static size_t next_made;

    need_kernel("a __shared__ variable", file, line);
    align = align < 16 ? 16 : align;
    if (dynamic_region == NULL) {
        for (size_t i = 0; i < 64 && made[i] != NULL; i++)
            if (strcmp(made[i]->file, file) == 0 && made[i]->line == line && made[i]->size == config->dynamic_shared &&
                (uintptr_t)made[i]->start % align == 0)
                dynamic_region = made[i];
        if (dynamic_region == NULL) {
            dynamic_region = make_shared(name, config->dynamic_shared, align, file, line);
            made[next_made++ % 64] = dynamic_region;
        }
        prepare_shared(dynamic_region);
    }
    if ((uintptr_t)dynamic_region->start % align != 0)
        sim_fault(file, line, "%s aligned to %zu, less at %s:%d. Align all its declarations alike", name, align,
                  dynamic_region->file, dynamic_region->line);
    return dynamic_region->start;
}

/* ---- scheduler ---- */

/* Gives each lane of a warp that can run one turn. Returns whether any ran. */
static bool run_lanes(unsigned warp)
{
    struct thread *lanes = &threads[warp * SIM_WARP];
    const unsigned rest = num_threads - warp * SIM_WARP, count = rest < SIM_WARP ? rest : SIM_WARP;
    struct order order = make_order(count);
    bool ran = false;

    for (unsigned i = 0; i < count; i++) {
        struct thread *t = &lanes[next(&order)];

        if (t->state == READY) {
            resume(t);
            ran = true;
        }
    }
    sim_observe_pass();
    return ran;
}

static void run_block(void)
{
    const unsigned num_warps = (num_threads + SIM_WARP - 1) / SIM_WARP;

    block_number++;
    num_done = num_at_barrier = 0;
    num_block_shared = static_bytes = 0;
    num_mbarriers = 0;
    num_bulk_copies = 0;
    dynamic_region = NULL;
    memset(warp_waiting, 0, sizeof(warp_waiting));
    for (unsigned i = 0; i < num_threads; i++) {
        threads[i].index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        threads[i].state = READY;
        threads[i].num_copies = 0;
        threads[i].group = 0;
    }

    sim_observe_block(num_threads);
    sim_place.in_block = sim_place.in_thread = true;
    while (num_done < num_threads) {
        struct order order = make_order(num_warps);
        bool ran = false;

        for (unsigned i = 0; i < num_warps; i++) {
            const unsigned warp = (unsigned)next(&order);

            for (unsigned t = warp * SIM_WARP; t < num_threads && t < (warp + 1) * SIM_WARP; t++)
                if (threads[t].state == YIELDED)
                    threads[t].state = READY;
            while (run_lanes(warp)) {
                ran = true;
                if (schedule == RANDOM && random_number() % 2 == 0)
                    break; /* sometimes the next warp comes earlier */
            }
        }
        if (num_at_barrier == num_threads)
            release_barrier();
        else if (!ran)
            explain_stall();
    }
    check_bulk_copies();
    sim_place.in_thread = false;
    sim_observe_block_end();
    for (size_t i = 0; i < num_block_shared; i++) {
        sim_region_verify(block_shared[i]);
        block_shared[i]->freed = true;
    }
    sim_place.in_block = false;
    counts.blocks++;
    counts.threads += num_threads;
}

/* Faults if the launch configuration is not one that the device can run. */
static void check_config(void)
{
    const dim3 g = config->grid, b = config->block;
    const size_t allowed = info->max_dynamic;

    if (b.x == 0 || b.y == 0 || b.z == 0 || g.x == 0 || g.y == 0 || g.z == 0)
        sim_fault(config->file, config->line,
                  "launched with grid (%u,%u,%u) and block (%u,%u,%u). Launch nothing when there "
                  "is nothing to do",
                  g.x, g.y, g.z, b.x, b.y, b.z);
    if ((uint64_t)b.x * b.y > SIM_MAX_THREADS || (uint64_t)b.x * b.y * b.z > SIM_MAX_THREADS || b.z > 64)
        sim_fault(config->file, config->line,
                  "launched with too many threads, block (%u,%u,%u). Take at most %u in all, and "
                  "64 in z",
                  b.x, b.y, b.z, SIM_MAX_THREADS);
    if (g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        sim_fault(config->file, config->line,
                  "launched with too large a grid, (%u,%u,%u). Take at most 2147483647 blocks in x "
                  "and 65535 in y and z",
                  g.x, g.y, g.z);
    if (config->dynamic_shared > allowed)
        sim_fault(config->file, config->line,
                  "launched with %zu bytes of dynamic shared memory, more than %zu. Use less, or "
                  "raise cudaFuncAttributeMaxDynamicSharedMemorySize with cudaFuncSetAttribute (at most %zu)",
                  config->dynamic_shared, allowed, SIM_SHARED_OPTIN);
}

void sim_launch(const void *kernel, const char *name, const sim_config *launch, void (*body)(void *), void *arguments,
                size_t arguments_size)
{
    if (sim_place.kernel != NULL)
        sim_fault(launch->file, launch->line, "launches a kernel. Launch from host code only");
    sim_place = {};
    sim_place.kernel = kernel;
    sim_place.name = name;
    sim_place.file = launch->file;
    sim_place.line = launch->line;
    config = launch;
    info = sim_find_kernel(kernel);
    check_config();

    gridDim = launch->grid;
    blockDim = launch->block;
    num_threads = blockDim.x * blockDim.y * blockDim.z;
    kernel_body = body;
    kernel_arguments = arguments;
    for (unsigned i = 0; i < num_threads; i++)
        if (threads[i].stack == NULL)
            make_fiber(&threads[i]);

    const uint64_t num_blocks = (uint64_t)gridDim.x * gridDim.y * gridDim.z;
    struct order order = make_order(num_blocks);
    sim_observe_launch(arguments, arguments_size);
    sim_watchdog(true);
    for (uint64_t i = 0; i < num_blocks; i++) {
        const uint64_t b = next(&order);
        blockIdx = {(unsigned)(b % gridDim.x), (unsigned)(b / gridDim.x % gridDim.y),
                    (unsigned)(b / gridDim.x / gridDim.y)};
        run_block();
    }
    sim_watchdog(false);
    sim_verify_all();
    counts.launches++;
    sim_observe_launch_end(&counts);
    sim_add_counts(&total, &counts);
    counts = {};
    sim_place = {};
}

/* ---- the rest ---- */

void sim_trap(const char *file, int line)
{
    sim_fault(file, line, "__trap() was reached. See what the kernel guards with it");
}

long long clock64(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

struct sim_counts sim_get_counts(void)
{
    return total;
}

void sim_reset_counts(void)
{
    total = {};
    sim_trace_reset();
}
