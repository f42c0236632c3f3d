/* SPDX-License-Identifier: MIT */
/* error.c - see error.h */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int usage_error(const char *format, ...)
{
    char text[1024]; /* one line, however long and strange the names are */
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    for (char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
    return 2;
}
