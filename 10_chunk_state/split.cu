/* split.cu - few heads: a slice's chunks are spread over several blocks, its segments, and wait on the chip. In each
   window of chunks a block first sums up its segment from 0 (chapter 08's pair: a product of decays and a sum), tells
   the others, and when all have told knows the state that comes into its segment. Then it goes through its stages once
   more and writes the states:

       block of segment 0   | sum 0 |tell, wait| write 0          | sum 4 | ...
       block of segment 1   | sum 1 |tell, wait| write 1          | sum 5 | ...      window 0: segments 0 to 3
       block of segment 2   | sum 2 |tell, wait| write 2          | sum 6 | ...      window 1: segments 4 to 7
       block of segment 3   | sum 3 |tell, wait| write 3          | sum 7 | ...

   h_local so comes from memory once, as in bulk.cu; the pairs are few, one for each segment. All blocks of a slice read
   all of them in the same order, so each knows by itself with which state the next window begins. */
#include <cuda_runtime.h>

#include <cuda/atomic>

#include "pieces.cuh"
#include "chunk_state.h"

template <int storage>
static __global__ void __launch_bounds__(SPLIT_MAX_THREADS, 1)
    split_forward(struct split_plan plan, bool exclusive, const void *__restrict__ h_local,
                  const float *__restrict__ gamma, const float *__restrict__ initial_state, void *__restrict__ h_out,
                  float *__restrict__ final_state, struct split_space space)
{
    extern __shared__ __align__(128) char stages[];
    __shared__ uint64_t arrived[PIECES_MAX_STAGES];
    const struct pieces_shape *const shape = &plan.shape;
    const size_t row_len = shape->flat.columns;
    const unsigned group = blockIdx.x % plan.groups, segment = blockIdx.x / plan.groups;
    const unsigned num_stages = plan.shape.stages;
    const int own = threadIdx.x * 4, decay = decay_of(shape);
    struct walk ahead = {group, 0, split_begin(&plan, 0, segment), split_begin(&plan, 0, segment + 1)};
    unsigned number = 0, turn = 0; /* of the segment's first piece, of the window; counted through all items */

    barriers_init(arrived, (int)num_stages);
    for (unsigned s = 0; s < num_stages; s++)
        walk_send<storage>(h_local, gamma, &plan, &ahead, segment, stages + s * shape->stage_bytes, &arrived[s]);
    for (size_t item = group; item < shape->items; item += plan.groups) {
        const struct piece whole = piece_of(shape, item, 0, 0);
        const bool inside = own < whole.columns;
        float state[4];
        state_read(initial_state, whole.state + own, inside, state);
        for (unsigned window = 0; window < plan.windows; window++, turn++) {
            const unsigned begin = split_begin(&plan, window, segment), end = split_begin(&plan, window, segment + 1);
            float h[4] = {0.0f, 0.0f, 0.0f, 0.0f}, product = 1.0f, x[STEPS][4], decays[STEPS];

            /* 1. Sum up the segment; its pieces stay in their stages. All of its decays come first. */
            decays_wait((int)(num_stages - (end - begin)));
            __syncthreads();
            for (unsigned p = begin; p < end; p++) {
                const unsigned at = number + (p - begin), stage = at % num_stages;
                const struct piece piece = piece_of(shape, item, (size_t)p * STEPS, shape->flat.chunks);
                mbarrier_wait(&arrived[stage], at / num_stages % 2);
                piece_take<storage>(shape, &piece, stages + stage * shape->stage_bytes, inside ? own : 0, x);
                decays_take(shape, &piece, stages + stage * shape->stage_bytes, inside ? decay : 0, decays);
#pragma unroll
                for (int s = 0; s < STEPS; s++) {
                    product *= decays[s];
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        h[c] = decays[s] * h[c] + x[s][c];
                }
            }

            /* 2. Tell; and wait until all have told. Two windows' words are there at once, because a block may be one
               window ahead of another; it cannot be two. */
            const size_t words = ((size_t)group * 2 + turn % 2) * plan.segments;
            __stcg((float4 *)space.sums + (words + segment) * blockDim.x + threadIdx.x,
                   make_float4(h[0], h[1], h[2], h[3]));
            __stcg(&space.products[(words + segment) * blockDim.x + threadIdx.x], product);
            __syncthreads();
            if (threadIdx.x == 0) {
                cuda::atomic_ref<unsigned, cuda::thread_scope_device> told(space.told[group]);
                told.fetch_add(1, cuda::memory_order_acq_rel);
                while (told.load(cuda::memory_order_acquire) + 1 < (turn + 1) * plan.segments)
                    ; /* it begins as -1 */
            }
            __syncthreads();

            /* 3. Join them in order: what comes into the block's own segment, and into the next window. */
            for (unsigned s = 0; s < plan.segments; s++) {
                const float4 sum = __ldcg((const float4 *)space.sums + (words + s) * blockDim.x + threadIdx.x);
                const float factor = __ldcg(&space.products[(words + s) * blockDim.x + threadIdx.x]);
                if (s == segment)
                    h[0] = state[0], h[1] = state[1], h[2] = state[2], h[3] = state[3];
                state[0] = factor * state[0] + sum.x, state[1] = factor * state[1] + sum.y;
                state[2] = factor * state[2] + sum.z, state[3] = factor * state[3] + sum.w;
            }

            /* 4. Go through the segment again, write the states, and fill each stage anew. */
            for (unsigned p = begin; p < end; p++, number++) {
                const unsigned stage = number % num_stages;
                char *const from = stages + stage * shape->stage_bytes;
                const struct piece piece = piece_of(shape, item, (size_t)p * STEPS, shape->flat.chunks);
                piece_take<storage>(shape, &piece, from, inside ? own : 0, x);
                decays_take(shape, &piece, from, inside ? decay : 0, decays);
                copy_engine_fence(); /* the piece was read before its stage is filled again */
                __syncthreads();
                walk_send<storage>(h_local, gamma, &plan, &ahead, segment, from, &arrived[stage]);

                char *const to = (char *)h_out + (piece.row * row_len + piece.start) * stored_bytes(storage);
#pragma unroll
                for (int s = 0; s < STEPS; s++) {
                    float out[4];
#pragma unroll
                    for (int c = 0; c < 4; c++) {
                        const float before = h[c];
                        h[c] = decays[s] * h[c] + x[s][c];
                        out[c] = exclusive ? before : h[c];
                    }
                    if (s < piece.chunks && inside)
                        write4<storage>(to, s * row_len + own, out);
                }
            }
        }
        if (segment == 0 && final_state != NULL && inside)
            write4<FLOAT32>(final_state, whole.state + own, state);
    }
    if (threadIdx.x == 0) { /* the last of the group leaves its counters as they were found */
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> left(space.left[group]);
        if (left.fetch_add(1, cuda::memory_order_acq_rel) + 2 == plan.segments)
            space.told[group] = space.left[group] = 0xFFFFFFFFu;
    }
}

extern "C" cudaError_t chunk_state_split(const struct chunk_state_args *args, cudaStream_t stream)
{
    void (*const kernel)(struct split_plan, bool, const void *, const float *, const float *, void *, float *,
                         struct split_space) = args->storage == FLOAT32 ? split_forward<FLOAT32>
                                               : args->storage == BF16  ? split_forward<BF16>
                                                                        : split_forward<FP16>;
    struct split_plan plan;
    struct split_space space;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, 0, stream, &done);
    if (!done)
        error = split_plan(args, (const void *)kernel, &plan);
    if (!done && error == cudaSuccess && !split_space(args, &plan, &space))
        error = cudaErrorInvalidValue;
    if (done || error != cudaSuccess)
        return error;
    kernel<<<plan.groups * plan.segments, plan.shape.threads, plan.shape.shared, stream>>>(
        plan, args->exclusive, args->h_local, args->gamma, args->initial_state, args->h_out, args->final_state, space);
    return cudaGetLastError();
}
