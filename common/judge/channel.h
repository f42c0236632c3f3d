/* SPDX-License-Identifier: MIT */
/* channel.h - messages between the judge (judge.c) and the process that runs the answer (runner.c), over a socket
   pair. Each carries the mark, a number that the judge has drawn for this run and sent with its first message, and
   its own number in its direction, so nothing else that is written there is taken for one.

       judge                                  runner
                                              READY
       BEGIN with the mark
       CASE, an INPUT for each input          an OUTPUT and a WRITTEN for each output, a COUNT for each count, DONE
       CASE, the INPUTs, of calls              a CALL for each call of the runtime, RETURNED, OUTPUTs and so on
       OWNER of an element                    OWNER
       END                                    ENDED, and it ends

   In place of any answer of the runner's: ERROR, a text, and it ends. */
#ifndef JUDGE_CHANNEL_H
#define JUDGE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "judge.h"

enum { CHANNEL_FD = 3 }; /* the runner's end */

enum message { READY = 1, BEGIN, CASE, INPUT, OUTPUT, WRITTEN, COUNT, DONE, OWNER, END, ENDED, ERROR, CALL, RETURNED };

enum { RUN_IT, COUNT_IT, TIME_IT, CALL_IT }; /* what is asked for in a case */

struct message_case {
    uint64_t what, size[JUDGE_MAX_SIZES];
    uint64_t fails; /* CALL_IT: which call of the runtime fails, from 1; 0: none */
};
struct message_count {
    char name[64];
    double value;
};
struct message_owner {
    uint64_t array, index;  /* asked */
    uint64_t is_known;      /* answered, and */
    uint32_t block, thread; /* who wrote it last */
    char place[512];        /* and where, "file.cu:12" */
};
struct message_call {
    char name[64], place[256]; /* "cudaMalloc" or the kernel that is launched, "file.cu:12" */
    uint64_t is_launch, can_fail, has_failed;
    char error[64]; /* cudaErrorInvalidValue */
};
struct message_returned {
    uint64_t right;    /* the answer has said that all went well */
    uint64_t num_left; /* pieces of memory that it has not freed, streams and events that it has not destroyed */
    char left[512];    /* the first: "480 bytes from cudaMalloc at file.cu:12 were never freed" */
};
struct message_error {
    char text[512];
};

struct channel {
    int fd;
    uint64_t mark, num_sent, num_received;
    double until, seconds; /* when the child's time is up, by channel_clock; 0: never. And how much it has */
    bool late;             /* it was up: see channel_late */
    pid_t process; /* the child at the other end; 0: it is none. Others may hold the socket longer than it lives */
};

/* Seconds, from some time on. */
double channel_clock(void);

/* Each returns false when the other end is gone; `late' tells that from a time that has run out. */
bool channel_send(struct channel *channel, enum message type, const void *data, size_t bytes);

/* Waits for the header of the next message: what it is, and how many bytes follow, which channel_data must fetch. A
   message that is not marked and numbered as it should is the same as none. */
bool channel_receive(struct channel *channel, enum message *type, size_t *bytes);
bool channel_data(struct channel *channel, void *data, size_t bytes);

/* Whether the child's time is up. Where other work keeps it from a core, `until' alone says nothing of it: then it must
   have used `seconds' of the processor, or sleep, or have had twenty times as long. `answers': it has sent something */
bool channel_late(struct channel *channel, bool answers);

bool channel_is_at_work(const struct channel *channel); /* the child, or what it has started, wants a core */
bool channel_has_ended(const struct channel *channel);  /* its process */

/* Where the runner's own data begin: private.c is linked in front of it. */
extern char judge_private_data[], judge_private_bss[];

#endif
