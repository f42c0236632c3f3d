/* SPDX-License-Identifier: MIT */
/* judge.c - the judge of one exercise. It draws the data, has the answer run in another process (runner.c) under
   limits, computes what is right, and compares. The answer's code is no part of this program: what judges/NAME.c calls
   of it is not linked, and never called here.

       PROGRAM compare ... -- COMMAND           tries all shapes and all kinds of data, and stops at the first wrong
                                                element
       PROGRAM count A [B] ... -- COMMAND       one launch on sizes A and B: compares, and tells what was counted
       PROGRAM time A [B] ... -- COMMAND        the same on a GPU: how many times as long as adding as many bytes
       PROGRAM calls A [B] ... -- COMMAND       one launch on sizes A and B: which functions of CUDA's runtime the
                                                answer has called; fails=N: the N-th that can fail does
       PROGRAM probe ... -- COMMAND             whether the answer's process starts and ends

   COMMAND starts the runner. In place of ...: folder=PATH, where it begins and where out and err take what it prints;
   seed=N; memory=MB of address space (without it, as much as there is); seconds=N (30).

   Exercises.pm calls it and says what its lines mean:

       @with SIZES, @data SENTENCE              what was tried last
       @wrong SENTENCE, @owner SENTENCE         the first wrong element, and who wrote it
       @slip SENTENCE                           what explains it
       @rounding SENTENCE                       what does not, where the number is nearly right
       @error TEXT                              of the CUDA runtime
       @ended signal N | status N | late        the runner has ended, or was ended, before its last message
       @call PLACE NAME FLAGS                   of calls: `launch', `can_fail' and what it has returned, `ERROR'
       @returned right|error, @left N PLACE     what the answer said, and the memory that it has not freed
       @count NAME VALUE, @bits HASH            the result, where all is right

   Status 0: all is right; 1: not; 2: it cannot be judged. */
#include "channel.h"
#include "data.h"
#include "slips.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the runner may take. CPU seconds are those of all its threads. */
enum { WALL_SECONDS = 30, CPU_SECONDS = 60, MOST_PRINTED = 10 << 20, MOST_PROCESSES = 4096, MOST_FILES = 256 };

static const char *folder = ".";
static rlim_t memory = RLIM_INFINITY; /* bytes */
static uint64_t fails;                /* which call of the runtime, from 1; 0: none */
static double wall_seconds = WALL_SECONDS;

static struct channel channel; /* to the runner, its process */

static _Noreturn void cannot(const char *what, const char *which)
{
    fprintf(stderr, "the judge %s %s: %s\n", what, which, strerror(errno));
    exit(2);
}

/* ---- the runner's process ---- */

static void limit(int resource, rlim_t most)
{
    struct rlimit now;

    if (getrlimit(resource, &now) != 0)
        return;
    if (now.rlim_max == RLIM_INFINITY || now.rlim_max > most) {
        now.rlim_cur = most;
        now.rlim_max = most + (resource == RLIMIT_CPU); /* a second later SIGKILL follows SIGXCPU */
    }
    setrlimit(resource, &now);
}

/* Of the environment only what an answer may know: no secrets of whoever judges. */
static char **clean_environment(void)
{
    static const char *const kept[] = {"PATH=",           "CUSIM_SCHEDULE=", "CUSIM_RESIDENT=", "CUSIM_BUSY=",
                                       "CUSIM_CHIP=",     "CUSIM_TRACE",     "CUSIM_WATCH",     "DRAWN_",
                                       "CUSIM_CHECKS=",   "ASAN_OPTIONS=",   "TSAN_OPTIONS=",   "CUDA_VISIBLE_DEVICES=",
                                       "LD_LIBRARY_PATH="};
    size_t n = 0;

    for (size_t i = 0; environ[i] != NULL; i++)
        for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
            if (strncmp(environ[i], kept[k], strlen(kept[k])) == 0)
                environ[n++] = environ[i];
    environ[n] = NULL;
    return environ;
}

/* In the new process: becomes the command. */
static _Noreturn void become(char *const *command, int socket)
{
    static const char *const to[] = {"out", "err"};
    const int null = open("/dev/null", O_RDONLY);

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* with the judge */
    /* gcc's sanitizer for races does not start where addresses are drawn from a wide range, as on Ubuntu 24.04 */
    personality(ADDR_NO_RANDOMIZE);
    setsid(); /* without the terminal of whoever judges, in a process group of its own */
    if (chdir(folder) != 0)
        _exit(127);
    for (int i = 0; i < 2; i++) {
        const int file = open(to[i], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
        if (file < 0 || dup2(file, 1 + i) < 0)
            _exit(127);
    }
    if (null < 0 || dup2(null, 0) < 0 || dup2(socket, CHANNEL_FD) < 0)
        _exit(127);
    for (int fd = CHANNEL_FD + 1; fd < 1024; fd++)
        close(fd);
    limit(RLIMIT_CPU, CPU_SECONDS);
    limit(RLIMIT_FSIZE, MOST_PRINTED);
    limit(RLIMIT_AS, memory);
    limit(RLIMIT_NPROC, MOST_PROCESSES);
    limit(RLIMIT_NOFILE, MOST_FILES);
    limit(RLIMIT_CORE, 0);
    environ = clean_environment();
    execve(command[0], command, environ);
    _exit(127);
}

static void start(char *const *command)
{
    int ends[2];

    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what the answer leaves behind becomes ours, to be ended */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        cannot("cannot make a", "socket pair");
    fflush(stdout);
    channel.process = fork();
    if (channel.process < 0)
        cannot("cannot start", command[0]);
    if (channel.process == 0)
        become(command, ends[1]);
    close(ends[1]);
    channel.fd = ends[0];
    channel.until = channel_clock() + wall_seconds;
    channel.seconds = wall_seconds;
}

/* Ends the runner and all that it has started. Returns its status, as waitpid has it. */
static int end_runner(void)
{
    int status = 0, of_child;
    pid_t child;
    char children[64];

    snprintf(children, sizeof children, "/proc/self/task/%d/children", (int)getpid());
    do {
        FILE *list = fopen(children, "r");
        int pid;

        kill(-channel.process, SIGKILL);
        while (list != NULL && fscanf(list, "%d", &pid) == 1)
            kill(pid, SIGKILL);
        if (list != NULL)
            fclose(list);
        child = waitpid(-1, &of_child, 0);
        if (child == channel.process)
            status = of_child;
    } while (child > 0);
    return status;
}

/* The runner has not answered as it should. Never returns: the answer is wrong. */
static _Noreturn void lost(void)
{
    int status = 0;

    /* it may be about to end by itself, and how it does is worth telling: two seconds, or as long as it is at work */
    for (int i = 0; !channel.late && !channel_has_ended(&channel) && (i < 200 || channel_is_at_work(&channel)); i++) {
        usleep(10000);
        if (i >= 200)
            channel_late(&channel, false);
    }
    status = end_runner();
    /* bubblewrap ends with status 128 + N for signal N */
    const int signal_number = WIFSIGNALED(status)         ? WTERMSIG(status)
                              : WEXITSTATUS(status) > 128 ? WEXITSTATUS(status) - 128
                                                          : 0;
    if (channel.late || signal_number == SIGXCPU)
        printf("@ended late\n");
    else if (signal_number > 0)
        printf("@ended signal %d\n", signal_number);
    else
        printf("@ended status %d\n", WEXITSTATUS(status));
    exit(1);
}

/* ---- messages ---- */

static void say(enum message type, const void *data, size_t bytes)
{
    if (!channel_send(&channel, type, data, bytes))
        lost();
}

static void fetch(void *data, size_t bytes, size_t expected)
{
    if (bytes != expected || !channel_data(&channel, data, bytes))
        lost();
}

/* Text that comes from the runner's process: one line of plain characters, however it was sent. */
static void tidy(char *text, size_t size)
{
    text[size - 1] = '\0';
    for (char *p = text; *p != '\0'; p++)
        if (iscntrl((unsigned char)*p))
            *p = '?';
}

/* The next message, of which it tells the length. An error of the CUDA runtime ends the judging. */
static enum message hear(size_t *bytes)
{
    enum message type;
    struct message_error error;

    if (!channel_receive(&channel, &type, bytes))
        lost();
    if (type == ERROR) {
        fetch(&error, *bytes, sizeof error);
        tidy(error.text, sizeof error.text);
        end_runner();
        printf("@error %s\n", error.text);
        exit(1);
    }
    return type;
}

static void expect(enum message type, void *data, size_t bytes)
{
    size_t sent;

    if (hear(&sent) != type)
        lost();
    fetch(data, sent, bytes);
}

static void begin(char *const *command)
{
    start(command);
    expect(READY, NULL, 0);
    if (getrandom(&channel.mark, sizeof channel.mark, 0) != sizeof channel.mark)
        cannot("cannot draw a", "number");
    channel.mark |= 1; /* not 0 */
    say(BEGIN, NULL, 0);
}

/* The runner says that it is done, and is ended. */
static void finish(void)
{
    say(END, NULL, 0);
    expect(ENDED, NULL, 0);
    end_runner();
}

/* ---- comparing ---- */

static bool is_output(int a)
{
    return judge.arrays[a].role == JUDGE_OUTPUTS;
}

/* "num_seqs 3, seq_len 33" */
static void print_sizes(const size_t *size)
{
    for (int s = 0; judge.sizes[s] != NULL; s++)
        printf("%s%s %zu", s > 0 ? ", " : "", judge.sizes[s], size[s]);
}

/* Who wrote it, where that is known. */
static void print_owner(int a, size_t i)
{
    struct message_owner owner = {.array = (uint64_t)a, .index = i};

    say(OWNER, &owner, sizeof owner);
    expect(OWNER, &owner, sizeof owner);
    tidy(owner.place, sizeof owner.place);
    if (owner.is_known)
        printf("Thread %u of block %u wrote it, at %s.", owner.thread, owner.block, owner.place);
}

static size_t roundings_of(const struct a_case *c)
{
    return judge.roundings != NULL ? judge.roundings(c->size) : c->size[judge.sizes[1] != NULL] + 32;
}

/* How far rounding may take an element from what is right. */
static double rounding(const struct a_case *c, int a, size_t i)
{
    return 2.0 * 0x1p-24 * (double)roundings_of(c) * c->largest[a][i] + FLT_MIN;
}

static bool is_right(const struct a_case *c, int a, size_t i)
{
    const float got = c->host[a][i];
    const double right = c->right[a][i];

    if (!c->written[a][i])
        return false;
    if (isnan(right))
        return isnan(got);
    if (isinf(right))
        return got == right;
    return fabs(got - right) <= rounding(c, a, i);
}

/* Wrong by less than a hundredth: it may be taken for rounding. */
static bool is_nearly_right(const struct a_case *c, int a, size_t i)
{
    return c->written[a][i] && fabs(c->host[a][i] - c->right[a][i]) < 0.01 * fabs(c->right[a][i]);
}

static bool on_absolute_values; /* what judge.reference is run on */

/* What is right, from the inputs; computed when the outputs are there. */
static void compute_right(struct a_case *c)
{
    judge.reference(c->size, c->right);
    on_absolute_values = true;
    judge.reference(c->size, c->largest);
    on_absolute_values = false;
}

enum verdict {
    WRONG,
    NEARLY_RIGHT, /* wrong, but the first wrong element by little, and no slip explains it */
    RIGHT
};

/* Compares a case's outputs, and prints the message when they are wrong. Adds their bits to *bits. */
static enum verdict compare_outputs(struct a_case *c, uint64_t *bits)
{
    size_t num_all = 0, num_bad = 0, first = 0;
    int bad_array = 0;
    char text[1000];

    if (judge.reference == NULL)
        return RIGHT;
    compute_right(c);
    for (int a = 0; a < num_arrays(); a++) {
        if (!is_output(a))
            continue;
        for (size_t n = 0; n < c->count[a]; n++) {
            const size_t i = in_order(c, a, n);
            uint32_t of_this;
            memcpy(&of_this, &c->host[a][i], sizeof of_this);
            *bits = judge_hash(*bits, of_this);
            num_all++;
            if (!is_right(c, a, i) && num_bad++ == 0)
                bad_array = a, first = i;
        }
    }
    if (num_bad == 0)
        return RIGHT;

    const float got = c->host[bad_array][first];
    const double right = c->right[bad_array][first];
    const int digits = fabs(got - right) < 1e-5 * fabs(right) ? 9 : 6; /* enough to see the difference */
    name_element(c, bad_array, first, text, sizeof text);
    printf("@wrong %s", text);
    if (!c->written[bad_array][first])
        printf(" has not been written, and should be %.6g\n", right);
    else
        printf(" is %.*g, and should be %.*g\n", digits, fabs(got) >= 0 ? (double)got : NAN, digits, right);
    const bool has_slipped = find_slip(c, bad_array, first, text, sizeof text);
    const bool is_near = is_nearly_right(c, bad_array, first);
    if (has_slipped)
        printf("@slip %s\n", text);
    else if (is_near)
        printf("@rounding Rounding makes a difference of at most %.1g here.\n", rounding(c, bad_array, first));
    printf("@owner %s", num_bad == 1 && num_all > 1 ? "All else is right. " : "");
    print_owner(bad_array, first);
    printf("\n");
    return is_near && !has_slipped ? NEARLY_RIGHT : WRONG;
}

/* Runs a case, and prints what the runner has counted; returns whether the outputs are right. */
static enum verdict run_case(int what, const size_t *size, enum kind kind, uint64_t *bits)
{
    struct a_case c = make_case(size, kind);
    struct message_case asked = {.what = (uint64_t)what, .fails = fails};
    struct message_count count;
    struct message_call call;
    struct message_returned returned;
    enum message type;
    size_t bytes;
    int output = -1;

    printf("@with ");
    print_sizes(size);
    printf("\n@data %s\n", kind_says(kind));
    for (int s = 0; s < JUDGE_MAX_SIZES; s++)
        asked.size[s] = size[s];
    say(CASE, &asked, sizeof asked);
    for (int a = 0; a < num_arrays(); a++)
        if (!is_output(a))
            say(INPUT, c.host[a], c.count[a] * sizeof(float));
    while ((type = hear(&bytes)) == COUNT && (what == COUNT_IT || what == TIME_IT)) {
        fetch(&count, bytes, sizeof count);
        tidy(count.name, sizeof count.name);
        printf("@count %s %.17g\n", count.name, count.value);
    }
    for (; type == CALL && what == CALL_IT; type = hear(&bytes)) {
        fetch(&call, bytes, sizeof call);
        tidy(call.name, sizeof call.name);
        tidy(call.place, sizeof call.place);
        tidy(call.error, sizeof call.error);
        printf("@call %s %s%s%s%s%s\n", call.place, call.name, call.is_launch ? " launch" : "",
               call.can_fail ? " can_fail" : "", call.has_failed ? " " : "", call.has_failed ? call.error : "");
    }
    if (what == CALL_IT) {
        if (type != RETURNED)
            lost();
        fetch(&returned, bytes, sizeof returned);
        tidy(returned.left, sizeof returned.left);
        printf("@returned %s\n@left %llu %s\n", returned.right ? "right" : "error",
               (unsigned long long)returned.num_left, returned.left);
        type = hear(&bytes);
    }
    for (output = 0; output < num_arrays(); output++) {
        if (!is_output(output))
            continue;
        if (type != OUTPUT)
            lost();
        fetch(c.host[output], bytes, c.count[output] * sizeof(float));
        expect(WRITTEN, c.written[output], c.count[output]);
        type = hear(&bytes);
    }
    if (type != DONE)
        lost();
    fetch(NULL, bytes, 0);

    const enum verdict verdict = what == CALL_IT ? RIGHT : compare_outputs(&c, bits);
    free_case(&c);
    return verdict;
}

/* All shapes with plain data first, then the other kinds. Where plain data leave only a small difference, it is told
   with coefficients close to 1, if these show it: there what was long ago still counts. */
static bool compare(void)
{
    uint64_t bits = 0;
    size_t shapes[JUDGE_MAX_SHAPES + DRAWN_SHAPES + 1][JUDGE_MAX_SIZES];
    const int num_shapes = all_shapes(shapes);

    for (int kind = PLAIN; kind < NUM_KINDS && judge.reference != NULL; kind++)
        for (int s = 0; s < num_shapes && kind_applies((enum kind)kind); s++) {
            const enum verdict verdict = run_case(RUN_IT, shapes[s], (enum kind)kind, &bits);
            if (verdict == NEARLY_RIGHT && kind == PLAIN && kind_applies(LONG_MEMORY))
                run_case(RUN_IT, shapes[s], LONG_MEMORY, &bits);
            if (verdict != RIGHT)
                return false;
        }
    finish();
    printf("@bits %016llx\n", (unsigned long long)bits);
    return true;
}

static void say_elements(const size_t *size)
{
    printf("@count elements %.17g\n", (double)size[0] * (double)(judge.sizes[1] == NULL ? 1 : size[1]));
}

/* One case, with its counts. */
static bool count(int what, const size_t *size)
{
    uint64_t bits = 0;

    say_elements(size);
    if (run_case(what, size, PLAIN, &bits) != RIGHT)
        return false;
    finish();
    return true;
}

/* A case with its counts for each kind of data, in one process and behind a small case: an answer that counts its own
   launches cannot tell the one that matters, and one that takes a short way which is right for some data is wrong for
   others. The largest counts matter. */
static bool count_all(const size_t *size)
{
    uint64_t bits = 0;
    bool right = run_case(RUN_IT, judge.shapes[0], PLAIN, &bits) == RIGHT;

    say_elements(size);
    for (int kind = PLAIN; right && kind < NUM_KINDS; kind++)
        if (kind_applies((enum kind)kind))
            right = run_case(COUNT_IT, size, judge.counts_plain ? PLAIN : (enum kind)kind, &bits) == RIGHT;
    if (right)
        finish();
    return right;
}

/* ---- what descriptions (judges/NAME.c) call for what is right ---- */

double judge_minus(double a, double b)
{
    return on_absolute_values ? a + b : a - b;
}

void judge_recurrence(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[0] * size[1]; i++)
        array[2][i] = i % size[1] == 0 ? array[0][i] : array[2][i - 1] * array[1][i] + array[0][i];
}

bool judge_is_first(const size_t *size, size_t i)
{
    return i % size[1] == 0;
}

int main(int argc, char **argv)
{
    size_t size[JUDGE_MAX_SIZES] = {0};
    const char *what = argc > 1 ? argv[1] : "";
    int i = 2, sizes = 0;
    bool right = true;

    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *equals = strchr(argv[i], '=');
        if (strncmp(argv[i], "folder=", 7) == 0)
            folder = equals + 1;
        else if (strncmp(argv[i], "seed=", 5) == 0)
            judge_seed = strtoull(equals + 1, NULL, 10);
        else if (strncmp(argv[i], "memory=", 7) == 0)
            memory = (rlim_t)strtoull(equals + 1, NULL, 10) << 20;
        else if (strncmp(argv[i], "fails=", 6) == 0)
            fails = strtoull(equals + 1, NULL, 10);
        else if (strncmp(argv[i], "seconds=", 8) == 0)
            wall_seconds = strtod(equals + 1, NULL);
        else if (equals == NULL && sizes < JUDGE_MAX_SIZES)
            size[sizes++] = strtoull(argv[i], NULL, 10);
    }
    if (i + 1 >= argc) {
        fprintf(stderr, "usage: %s compare|count|goals|time|calls|probe [SIZE...] [NAME=VALUE...] -- COMMAND...\n",
                argv[0]);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* with whoever has called us; and then the runner with us */
    setvbuf(stdout, NULL, _IOLBF, 0);
    begin(argv + i + 1);
    if (strcmp(what, "compare") == 0)
        right = compare();
    else if (strcmp(what, "count") == 0)
        right = count(COUNT_IT, size);
    else if (strcmp(what, "goals") == 0)
        right = count_all(size);
    else if (strcmp(what, "time") == 0)
        right = count(TIME_IT, size);
    else if (strcmp(what, "calls") == 0)
        right = count(CALL_IT, size);
    else
        finish();
    if (!right)
        end_runner();
    return !right;
}
