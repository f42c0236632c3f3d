/* SPDX-License-Identifier: MIT */
/* shortcuts.h - what places in the code know of the addresses that are legal there, so that they need not call
   (compile/shortcuts.pl writes the comparisons). In host code that is all memory but the device's; in a kernel of which
   addresses alone are judged, it is the array that the place has accessed last. */
#ifndef SIM_SHORTCUTS_H
#define SIM_SHORTCUTS_H

#include <stddef.h>
#include <stdint.h>

/* One for each place. An access of `size` bytes at p is legal if (p - from), rotated right by the bits in which an
   aligned address is 0, is less than `count`. */
struct sim_shortcut {
    uintptr_t from, count;
    void *site; /* what an observer keeps of the place, NULL: nothing yet */
};

/* From now on plain accesses of `size` bytes to the `length` bytes behind `from` are legal at this place. */
void sim_shortcut_learn(struct sim_shortcut *place, uintptr_t from, uintptr_t length, size_t size);

/* All places call again: what is legal may be other memory now. */
void sim_shortcuts_forget(void);

#endif
