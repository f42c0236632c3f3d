/* SPDX-License-Identifier: MIT */
/* calls.cpp - the calls of the host API that a program has to check, one after the other, and the one among them that is
   to fail (CUSIM_FAIL, sim_watch_calls), so that one sees whether the program notices. */
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#include "fault.h"
#include "host.h"

struct made {
    const char *name;
    const void *caller; /* the return address; of a launch NULL, and */
    const char *file;   /* where it is */
    int line;
    bool can_fail;
    cudaError_t error; /* what it has returned */
};

static int number;       /* of the next call that can fail, counted from 0 */
static int to_fail = -1; /* the one that fails; -1: none */
static bool is_asked;    /* by CUSIM_FAIL: say which one it was */
static bool watched;     /* remember all */
static std::vector<struct made> calls;
static struct made now;
static int depth; /* calls that other calls make are none of the program's */

static void say_if_none(void)
{
    if (is_asked && to_fail >= number)
        fprintf(stderr, "simulator: CUSIM_FAIL=%d, but the program made %d calls that can fail\n", to_fail + 1, number);
}

__attribute__((constructor)) static void read_fail(void)
{
    const char *text = getenv("CUSIM_FAIL");
    char *end;

    if (text == NULL)
        return;
    const long asked = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || asked < 1 || asked > 1000000000)
        sim_bad_setting("CUSIM_FAIL", text, "1 for the first call that can fail, 2 for the second, ...");
    to_fail = (int)asked - 1;
    is_asked = true;
    atexit(say_if_none);
}

static void locate(const struct made *call, char *place, size_t size)
{
    if (call->caller != NULL)
        sim_locate((const char *)call->caller - 1, place, size);
    else
        snprintf(place, size, "%s:%d", call->file, call->line);
}

/* Whether the call that begins, `now`, is the one. */
static bool begin(cudaError_t error)
{
    char place[256];

    now.can_fail = error != cudaSuccess;
    if (!now.can_fail || number++ != to_fail)
        return false;
    if (is_asked) {
        locate(&now, place, sizeof(place));
        fprintf(stderr, "simulator: %s: %s%s fails with %s, as CUSIM_FAIL=%d asks\n", place,
                now.caller == NULL ? "the launch of " : "", now.name, cudaGetErrorName(error), to_fail + 1);
    }
    return true;
}

sim_call::sim_call(const char *name, const void *caller, cudaError_t error)
{
    fails = false;
    if (depth++ > 0)
        return;
    now = {name, caller, NULL, 0, false, cudaSuccess};
    fails = begin(error);
}

sim_call::sim_call(const char *kernel, const char *file, int line, cudaError_t error)
{
    fails = false;
    if (depth++ > 0)
        return;
    now = {kernel, NULL, file, line, false, cudaSuccess};
    fails = begin(error);
}

sim_call::~sim_call()
{
    if (--depth > 0)
        return;
    if (watched)
        calls.push_back(now);
    now = {};
}

void sim_call_returns(cudaError_t error)
{
    now.error = error;
}

/* ---- for programs (sim.h) ---- */

void sim_watch_calls(bool on, int fails)
{
    const sim_guard guard;
    watched = on;
    number = 0;
    to_fail = on ? fails : -1;
    is_asked = false;
    calls.clear();
}

size_t sim_num_calls(void)
{
    return calls.size();
}

struct sim_call_made sim_get_call(size_t i)
{
    const struct made *call = &calls[i];
    struct sim_call_made result = {call->name, "", call->caller == NULL, call->can_fail, call->error};

    locate(call, result.place, sizeof(result.place));
    return result;
}
