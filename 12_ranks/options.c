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
#include "ranks.h"

static const char help[] =
    "usage: mpirun -n RANKS 12_ranks [options]\n"
    "\n"
    "Checks every way to hand on what a rank's stretch of the sequences does against a loop in double precision,\n"
    "counts and times it, and prints a table.\n"
    "\n"
    "  --num-seqs N          number of sequences\n"
    "  --seq-len L[,L...]    elements per sequence, on all ranks together\n"
    "  --forward             the forward pass only\n"
    "  --reverse             only from the last element to the first\n"
    "  --backward            the backward pass only; with --reverse: of the reversed operation\n"
    "  --variant NAME        one way only, see --list\n"
    "  --seed S              seed of the test data (default 1)\n"
    "  --repeats R           timed runs per row\n"
    "  --check-only          check, do not count and time\n"
    "  --csv FILE            write the table there as CSV\n"
    "  --list                list the ways\n"
    "  --help                this text\n"
    "\n"
    "Exit status: 0 all right, 1 a check or a launch failed, 2 wrong usage or input.\n";

static int read_lengths(const char *text, struct ranks_options *options)
{
    unsigned long long number;
    for (options->num_lengths = 0; options->num_lengths < MAX_LENGTHS; text++) {
        if ((text = read_number(text, 0, SIZE_MAX / 16, &number)) == NULL || (*text != ',' && *text != '\0'))
            break;
        options->seq_len[options->num_lengths++] = (size_t)number;
        if (*text == '\0')
            return -1;
    }
    return usage_error("--seq-len takes a length or several, as in 16,1000; at most %d of them", MAX_LENGTHS);
}

static int read_way(const char *name, struct ranks_options *options)
{
    for (options->way = 0; chapter12_ways[options->way].name != NULL; options->way++)
        if (strcmp(chapter12_ways[options->way].name, name) == 0)
            return -1;
    return usage_error("there is no variant \"%s\"; --list names them", name);
}

static int list_ways(void)
{
    for (const struct way *way = chapter12_ways; way->name != NULL; way++)
        printf("%-10s %s%s\n", way->name, way->idea, way->is_partial ? " (partial, not checked)" : "");
    return 0;
}

int ranks_options_read(int argc, char **argv, struct ranks_options *options)
{
    enum { NUM_SEQS = 1, SEQ_LEN, FORWARD, REVERSE, BACKWARD, VARIANT, SEED, REPEATS, CHECK_ONLY, CSV, LIST, HELP };
    static const struct option names[] = {{"num-seqs", required_argument, NULL, NUM_SEQS},
                                          {"seq-len", required_argument, NULL, SEQ_LEN},
                                          {"forward", no_argument, NULL, FORWARD},
                                          {"reverse", no_argument, NULL, REVERSE},
                                          {"backward", no_argument, NULL, BACKWARD},
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

    *options = (struct ranks_options){.way = -1, .seed = 1};
#ifdef CUSIM
    options->num_seqs = 2, options->num_lengths = 3, options->repeats = 1;
    memcpy(options->seq_len, (size_t[]){5, 1001, 10007}, 3 * sizeof(size_t));
#else
    options->num_seqs = 4, options->num_lengths = 3, options->repeats = 25;
    memcpy(options->seq_len, (size_t[]){1 << 16, 1 << 22, 1 << 28}, 3 * sizeof(size_t));
#endif
    command_text(argc, argv, options->command, sizeof options->command);
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
            status = read_lengths(optarg, options);
            break;
        case VARIANT:
            status = read_way(optarg, options);
            break;
        case FORWARD:
            forward = true;
            break;
        case REVERSE:
            reverse = true;
            break;
        case BACKWARD:
            backward = true;
            break;
        case CHECK_ONLY:
            options->check_only = true;
            break;
        case CSV:
            if (strlen(optarg) >= sizeof options->csv)
                return usage_error("the name behind --csv is too long");
            strcpy(options->csv, optarg);
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
