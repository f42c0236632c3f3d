/* SPDX-License-Identifier: MIT */
/* calls.cpp - calls of the host API: which one is being answered; those of the host API that a program has to check, and the one among them that is to fail
   (CUSIM_FAIL, sim_watch_calls), so that one sees whether the program notices. */
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#include "host.h"
#include "../machine/announce.h"
#include "tasks.h"
#include "../machine/settings.h"

struct sim_call sim_call;
static unsigned depth; /* of calls of the API by itself */

void sim_enter(const struct sim_call &call)
{
    if (depth++ > 0)
        return;
    sim_call = call;
    sim_tell.call_begins(&sim_call);
}

void sim_leave(void)
{
    depth--;
}

bool sim_is_inner(void)
{
    return depth > 1;
}

struct called {
    struct sim_call call;
    const char *kernel; /* that is launched; else NULL */
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
    to_fail = (int)sim_number_setting("CUSIM_FAIL", 1, 1000000000, 0,
                                      "1 for the first call that can fail, 2 for the second, and so on") -
              1;
    if (to_fail < 0)
        return;
    is_asked = true;
    atexit(say_if_none);
}

static bool is_the_one(cudaError_t error, const struct called call)
{
    char place[256];

    if (watched)
        calls.push_back(call);
    if (number++ != to_fail)
        return false;
    if (is_asked) {
        sim_locate_call(&call.call, place, sizeof(place));
        fprintf(stderr, "simulator: %s: %s%s fails with %s, as CUSIM_FAIL=%d asks\n", place,
                call.kernel != NULL ? "the launch of " : "", call.kernel != NULL ? call.kernel : call.call.name,
                cudaGetErrorName(error), to_fail + 1);
    }
    return true;
}

bool sim_fails(cudaError_t error)
{
    return !sim_is_inner() && is_the_one(error, {sim_call, NULL, true, cudaSuccess});
}

bool sim_launch_fails(cudaError_t error, const char *kernel)
{
    return is_the_one(error, {sim_call, kernel, true, cudaSuccess});
}

static void remember_error(cudaError_t error, const struct sim_call &call)
{
    if (!watched || error == cudaSuccess)
        return;
    if (!calls.empty() && calls.back().call.at == call.at)
        calls.back().error = error;
    else
        calls.push_back({call, NULL, false, error});
}

void sim_call_returns(cudaError_t error, const char *call, const void *at)
{
    const struct sim_call by = depth > 0 ? sim_call : (struct sim_call){call, at, NULL, 0};

    remember_error(error, by);
    sim_tell.erred(error, &by);
}

/* ---- for programs (counts.h) ---- */

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

    return {call->kernel != NULL ? call->kernel : call->call.name, call->kernel != NULL, call->can_fail, call->error};
}

void sim_locate_made(size_t i, char *text, size_t size)
{
    sim_locate_call(&calls[i].call, text, size);
}
