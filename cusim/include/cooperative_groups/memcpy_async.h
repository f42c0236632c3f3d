/* SPDX-License-Identifier: MIT */
/* cooperative_groups/memcpy_async.h - a group copies from global to shared memory together, and waits for it. */
#ifndef COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"
#include "../sim_async.h"

namespace cooperative_groups
{
/* Copies `size` bytes. One call is one stage for wait_prior. */
template <class Group, class T, class S, class Size>
SIM_METHOD void memcpy_async(const Group &group, T *to, const S *from, const Size &size, SIM_AT)
{
    sim_copy_pieces((void *)to, (const void *)from, (size_t)size, group.thread_rank(), group.num_threads(),
                    [=](void *a, const void *b, size_t bytes) { __pipeline_memcpy_async(a, b, bytes, 0, file, line); });
    __pipeline_commit(file, line);
}

/* Of `from_count` elements as many as `to` has room for. */
template <class Group, class T, class Room, class Count>
SIM_METHOD void memcpy_async(const Group &group, T *to, const Room &room, const T *from, const Count &count, SIM_AT)
{
    const size_t elements = (size_t)room < (size_t)count ? (size_t)room : (size_t)count;
    memcpy_async(group, to, from, elements * sizeof(T), file, line);
}

/* Waits until all copies of the group are there; or all but the last `stages` calls. */
template <class Group>
SIM_METHOD void wait(const Group &group, SIM_AT)
{
    __pipeline_wait_prior(0, file, line);
    group.sync(file, line);
}
template <unsigned stages, class Group>
SIM_METHOD void wait_prior(const Group &group, SIM_AT)
{
    __pipeline_wait_prior(stages, file, line);
    group.sync(file, line);
}
} // namespace cooperative_groups

#endif
