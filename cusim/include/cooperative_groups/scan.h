/* SPDX-License-Identifier: MIT */
/* cooperative_groups/scan.h - each thread's value, in a tile or lanes that came together, with all before it combined:
   by shuffles. */
#ifndef COOPERATIVE_GROUPS_SCAN_H
#define COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

namespace cooperative_groups
{
template <class Group, class T, class Operator>
SIM_METHOD auto inclusive_scan(const Group &group, T given, Operator combine, SIM_AT)
{
    typename std::decay<decltype(combine(given, given))>::type value = given;
    const unsigned rank = group.thread_rank();

    for (unsigned i = 1; i < group.num_threads(); i *= 2) {
        const auto before = group.shfl_up(value, i, file, line);
        if (rank >= i)
            value = combine(before, value);
    }
    return value;
}
template <class Group, class T>
SIM_METHOD T inclusive_scan(const Group &group, T value, SIM_AT)
{
    return inclusive_scan(group, value, plus<T>(), file, line);
}

/* Without its own value; the first thread has T(). */
template <class Group, class T, class Operator>
SIM_METHOD auto exclusive_scan(const Group &group, T value, Operator combine, SIM_AT)
{
    const auto before = group.shfl_up(inclusive_scan(group, value, combine, file, line), 1, file, line);
    return group.thread_rank() == 0 ? typename std::decay<decltype(before)>::type() : before;
}
template <class Group, class T>
SIM_METHOD T exclusive_scan(const Group &group, T value, SIM_AT)
{
    return exclusive_scan(group, value, plus<T>(), file, line);
}
} // namespace cooperative_groups

#endif
