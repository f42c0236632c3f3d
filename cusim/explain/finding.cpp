/* SPDX-License-Identifier: MIT */
/* finding.cpp - one line for each finding, in the form that gcc gives its own, so that editors find the place:

       scan.cu:50: error: kernel scan<4>, block (0,0,0), thread (0,0,0): race: reads ...     and the program ends
       scan.cu:20: remark: host code: ...                                                    when the program ends

   CUSIM_JSON=FILE has the same for machines, an object a line. */
#include <atomic>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "progress.h"

#include "../include/cuda_runtime.h"
#include "../machine/announce.h"
#include "../machine/cores.h"
#include "../machine/fault.h"
#include "../machine/locate.h"
#include "../machine/settings.h"
#include "../observe/watch.h"

static int json = -1; /* the file that CUSIM_JSON names */

/* ---- a finding ---- */

struct finding {
    const char *kind; /* "error", "remark" */
    char place[512];  /* "scan.cu:50"; or empty */
    char kernel[512]; /* or empty: host code */
    char line[6000];  /* what is printed, without the full stop */
    char text[4096];  /* of that, what is wrong and what to do */
};

static void kernel_name(char *text, size_t size)
{
    char place[512];

    if (sim_locate_frames(&sim_place.kernel, 1, text, place, size < sizeof(place) ? size : sizeof(place)))
        sim_shorten_name(text);
    if (*text == '\0')
        snprintf(text, size, "%s", sim_place.name);
}

static void find(struct finding *f, const char *kind, const char *file, int line, const void *pc, const char *text)
{
    char where[1300] = "", header[512] = "";
    size_t used = 0;

    f->kind = kind;
    f->place[0] = f->kernel[0] = '\0';
    if (pc != NULL)
        sim_locate_both((const char *)pc - 1, f->place, header, sizeof(f->place));
    else if (file != NULL && line > 0)
        snprintf(f->place, sizeof(f->place), "%s:%d", file, line);
    else if (file != NULL)
        snprintf(f->place, sizeof(f->place), "%s", file);
    sim_shorten_paths(f->place);
    sim_shorten_paths(header);
    if (sim_place.kernel != NULL) {
        kernel_name(f->kernel, sizeof(f->kernel));
        used += (size_t)snprintf(where, sizeof(where), "kernel %s", f->kernel);
        if (sim_place.in_block)
            used += (size_t)snprintf(where + used, sizeof(where) - used, ", block (%u,%u,%u)", blockIdx.x, blockIdx.y,
                                     blockIdx.z);
        if (sim_place.in_thread)
            used += (size_t)snprintf(where + used, sizeof(where) - used, ", thread (%u,%u,%u)", threadIdx.x,
                                     threadIdx.y, threadIdx.z);
    } else
        used += (size_t)snprintf(where, sizeof(where), "host code");
    if (header[0] != '\0') /* what it calls there stands in a header */
        snprintf(where + used, sizeof(where) - used, ", in %s", header);
    snprintf(f->text, sizeof(f->text), "%s", text);
    sim_shorten_paths(f->text);
    snprintf(f->line, sizeof(f->line), "%s: %s: %s: %s", f->place[0] != '\0' ? f->place : "simulator", kind, where,
             f->text);
}

/* ---- for machines ---- */

static std::string quoted(const char *text)
{
    std::string out = "\"";
    char code[8];

    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ') {
            snprintf(code, sizeof(code), "\\u%04x", *text);
            out += code;
            continue;
        }
        if (*text == '"' || *text == '\\')
            out += '\\';
        out += *text;
    }
    return out + "\"";
}

static std::string index_of(unsigned x, unsigned y, unsigned z)
{
    return "[" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + "]";
}

static std::string index_of(const unsigned (&i)[3])
{
    return index_of(i[0], i[1], i[2]);
}

static std::string file_and_line(const char *place)
{
    const char *const colon = strrchr(place, ':');

    if (*place == '\0')
        return "\"file\":null,\"line\":null";
    if (colon == NULL || atoi(colon + 1) == 0)
        return "\"file\":" + quoted(place) + ",\"line\":null";
    return "\"file\":" + quoted(std::string(place, colon).c_str()) + ",\"line\":" + std::to_string(atoi(colon + 1));
}

/* {"kind":"error","message":"race: ...","file":"scan.cu","line":50,"function":"scan<4>","block":[0,0,0],
   "thread":[1,0,0],"other":{"file":"scan.cu","line":52,"block":[0,0,0],"thread":[0,0,0]}}

   with null for what there is none of. */
static void write_json(const struct finding *f)
{
    const bool in_kernel = f->kernel[0] != '\0';
    char place[512], header[512];

    if (json < 0)
        return;
    const std::string text = std::string(f->text) + ".";
    std::string line =
        std::string("{\"kind\":") + quoted(f->kind) + ",\"message\":" + quoted(text.c_str()) + "," +
        file_and_line(f->place) + ",\"function\":" + (in_kernel ? quoted(f->kernel) : "null") +
        ",\"block\":" + (in_kernel && sim_place.in_block ? index_of(blockIdx.x, blockIdx.y, blockIdx.z) : "null") +
        ",\"thread\":" + (in_kernel && sim_place.in_thread ? index_of(threadIdx.x, threadIdx.y, threadIdx.z) : "null") +
        ",\"other\":";
    if (sim_other.pc == NULL)
        line += "null}\n";
    else {
        sim_locate_both((const char *)sim_other.pc - 1, place, header, sizeof(place));
        sim_shorten_paths(place);
        line += "{" + file_and_line(place) + ",\"block\":" + (sim_other.in_block ? index_of(sim_other.block) : "null") +
                ",\"thread\":" + (sim_other.in_block ? index_of(sim_other.thread) : "null") + "}}\n";
    }
    if (write(json, line.data(), line.size()) < 0)
        return; /* the disk is full: the line on stderr is still told */
}

/* ---- remarks, which all processes of a launch share (cores.h) ---- */

enum { MOST_REMARKS = 100, MOST_LETTERS = 1000 };

static struct remarks {
    std::atomic<bool> locked;
    unsigned count, told;
    bool more; /* that there was no room for */
    struct remark {
        char said[MOST_LETTERS]; /* place and text, by which two are one */
        char line[MOST_LETTERS]; /* as it is printed, with the thread that came first */
    } list[MOST_REMARKS];
} * remarks;
static pid_t owner;

static void keep_remark(const char *file, int line, const void *pc, const char *text)
{
    struct finding f;
    char said[MOST_LETTERS];

    if (remarks == NULL)
        return;
    find(&f, "remark", file, line, pc, text);
    snprintf(said, sizeof(said), "%.300s: %.600s", f.place, f.text);
    while (remarks->locked.exchange(true))
        continue;
    bool known = false;
    for (unsigned i = 0; i < remarks->count && !known; i++)
        known = strcmp(remarks->list[i].said, said) == 0;
    if (!known && remarks->count < MOST_REMARKS) {
        struct remarks::remark *const r = &remarks->list[remarks->count++];
        snprintf(r->said, sizeof(r->said), "%s", said);
        snprintf(r->line, sizeof(r->line), "%.999s", f.line);
        write_json(&f);
    }
    remarks->more = remarks->more || (!known && remarks->count == MOST_REMARKS);
    remarks->locked = false;
}

static void tell_remarks(void)
{
    if (remarks == NULL || getpid() != owner)
        return;
    fflush(stdout);
    for (; remarks->told < remarks->count; remarks->told++)
        fprintf(stderr, "%s.\n", remarks->list[remarks->told].line);
    if (remarks->more)
        fprintf(stderr, "simulator: there were more remarks than %d.\n", MOST_REMARKS);
    remarks->more = false;
}

/* ---- faults ---- */

/* For a debugger's breakpoint: the message is known, and the thread still stands where it went wrong. */
extern "C" __attribute__((noinline)) void sim_at_fault(const char *message)
{
    asm volatile("" : : "r"(message) : "memory");
}

/* sim_tell.fault: says it, with where it was. */
static void say_fault(const char *file, int line, const void *pc, const char *text)
{
    sim_hide_progress();
    struct finding f;

    find(&f, "error", file, line, pc, text);
    if (sim_watching)
        sim_watch_fault(f.line, f.place);
    sim_at_fault(f.line);
    write_json(&f);
    const char *const said = sim_fault_of_all(f.line);
    tell_remarks();
    sim_end(said);
}

/* Behind the program's own destructors, since what is registered first is called last. */
__attribute__((constructor(101))) static void begin(void)
{
    const char *const file = sim_setting("CUSIM_JSON");
    void *const map = mmap(NULL, sizeof(struct remarks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    remarks = map == MAP_FAILED ? NULL : (struct remarks *)map;
    owner = getpid();
    if (file != NULL) {
        json = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
        if (json < 0)
            sim_bad_setting("CUSIM_JSON", file, "a file that can be written");
    }
    sim_tell.fault.add(say_fault);
    sim_tell.remark.add(keep_remark);
    atexit(tell_remarks);
}
