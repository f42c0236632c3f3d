/* SPDX-License-Identifier: MIT */
/* options.c - see options.h. One table says of each option how it is read, where it goes, and what --help tells. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "launch_config.h"
#include "placement.h"

enum { MAX_OPTIONS = 28 + MAX_SIZES + MAX_FLAGS + MAX_ARRAYS };

/* In which part of --help an option stands. --fill, which is in MAKE, goes with those of SHAPE and FILES, no others.
   Where a placement says where the arrays live, there are those of SHAPE, FLAG and RUN alone. */
enum part { SHAPE, FLAG, RUN, RUN_ON_DEVICE, FILES, MAKE };

/* One option. */
struct option_row {
    char name[OPTION_TEXT];
    const char *argument; /* as --help shows it; NULL: it takes none */
    const char *help;
    /* Checks the value and keeps it. Returns -1 to go on, or the status to exit with. */
    int (*read)(const struct option_row *row, const char *text, struct options *options);
    void *to; /* where it goes; NULL: `read` knows */
    enum part part;
    const struct size *size; /* of an option for a size */
    bool given;
};

/* ---- reading a value ---- */

/* A whole number, in decimal digits and nothing else, at most `most`. Returns false for other text, such as "", "-1",
   " 1" and "1e6". */
static bool read_whole(const char *text, uint64_t most, uint64_t *value)
{
    if (*text == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    *value = strtoull(text, NULL, 10);
    return errno == 0 && *value <= most;
}

static int read_flag(const struct option_row *row, const char *text, struct options *options)
{
    (void)text, (void)options;
    *(bool *)row->to = true;
    return -1;
}

/* What main.c has read. */
static int read_nothing(const struct option_row *row, const char *text, struct options *options)
{
    (void)row, (void)text, (void)options;
    return -1;
}

/* The same of a name: what main.c does not know has come to an operation that has another. */
static int read_operation(const struct option_row *row, const char *text, struct options *options)
{
    const char *name = row->to;
    (void)options;
    if (strcmp(text, name) == 0)
        return -1;
    return usage_error("--%s: there is no operation \"%s\"; see --help", row->name, text);
}

static int read_text(const struct option_row *row, const char *text, struct options *options)
{
    (void)options;
    *(const char **)row->to = text;
    return -1;
}

static int read_path(const struct option_row *row, const char *text, struct options *options)
{
    if (*text == '\0')
        return usage_error("--%s: the file name is empty; name a %s", row->name,
                           row->part == RUN ? "file" : ".npy file");
    options->any_file = options->any_file || row->part == FILES;
    return read_text(row, text, options);
}

static int read_size(const struct option_row *row, const char *text, struct options *options)
{
    uint64_t value;
    (void)options;
    if (!read_whole(text, PTRDIFF_MAX, &value))
        return usage_error("--%s: \"%s\" is not a %s; give a whole number", row->name, text, row->size->noun);
    *(size_t *)row->to = (size_t)value;
    return -1;
}

/* Numbers from `least` on with commas between them. Returns -1 to go on, or 2 after one line. */
static int read_numbers(const struct option_row *row, const char *text, size_t least, size_t list[MAX_LIST], int *count)
{
    char *copy = strdup(text), *rest = copy, *item;
    int status = copy == NULL ? usage_error("--%s: no memory for \"%s\"", row->name, text) : -1;
    *count = 0;
    while (status < 0 && (item = strsep(&rest, ",")) != NULL) {
        uint64_t value;
        if (!read_whole(item, PTRDIFF_MAX, &value) || value < least)
            status = usage_error("--%s: \"%s\" is not a %s; give whole numbers%s, as in --%s 16,1000", row->name, item,
                                 row->size->noun, least != 0 ? " from 1 on" : "", row->name);
        else if (*count == MAX_LIST)
            status = usage_error("--%s: more than %d %ss; give fewer", row->name, MAX_LIST, row->size->noun);
        else
            list[(*count)++] = (size_t)value;
    }
    free(copy);
    return status;
}

static int read_list(const struct option_row *row, const char *text, struct options *options)
{
    const int status = read_numbers(row, text, 0, options->list, &options->num_list);
    *(size_t *)row->to = options->list[0];
    return status;
}

static int read_pieces(const struct option_row *row, const char *text, struct options *options)
{
    const int status = read_numbers(row, text, 1, options->pieces, &options->num_pieces);
    options->pieces[options->num_pieces] = 0;
    return status;
}

static int read_own(const struct option_row *row, const char *text, struct options *options)
{
    const struct placement_option *own = row->to;
    (void)options;
    return own->read(text);
}

static int read_dtype(const struct option_row *row, const char *text, struct options *options)
{
    for (enum dtype dtype = FLOAT32; dtype < NUM_DTYPES; dtype++)
        if (strcmp(text, dtype_name(dtype)) == 0) {
            options->dtype = dtype;
            return -1;
        }
    return usage_error("--%s: \"%s\" is not a type; give float32, bf16 or fp16", row->name, text);
}

static int read_config(const struct option_row *row, const char *text, struct options *options)
{
    (void)row;
    return launch_config_read(text, &options->config);
}

static int read_seed(const struct option_row *row, const char *text, struct options *options)
{
    if (!read_whole(text, UINT64_MAX, &options->seed))
        return usage_error("--%s: \"%s\" is not a seed; give a whole number from 0 to 2^64 - 1", row->name, text);
    return -1;
}

static int read_repeats(const struct option_row *row, const char *text, struct options *options)
{
    uint64_t value;
    if (!read_whole(text, 10000, &value) || value == 0)
        return usage_error("--%s: \"%s\" is not a number of repeats; give one from 1 to 10000", row->name, text);
    options->repeats = (int)value;
    return -1;
}

/* ---- the table ---- */

/* All options, those of the operation's sizes and flags first and those of its arrays last. Returns how many. */
static int list_options(const struct operation *operation, struct options *options, bool *help,
                        struct option_row rows[MAX_OPTIONS])
{
    const struct placement *placement = operation->placement;
    const struct option_row of_every_program[] = {
        {"forward", NULL, "the forward pass only", read_flag, &options->forward, RUN, NULL, false},
        {"reverse", NULL, "only from the last element to the first", read_flag, &options->reverse, RUN, NULL, false},
        {"backward", NULL, "the backward pass only; with --reverse: of the reversed operation", read_flag,
         &options->backward, RUN, NULL, false},
        {"variant", "NAME[,NAME...]", "these kernels only, see --list", read_text, &options->variant, RUN, NULL, false},
        {"config", "rows=R,...", "the shape of a kernel: one or more of rows, threads, stages; see --list", read_config,
         NULL, RUN_ON_DEVICE, NULL, false},
        {"seed", "S", "seed of the test data (default 1)", read_seed, NULL, RUN, NULL, false},
        {"repeats", "R", "timed launches per row", read_repeats, NULL, RUN, NULL, false},
        {"check-only", NULL, "check, do not time", read_flag, &options->check_only, RUN, NULL, false},
        {"csv", "FILE", "write the table there as CSV", read_path, &options->csv, RUN, NULL, false},
        {"resume", NULL, "with --csv: write it after every shape, and keep what an interrupted run has left", read_flag,
         &options->resume, RUN_ON_DEVICE, NULL, false},
        {"list", NULL, "list the kernels", read_flag, &options->list_kernels, RUN, NULL, false},
        {"help", NULL, "this text", read_flag, help, RUN, NULL, false},
        {"fill", "PATTERN", "makes arrays", read_text, &options->fill, MAKE, NULL, false},
        {"print", "FILE.npy", "shows an array", read_path, &options->print, MAKE, NULL, false},
    };
    int count = 0;
    for (int s = 0; s < operation->num_sizes; s++) {
        const struct size *size = &operation->sizes[s];
        struct option_row row = {"",
                                 size->is_list ? "L[,L...]" : "N",
                                 size->help,
                                 size->is_list ? read_list : read_size,
                                 &options->sizes[s],
                                 SHAPE,
                                 size,
                                 false};
        option_of(size->name, row.name);
        rows[count++] = row;
    }
    for (int f = 0; f < operation->num_flags; f++) {
        struct option_row row = {"",   NULL, operation->flags[f].help, read_flag, &options->flag_given[f], FLAG,
                                 NULL, false};
        option_of(operation->flags[f].name, row.name);
        rows[count++] = row;
    }
    if (operation->asked_by != NULL) {
        const char *value = operation->asked_value;
        struct option_row row = {
            "",   value, "this operation", value != NULL ? read_operation : read_nothing, (void *)value, SHAPE,
            NULL, false};
        option_of(operation->asked_by, row.name);
        rows[count++] = row;
    }
    if (placement != NULL && placement->piece.name != NULL)
        rows[count++] = (struct option_row){"piece", "P[,P...]", placement->piece.help, read_pieces,
                                            NULL,    RUN,        &placement->piece,     false};
    for (int i = 0; placement != NULL && placement->options[i].name != NULL; i++) {
        const struct placement_option *own = &placement->options[i];
        struct option_row row = {"", own->argument, own->help, read_own, (void *)own, RUN, NULL, false};
        if (own->read != NULL)
            rows[count++] = row, strcpy(rows[count - 1].name, own->name);
    }
    if (operation_has_dtype(operation))
        rows[count++] = (struct option_row){
            "type",     "TYPE", "float32, bf16 or fp16: how the larger arrays are kept (default float32)",
            read_dtype, NULL,   RUN,
            NULL,       false};
    if (choice_any(operation) != 0 && placement == NULL)
        rows[count++] = (struct option_row){
            "with", "NAME[,NAME...]", "what may be left out, see below", read_text, &options->with, RUN, NULL, false};
    for (size_t i = 0; i < sizeof of_every_program / sizeof *of_every_program; i++)
        if (placement == NULL || of_every_program[i].part == RUN)
            rows[count++] = of_every_program[i];
    for (int a = 0; a < operation->num_arrays && placement == NULL; a++) {
        struct option_row row = {"",   operation->arrays[a].symbol, "", read_path, &options->files[a], FILES, NULL,
                                 false};
        option_of(operation->arrays[a].name, row.name);
        rows[count++] = row;
    }
    for (int i = 0; placement != NULL && placement->options[i].name != NULL; i++)
        for (int r = 0; r < count; r++)
            if (strcmp(rows[r].name, placement->options[i].name) == 0)
                rows[r].argument = placement->options[i].argument, rows[r].help = placement->options[i].help;
    return count;
}

/* ---- --help ---- */

/* The options for the arrays of a pass, as one would type them. */
static void print_files(const struct operation *operation, enum direction direction)
{
    char option[OPTION_TEXT];
    printf(" ");
    for (int a = 0; a < operation->num_arrays; a++) {
        const struct array *array = &operation->arrays[a];
        if (array_role(array, direction) != UNTOUCHED)
            printf(array->optional || array->goes_with != NULL ? " [--%s %s.npy]" : " --%s %s.npy",
                   option_of(array->name, option), array->symbol);
    }
    for (int f = 0; f < operation->num_flags; f++)
        printf(" [--%s]", option_of(operation->flags[f].name, option));
    printf("\n");
}

static bool same_shape(const struct array *a, const struct array *b)
{
    return a->num_dims == b->num_dims && a->extra == b->extra &&
           memcmp(a->dims, b->dims, (size_t)a->num_dims * sizeof *a->dims) == 0;
}

/* A line for each shape: the arrays that have it. */
static void print_shapes(const struct operation *operation)
{
    for (int a = 0; a < operation->num_arrays; a++) {
        const struct array *array = &operation->arrays[a];
        char text[SHAPE_TEXT];
        bool printed = false;
        for (int b = 0; b < a; b++)
            printed = printed || same_shape(&operation->arrays[b], array);
        if (printed)
            continue;
        printf("The shape of %s", array->symbol);
        for (int b = a + 1; b < operation->num_arrays; b++)
            if (same_shape(&operation->arrays[b], array))
                printf(", %s", operation->arrays[b].symbol);
        printf(" is %s.\n", array_shape_text(operation, array, text));
    }
}

/* What --with chooses from, and what happens without it. */
static void print_choices(const struct operation *operation)
{
    char names[CHOICE_TEXT], timed[CHOICE_TEXT];
    if (choice_any(operation) == 0)
        return;
    printf(
        "\n--with takes all, none, or some of %s: the flags that are on and the\n"
        "optional arrays that there are in all launches. Without it every kernel is checked with all of them that it\n"
        "takes, without each one and with none, on tiny shapes in all combinations, and timed with %s.\n%s",
        choice_text(operation, choice_any(operation), ',', names),
        choice_text(operation, choice_timed(operation), ',', timed),
        operation->num_flags != 0 ? "A flag that is given is always on.\n" : "");
}

/* What --type does, and to which arrays. */
static void print_types(const struct operation *operation)
{
    int named = 0;
    for (int a = 0; a < operation->num_arrays; a++)
        if (operation->arrays[a].stored)
            printf("%s%s", named++ == 0 ? "--type says how " : ", ", operation->arrays[a].symbol);
    if (named != 0)
        printf(" are kept; all others are float32. Files that are read may be float16,\n"
               "float32, float64 or integers, and are rounded to the type. Files that are written are float16 for "
               "fp16, and\n"
               "float32 for bf16, which NumPy does not have.\n");
}

/* What there is where the arrays are on the device: the choices, and the user's own arrays. */
static void print_own_arrays(const struct operation *operation)
{
    char option[OPTION_TEXT];
    print_choices(operation);
    printf("\nOn your own arrays (.npy), one kernel, forward or with --reverse:\n");
    print_files(operation, FORWARD);
    bool reads_written = false;
    for (int a = 0; a < operation->num_arrays; a++)
        reads_written =
            reads_written || (operation->arrays[a].forward == WRITTEN && operation->arrays[a].backward == READ);
    printf("and backward%s:\n", reads_written ? ", where what the forward pass has written is read" : "");
    print_files(operation, BACKWARD);
    print_shapes(operation);
    printf("Without %s, which is then 1, a dimension less will do.\n", operation->sizes[0].name);
    print_types(operation);

    printf("\nTo make such arrays and to look at them, without NumPy; nothing else is done then:\n"
           "  --fill PATTERN");
    for (int s = 0; s < operation->num_sizes; s++)
        printf(s == 0 ? " [--%s %s]" : " --%s %s", option_of(operation->sizes[s].name, option),
               operation->sizes[s].is_list ? "L" : "N");
    printf(" --%s %s.npy ...   write these files\n"
           "                        PATTERN: in each row zeros, ones, ramp (0 1 2 ...) or alternate (1 -1 1 -1 ...);\n"
           "                        or the array's first numbers, as in 3,1,4.5; the last one fills the rest\n"
           "  --print FILE.npy      print it, one row a line\n",
           option_of(operation->arrays[0].name, option), operation->arrays[0].symbol);
}

static void print_help(const char *program, const struct operation *operation, const struct option_row *rows, int count)
{
    const struct placement *placement = operation->placement;
    printf("usage: %s%s [options]\n\n", placement != NULL ? placement->launcher : "", program);
    if (placement != NULL)
        printf("%s\n\n", placement->purpose);
    else
        printf("Checks every kernel of %s (%s) against a loop in double precision, times it, and prints a table.\n\n",
               program, operation->name);
    for (int i = 0; i < count; i++)
        if (rows[i].part != FILES && rows[i].part != MAKE) {
            const int width = printf("  --%s %s", rows[i].name, rows[i].argument != NULL ? rows[i].argument : "");
            printf("%*s%s\n", width < 24 ? 24 - width : 3, "", rows[i].help);
        }
    if (placement == NULL)
        print_own_arrays(operation);
    if (operation->also != NULL)
        printf("\n%s\n", operation->also);
    printf("\nExit status: 0 all right, 1 a check or a launch failed, 2 wrong usage or input.\n");
}

/* ---- the command line ---- */

/* All words on one line. Returns NULL if there is no memory. */
static char *join_words(int argc, char **argv)
{
    size_t size = 1;
    for (int i = 0; i < argc; i++)
        size += strlen(argv[i]) + 1;
    char *text = calloc(size, 1), *at = text;
    for (int i = 0; text != NULL && i < argc; i++) {
        *at = ' ';
        at += i != 0;
        for (const char *from = argv[i]; *from != '\0'; from++)
            *at++ = (unsigned char)*from < ' ' ? ' ' : *from;
    }
    return text;
}

/* Whether the options that were given go together. Returns -1 to go on, or 2 after one line. */
static int check_together(const struct options *options, const struct option_row *rows, int count)
{
    const char *makes = options->fill != NULL ? "fill" : options->print != NULL ? "print" : NULL;
    const bool fill = options->fill != NULL;
    for (int i = 0; i < count && makes != NULL; i++)
        if (rows[i].given && strcmp(rows[i].name, makes) != 0 && rows[i].read != read_nothing &&
            rows[i].read != read_operation && !(fill && (rows[i].part == SHAPE || rows[i].part == FILES)))
            return usage_error("--%s does not go with --%s, which %s and does nothing else; leave one out",
                               rows[i].name, makes, fill ? "makes arrays" : "shows an array");
    if (options->resume && options->csv == NULL)
        return usage_error("--resume goes on with a file; name it with --csv");
    if (options->forward && options->backward)
        return usage_error("--forward and --backward exclude each other; give one of them");
    return -1;
}

int options_read(int argc, char **argv, const char *program, const struct operation *operation, struct options *options)
{
    enum { FIRST = 256 }; /* getopt's number of the first option; below are single characters */
    struct option_row rows[MAX_OPTIONS];
    struct option names[MAX_OPTIONS + 1] = {{NULL, 0, NULL, 0}};
    bool help = false;
    int number, status;

    memset(options, 0, sizeof *options);
    options->seed = 1;
    if ((options->command = join_words(argc, argv)) == NULL)
        return usage_error("out of memory");
    const int count = list_options(operation, options, &help, rows);
    for (int i = 0; i < count; i++)
        names[i] =
            (struct option){rows[i].name, rows[i].argument != NULL ? required_argument : no_argument, NULL, FIRST + i};
    opterr = 0;
    while ((number = getopt_long(argc, argv, ":", names, NULL)) != -1) {
        const char *word = argv[optind - 1];
        if (number == ':')
            return usage_error("%s needs a value; see --help", word);
        if (number < FIRST && optopt > 0 && optopt < FIRST)
            return usage_error("-%c is not an option; see --help", optopt);
        if (number < FIRST) /* unknown, or with a value that it does not take */
            return usage_error("%s is not an option; see --help", word);
        if (optarg != NULL && optarg == word && strncmp(optarg, "--", 2) == 0)
            return usage_error("%s needs a value, and %s looks like an option; see --help", argv[optind - 2], optarg);
        struct option_row *row = &rows[number - FIRST];
        row->given = true;
        if ((status = row->read(row, optarg, options)) >= 0)
            return status;
        if (help) {
            print_help(program, operation, rows, count);
            return 0;
        }
    }
    if (optind < argc)
        return usage_error("\"%s\" is not an option; see --help", argv[optind]);
    for (int s = 0; s < operation->num_sizes; s++)
        options->size_given[s] = rows[s].given;
    for (int f = 0; f < operation->num_flags; f++)
        options->flags |= options->flag_given[f] ? choice_of_flag(f) : 0;
    if (options->with != NULL && (status = choice_read(operation, options->with, &options->chosen)) != 0)
        return status;
    return check_together(options, rows, count);
}
