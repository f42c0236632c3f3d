/* SPDX-License-Identifier: MIT */
/* counts.h - the simulator's counts. All counts run from the program's start or the last reset.

   A *request* is one load or store of one warp: what its lanes do at one place in the code at the same time. */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Requests to global memory. */
struct sim_traffic {
    uint64_t requests;
    uint64_t bytes;   /* asked for by the lanes, all together */
    uint64_t sectors; /* pieces of 32 bytes that a request touches, each once a request */
    uint64_t least;   /* sectors that would do if the request's bytes lay side by side */
    uint64_t lines;   /* pieces of 128 bytes, likewise */
    uint64_t once;    /* sectors, each once a launch: what must be moved at the least */
    uint64_t lanes;   /* that take part; a warp has 32 */
};

struct sim_counts {
    uint64_t launches;         /* kernels launched */
    uint64_t blocks;           /* blocks run */
    uint64_t threads;          /* threads run */
    uint64_t barriers;         /* __syncthreads and its kin, named barriers, those of clusters: one for all who come */
    uint64_t warp_barriers;    /* __syncwarp: one for all lanes that take part */
    uint64_t shuffles;         /* __shfl_*_sync: one for all lanes that take part, whatever the width */
    uint64_t votes;            /* ballot, all, any, match, reduce: one for all lanes that take part */
    uint64_t atomics;          /* atomic operations: one for each thread */
    uint64_t orders;           /* releases and acquires, by fences too: one for each thread */
    uint64_t strong_orders;    /* of these: sequentially consistent ones, and those for the whole system */
    uint64_t async_copies;     /* __pipeline_memcpy_async: one for each thread */
    uint64_t bulk_copies;      /* tma_load, tma_load_box, tma_store_box: one for each call */
    struct sim_traffic loads;  /* asynchronous and bulk copies too; a bulk copy is one request */
    struct sim_traffic stores; /* atomics too */
    uint64_t shared_requests; /* loads, stores and atomics of shared memory, and what asynchronous copies write there */
    uint64_t shared_bytes;
    uint64_t shared_lanes; /* that take part in these requests */
    uint64_t conflicts;    /* how often a request to shared memory must be repeated because of banks */
    uint64_t contention;   /* how often an atomic request must be repeated because lanes go to the same address */
    uint64_t chain;      /* the most that one thread does one after the other: elements stored, and waits for others */
    uint64_t idle_waits; /* waits of a thread for its copies after which none of them is on its way */

    /* What an estimate of time needs (cusim/estimate, where the course is): */
    uint64_t fills;         /* sectors that loads have L1 fetch: those that it does not hold (observe.cpp) */
    uint64_t merges;        /* sectors that a store of a warp touches which its store just before has touched */
    uint64_t ahead_bytes;   /* that warps have asked for before they first waited for some, all warps together */
    uint64_t block_turns;   /* lines, and turns of shared memory, of the block that has most */
    uint64_t shared_memory; /* bytes of all blocks */
    uint64_t far_steps, l2_steps, near_steps, copy_steps, shared_steps, exchange_steps,
        meeting_steps; /* the longest path: path.h */
    uint64_t handovers,
        handover_work; /* the longest path across blocks: words that they wait for; other steps but loads */

    /* Where addresses alone are judged (CUSIM_CHECKS=bounds), after sim_count_plainly: bytes that plain and volatile
       loads and stores ask for, of all memory but the threads' own. What one place in the code reads from one address
       again and again counts once: so long may a thread have waited. They stand last: a trace leaves them out
       (observe/trace.cpp). */
    uint64_t plain_loads, plain_stores;
};

/* What a program has left behind, since its start or since sim_forget_left. */
struct sim_left {
    uint64_t allocations; /* of device, pinned and managed memory that were not freed, */
    uint64_t bytes;       /* and how large they are together */
    uint64_t handles;     /* streams, events, graphs, arrays and textures that were not destroyed */
    uint64_t errors;      /* calls that returned an error which nobody looked at, see below */
    uint64_t unwaited;    /* what streams still have to do */
};

/* Counts that, and gives each thing to `tell` as a line: "1600 bytes from cudaMalloc at scan.cu:12 were never freed",
   "cudaMemcpy at scan.cu:20 returned cudaErrorInvalidValue, which nobody looked at" (tell: NULL if not wanted).
   An error counts if the program asked for something else after it, other than to free and destroy (or `goes_on`: it is
   about to), and neither cudaGetLastError was called nor a name or text of that error asked for. */
struct sim_left sim_left_behind(bool goes_on, void (*tell)(const char *line, void *context), void *context);
void sim_forget_left(void);

/* Whether plain_loads and plain_stores are counted, which takes time (they are not). */
void sim_count_plainly(bool on);

struct sim_counts sim_get_counts(void);
void sim_reset_counts(void);

/* How many kernels were launched on the default stream since the program's start. */
uint64_t sim_default_launches(void);

/* Has `count` launches fail with `error`, from the one with this number on, counted from 0 and from now on: their
   kernels do not run. For programs that check what a launcher does then. Number -1: none. Returns whether the first of
   those asked for before is still to come. */
bool sim_refuse_launches(int number, int count, cudaError_t error);

/* Whether a launch that the device cannot run ends the program with an error line that says why, and does not return an
   error: for programs that judge. */
void sim_end_at_wrong_launch(bool on);

/* Whether a copy to the host of what nothing has written is a fault (it is): for programs that look at each element. */
void sim_tell_unwritten(bool on);

/* A call of the host API that a program has to check, or a launch. */
struct sim_call_made {
    const char *name; /* "cudaMalloc", or the kernel that is launched */
    bool is_launch;
    bool can_fail;      /* false: only listed because it has failed */
    cudaError_t error;  /* what it has returned */
    const void *stream; /* that it was queued on; NULL: the default stream, or none */
    const void *event;  /* that it has recorded in the stream, or made the stream wait for; else NULL */
};

/* On: remembers from now on the calls that allocate, copy, fill, wait, create and launch, and has the one with
   the number `fails` fail, counted from 0 among those that can: it does nothing, and returns an error that a GPU may
   give there. -1: none. For judges and tests; CUSIM_FAIL does it for a whole program. */
void sim_watch_calls(bool on, int fails);
size_t sim_num_calls(void);
struct sim_call_made sim_get_call(size_t i);

/* Where that call stands: "file.cu:12". To find it takes a hundredth of a second. */
void sim_locate_made(size_t i, char *text, size_t size);

/* Memory of the host, as from malloc, of which the simulator knows: only copies from and to the device may touch it,
   and not past its end; and from the first one on nothing is copied to other memory of the host. For programs that have
   others copy their arrays. NULL: there is no memory. */
void *sim_host_array(size_t size);
void sim_free_host_array(void *array);

/* Adds what was counted since the last reset to the file that CUSIM_TRACE names, under a label that stands in the
   file's first columns. Their names are the same in all calls, for example
   chapter,variant,direction,num_seqs,seq_len. Without CUSIM_TRACE it does nothing. */
void sim_trace(const char *columns, const char *label);

/* Gives a piece of device memory a name, which messages then say ("the 400-byte array inputs"). It may lie inside an
   allocation: kernels must not leave it, though around it there is room, such as guards. `name` is kept, not copied. */
void sim_name_array(const void *start, size_t size, const char *name);

/* Tells of what elements a named array is made, so that messages say outputs[2][17]: bytes of one, and its dimensions,
   outermost first. At most 6. */
void sim_shape_array(const void *start, size_t element, unsigned num_dims, const size_t *dims);

/* Gives what kernels print, one call of printf after the other, to this function in place of standard output: `block`
   is blockIdx.x, `thread` its number in the block, as below; `text` is valid during the call, which must not launch.
   NULL: to standard output again. */
void sim_print_to(void (*sink)(unsigned block, unsigned thread, const char *text, void *context), void *context);

/* On: from now on host code that loops for CUSIM_WATCHDOG seconds of processor time, and launches nothing, is stopped
   and named like a kernel that does. For judges, around a call of what they judge. */
void sim_watch_host(bool on);

/* Which thread of the last launch wrote these 4 bytes of device memory last: its number in its block, the block's
   number (.x), and where, as "file.cu:12" (place: NULL if not wanted). Returns false if none did. */
bool sim_last_write(const void *address, unsigned *block, unsigned *thread, char *place, size_t size);

/* From now on watched code, of .cu files, must not touch the program's own data behind these places in .data and .bss
   nor, on the host, the stack from the third one on (NULL: none). For a program that runs code which it does not trust,
   linked in front of its own. */
void sim_protect(const void *data, const void *bss, const void *stack);

#ifdef __cplusplus
}
#endif
#endif
