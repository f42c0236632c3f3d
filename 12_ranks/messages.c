/* SPDX-License-Identifier: MIT */
/* messages.c - counts what is handed to MPI, and watches how long it takes. MPI has each of its functions under a
   second name, PMPI_..., so that a program may put its own in front ("profiling interface", MPI 3.1, chapter 14).

   A rank that is stopped, or hangs, answers nobody, and MPI waits for it for ever. So an alarm is set before whatever
   may wait, and switched off behind it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/base/error.h"
#include "ranks.h"

/* ---- how long a rank waits ---- */

static unsigned seconds = 300;
static unsigned later; /* than the rank before it, so that one rank has ended the job before the others say the same */
static int own_rank;
static char begin_of_sentence[64];
static const char *volatile waits_for = "";

/* Calls nothing but what a handler of signals may call. */
static void end_all(int number)
{
    char text[256];
    (void)number;
    sleep(1); /* a rank that was stopped itself, and goes on only to be ended, does not get further */
    strcpy(text, begin_of_sentence);
    strcat(text, waits_for);
    strcat(text, "; a rank hangs or was stopped, or needs more time (--timeout)\n");
    _exit(write(STDERR_FILENO, text, strlen(text)) > 0 ? 1 : 2); /* mpirun ends the others */
}

static void make_sentence(void)
{
    snprintf(begin_of_sentence, sizeof begin_of_sentence, "12_ranks: rank %d: has waited for %u s in ", own_rank,
             seconds);
}

void ranks_watch_begin(void)
{
    const struct sigaction action = {.sa_handler = end_all};
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    later = own_rank < 5 ? (unsigned)own_rank : 5;
    make_sentence();
    sigaction(SIGALRM, &action, NULL);
}

void ranks_watch(const char *what)
{
    waits_for = what;
    alarm(seconds + later);
}

void ranks_unwatch(void)
{
    alarm(0);
}

int ranks_read_timeout(const char *text)
{
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || number == 0 || number > 1000000)
        return usage_error("--timeout: \"%s\" is not a number of seconds; give one from 1 to 1000000", text);
    seconds = (unsigned)number;
    make_sentence();
    return -1;
}

/* The status of a call, during which the rank is watched. */
static int end_of_call(int status)
{
    ranks_unwatch();
    return status;
}
#define WATCHED(name, ...) (ranks_watch(#name), end_of_call(P##name(__VA_ARGS__)))

/* ---- what it sends ---- */

struct messages messages;

void messages_count(size_t bytes)
{
    messages.bytes += bytes;
    messages.calls++;
}

static void count_message(int count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    messages_count((size_t)count * (size_t)size);
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    count_message(count, type);
    return WATCHED(MPI_Send, buf, count, type, dest, tag, comm);
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
    if (dest != MPI_PROC_NULL)
        count_message(count, type);
    return WATCHED(MPI_Sendrecv_replace, buf, count, type, dest, sendtag, source, recvtag, comm, status);
}

int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    count_message(count, type);
    return WATCHED(MPI_Exscan, from, to, count, type, op, comm);
}

int MPI_Iexscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
    count_message(count, type);
    return PMPI_Iexscan(from, to, count, type, op, comm, request);
}

int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                  MPI_Comm comm)
{
    count_message(count, type);
    return WATCHED(MPI_Allgather, from, count, type, to, to_count, to_type, comm);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    count_message(count, type);
    return WATCHED(MPI_Allreduce, from, to, count, type, op, comm);
}

/* ---- what sends nothing of the sequences, and waits ---- */

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return WATCHED(MPI_Recv, buf, count, type, source, tag, comm, status);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return WATCHED(MPI_Wait, request, status);
}

int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    return WATCHED(MPI_Bcast, buf, count, type, root, comm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *group)
{
    return WATCHED(MPI_Comm_split, comm, color, key, group);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *group)
{
    return WATCHED(MPI_Comm_split_type, comm, type, key, info, group);
}

int MPI_Finalize(void)
{
    ranks_watch("MPI_Finalize");
    return end_of_call(PMPI_Finalize());
}
