/* SPDX-License-Identifier: MIT */
/* fault.cpp - says in one line what went wrong and where, then ends the program with status 1.

   Misuse that a call into the engine finds knows its file and line. A crash (a wild pointer, a division by zero) or an
   endless loop knows only addresses in the machine code; addr2line turns these into source lines. */
#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "../machine/cores.h"
#include "fault.h"
#include "../runtime/memory.h"
#include "../observe/observe.h"
#include "../machine/poll.h"
#include "../observe/race.h"
#include "../observe/watch.h"
#include "../machine/settings.h"

/* ---- from addresses to source lines ---- */

bool sim_find_program(char *file, size_t size, uintptr_t *offset)
{
    struct link_map *own = NULL;
    Dl_info info;

    if (dladdr1((const void *)&sim_find_program, &info, (void **)&own, RTLD_DL_LINKMAP) == 0 || own == NULL)
        return false;
    *offset = own->l_addr;
    if (own->l_name[0] == '\0') /* the program */
        return readlink("/proc/self/exe", file, size - 1) >= 0;
    return snprintf(file, size, "%s", own->l_name) < (int)size;
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

/* Paths as a reader would write them: a/../b/c.cuh is b/c.cuh. */
static void shorten_paths(char *text)
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
    shorten_paths(line); /* the folder that another chapter was compiled in need not be here */
    const char *shown = realpath(line, path) != NULL ? path : line;
    const size_t length = getcwd(working, sizeof(working)) != NULL ? strlen(working) : 0;
    if (length > 0 && strncmp(shown, working, length) == 0 && shown[length] == '/')
        shown += length + 1;
    snprintf(text, size, "%s:%s", shown, colon + 1);
}

/* "void scan<4>(float const*, int)" becomes "scan<4>". */
static void shorten(char *name)
{
    int depth = 0;
    char *start = name, *end = name;

    for (; *end != '\0' && !(depth == 0 && *end == '('); end++) {
        depth += (*end == '<') - (*end == '>');
        if (depth == 0 && *end == ' ')
            start = end + 1;
    }
    *end = '\0';
    memmove(name, start, strlen(start) + 1);
}

/* Function and position of the first of some nested frames that is not the simulator's own. */
static bool locate(const void *const *addresses, int count, char *function, char *place, size_t size)
{
    char name[1024], line[4352];
    bool found = false;
    pid_t child = -1;
    FILE *out = start_addr2line(addresses, count, &child);

    if (out == NULL)
        return false;
    while (!found && fgets(name, sizeof(name), out) != NULL && fgets(line, sizeof(line), out) != NULL) {
        name[strcspn(name, "\n")] = '\0';
        found = is_users(line);
    }
    fclose(out);
    waitpid(child, NULL, 0);
    if (!found)
        return false;
    snprintf(function, size, "%s", name);
    show_place(line, place, size);
    return true;
}

/* addr2line once for all: it is told the addresses in a file. Of each address's frames, after the line "0x...", the
   innermost one that is not the simulator's own counts. */
void sim_locate_all(struct sim_located *list, size_t count)
{
    char program[4096] = "", command[8192], name[1024], line[4352], path[] = "/tmp/simulatorXXXXXX";
    uintptr_t offset;
    const int file = mkstemp(path);
    size_t at = count;

    for (size_t i = 0; i < count; i++)
        snprintf(list[i].place, sizeof(list[i].place), "%p", list[i].address);
    if (count == 0 || file < 0 || !sim_find_program(program, sizeof(program), &offset))
        return;
    for (size_t i = 0; i < count; i++)
        dprintf(file, "%#lx\n", (unsigned long)((uintptr_t)list[i].address - offset));
    snprintf(command, sizeof(command), "addr2line -aCfie '%s' < %s 2>/dev/null", program, path);
    FILE *out = popen(command, "r");
    while (out != NULL && fgets(name, sizeof(name), out) != NULL) {
        if (strncmp(name, "0x", 2) == 0) {
            at = at == count ? 0 : at + 1;
            continue;
        }
        if (fgets(line, sizeof(line), out) == NULL)
            break;
        if (at < count && list[at].function[0] == '\0' && is_users(line)) {
            name[strcspn(name, "\n")] = '\0';
            shorten(name);
            snprintf(list[at].function, sizeof(list[at].function), "%.*s", (int)sizeof(list[at].function) - 1, name);
            show_place(line, list[at].place, sizeof(list[at].place));
        }
    }
    if (out != NULL)
        pclose(out);
    close(file);
    unlink(path);
}

void sim_locate(const void *address, char *text, size_t size)
{
    char function[512];

    if (!locate(&address, 1, function, text, size))
        snprintf(text, size, "%p", address);
}

static void kernel_name(char *text, size_t size)
{
    char place[512];

    if (locate(&sim_place.kernel, 1, text, place, size < sizeof(place) ? size : sizeof(place)))
        shorten(text);
    else
        snprintf(text, size, "%s", sim_place.name);
}

/* ---- the line ---- */

/* For a debugger's breakpoint: the message is known, and the thread still stands where it went wrong. */
extern "C" __attribute__((noinline)) void sim_at_fault(const char *message)
{
    asm volatile("" : : "r"(message) : "memory");
}

void sim_say(const char *message)
{
    fflush(stdout);
    fprintf(stderr, "simulator: %s.\n", message);
    _exit(1);
}

[[noreturn]] static void fault(const char *file, int line, const char *format, va_list arguments)
{
    char where[1024] = "", place[512], kernel[512], message[4096];
    size_t used = 0;

    if (line > 0)
        used += (size_t)snprintf(where, sizeof(where), "%s:%d: ", file, line);
    else if (file != NULL)
        used += (size_t)snprintf(where, sizeof(where), "%s: ", file);
    snprintf(place, sizeof(place), "%.*s", used > 2 ? (int)used - 2 : 0, where);
    if (sim_place.kernel != NULL) {
        kernel_name(kernel, sizeof(kernel));
        used += (size_t)snprintf(where + used, sizeof(where) - used, "kernel %s", kernel);
        if (sim_place.in_block)
            used += (size_t)snprintf(where + used, sizeof(where) - used, ", block (%u,%u,%u)", blockIdx.x, blockIdx.y,
                                     blockIdx.z);
        if (sim_place.in_thread)
            used += (size_t)snprintf(where + used, sizeof(where) - used, ", thread (%u,%u,%u)", threadIdx.x,
                                     threadIdx.y, threadIdx.z);
        snprintf(where + used, sizeof(where) - used, ": ");
    } else {
        snprintf(where + used, sizeof(where) - used, "host code: ");
    }
    used = (size_t)snprintf(message, sizeof(message), "%s", where);
    vsnprintf(message + used, sizeof(message) - used, format, arguments);
    shorten_paths(message);
    if (sim_watching)
        sim_watch_fault(message, place);
    sim_at_fault(message);
    sim_say(sim_fault_of_all(message));
}

void sim_fault(const char *file, int line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fault(file, line, format, arguments);
}

void sim_fault_at(const void *pc, const char *format, ...)
{
    char place[512];
    va_list arguments;

    sim_locate((const char *)pc - 1, place, sizeof(place));
    va_start(arguments, format);
    fault(place, 0, format, arguments);
}

/* Stands in for the C library's: an assert in a kernel names its thread. */
extern "C" void __assert_fail(const char *expression, const char *file, unsigned line, const char *function) noexcept
{
    sim_race_blame_unwritten();
    if (sim_place.in_thread)
        sim_fault(file, (int)line, "assertion `%s' failed. See what the kernel asserts with it", expression);
    fprintf(stderr, "%s:%u: %s: assertion `%s' failed.\n", file, line, function, expression);
    abort();
}

/* ---- crashes ---- */

/* Position of the innermost frame of kernel code, starting at the interrupted instruction. */
static void interrupted_line(const ucontext_t *context, char *place, size_t size)
{
#if defined(__x86_64__)
    const void *pc = (const void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    const void *pc = (const void *)context->uc_mcontext.pc;
#endif
    void *frames[24];
    int count = backtrace(frames, 24), first = 0;
    char function[512];

    while (first < count && frames[first] != pc)
        first++; /* the signal handler's own frames */
    if (first == count) {
        frames[0] = (void *)pc;
        first = 0;
        count = 1;
    }
    for (int i = first + 1; i < count; i++)
        frames[i] = (char *)frames[i] - 1; /* into the call instead of behind it */
    if (!locate((const void *const *)frames + first, count - first, function, place, size))
        sim_locate(sim_last_pc != NULL ? (const char *)sim_last_pc - 1 : (const char *)pc, place, size);
}

static void on_crash(int signal_number, siginfo_t *info, void *context)
{
    const ucontext_t *c = (const ucontext_t *)context;
    const char *at = (const char *)info->si_addr, *verb = "touches";
    char place[512], what[600];

    if (!sim_place.in_thread) {
        /* A crash of the host's own: say so if device memory is why, then crash as usual. */
        if (signal_number != SIGFPE && sim_region_near(at) != NULL) {
            interrupted_line(c, place, sizeof(place));
            sim_region_describe(at, 0, what, sizeof(what));
            fprintf(stderr, "simulator: %s: host code: touches %s. Use cudaMemcpy.\n", place, what);
        }
        signal(signal_number, SIG_DFL);
        return;
    }
    interrupted_line(c, place, sizeof(place));
    if (signal_number == SIGFPE)
        sim_fault(place, 0, "divides an integer by zero. Check the divisor");
    if (sim_place.stack != NULL && (size_t)(sim_place.stack - 1 - at) < SIM_STACK_GUARD)
        sim_fault(place, 0, "stack overflow, more than %zu KiB. Use smaller arrays or no recursion", SIM_STACK >> 10);
#if defined(__x86_64__)
    verb = c->uc_mcontext.gregs[REG_ERR] & 2 ? "writes" : "reads";
    if (info->si_code == SI_KERNEL) /* the CPU does not say where */
        sim_fault(place, 0,
                  "an address that is misaligned for its type, or no address at all. Align float4 to 16 bytes, "
                  "float2 to 8");
#endif
    sim_region_describe(at, 0, what, sizeof(what));
    sim_fault(place, 0, "%s %s. Compare the index with the size, and see where the pointer comes from", verb, what);
}

/* ---- watchdog ---- */

static long watchdog_seconds = 30;

static const char *stack_pointer(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (const char *)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (const char *)context->uc_mcontext.sp;
#endif
}

static bool watches_kernel, watches_host;
volatile uint64_t sim_news;

/* Seconds for which a number has stayed as it is. */
struct standstill {
    uint64_t seen;
    long seconds;
};

static bool stands_still(struct standstill *s, uint64_t now)
{
    s->seconds = now == s->seen ? s->seconds + 1 : 0;
    s->seen = now;
    return s->seconds >= watchdog_seconds;
}

/* Once a second of processor time. */
static void on_tick(int, siginfo_t *, void *context)
{
    static struct standstill progress, news;
    const bool hangs = stands_still(&progress, sim_progress);
    const bool circles = stands_still(&news, sim_news) && sim_watches; /* else what it touches is not seen */
    const ucontext_t *const c = (const ucontext_t *)context;
    const char *file;
    char place[512];
    int line;

    if (sim_place.kernel == NULL && hangs && watches_host) {
        interrupted_line(c, place, sizeof(place));
        sim_fault(place, 0, "loops for %ld s without an end. See what ends the loop, and who changes that",
                  watchdog_seconds);
    }
    if (!(hangs || circles) || !sim_place.in_thread)
        return;
    if ((size_t)(stack_pointer(c) - sim_place.stack) >= SIM_STACK)
        return; /* between two threads; a later second finds one at work */
    if (hangs && sim_sleeps(&file, &line))
        sim_fault(file, line,
                  "polls for something that never comes: no thread of the block got further for %ld s. See who should "
                  "bring it",
                  watchdog_seconds);
    interrupted_line(c, place, sizeof(place));
    if (!hangs)
        sim_fault(place, 0,
                  "loops for %ld s: its threads still meet, but none ends, and none reads or writes what it has not "
                  "before. See what ends the loop, and who changes that",
                  watchdog_seconds);
    sim_fault(place, 0,
              "loops for %ld s without an end. See what ends the loop, and who changes that. If it is another thread, "
              "read the "
              "word by a volatile pointer or an atomic: a plain one may be read once, before the loop",
              watchdog_seconds);
}

static void set_timer(void)
{
    const bool on = watches_kernel || watches_host;
    const struct itimerval timer = {{on, 0}, {on, 0}};

    sim_progress++;
    sim_news++;
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

void sim_watchdog(bool on)
{
    watches_kernel = on;
    set_timer();
}

extern "C" void sim_watch_host(bool on)
{
    watches_host = on;
    set_timer();
}

__attribute__((constructor)) static void install_handlers(void)
{
    static char stack[256 << 10];
    const stack_t alternate = {stack, 0, sizeof(stack)};
    struct sigaction crash = {}, tick = {};

    watchdog_seconds =
        sim_number_setting("CUSIM_WATCHDOG", 1, LONG_MAX, watchdog_seconds, "a number of seconds from 1 up");
    void *frame;
    backtrace(&frame, 1); /* loads what it needs now, not in a signal handler */
    sigaltstack(&alternate, NULL);
    crash.sa_sigaction = on_crash;
    crash.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &crash, NULL);
    sigaction(SIGBUS, &crash, NULL);
    sigaction(SIGFPE, &crash, NULL);
    tick.sa_sigaction = on_tick;
    tick.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(SIGVTALRM, &tick, NULL);
}
