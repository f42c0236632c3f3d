/* race.h - what memory remembers of the accesses to it, and what orders two of them. */
#ifndef SIM_RACE_H
#define SIM_RACE_H

#include <stddef.h>
#include <stdint.h>

#include "sizes.h"

struct sim_region;

struct sim_cell {
    uint64_t write, read;
};
struct sim_shadow {
    struct sim_cell *cells;    /* of each 4 bytes: the last write and a read, */
    uint64_t *others;          /* and another read, not ordered with that one */
    uint32_t *loaded, *stored; /* of each sector: the launch that last loaded it, stored to it */
    unsigned char *written;    /* a bit for each byte */
    size_t size;
};
extern bool sim_has_kernels;                       /* else nobody touches them */
const size_t SIM_SHADOW_FACTOR = 6;                /* a byte of device memory takes so many at most, itself included */
struct sim_shadow *sim_shadow_create(size_t size); /* NULL: no memory */
void sim_shadow_destroy(struct sim_shadow *shadow);
void sim_shadow_mark(struct sim_region *region, const void *at, size_t size); /* written by the host */
void sim_shadow_copy(struct sim_region *to, const void *dst, struct sim_region *from, const void *src, size_t size);

/* What one agent of a block (a thread, or SIM_MAX_THREADS + the number of an mbarrier) knows that the others have done
   since the block's last barrier. */
struct vector_clock {
    uint64_t interval; /* between two barriers; in another one the times below mean nothing */
    uint64_t chunks;   /* which times[32 i ... 32 i + 31] mean something */
    uint16_t time[SIM_MAX_THREADS + SIM_MAX_BARRIERS];
};

void sim_race_launch(void);
void sim_race_block(unsigned num_threads);
void sim_race_turn(unsigned thread);
void sim_race_barrier(void); /* __syncthreads */
void sim_race_fence(void);   /* __threadfence and its kin */
void sim_race_syncwarp(unsigned first_thread, unsigned mask);
void sim_race_release(struct vector_clock *clock);       /* it gets to know all that the running thread knows, */
void sim_race_acquire(const struct vector_clock *clock); /* and the other way round */
void sim_race_access(struct sim_region *region, const char *at, size_t size, unsigned how, unsigned site);
void sim_race_copy_begins(struct sim_region *region, const void *at, size_t size, unsigned site);
void sim_race_copy_ends(struct sim_region *region, const void *at, size_t size,
                        unsigned site); /* the running thread waited for it */

/* The phase of an mbarrier ends: who waits for it learns what those who arrived knew, and its copies are there. */
void sim_race_phase_ends(unsigned barrier, const struct vector_clock *arrived, struct vector_clock *ended);
void sim_race_bulk_ends(struct sim_region *region, const void *at, size_t size, unsigned site, unsigned barrier);

#endif
