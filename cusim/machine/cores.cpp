/* SPDX-License-Identifier: MIT */
/* cores.cpp - the blocks of a launch on several cores of the machine.

   Where only addresses are judged (CUSIM_CHECKS=bounds and none), blocks need not be watched together. A launch that
   has taken a while forks: each process has an engine of its own, with all that it knows, and they share device
   memory. They take numbers of blocks from one counter:

       program --- block 0 --- block 1 --+-- 2 ---- 5 ---- 6 --+-- the launch has ended
                                         +-- 3 ------- 7 -- 8 --+   counts are added up, what kernels printed
                                         +-- 4 ----------- 9 --+   is printed in the order of the blocks

   In each process the numbers go up, so the first of the blocks that have not ended runs, or is the next of its
   process: a block that waits for earlier ones (look-back) gets what it waits for. What is written is what each block
   writes, whoever runs it, so the bits are those of one core; only what blocks add by atomics comes in any order, as on
   a GPU.

   Not split: cooperative launches and other orders than the usual one; programs with static variables in kernels, which
   are made when a kernel first comes to them, and with the few others that lie in the program's own data (rewrite.pl
   tells of them). */
#include "cores.h"

#include <atomic>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "access.h"
#include "block.h"
#include "order.h"
#include "print.h"
#include "settings.h"
#include "fault.h"
#include "announce.h"

static const unsigned most_processes = 256, num_locks = 1024;
static const uint64_t enough_tries = 300; /* by all, while nothing changes, show that all wait for each other */

/* What processes tell each other. */
struct common {
    std::atomic<uint64_t> next;          /* the cluster that nobody has taken */
    std::atomic<uint64_t> standstills;   /* how often a process has got into one */
    std::atomic<unsigned> num_processes; /* 0: not all have begun */
    std::atomic<unsigned> faulty;        /* 1 + the process that has met a fault first; 0: none */
    char message[4096];                  /* its message */
    struct process {
        std::atomic<uint64_t> seen, tries; /* what standstills was at the last try of many in vain */
        std::atomic<bool> done;
        struct sim_counts counts;
        size_t static_bytes; /* of shared memory */
    } processes[most_processes];
    std::atomic<bool> locks[num_locks]; /* of words, by their address */
};

static unsigned cores;          /* CUSIM_CORES */
static double alone_for = 0.05; /* seconds that a launch has one core to itself: to fork takes milliseconds */
static bool has_variables;      /* that processes do not share */
static bool never;              /* an observer must see all blocks */

static bool may_split;        /* the launch that runs */
static uint64_t num_clusters; /* of it */
static double begin;          /* when, in seconds */
static struct common *common; /* of a launch that is split, else NULL */
static unsigned self;         /* which process this one is; 0: the program's own */
static pid_t children[most_processes];
static FILE *prints[most_processes]; /* what kernels print in each */
static std::atomic<bool> *taken;     /* lock of the word that this process has to itself */

__attribute__((constructor)) static void read_cores(void)
{
    const char *const text = sim_setting("CUSIM_CORES");
    char *end = NULL;
    cpu_set_t set;

    if (text != NULL) {
        const long number = strtol(text, &end, 10);
        if (*end == ',')
            alone_for = strtod(end + 1, &end) / 1000;
        if (end == text || *end != '\0' || number < 1 || number > (long)most_processes || !(alone_for >= 0))
            sim_bad_setting("CUSIM_CORES", text,
                            "a number of cores from 1 to 256, and if need be `,' and milliseconds");
        cores = (unsigned)number;
    } else if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        const unsigned count = (unsigned)CPU_COUNT(&set);
        cores = count < most_processes ? count : most_processes;
    }
}

/* Each object file calls it that has variables which processes do not share (rewrite.pl). */
int sim_know_variables(void)
{
    has_variables = true;
    return 0;
}

void sim_never_split(void)
{
    never = true;
}

bool sim_may_split(void)
{
    static bool may = true;

    /* once it may not, never: device memory may have been made that one process has */
    may = may && cores > 1 && !never && !(sim_watches && sim_has_kernels) && !has_variables;
    return may;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void sim_begin_split(uint64_t clusters)
{
    num_clusters = clusters;
    may_split = sim_may_split() && !sim_launched->cooperative && sim_schedule == SIM_FORWARD && !sim_busy &&
                sim_resident_wanted == 0;
    begin = may_split ? now() : 0;
}

/* ---- the others come ---- */

static void begin_child(unsigned number, pid_t parent)
{
    self = number;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    sim_counts = {};
    sim_atomics = 0;
    sim_tell.process_begins();
}

/* Forks until there are so many processes, or no more can be had. */
static void begin_children(unsigned wanted)
{
    const pid_t parent = getpid();
    unsigned number = 1;

    for (; number < wanted && (prints[number] = sim_print_file()) != NULL; number++) {
        const pid_t child = fork();
        if (child == 0) {
            begin_child(number, parent);
            return;
        }
        if (child < 0)
            break;
        children[number] = child;
    }
    common->num_processes = number;
}

uint64_t sim_split(uint64_t begun)
{
    const uint64_t rest = num_clusters - begun;

    if (!may_split || common != NULL || rest < 2)
        return begun;
    const double passed = now() - begin;
    if (passed < alone_for || passed * (double)rest < alone_for * (double)begun)
        return begun;
    may_split = false;
    prints[0] = sim_print_file();
    void *const map = mmap(NULL, sizeof(struct common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || prints[0] == NULL)
        return begun;
    common = (struct common *)map; /* all of it is 0 */
    common->next = begun;
    begin_children(rest < cores ? (unsigned)rest : cores);
    sim_print_into(prints[self]);
    return common->next++;
}

uint64_t sim_next_cluster(uint64_t begun)
{
    return common == NULL ? begun + 1 : common->faulty != 0 ? num_clusters : common->next++;
}

uint64_t sim_blocks_done(void)
{
    if (common == NULL)
        return sim_counts.blocks;
    const uint64_t taken = common->next < num_clusters ? common->next.load() : num_clusters;
    const uint64_t blocks = (uint64_t)gridDim.x * gridDim.y * gridDim.z / num_clusters; /* of each */
    return taken > common->num_processes ? (taken - common->num_processes) * blocks : 0;
}

/* ---- and end ---- */

/* Whether a child has ended, and how: its status. With 0 in place of WNOHANG: waits for that. */
static bool has_ended(unsigned child, int *status, int options)
{
    if (children[child] == 0)
        return true;
    const pid_t ended = waitpid(children[child], status, options);
    if (ended == 0 || (ended < 0 && errno == EINTR))
        return false;
    children[child] = 0;
    return true;
}

/* Ends all of them at once but one, which ends by itself. */
static void end_children(unsigned but)
{
    int status;

    for (unsigned i = 1; i < common->num_processes; i++)
        if (i != but && children[i] != 0)
            kill(children[i], SIGKILL);
    for (unsigned i = 1; i < common->num_processes; i++)
        while (!has_ended(i, &status, 0))
            continue;
}

const char *sim_fault_of_all(const char *message)
{
    unsigned none = 0;

    if (common == NULL)
        return message;
    const bool first = common->faulty.compare_exchange_strong(none, self + 1);
    if (self != 0) {
        if (first)
            snprintf(common->message, sizeof(common->message), "%s", message);
        _exit(1);
    }
    const unsigned faulty = common->faulty - 1;
    end_children(faulty);
    sim_print_into(NULL);
    sim_print_all(prints, common->num_processes);
    return faulty == 0 ? message : common->message;
}

/* Ends this process if another one has met a fault. */
static void heed_faults(void)
{
    if (common->faulty != 0)
        sim_end(sim_fault_of_all(""));
}

void sim_end_split(void)
{
    if (common == NULL)
        return;
    struct common::process *const own = &common->processes[self];
    own->counts = sim_counts;
    own->counts.atomics += sim_atomics;
    own->static_bytes = sim_info->static_bytes;
    common->standstills++; /* before it has ended: what it wrote last may be what others wait for */
    own->done = true;
    if (self != 0)
        _exit(0);
    for (unsigned i = 1; i < common->num_processes; i++) {
        const struct common::process *const p = &common->processes[i];
        int status = 0;

        while (!has_ended(i, &status, WNOHANG)) {
            heed_faults();
            usleep(200);
        }
        heed_faults();
        if (!p->done)
            sim_fault(sim_launched->file, sim_launched->line,
                      "a process that ran some of the blocks was ended by signal %d. If memory is short, set "
                      "CUSIM_CORES=1",
                      WTERMSIG(status));
        sim_add_counts(&sim_counts, &p->counts);
        if (p->static_bytes > sim_info->static_bytes)
            sim_info->static_bytes = p->static_bytes;
    }
    sim_print_into(NULL);
    sim_print_all(prints, common->num_processes);
    munmap((void *)common, sizeof(*common));
    common = NULL;
}

/* ---- what they do to each other ---- */

/* A standstill ends with what somebody writes. So when all have tried often since the last one began, and in vain, none
   ends any more. */
static bool all_stand_still(void)
{
    const unsigned count = common->num_processes;
    bool all = count > 0;

    for (unsigned i = 0; i < count && all; i++) {
        const struct common::process *const p = &common->processes[i];
        all = p->done || (p->tries >= enough_tries && p->seen == common->standstills);
    }
    return all && common->processes[self].seen == common->standstills;
}

bool sim_wait_for_processes(bool first_time, uint64_t tries)
{
    struct common::process *own;

    if (common == NULL)
        return false;
    heed_faults();
    own = &common->processes[self];
    sim_progress++; /* whether that ends is found out here, not by the watchdog */
    if (first_time)
        common->standstills++;
    own->tries = own->seen == common->standstills ? own->tries + 1 : 0;
    own->seen = common->standstills.load();
    if (all_stand_still())
        return false;
    if (tries < enough_tries)
        sched_yield();
    else
        usleep(50);
    return true;
}

void sim_take_word(const void *word)
{
    if (common == NULL)
        return;
    taken = &common->locks[(uintptr_t)word / 4 % num_locks];
    while (taken->exchange(true))
        sched_yield();
}

void sim_give_word(void)
{
    if (taken != NULL)
        taken->store(false);
    taken = NULL;
}

void sim_order_memory(void)
{
    if (common != NULL)
        std::atomic_thread_fence(std::memory_order_seq_cst);
}
