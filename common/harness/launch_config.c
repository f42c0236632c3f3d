/* SPDX-License-Identifier: MIT */
/* launch_config.c - see launch_config.h */
#include "launch_config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"

/* A number of at most six digits, from 1 on; 0 for anything else. */
static int read_number(const char *text)
{
    const size_t length = strlen(text);
    return length <= 6 && strspn(text, "0123456789") == length ? (int)strtol(text, NULL, 10) : 0;
}

int launch_config_read(const char *text, struct launch_config *config)
{
    const struct {
        const char *name;
        int *value, example;
    } parts[] = {{"rows", &config->rows, 2}, {"threads", &config->threads, 256}, {"stages", &config->stages, 3}};
    char *copy = strdup(text), *rest = copy, *item;
    int status = copy == NULL ? usage_error("--config: not enough memory") : -1;

    while (status < 0 && (item = strsep(&rest, ",")) != NULL) {
        const int length = (int)strcspn(item, "=");
        const int number = item[length] == '=' ? read_number(item + length + 1) : 0;
        int i = 0;
        while (i < 3 && ((size_t)length != strlen(parts[i].name) || strncmp(item, parts[i].name, length) != 0))
            i++;
        if (i == 3)
            status = usage_error("--config: \"%s\" is not known; give rows, threads or stages, as in "
                                 "--config rows=2,threads=256,stages=3",
                                 item);
        else if (number == 0)
            status = usage_error("--config: \"%s\" gives no number from 1 on; write it as in --config %s=%d", item,
                                 parts[i].name, parts[i].example);
        else if (*parts[i].value != 0)
            status = usage_error("--config: %s is given twice; give it once", parts[i].name);
        else if (parts[i].value == &config->threads && number % 32 != 0)
            status = usage_error("--config: threads=%d is not a multiple of 32, the threads of a warp; "
                                 "choose %d, for example",
                                 number, (number + 31) / 32 * 32);
        else
            *parts[i].value = number;
    }
    free(copy);
    return status;
}

bool launch_config_given(const struct launch_config *config)
{
    return config->rows != 0 || config->threads != 0 || config->stages != 0;
}

bool launch_tunables_take(const struct launch_tunables *tunable, const struct launch_config *config)
{
    bool takes_rows = config->rows == 0;
    for (int i = 0; i < 4 && tunable->rows[i] != 0; i++)
        takes_rows = takes_rows || config->rows == tunable->rows[i];
    return takes_rows && config->threads <= tunable->max_threads && config->stages <= tunable->max_stages &&
           (config->stages == 0 || config->stages >= tunable->least_stages);
}

/* Adds to the end of a text of LAUNCH_CONFIG_TEXT characters. */
__attribute__((format(printf, 2, 3))) static void append(char *text, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, LAUNCH_CONFIG_TEXT - used, format, values);
    va_end(values);
}

const char *launch_config_text(const struct launch_config *config, char before, char text[LAUNCH_CONFIG_TEXT])
{
    *text = '\0';
    if (config->rows != 0)
        append(text, "%crows=%d", before, config->rows);
    if (config->threads != 0)
        append(text, "%cthreads=%d", before, config->threads);
    if (config->stages != 0)
        append(text, "%cstages=%d", before, config->stages);
    return text;
}

const char *launch_tunables_text(const struct launch_tunables *tunable, char text[LAUNCH_CONFIG_TEXT])
{
    *text = '\0';
    for (int i = 0; i < 4 && tunable->rows[i] != 0; i++)
        append(text, "%s%d", i == 0 ? "rows " : ", ", tunable->rows[i]);
    if (tunable->max_threads != 0)
        append(text, "%sthreads up to %d", *text != '\0' ? "; " : "", tunable->max_threads);
    if (tunable->least_stages > 1)
        append(text, "%sstages %d to %d", *text != '\0' ? "; " : "", tunable->least_stages, tunable->max_stages);
    else if (tunable->max_stages != 0)
        append(text, "%sstages up to %d", *text != '\0' ? "; " : "", tunable->max_stages);
    return text;
}

bool launch_config_refused(const struct launch_config *config, cudaError_t error)
{
    return launch_config_given(config) &&
           (error == cudaErrorInvalidValue || error == cudaErrorNotSupported ||
            error == cudaErrorInvalidConfiguration || error == cudaErrorLaunchOutOfResources);
}
