/* SPDX-License-Identifier: MIT */
/* two_words.h - two words of 8 bytes that lie side by side in global memory, read or written by one instruction, as
   relaxed accesses for all threads of the GPU. Each word is whole; but the instruction is two accesses, in any order
   (PTX ISA, memory consistency model, "Vector Data-types"): one word may be new while the other is still old. So each
   must say by itself whether it is new.

   CUDA C has no atomic access to more than one word, so this is PTX. On the simulator it is the two accesses. */
#ifndef TWO_WORDS_H
#define TWO_WORDS_H

#ifdef CUSIM
#include <cuda/atomic>
#endif

struct two_words {
    unsigned long long first, second;
};

/* `to` and `from`: aligned to 16 bytes. */
static __device__ __forceinline__ void two_words_write(unsigned long long *to, struct two_words words)
{
#ifdef CUSIM
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> first(to[0]), second(to[1]);
    first.store(words.first, cuda::memory_order_relaxed);
    second.store(words.second, cuda::memory_order_relaxed);
#else
    asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(words.first), "l"(words.second)
                 : "memory");
#endif
}

static __device__ __forceinline__ struct two_words two_words_read(unsigned long long *from)
{
    struct two_words words;
#ifdef CUSIM
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> first(from[0]), second(from[1]);
    words.first = first.load(cuda::memory_order_relaxed);
    words.second = second.load(cuda::memory_order_relaxed);
#else
    asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
                 : "=l"(words.first), "=l"(words.second)
                 : "l"(from)
                 : "memory");
#endif
    return words;
}

#endif
