/* SPDX-License-Identifier: MIT */
/* tasks.h - the tasks of streams, graphs and the host, and which comes before which. */
#ifndef SIM_TASKS_H
#define SIM_TASKS_H

#include <memory>
#include <stddef.h>
#include <stdint.h>
#include <vector>

struct sim_region;

/* A *line* does one task after the other: line 0 is the host, 1 the default stream; each other stream is one, and each
   path through a graph. This is up to which task of each line all is done, by number (a vector clock). */
typedef std::vector<uint64_t> sim_known;
void sim_learn(sim_known *to, const sim_known &from);

/* A call of the API: who called it, and for a launch where that stands. */
struct sim_call {
    const char *name;
    const void *at;
    const char *file;
    int line;
};
void sim_locate_call(const struct sim_call *call, char *text, size_t size); /* "scan.cu:12" */

struct sim_task {
    unsigned line;
    uint64_t number;
    mutable sim_known known; /* what comes before it, and itself; and what it learns by the host's flags */
    struct sim_call call;    /* that asked for it */
    const char *where;       /* "stream" or "graph", made or launched at this place: */
    const void *place;       /* NULL: the default stream */
    const void *early_wait;  /* a cudaStreamWaitEvent before, whose event was not recorded then; or NULL */
    mutable bool done;
};
typedef std::shared_ptr<const sim_task> sim_task_ref;

unsigned sim_new_line(void);
void sim_end_line(unsigned line); /* another one may have its number */

/* The next task of a line. */
sim_task_ref sim_new_task(unsigned line, const sim_known &before, const struct sim_call &call, const char *where,
                          const void *place, const void *early_wait);

/* What the host knows; that it learns; and that it has asked for something: what it does from now on comes later. */
const sim_known &sim_host_knows(void);
bool sim_host_has_learned(const sim_known &known);
void sim_host_learns(const sim_known &known);
void sim_host_asked(void);

/* While one of these lives, its task runs. */
struct sim_running_task {
    explicit sim_running_task(sim_task_ref task);
    ~sim_running_task();
    const sim_task_ref before;
    const uint64_t before_interval;
};
bool sim_in_task(void);
const void *sim_task_at(void); /* who asked for the one that runs; NULL: none does */

/* ---- what tasks do to memory: the search for races asks (race.cpp) ---- */

/* How many streams and pieces of memory there are that the host and kernels share. Without any, and with
   CUSIM_CHECKS=bounds, nothing can race, and nothing is remembered but what kernels do. */
extern unsigned sim_num_lines;
bool sim_remembers(void);

/* The interval in which the running task accesses memory, of a kernel the first; 0: none yet. */
uint64_t sim_task_interval(void);

/* The task that runs accesses memory in this interval, and in those after it until the next call. */
void sim_task_takes(uint64_t interval);
void sim_tasks_forget(uint64_t interval); /* all intervals; that is the first one again */

/* Its kernel must be compared with accesses from this interval on; before it, all are known to be done. */
extern uint64_t sim_known_interval;

/* Whether the task of that interval is known to be done by the one that runs. */
bool sim_task_orders(uint64_t interval);

/* A kernel, whose first interval is `launch`, reads a flag that was written in that interval: if by the host, what the
   host had done before is done. */
void sim_task_learns_of_host(uint64_t interval, uint64_t launch);

bool sim_task_known(const sim_task_ref &task); /* NULL: yes */

/* Whether both are of one task. */
bool sim_same_task(uint64_t interval, uint64_t other);

/* For messages. Of the task that runs: "cudaMemcpyAsync in the stream made at scan.cu:12", or nothing for the host and
   in kernels "in the stream ..." only. Of another one: "cudaMemcpyAsync at scan.cu:20 has read in the stream made at
   scan.cu:11"; of a kernel or the host `pc` says where it did. And what is to be done about the two. */
const sim_task *sim_task_of(uint64_t interval);
void sim_describe_running(char *text, size_t size);
void sim_describe_task(const sim_task *task, const char *verb, const void *pc, char *text, size_t size);
const char *sim_task_advice(const sim_task *task);

/* What to do if the running task came too early because its stream has waited for an event that was not recorded; or
   NULL. */
const char *sim_early_advice(void);

/* What asynchronous copies have brought to pageable memory since the host has waited for anything: it was there when
   the call returned. With pinned memory it would not be. */
struct sim_arrival {
    const char *start;
    size_t pitch, width, height;
    struct sim_call call;
};
extern std::vector<sim_arrival> &sim_arrivals;
extern bool sim_has_arrivals;
void sim_arrives(std::vector<sim_arrival> before, const struct sim_arrival &last); /* these, and another one */

/* What copies and fills are about to touch, and have not yet: `height` rows. */
void sim_on_its_way(const sim_task_ref &task, const void *start, size_t pitch, size_t width, size_t height,
                    bool writes);

/* The one on its way that an access collides with, and is not ordered with; NULL: none. */
const sim_task *sim_collides(const void *at, size_t size, bool writes, bool *other_writes);

#endif
