/* SPDX-License-Identifier: MIT */
/* poison.cpp - finds who uses what a shuffle leaves undefined.

   A lane that reads from one which does not take part gets something undefined, and many a right program lets it: the
   upper lanes of a sum add up what nobody looks at. So that is no mistake before the value is used, and registers are
   not watched. But here it is a number that no program has by chance, and what the thread gave itself is known. So it
   can be seen in what the thread gives to its next shuffle, or stores:

       gave 3, got the poison p          next shuffle: gives 3        did not use it
                                                       gives 3 + p    a poison, too: whoever reads that gets one
                                         stores 3 + p                 a fault */
#include "poison.h"

#include <stdio.h>
#include <string.h>

#include "block.h"
#include "fault.h"
#include "locate.h"
#include "warp.h"

unsigned sim_num_poisons;

/* Whether b was made of the poison that a thread has: alone, or with its own value by one operation. */
static bool is_made_of(const struct sim_poison *p, uint64_t b, unsigned size)
{
    const uint64_t bits = size >= 8 ? ~(uint64_t)0 : ((uint64_t)1 << 8 * size) - 1;
    const uint64_t own = p->own, got = p->got;
    const uint64_t results[] = {got, own + got, own - got, got - own, own * got, own ^ got, own | got};

    if (size != p->size || ((b ^ own) & bits) == 0)
        return size == p->size && p->own_too;
    for (uint64_t result : results)
        if (((b ^ result) & bits) == 0)
            return true;
    return false;
}

void sim_poison_thread(struct thread *t, const struct sim_poison_source *source, uint64_t got)
{
    const unsigned size = t->lane >> 16;
    struct sim_poison *to = &t->poisons[0];

    if (size < 2)
        return;                             /* too small to be told from others */
    for (struct sim_poison &p : t->poisons) /* of the same call, or a free one */
        if (p.file == NULL || (p.line == t->line && p.file == t->file))
            to = &p;
    sim_num_poisons += to->file == NULL;
    *to = {*source, t->file, t->line, t->gives.file != NULL, size, t->value, got};
}

static void drop(struct sim_poison *p)
{
    sim_num_poisons -= p->file != NULL;
    p->file = NULL;
}

void sim_heal_thread(struct thread *t)
{
    for (struct sim_poison &p : t->poisons)
        drop(&p);
}

void sim_give_poison(uint64_t value, const char *file, int line)
{
    for (struct sim_poison &p : sim_current->poisons) {
        if (p.file == NULL)
            continue;
        if (is_made_of(&p, value, p.size)) {
            sim_num_poisons += sim_current->gives.file == NULL;
            sim_current->gives = p.source;
        }
        if (p.line == line && p.file == file) /* the loop comes round: what it got the last time is used, or is not */
            drop(&p);
    }
}

void sim_poison_given(struct thread *warp, unsigned mask)
{
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        struct sim_poison_source *const gives = &warp[__builtin_ctz(rest)].gives;
        sim_num_poisons -= gives->file != NULL;
        gives->file = NULL;
    }
}

static void describe(const struct sim_poison_source *s, char *text, size_t size)
{
    char why[100] = "whose thread has ended";

    if (!s->exists)
        snprintf(why, sizeof(why), "which does not exist in a block of %u threads", sim_num_threads);
    else if (!s->is_named)
        snprintf(why, sizeof(why), "which the mask does not name");
    snprintf(text, size, "%s with mask 0x%08x reads from lane %u, %s: that is undefined", sim_warp_names[s->kind],
             s->mask, s->lane, why);
}

static const char *const advice = "Let every lane that is read make the call, and be in its mask: a condition belongs "
                                  "behind the shuffle, not around it; or begin with a distance, or take a width, that "
                                  "stays among the lanes of the mask";

void sim_check_stored(const struct thread *t, const void *at, uint64_t value, uint64_t before, size_t size,
                      const void *pc)
{
    for (const struct sim_poison &p : t->poisons) {
        char cause[300], what[600], place[520] = "";

        if (p.file == NULL ||
            !(is_made_of(&p, value, (unsigned)size) || is_made_of(&p, value - before, (unsigned)size)))
            continue;
        describe(&p.source, cause, sizeof(cause));
        sim_region_describe(at, size, what, sizeof(what));
        if (pc != NULL) {
            strcpy(place, " at ");
            sim_locate((const char *)pc - 1, place + 4, sizeof(place) - 4);
        }
        sim_fault(p.source.file, p.source.line, "%s, and what is written to %s%s is computed from it. %s", cause, what,
                  place, advice);
    }
}

void sim_describe_poison(const struct thread *t, char *text, size_t size)
{
    char cause[300];

    text[0] = '\0';
    for (const struct sim_poison &p : t->poisons) {
        if (p.file == NULL)
            continue;
        const char *const slash = strrchr(p.source.file, '/');
        describe(&p.source, cause, sizeof(cause));
        snprintf(text, size, "; at %s:%d %s", slash != NULL ? slash + 1 : p.source.file, p.source.line, cause);
    }
}

void sim_all_poisoned(struct thread *t)
{
    const struct sim_poison_source s = t->gives;
    char cause[300];

    describe(&s, cause, sizeof(cause));
    threadIdx = t->index;
    sim_fault(s.file, s.line, "%s, and what all lanes of the mask have now is computed from it. %s", cause, advice);
}
