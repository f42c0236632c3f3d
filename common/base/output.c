/* SPDX-License-Identifier: MIT */
/* output.c - see output.h */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

/* The files that an interrupted program must remove: the name of each from output_open to output_commit. */
enum { MAX_UNFINISHED = 32 };
static char *volatile unfinished[MAX_UNFINISHED];

static void remove_unfinished(int signal_number)
{
    for (int i = 0; i < MAX_UNFINISHED; i++)
        if (unfinished[i] != NULL)
            unlink(unfinished[i]);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Puts `to` where `from` is on the list: (NULL, name) adds a name, (name, NULL) takes it off. */
static void remember(char *from, char *to)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ, SIGPIPE};
    for (int i = 0; i < MAX_UNFINISHED; i++)
        if (unfinished[i] == from) {
            unfinished[i] = to;
            break;
        }
    for (size_t i = 0; i < sizeof signals / sizeof signals[0] && to != NULL; i++)
        if (signal(signals[i], remove_unfinished) == SIG_IGN)
            signal(signals[i], SIG_IGN); /* as it was: nohup, for example */
}

static int cannot_write(const char *path, int error)
{
    const bool place = error == ENOENT || error == EACCES || error == ENOTDIR || error == EROFS || error == EPERM;
    return usage_error("%s: cannot write: %s; %s", path, strerror(error),
                       place ? "name a file in a folder that you may write to" : "name another file");
}

/* Where a file that is not there yet will be: the folder with links resolved, and the name. NULL: errno says why. */
static char *new_target(const char *path)
{
    char folder[PATH_MAX], resolved[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const size_t length = slash == NULL ? 0 : (size_t)(slash - path);
    if (length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (realpath(slash == NULL ? "." : length == 0 ? "/" : folder, resolved) == NULL)
        return NULL;
    const char *name = slash == NULL ? path : slash + 1;
    char *target = malloc(strlen(resolved) + strlen(name) + 2);
    if (target != NULL)
        sprintf(target, "%s/%s", resolved, name);
    return target;
}

/* What the name of a file has behind it until it is whole. */
static const char suffix[] = ".partial-XXXXXX";

/* How much of the whole name comes before that: all, or of a very long one as much as a name may have. */
static size_t beside_length(const char *target)
{
    const size_t length = strlen(target), folder = (size_t)(strrchr(target, '/') + 1 - target);
    const size_t most = folder + NAME_MAX - strlen(suffix);
    return length < most ? length : most;
}

/* The permissions that a new file gets. */
static mode_t usual_mode(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

int output_open(struct output *output, const char *path)
{
    struct stat status, link;
    const bool exists = stat(path, &status) == 0, is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    memset(output, 0, sizeof *output);

    if (!exists && is_link)
        return usage_error("%s: cannot write: it is a link to nothing; remove it or name another file", path);
    if (exists && S_ISDIR(status.st_mode))
        return cannot_write(path, EISDIR);
    if (exists && access(path, W_OK) != 0)
        return cannot_write(path, errno);
    if (exists && !S_ISREG(status.st_mode)) { /* a pipe or a device must not be replaced by a file */
        output->target = strdup(path);
        output->file = fopen(path, "wb");
    } else {
        output->target = exists ? realpath(path, NULL) : new_target(path); /* a link stays a link */
        const size_t size = output->target == NULL ? 0 : strlen(output->target) + sizeof suffix;
        output->beside = size == 0 ? NULL : malloc(size);
        if (output->beside != NULL) {
            snprintf(output->beside, size, "%.*s%s", (int)beside_length(output->target), output->target, suffix);
            const int number = mkstemp(output->beside); /* a new name, whatever an earlier run has left */
            output->file = number < 0 ? NULL : fdopen(number, "wb");
            if (number >= 0 && output->file == NULL) {
                unlink(output->beside);
                close(number);
            }
        }
        if (output->file != NULL) {
            remember(NULL, output->beside);
            fchmod(fileno(output->file), exists ? status.st_mode & 07777 : usual_mode());
        }
    }
    if (output->target == NULL || output->file == NULL) {
        const int error = errno;
        free(output->beside); /* not ours to remove */
        output->beside = NULL;
        output_discard(output);
        return cannot_write(path, error);
    }
    return 0;
}

int output_flush(struct output *output)
{
    errno = EIO;
    if (fflush(output->file) != 0 || ferror(output->file))
        return cannot_write(output->target, errno);
    return 0;
}

int output_commit(struct output *output)
{
    int status = output_flush(output);
    if (status == 0 && fclose(output->file) != 0)
        status = cannot_write(output->target, errno);
    else if (status != 0)
        fclose(output->file);
    output->file = NULL;
    if (status == 0 && output->beside != NULL) {
        if (rename(output->beside, output->target) != 0)
            status = cannot_write(output->target, errno);
        else
            remember(output->beside, NULL);
    }
    if (status == 0) {
        free(output->beside);
        output->beside = NULL; /* nothing left to remove */
    }
    output_discard(output);
    return status;
}

void output_discard(struct output *output)
{
    if (output->file != NULL)
        fclose(output->file);
    if (output->beside != NULL) {
        unlink(output->beside);
        remember(output->beside, NULL);
    }
    free(output->beside);
    free(output->target);
    memset(output, 0, sizeof *output);
}

int output_probe(const char *path)
{
    struct output output;
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return 0; /* opening a pipe would wait for its reader */
    const int result = output_open(&output, path);
    output_discard(&output);
    return result;
}

static void check_stdout(void)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        usage_error("standard output cannot be written: %s", strerror(errno));
        _exit(2);
    }
}

void output_watch_stdout(void)
{
    atexit(check_stdout);
}
