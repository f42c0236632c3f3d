/* SPDX-License-Identifier: MIT */
/* shortcuts.cpp - what places in the code know of the addresses that are legal there. */
#include "shortcuts.h"

static struct sim_shortcut *known[1024]; /* those that know something; more of them find no room, and call */
static unsigned num_known;

void sim_shortcut_learn(struct sim_shortcut *place, uintptr_t from, uintptr_t length, size_t size)
{
    const size_t align = size < 8 ? size : 8;

    if (length < size || from % align != 0)
        return;
    if (place->count == 0) {
        if (num_known == sizeof(known) / sizeof(*known))
            return;
        known[num_known++] = place;
    }
    place->from = from;
    place->count = (length - size) / align + 1;
}

void sim_shortcuts_forget(void)
{
    for (; num_known > 0; num_known--)
        known[num_known - 1]->count = 0;
}
