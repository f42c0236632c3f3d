/* SPDX-License-Identifier: MIT */
/* poison.h - what a shuffle leaves undefined, and what is computed from that. */
#ifndef SIM_POISON_H
#define SIM_POISON_H

#include <stddef.h>
#include <stdint.h>

struct thread;

/* A shuffle whose lane reads from one that does not take part. */
struct sim_poison_source {
    const char *file;
    int line;
    int kind;              /* sim_warp_kind */
    unsigned mask;         /* of the call */
    unsigned lane;         /* the one that is read, */
    bool is_named, exists; /* in the mask; in the block */
};

/* What a shuffle has given to a thread: nothing that is defined. */
struct sim_poison {
    struct sim_poison_source source;
    const char *file; /* of the shuffle that gave it, NULL: none did; */
    int line;
    bool own_too;      /* what the thread gave there was one already */
    unsigned size;     /* bytes, */
    uint64_t own, got; /* of what it gave, and what it got */
};

/* What CUDA leaves undefined is this here: NaN in every width, and as an integer nothing that one expects. */
static const uint64_t sim_poison = 0x7ffd7fed7fed7fed;

extern unsigned sim_num_poisons; /* that threads have, and give */

/* The thread gets one. It loses all. */
void sim_poison_thread(struct thread *t, const struct sim_poison_source *source, uint64_t got);
void sim_heal_thread(struct thread *t);

/* The running thread gives a value to a shuffle: in thread.gives it says from which poison that was computed, if so.
   And the lanes of the mask have met there. */
void sim_give_poison(uint64_t value, const char *file, int line);
void sim_poison_given(struct thread *warp, unsigned mask);

/* A thread has stored this: faults if it was computed from a poison. `before`: what an atomic found there. `pc`: of the
   store, NULL if that is not known. */
void sim_check_stored(const struct thread *t, const void *at, uint64_t value, uint64_t before, size_t size,
                      const void *pc);

/* Says of a thread that has got one which, and from which shuffle; an empty text: it has none. */
void sim_describe_poison(const struct thread *t, char *text, size_t size);

/* A shuffle all of whose lanes give what was computed from poisons: says so. */
[[noreturn]] void sim_all_poisoned(struct thread *t);

#endif
