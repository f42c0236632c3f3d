/* SPDX-License-Identifier: MIT */
/* announce.cpp - the listeners, and whether accesses are announced. */
#include "announce.h"

#include <string.h>

#include "fault.h"
#include "settings.h"

__constinit struct sim_announcements sim_tell = {}; /* before any constructor subscribes */
bool sim_watches = true, sim_has_kernels;

__attribute__((constructor)) static void read_checks(void)
{
    const char *text = sim_setting("CUSIM_CHECKS");

    sim_strict = text != NULL && strcmp(text, "strict") == 0;
    sim_watches = text == NULL || sim_strict || strcmp(text, "all") == 0;
    if (!sim_watches && strcmp(text, "bounds") != 0 && strcmp(text, "none") != 0)
        sim_bad_setting("CUSIM_CHECKS", text, "strict, all, bounds or none");
}
