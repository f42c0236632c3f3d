/* options.c - see options.h */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "knobs.h"

/* A whole number of decimal digits alone, at most `most`. Returns false for anything else, also for "", "-1", " 1",
 * "1e6". */
static bool read_whole(const char *text, uint64_t most, uint64_t *value)
{
    if (*text == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    *value = strtoull(text, NULL, 10);
    return errno == 0 && *value <= most;
}

static int read_lengths(const char *text, struct options *options)
{
    char *copy = strdup(text), *rest = copy, *item;
    int status = copy == NULL ? usage_error("--seq-len: no memory for \"%s\"", text) : -1;
    options->num_seq_lens = 0;
    while (status < 0 && (item = strsep(&rest, ",")) != NULL) {
        uint64_t length;
        if (!read_whole(item, PTRDIFF_MAX, &length))
            status =
                usage_error("--seq-len: \"%s\" is not a length; give whole numbers, as in --seq-len 16,1000", item);
        else if (options->num_seq_lens == MAX_LENGTHS)
            status = usage_error("--seq-len: more than %d lengths; give fewer", MAX_LENGTHS);
        else
            options->seq_lens[options->num_seq_lens++] = (size_t)length;
    }
    free(copy);
    return status;
}

static void print_help(const struct linrec_chapter *chapter)
{
    printf(
        "usage: %s [options]\n"
        "\n"
        "Checks every kernel of chapter %s against a double-precision loop, times it, and prints a table.\n"
        "\n"
        "  --num-seqs N          number of sequences\n"
        "  --seq-len L[,L...]    elements per sequence\n"
        "  --forward             the forward pass only\n"
        "  --reverse             only from the last element to the first\n"
        "  --backward            the backward pass only; with --reverse: of the reversed recurrence\n"
        "  --variant NAME        one kernel only, see --list\n"
        "  --config rows=R,...   the shape of a kernel: one or more of rows, threads, stages; see --list\n"
        "  --seed S              seed of the test data (default 1)\n"
        "  --repeats R           timed launches per row\n"
        "  --check-only          check, do not time\n"
        "  --csv FILE            write the table there as CSV\n"
        "  --resume              with --csv: write it after every shape, and keep what an interrupted run has left\n"
        "  --list                list the kernels\n"
        "  --help                this text\n"
        "\n"
        "On your own arrays (.npy, 1-D: one sequence, or 2-D: num_seqs x seq_len), one kernel, forward or with "
        "--reverse:\n"
        "  --inputs X.npy --coeffs C.npy --outputs Y.npy\n"
        "and backward, where Y.npy is read:\n"
        "  --d-outputs DY.npy --coeffs C.npy --outputs Y.npy --d-inputs DX.npy --d-coeffs DC.npy\n"
        "\n"
        "To make such arrays and to look at them, without NumPy; nothing else is done then:\n"
        "  --fill PATTERN [--num-seqs N] --seq-len L --inputs X.npy ...   write these files; 1-D without --num-seqs.\n"
        "                        PATTERN: in each sequence zeros, ones, ramp (0 1 2 ...) or alternate (1 -1 1 -1 "
        "...);\n"
        "                        or the array's first numbers, as in 3,1,4.5; the last one fills the rest\n"
        "  --print FILE.npy      print it, one sequence a line\n"
        "\n"
        "Exit status: 0 all right, 1 a check or a launch failed, 2 wrong usage or input.\n",
        chapter->name, chapter->name);
}

int options_read(int argc, char **argv, const struct linrec_chapter *chapter, struct options *options)
{
    enum {
        NUM_SEQS = 1,
        SEQ_LEN,
        FORWARD,
        REVERSE,
        BACKWARD,
        VARIANT,
        CONFIG,
        SEED,
        REPEATS,
        CHECK_ONLY,
        CSV,
        RESUME,
        LIST,
        FILL,
        PRINT,
        HELP,
        INPUTS,
        COEFFS,
        OUTPUTS,
        D_OUTPUTS,
        D_INPUTS,
        D_COEFFS
    };
    static const struct option names[] = {
        {"num-seqs", required_argument, NULL, NUM_SEQS},
        {"seq-len", required_argument, NULL, SEQ_LEN},
        {"forward", no_argument, NULL, FORWARD},
        {"reverse", no_argument, NULL, REVERSE},
        {"backward", no_argument, NULL, BACKWARD},
        {"variant", required_argument, NULL, VARIANT},
        {"config", required_argument, NULL, CONFIG},
        {"seed", required_argument, NULL, SEED},
        {"repeats", required_argument, NULL, REPEATS},
        {"check-only", no_argument, NULL, CHECK_ONLY},
        {"csv", required_argument, NULL, CSV},
        {"resume", no_argument, NULL, RESUME},
        {"list", no_argument, NULL, LIST},
        {"fill", required_argument, NULL, FILL},
        {"print", required_argument, NULL, PRINT},
        {"help", no_argument, NULL, HELP},
        {"inputs", required_argument, NULL, INPUTS},
        {"coeffs", required_argument, NULL, COEFFS},
        {"outputs", required_argument, NULL, OUTPUTS},
        {"d-outputs", required_argument, NULL, D_OUTPUTS},
        {"d-inputs", required_argument, NULL, D_INPUTS},
        {"d-coeffs", required_argument, NULL, D_COEFFS},
        {NULL, 0, NULL, 0},
    };
    const char **files[] = {&options->inputs,    &options->coeffs,   &options->outputs,
                            &options->d_outputs, &options->d_inputs, &options->d_coeffs};
    const unsigned shape = 1u << NUM_SEQS | 1u << SEQ_LEN;
    const unsigned array_files =
        1u << INPUTS | 1u << COEFFS | 1u << OUTPUTS | 1u << D_OUTPUTS | 1u << D_INPUTS | 1u << D_COEFFS;
    unsigned given = 0; /* a bit for each option */
    uint64_t value;
    int option, status;

    memset(options, 0, sizeof *options);
    options->seed = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", names, NULL)) != -1) {
        if (optarg != NULL && optarg == argv[optind - 1] && strncmp(optarg, "--", 2) == 0)
            return usage_error("%s needs a value, and %s looks like an option; see --help", argv[optind - 2], optarg);
        given |= option > 0 && option <= D_COEFFS ? 1u << option : 0;
        switch (option) {
        case NUM_SEQS:
            if (!read_whole(optarg, PTRDIFF_MAX, &value))
                return usage_error("--num-seqs: \"%s\" is not a number of sequences; give a whole number", optarg);
            options->num_seqs = (size_t)value;
            options->num_seqs_given = true;
            break;
        case SEQ_LEN:
            if ((status = read_lengths(optarg, options)) >= 0)
                return status;
            break;
        case FORWARD:
            options->forward = true;
            break;
        case REVERSE:
            options->reverse = true;
            break;
        case BACKWARD:
            options->backward = true;
            break;
        case VARIANT:
            options->variant = optarg;
            break;
        case CONFIG:
            if ((status = knobs_read(optarg, &options->config)) >= 0)
                return status;
            break;
        case SEED:
            if (!read_whole(optarg, UINT64_MAX, &options->seed))
                return usage_error("--seed: \"%s\" is not a seed; give a whole number from 0 to 2^64 - 1", optarg);
            break;
        case REPEATS:
            if (!read_whole(optarg, 10000, &value) || value == 0)
                return usage_error("--repeats: \"%s\" is not a number of repeats; give one from 1 to 10000", optarg);
            options->repeats = (int)value;
            break;
        case CHECK_ONLY:
            options->check_only = true;
            break;
        case CSV:
            options->csv = optarg;
            break;
        case RESUME:
            options->resume = true;
            break;
        case LIST:
            options->list = true;
            break;
        case FILL:
            options->fill = optarg;
            break;
        case PRINT:
            options->print = optarg;
            break;
        case HELP:
            print_help(chapter);
            return 0;
        case INPUTS:
        case COEFFS:
        case OUTPUTS:
        case D_OUTPUTS:
        case D_INPUTS:
        case D_COEFFS:
            if (*optarg == '\0')
                return usage_error("--%s: the file name is empty; name a .npy file", names[option - 1].name);
            *files[option - INPUTS] = optarg;
            options->arrays = true;
            break;
        case ':':
            return usage_error("%s needs a value; see --help", argv[optind - 1]);
        default: /* a long option leaves optopt at 0, or at its number where it was given a value that it does not take
                  */
            if (optopt > HELP)
                return usage_error("-%c is not an option; see --help", optopt);
            return usage_error("%s is not an option; see --help", argv[optind - 1]);
        }
    }
    if (optind < argc)
        return usage_error("\"%s\" is not an option; see --help", argv[optind]);
    if (options->fill != NULL || options->print != NULL)
        for (int i = 0; names[i].name != NULL; i++) {
            const bool fill = options->fill != NULL;
            const unsigned allowed = fill ? 1u << FILL | shape | array_files : 1u << PRINT;
            if ((given & ~allowed & 1u << names[i].val) != 0)
                return usage_error("--%s does not go with --%s, which %s and does nothing else; leave one out",
                                   names[i].name, fill ? "fill" : "print", fill ? "makes arrays" : "shows an array");
        }
    if (options->csv != NULL && *options->csv == '\0')
        return usage_error("--csv: the file name is empty; name a file");
    if (options->resume && options->csv == NULL)
        return usage_error("--resume goes on with a file; name it with --csv");
    if (options->forward && options->backward)
        return usage_error("--forward and --backward exclude each other; give one of them");
    return -1;
}
