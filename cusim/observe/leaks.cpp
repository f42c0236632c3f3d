/* SPDX-License-Identifier: MIT */
/* leaks.cpp - all that a program leaves behind: memory that it did not free, streams, events and graphs that it did
   not destroy, errors that nobody looked at, work that nobody waited for. counts.h gives it to judges; CUSIM_LEAKS=1
   tells it when the program ends.

   Without being asked, the end tells of errors that are certain to be lost: of a launch, which returns nothing, and of
   a call whose result is thrown away (rewrite.pl marks these), when cudaGetLastError was not called behind it. The
   first one ends the program with status 1, as what came of it can be wrong. */
#include <algorithm>
#include <map>
#include <set>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

#include "../machine/announce.h"
#include "../machine/fault.h"
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
    bool went_on;   /* after the error the program asked for something else */
    bool is_thrown; /* the error, away: nobody can have looked at it */
    struct sim_place place;
    std::string why; /* it is an error, in a sentence; or empty */
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
    living[thing] = {what, sim_call, ++num_made, size, cudaSuccess, false, false, {}, ""};
}

static void is_gone(const void *thing)
{
    if (thing == NULL)
        living.clear();
    else
        living.erase(thing);
}

static void erred(cudaError_t error, const char *why, const struct sim_call *by)
{
    if (error == cudaSuccess || errors.size() >= 1000)
        return;
    const bool is_launch = by->file != NULL;
    errors.push_back({NULL, *by, 0, 0, error, false, is_launch, sim_place, why != NULL ? why : ""});
}

static void looked_at(cudaError_t error)
{
    for (size_t i = errors.size(); i-- > 0;)
        if (error == cudaSuccess || errors[i].error == error)
            errors.erase(errors.begin() + (long)i);
}

/* Where kernels were launched that print. */
static std::set<const void *> &printing = *new std::set<const void *>();

static void printed(const char *)
{
    printing.insert(sim_task_at());
}

__attribute__((constructor(102))) static void subscribe(void)
{
    sim_tell.call_begins.add(call_begins);
    sim_tell.made.add(is_made);
    sim_tell.gone.add(is_gone);
    sim_tell.erred.add(erred);
    sim_tell.printed.add(printed);
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
    sim_each_unwaited([&](const struct sim_call &call, bool is_done) {
        left.unwaited += !is_done;
        if (tell != NULL && !is_done)
            teller.add(from({NULL, call, 0, 0, cudaSuccess, false, false, {}, ""}) +
                       " was never waited for, so it was not done");
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

/* ---- at the end ---- */

/* An error after which no result is wrong. */
static bool is_harmless(const struct made &e)
{
    static const char *const what[] = {"PeerAccess", "Prefetch", "Advise",    "Profiler", "cudaDeviceSet",
                                       "cudaSet",    "Query",    "Attribute", "cudaFunc", "PersistingL2"};

    for (const char *word : what)
        if (strstr(e.call.name, word) != NULL)
            return true;
    return cleans_up(e.call.name);
}

static std::string told(const struct made &e)
{
    const std::string name = cudaGetErrorName(e.error);

    if (e.call.file != NULL)
        return (e.why.empty() ? "the launch returned " + name : e.why) +
               ". The kernel did not run, and nobody asked cudaGetLastError() for the error" +
               (e.why.empty() ? "" : ", " + name);
    return std::string(e.call.name) + " returned " + name + ", and nobody looked at it" +
           (e.why.empty() ? std::string(". See what it was given, and compare what each call returns with cudaSuccess")
                          : ": " + e.why);
}

/* A remark, or a fault, at the place of the call. */
static void tell_thrown(const struct made &e, bool is_fault)
{
    const std::string text = told(e);
    const struct sim_place before = sim_place;

    sim_place = e.place;
    sim_place.in_block = sim_place.in_thread = false;
    if (is_fault && e.call.file != NULL)
        sim_fault(e.call.file, e.call.line, "%s", text.c_str());
    if (is_fault)
        sim_fault_at(e.call.at, "%s", text.c_str());
    if (e.call.file != NULL)
        sim_remark(e.call.file, e.call.line, "%s", text.c_str());
    else
        sim_remark_at(e.call.at, "%s", text.c_str());
    sim_place = before;
}

/* What a call has just returned. What cudaFree says of its argument is told at once: few look at that. */
static void thrown_away(cudaError_t error, bool is)
{
    if (errors.empty() || errors.back().error != error)
        return;
    errors.back().is_thrown = is;
    if (is && begins(errors.back().call.name, "cudaFree")) {
        const made e = errors.back();
        errors.pop_back();
        if (!e.why.empty())
            sim_remark_at(e.call.at, "%s", e.why.c_str());
    }
}

/* A fault is told behind the errors that may be why. */
void sim_tell_thrown(void)
{
    std::vector<made> all;

    all.swap(errors);
    for (const made &e : all)
        if (e.is_thrown)
            tell_thrown(e, false);
}

/* A program that gives up, with another status than 0, need not wait; but what was not done may be why. */
static void tell_unwaited(bool gives_up)
{
    sim_each_unwaited([gives_up](const struct sim_call &call, bool is_done) {
        if (gives_up && (is_done || sim_strict)) /* strict, it would take the status */
            return;
        const bool prints = printing.count(call.at) > 0;
        const std::string text =
            std::string(call.name) + " was never waited for: " +
            (!is_done ? "it was not done" : "a GPU may not be done with it when the program ends") +
            (prints ? ", and what the kernel prints is lost then" : "") +
            ". Call cudaDeviceSynchronize() before the end";
        if (call.file != NULL)
            sim_remark(call.file, call.line, "%s", text.c_str());
        else
            sim_remark_at(call.at, "%s", text.c_str());
    });
}

static bool is_asked; /* by CUSIM_LEAKS */

static void say(const char *line, void *)
{
    fprintf(stderr, "simulator: %s.\n", line);
}

/* A program that ends with another status than 0 has seen its last error. */
static void at_end(int status, void *)
{
    const sim_lock_guard guard;
    const made *first = NULL;

    fflush(stdout);
    for (const made &e : errors)
        if (first == NULL && e.is_thrown && !is_harmless(e))
            first = &e;
    if (is_asked) {
        const struct sim_left left = sim_left_behind(status == 0, say, NULL);
        if (left.allocations + left.handles + left.errors + left.unwaited == 0)
            fprintf(stderr, "simulator: nothing is left behind: all that was made is given back.\n");
    } else if (first == NULL) {
        tell_unwaited(status != 0);
    }
    if (first != NULL) {
        const made e = *first;
        errors.clear();
        tell_thrown(e, true);
    }
    for (const made &e : std::vector<made>(errors)) /* asking for a name is looking at an error */
        if (e.is_thrown)
            tell_thrown(e, false);
}

/* What is registered first is called last: this behind the program's own destructors, and before remarks are told. */
__attribute__((constructor(102))) static void read_setting(void)
{
    const char *text = sim_setting("CUSIM_LEAKS");

    sim_tell.thrown_away.add(thrown_away);
    on_exit(at_end, NULL);
    if (text == NULL || strcmp(text, "0") == 0)
        return;
    if (strcmp(text, "1") != 0)
        sim_bad_setting("CUSIM_LEAKS", text, "1");
    is_asked = true;
}
