/* SPDX-License-Identifier: MIT */
/* linrec.h - linear recurrences on a GPU, for any program in C or C++. It is installed under this name, beside
   liblinrec.a, liblinrec.so and linrec.pc:

       cc program.c $(pkg-config --cflags --libs linrec)

   Five operations, each with its gradients: the linear recurrence, the same in the layout of models, (batch, time,
   channels), the selective scan of Mamba, the layer of Mamba-2, and the states between the chunks of a chunkwise layer.
   Each has one struct of sizes and pointers, and three functions:

       linrec_X_workspace(&x, pass, &bytes)     how much scratch memory these sizes need on the current device
       linrec_X_forward(&x, stream)             queues the operation on a stream
       linrec_X_backward(&x, stream)            queues its gradients

   For a model that writes there also are linrec_layout_step, linrec_selective_scan_step and linrec_chunk_state_step,
   one step in place; and for several GPUs, each with a stretch of time, linrec_X_transition of the layers.

   What is true of all of them:

   - A struct begins as all zeros, `struct linrec_recurrence r = {0}`, and what is not set is not there. It is read
     during the call alone.
   - Pointers are to memory of the current device. Arrays are row-major, without gaps between rows, their bases are
     aligned to 16 bytes, and no array that is written overlaps another one. Nothing before an array's first or past
     its last element is read or written. The layout of models and the steps have it easier: rows of struct
     linrec_layout, linrec_step, linrec_selective_step and linrec_chunk_step may lie apart, and a base is aligned as one
     element is; a workspace is aligned to 16 bytes there, too.
   - A call runs on the current device, allocates nothing, does not wait, keeps nothing from one call to the next, and
     may be captured in a CUDA graph. Several host threads may call at the same time, with a workspace each.
   - It returns one of the statuses below. It neither returns nor clears an error of the CUDA runtime that was there
     before. With a wrong argument nothing is launched.
   - The current device must be the one that the stream belongs to. */
#ifndef LIBLINREC_H
#define LIBLINREC_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#define LINREC_VERSION_MAJOR 1 /* another one: programs are to be compiled again */
#define LINREC_VERSION_MINOR 0 /* a larger one: there is more than before */
#define LINREC_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

#define LINREC_API __attribute__((visibility("default")))

/* The version of the library that runs: 10000 * major + 100 * minor + patch. */
LINREC_API int linrec_version(void);

/* ---- what a call returns ---- */

/* An error of CUDA is a status, too: LINREC_CUDA_ERROR plus its cudaError_t, which linrec_cuda_error gives back. */
enum linrec_status {
    LINREC_SUCCESS = 0,
    LINREC_INVALID_ARGUMENT = 1,    /* a size, a type, or a pointer that is missing or not aligned as said above */
    LINREC_WORKSPACE_TOO_SMALL = 2, /* none, or fewer bytes than linrec_X_workspace says */
    LINREC_NOT_SUPPORTED = 3,       /* right, but nothing here can run it: not on this device, or not for these sizes */
    LINREC_CUDA_ERROR = 1000
};

/* What a status means, in a sentence, or CUDA's words for an error of CUDA. Never NULL. */
LINREC_API const char *linrec_strerror(int status);

/* The cudaError_t of a status, cudaSuccess if it is none of CUDA's. */
static inline cudaError_t linrec_cuda_error(int status)
{
    return status > LINREC_CUDA_ERROR ? (cudaError_t)(status - LINREC_CUDA_ERROR) : cudaSuccess;
}

/* ---- workspaces ---- */

/* Which of its two functions a workspace is for. */
enum linrec_pass { LINREC_FORWARD = 0, LINREC_BACKWARD = 1 };

/* Queues what a new workspace needs before its first call. After that it serves one operation, the recurrence for
   example, call after call, forward and backward and with any sizes for which it is large enough. It is to be
   initialised again before another operation takes it, after other code has written to it, and after a call that
   failed or was not run to its end. Calls that may run at the same time need a workspace each. */
LINREC_API int linrec_workspace_init(void *workspace, size_t bytes, cudaStream_t stream);

/* ---- the linear recurrence ---- */

/* For each sequence of length L = seq_len, all arrays float32:

       outputs[l] = outputs[l-1] * coeffs[l] + inputs[l]                  l = 0 ... L-1, outputs[-1] = initial_state

   and, where `reverse` is set, the same from the last element to the first. Without an initial state the first
   coefficient (reversed: the last) is not used. Backward, given the gradient d_outputs of some loss:

       d_inputs[l] = d_inputs[l+1] * coeffs[l+1] + d_outputs[l],   d_coeffs[l] = outputs[l-1] * d_inputs[l]

   where d_final_state is added to d_outputs[L-1], d_coeffs[0] = initial_state * d_inputs[0], and d_initial_state =
   d_inputs[0] * coeffs[0]. Where there are no elements nothing happens, but that a sequence ends in the state in which
   it begins, which is 0 without an initial state; the same of the gradients. Results are promised as long as all
   products of coefficients that follow each other are finite: tiles of a sequence are computed apart, so where such a
   product overflows, with abs(coeffs) > 1 again and again, a NaN may come where the loop has a finite number. An output
   that is infinite may become a NaN where the loop keeps the infinity, from the first element on at which a product of
   coefficients that follow each other behind it underflows to 0, because 0 * infinity is NaN; it never becomes finite,
   and no other sequence is touched. The same is true of gradients, and of the decays of all operations below. */
struct linrec_recurrence {
    size_t num_seqs; /* sequences, rows */
    size_t seq_len;  /* elements of each, columns */
    bool reverse;

    const float *inputs; /* (num_seqs, seq_len)   forward reads */
    const float *coeffs; /* (num_seqs, seq_len)   forward and backward read */
    float *outputs;      /* (num_seqs, seq_len)   forward writes, backward reads */

    const float *d_outputs; /* (num_seqs, seq_len)   backward reads */
    float *d_inputs;        /* (num_seqs, seq_len)   backward writes */
    float *d_coeffs;        /* (num_seqs, seq_len)   backward writes */

    /* each NULL where it is not wanted */
    const float *initial_state; /* (num_seqs)   forward and backward read */
    float *final_state;         /* (num_seqs)   forward writes */
    const float *d_final_state; /* (num_seqs)   backward reads; NULL: 0 */
    float *d_initial_state;     /* (num_seqs)   backward writes; only with an initial state */

    void *workspace;
    size_t workspace_bytes;
};

LINREC_API int linrec_recurrence_workspace(const struct linrec_recurrence *recurrence, enum linrec_pass pass,
                                           size_t *bytes);
LINREC_API int linrec_recurrence_forward(const struct linrec_recurrence *recurrence, cudaStream_t stream);
LINREC_API int linrec_recurrence_backward(const struct linrec_recurrence *recurrence, cudaStream_t stream);

/* The type of the arrays that are `void` below. States and sums are computed in float32. */
enum linrec_dtype { LINREC_FLOAT32 = 0, LINREC_BFLOAT16 = 1, LINREC_FLOAT16 = 2 };

/* ---- the linear recurrence in the layout of models ---- */

/* Elements from one batch to the next, and from one step to the next; the channels of a step are neighbours. A step of
   0 means `channels`, a batch of 0 means seq_len steps: no gaps. An array of (seq_len, batch, channels) has a batch of
   `channels` and a step of batch * channels. */
struct linrec_strides {
    size_t batch, step;
};

/* The linear recurrence above for each batch and channel, where a step's channels are neighbours in memory:

       outputs[b, t, d] = c[b, t, d] outputs[b, t-1, d] + inputs[b, t, d],     outputs[b, -1, d] = initial_state[b, d]

   c is coeffs, or with log_coeffs exp(coeffs). Without an initial state the first c is not used. Where `reverse` is
   set, time runs from the last step to the first. The gradients are those of the recurrence above; with log_coeffs
   d_coeffs is the gradient of the logarithms.

   Packed sequences: with cu_seqlens, batch is 1, and the steps are those of num_seqs sequences, one after the other.
   Sequence s has the steps cu_seqlens[s] ... cu_seqlens[s+1] - 1, which may be none; cu_seqlens[0] is 0, and
   cu_seqlens[num_seqs] is seq_len. Nothing goes from one sequence to the next. The call does not wait to look at these
   numbers: where they are others, so are the results, but nothing outside the arrays is read or written.

   States have no gaps: (batch, channels), or of packed sequences (num_seqs, channels). A sequence without a step ends
   in the state in which it begins, which is 0 without an initial state; the same of the gradients. A NaN or an infinity
   stays in its channel of its sequence. Results are promised where those of the recurrence above are. */
struct linrec_layout {
    size_t batch, seq_len, channels; /* packed: 1, the steps of all sequences together, and channels */
    size_t num_seqs;                 /* packed sequences; 0 without cu_seqlens */
    const int *cu_seqlens;           /* (num_seqs + 1), ascending, or NULL: not packed */
    enum linrec_dtype dtype;
    bool reverse, log_coeffs;

    const void *inputs, *coeffs; /* (batch, seq_len, channels)   forward reads, backward reads coeffs */
    void *outputs;               /* (batch, seq_len, channels)   forward writes, backward reads */

    const void *d_outputs;     /* (batch, seq_len, channels)   backward reads */
    void *d_inputs, *d_coeffs; /* (batch, seq_len, channels)   backward writes */

    struct linrec_strides inputs_by, coeffs_by, outputs_by, d_outputs_by, d_inputs_by, d_coeffs_by;

    /* each NULL where it is not wanted */
    const float *initial_state; /* (batch, channels)   forward and backward read */
    float *final_state;         /* (batch, channels)   forward writes */
    const float *d_final_state; /* (batch, channels)   backward reads; NULL: 0 */
    float *d_initial_state;     /* (batch, channels)   backward writes; only with an initial state */

    void *workspace;
    size_t workspace_bytes;
};

/* The workspace depends on batch, seq_len, channels and dtype alone. */
LINREC_API int linrec_layout_workspace(const struct linrec_layout *layout, enum linrec_pass pass, size_t *bytes);
LINREC_API int linrec_layout_forward(const struct linrec_layout *layout, cudaStream_t stream);
LINREC_API int linrec_layout_backward(const struct linrec_layout *layout, cudaStream_t stream);

/* One step of the recurrence, in place, for a model that writes one position after the other. Each row of the batch is
   a sequence; the state of all that came before lies in its slot:

       states[slots[b], d] = outputs[b, d] = c[b, d] states[slots[b], d] + inputs[b, d]

   A row whose slot is -1, or no number of a slot, is left out, and its outputs are not written. Two rows have different
   slots, and a slot that no row has is not touched. There is no workspace. */
struct linrec_step {
    size_t batch, channels, num_slots;
    const int *slots; /* (batch), or NULL: row b has slot b, and there are as many slots at least */
    enum linrec_dtype dtype;
    bool log_coeffs; /* c is exp(coeffs) */

    const void *inputs, *coeffs;             /* (batch, channels) */
    void *outputs;                           /* (batch, channels) */
    size_t inputs_by, coeffs_by, outputs_by; /* elements from one row to the next; 0: channels */
    float *states;                           /* (num_slots, channels), without gaps; read and written */
};

LINREC_API int linrec_layout_step(const struct linrec_step *step, cudaStream_t stream);

/* ---- layers: the selective scan, Mamba-2, and the chunk states ---- */

/* Each of the three has a function more, linrec_X_transition: what all steps, or chunks, do to a state that comes in,

       final_state = transition * initial_state + what final_state is without an initial state

   so that GPUs which have a stretch of time each can join them (docs/library.md, "Several GPUs"). It writes float32,
   reads what the function's comment names and no other array, which may be NULL then, and takes no workspace. Where
   there is no step it is 1, or the identity. Of packed sequences there is one for each. Order of sums and statuses are
   as everywhere. */

/* The layer of Mamba (Gu and Dao, 2023), with the names of its selective_scan_fn. For batch b, channel d, state n and
   step l; g is the group of channel d, and groups divide the channels evenly, in order:

       step[d, l] = delta[d, l] + delta_bias[d],   through softplus(v) = log(1 + exp(v)) if delta_softplus
       h[d, n, l] = exp(step[d, l] A[d, n]) h[d, n, l-1] + step[d, l] B[g, n, l] u[d, l],  h[d, n, -1] = initial_state
       y[d, l]    = sum over n of C[g, n, l] h[d, n, l]  +  D[d] u[d, l]
       out[d, l]  = y[d, l] * silu(z[d, l]),   silu(v) = v / (1 + exp(-v))

   What is NULL falls away. No batch, no channel or no step: nothing happens, but that final_state is the initial one,
   and that gradients which are sums are 0.

   Packed sequences are those of struct linrec_layout, here side by side in each row: batch is 1, sequence s has the
   elements cu_seqlens[s] ... cu_seqlens[s+1] - 1 of a row, and states have num_seqs in place of batch. Their
   gradients are computed by a plain loop, which is much slower than the kernels for sequences of one length, and takes
   a larger workspace: more than 128 KB for each sequence and 32 channels of a group. */
struct linrec_selective_scan {
    size_t batch, channels, seq_len;
    size_t states;         /* 1 ... 256 */
    size_t groups;         /* of channels, which they divide evenly */
    size_t num_seqs;       /* packed sequences; 0 without cu_seqlens */
    const int *cu_seqlens; /* (num_seqs + 1), ascending, or NULL: not packed */
    enum linrec_dtype dtype;
    bool delta_softplus;

    const void *u, *delta;      /* (batch, channels, seq_len) */
    const float *A;             /* (channels, states), negative where the layer is to forget */
    const void *B, *C;          /* (batch, groups, states, seq_len) */
    const float *D;             /* (channels), or NULL */
    const void *z;              /* (batch, channels, seq_len), or NULL */
    const float *delta_bias;    /* (channels), or NULL */
    const float *initial_state; /* (batch, channels, states), or NULL */

    void *out;          /* (batch, channels, seq_len); forward writes */
    float *final_state; /* (batch, channels, states), or NULL; forward writes */

    /* backward reads all that forward reads, and */
    const void *d_out;          /* (batch, channels, seq_len) */
    const float *d_final_state; /* (batch, channels, states), or NULL: 0 */
    /* writes, each with the shape and the type of what it is the gradient of */
    void *d_u, *d_delta;
    float *d_A;
    void *d_B, *d_C;
    float *d_D;             /* or NULL; only with D */
    void *d_z;              /* with z, and only then */
    float *d_delta_bias;    /* or NULL; only with delta_bias */
    float *d_initial_state; /* or NULL */

    void *workspace;
    size_t workspace_bytes;
};

/* linrec_selective_scan_workspace says with how many bytes the fastest kernel runs that the current device has for
   these sizes: backward several times as many as u has. linrec_selective_scan_small_workspace says how many are enough:
   a quarter of u or less, or if that is more, 64 bytes for each batch, channel and state, where states are counted up
   to the next multiple of 16, and the channels of a group up to the next one of 64. So a quarter of u it is from some
   thousand steps on. With as many bytes as that, or more, but too few for the fastest kernel, backward goes through the
   states twice and keeps them for a window of time only, which takes somewhat longer. Its result differs in rounding
   and depends on the bytes given, but is the same in each run. Fewer bytes are LINREC_WORKSPACE_TOO_SMALL. On a device
   older than sm_80, which has no such kernel, with up to 8 states where a block has less than 137 KB of shared memory
   (sm_86, sm_89, sm_120), and with more than 2^31 - 1 states in all batches and channels, the second one says what the
   fastest kernel needs. */
LINREC_API int linrec_selective_scan_workspace(const struct linrec_selective_scan *scan, enum linrec_pass pass,
                                               size_t *bytes);
LINREC_API int linrec_selective_scan_small_workspace(const struct linrec_selective_scan *scan, enum linrec_pass pass,
                                                     size_t *bytes);
LINREC_API int linrec_selective_scan_forward(const struct linrec_selective_scan *scan, cudaStream_t stream);
LINREC_API int linrec_selective_scan_backward(const struct linrec_selective_scan *scan, cudaStream_t stream);

/* transition[b, d, n] = exp(A[d, n] * sum over l of step[d, l]), (batch, channels, states). Reads delta, delta_bias and
   A. The sum is off by at most (26 + seq_len / 2048) 2^-24 of the sum of the steps' sizes. */
LINREC_API int linrec_selective_scan_transition(const struct linrec_selective_scan *scan, float *transition,
                                                cudaStream_t stream);

/* One step of the layer, in place, with the names of Mamba's selective_state_update. Each row of the batch is a
   sequence, and its state h of all that came before lies in its slot, state[slots[b]]:

       step[d] = delta[b, d] + delta_bias[d],   through softplus if delta_softplus
       h[d, n] = exp(step[d] A[d, n]) h[d, n] + step[d] B[b, g, n] u[b, d]
       y[d]    = sum over n of C[b, g, n] h[d, n]  +  D[d] u[b, d],    out[b, d] = y[d] * silu(z[b, d])

   What is NULL falls away. Slots are those of struct linrec_step. There is no workspace. It is fastest where `states`
   is a multiple of 4, and state, A, and the rows of B and C begin at multiples of four of their elements. */
struct linrec_selective_step {
    size_t batch, channels, num_slots;
    size_t states;    /* 1 ... 256 */
    size_t groups;    /* of channels, which they divide evenly */
    const int *slots; /* (batch), or NULL: row b has slot b, and there are as many slots at least */
    enum linrec_dtype dtype;
    bool delta_softplus;

    const void *u, *delta;                           /* (batch, channels) */
    const float *A;                                  /* (channels, states), negative where the layer is to forget */
    const void *B, *C;                               /* (batch, groups, states) */
    const float *D;                                  /* (channels), or NULL */
    const void *z;                                   /* (batch, channels), or NULL */
    const float *delta_bias;                         /* (channels), or NULL */
    void *out;                                       /* (batch, channels) */
    size_t u_by, delta_by, B_by, C_by, z_by, out_by; /* elements from one row to the next; 0: no gaps */
    float *state;                                    /* (num_slots, channels, states), without gaps; read and written */
};

LINREC_API int linrec_selective_scan_step(const struct linrec_selective_step *step, cudaStream_t stream);

/* The layer of Mamba-2 (Dao and Gu, 2024), with the names of its mamba_chunk_scan_combined. For each batch and head h a
   linear recurrence whose state is a matrix of dv rows and dk columns, with one decay for all of it; g is the group of
   head h, and groups divide the heads evenly, in order:

       s[t] = dt[t] + dt_bias[h],   through softplus(v) = log(1 + exp(v)) if dt_softplus
       H[t] = exp(s[t] A[h]) H[t-1] + s[t] x[t] B[g, t]^T,     H[-1] = initial_state
       y[t] = H[t] C[g, t] + D[h] x[t],    out[t] = y[t] * silu(z[t]),   silu(v) = v / (1 + exp(-v))

   What is NULL falls away. Packed sequences are those of struct linrec_layout: batch is 1, a sequence has the steps
   cu_seqlens[s] ... cu_seqlens[s+1] - 1, and states have num_seqs in place of batch. Steps, decays, states and sums are
   float32; in 16 bits the factors of a product of matrices may be rounded to that type. No batch, head, row or
   step: nothing happens, but that final_state is the initial one, and that gradients which are sums are 0. */
struct linrec_ssd {
    size_t batch, seq_len, heads, groups; /* groups of heads, which they divide evenly */
    size_t dk, dv;                        /* columns of a state, 1 ... 256, and rows, which are the width of a head */
    size_t num_seqs;                      /* packed sequences; 0 without cu_seqlens */
    const int *cu_seqlens;                /* (num_seqs + 1), ascending, or NULL: not packed */
    enum linrec_dtype dtype;
    bool dt_softplus;

    const void *x;              /* (batch, seq_len, heads, dv) */
    const void *dt;             /* (batch, seq_len, heads) */
    const float *A;             /* (heads), negative where the layer is to forget */
    const void *B, *C;          /* (batch, seq_len, groups, dk) */
    const float *D;             /* (heads), or NULL */
    const void *z;              /* (batch, seq_len, heads, dv), or NULL */
    const float *dt_bias;       /* (heads), or NULL */
    const float *initial_state; /* (batch, heads, dv, dk), or NULL */

    void *out;          /* (batch, seq_len, heads, dv); forward writes */
    float *final_state; /* (batch, heads, dv, dk), or NULL; forward writes */

    /* backward reads all that forward reads, and */
    const void *d_out;          /* (batch, seq_len, heads, dv) */
    const float *d_final_state; /* (batch, heads, dv, dk), or NULL: 0 */
    /* writes, each with the shape and the type of what it is the gradient of */
    void *d_x, *d_dt;
    float *d_A;
    void *d_B, *d_C;
    float *d_D;             /* or NULL; only with D */
    void *d_z;              /* with z, and only then */
    float *d_dt_bias;       /* or NULL; only with dt_bias */
    float *d_initial_state; /* or NULL */

    void *workspace;
    size_t workspace_bytes;
};

/* Of packed sequences cu_seqlens must be set here, too; its numbers are not looked at. */
LINREC_API int linrec_ssd_workspace(const struct linrec_ssd *ssd, enum linrec_pass pass, size_t *bytes);
LINREC_API int linrec_ssd_forward(const struct linrec_ssd *ssd, cudaStream_t stream);
LINREC_API int linrec_ssd_backward(const struct linrec_ssd *ssd, cudaStream_t stream);

/* transition[b, h] = exp(A[h] * sum of s[t]), (batch, heads). Reads dt, dt_bias and A. The sum is off by at most
   (64 + seq_len / 1024) 2^-24 of the sum of the steps' sizes. */
LINREC_API int linrec_ssd_transition(const struct linrec_ssd *ssd, float *transition, cudaStream_t stream);

/* The state that a chunkwise layer (gated linear attention, Mamba-2, gated DeltaNet) hands from chunk to chunk, for
   each batch and head a matrix of dk rows and dv columns:

       h[k] = A[k] h[k-1] + h_local[k],     k = 0 ... chunks-1,     h[-1] = initial_state,     where

       A[k] h = gamma[k] h                                a decay for each row, or one for all
       A[k] h = gamma[k] h - W[k] (Y[k]^T h)              where W and Y are given; they have `rank` columns

   The decay stands outside of the product, so nothing is divided by one, which may be 0.

   h_out[k] is h[k], the state after chunk k, or if `exclusive` h[k-1], the state before it. Backward writes the
   gradients of all that is read. States that it computes again are float32, so that d_gamma is as exact in 16 bits as
   in float32. But with W and Y, and of packed sequences, they are rounded to the type of 16 bits: then each product
   that goes into d_gamma, d_W or d_Y has an error of up to 2^-8 of it in bfloat16 and 2^-11 in float16. States that are
   given are read as they are, with the rounding that they have.

   Packed sequences: with cu_seqlens, batch is 1, and the chunks are those of num_seqs sequences, one after the other.
   Sequence s has the chunks cu_seqlens[s] ... cu_seqlens[s+1] - 1, which may be none: these numbers count chunks, and
   not positions. Each sequence begins with its own initial state and ends in its own final one. dk is up to 256
   then, also where there is no rank. What else is said of cu_seqlens at struct linrec_layout is true here, too.

   No batch, head, row or column: nothing happens, but that sums over no columns are 0. No chunk, in all or in a packed
   sequence: final_state is the initial state, and d_initial_state is d_final_state. */
struct linrec_chunk_state {
    size_t batch, chunks, heads, dk, dv;
    size_t rank;           /* up to 64, and then dk up to 256; 0 if W and Y are NULL */
    size_t decays;         /* of a head: dk, one for each row, or 1 */
    size_t num_seqs;       /* packed sequences; 0 without cu_seqlens */
    const int *cu_seqlens; /* (num_seqs + 1), ascending, or NULL: not packed */
    enum linrec_dtype dtype;
    bool exclusive;

    const void *h_local;        /* (batch, chunks, heads, dk, dv) */
    const float *gamma;         /* (batch, chunks, heads, decays) */
    const void *W, *Y;          /* (batch, chunks, heads, dk, rank), or both NULL */
    const float *initial_state; /* (batch, heads, dk, dv), or NULL; packed: num_seqs in place of batch, as all states */

    void *h_out;        /* as h_local; forward writes */
    float *final_state; /* (batch, heads, dk, dv), or NULL; forward writes */

    /* backward reads all that forward reads, and */
    const void *states;         /* as h_local: the states before each chunk, which forward writes if it is exclusive;
                                   with them h_local and initial_state are not read. NULL: they are computed again */
    const void *d_h_out;        /* as h_local */
    const float *d_final_state; /* (batch, heads, dk, dv), or NULL: 0 */
    /* writes, each with the shape and the type of what it is the gradient of */
    void *d_h_local;
    float *d_gamma;
    void *d_W, *d_Y;        /* NULL where W and Y are */
    float *d_initial_state; /* or NULL */

    void *workspace;
    size_t workspace_bytes;
};

LINREC_API int linrec_chunk_state_workspace(const struct linrec_chunk_state *chunk_state, enum linrec_pass pass,
                                            size_t *bytes);
LINREC_API int linrec_chunk_state_forward(const struct linrec_chunk_state *chunk_state, cudaStream_t stream);
LINREC_API int linrec_chunk_state_backward(const struct linrec_chunk_state *chunk_state, cudaStream_t stream);

/* The product of gamma over all chunks, (batch, heads, decays); with W and Y the product of the matrices A[k], the last
   one on the left, (batch, heads, dk, dk), as the forward pass of a plain kernel on the identity gives it. Reads gamma,
   W and Y; dv does not count. */
LINREC_API int linrec_chunk_state_transition(const struct linrec_chunk_state *chunk_state, float *transition,
                                             cudaStream_t stream);

/* One position of a chunkwise layer, in place. Each row of the batch is a sequence, and the states of all that came
   before lie in its slot, state[slots[b]]: for each head a matrix h of dk rows and dv columns,

       h   = gamma h - W (Y^T h) + k v^T          W, Y and k are columns; gamma is a decay for each row, or one for all
       out = h^T q

   Without W and Y that is a step of Mamba-2 (k = dt B, v = x, q = C, gamma = exp(dt A)) or of gated linear attention.
   Gated DeltaNet and KDA, with a key k' and strength beta, have W = k = beta k' and Y = gamma k', row by row. Slots are
   those of struct linrec_step. There is no workspace. It is fastest where dv is a multiple of 4, and state begins at
   one of 16 bytes. */
struct linrec_chunk_step {
    size_t batch, heads, dk, dv, num_slots; /* dk: 1 ... 256 */
    size_t decays;                          /* of a head: dk, one for each row, or 1 */
    const int *slots; /* (batch), or NULL: row b has slot b, and there are as many slots at least */
    enum linrec_dtype dtype;

    const void *q, *k;                                     /* (batch, heads, dk) */
    const void *v;                                         /* (batch, heads, dv) */
    const float *gamma;                                    /* (batch, heads, decays) */
    const void *W, *Y;                                     /* (batch, heads, dk), or both NULL */
    void *out;                                             /* (batch, heads, dv) */
    size_t q_by, k_by, v_by, gamma_by, W_by, Y_by, out_by; /* elements from one row to the next; 0: no gaps */
    float *state; /* (num_slots, heads, dk, dv), without gaps; read and written */
};

LINREC_API int linrec_chunk_state_step(const struct linrec_chunk_step *step, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
