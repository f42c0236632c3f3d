/* SPDX-License-Identifier: MIT */
/* sim_nv_atomic.h - the compiler's own atomic functions of CUDA 12.8, __nv_atomic_..., with an order and a scope, a part of
   cuda_runtime.h. */
#ifndef SIM_NV_ATOMIC_H
#define SIM_NV_ATOMIC_H

enum {
    __NV_ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST
};
enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

/* The order in the simulator's words (observe.h). */
constexpr unsigned sim_nv_order(int order, int scope)
{
    return (order == __NV_ATOMIC_CONSUME || order == __NV_ATOMIC_ACQUIRE || order >= __NV_ATOMIC_ACQ_REL ? 8u : 0u) |
           (order >= __NV_ATOMIC_RELEASE ? 16u : 0u) | (scope <= __NV_THREAD_SCOPE_BLOCK ? 32u : 0u) |
           (order == __NV_ATOMIC_SEQ_CST || scope == __NV_THREAD_SCOPE_SYSTEM ? 128u : 0u);
}

/* clang-format off */
#define SIM_NV_ATOMIC(op, result)                                                                                      \
    template <class T>                                                                                                 \
    SIM_INLINE T __nv_atomic_fetch_##op(T *address, typename sim_same<T>::type value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) \
    {                                                                                                                  \
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__nv_atomic_fetch_" #op " is of 4 or 8 bytes");               \
        T old;                                                                                                         \
        sim_atomic_load(address, &old, sizeof(T), sim_nv_order(order, scope));                                         \
        const T now = (T)(result);                                                                                     \
        sim_atomic_store(address, &now, sizeof(T));                                                                    \
        return old;                                                                                                    \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    SIM_INLINE void __nv_atomic_##op(T *address, typename sim_same<T>::type value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) \
    {                                                                                                                  \
        __nv_atomic_fetch_##op(address, value, order, scope);                                                          \
    }
SIM_NV_ATOMIC(add, old + value)
SIM_NV_ATOMIC(sub, old - value)
SIM_NV_ATOMIC(and, (old & value))
SIM_NV_ATOMIC(or, old | value)
SIM_NV_ATOMIC(xor, old ^ value)
SIM_NV_ATOMIC(min, old < value ? old : value)
SIM_NV_ATOMIC(max, old > value ? old : value)

template <class T>
SIM_INLINE void __nv_atomic_load(const T *address, T *value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    sim_strong_load(address, value, sizeof(T), sim_nv_order(order, scope) & ~16u);
}
template <class T>
SIM_INLINE T __nv_atomic_load_n(const T *address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    T value;
    __nv_atomic_load(address, &value, order, scope);
    return value;
}
template <class T>
SIM_INLINE void __nv_atomic_store(T *address, const T *value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    sim_strong_store(address, value, sizeof(T), sim_nv_order(order, scope) & ~8u);
}
template <class T>
SIM_INLINE void __nv_atomic_store_n(T *address, typename sim_same<T>::type value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    __nv_atomic_store(address, &value, order, scope);
}
template <class T>
SIM_INLINE void __nv_atomic_exchange(T *address, const T *value, T *old, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    sim_atomic_load(address, old, sizeof(T), sim_nv_order(order, scope));
    sim_atomic_store(address, value, sizeof(T));
}
template <class T>
SIM_INLINE T __nv_atomic_exchange_n(T *address, typename sim_same<T>::type value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    T old;
    __nv_atomic_exchange(address, &value, &old, order, scope);
    return old;
}
template <class T>
SIM_INLINE bool __nv_atomic_compare_exchange(T *address, T *expected, const T *desired, bool, int success, int, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    T old;
    sim_atomic_load(address, &old, sizeof(T), sim_nv_order(success, scope));
    const bool equal = memcmp(&old, expected, sizeof(T)) == 0;
    sim_atomic_store(address, equal ? desired : &old, sizeof(T));
    *expected = old;
    return equal;
}
template <class T>
SIM_INLINE bool __nv_atomic_compare_exchange_n(T *address, T *expected, typename sim_same<T>::type desired, bool weak, int success, int failure, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    return __nv_atomic_compare_exchange(address, expected, &desired, weak, success, failure, scope);
}
SIM_INLINE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM, SIM_AT)
{
    sim_fence("__nv_atomic_thread_fence", sim_nv_order(order, scope), file, line);
}
/* clang-format on */

#endif
