/* output.c - see output.h */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

static int cannot_write(const char *path, int error)
{
    return usage_error("%s: cannot write: %s; name a file in a folder that you may write to", path, strerror(error));
}

int output_open(struct output *output, const char *path)
{
    struct stat status;
    const bool exists = stat(path, &status) == 0;
    memset(output, 0, sizeof *output);

    if (exists && S_ISDIR(status.st_mode))
        return cannot_write(path, EISDIR);
    if (exists && access(path, W_OK) != 0)
        return cannot_write(path, errno);
    output->target = exists ? realpath(path, NULL) : strdup(path); /* a link stays a link: its target is replaced */
    if (output->target == NULL)
        return cannot_write(path, errno);

    if (exists && !S_ISREG(status.st_mode)) { /* a pipe or a device must not be replaced by a file */
        output->file = fopen(path, "wb");
    } else {
        const size_t size = strlen(output->target) + 32;
        output->beside = malloc(size);
        if (output->beside != NULL) {
            snprintf(output->beside, size, "%s.partial-%ld", output->target, (long)getpid());
            output->file = fopen(output->beside, "wb");
        }
    }
    if (output->file == NULL) {
        const int error = errno;
        output_discard(output);
        return cannot_write(path, error);
    }
    return 0;
}

int output_commit(struct output *output)
{
    bool good = !ferror(output->file);
    if (fclose(output->file) != 0)
        good = false;
    output->file = NULL;
    if (good && output->beside != NULL && rename(output->beside, output->target) != 0)
        good = false;
    const int error = errno;
    if (!good) {
        const int status = cannot_write(output->target, error);
        output_discard(output);
        return status;
    }
    free(output->beside);
    output->beside = NULL; /* nothing left to remove */
    output_discard(output);
    return 0;
}

void output_discard(struct output *output)
{
    if (output->file != NULL)
        fclose(output->file);
    if (output->beside != NULL)
        unlink(output->beside);
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
