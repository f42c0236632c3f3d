/* SPDX-License-Identifier: MIT */
/* race.h - order between accesses to memory, and accesses that nothing orders. */
#ifndef SIM_RACE_H
#define SIM_RACE_H

#include <stddef.h>
#include <stdint.h>

struct sim_region;
struct vector_clock;

/* What runs now. `slot`: where the block is resident. */
void sim_race_launch(unsigned num_threads);
uint64_t sim_race_one_interval(void); /* a new one, between launches */
void sim_race_block(unsigned slot, bool begins_cluster);
void sim_race_block_end(void);
void sim_race_switch(unsigned slot); /* a block that has begun earlier goes on */
void sim_race_look_at_done(void);    /* at what the running thread has written last, if need be */

void sim_race_barrier(void); /* __syncthreads */
void sim_race_syncwarp(unsigned first_thread, unsigned mask);
void sim_race_fence(bool block_only);
void sim_race_release(struct vector_clock *clock); /* it gets to know all that the running thread knows; */
void sim_race_inform(unsigned thread, const struct vector_clock *clock); /* and the other way round */

/* The barrier of a cluster: the running thread comes to it; all have come; who waited learns what all knew. */
struct block;
struct release;
void sim_race_cluster_arrive(void);
struct release *sim_race_cluster(struct block *const *blocks, unsigned count);
void sim_race_cluster_wait(struct release *learnt, bool has_told);

/* The running thread sends to an mbarrier of another block of its cluster: `sent` gets to know all that it knows. The
   phase ends there: who waits for it learns that. After sim_race_phase_ends. */
void sim_race_send(struct release **sent);
void sim_race_received(unsigned barrier, struct release *sent);

/* The running block ends, and with it this piece of its shared memory: faults if another block accesses it, and nothing
   orders that before. */
void sim_race_leaves(struct sim_region *region);

/* The running task, which is no kernel (a copy, the host), accesses these bytes: faults if another one has, and nothing
   orders the two. `site`: the place in the program that has it do so;
   `how`: SIM_WRITES, SIM_STRONG (observe.h). */
void sim_race_task(struct sim_region *region, const void *at, size_t size, unsigned how, unsigned site);

/* Host code goes on after a read that may have been too old: faults, if it was. Host code compares and swaps a word. */
void sim_race_host_goes_on(void);
void sim_race_host_swaps(const volatile void *at);

/* Faults if the memory is from a pool, and the running task does not know that it may be used. */
void sim_race_pooled(const struct sim_region *region, const void *at, bool writes, const void *pc);

/* The same, of a copy or fill; nothing where it is no memory of the device's, or nobody else could. */
void sim_race_touch(struct sim_region *region, const void *at, size_t size, bool writes);

void sim_race_access(struct sim_region *region, const char *at, size_t size, unsigned how, unsigned site);
void sim_race_read_only(struct sim_region *region, const char *at, size_t size, const void *pc); /* it was, by __ldg */
uint64_t sim_race_floor(const struct sim_region *region);               /* smaller records are history */
extern __attribute__((visibility("hidden"))) const char *sim_just_read; /* plainly by the running thread, or NULL */
/* Faults if the block has read shared memory that nobody had written; the second: if the running warp has, and so
   takes a wrong way. */
void sim_race_check_unwritten(void);
void sim_race_blame_unwritten(void);

void sim_race_polls(struct sim_region *region, const char *at, size_t size); /* the running thread waits for a change */
void sim_race_copy_begins(struct sim_region *region, const void *at, size_t size, unsigned site);
void sim_race_copy_ends(struct sim_region *region, const void *at, size_t size,
                        unsigned site); /* the running thread waited for it */

/* The phase of an mbarrier ends (-1: of a named barrier): who waits for it learns what those who arrived knew, and its
   copies are there. */
void sim_race_phase_ends(int barrier, const struct vector_clock *arrived, struct vector_clock *ended);
void sim_race_bulk_ends(struct sim_region *region, const void *at, size_t size, unsigned site, unsigned barrier);

/* What orders accesses at gates (announce.h): `known` is the gate's. */
void sim_gate_begins(void **known);
void sim_gate_arrived(void *known);
void sim_gate_sent(void *known);
void sim_gate_ends(void *known, int barrier);
void sim_gate_passed(void *known, unsigned thread);
void sim_gates_forget(void);

/* The TMA is asked by the running thread to store these pieces of shared memory: faults if they were written and not
   fenced for it. Until the second call nobody may write there: then it has read them. And the fence. */
struct sim_piece;
void sim_race_store_begins(const struct sim_piece *pieces, size_t count, unsigned site);
void sim_race_store_reads(const struct sim_piece *pieces, size_t count, unsigned site);
void sim_race_proxy_fence(void);

/* If it is set, a race that is about to be told tells it of the other access: where, whose, and of what. */
extern void (*sim_race_tells)(const void *pc, unsigned thread, uint32_t block, const void *at);

#endif
