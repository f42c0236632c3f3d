/* SPDX-License-Identifier: MIT */
/* settings.cpp - the settings of the environment. docs/cusim.md explains them to users; a test holds the two together.

       CUSIM_BARRIERS=any          warps may meet at different barriers (barrier.cpp)
       CUSIM_BUSY=1                another kernel has all places of the device but one (order.cpp)
       CUSIM_CHECKS=bounds|none    what is watched (observe.cpp), and what cusim compiles; strict: remarks are errors
       CUSIM_CHIP=t4               the chip that is simulated and estimated (host.cpp)
       CUSIM_CORES=4[,MS]          processes that share a launch, and from when on (cores.cpp)
       CUSIM_DEVICES=2             devices (host.cpp)
       CUSIM_FAIL=3                the call that fails (calls.cpp)
       CUSIM_JSON=FILE             findings for machines (finding.cpp)
       CUSIM_LEAKS=1               tells what is left behind (leaks.cpp)
       CUSIM_NCCL_TIMEOUT=60       seconds that a rank waits for another one (nccl.cpp)
       CUSIM_REPORT=1              tells what kernels cost (report.cpp)
       CUSIM_RESIDENT=4            blocks that are resident at once (order.cpp)
       CUSIM_SCHEDULE=reverse      the order of execution (order.cpp)
       CUSIM_TRACE=FILE            counts as CSV; CUSIM_TRACE_WARP=FILE the lanes of each request (trace.cpp)
       CUSIM_WATCH=page.html       a page that plays a launch; _KERNEL, _OVER, _RUNS, _SAYS choose (watch_page.cpp)
       CUSIM_WATCHDOG=5            seconds that a kernel may get nowhere (fault.cpp) */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const settings[] = {
    "CUSIM_BARRIERS", "CUSIM_BUSY",         "CUSIM_CHECKS",     "CUSIM_CHIP",       "CUSIM_CORES",
    "CUSIM_DEVICES",  "CUSIM_FAIL",         "CUSIM_JSON",       "CUSIM_LEAKS",      "CUSIM_NCCL_TIMEOUT",
    "CUSIM_REPORT",   "CUSIM_RESIDENT",     "CUSIM_SCHEDULE",   "CUSIM_TRACE",      "CUSIM_TRACE_WARP",
    "CUSIM_WATCH",    "CUSIM_WATCH_KERNEL", "CUSIM_WATCH_OVER", "CUSIM_WATCH_RUNS", "CUSIM_WATCH_SAYS",
    "CUSIM_WATCHDOG"};

/* What some were called once, and how that is said now. */
static const char *const renamed[][2] = {{"SIM_SCHEDULE", "CUSIM_SCHEDULE"},
                                         {"SIM_RESIDENT", "CUSIM_RESIDENT"},
                                         {"SIM_BUSY", "CUSIM_BUSY"},
                                         {"SIM_WATCHDOG", "CUSIM_WATCHDOG"},
                                         {"SIM_TRACE", "CUSIM_TRACE"},
                                         {"SIM_TRACE_WARP", "CUSIM_TRACE_WARP"},
                                         {"SIM_CHIP", "CUSIM_CHIP, as in CUSIM_CHIP=t4"},
                                         {"SIM_ALONE", "CUSIM_CORES, as in CUSIM_CORES=4,50"},
                                         {"SIM_ONE_CORE", "CUSIM_CORES=1"}};

const char *sim_setting(const char *name)
{
    return getenv(name);
}

long sim_number_setting(const char *name, long least, long most, long otherwise, const char *want)
{
    const char *const text = sim_setting(name);
    char *end = NULL;

    if (text == NULL)
        return otherwise;
    const long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < least || number > most)
        sim_bad_setting(name, text, want);
    return number;
}

void sim_bad_setting(const char *name, const char *value, const char *want)
{
    fprintf(stderr, "simulator: %s=%s is not understood. Set it to %s.\n", name, value, want);
    _exit(2);
}

__attribute__((constructor)) static void refuse_others(void)
{
    for (const char *const *old : renamed)
        if (getenv(old[0]) != NULL) {
            fprintf(stderr, "simulator: %s is called %s now.\n", old[0], old[1]);
            _exit(2);
        }
    for (char **at = environ; *at != NULL; at++) {
        const size_t length = strcspn(*at, "=");
        bool known = strncmp(*at, "CUSIM_", 6) != 0;
        for (const char *name : settings)
            known = known || (strlen(name) == length && strncmp(*at, name, length) == 0);
        if (!known) {
            fprintf(stderr, "simulator: there is no setting %.*s. cusim --help lists those that there are.\n",
                    (int)length, *at);
            _exit(2);
        }
    }
}
