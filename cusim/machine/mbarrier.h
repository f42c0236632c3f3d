/* SPDX-License-Identifier: MIT */
/* mbarrier.h - barriers that lie in shared memory, and the bulk copies that count at them. */
#ifndef SIM_MBARRIER_H
#define SIM_MBARRIER_H

#include "block.h"

/* A barrier. The word in shared memory says which one it is. */
struct mbarrier {
    const uint64_t *place;              /* of the word */
    const struct mbarrier_words *words; /* what the program calls it */
    unsigned arrivals;                  /* of each phase */
    unsigned missing;                   /* of them, in the phase that has not ended yet */
    unsigned phase;                     /* that phase; the first is 0 */
    unsigned announced;                 /* bytes of that phase */
    size_t loaded;                      /* bytes asked for in it, or sent */
    struct thread *maker;               /* who initialised it, and where: */
    const char *file;
    int line;
    bool shown;  /* to the TMA: mbarrier_init_done */
    bool sent;   /* by another block, in the phase that has not ended yet */
    void *known; /* observers: what those knew who have arrived, and what those learn who wait */
};

/* A bulk copy of the phase that its barrier is in, or a piece of one, or what a block of the cluster has sent. */
struct bulk_copy {
    const char *by; /* the call that asked for it */
    void *shared;
    const void *global;  /* NULL: zeros, or sent, */
    uint64_t value;      /* this */
    unsigned bytes, all; /* of the piece, and of the whole copy */
    struct mbarrier *barrier;
    uint3 issuer; /* the thread's index */
    const char *file;
    int line;
    const void *pc; /* where it was asked for */
};

/* A thread waits for a phase that never ends: says what the phase lacks, and where another thread hangs. */
[[noreturn]] void sim_explain_mbarrier(struct thread *waits);

/* The barrier there, at which the call of that name may count bytes that the TMA loads: faults if it is none. */
struct mbarrier *sim_find_shown_mbarrier(const char *name, const uint64_t *barrier, const char *file, int line);

/* Faults unless the bytes lie in one array of the block's shared memory, or of the device's. `verb`: "reads" or
   "writes". `advice`: what to do. */
void sim_check_piece(const char *name, const char *verb, const void *at, size_t bytes, bool shared, const char *advice,
                     const char *file, int line);

/* The TMA is asked to load these pieces, which fill `bytes` from `shared` on. `pc`: where the program does so. */
void sim_load_pieces(const char *name, void *shared, unsigned bytes, const struct sim_piece *pieces, size_t count,
                     struct mbarrier *barrier, const char *file, int line, const void *pc);

/* When the block has ended: its shared memory goes to another one, so no copy may be on its way. */
void sim_check_bulk_copies(void);

#endif
