/* SPDX-License-Identifier: MIT */
/* leaks.cpp - all that a program leaves behind: memory that it did not free, streams, events and graphs that it did not
   destroy, errors that nobody looked at. counts.h gives it to judges; CUSIM_LEAKS=1 tells it when the program ends. */
#include <algorithm>
#include <map>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

#include "../machine/announce.h"
#include "../runtime/host.h"
#include "../runtime/stream.h"
#include "../machine/settings.h"

/* Something that must be given back, or an error. */
struct made {
    const char *what; /* "stream"; NULL: memory */
    struct sim_call call;
    uint64_t number; /* in the order in which they were made */
    size_t size;
    cudaError_t error;
    bool went_on; /* after the error the program asked for something else */
};

/* They are never destroyed: what destroys static objects when the program ends still gives back. */
static std::map<const void *, made> &living = *new std::map<const void *, made>();
static uint64_t num_made;
static std::vector<made> &errors = *new std::vector<made>(); /* that nobody has looked at */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Whoever cleans up and ends after an error has looked at it. */
static bool cleans_up(const char *call)
{
    return begins(call, "cudaFree") || begins(call, "cudaDeviceReset") || begins(call, "cudaHostUnregister") ||
           strstr(call, "Destroy") != NULL;
}

static void call_begins(const struct sim_call *call)
{
    if (!errors.empty() && !cleans_up(call->name))
        for (made &e : errors)
            e.went_on = true;
}

static void is_made(const void *thing, const char *what, size_t size)
{
    living[thing] = {what, sim_call, ++num_made, size, cudaSuccess, false};
}

static void is_gone(const void *thing)
{
    if (thing == NULL)
        living.clear();
    else
        living.erase(thing);
}

static void erred(cudaError_t error, const struct sim_call *by)
{
    if (error != cudaSuccess && error != cudaErrorNotReady && errors.size() < 1000)
        errors.push_back({NULL, *by, 0, 0, error, false});
}

static void looked_at(cudaError_t error)
{
    for (size_t i = errors.size(); i-- > 0;)
        if (error == cudaSuccess || errors[i].error == error)
            errors.erase(errors.begin() + (long)i);
}

__attribute__((constructor(102))) static void subscribe(void)
{
    sim_tell.call_begins.add(call_begins);
    sim_tell.made.add(is_made);
    sim_tell.gone.add(is_gone);
    sim_tell.erred.add(erred);
    sim_tell.looked_at.add(looked_at);
}

/* ---- telling ---- */

/* Whoever hears of it: each line once, however many were made there. */
struct teller {
    void (*tell)(const char *line, void *context);
    void *context;
    std::map<std::string, unsigned> lines;
    std::vector<std::string> order;

    void add(const std::string &line)
    {
        if (lines[line]++ == 0)
            order.push_back(line);
    }
    void finish(void)
    {
        for (const std::string &line : order) {
            const unsigned times = lines[line];
            const std::string said = times > 1 ? line + " (" + std::to_string(times) + " times)" : line;
            tell(said.c_str(), context);
        }
    }
};

static std::string from(const made &m)
{
    char place[512];
    sim_locate_call(&m.call, place, sizeof(place));
    return std::string(m.call.name) + " at " + place;
}

extern "C" struct sim_left sim_left_behind(bool goes_on, void (*tell)(const char *line, void *context), void *context)
{
    const sim_lock_guard guard;
    struct sim_left left = {};
    struct teller teller = {tell, context, {}, {}};
    std::vector<made> things;

    for (const auto &thing : living)
        things.push_back(thing.second);
    std::sort(things.begin(), things.end(), [](const made &a, const made &b) { return a.number < b.number; });
    for (const made &m : things) {
        left.allocations += m.what == NULL;
        left.bytes += m.size;
        left.handles += m.what != NULL;
        if (tell != NULL && m.what == NULL)
            teller.add(std::to_string(m.size) + " bytes from " + from(m) + " were never freed");
        else if (tell != NULL)
            teller.add(std::string("the ") + m.what + " from " + from(m) + " was never destroyed");
    }
    const std::vector<made> seen = errors; /* asking for a name is looking at an error */
    for (const made &e : seen) {
        left.errors += goes_on || e.went_on;
        if (tell != NULL && (goes_on || e.went_on))
            teller.add(from(e) + " returned " + cudaGetErrorName(e.error) + ", which nobody looked at");
    }
    sim_each_late([&](const struct sim_call &call) {
        left.unwaited++;
        if (tell != NULL)
            teller.add(from({NULL, call, 0, 0, cudaSuccess, false}) + " was never waited for, so it was not done");
    });
    errors = seen;
    if (tell != NULL)
        teller.finish();
    return left;
}

extern "C" void sim_forget_left(void)
{
    const sim_lock_guard guard;
    living.clear();
    errors.clear();
}

static void say(const char *line, void *)
{
    fprintf(stderr, "simulator: %s.\n", line);
}

/* A program that ends with another status than 0 has seen its last error. */
static void at_end(int status, void *)
{
    fflush(stdout);
    const struct sim_left left = sim_left_behind(status == 0, say, NULL);

    if (left.allocations + left.handles + left.errors + left.unwaited == 0)
        fprintf(stderr, "simulator: nothing is left behind: all that was made is given back.\n");
}

/* What is registered first is called last, behind the program's own destructors. */
__attribute__((constructor(101))) static void read_setting(void)
{
    const char *text = sim_setting("CUSIM_LEAKS");

    if (text == NULL || strcmp(text, "0") == 0)
        return;
    if (strcmp(text, "1") != 0)
        sim_bad_setting("CUSIM_LEAKS", text, "1");
    on_exit(at_end, NULL);
}
