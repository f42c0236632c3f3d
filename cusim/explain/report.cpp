/* SPDX-License-Identifier: MIT */
/* report.cpp - CUSIM_REPORT=1: a table of what each kernel asked of memory, and the lines that cost most, on stderr
   when the program ends. */
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "../observe/observe.h"
#include "../observe/trace.h"
#include "../machine/settings.h"
#include "../machine/announce.h"
#include "../machine/locate.h"

static const size_t most_lines = 5; /* of a kernel */

static double per(uint64_t a, uint64_t b)
{
    return b > 0 ? (double)a / (double)b : 0;
}

/* What a line costs: sectors of global memory, and turns of shared memory. */
static uint64_t cost(const struct sim_row *r)
{
    return r->counts.loads.sectors + r->counts.stores.sectors + r->counts.shared_requests + r->counts.conflicts;
}

/* The source line at "file.cu:12", without its indentation; nothing where the file is not there. */
static void print_source(const char *place)
{
    const char *colon = strrchr(place, ':');
    char path[256], line[512];

    if (colon == NULL)
        return;
    snprintf(path, sizeof(path), "%.*s", (int)(colon - place), place);
    FILE *file = fopen(path, "r");
    for (long number = atol(colon + 1); file != NULL && number > 0; number--)
        if (fgets(line, sizeof(line), file) == NULL)
            line[0] = '\0';
    if (file == NULL)
        return;
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    fprintf(stderr, "  %.60s", line + strspn(line, " \t"));
}

static void print_report(const struct sim_row *rows, size_t count)
{
    fflush(stdout);
    fprintf(stderr, "\nWhat each kernel asked of memory. An average request of a warp touches so many sectors of 32 "
                    "bytes; fewest: if its\n"
                    "bytes lay side by side; lanes: that take part in it, of 32. Conflicts: requests to shared memory "
                    "that banks repeat;\n"
                    "contention: atomics that are repeated because lanes go to the same address.\n\n");
    fprintf(stderr, "%-26s %8s %8s  %7s %7s %6s  %7s %7s %6s  %9s %10s %9s\n", "kernel", "launches", "blocks",
            "loads:", "fewest", "lanes", "stores:", "fewest", "lanes", "conflicts", "contention", "barriers");
    fprintf(stderr, "%-26s %8s %8s  %7s %7s %6s  %7s %7s %6s  %9s %10s %9s\n", "", "", "", "sectors", "", "", "sectors",
            "", "", "", "", "a block");
    for (size_t i = 0; i < count;) {
        const struct sim_row *kernel = &rows[i];
        const struct sim_counts *c = &kernel->counts;
        std::vector<const struct sim_row *> lines;

        fprintf(stderr, "%-26.26s %8llu %8llu  %7.1f %7.1f %6.1f  %7.1f %7.1f %6.1f  %9llu %10llu %9.1f\n",
                kernel->function, (unsigned long long)c->launches, (unsigned long long)c->blocks,
                per(c->loads.sectors, c->loads.requests), per(c->loads.least, c->loads.requests),
                per(c->loads.lanes, c->loads.requests), per(c->stores.sectors, c->stores.requests),
                per(c->stores.least, c->stores.requests), per(c->stores.lanes, c->stores.requests),
                (unsigned long long)c->conflicts, (unsigned long long)c->contention, per(c->barriers, c->blocks));
        for (i++; i < count && rows[i].kernel == kernel->kernel && rows[i].label == kernel->label && rows[i].pc != NULL;
             i++)
            lines.push_back(&rows[i]);
        std::stable_sort(lines.begin(), lines.end(),
                         [](const struct sim_row *a, const struct sim_row *b) { return cost(a) > cost(b); });
        uint64_t all = 0;
        for (const struct sim_row *line : lines)
            all += cost(line);
        for (size_t l = 0; l < lines.size() && l < most_lines; l++) {
            const struct sim_counts *n = &lines[l]->counts;
            fprintf(stderr, "  %3.0f %% %-20s", 100 * per(cost(lines[l]), all), lines[l]->place);
            fprintf(stderr, " %4.1f lanes",
                    per(n->loads.lanes + n->stores.lanes + n->shared_lanes,
                        n->loads.requests + n->stores.requests + n->shared_requests));
            if (n->contention > 0)
                fprintf(stderr, ", contention %llu", (unsigned long long)n->contention);
            fprintf(stderr, ":");
            print_source(lines[l]->place);
            fprintf(stderr, "\n");
        }
    }
    if (count == 0)
        fprintf(stderr, "(No kernel has run.)\n");
}

/* Below that, how long the kernels would take on the chip that CUSIM_CHIP names: what cusim-estimate says of the
   rows, which `print_rows` prints as a trace. */
static void print_times(void (*print_rows)(FILE *file))
{
    const char *chip = sim_setting("CUSIM_CHIP");
    char path[32], program[4096];

    if (!sim_watches || !sim_find_own("estimate/cusim-estimate", program, sizeof(program)))
        return; /* without checks nothing of memory is counted */
    FILE *file = tmpfile();
    if (file == NULL)
        return;
    print_rows(file);
    fflush(file);
    snprintf(path, sizeof(path), "/dev/fd/%d", fileno(file));
    fputc('\n', stderr);
    const pid_t child = fork();
    if (child == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execlp("perl", "perl", program, "--chip", chip != NULL && *chip != '\0' ? chip : "h200", "--trace", path,
               (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    fclose(file);
}

__attribute__((constructor)) static void subscribe(void)
{
    sim_report_by([](const struct sim_row *rows, size_t count, void (*print)(FILE * file)) {
        print_report(rows, count);
        print_times(print);
    });
}
