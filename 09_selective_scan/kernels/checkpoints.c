/* SPDX-License-Identifier: MIT */
/* checkpoints.c - the gradients with little memory. fused_backward saves the states of all of time, and the parts of
   d_B and d_C of all blocks. Here the workspace has room for these of one window of time, and the windows come one
   after the other, from the last one to the first:

       first, through all of time     checkpoints: the state before each window   (checkpoints_states.cu)
       for each window                the states before its chunks, once more     (checkpoints_states.cu)
                                      its gradients                               (checkpoints_backward.cu)
                                      its d_B and d_C, from those of all blocks   (window_sums.cu)

   The more bytes there are, the longer is a window. States are taken in slices of 16, each as if it were all: what
   belongs to a channel and a state has in the workspace a place of its own, slice by slice. Where channels are few, a
   sequence is cut into segments, as for fused_backward, and a launch takes a window of each of them. */
#include "checkpoints.h"
#include "grid.h"
#include "selective_check.h"
#include "workspace.h"

/* So many blocks are to be at work as fill a chip of this size: then the plan, and with it the order of additions, does
   not depend on the chip. */
enum { MULTIPROCESSORS = 132, SHORT = 128 };

bool selective_checkpoints_fit(const struct selective_args *args)
{
    return args->states != 0 && args->seq_len <= SELECTIVE_INT_STEPS &&
           args->batch * args->channels <= 0x7FFFFFFF / args->states; /* rows of arrays are counted by int */
}

/* The arguments as a kernel sees them that knows of one slice only. */
static struct selective_args slice_of(const struct selective_args *args, size_t first_state)
{
    struct selective_args slice = *args;
    const size_t left = args->states - first_state;
    slice.states = left < CHECKPOINT_STATES ? left : CHECKPOINT_STATES;
    return slice;
}

static size_t round_up(size_t count, size_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* Windows are multiples of 32 steps, and so long that a checkpoint of all slices finds room in d_u and d_delta: see
   checkpoints_states.cu. */
static size_t fewest_steps(const struct selective_args *args)
{
    const size_t slices = (args->states - 1) / CHECKPOINT_STATES + 1;
    return round_up((slices + 1) * 16 * sizeof(float) / (2 * dtype_bytes(args->dtype)), 32);
}

/* As many segments, or fewer, and windows of as many steps. */
static struct selective_windows lay_out(const struct selective_args *args, size_t segments, size_t window_steps)
{
    const struct selective_args slice = slice_of(args, 0);
    struct selective_windows w = {.per_group = selective_fused_parts(&slice), .all_states = args->states};
    w.slices = (args->states - 1) / CHECKPOINT_STATES + 1;
    w.segment_steps = round_up((args->seq_len + segments - 1) / segments, 32);
    w.segments = (args->seq_len - 1) / w.segment_steps + 1;
    w.window_steps = window_steps < w.segment_steps ? window_steps : w.segment_steps;
    w.windows = (w.segment_steps - 1) / w.window_steps + 1;
    const size_t rows = args->batch * args->channels, both = w.segments * rows;
    const size_t carries = w.segments > 1 ? rows * slice.states : 0;
    const size_t blocks = args->batch * args->groups * w.per_group, steps = w.segments * w.window_steps;
    const size_t warp_channels = 64 / selective_checkpoints_lanes(&w);
    w.A = selective_next_piece(args, args->channels * args->states, &w.bytes);
    w.d_D = selective_next_piece(args, both, &w.bytes);
    w.d_bias = selective_next_piece(args, both, &w.bytes);
    w.d_A = selective_next_piece(args, both * args->states, &w.bytes);
    w.end = selective_next_piece(args, both * args->states, &w.bytes);
    w.start = selective_next_piece(args, both * args->states, &w.bytes);
    w.product = selective_next_piece(args, w.segments * carries, &w.bytes);
    w.first = selective_next_piece(args, carries, &w.bytes);
    w.last = selective_next_piece(args, carries, &w.bytes);
    w.d_B = selective_next_piece(args, blocks * slice.states * steps, &w.bytes);
    w.d_C = selective_next_piece(args, blocks * slice.states * steps, &w.bytes);
    w.saved = selective_next_piece(args, blocks * FUSED_WARPS * (steps / STATE_PASSING_STEPS) * SAVED_FLOATS, &w.bytes);
    w.so_far =
        selective_next_piece(args, w.slices > 1 ? blocks * FUSED_WARPS * 3 * warp_channels * steps : 0, &w.bytes);
    return w;
}

/* The segments that fill a chip, or so many that their windows can have SHORT steps; then windows as long as there is
   room for. */
static struct selective_windows plan(const struct selective_args *args, size_t bytes)
{
    const struct selective_args slice = slice_of(args, 0);
    const size_t fewest = fewest_steps(args), not_short = fewest > SHORT ? fewest : SHORT;
    size_t segments = selective_fused_segments(&slice, MULTIPROCESSORS);
    while (segments > 1 && lay_out(args, segments, not_short).bytes > bytes)
        segments--;
    struct selective_windows w = lay_out(args, segments, fewest);
    const size_t of_32 = lay_out(args, segments, fewest + 32).bytes - w.bytes; /* 0: one window is all there is */
    if (of_32 != 0 && bytes > w.bytes)
        w = lay_out(args, segments, fewest + (bytes - w.bytes) / of_32 * 32);
    const size_t even = round_up((w.segment_steps + w.windows - 1) / w.windows, 32); /* the same number of them */
    return lay_out(args, segments, even > fewest ? even : fewest);
}

/* A quarter of u, while that is less than a large chip's L2 cache, or two bytes for each five elements of u, if either
   is enough; and no more than one window needs. */
size_t selective_checkpoints_workspace(const struct selective_args *args, bool backward)
{
    if (!backward || selective_is_empty(args))
        return 0;
    const size_t elements = args->batch * args->channels * args->seq_len,
                 quarter = elements * dtype_bytes(args->dtype) / 4;
    const size_t cached = (size_t)48 << 20, small = quarter < cached ? quarter : cached, large = elements / 5 * 2;
    const size_t fewest = lay_out(args, 1, fewest_steps(args)).bytes, most = small > large ? small : large;
    return plan(args, most > fewest ? most : fewest).bytes;
}

/* The rows of a slice in the arrays that it has in the workspace. */
static struct selective_windows windows_of_slice(const struct selective_args *args, const struct selective_windows *all,
                                                 size_t first_state)
{
    const size_t before = all->segments * args->batch * args->channels * first_state;
    struct selective_windows w = *all;
    w.first_state = first_state;
    w.A += args->channels * first_state, w.d_A += before, w.end += before, w.start += before;
    return w;
}

/* Queues what brings a slice to its first window: what comes into each segment, from before and from behind, and the
   checkpoints. */
static cudaError_t begin_slice(const struct selective_args *args, const struct selective_windows *w,
                               cudaStream_t stream)
{
    const size_t rows = args->batch * args->channels, all = args->states, first = w->first_state;
    struct selective_args slice = slice_of(args, first);
    const bool several = w->segments > 1;
    float *const before = several ? w->first : w->end, *const behind = several ? w->last : w->start;
    cudaError_t error =
        selective_copy_states(args->channels, slice.states, w->A, slice.states, args->A + first, all, stream);
    if (error == cudaSuccess)
        error = selective_copy_states(rows, slice.states, before, slice.states,
                                      args->initial_state != NULL ? args->initial_state + first : NULL, all, stream);
    if (error == cudaSuccess)
        error = selective_copy_states(rows, slice.states, behind, slice.states,
                                      args->d_final_state != NULL ? args->d_final_state + first : NULL, all, stream);
    slice.A = w->A, slice.initial_state = w->first, slice.d_final_state = w->last;
    if (error == cudaSuccess && (several || w->windows > 1))
        error = selective_checkpoints_states(&slice, w, stream);
    const struct selective_parts parts = {
        .segments = w->segments, .product = w->product, .end = w->end, .start = w->start};
    return error != cudaSuccess ? error : selective_fused_carry(&slice, &parts, stream);
}

static cudaError_t take_window(const struct selective_args *args, const struct selective_windows *w, size_t window,
                               cudaStream_t stream)
{
    struct selective_args slice = slice_of(args, w->first_state);
    slice.A = w->A;
    cudaError_t error = selective_window_states(&slice, w, window, stream);
    if (error == cudaSuccess)
        error = selective_window_backward(&slice, w, window, stream);
    return error != cudaSuccess ? error : selective_window_sums(&slice, w, window, stream);
}

/* Queues what is left when all windows are done: the sums over batches and segments, and d_initial_state. A's place is
   free by then. */
static cudaError_t end_slice(const struct selective_args *args, const struct selective_windows *w, cudaStream_t stream)
{
    const size_t rows = args->batch * args->channels, first = w->first_state;
    const struct selective_parts parts = {
        .per_group = w->per_group, .segments = w->segments, .d_A = w->d_A, .d_D = w->d_D, .d_bias = w->d_bias};
    struct selective_args slice = slice_of(args, first);
    slice.d_B = slice.d_C = NULL, slice.d_A = w->A; /* d_B and d_C are there already */
    cudaError_t error = selective_add_up(&slice, &parts, stream);
    if (error == cudaSuccess)
        error = selective_copy_states(args->channels, slice.states, args->d_A + first, args->states, w->A, slice.states,
                                      stream);
    if (error == cudaSuccess && args->d_initial_state != NULL)
        error = selective_copy_states(rows, slice.states, args->d_initial_state + first, args->states, w->start,
                                      slice.states, stream);
    return error;
}

cudaError_t selective_checkpoints_backward(const struct selective_args *args, cudaStream_t stream)
{
    cudaError_t error = selective_check_args(args, true, 0);
    if (error == cudaSuccess && selective_is_empty(args))
        return selective_finish_empty(args, true, stream);
    if (error == cudaSuccess && !selective_checkpoints_fit(args))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = selective_check_args(args, true, selective_checkpoints_workspace(args, true));
    if (error != cudaSuccess)
        return error;
    const struct selective_windows all = plan(args, args->workspace_size);
    const size_t states = args->states, sums = (size_t)((char *)all.end - (char *)all.d_D);
    error = cudaMemsetAsync(all.d_D, 0, sums, stream); /* d_D, d_bias and d_A */
    for (size_t first = 0; first < states && error == cudaSuccess; first += CHECKPOINT_STATES) {
        const struct selective_windows w = windows_of_slice(args, &all, first);
        error = begin_slice(args, &w, stream);
    }
    for (size_t window = all.windows; window-- > 0;)
        for (size_t first = 0; first < states && error == cudaSuccess; first += CHECKPOINT_STATES) {
            const struct selective_windows w = windows_of_slice(args, &all, first);
            error = take_window(args, &w, window, stream);
        }
    for (size_t first = 0; first < states && error == cudaSuccess; first += CHECKPOINT_STATES) {
        const struct selective_windows w = windows_of_slice(args, &all, first);
        error = end_slice(args, &w, stream);
    }
    return error;
}
