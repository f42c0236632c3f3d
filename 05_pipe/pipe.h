/* pipe.h - chapter 05: sequences of any length, tile after tile. */
#ifndef PIPE_H
#define PIPE_H

#include "../common/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ways to move a tile between global memory and registers. */
enum pipe_movement {
    PIPE_BLOCKED,    /* each thread its own consecutive elements, one after the other */
    PIPE_STAGED,     /* through shared memory, so that neighbouring lanes read neighbouring elements */
    PIPE_VECTOR,     /* a float4 per lane; the next tile is on its way while this one is scanned */
    PIPE_ASYNC,      /* cp.async into stages of shared memory (sm_80) */
    PIPE_BULK,       /* the bulk copy engine into stages of shared memory (sm_90) */
    PIPE_BULK_FIRST, /* as bulk; what is read leaves the L2 cache first */
    PIPE_BULK_LAST,  /* as bulk; what is read leaves the L2 cache last */
    PIPE_FLAT,       /* a float4 per lane, each warp by itself, several sequences in a tile if they are short */
    PIPE_WARP,       /* as flat, a whole sequence at once */
};

#define PIPE_IS_BULK(movement) ((movement) >= PIPE_BULK && (movement) <= PIPE_BULK_LAST)

/* One way to run the recurrence. */
struct pipe_config {
    enum pipe_movement movement;
    int rows, group; /* a thread holds rows * group elements; one of PIPE_CONFIGS; flat: 1 and 4; warp: 2 or 4 and 4 */
    int threads;     /* per block: a multiple of 32, up to what is compiled; flat, warp: PIPE_FLAT_MAX_THREADS */
    int stages;      /* tiles in shared memory at once, up to PIPE_MAX_STAGES; 1 for movements without stages */
};

/* What is compiled: movement, rows, group, and the most threads of a block, which limits the registers of each. A
   header that `make TUNED=...` includes before this one (chapter 07) may add to it, and say which the default takes, up
   to which length: X(length, movement, rows, group, threads, stages). */
#ifndef PIPE_TUNED_CONFIGS
#define PIPE_TUNED_CONFIGS(X)
#define PIPE_TUNED_LENGTHS(X)
#endif
#ifndef PIPE_CONFIGS
#define PIPE_CONFIGS(X)                                                                                                \
    PIPE_TUNED_CONFIGS(X)                                                                                              \
    X(PIPE_BLOCKED, 1, 8, 512)                                                                                         \
    X(PIPE_STAGED, 1, 8, 512)                                                                                          \
    X(PIPE_VECTOR, 2, 4, 512)                                                                                          \
    X(PIPE_ASYNC, 2, 4, 512)                                                                                           \
    X(PIPE_BULK, 2, 4, 512)                                                                                            \
    X(PIPE_BULK_FIRST, 2, 4, 512)                                                                                      \
    X(PIPE_BULK_LAST, 2, 4, 512)                                                                                       \
    X(PIPE_BULK_LAST, 4, 4, 512)
#endif
enum {
    PIPE_MAX_STAGES = 4,
    PIPE_FLAT_ROW = 128,
    PIPE_FLAT_MAX_LEN = 1 << 30,
    PIPE_FLAT_MAX_THREADS = 512,
    PIPE_WARP_MAX_LEN = 512
};

/* warp: whether so many rows hold a sequence; one of odd length may begin up to 3 elements into its first float4. */
static inline bool pipe_warp_holds(int rows, size_t seq_len)
{
    return (seq_len % 4 == 0 ? seq_len : seq_len + 3) <= (size_t)rows * PIPE_FLAT_ROW;
}

/* The configuration that pipe_default_forward takes for this length on a chip of this compute capability (90 for 9.0)
   whose blocks may have `shared_limit` bytes of shared memory. */
struct pipe_config pipe_default_config(size_t seq_len, int arch, size_t shared_limit);

/* One that suits the movement. */
struct pipe_config pipe_movement_config(enum pipe_movement movement, size_t seq_len);

/* Threads a block for sequences cut into `tiles` tiles of `elems` elements a thread, or into more if that took more
   than `most` threads; all tiles about equally full. */
int pipe_threads(size_t seq_len, int elems, size_t tiles, int most);

/* Dynamic shared memory that a block of this configuration takes when so many arrays are read, in bytes. */
size_t pipe_shared_bytes(const struct pipe_config *config, int arrays);

/* Forward or reversed, any length (flat: up to PIPE_FLAT_MAX_LEN, warp: up to PIPE_WARP_MAX_LEN), up to 2^31 - 1
   sequences, with a configuration, a movement or the default. cudaErrorInvalidValue for a configuration that is not
   compiled or out of range, cudaErrorNotSupported where the chip lacks what the movement needs. */
cudaError_t pipe_launch(const struct pipe_config *config, const struct linrec_args *args, cudaStream_t stream);
cudaError_t pipe_movement(enum pipe_movement movement, const struct linrec_args *args, cudaStream_t stream);
cudaError_t pipe_default(const struct linrec_args *args, cudaStream_t stream);

/* The same, forward only: what the table holds. */
linrec_launcher pipe_blocked_forward, pipe_staged_forward, pipe_vector_forward, pipe_async_forward, pipe_bulk_forward,
    pipe_bulk_first_forward, pipe_bulk_last_forward, pipe_flat_forward, pipe_warp_forward, pipe_default_forward;

extern const struct linrec_kernel chapter05_kernels[];

#ifdef __cplusplus
}
#endif
#endif
