/* SPDX-License-Identifier: MIT */
/* warp.cpp - calls that the lanes of a warp make together: shuffles, votes, reductions, __syncwarp. */
#include "warp.h"

#include <string.h>

#include "fiber.h"
#include "named_barriers.h"
#include "poison.h"
#include "fault.h"
#include "announce.h"

#define SIM_NAME(kind, name) name,
const char *const sim_warp_names[] = {SIM_WARP_CALLS(SIM_NAME)};

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

unsigned sim_source_lane(const struct thread *t, unsigned lane)
{
    return source_lane(t, lane);
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

/* A lane reads from one that does not take part. */
static void leave_undefined(struct thread *t, const struct thread *from, unsigned lane)
{
    const bool is_named = t->mask >> lane & 1, exists = sim_thread_number(from) < sim_num_threads;
    const struct sim_poison_source source = {t->file, t->line, t->kind, t->mask, lane, is_named, exists};

    sim_poison_thread(t, &source, sim_poison);
}

/* What each lane of the mask gets from the others: by a shuffle, or all of them the same. warp[0] is lane 0. */
static void exchange(struct thread *warp, int kind, unsigned mask)
{
    uint64_t in[SIM_WARP];
    bool all_poisoned = sim_num_poisons > 0;

    for (unsigned lane = 0; lane < SIM_WARP; lane++)
        in[lane] = warp[lane].value;
    for (unsigned rest = mask; all_poisoned && rest != 0; rest &= rest - 1)
        all_poisoned = warp[__builtin_ctz(rest)].gives.file != NULL;
    if (all_poisoned)
        sim_all_poisoned(&warp[__builtin_ctz(mask)]);
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        struct thread *t = &warp[__builtin_ctz(rest)];

        if (kind == SIM_MATCH_ANY) {
            t->value = 0;
            for (unsigned other = 0; other < SIM_WARP; other++)
                if (mask >> other & 1 && in[other] == in[__builtin_ctz(rest)])
                    t->value |= (uint64_t)1 << other;
        } else {
            const unsigned source = source_lane(t, (unsigned)__builtin_ctz(rest));
            if (!(mask >> source & 1))
                leave_undefined(t, &warp[source], source);
            else if (sim_num_poisons > 0 && warp[source].gives.file != NULL)
                sim_poison_thread(t, &warp[source].gives, in[source]);
            else if (sim_num_poisons > 0 && t->gives.file != NULL)
                sim_poison_thread(t, &t->gives, in[source]);
            t->value = mask >> source & 1 ? in[source] : sim_poison;
        }
    }
    if (sim_num_poisons > 0)
        sim_poison_given(warp, mask);
}

static void multiply(const struct thread *warp)
{
    const struct sim_product *lane[SIM_WARP];

    for (unsigned i = 0; i < SIM_WARP; i++)
        lane[i] = (const struct sim_product *)(uintptr_t)warp[i].value;
    const int m = lane[0]->m, n = lane[0]->n, k = lane[0]->k;
    for (int row = 0; row < m; row++)
        for (int column = 0; column < n; column++) {
            const int at = row * n + column;
            double *const sum = &lane[at % 32]->sum[at / 32];

            for (int i = 0; i < k; i++) {
                const int left = lane[0]->a_by_column ? i * m + row : row * k + i;
                const int right = lane[0]->b_by_column ? column * k + i : i * n + column;
                *sum += lane[left % 32]->a[left / 32] * lane[right % 32]->b[right / 32];
            }
        }
}

/* Each lane gets the words of a product that others have, as if by shuffles; false: they are to do it by shuffles,
   since somebody looks at each, or not all is defined. */
static bool exchange_fragments(struct thread *warp, unsigned mask)
{
    const bool is_simple = mask == ~0u && sim_num_poisons == 0 && sim_tell.fragments.count == 0;
    struct sim_fragment *of[SIM_WARP];

    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        of[lane] = (struct sim_fragment *)(uintptr_t)warp[lane].value;
        warp[lane].value = is_simple;
    }
    for (unsigned lane = 0; is_simple && lane < SIM_WARP; lane++)
        for (unsigned k = 0; k < 8; k++) {
            const unsigned row = lane / 4 * 4 + k % 4, column = lane % 4 * 8 + k % 4;
            unsigned *const got = of[lane]->got[k];
            got[0] = of[row]->a[k / 4 * 2];
            got[1] = of[row]->a[k / 4 * 2 + 1];
            got[2] = of[column]->b[k / 4];
            got[3] = of[column + 4]->b[k / 4];
        }
    return is_simple;
}

static void reduce(struct thread *warp, int kind, unsigned mask)
{
    const unsigned first = (unsigned)__builtin_ctz(mask);
    uint64_t all = 0;

    for (unsigned lane = first; lane < SIM_WARP; lane++) {
        const uint64_t in = kind == SIM_BALLOT ? warp[lane].value << lane : warp[lane].value;
        if (mask >> lane & 1)
            all = lane == first ? in : combine(kind, all, in);
    }
    for (unsigned rest = mask; rest != 0; rest &= rest - 1)
        warp[__builtin_ctz(rest)].value = all;
}

/* All lanes of the mask have arrived: gives each its result. */
static __attribute__((noinline)) void complete(struct thread *warp, int kind, unsigned mask)
{
    static uint64_t without_count;
    unsigned count = 1; /* as so many calls */

    if (kind == SIM_PRODUCT)
        multiply(warp);
    else if (kind == SIM_FRAGMENTS) {
        count = exchange_fragments(warp, mask) ? 32 : 0;
        kind = SIM_SHFL;
    } else if ((kind >= SIM_SHFL && kind <= SIM_SHFL_XOR) || kind == SIM_MATCH_ANY)
        exchange(warp, kind, mask);
    else if (kind != SIM_SYNCWARP)
        reduce(warp, kind, mask);
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        warp[__builtin_ctz(rest)].state = READY;
        sim_step(&warp[__builtin_ctz(rest)], count);
    }
    *(kind == SIM_MATRIX     ? &without_count
      : kind == SIM_SYNCWARP ? &sim_counts.warp_barriers
      : kind <= SIM_SHFL_XOR ? &sim_counts.shuffles
                             : &sim_counts.votes) += count;
    sim_progress++;
    for (; count > 0; count--)
        sim_tell.warp_met(warp, kind, mask);
}

/* The lanes of a mask that must come: those that exist and have not returned, as the Programming Guide has it. Products
   of matrices need all, and CUSIM_CHECKS=strict waits for those that have returned, too. */
static unsigned lanes_wanted(int kind, unsigned mask, unsigned warp)
{
    if (kind == SIM_PRODUCT || kind == SIM_MATRIX)
        return mask;
    return mask & (sim_strict ? sim_first_lanes(sim_num_threads - warp * SIM_WARP) : sim_block->warp_living[warp]);
}

/* If all lanes that a waiting one waits for are here: they go on. Returns which they are, 0 for none. */
static unsigned try_complete(unsigned warp, unsigned lane)
{
    struct thread *const lanes = &sim_block->threads[warp * SIM_WARP], *const t = &lanes[lane];
    const unsigned wanted = lanes_wanted(t->kind, t->mask, warp);

    if ((sim_block->warp_waiting[warp] & wanted) != wanted)
        return 0;
    for (unsigned rest = wanted; rest != 0; rest &= rest - 1) {
        const struct thread *const other = &lanes[__builtin_ctz(rest)];
        if (other->kind != t->kind || other->mask != t->mask)
            return 0;
    }
    complete(lanes, t->kind, wanted);
    sim_block->warp_waiting[warp] &= ~wanted;
    return wanted;
}

void sim_lane_ends(const struct thread *t)
{
    const unsigned index = sim_thread_number(t), warp = index / SIM_WARP;

    sim_block->warp_living[warp] &= ~(1u << index % SIM_WARP);
    for (unsigned rest = sim_block->warp_waiting[warp]; rest != 0;) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        rest &= ~(try_complete(warp, lane) | 1u << lane);
    }
}

extern "C" void sim_fragments(const char *what, const void *a, const void *b, const float *c)
{
    sim_tell.fragments(what, a, b, c);
}

uint64_t sim_warp_call(sim_warp_kind kind, unsigned mask, uint64_t value, unsigned lane, int width, const char *file,
                       int line)
{
    sim_need_kernel(sim_warp_names[kind], file, line);
    const unsigned index = sim_thread_number(sim_current), warp = index / SIM_WARP, own = index % SIM_WARP;

    if (!(mask >> own & 1))
        sim_fault(file, line,
                  "%s with mask 0x%08x by lane %u, which the mask does not name. Put the lane into the mask",
                  sim_warp_names[kind], mask, own);
    if (width < 1 || width > (int)SIM_WARP || (width & (width - 1)) != 0)
        sim_fault(file, line, "%s with width %d. Use 1, 2, 4, 8, 16 or 32", sim_warp_names[kind], width);

    if (kind == SIM_SYNCWARP && sim_is_left_out("__syncwarp", file, line))
        return 0;
    sim_tell.warp_call(file, line);
    sim_current->kind = kind;
    sim_current->mask = mask;
    sim_current->value = value;
    sim_current->lane = lane;
    sim_current->width = (unsigned)width;
    sim_current->file = file;
    sim_current->line = line;
    if (sim_num_poisons > 0 && kind >= SIM_SHFL && kind <= SIM_SHFL_XOR)
        sim_give_poison(value, file, line);
    sim_block->warp_waiting[warp] |= 1u << own;
    if (try_complete(warp, own) != 0)
        SIM_LEAVE(READY); /* back in line: the lanes go on in their order */
    else
        SIM_LEAVE(AT_WARP);
    return sim_current->value;
}

unsigned sim_gather(const char *name, const char *file, int line)
{
    sim_need_kernel(name, file, line);
    sim_current->file = file;
    sim_current->line = line;
    sim_block->num_gathering++;
    SIM_LEAVE(AT_GATHER);
    return (unsigned)sim_current->value;
}

bool sim_gather_lanes(unsigned warp)
{
    struct thread *const lanes = &sim_block->threads[warp * SIM_WARP];
    const unsigned rest = sim_num_threads - warp * SIM_WARP, count = rest < SIM_WARP ? rest : SIM_WARP;
    bool any = false;

    if (sim_block->num_gathering == 0)
        return false;
    for (unsigned first = 0; first < count; first++) {
        unsigned mask = 0;

        if (lanes[first].state != AT_GATHER)
            continue;
        for (unsigned i = first; i < count; i++) /* those of the same call */
            if (lanes[i].state == AT_GATHER && lanes[i].line == lanes[first].line &&
                strcmp(lanes[i].file, lanes[first].file) == 0)
                mask |= 1u << i;
        for (unsigned i = first; i < count; i++)
            if (mask >> i & 1) {
                lanes[i].value = mask;
                lanes[i].state = READY;
                sim_block->num_gathering--;
            }
        any = true;
    }
    return any;
}

void sim_check_tile(unsigned size, const char *file, int line)
{
    if (size == 0 || size > SIM_WARP || (size & (size - 1)) != 0)
        sim_fault(file, line, "tiled_partition into tiles of %u threads. Take 1, 2, 4, 8, 16 or 32", size);
}

void sim_explain_warp(bool in_part)
{
    for (struct thread *t = sim_block->threads; t < sim_threads_end(); t++) {
        const unsigned first = sim_thread_number(t) / SIM_WARP * SIM_WARP;

        for (unsigned lane = 0; t->state == AT_WARP && lane < SIM_WARP; lane++) {
            struct thread *other = &sim_block->threads[first + lane];
            const char *call = sim_warp_names[t->kind];

            if (!(lanes_wanted(t->kind, t->mask, first / SIM_WARP) >> lane & 1))
                continue;
            if (first + lane >= sim_num_threads)
                FAULT_OF(t,
                         "%s with mask 0x%08x names lane %u, which does not exist in a block of %u threads. Launch "
                         "a multiple of 32 threads or leave the lane out of the mask",
                         call, t->mask, lane, sim_num_threads);
            if (other->state == DONE)
                FAULT_OF(t,
                         "%s with mask 0x%08x waits for lane %u, whose thread has ended. Let every lane of the "
                         "mask make the call, or leave it out of the mask",
                         call, t->mask, lane);
            if (other->state == AT_BARRIER || other->state == AT_NAMED_BARRIER)
                FAULT_OF(t,
                         "%s with mask 0x%08x waits for lane %u, which waits at %s at %s:%d. Let every lane of the "
                         "mask make the call, or leave it out of the mask",
                         call, t->mask, lane, sim_waits_at(other), other->file, other->line);
            if (!in_part && (other->kind != t->kind || other->mask != t->mask))
                FAULT_OF(t,
                         "%s with mask 0x%08x waits for lane %u, which waits at %s with mask 0x%08x at %s:%d. Let all "
                         "lanes of a mask make the same call with the same mask",
                         call, t->mask, lane, sim_warp_names[other->kind], other->mask, other->file, other->line);
        }
    }
}
