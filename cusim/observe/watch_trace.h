/* SPDX-License-Identifier: MIT */
/* watch_trace.h - the recording that watch.cpp makes, and watch_page.cpp writes. */
#ifndef SIM_WATCH_TRACE_H
#define SIM_WATCH_TRACE_H

#include <map>
#include <stdint.h>
#include <string>
#include <vector>

#include "../machine/sizes.h"

struct sim_region;

namespace watch
{

/* ---- what is known of the program (variables.pl reads it from the debugging information) ---- */

/* A number: f floating point, h half, B bfloat16, i signed, u unsigned, c character, b truth value, p pointer. */
struct type {
    std::string name;
    char kind;
    unsigned size;
};

/* A number that a function keeps in its frame, or an array of them. */
struct variable {
    std::string name;
    struct type type, points_to; /* the second: kind 0 where that is no number */
    int at;                      /* from the frame's base */
    bool is_parameter;
    unsigned line;                     /* of its declaration */
    uintptr_t from, to;                /* addresses of the block that it is in */
    std::vector<unsigned> dims, steps; /* elements, and bytes from one to the next, outermost first */
    std::vector<int> places;           /* of each element, from the frame's base */
};

struct function {
    uintptr_t low, high;
    unsigned file, line;
    bool watched; /* it says which line it comes to, and its variables are known */
    std::string name;
    std::vector<struct variable> variables;
};

struct row {
    uintptr_t address;
    int file; /* -1: the end of a piece */
    unsigned line;
};

struct place {
    int file; /* -1: unknown */
    unsigned line;
};

struct program {
    std::vector<std::string> files;
    std::vector<struct function> functions; /* by address */
    std::vector<struct row> rows;           /* by address */
    bool watched;                           /* some function is */
};
extern struct program program;

const struct function *find_function(uintptr_t pc);
struct place find_place(uintptr_t pc);                                 /* of the program's own, else unknown */
uintptr_t find_address(struct place place, const struct function *in); /* of a line, in that function; NULL: in any */
struct place place_of(const char *file, unsigned line);                /* as messages spell it */
bool is_own(unsigned file);                                            /* not the simulator's or the system's */

/* ---- what all runs share: a piece of memory that children see, too ---- */

struct array {
    const void *key; /* the region, of shared memory the variable */
    char name[96], type[32];
    char kind;
    bool shared, written; /* the second: by the run that is recorded */
    unsigned element, rank, dims[8], start;
    const char *memory;             /* global: its first byte, */
    size_t size;                    /* and how many there are */
    const struct sim_field *fields; /* of structs, that the last dimension is in; or NULL */
};

struct barrier {
    char name[24];
    struct place place;
};

struct common {
    unsigned num_arrays, num_barriers, num_functions, num_variables, num_sources;
    struct array arrays[256];
    struct barrier barriers[64];
    unsigned functions[512]; /* of the program, in the order in which the trace has them */
    unsigned variables[512]; /* of these: number of the first one */
    unsigned sources[256];   /* files of the program, likewise */
};
extern struct common *common;

unsigned function_number(const struct function *f);
unsigned source_number(unsigned file);
int array_of(const struct sim_region *region); /* its number */

/* ---- what is recorded ---- */

/* What one lane, or several together, did in a step. Lists are texts in JSON, an entry a lane. */
struct event {
    const char *kind;
    uint64_t joins; /* events of lanes of a step with the same kind and number become one */
    uint32_t lanes;
    std::string rest, cost; /* what holds for all of them, and what its request costs: more members */
    bool has_values;
    std::string list, each; /* "i" or "from": an index a lane; "x": values a lane */
    const char *list_name;  /* NULL: it has no such list */
    int array;              /* or -1 */
    unsigned count;         /* elements a lane */
    int request;            /* of the pass, or -1 */
    bool is_part;           /* its request was counted with an earlier step */
};

enum step_kind { DID, WAITS, GOES, ENDED, BLOCK_BEGINS, BLOCK_ENDS };

struct step {
    enum step_kind kind;
    uint64_t block;
    unsigned warp, depth;
    uint32_t lanes, all; /* that take part; that the warp has */
    struct place place;
    const struct function *function; /* or NULL */
    std::vector<struct event> events;
    std::map<unsigned, std::map<unsigned, std::string>> values; /* by variable and lane */
    std::string rest;                                           /* "on" and "at" of those who wait */
};

struct verdict {
    bool ok;
    std::string text;
    long step, other_step;
    struct place place, other_place;
    uint64_t block, other_block;
    unsigned thread, other_thread;
    bool has_thread, has_other;
    int array;
    uint64_t index;
};

/* A number in JSON, as one reads it. */
std::string number(char kind, unsigned size, const void *at);
std::string quoted(const char *text);
std::string decimal(uint64_t n);

} // namespace watch
#endif
