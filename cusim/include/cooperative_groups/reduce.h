/* SPDX-License-Identifier: MIT */
/* cooperative_groups/reduce.h - the values of a tile, or of lanes that came together, combined: by shuffles, so that every
   thread of the group has the result. */
#ifndef COOPERATIVE_GROUPS_REDUCE_H
#define COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

namespace cooperative_groups
{
#define SIM_OPERATOR(name, result)                                                                                     \
    template <class T = void>                                                                                          \
    struct name {                                                                                                      \
        SIM_METHOD T operator()(const T &a, const T &b) const                                                          \
        {                                                                                                              \
            return (T)(result);                                                                                        \
        }                                                                                                              \
    };
SIM_OPERATOR(plus, a + b)
SIM_OPERATOR(less, b < a ? b : a)
SIM_OPERATOR(greater, a < b ? b : a)
SIM_OPERATOR(bit_and, a &b)
SIM_OPERATOR(bit_or, a | b)
SIM_OPERATOR(bit_xor, a ^ b)
#undef SIM_OPERATOR

template <unsigned N, class Parent, class T, class Operator>
SIM_METHOD auto reduce(const thread_block_tile<N, Parent> &group, T given, Operator combine, SIM_AT)
{
    typename std::decay<decltype(combine(given, given))>::type value = given;
    for (unsigned i = N / 2; i > 0; i /= 2)
        value = combine(value, group.shfl_xor(value, i, file, line));
    return value;
}

/* Of any number of lanes: each adds what those before it have, and the last tells all. */
template <class T, class Operator>
SIM_METHOD auto reduce(const coalesced_group &group, T given, Operator combine, SIM_AT)
{
    typename std::decay<decltype(combine(given, given))>::type value = given;
    const unsigned rank = group.thread_rank(), number = group.num_threads();

    for (unsigned i = 1; i < number; i *= 2) {
        const auto before = group.shfl_up(value, i, file, line);
        if (rank >= i)
            value = combine(before, value);
    }
    return group.shfl(value, (int)number - 1, file, line);
}

/* Thread 0 stores it. */
template <class Group, class T, class Operator>
SIM_METHOD void reduce_store_async(const Group &group, T *to, T value, Operator combine, SIM_AT)
{
    const T result = reduce(group, value, combine, file, line);
    if (group.thread_rank() == 0)
        *to = result;
}
} // namespace cooperative_groups

#endif
