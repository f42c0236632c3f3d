/* SPDX-License-Identifier: MIT */
/* channel.c - messages over a socket: a header, then the data. See channel.h. */
#include "channel.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct header {
    uint64_t mark, number, type, bytes;
};

double channel_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What the kernel says of a process or a thread, in the file NAME/stat: its session, state and clock ticks. */
struct stat_line {
    int session;
    char state; /* R: on a core or waiting for one; D: for a disk */
    unsigned long user, system;
};

static bool read_stat(const char *folder, const char *name, struct stat_line *line)
{
    char path[300], text[1024];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s/stat", folder, name);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    /* behind its own name, which may have anything in it */
    const char *const rest = strrchr(text, ')');
    return rest != NULL && sscanf(rest, ") %c %*d %*d %d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &line->state,
                                  &line->session, &line->user, &line->system) == 4;
}

/* All processes of the child's session: whether one is at work, and how many seconds of the processor they used. */
static bool look_at_work(const struct channel *channel, double *seconds)
{
    DIR *const all = opendir("/proc");
    bool at_work = false;

    *seconds = 0;
    for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
        struct stat_line line;
        char folder[300];
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || !read_stat("/proc", entry->d_name, &line) ||
            line.session != channel->process)
            continue;
        *seconds += (double)(line.user + line.system) / (double)sysconf(_SC_CLK_TCK);
        snprintf(folder, sizeof folder, "/proc/%s/task", entry->d_name);
        DIR *const threads = opendir(folder);
        for (struct dirent *thread; threads != NULL && !at_work && (thread = readdir(threads)) != NULL;)
            at_work = thread->d_name[0] != '.' && read_stat(folder, thread->d_name, &line) &&
                      (line.state == 'R' || line.state == 'D');
        if (threads != NULL)
            closedir(threads);
    }
    if (all != NULL)
        closedir(all);
    return at_work;
}

bool channel_is_at_work(const struct channel *channel)
{
    double seconds;
    return look_at_work(channel, &seconds);
}

bool channel_late(struct channel *channel, bool answers)
{
    enum { PATIENCE = 20 };
    const double now = channel_clock();
    double used;

    if (channel->until != 0 && now >= channel->until && !channel->late) {
        const bool at_work = look_at_work(channel, &used);
        channel->late = used >= channel->seconds || (!at_work && !answers) ||
                        now >= channel->until + (PATIENCE - 1) * channel->seconds;
    }
    return channel->late;
}

bool channel_has_ended(const struct channel *channel)
{
    siginfo_t info = {0};

    return channel->process != 0 && (waitid(P_PID, (id_t)channel->process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
                                     info.si_pid == channel->process);
}

/* Waits until the socket can be read or written. */
static bool is_ready(struct channel *channel, short events)
{
    struct pollfd waits = {.fd = channel->fd, .events = events};
    int found;

    do {
        const bool has_ended = channel_has_ended(channel); /* before the last look at what it has sent */
        found = poll(&waits, 1, has_ended ? 0 : channel->process != 0 ? 100 : -1);
        if (channel_late(channel, found > 0))
            return false;
        if (found == 0 && has_ended)
            return false;
    } while (found == 0 || (found < 0 && errno == EINTR));
    return found > 0;
}

static bool send_all(struct channel *channel, const void *data, size_t bytes)
{
    while (bytes > 0) {
        if (!is_ready(channel, POLLOUT))
            return false;
        const ssize_t n = send(channel->fd, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        data = (const char *)data + (n > 0 ? n : 0);
        bytes -= (size_t)(n > 0 ? n : 0);
    }
    return true;
}

bool channel_data(struct channel *channel, void *data, size_t bytes)
{
    while (bytes > 0) {
        if (!is_ready(channel, POLLIN))
            return false;
        const ssize_t n = recv(channel->fd, data, bytes, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        data = (char *)data + (n > 0 ? n : 0);
        bytes -= (size_t)(n > 0 ? n : 0);
    }
    return true;
}

bool channel_send(struct channel *channel, enum message type, const void *data, size_t bytes)
{
    const struct header header = {channel->mark, channel->num_sent++, type, bytes};

    return send_all(channel, &header, sizeof header) && send_all(channel, data, bytes);
}

bool channel_receive(struct channel *channel, enum message *type, size_t *bytes)
{
    struct header header;

    if (!channel_data(channel, &header, sizeof header))
        return false;
    if (channel->mark == 0 && header.type == BEGIN)
        channel->mark = header.mark; /* the runner's end learns it */
    *type = (enum message)header.type;
    *bytes = header.bytes;
    return header.mark == (*type == READY ? 0 : channel->mark) && header.number == channel->num_received++;
}
