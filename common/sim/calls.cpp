/* SPDX-License-Identifier: MIT */
/* calls.cpp - the calls of the host API that a program has to check, one after the other, and the one among them that is
   to fail (CUSIM_FAIL, sim_watch_calls), so that one sees whether the program notices. */
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#include "fault.h"
#include "host.h"

struct called {
    const char *name;
    const void *at;   /* the return address */
    const char *file; /* of a launch: where it is; else NULL */
    int line;
    bool can_fail;
    cudaError_t error; /* what it has returned */
};

static int number;       /* of the next call that can fail, counted from 0 */
static int to_fail = -1; /* the one that fails; -1: none */
static bool is_asked;    /* by CUSIM_FAIL: say which one it was */
static bool watched;     /* remember all */
static std::vector<struct called> &calls = *new std::vector<struct called>();

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
        sim_bad_setting("CUSIM_FAIL", text, "1 for the first call that can fail, 2 for the second, and so on");
    to_fail = (int)asked - 1;
    is_asked = true;
    atexit(say_if_none);
}

static void locate(const struct called *call, char *place, size_t size)
{
    if (call->file == NULL)
        sim_locate((const char *)call->at - 1, place, size);
    else
        snprintf(place, size, "%s:%d", call->file, call->line);
}

static bool is_the_one(cudaError_t error, const struct called call)
{
    char place[256];

    if (watched)
        calls.push_back(call);
    if (number++ != to_fail)
        return false;
    if (is_asked) {
        locate(&call, place, sizeof(place));
        fprintf(stderr, "simulator: %s: %s%s fails with %s, as CUSIM_FAIL=%d asks\n", place,
                call.file != NULL ? "the launch of " : "", call.name, cudaGetErrorName(error), to_fail + 1);
    }
    return true;
}

bool sim_fails(cudaError_t error)
{
    return !sim_is_inner() && is_the_one(error, {sim_call.name, sim_call.at, NULL, 0, true, cudaSuccess});
}

bool sim_launch_fails(cudaError_t error, const char *kernel, const char *file, int line)
{
    return is_the_one(error, {kernel, sim_call.at, file, line, true, cudaSuccess});
}

void sim_call_erred(cudaError_t error, const char *call, const void *at)
{
    if (!watched || error == cudaSuccess)
        return;
    if (!calls.empty() && calls.back().at == at)
        calls.back().error = error;
    else
        calls.push_back({call, at, NULL, 0, false, error});
}

/* ---- for programs (sim.h) ---- */

void sim_watch_calls(bool on, int fails)
{
    const sim_lock_guard guard;
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
    const struct called *call = &calls[i];
    struct sim_call_made result = {call->name, "", call->file != NULL, call->can_fail, call->error};

    locate(call, result.place, sizeof(result.place));
    return result;
}
