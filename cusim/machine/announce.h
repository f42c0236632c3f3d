/* SPDX-License-Identifier: MIT */
/* announce.h - announcements of all that happens. The machine and the runtime announce it; observers subscribe
   before main (observe/subscribe.cpp has the list), and nobody below names one of them:

       machine, runtime                        observe, explain
       sim_tell.barrier_passed();  --------->  clocks, then the path, then the recorder

   Listeners are called in the order in which they have subscribed. Without any, nothing happens. */
#ifndef SIM_ANNOUNCE_H
#define SIM_ANNOUNCE_H

#include <stddef.h>
#include <stdint.h>

#include "../include/cuda_runtime_api.h"

struct block;
struct thread;
struct sim_call;
struct sim_counts;
struct sim_elements;
struct sim_region;

/* What a copy of the TMA moves: bytes that follow each other on both sides. */
struct sim_piece {
    char *shared, *global; /* global NULL: outside of the array, zeros */
    size_t bytes;
};

template <typename... What>
struct announcement {
    void (*listeners[4])(What... what);
    unsigned count;

    void operator()(What... what) const
    {
        for (unsigned i = 0; i < count; i++)
            listeners[i](what...);
    }
    void add(void (*listener)(What... what))
    {
        listeners[count++] = listener;
    }
};

/* What happens at each turn of a thread has one listener, whose call is all that it costs. */
template <typename... What>
struct sole_announcement {
    static void nobody(What...)
    {
    }
    void (*listener)(What... what) = nobody;

    void operator()(What... what) const
    {
        listener(what...);
    }
    void add(void (*only)(What... what))
    {
        listener = only;
    }
};

/* `pc`: where the program does it. `known`: a place that whoever announces keeps for observers, NULL at first. */
struct sim_announcements {
    /* A launch is about to begin; its blocks begin, with these arguments; all have ended, and this is what it counted.
       A process that runs a part of its blocks begins. Counting begins anew. */
    announcement<const void *, const char *> launch_asked;
    announcement<const void *, size_t> launch_begins;
    announcement<struct sim_counts *> launch_ends;
    announcement<> process_begins;
    announcement<> counts_reset;

    /* The running block begins; another block goes on; all its threads have ended; it is about to leave. */
    announcement<struct block *> block_begins;
    announcement<struct block *> block_goes_on;
    announcement<> block_done;
    announcement<struct block *> block_ends;

    /* A thread goes on. All lanes of a warp that could run have had their turn. */
    sole_announcement<struct thread *> turn;
    announcement<unsigned> pass;

    /* The running thread comes to a barrier: its name, the number in the grid of the block whose it is (or of the
       first one), how often that was passed. All threads of the block have come. A fence, of these kinds (access.h).
       */
    announcement<const char *, uint64_t, uint64_t, const char *, int> barrier_reached;
    announcement<> barrier_passed;
    announcement<unsigned> fence;

    /* The running lane makes a call for which lanes wait; the lanes of a mask have made it (kind: sim_warp_kind). */
    announcement<const char *, int> warp_call;
    announcement<struct thread *, int, unsigned> warp_met;

    /* The running lane has these parts of matrices that a warp loads or multiplies (include/sim_mma_sync.h). */
    announcement<const char *, const void *, const void *, const float *> fragments;

    /* Blocks that meet, those of a cluster or of the grid: the running thread tells what it knows; all have come;
       it goes on, and has told or not. */
    announcement<> blocks_told;
    announcement<void **, struct block *const *, unsigned> blocks_met;
    announcement<void *, bool> blocks_learnt;

    /* Gates, which are named barriers and mbarriers: one begins; the running thread arrives, or sends there from
       another block; its phase ends (of an mbarrier: its number, else -1); the thread with that number goes through
       it. */
    announcement<void **> gate_begins;
    announcement<void *> gate_arrived;
    announcement<void *> gate_sent;
    announcement<void *, int> gate_ends;
    announcement<void *, unsigned> gate_passed;

    /* The running warp has waited for its copies, or for another block. What it waits on: "copies" or "mbarrier", that,
       the parity, how much is missing. A phase has begun: its barrier, its number, the arrivals that it expects. */
    announcement<bool> waited;
    announcement<const char *, const void *, unsigned, size_t> waits_on;
    announcement<const void *, unsigned, unsigned> phase_begins;

    /* A word of memory is accessed by a call (how: access.h). A copy sets out for shared memory; what it reads and
       writes, as part of a request of the warp; a block sends a word; a copy has arrived there (of the mbarrier with
       that number, or -1). */
    announcement<const void *, size_t, unsigned, const void *> accessed;
    announcement<const void *, size_t, const void *> copy_begins;
    announcement<const void *, const void *, size_t, const void *, size_t> copy_reads;
    announcement<const void *, size_t> word_sent;
    announcement<const void *, size_t, const void *, int> copy_arrived;

    /* The TMA is asked for a copy of these pieces: a load, or a store of shared memory. A store has read its pieces,
       and they are there. The running thread orders its accesses to shared memory before those of the TMA. */
    announcement<const void *, const struct sim_piece *, size_t> tma_loads;
    announcement<const void *, const struct sim_piece *, size_t> tma_stores;
    announcement<const void *, const struct sim_piece *, size_t> store_reads;
    announcement<const struct sim_piece *, size_t> stored;
    announcement<> proxy_fence;

    /* A region is made (observers set `unobservable` where they have no room for it), gone, holds nothing that was
       written; shared memory of the running block that others of its cluster can reach is about to go. */
    announcement<struct sim_region *> region_made;
    announcement<struct sim_region *> region_gone;
    announcement<struct sim_region *> region_unwritten;
    announcement<struct sim_region *> shared_leaves;

    /* The host, a copy or a fill has written bytes of a region; has copied them with what is known of them; is about to
       touch them, and writes or not. */
    announcement<struct sim_region *, const void *, size_t> written;
    announcement<struct sim_region *, const void *, struct sim_region *, const void *, size_t> copied;
    announcement<struct sim_region *, const void *, size_t, bool> touched;

    /* A copy is about to give to the host, of memory of the device: rows from there, so far apart, of that width, so
       many; what elements they consist of, or NULL. */
    announcement<const void *, size_t, size_t, size_t, const struct sim_elements *> given;

    /* The host API: a call begins; has made something (its kind, or NULL for memory, of that size); it is given back
       (NULL: all); an error is returned, and in a sentence why (or NULL); the program gets what a call has just
       returned, or throws it away; it looks at that error (cudaSuccess: at all). */
    announcement<const struct sim_call *> call_begins;
    announcement<const void *, const char *, size_t> made;
    announcement<const void *> gone;
    announcement<cudaError_t, const char *, const struct sim_call *> erred;
    announcement<cudaError_t, bool> thrown_away;
    announcement<cudaError_t> looked_at;

    /* What a kernel prints. It has taken a way that it should not (__trap, a failed assert). */
    announcement<const char *> printed;
    announcement<> wrong_way;

    /* A fault, by file and line or by pc: whoever listens says it, and ends the program. A remark: keeps it. */
    announcement<const char *, int, const void *, const char *> fault;
    announcement<const char *, int, const void *, const char *> remark;

    /* Questions, answered in the last argument, or in the text. What messages call the bytes at an address (length 0:
       the place), and a region. Whether a run leaves out this barrier. */
    announcement<const void *, size_t, char *, size_t> describe;
    announcement<const struct sim_region *, char *, size_t> name_region;
    announcement<const char *, const char *, int, bool *> leaves_out;
};
extern struct sim_announcements sim_tell;

/* Whether accesses to memory are to be announced: not with CUSIM_CHECKS=bounds or none, where addresses alone are
   judged. And whether the program has kernels that were compiled so. */
extern bool sim_watches, sim_has_kernels;

#endif
