/* SPDX-License-Identifier: MIT */
/* channel.c - messages over a socket: a header, then the data. See channel.h. */
#include "channel.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

struct header {
    uint64_t mark, number, type, bytes;
};

double channel_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool channel_late(const struct channel *channel)
{
    return channel->until != 0 && channel_clock() >= channel->until;
}

bool channel_has_ended(const struct channel *channel)
{
    siginfo_t info = {0};

    return channel->process != 0 && (waitid(P_PID, (id_t)channel->process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
                                     info.si_pid == channel->process);
}

/* Waits until the socket can be read or written. */
static bool is_ready(const struct channel *channel, short events)
{
    struct pollfd waits = {.fd = channel->fd, .events = events};
    int found;

    do {
        const bool has_ended = channel_has_ended(channel); /* before the last look at what it has sent */
        if (channel_late(channel))
            return false;
        found = poll(&waits, 1, has_ended ? 0 : channel->process != 0 ? 100 : -1);
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
