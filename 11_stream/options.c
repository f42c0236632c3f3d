/* SPDX-License-Identifier: MIT */
/* options.c - see options.h. */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../common/base/error.h"
#include "../common/base/output.h"
#include "../common/harness/command_line.h"
#include "streams.h"

static const char help[] =
    "usage: 11_stream [options]\n"
    "\n"
    "Checks every way to compute the recurrence of arrays in the host's memory against a loop in double precision, "
    "counts\n"
    "what is copied and, on a GPU, times it, and prints a table.\n"
    "\n"
    "  --num-seqs N          number of sequences\n"
    "  --seq-len L[,L...]    elements per sequence\n"
    "  --piece P[,P...]      elements of an array that are on their way as one piece, at the most\n"
    "  --memory BYTES        of the device, which a way may take (default: what is free); with K, M or G behind: "
    "1024s\n"
    "  --forward             the forward pass only\n"
    "  --reverse             only from the last element to the first\n"
    "  --backward            the backward pass only; with --reverse: of the reversed operation\n"
    "  --variant NAME[,NAME...]   these ways only, see --list\n"
    "  --seed S              seed of the test data (default 1)\n"
    "  --repeats R           timed runs per row, on a GPU\n"
    "  --check-only          check, do not count and time\n"
    "  --csv FILE            write the table there as CSV\n"
    "  --list                list the ways\n"
    "  --help                this text\n"
    "\n"
    "Exit status: 0 all right, 1 a check or a launch failed, 2 wrong usage or input.\n";

static int read_numbers(const char *option, const char *text, size_t least, struct numbers *numbers)
{
    unsigned long long number;
    for (numbers->count = 0; numbers->count < MAX_NUMBERS; text++) {
        if ((text = read_number(text, least, SIZE_MAX / 64, &number)) == NULL || (*text != ',' && *text != '\0'))
            break;
        numbers->value[numbers->count++] = (size_t)number;
        if (*text == '\0')
            return -1;
    }
    return usage_error("%s takes a number from %zu on or several, as in 16,1000; at most %d of them", option, least,
                       MAX_NUMBERS);
}

/* Bytes, with a K, M or G behind. */
static int read_memory(const char *text, size_t *bytes)
{
    static const char units[] = "KMG";
    unsigned long long number;
    const char *end = read_number(text, 1, SIZE_MAX >> 32, &number);
    const char *const unit = end != NULL && *end != '\0' ? strchr(units, *end) : NULL;
    if (end == NULL || (*end != '\0' && (unit == NULL || end[1] != '\0')))
        return usage_error("--memory takes a number of bytes, as in 1000000, 512K, 64M or 8G");
    *bytes = (size_t)number << (unit != NULL ? 10 * (unit - units + 1) : 0);
    return -1;
}

static int read_variants(const char *names, struct stream_options *options)
{
    memset(options->variants, 0, sizeof options->variants);
    for (;;) {
        const size_t length = strcspn(names, ",");
        int i = 0;
        while (chapter11_ways[i].name != NULL &&
               (strlen(chapter11_ways[i].name) != length || strncmp(chapter11_ways[i].name, names, length) != 0))
            i++;
        if (chapter11_ways[i].name == NULL)
            return usage_error("there is no variant \"%.*s\"; --list names them", (int)length, names);
        options->variants[i] = true;
        if (names[length] == '\0')
            return -1;
        names += length + 1;
    }
}

static int list_ways(void)
{
    for (const struct way *way = chapter11_ways; way->name != NULL; way++)
        printf("%-14s %s%s\n", way->name, way->idea, way->is_partial ? " (partial, not checked)" : "");
    return 0;
}

static void set_defaults(int argc, char **argv, struct stream_options *options)
{
    *options = (struct stream_options){.seed = 1};
    memset(options->variants, true, sizeof options->variants);
#ifdef CUSIM
    options->num_seqs = 5, options->repeats = 1;
    options->seq_len = (struct numbers){{5, 1001}, 2};
    options->piece = (struct numbers){{1500}, 1};
#else
    options->num_seqs = 64, options->repeats = 11;
    options->seq_len = (struct numbers){{1 << 16, 1 << 20}, 2};
    options->piece = (struct numbers){{1 << 18, 1 << 20, 1 << 22, 1 << 24}, 4};
#endif
    command_text(argc, argv, options->command, sizeof options->command);
}

int stream_options_read(int argc, char **argv, struct stream_options *options)
{
    enum { NUM_SEQS = 1, SEQ_LEN, PIECE, MEMORY, FORWARD_ONLY, REVERSE_ONLY, BACKWARD_ONLY, VARIANT, SEED, REPEATS };
    enum { CHECK_ONLY = REPEATS + 1, CSV, LIST, HELP };
    static const struct option names[] = {{"num-seqs", required_argument, NULL, NUM_SEQS},
                                          {"seq-len", required_argument, NULL, SEQ_LEN},
                                          {"piece", required_argument, NULL, PIECE},
                                          {"memory", required_argument, NULL, MEMORY},
                                          {"forward", no_argument, NULL, FORWARD_ONLY},
                                          {"reverse", no_argument, NULL, REVERSE_ONLY},
                                          {"backward", no_argument, NULL, BACKWARD_ONLY},
                                          {"variant", required_argument, NULL, VARIANT},
                                          {"seed", required_argument, NULL, SEED},
                                          {"repeats", required_argument, NULL, REPEATS},
                                          {"check-only", no_argument, NULL, CHECK_ONLY},
                                          {"csv", required_argument, NULL, CSV},
                                          {"list", no_argument, NULL, LIST},
                                          {"help", no_argument, NULL, HELP},
                                          {NULL, 0, NULL, 0}};
    bool forward = false, reverse = false, backward = false;
    unsigned long long number;
    int which, status = -1;

    set_defaults(argc, argv, options);
    opterr = 0;
    while (status < 0 && (which = getopt_long(argc, argv, ":", names, NULL)) != -1) {
        const char *end = "";
        switch (which) {
        case NUM_SEQS:
            end = read_number(optarg, 0, INT_MAX / 4, &number), options->num_seqs = (size_t)number;
            break;
        case REPEATS:
            end = read_number(optarg, 1, 1000, &number), options->repeats = (int)number;
            break;
        case SEED:
            end = read_number(optarg, 0, UINT64_MAX, &number), options->seed = number;
            break;
        case SEQ_LEN:
            status = read_numbers("--seq-len", optarg, 0, &options->seq_len);
            break;
        case PIECE:
            status = read_numbers("--piece", optarg, 1, &options->piece);
            break;
        case MEMORY:
            status = read_memory(optarg, &options->memory);
            break;
        case VARIANT:
            status = read_variants(optarg, options);
            break;
        case FORWARD_ONLY:
            forward = true;
            break;
        case REVERSE_ONLY:
            reverse = true;
            break;
        case BACKWARD_ONLY:
            backward = true;
            break;
        case CHECK_ONLY:
            options->check_only = true;
            break;
        case CSV:
            options->csv = optarg;
            status = output_probe(optarg) != 0 ? 2 : -1;
            break;
        case LIST:
            return list_ways();
        case HELP:
            fputs(help, stdout);
            return 0;
        case ':':
            return usage_error("%s needs a value; see --help", argv[optind - 1]);
        default:
            return usage_error("%s is not an option; see --help", argv[optind - 1]);
        }
        if (status < 0 && (end == NULL || *end != '\0'))
            return usage_error("\"%s\" is not a number that this option takes; see --help", optarg);
    }
    if (status >= 0)
        return status;
    if (optind < argc)
        return usage_error("\"%s\" is not an option; see --help", argv[optind]);
    return choose_directions(forward, reverse, backward, options->directions);
}
