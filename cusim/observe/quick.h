/* SPDX-License-Identifier: MIT */
/* quick.h - judges most plain accesses by a few comparisons. What is not surely right, race.cpp judges.

       written      the bits of all its bytes are set, or it writes
       ordered      what the words remember is history, or of the running block before its last barrier, or of the
                    running thread since it last told others what it knows: all that needs no vector clock
       remembered   as race.cpp would (remember_read), so that what is told later is the same                      */
#ifndef SIM_QUICK_H
#define SIM_QUICK_H

#include <type_traits>

#include "clock.h"
#include "shadow.h"

/* An array in which accesses from one place in the code are legal, and what its shadow remembers of it. */
struct sim_quick {
    const char *start; /* NULL: none */
    size_t last;       /* where the last access may begin */
    struct sim_cell *cells;
    uint64_t *others;
    unsigned char *written; /* NULL: nobody need have written what is read */
    uint64_t floor;         /* smaller records are history */
    uint64_t site;          /* the place's number, where it is in a record */
};

static inline bool is_own_epoch(uint64_t record)
{
    return (record ^ sim_epoch) >> TIME_AT == 0;
}

static inline bool is_surely_ordered(uint64_t record, uint64_t floor)
{
    return record < floor || lies_in_range(record, sim_before_barrier) || is_own_epoch(record);
}

/* Of a record that is_surely_ordered knows nothing of. */
static inline bool is_surely_unordered(uint64_t record)
{
    return record >= sim_since_barrier || lies_in_range(record, sim_of_others);
}

static inline bool is_same_warp(uint64_t record, uint64_t other)
{
    return ((record ^ other) & sim_warp_bits) == 0;
}

/* The bits of `written` for an access, and where they lie. */
template <size_t size>
struct sim_written {
    typedef typename std::conditional<size == 16, uint16_t, uint8_t>::type type;

    static inline type *at(const struct sim_quick *q, size_t at)
    {
        return (type *)(q->written + at / 8);
    }
    static inline type mask(size_t at)
    {
        return (type)(size == 4 ? 0xf << at % 8 : 0xffff);
    }
};

/* Whether an access of `size` bytes, a multiple of 4, `at` bytes behind the start, may follow the last writes of its
   words, and if it reads, finds them written. */
template <size_t size, bool writes>
static inline bool sim_follows_writes(const struct sim_quick *q, size_t at)
{
    typedef struct sim_written<size> bits;

    if (!writes && q->written != NULL && (*bits::at(q, at) & bits::mask(at)) != bits::mask(at))
        return false;
    for (size_t word = at / 4; word < at / 4 + size / 4; word++) {
        const uint64_t last = q->cells[word].write;
        if (last >= q->floor && (!is_surely_ordered(last, q->floor) || kind_of(last) == IN_FLIGHT))
            return false;
    }
    return true;
}

/* A write: whether it may follow the reads; then it is remembered. */
template <size_t size>
static inline bool sim_quick_write(const struct sim_quick *q, size_t at, uint64_t record)
{
    typedef struct sim_written<size> bits;

    for (size_t word = at / 4; word < at / 4 + size / 4; word++)
        if (!is_surely_ordered(q->cells[word].read, q->floor) || !is_surely_ordered(q->others[word], q->floor))
            return false;
    if (q->written != NULL && (*bits::at(q, at) & bits::mask(at)) != bits::mask(at))
        *bits::at(q, at) |= bits::mask(at);
    for (size_t word = at / 4; word < at / 4 + size / 4; word++)
        q->cells[word].write = record;
    return true;
}

/* A read that no other one is beside, or of one word since the last barrier; then it is remembered. */
template <size_t size>
static inline __attribute__((always_inline)) bool sim_quick_read(const struct sim_quick *q, size_t at, uint64_t record)
{
    if (size == 4) { /* two others have read the word since the barrier: what most reads of a tile find */
        const uint64_t first = q->cells[at / 4].read, second = q->others[at / 4];

        if (first >= sim_since_barrier && second >= sim_since_barrier && !is_own_epoch(first) &&
            !is_own_epoch(second)) {
            if (is_same_warp(first, second) && !is_same_warp(second, record))
                q->others[at / 4] = record;
            return true;
        }
    }
    for (size_t word = at / 4; word < at / 4 + size / 4; word++)
        if (!is_surely_ordered(q->cells[word].read, q->floor))
            return false;
    for (size_t word = at / 4; word < at / 4 + size / 4; word++)
        q->cells[word].read = record;
    return true;
}

/* A read beside others that nothing orders before it: it becomes the second that is remembered, or need not be. */
template <size_t size>
static inline bool sim_quick_read_beside(const struct sim_quick *q, size_t at, uint64_t record)
{
    for (size_t word = at / 4; word < at / 4 + size / 4; word++) {
        const uint64_t first = q->cells[word].read, second = q->others[word];
        if (!is_surely_ordered(first, q->floor) &&
            (!is_surely_unordered(first) || !(is_surely_unordered(second) || is_surely_ordered(second, q->floor))))
            return false;
    }
    for (size_t word = at / 4; word < at / 4 + size / 4; word++) {
        uint64_t *const first = &q->cells[word].read, *const second = &q->others[word];
        if (is_surely_ordered(*first, q->floor))
            *first = record;
        else if (is_surely_ordered(*second, q->floor) ||
                 (is_same_warp(*first, *second) && !is_same_warp(*first, record)))
            *second = record;
    }
    return true;
}

#endif
