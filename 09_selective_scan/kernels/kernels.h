/* kernels.h - chapter 09: its kernels, and the selective scan (arguments.h) as an operation of the harness. */
#ifndef SELECTIVE_SCAN_H
#define SELECTIVE_SCAN_H

#include "../../common/harness/harness.h"
#include "../../common/harness/operation.h"
#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the kernels ---- */

selective_launcher selective_expanded_forward;   /* coefficients and inputs written out, chapter 05, sums over states */
selective_launcher selective_fused_scan_forward; /* a block a channel, the states in turn, 04's scan over time */
selective_launcher selective_steps_forward;      /* a thread a channel, a loop through time, states in registers */
selective_launcher selective_fused_steps_forward; /* a warp some channels, four states a lane, through shared memory */
selective_launcher selective_warp_specialized_forward; /* some warps walk, the others do the rest for them */
selective_launcher selective_state_passing_forward;    /* the warps of a block take the chunks of time in turn */
selective_launcher selective_steps_backward;           /* the gradients of steps, deterministic */
selective_launcher selective_state_passing_backward;   /* those of relay, deterministic, too */
selective_launcher selective_fused_backward;           /* the same without turns, for many channels */
selective_launcher selective_forward;                  /* the fastest of these for the shape and the chip (default.c) */
selective_launcher selective_backward;

/* Scratch memory in bytes. Forward, steps needs some only for more than STEPS_ELEMS states. */
size_t selective_expanded_workspace(const struct selective_args *args, bool backward);
size_t selective_steps_workspace(const struct selective_args *args, bool backward);
size_t selective_state_passing_workspace(const struct selective_args *args, bool backward);
size_t selective_fused_workspace(const struct selective_args *args, bool backward);
size_t selective_default_workspace(const struct selective_args *args, bool backward);

/* steps: the most states in registers; backward also the steps between two saved states. */
enum { STEPS_CHUNK = 64, STEPS_ELEMS = 16 };

/* relay: the steps of a chunk, which a warp takes at a time. */
enum { STATE_PASSING_STEPS = 8, STATE_PASSING_WARPS = 8 };

/* fused_backward: the warps of a block, the most states, and the fewest steps of a segment, a multiple of 32. */
enum { SPAN_WARPS = 4, SPAN_STATES = 16, SEGMENT_STEPS = 64 };

/* fused_steps: the most warps of a block. They have one B and C. */
enum { FUSED_STEPS_WARPS = 4 };

/* The most that the lanes of a channel hold. */
enum { FUSED_STEPS_STATES = 64, WARP_SPECIALIZED_STATES = 32, STATE_PASSING_STATES = 32 };

/* These count the steps of a sequence in 32 bits, and some beyond its end. */
enum { SELECTIVE_INT_STEPS = 0x7FFFF000 };

/* Partial sums of gradients, which blocks leave at the beginning of the workspace: of a group's channels for d_B and
   d_C, of a channel's batches for the others. */
struct selective_parts {
    size_t per_group;             /* parts of a group */
    size_t segments;              /* parts of a sequence */
    size_t segment_steps;         /* steps of each, but the last one */
    float *d_B, *d_C;             /* (batch, groups, per_group, states, seq_len) */
    float *d_A, *d_D, *d_bias;    /* (segments, batch, channels, states), and both others without states */
    float *product, *end, *start; /* of several segments, (segments, batch, channels, states): see fused_carry.cu */
    int saved_floats; /* that fused_states.cu saves of a warp's chunk: eight a lane, and of several segments */
                      /* one for each of up to 32 channels */
    float *rest;      /* where the workspace goes on */
    size_t bytes;     /* up to there */
};

/* Where they lie in args->workspace; if that is NULL, only `bytes` counts. */
struct selective_parts selective_parts_of(const struct selective_args *args, size_t per_group, size_t segments);

/* How many warps the channels of a group are, a lane a channel. */
size_t selective_warps(const struct selective_args *args);

/* Adds up all parts, always in the same order, and writes the gradients that args has. Launches and does not wait. */
cudaError_t selective_add_up(const struct selective_args *args, const struct selective_parts *parts,
                             cudaStream_t stream);

/* fused_steps: lanes of a channel, warps of a block, and blocks of all channels of all batches, of which there must be
   one. */
size_t selective_fused_steps_lanes(const struct selective_args *args);
size_t selective_fused_steps_warps(const struct selective_args *args);
size_t selective_fused_steps_blocks(const struct selective_args *args);

/* relay: lanes of a channel, and how many blocks have the channels of a group, of which there must be one. */
size_t selective_state_passing_lanes(const struct selective_args *args);
size_t selective_state_passing_blocks(const struct selective_args *args);

/* The same, backward. */
size_t selective_state_passing_parts(const struct selective_args *args);

/* fused_backward: the same, where a block has as many channels as SPAN_WARPS of its warps. */
size_t selective_fused_parts(const struct selective_args *args);

/* fused_roles: the channels of a block, the blocks of all channels of all batches, and whether it takes these sizes. */
enum { WARP_SPECIALIZED_CHANNELS = 16 };
size_t selective_warp_specialized_blocks(const struct selective_args *args);
bool selective_warp_specialized_fits(const struct selective_args *args);

/* Into how many segments fused_backward cuts a sequence on a chip with that many multiprocessors: the fewest with which
   the rounds of its blocks are nearly full. And its parts on this chip. */
size_t selective_fused_segments(const struct selective_args *args, int multiprocessors);
cudaError_t selective_fused_plan(const struct selective_args *args, struct selective_parts *parts);

/* Whether relay takes these sizes, and whether fused_backward does. */
bool selective_state_passing_fits(const struct selective_args *args);
bool selective_fused_fits(const struct selective_args *args);

/* Its first walk, forward through time: leaves the states before each chunk in parts->rest, (batch, groups,
   parts of a group, chunks, 2, 32 lanes, 4). Launches and does not wait (state_passing_states.cu). */
cudaError_t selective_state_passing_states(const struct selective_args *args, const struct selective_parts *parts,
                                           cudaStream_t stream);

/* The same for fused_backward, (batch, groups, parts of a group, warps of a block, chunks, saved_floats)
   (fused_states.cu). Of several segments it also leaves product, end and start. */
cudaError_t selective_fused_states(const struct selective_args *args, const struct selective_parts *parts,
                                   cudaStream_t stream);

/* `end` and `start` of several segments become what comes into each of them: the state before it, and the gradient
   behind it (fused_carry.cu). */
cudaError_t selective_fused_carry(const struct selective_args *args, const struct selective_parts *parts,
                                  cudaStream_t stream);

/* What every launcher checks first (launch.c). cudaErrorInvalidValue for sizes whose bytes overflow, no state or more
   than SELECTIVE_MAX_STATES, groups that do not divide the channels, a needed pointer that is NULL or a base that is
   not aligned to 16 bytes, a workspace of less than `workspace` bytes; cudaSuccess otherwise. */
cudaError_t selective_check_args(const struct selective_args *args, bool backward, size_t workspace);

/* Whether there is no batch, no channel or no step. */
bool selective_is_empty(const struct selective_args *args);

/* What is left to do then: final_state is initial_state, d_initial_state is d_final_state (0 where that is NULL), and
   gradients that add up over nothing are 0. Queues copies and fills, and does not wait. */
cudaError_t selective_finish_empty(const struct selective_args *args, bool backward, cudaStream_t stream);

extern const struct selective_kernel chapter09_kernels[];
extern const struct chapter chapter09;

/* ---- the operation ---- */

extern const struct operation selective_operation;

/* Its sizes, arrays and flags, as they are numbered there. */
enum { BATCH, CHANNELS, STATES, GROUPS, SEQ_LEN };
enum selective_array {
    S_D_OUT,
    S_D_FINAL_STATE,
    S_U,
    S_DELTA,
    S_A,
    S_B,
    S_C,
    S_D,
    S_Z,
    S_DELTA_BIAS,
    S_INITIAL_STATE,
    S_OUT,
    S_FINAL_STATE,
    S_D_U,
    S_D_DELTA,
    S_D_A,
    S_D_B,
    S_D_C,
    S_D_D,
    S_D_Z,
    S_D_DELTA_BIAS,
    S_D_INITIAL_STATE,
    S_NUM_ARRAYS
};
enum { DELTA_SOFTPLUS };

/* A problem as its kernels see it. */
struct selective_args selective_args_of(const struct problem *problem);

/* Very long sequences forget everything at each multiple of this many steps, so that what lies between two of them can
   be checked alone. 0: they do not. */
size_t selective_window(size_t seq_len);

/* Writes the test data of all arrays that the pass reads, on the device (data.cu). Does not wait. */
cudaError_t selective_device_fill(const struct problem *problem, const struct data *data);

/* The oracle (oracle.c). check: all of a problem, on the host. device_check: of arrays on the device, all of a small
   problem and samples of a large one; it copies them to the host, and so waits. */
void selective_check(const struct problem *problem, const struct data *data, int levels, struct finding *finding);
cudaError_t selective_device_check(const struct problem *problem, const struct data *data, int levels,
                                   struct finding *finding);

#ifdef __cplusplus
}
#endif
#endif
