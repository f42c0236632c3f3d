/* kernels.h - the launchers of chapter 10, in the order of the text. */
#ifndef CHUNK_STATE_KERNELS_H
#define CHUNK_STATE_KERNELS_H

#include "chunk_state.h"

#ifdef __cplusplus
extern "C" {
#endif

chunk_state_launcher chunk_state_copy;     /* h_local to h_out, nothing else: what the others are compared with */
chunk_state_launcher chunk_state_launches; /* one launch for each chunk */
chunk_state_launcher chunk_state_reread;   /* one launch; the state comes from memory in each step */
chunk_state_launcher chunk_state_registers, chunk_state_registers_backward; /* the state stays in a register */
chunk_state_launcher chunk_state_ahead; /* four columns a thread, the next chunks on their way */
chunk_state_launcher chunk_state_bulk, chunk_state_bulk_backward; /* the copy engine brings them (sm_90) */
chunk_state_launcher chunk_state_split; /* a head's chunks spread over blocks (sm_90) */
chunk_state_launcher chunk_state_low_rank, chunk_state_low_rank_backward;

/* One of these, by shape and chip. */
chunk_state_launcher chunk_state_forward, chunk_state_backward;

/* Bytes of workspace. */
size_t chunk_state_registers_workspace(const struct chunk_state_args *args, bool backward);
size_t chunk_state_bulk_workspace(const struct chunk_state_args *args, bool backward);
size_t chunk_state_split_workspace(const struct chunk_state_args *args, bool backward);
size_t chunk_state_low_rank_workspace(const struct chunk_state_args *args, bool backward);
size_t chunk_state_default_workspace(const struct chunk_state_args *args, bool backward);

extern const struct chunk_state_kernel chapter10_kernels[];

#ifdef __cplusplus
}
#endif
#endif
