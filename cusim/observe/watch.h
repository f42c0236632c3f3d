/* SPDX-License-Identifier: MIT */
/* watch.h - records a launch step by step, for the page that plays it: CUSIM_WATCH=page.html (docs/watch.md).

   subscribe.cpp tells it what happens, while sim_watching is true. */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct block;
struct sim_counts;
struct sim_region;
struct thread;

__attribute__((visibility("hidden"))) extern bool sim_watching; /* this process records the launch that runs, */
extern uint64_t sim_watch_most;                                 /* in about so many bytes */

/* A launch begins. If it is the one to be recorded, this process runs it some times more, in children that record:
   there the function returns with sim_watching true. */
void sim_watch_launch(const void *kernel, const char *name);
void sim_subscribe_recorder(void); /* subscribe.cpp: from now on the recorder hears what happens */
[[noreturn]] void sim_watch_launch_end(const struct sim_counts *counts);
void sim_watch_counted(void); /* counting begins anew */
void sim_watch_block(const struct block *block, bool begins);

/* The running thread goes on; all lanes of a warp that could have had their turn; who waits may have changed. */
void sim_watch_turn(unsigned thread);
void sim_watch_pass(unsigned warp);
void sim_watch_states(void);

/* The running thread is about to access memory, as part of that request of its warp (observe.cpp); what requests cost,
   once all lanes have joined them. */
void sim_watch_access(const struct sim_region *region, const char *at, size_t size, unsigned how, const void *pc,
                      unsigned request);
void sim_watch_cost(unsigned request, uint64_t sectors, uint64_t lines, uint64_t conflicts);

/* Lanes of a warp have exchanged something: in[] is what each gave, its value what it got. */
void sim_watch_exchange(struct thread *warp, int kind, unsigned mask);

/* The running lane has these parts of matrices (include/sim_mma_sync.h). */
void sim_watch_fragments(const char *what, const void *a, const void *b, const float *c);

/* The running thread comes to a barrier: `what` is its name, `owner` the block (or the first
   one of the cluster), `number` says how often it was passed. */
void sim_watch_barrier(const char *what, uint64_t owner, uint64_t number, const char *file, int line);
void sim_watch_call(const char *file, int line); /* something else that lanes wait for */

/* The running thread comes to a barrier that a run may leave out: whether this one does. */
bool sim_watch_leaves_out(const char *what, const char *file, int line);
void sim_watch_leaves(uint64_t most); /* it has left out one: so many bytes for what comes */
void sim_watch_fence(void);
void sim_watch_print(const char *text);

/* A copy sets out, and arrives. `request`, `shared_request`: numbers of those that ask for it and that store it, or -1
   where they are none of the warp's. A piece of what the TMA is asked for: `is_part` of a copy that has been told; and
   what it costs. */
struct sim_piece;
void sim_watch_copy(const char *how, const void *to, const void *from, size_t size, int request, int shared_request);
void sim_watch_tma(const struct sim_piece *piece, bool stores, bool is_part, uint64_t sectors, uint64_t lines);
void sim_watch_arrive(const void *to, size_t size);
void sim_watch_wait(const char *on, const void *barrier, unsigned parity, size_t left);
void sim_watch_phase(const void *barrier, unsigned phase, unsigned pending);

/* What a fault will say: who else takes part in it; and the fault itself, of which the process ends. */
void sim_watch_other(const void *pc, unsigned thread, uint32_t block, const void *at);
void sim_watch_fault(const char *message, const char *where);

#endif
