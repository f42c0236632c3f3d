/* SPDX-License-Identifier: MIT */
/* operation.h - all that the harness knows of an operation. It checks, times and reports; what is computed from which
   arrays, it asks of a `struct operation`. common/tests/decay is the smallest one: a good place to begin.

   How to write another one:

   1. The kernels' side. A header with a struct of the launchers' arguments, the launchers' type, and the struct of a
      row in a chapter's table of kernels, which begins with a struct kernel_info. decay.h is the example. Kernels
      include this header and nothing of the rest.
   2. Sizes, each with a name: struct size. Every one is an option (--seq-len) and a column of the table and of the CSV
      (seq_len). The first is the independent one: parts of the result that differ in it alone do not influence each
      other (sequences, a batch). At most one size takes a list of values.
   3. Arrays: struct array. Name, shape, and whether a pass reads or writes them. Each has an option for a .npy file.
      Flags: struct flag, options without a value. They arrive in problem->flags, and a launcher's arguments get them
      from there.
      What may be left out: an array that is `optional` (its pointer is then NULL), one that `goes_with` an optional
      one (the gradient of z with z), and every flag. Each kernel is checked with everything on all kinds of data, and
      with nothing, too, if that is how it is timed; on the hardest kind with each alone left out, with nothing and as
      it is timed, on tiny shapes in all combinations. A kernel that `lacks` something is checked without it.
      `timed` says what is there in the workload that is timed; a user chooses another by --with. The table says so
      above its first row, and the CSV in the column `with`.
      Types: arrays that are `stored` are kept as float32, bf16 or fp16, as --type says, in problem->dtype and in the
      CSV's column `type`. Read and write them on the host by array_get and array_set. A kernel that takes float32
      alone says so in its row (kernel_info.h).
   4. Test data: kinds of them, each there because some wrong kernel passes all others, and a function that fills what a
      pass reads. It works on the host. For shapes of gigabytes add device_fill, which must write the same bits.
   5. The oracle: a function that compares what a pass has written with a loop in double precision, within a bound that
      you derive. array_check takes each element's place, what it must be and its bound. For an array that is `stored`
      both are of the float that a kernel rounds to the type: the rounding is added there. Where what was rounded is
      read again by the same pass, dtype_rounding (dtype.h) says how wrong it is by then. The function works on the
      host, on a whole small problem or on samples of a large one. For all of a large one add device_check, where
      finding_add_stored (finding.h) takes the place of array_check.
   6. The way to the kernels: functions that launch a row of the table, and say what it needs.
   7. The elementwise kernels to compare with, and default shapes.
   8. A chapter's main.c: `struct chapter` (harness.h) with its operation and its table, and harness_main.

   Then `CHAPTER --check-only` runs, --help lists your sizes, flags, types and arrays, and the harness does the rest:
   guards around what is written, NaN before each launch, memory checks, --resume, --fill, own arrays, the first wrong
   element and its owner. */
#ifndef OPERATION_H
#define OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "../base/dtype.h"
#include "finding.h"
#include "kernel_info.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most that an operation may have. */
enum { MAX_SIZES = 8, MAX_FLAGS = 8, MAX_ARRAYS = 24, MAX_DIMS = 5 };

/* The forward pass and the backward pass, each from the first element on or from the last. */
enum direction { FORWARD, REVERSE, BACKWARD, BACKWARD_REVERSE, NUM_DIRECTIONS };

static inline enum direction direction_of(bool backward, bool reverse)
{
    return backward ? (reverse ? BACKWARD_REVERSE : BACKWARD) : (reverse ? REVERSE : FORWARD);
}

static inline bool is_backward(enum direction direction)
{
    return direction == BACKWARD || direction == BACKWARD_REVERSE;
}

static inline bool is_reversed(enum direction direction)
{
    return direction == REVERSE || direction == BACKWARD_REVERSE;
}

/* "forward", "reverse", "backward" or "backward_reverse". */
const char *direction_name(enum direction direction);

struct operation;

/* The same of an operation, which may have a name of its own for its only pass. */
const char *pass_name(const struct operation *operation, enum direction direction);

/* One of an operation's sizes. */
struct size {
    const char *name; /* "seq_len": the column; --seq-len is the option */
    const char *noun; /* "length": what one of its values is, in messages */
    const char *help; /* "elements per sequence" */
    bool is_list;     /* the option takes a list of values */
};

/* Something that an operation does or leaves undone, as the user says. */
struct flag {
    const char *name; /* "delta_softplus"; --delta-softplus is the option, which takes no value */
    const char *help;
    bool timed; /* it is on in what is timed */
};

enum role { UNTOUCHED, READ, WRITTEN };

/* One of an operation's arrays, row-major, of float32, of the type that --type names, or of int32. An array that a pass
   writes should depend on the first size, or else the samples of a large problem that are checked on the host leave it
   out. */
struct array {
    const char *name;            /* "d_inputs"; the option is --d-inputs */
    const char *symbol;          /* "DX": in --help the file is DX.npy */
    enum role forward, backward; /* what the passes do with it */
    bool stored;                 /* --type says in which type it is kept; else float32 */
    bool integers;               /* it holds int32 */
    int extra;                   /* elements more than its last size says: n + 1 edges of n things */
    bool optional;               /* a pass also runs without it */
    bool timed;                  /* optional, and there in what is timed */
    const char *goes_with;       /* "z", an optional array: this one is there where that one is. NULL: always */
    int num_dims;
    int dims[MAX_DIMS]; /* its shape, outermost first: numbers of sizes. The first size only as the outermost one */
};

/* One set of test data. */
struct data {
    uint64_t seed;
    int kind;
};

/* What a launch, a fill or a check gets: sizes, direction, pointers. */
struct problem {
    const struct operation *operation;
    size_t sizes[MAX_SIZES];
    enum direction direction;
    enum dtype dtype; /* of the arrays that are `stored` */
    bool flags[MAX_FLAGS];
    struct launch_config config; /* what --config gave */
    void *arrays[MAX_ARRAYS];    /* NULL: not of this pass, or optional and left out */
    void *workspace;             /* scratch memory, as much as the kernel asked for; see workspace_size below */
    size_t workspace_size;
};

/* The harness's view of a row in a table of kernels. */
struct kernel {
    const struct kernel_info *info; /* the row itself, which begins with this */

    /* what operation->describe says of the row */
    bool runs[NUM_DIRECTIONS];
    unsigned kinds_left_out; /* bit k: it promises nothing for data of kind k, and is not checked on them */
    uint32_t lacks;          /* what it does not take of what may be chosen, a choice (choice.h) */
    char limits[64];         /* what --list says of its largest shape, "length up to 16384"; empty: nothing */

    /* what it is in this program */
    char name[64];       /* "default", or with its chapter's name and a slash before it if it is only compared with */
    const char *chapter; /* whose it is */
    bool is_compared;    /* of an earlier chapter, whose own program checks it on all kinds of data */
    bool is_default;     /* the one that runs on the user's own arrays: its row says so, and its table counts */
};

/* The elementwise kernels of baselines.h: 1 array read and 1 written, 2 and 1, 3 and 2. */
enum elementwise { NO_BASELINE, COPY, ADD, ADD5 };

/* One of them to compare with: it reads and writes arrays of the pass, all of one shape and type. */
struct baseline {
    enum elementwise what;
    int arrays[5]; /* read, then written */
};

/* A list of shapes: for each all sizes. */
struct shapes {
    size_t (*sizes)[MAX_SIZES];
    int count;
};

struct machine;   /* machine.h */
struct placement; /* placement.h */

/* See the top. Shapes and pointers are all in `problem`. `row` is a row of the chapter's table, of the operation's own
   type: a struct that begins with a struct kernel_info. Functions that may be NULL say so. */
struct operation {
    const char *name; /* "linear recurrence" */

    /* Where a program has several operations, main.c chooses: "step" if --step asks for this one, an option that says
       no more than that. NULL: it is the one that runs without such an option. With `asked_value`, "product", that
       option has a value, which names this operation. `also` ends --help: the other ones. */
    const char *asked_by, *asked_value, *also;

    const char *pass; /* what its only pass is called in tables, "step"; NULL: it has those of enum direction */
    int num_sizes, num_flags, num_arrays;
    struct size sizes[MAX_SIZES];
    struct flag flags[MAX_FLAGS];
    struct array arrays[MAX_ARRAYS];

    /* The shapes that a program takes without options. */
    void (*default_shapes)(const struct machine *machine, struct shapes *shapes);

    /* Where options have changed some sizes of a default shape (`given`), changes others that must follow. NULL: none
       must. */
    void (*settle)(size_t sizes[MAX_SIZES], const bool given[MAX_SIZES]);

    /* Test data. Kinds are numbered from 0. `filled` is what their names describe: "near one" "coefficients". */
    const char *filled;
    int num_kinds;
    int timed_kind;   /* the workload that is timed */
    int hardest_kind; /* the one that finds most mistakes. Large shapes are checked on these two kinds only, and kernels
                         of other chapters on this one only */
    const char *(*kind_name)(int kind);
    bool (*kind_fits)(const struct problem *problem, int kind); /* else it is left out for this shape; NULL: all fit */

    /* Fills the arrays that the pass reads. fill: on the host. device_fill: on the device, the same bits, without
       waiting; NULL: what fill has written is copied there. */
    void (*fill)(const struct problem *problem, const struct data *data);
    cudaError_t (*device_fill)(const struct problem *problem, const struct data *data);

    /* Compares what the pass has written with the oracle, and adds to *finding. `levels`: below. check: on the host;
       pointers to written arrays may be NULL where a sample cannot tell. device_check: the same of arrays on the
       device, where *finding is, too; only its first three numbers count. It does not wait. NULL: host alone. */
    void (*check)(const struct problem *problem, const struct data *data, int levels, struct finding *finding);
    cudaError_t (*device_check)(const struct problem *problem, const struct data *data, int levels,
                                struct finding *finding);

    /* The bytes that a pass must move. NULL: all that it reads and writes, each once. */
    double (*bytes)(const struct problem *problem);

    /* The operations that it must compute, of which the table then says how many a second: a multiplication and an
       addition are two. NULL: the table has no such column. */
    double (*operations)(const struct problem *problem);

    /* device_check stands for itself: it takes samples of what is too large to be compared whole, and sets all of
       *finding. Then nothing is compared on the host beside it. */
    bool device_samples;

    /* What the columns percent_of_copy and percent_of_add compare a pass with: [0] forward, [1] backward. */
    struct baseline copy[2], add[2];

    /* Where the arrays live. NULL: on the device. Else the functions below that launch are not asked. */
    const struct placement *placement;

    size_t row_bytes; /* of a row of a table */

    /* Sets what a row alone says of its kernel (see there); all of it is zero before. */
    void (*describe)(const void *row, struct kernel *kernel);

    /* Launches the row's kernel for the problem's direction, and returns the launch's error. Does not wait. */
    cudaError_t (*launch)(const void *row, const struct problem *problem, cudaStream_t stream);

    /* Whether these sizes are past the row's limits. If so, writes into `why` what goes on after the kernel's name in a
       message: "takes up to 10 sequences, not 11". NULL: no row has limits. */
    bool (*refuses)(const void *row, const size_t sizes[MAX_SIZES], char *why, size_t size);

    /* Bytes of scratch memory for this problem; only its sizes, direction, dtype and config are read. NULL: none. All
       its bits are set before the first launch; each later one finds what the one before has left. What is checked is
       the second launch, so a kernel that leaves there what it cannot begin with is found wrong. */
    size_t (*workspace_size)(const void *row, const struct problem *problem);

    /* What launchers promise beside their result, asked once for each pass (FORWARD, BACKWARD). Writes one line about
       the first promise that the row's launcher breaks, an empty one if it keeps all. NULL: they promise nothing. */
    void (*contract)(const void *row, enum direction direction, bool on_cpu, char *text, size_t size);

    /* Levels of addition beside the oracle's own loop, for its bound. NULL: one. */
    int (*levels)(const void *row, const struct problem *problem);

    /* Writes who computes an element of an array: "block 3, thread 17". NULL: not said. */
    void (*owner)(const void *row, const struct problem *problem, int array, const size_t position[MAX_DIMS],
                  char *text, size_t size);
};

/* ---- what follows from that (operation.c) ---- */

/* What a pass does with an array. */
enum role array_role(const struct array *array, enum direction direction);

enum { SHAPE_TEXT = 40 * MAX_DIMS };

/* How long an array is in dimension d. */
size_t array_length(const struct array *array, int d, const size_t sizes[MAX_SIZES]);

/* Its shape by names: "(num_seqs, seq_len)", "(seqs + 1)". Returns text. */
const char *array_shape_text(const struct operation *operation, const struct array *array, char text[SHAPE_TEXT]);

/* Elements of an array, 1 for no dimensions. SIZE_MAX / 8 means that there are too many to be counted in bytes. */
size_t array_count(const struct array *array, const size_t sizes[MAX_SIZES]);

/* Makes `packed` of an operation whose first size is a number of batches: parts of any length, as many as that size
   says now, lie one behind the other along size `along`. An array that has that size has no batch any more, and behind
   the others there is one array more, "starts": where each part begins, and where the last one ends. */
void operation_pack(struct operation *packed, const struct operation *operation, int along);

/* The type in which an array is kept, and bytes of one element. */
enum dtype array_dtype(const struct array *array, enum dtype dtype);
size_t array_element_bytes(const struct array *array, enum dtype dtype);

/* Whether the operation has arrays that are `stored`, so that --type has a meaning. */
bool operation_has_dtype(const struct operation *operation);

/* Element `index` of array `a` of a problem on the host, for fill and check. array_set rounds to the array's type.
   array_check compares it with the float that it must be, within `bound`; the rounding to the type is added there. */
float array_get(const struct problem *problem, int a, size_t index);
void array_set(const struct problem *problem, int a, size_t index, float value);
void array_check(const struct problem *problem, int a, size_t index, double expected, double bound,
                 struct finding *finding);

/* Whether the pass reads the array, which is there. */
bool array_is_read(const struct problem *problem, int a);

/* Whether the array has a part of its own for each value of the first size. */
bool array_is_independent(const struct array *array);

/* Elements of the largest array of a pass, to tell large shapes from small ones. Arrays that may be left out count
   where the problem has them. */
size_t problem_count(const struct problem *problem);

/* Bytes that the pass must move: operation->bytes, or all arrays that it reads and writes, each once, as far as the
   problem has them. */
double problem_bytes(const struct problem *problem);

/* "4 x 1024", all sizes in order. Returns text. */
enum { SIZES_TEXT = 24 * MAX_SIZES };
const char *sizes_text(const struct operation *operation, const size_t sizes[MAX_SIZES], char text[SIZES_TEXT]);

/* "d_inputs" as the option "d-inputs". Returns text. */
enum { OPTION_TEXT = 32 };
const char *option_of(const char *name, char text[OPTION_TEXT]);

/* Adds a shape, unless it is there already. Ends the program if there is no memory. */
void shapes_add(struct shapes *shapes, const size_t sizes[MAX_SIZES]);

/* A baseline's name in the table, "add5". */
const char *baseline_name(const struct baseline *baseline);

/* Launches a baseline on a problem's arrays. `baseline` is a struct baseline, passed as a const void * so that this
   function has the type launch_function (measure.h), as operation->launch has. */
cudaError_t baseline_launch(const void *baseline, const struct problem *problem, cudaStream_t stream);

/* How many arrays it reads and writes. 0: there is none. */
int baseline_num_arrays(const struct baseline *baseline);

/* The bytes that it moves. */
double baseline_bytes(const struct baseline *baseline, const struct problem *problem);

#ifdef __cplusplus
}
#endif
#endif
