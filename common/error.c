/* error.c - see error.h */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int usage_error(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    return 2;
}
