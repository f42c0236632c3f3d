/* SPDX-License-Identifier: MIT */
/* tasks.cpp - the tasks of streams, graphs and the host, and which comes before which.

   Each *line* (the host, a stream, a path through a graph) counts its tasks. What a task knows to be done is a vector
   clock: of each line a number. It is known when the task is put into its queue:

       what the stream's last task knew         what the host knew: all that it has waited for
       what an event knew when it was recorded  the default stream: the other streams', and they its own

   Two tasks that touch the same bytes, one of them writing, race if neither knows the other. Accesses are remembered by
   the interval in which they were (race.cpp): a kernel has many, a copy one. So the interval tells the task:

       intervals   1 2 3 4 5 | 6    | 7 8 9 ...
       task        kernel, a | copy | kernel, b                                                                     */
#include "tasks.h"

#include "../machine/announce.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>

#include "../machine/fault.h"
#include "host.h"
#include "memory.h"
#include "stream.h"
#include "../machine/locate.h"
#include "../machine/shortcuts.h"

/* A task that has accessed memory, and its first interval. The last one ends where the next task begins. */
struct run {
    uint64_t first, last;
    sim_task_ref task;
};

/* They are never destroyed: static objects of the program may have streams when it ends. */
static std::vector<uint64_t> &last_number = *new std::vector<uint64_t>(2);          /* of each line */
static std::vector<unsigned> &free_lines = *new std::vector<unsigned>();            /* that may be used again */
static std::vector<std::vector<run>> &runs = *new std::vector<std::vector<run>>(2); /* of each line */
static sim_known &host = *new sim_known(1, 1);
static sim_task_ref &host_task = *new sim_task_ref(), &running = *new sim_task_ref();
static uint64_t host_interval, running_interval; /* 0: none yet */
static run *newest;                              /* of all runs */
static run found;                                /* the last time */
static size_t num_runs;

unsigned sim_num_lines;

bool sim_remembers(void)
{
    return sim_num_lines > 0 && sim_watches;
}
uint64_t sim_known_interval = 1;

/* ---- lines and clocks ---- */

void sim_learn(sim_known *to, const sim_known &from)
{
    if (to->size() < from.size())
        to->resize(from.size());
    for (size_t i = 0; i < from.size(); i++)
        (*to)[i] = std::max((*to)[i], from[i]);
}

static bool knows(const sim_known &known, const sim_task *task)
{
    return task->line < known.size() && known[task->line] >= task->number;
}

unsigned sim_new_line(void)
{
    if (!free_lines.empty()) {
        const unsigned line = free_lines.back();
        free_lines.pop_back();
        return line;
    }
    last_number.push_back(0);
    runs.push_back({});
    newest = NULL; /* it has moved */
    return (unsigned)last_number.size() - 1;
}

void sim_end_line(unsigned line)
{
    free_lines.push_back(line);
}

sim_task_ref sim_new_task(unsigned line, const sim_known &before, const struct sim_call &call, const char *where,
                          const void *place, const void *early_wait)
{
    sim_task task = {line, ++last_number[line], before, call, where, place, early_wait, false};

    if (task.known.size() <= line)
        task.known.resize(line + 1);
    task.known[line] = task.number;
    return sim_task_ref(new sim_task(task));
}

/* ---- the host ---- */

const sim_known &sim_host_knows(void)
{
    return host;
}

bool sim_host_has_learned(const sim_known &known)
{
    for (size_t line = 0; line < known.size(); line++)
        if (known[line] > (line < host.size() ? host[line] : 0))
            return false;
    return true;
}

void sim_host_asked(void)
{
    host[0]++;
    host_task = NULL;
    host_interval = 0;
}

/* All that comes from now on knows what the host knows: that needs no comparing. */
static void drop_old_runs(void)
{
    if (num_runs < 256 || sim_has_late())
        return;
    num_runs = 0;
    for (std::vector<run> &of_line : runs) {
        const auto first =
            std::find_if(of_line.begin(), of_line.end(), [](const run &r) { return !knows(host, r.task.get()); });
        of_line.erase(of_line.begin(), first);
        num_runs += of_line.size();
    }
    host_interval = 0;
    newest = NULL;
}

/* ---- the task that runs ---- */

sim_running_task::sim_running_task(sim_task_ref task) : before(running), before_interval(running_interval)
{
    running = task;
    running_interval = 0;
}

sim_running_task::~sim_running_task()
{
    running->done = true;
    running = before;
    running_interval = before_interval;
}

bool sim_in_task(void)
{
    return running != NULL;
}

const void *sim_task_at(void)
{
    return running != NULL ? running->call.at : NULL;
}

static const sim_known &known_now(void)
{
    return running != NULL ? running->known : host;
}

/* ---- intervals ---- */

uint64_t sim_task_interval(void)
{
    return running != NULL ? running_interval : host_interval;
}

static run *newest_run(void)
{
    if (newest == NULL)
        for (std::vector<run> &of_line : runs)
            if (!of_line.empty() && (newest == NULL || of_line.back().first > newest->first))
                newest = &of_line.back();
    return newest;
}

/* The first interval of which the running task does not know that it is over. */
static void find_known_interval(uint64_t launch)
{
    const sim_known &known = known_now();

    sim_known_interval = launch;
    for (size_t line = 0; line < runs.size(); line++) {
        const uint64_t number = line < known.size() ? known[line] : 0;
        const auto first = std::upper_bound(runs[line].begin(), runs[line].end(), number,
                                            [](uint64_t n, const run &r) { return n < r.task->number; });
        if (first != runs[line].end())
            sim_known_interval = std::min(sim_known_interval, first->first);
    }
}

void sim_task_takes(uint64_t interval)
{
    if (running == NULL && host_task == NULL)
        host_task = sim_task_ref(new sim_task{0, host[0], host, {"the host", NULL, NULL, 0}, NULL, NULL, NULL, false});
    const sim_task_ref task = running != NULL ? running : host_task;
    run *const last = newest_run();

    if (last != NULL && last->last == UINT64_MAX) /* else the newest one was dropped: this one ended before it */
        last->last = interval - 1;
    runs[task->line].push_back({interval, UINT64_MAX, task});
    newest = &runs[task->line].back();
    (running != NULL ? running_interval : host_interval) = interval;
    num_runs++;
    find_known_interval(interval);
}

void sim_tasks_forget(uint64_t interval)
{
    for (std::vector<run> &of_line : runs)
        of_line.clear();
    num_runs = 0;
    newest = NULL;
    found = {};
    host_interval = running_interval = 0;
    sim_task_takes(interval);
}

static const run *run_of(uint64_t interval)
{
    if (interval >= found.first && interval <= found.last && found.task != NULL && found.last != UINT64_MAX)
        return &found;
    for (const std::vector<run> &of_line : runs) {
        const auto next = std::upper_bound(of_line.begin(), of_line.end(), interval,
                                           [](uint64_t i, const run &r) { return i < r.first; });
        if (next != of_line.begin() && interval <= (next - 1)->last) {
            found = *(next - 1);
            return &found;
        }
    }
    return NULL;
}

void sim_task_learns_of_host(uint64_t interval, uint64_t launch)
{
    const sim_task *const of = sim_task_of(interval);

    if (running == NULL || of == NULL || of->line != 0 || knows(running->known, of))
        return;
    sim_learn(&running->known, of->known);
    running->known[0] = std::max(running->known[0], of->number);
    find_known_interval(launch);
}

bool sim_task_orders(uint64_t interval)
{
    if (interval == 0)
        return true;
    const run *const r = run_of(interval);
    return r == NULL || knows(known_now(), r->task.get());
}

bool sim_task_known(const sim_task_ref &task)
{
    return task == NULL || knows(known_now(), task.get());
}

const sim_task *sim_task_of(uint64_t interval)
{
    const run *const r = run_of(interval);
    return r != NULL ? r->task.get() : NULL;
}

bool sim_same_task(uint64_t interval, uint64_t other)
{
    return sim_task_of(interval) == sim_task_of(other);
}

/* ---- on its way ---- */

struct way {
    const char *start;
    size_t pitch, width, height;
    bool writes;
    sim_task_ref task;
};
static std::vector<way> &ways = *new std::vector<way>();
static const size_t most_ways = 256;

void sim_on_its_way(const sim_task_ref &task, const void *start, size_t pitch, size_t width, size_t height, bool writes)
{
    if (task == NULL || task->done || sim_num_lines == 0) /* a node of a graph; or it has been */
        return;
    if (ways.size() == most_ways)
        ways.erase(ways.begin());
    ways.push_back({(const char *)start, pitch, width, height, writes, task});
}

std::vector<sim_arrival> &sim_arrivals = *new std::vector<sim_arrival>();
bool sim_has_arrivals;

void sim_arrives(std::vector<sim_arrival> before, const struct sim_arrival &last)
{
    before.push_back(last);
    sim_arrivals.swap(before);
    sim_has_arrivals = sim_watches;
    sim_shortcuts_forget();
}

void sim_host_learns(const sim_known &known)
{
    sim_arrivals.clear();
    sim_has_arrivals = false;
    sim_learn(&host, known);
    ways.erase(std::remove_if(ways.begin(), ways.end(), [](const way &w) { return knows(host, w.task.get()); }),
               ways.end());
    drop_old_runs();
}

const sim_task *sim_collides(const void *at, size_t size, bool writes, bool *other_writes)
{
    const char *const p = (const char *)at;

    for (const way &w : ways) {
        if (!writes && !w.writes)
            continue;
        const size_t row = p < w.start || w.height == 1 ? 0 : (size_t)(p - w.start) / w.pitch;
        const char *const from = w.start + (row < w.height ? row : w.height - 1) * w.pitch;
        const bool touches = p < from + w.width && p + size > from;
        const bool later = running != NULL && knows(w.task->known, running.get());
        if (touches && !later && !knows(known_now(), w.task.get())) {
            *other_writes = w.writes;
            return w.task.get();
        }
    }
    return NULL;
}

/* ---- for messages ---- */

static bool is_launch(const sim_task *task)
{
    return strcmp(task->call.name, "the launch of a kernel") == 0;
}

static void describe_line(const sim_task *task, char *text, size_t size)
{
    char place[400];

    if (task->place == NULL) {
        snprintf(text, size, "in the default stream");
        return;
    }
    sim_locate((const char *)task->place - 1, place, sizeof(place));
    snprintf(text, size, "in the %s %s at %s", task->where, strcmp(task->where, "graph") == 0 ? "launched" : "made",
             place);
}

void sim_describe_running(char *text, size_t size)
{
    char line[500];

    text[0] = '\0';
    if (running == NULL)
        return;
    describe_line(running.get(), line, sizeof(line));
    if (sim_place.kernel != NULL)
        snprintf(text, size, "%s it ", line);
    else
        snprintf(text, size, "%s %s ", running->call.name, line);
}

void sim_describe_task(const sim_task *task, const char *verb, const void *pc, char *text, size_t size)
{
    char line[500], at[400], inside[400] = "";

    if (task->line == 0) {
        sim_locate((const char *)pc - 1, at, sizeof(at));
        snprintf(text, size, "the host %s at %s", verb, at);
        return;
    }
    describe_line(task, line, sizeof(line));
    sim_locate_call(&task->call, at, sizeof(at));
    if (pc != NULL && pc != task->call.at)
        sim_locate((const char *)pc - 1, inside, sizeof(inside));
    if (is_launch(task))
        snprintf(text, size, "the kernel launched at %s %s%s%s %s", at, verb, inside[0] != '\0' ? " at " : "", inside,
                 line);
    else
        snprintf(text, size, "%s at %s %s%s%s %s", task->call.name, at, verb, inside[0] != '\0' ? " at " : "", inside,
                 line);
}

const char *sim_early_advice(void)
{
    static char text[600];
    char place[400];

    if (running == NULL || running->early_wait == NULL)
        return NULL;
    sim_locate((const char *)running->early_wait - 1, place, sizeof(place));
    snprintf(text, sizeof(text),
             "The event for which cudaStreamWaitEvent at %s waits was not recorded yet, so it waited for nothing: call "
             "cudaEventRecord before it",
             place);
    return text;
}

const char *sim_task_advice(const sim_task *task)
{
    if (sim_early_advice() != NULL)
        return sim_early_advice();
    if (task->line == 0 || running == NULL)
        return "Let the host wait in between: cudaStreamSynchronize, or cudaEventSynchronize for an event behind the "
               "first of the two";
    if (task->where != NULL && running->where != NULL && strcmp(task->where, "graph") == 0 &&
        task->place == running->place)
        return "Let one node depend on the other";
    return "Let one wait for the other: cudaEventRecord behind the first, cudaStreamWaitEvent before the second";
}
