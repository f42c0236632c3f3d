/* SPDX-License-Identifier: MIT */
/* locate.cpp - from addresses in the machine code to lines of the source, which addr2line knows. */
#include "locate.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool sim_find_program(char *file, size_t size, uintptr_t *offset)
{
    struct link_map *own = NULL;
    Dl_info info;

    if (dladdr1((const void *)&sim_find_program, &info, (void **)&own, RTLD_DL_LINKMAP) == 0 || own == NULL)
        return false;
    *offset = own->l_addr;
    if (own->l_name[0] == '\0') { /* the program */
        const ssize_t length = readlink("/proc/self/exe", file, size - 1);
        file[length > 0 ? length : 0] = '\0';
        return length >= 0;
    }
    return snprintf(file, size, "%s", own->l_name) < (int)size;
}

extern "C" const char sim_home[] __attribute__((weak)); /* the folder of cusim, which has linked this program */

bool sim_find_own(const char *file, char *path, size_t size)
{
    char program[4096] = "";

    if (sim_home != NULL && (size_t)snprintf(path, size, "%s/%s", sim_home, file) < size && access(path, R_OK) == 0)
        return true;
    if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
        return false;
    while (strrchr(program, '/') != NULL) { /* from the program's place upwards */
        *strrchr(program, '/') = '\0';
        if ((size_t)snprintf(path, size, "%s/cusim/%s", program, file) < size && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* Starts addr2line on our own file. Returns its output, two lines for each frame, function and file:line; NULL if it
   cannot run. */
static FILE *start_addr2line(const void *const *addresses, int count, pid_t *child)
{
    enum { MOST = 32 };
    static char program[4096], hex[MOST][24];
    const char *argv[MOST + 6] = {"addr2line", "-Cfie", program};
    uintptr_t offset;
    int ends[2];

    if (!sim_find_program(program, sizeof(program), &offset) || pipe(ends) != 0)
        return NULL;
    for (int i = 0; i < count && i < MOST; i++) {
        snprintf(hex[i], sizeof(hex[i]), "%#lx", (unsigned long)((uintptr_t)addresses[i] - offset));
        argv[3 + i] = hex[i];
    }
    *child = fork();
    if (*child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(STDERR_FILENO);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

bool sim_is_own(const char *path)
{
    static const char *const rooms[] = {"include/", "machine/", "runtime/", "libraries/",
                                        "observe/", "explain/", "player/"};

    for (const char *at = path; (at = strstr(at, "cusim/")) != NULL;) {
        const bool begins = at == path || at[-1] == '/';
        at += strlen("cusim/");
        for (const char *room : rooms)
            if (begins && strncmp(at, room, strlen(room)) == 0)
                return true;
    }
    return false;
}

/* Whether a line of addr2line's, "file:line", names a place outside the simulator, as its tests are. Takes off what
   stands behind it. */
static bool is_users(char *line)
{
    line[strcspn(line, "\n")] = '\0';
    if (char *extra = strstr(line, " (discriminator"))
        *extra = '\0';
    return line[0] != '?' && strstr(line, ":?") == NULL && strrchr(line, ':') != NULL && !sim_is_own(line);
}

/* A header of the compiler's: what has called it is worth more, where that is known. */
static bool is_systems(const char *place)
{
    return strncmp(place, "/usr/include/", 13) == 0 || strncmp(place, "/usr/lib/gcc", 12) == 0;
}

/* How much a place "file:line" tells: the line of a program, which its author has before them, more than one of a
   header that it includes, and that more than one of the compiler's. */
static int worth(const char *place)
{
    static const char *const sources[] = {"cu", "c", "cc", "cpp", "cxx"};
    const char *const colon = strrchr(place, ':');

    if (is_systems(place))
        return 0;
    for (const char *source : sources) {
        const size_t length = strlen(source);
        if (colon != NULL && (size_t)(colon - place) > length && colon[-1 - (ptrdiff_t)length] == '.' &&
            strncmp(colon - length, source, length) == 0)
            return 2;
    }
    return 1;
}

void sim_shorten_paths(char *text)
{
    char *up;

    while ((up = strstr(text, "/../")) != NULL) {
        char *from = up;
        while (from > text && strchr("/ ", from[-1]) == NULL)
            from--;
        if (from == up || strncmp(from, "..", 2) == 0)
            return;
        memmove(from, up + 4, strlen(up + 4) + 1);
    }
}

/* Writes the place that such a line names as seen from the working directory, without x/../ */
static void show_place(char *line, char *text, size_t size)
{
    char working[4096], path[4096];
    char *colon = strrchr(line, ':');

    *colon = '\0';
    sim_shorten_paths(line); /* the folder that another chapter was compiled in need not be here */
    const char *shown = realpath(line, path) != NULL ? path : line;
    const size_t length = getcwd(working, sizeof(working)) != NULL ? strlen(working) : 0;
    if (length > 0 && strncmp(shown, working, length) == 0 && shown[length] == '/')
        shown += length + 1;
    snprintf(text, size, "%s:%s", shown, colon + 1);
}

void sim_shorten_name(char *name)
{
    static const char nameless[] = "(anonymous namespace)::";
    int depth = 0;

    for (char *at; (at = strstr(name, nameless)) != NULL;)
        memmove(at, at + strlen(nameless), strlen(at + strlen(nameless)) + 1);
    char *start = name, *end = name;

    for (; *end != '\0' && !(depth == 0 && *end == '('); end++) {
        depth += (*end == '<') - (*end == '>');
        if (depth == 0 && *end == ' ')
            start = end + 1;
    }
    *end = '\0';
    memmove(name, start, strlen(start) + 1);
}

/* The same, and the innermost of these positions in `inner`. */
static bool locate_frames(const void *const *addresses, int count, char *function, char *place, char *inner,
                          size_t size)
{
    char name[1024], line[4352];
    bool found = false;
    pid_t child = -1;
    FILE *out = start_addr2line(addresses, count, &child);

    if (out == NULL)
        return false;
    while ((!found || worth(place) < 2) && fgets(name, sizeof(name), out) != NULL &&
           fgets(line, sizeof(line), out) != NULL) {
        name[strcspn(name, "\n")] = '\0';
        if (!is_users(line) || (found && worth(line) <= worth(place)))
            continue;
        const bool is_inner = !found || is_systems(place);
        snprintf(function, size, "%s", name);
        show_place(line, place, size);
        if (is_inner)
            snprintf(inner, size, "%s", place);
        found = true;
    }
    fclose(out);
    waitpid(child, NULL, 0);
    return found;
}

bool sim_locate_frames(const void *const *addresses, int count, char *function, char *place, size_t size)
{
    char inner[4352];

    return locate_frames(addresses, count, function, place, inner, size < sizeof(inner) ? size : sizeof(inner));
}

/* addr2line once for all: it is told the addresses in a file. Of each address's frames, after the line "0x...", the
   innermost one that is not the simulator's own counts. */
void sim_locate_all(struct sim_located *list, size_t count)
{
    char program[4096] = "", command[8192], name[1024], line[4352];
    uintptr_t offset;
    size_t at = count;

    for (size_t i = 0; i < count; i++)
        snprintf(list[i].place, sizeof(list[i].place), "%p", list[i].address);
    if (count == 0 || !sim_find_program(program, sizeof(program), &offset))
        return;
    FILE *file = tmpfile();
    if (file == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%#lx\n", (unsigned long)((uintptr_t)list[i].address - offset));
    fflush(file);
    snprintf(command, sizeof(command), "addr2line -aCfie '%s' </dev/fd/%d 2>/dev/null", program, fileno(file));
    FILE *out = popen(command, "r");
    while (out != NULL && fgets(name, sizeof(name), out) != NULL) {
        if (strncmp(name, "0x", 2) == 0) {
            at = at == count ? 0 : at + 1;
            continue;
        }
        if (fgets(line, sizeof(line), out) == NULL)
            break;
        if (at < count && is_users(line) &&
            (list[at].function[0] == '\0' || (is_systems(list[at].place) && !is_systems(line)))) {
            name[strcspn(name, "\n")] = '\0';
            sim_shorten_name(name);
            snprintf(list[at].function, sizeof(list[at].function), "%.*s", (int)sizeof(list[at].function) - 1, name);
            show_place(line, list[at].place, sizeof(list[at].place));
        }
    }
    if (out != NULL)
        pclose(out);
    fclose(file);
}

int sim_stack_from(const void *address, const void **frames, int most)
{
    void *all[32];
    const int count = backtrace(all, 32);
    int first = 0, found = 0;

    while (first < count && all[first] != address)
        first++;
    for (int i = first; i < count && found < most; i++)
        frames[found++] = i == first ? all[i] : (char *)all[i] - 1; /* into the call instead of behind it */
    return found;
}

/* Where a function of a header, which is not part of its caller, was called. It is on the stack if it runs now. */
static void find_caller(const void *address, char *text, size_t size)
{
    const void *frames[24];
    const int count = sim_stack_from((const char *)address + 1, frames, 24);
    char function[512], place[4352];

    if (count > 1 && sim_locate_frames(frames + 1, count - 1, function, place, sizeof(place)) &&
        worth(place) > worth(text))
        snprintf(text, size, "%s", place);
}

void sim_locate_both(const void *address, char *place, char *header, size_t size)
{
    char function[512];

    header[0] = '\0';
    if (!locate_frames(&address, 1, function, place, header, size))
        snprintf(place, size, "%p", address);
    else if (worth(place) < 2)
        find_caller(address, place, size);
    if (is_systems(header) || strcmp(header, place) == 0)
        header[0] = '\0';
}

void sim_locate(const void *address, char *text, size_t size)
{
    char place[4352];

    sim_locate_both(address, place, text, size < sizeof(place) ? size : sizeof(place));
    if (text[0] == '\0')
        snprintf(text, size, "%s", place);
}

void sim_locate_call(const void *address, char *text, size_t size)
{
    char place[4352], header[4352];

    sim_locate_both(address, place, header, sizeof(place));
    snprintf(text, size, header[0] != '\0' ? "%s (in %s)" : "%s", place, header);
}
