/* SPDX-License-Identifier: MIT */
/* threads.c - watches answers in plain C: starts their threads in several orders, and counts what they load and store.

   Orders, named by CUSIM_SCHEDULE as those of the simulator:

       warp      a thread runs when it is created, and its creator goes on when it is done
       reverse   all wait until somebody joins one of them; then they run, the last one first
       random:1  all at once, as the system likes it

   The first two are always the same, so a thread that reads what another one is about to write is always caught: its
   result is right in one of them at most.

   Counting: the compiler puts a call of __tsan_read4(address) before each load (-fsanitize=thread), and the linker
   sends it here (--wrap). What counts are elements of the judge's arrays. The *span* is the longest chain of loads and
   stores, one after the other: a thread begins where its creator was, and who joins it cannot be earlier than it. */
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 1024 };

struct thread {
    pthread_t id;         /* of the thread that runs it */
    _Atomic pid_t number; /* the kernel's; 0: it has not begun */
    void *(*run)(void *);
    void *argument, *result;
    bool started, joined;
    size_t span; /* where it begins, then where it ends */
};

static struct thread threads[MOST_THREADS]; /* the answer's name of a thread is its index */
static size_t num_threads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local size_t span;
static atomic_size_t loaded, stored; /* bytes */
static const char *watched[JUDGE_MAX_ARRAYS][2];
static size_t num_watched;

static void *run(void *pointer)
{
    struct thread *thread = pointer;

    thread->number = gettid();
    span = thread->span;
    thread->result = thread->run(thread->argument);
    thread->span = span;
    return NULL;
}

/* Whether a thread sleeps. One that has not begun, or gets no core, does not. */
static bool sleeps(const struct thread *thread)
{
    char path[64], text[256] = "";

    if (thread->number == 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread->number);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return true; /* as far as is known */
    if (read(file, text, sizeof text - 1) < 0)
        text[0] = '\0';
    close(file);
    const char *const rest = strrchr(text, ')'); /* behind the name */
    return rest != NULL && strncmp(rest, ") S", 3) == 0;
}

/* Seconds of the processor that a thread has used. */
static double used(const struct thread *thread)
{
    clockid_t clock;
    struct timespec now;

    if (pthread_getcpuclockid(thread->id, &clock) != 0 || clock_gettime(clock, &now) != 0)
        return 0;
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Starts a thread that has not been started, and waits until it is done, or waits for others: it sleeps a tenth of a
   second long, or has used as much of the processor. Time alone says nothing where other work has the cores. */
static int start(struct thread *thread, bool alone)
{
    const int error = pthread_create(&thread->id, NULL, run, thread);

    thread->started = error == 0;
    if (error != 0 || !alone)
        return error;
    for (int asleep = 0; asleep < 100 && !thread->joined && used(thread) < 0.1;
         asleep = sleeps(thread) ? asleep + 1 : 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 1000000; /* 1 ms */
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        thread->joined = pthread_timedjoin_np(thread->id, NULL, &until) == 0;
    }
    return 0;
}

static const char *order(void)
{
    const char *schedule = getenv("CUSIM_SCHEDULE");
    return schedule != NULL ? schedule : "warp";
}

int judge_thread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
    (void)attributes;
    pthread_mutex_lock(&lock);
    const size_t number = num_threads++;
    pthread_mutex_unlock(&lock);
    if (number >= MOST_THREADS)
        return EAGAIN;
    *id = number;
    threads[number] = (struct thread){.run = function, .argument = argument, .span = span};
    return strcmp(order(), "reverse") == 0 ? 0 : start(&threads[number], strcmp(order(), "warp") == 0);
}

int judge_thread_join(pthread_t id, void **result)
{
    if ((size_t)id >= num_threads)
        return ESRCH;
    for (size_t t = num_threads; t-- > 0;)
        if (!threads[t].started && start(&threads[t], true) != 0)
            return ESRCH;
    struct thread *thread = &threads[id];
    if (!thread->joined)
        pthread_join(thread->id, NULL);
    thread->joined = true;
    if (result != NULL)
        *result = thread->result;
    span = thread->span > span ? thread->span : span;
    return 0;
}

/* ---- for judge.c ---- */

void judge_threads_begin(void)
{
    num_threads = num_watched = 0;
    span = 0;
    loaded = stored = 0;
}

void judge_threads_watch(const void *array, size_t bytes)
{
    watched[num_watched][0] = array;
    watched[num_watched++][1] = (const char *)array + bytes;
}

void judge_threads_count(void)
{
    judge_count("cpu_threads", (double)num_threads);
    judge_count("load_bytes", (double)loaded);
    judge_count("store_bytes", (double)stored);
    judge_count("span", (double)span);
}

/* ---- what the compiler calls ---- */

static void count_access(const void *address, size_t size, atomic_size_t *bytes)
{
    for (size_t a = 0; a < num_watched; a++)
        if ((const char *)address >= watched[a][0] && (const char *)address < watched[a][1]) {
            *bytes += size;
            span++;
        }
}

/* Of a range what one access reaches at the most: 16 bytes, and one after the other. */
static void count_range(const void *from, size_t size, atomic_size_t *bytes)
{
    for (size_t at = 0; at < size; at += 16)
        count_access((const char *)from + at, size - at < 16 ? size - at : 16, bytes);
}

/* What an answer's copies are called there (the judge's makefile), the compiler's own of large structs, too. */
void *judge_memcpy(void *to, const void *from, size_t size);
void *judge_memmove(void *to, const void *from, size_t size);
void *judge_memset(void *to, int value, size_t size);

void *judge_memcpy(void *to, const void *from, size_t size)
{
    return judge_memmove(to, from, size);
}

void *judge_memmove(void *to, const void *from, size_t size)
{
    count_range(from, size, &loaded);
    count_range(to, size, &stored);
    return memmove(to, from, size);
}

void *judge_memset(void *to, int value, size_t size)
{
    count_range(to, size, &stored);
    return memset(to, value, size);
}

#define COUNT_RANGE(access, bytes)                                                                                     \
    __attribute__((weak)) void __real___tsan_##access##_range(const void *address, size_t size);                       \
    void __wrap___tsan_##access##_range(const void *address, size_t size);                                             \
    void __wrap___tsan_##access##_range(const void *address, size_t size)                                              \
    {                                                                                                                  \
        if (__real___tsan_##access##_range != NULL)                                                                    \
            __real___tsan_##access##_range(address, size);                                                             \
        count_range(address, size, &bytes);                                                                            \
    }
COUNT_RANGE(read, loaded)
COUNT_RANGE(write, stored)

/* The simulator's, which see that an address is not the runner's own; there where an answer is counted (--wrap). */
#define COUNT(access, bytes, size)                                                                                     \
    __attribute__((weak)) void __real___tsan_##access(const void *address);                                            \
    void __wrap___tsan_##access(const void *address)                                                                   \
    {                                                                                                                  \
        if (__real___tsan_##access != NULL)                                                                            \
            __real___tsan_##access(address);                                                                           \
        count_access(address, size, &bytes);                                                                           \
    }
#define COUNT_ALL(size)                                                                                                \
    COUNT(read##size, loaded, size)                                                                                    \
    COUNT(write##size, stored, size)                                                                                   \
    COUNT(unaligned_read##size, loaded, size)                                                                          \
    COUNT(unaligned_write##size, stored, size)
COUNT(read1, loaded, 1)
COUNT(write1, stored, 1)
COUNT_ALL(2)
COUNT_ALL(4)
COUNT_ALL(8)
COUNT_ALL(16)
