/* SPDX-License-Identifier: MIT */
/* command_line.c - see command_line.h. */
#include "command_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"

const char *read_number(const char *text, unsigned long long least, unsigned long long most, unsigned long long *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text < '0' || *text > '9' || errno != 0 || *number < least || *number > most ? NULL : end;
}

int choose_directions(bool forward, bool reverse, bool backward, bool directions[4])
{
    if (forward && backward)
        return usage_error("--forward and --backward exclude each other; give one of them");
    for (int d = 0; d < 4; d++) {
        const bool goes_back = d >= 2, goes_down = d % 2 == 1;
        const bool passes = forward ? !goes_back : !backward || goes_back;
        directions[d] = passes && (reverse ? goes_down : !goes_down || (!forward && !backward));
    }
    return -1;
}

void command_text(int argc, char **argv, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < argc; i++)
        snprintf(text + strlen(text), size - strlen(text), "%s%s", i > 0 ? " " : "", argv[i]);
}
