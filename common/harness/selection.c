/* SPDX-License-Identifier: MIT */
/* selection.c - see selection.h */
#include "selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "launch_config.h"
#include "placement.h"

/* ---- the tables ---- */

static bool is_named_in(const char *const names[8], const char *name)
{
    for (int i = 0; i < 8 && names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return names[0] == NULL;
}

/* Adds a table's kernels. `from`: the earlier chapter that has them; NULL: the chapter itself. Returns 0, or 2 after
   one line. */
static int add_table(struct selection *selection, const void *table, const struct compared *from)
{
    const char *row = table;
    for (; ((const struct kernel_info *)row)->name != NULL; row += selection->operation->row_bytes) {
        struct kernel kernel = {.info = (const struct kernel_info *)row};
        if (from != NULL && !is_named_in(from->variants, kernel.info->name))
            continue;
        struct kernel *all = realloc(selection->kernels, ((size_t)selection->num_kernels + 1) * sizeof *all);
        if (all == NULL)
            return usage_error("out of memory");
        selection->kernels = all;
        selection->operation->describe(row, &kernel);
        kernel.is_compared = from != NULL;
        kernel.is_default = kernel.info->is_default;
        kernel.chapter = from != NULL ? from->chapter : selection->chapter->name;
        snprintf(kernel.name, sizeof kernel.name, "%s%s%s", from != NULL ? from->chapter : "", from != NULL ? "/" : "",
                 kernel.info->name);
        all[selection->num_kernels++] = kernel;
    }
    return 0;
}

static int count_defaults(const struct selection *selection, const char *chapter)
{
    int count = 0;
    for (int k = 0; k < selection->num_kernels; k++)
        count += selection->kernels[k].is_default && strcmp(selection->kernels[k].chapter, chapter) == 0;
    return count;
}

/* One kernel runs on the user's own arrays: of the chapter's own table, or else of the last chapter compared with.
   Returns 0, or 2 after one line. */
static int choose_default(struct selection *selection)
{
    const char *table = selection->chapter->name;
    if (selection->operation->placement != NULL) /* it takes no arrays of the user's */
        return 0;
    if (count_defaults(selection, table) == 0)
        for (const struct compared *from = selection->chapter->compares_with; from->chapter != NULL; from++)
            table = from->chapter;
    const int count = count_defaults(selection, table);
    if (count != 1)
        return usage_error("the table of %s has %d default rows; mark one, and no other, with is_default", table,
                           count);
    for (int k = 0; k < selection->num_kernels; k++)
        if (strcmp(selection->kernels[k].chapter, table) != 0)
            selection->kernels[k].is_default = false;
    return 0;
}

int selection_collect(struct selection *selection, const struct chapter *chapter, const struct options *options,
                      const struct machine *machine)
{
    int status = 0;
    memset(selection, 0, sizeof *selection);
    selection->chapter = chapter;
    selection->operation = chapter->operation;
    selection->options = options;
    selection->machine = machine;
    selection->chosen = options->with != NULL ? options->chosen : choice_timed(chapter->operation);
    selection->chosen |= options->flags;
    for (const struct compared *from = chapter->compares_with; from->chapter != NULL && status == 0; from++)
        status = add_table(selection, from->kernels, from);
    if (status == 0)
        status = add_table(selection, chapter->kernels, NULL);
    return status == 0 ? choose_default(selection) : status;
}

void selection_free(struct selection *selection)
{
    free(selection->kernels);
    free(selection->shapes.sizes);
}

bool selection_compares(const struct selection *selection)
{
    return selection->chapter->compares_with[0].chapter != NULL;
}

void selection_list(const struct selection *selection)
{
    const struct placement *placement = selection->operation->placement;
    char tunable[LAUNCH_CONFIG_TEXT];
    for (int k = 0; k < selection->num_kernels; k++) {
        const struct kernel *kernel = &selection->kernels[k];
        printf("%-*s %s%s",
               placement != NULL               ? placement->name_width
               : selection_compares(selection) ? 27
                                               : 14,
               kernel->name, kernel->info->idea, kernel->is_default ? " (default)" : "");
        if (kernel->info->partial)
            printf(placement != NULL ? " (partial, not checked)" : " (partial)");
        if (*kernel->limits != '\0')
            printf(" (%s)", kernel->limits);
        if (kernel->info->float32_only)
            printf(" (float32)");
        if (kernel->info->bits16_only)
            printf(" (bf16, fp16)");
        if (kernel->info->min_arch != 0)
            printf(" (needs sm_%d)", kernel->info->min_arch);
        if (*launch_tunables_text(&kernel->info->tunable, tunable) != '\0')
            printf(" (%s)", tunable);
        printf("\n");
    }
}

/* ---- what runs ---- */

static bool is_called(const struct kernel *kernel, const char *name, size_t length)
{
    return strlen(kernel->name) == length && strncmp(kernel->name, name, length) == 0;
}

/* Whether --variant names it, alone or as one of several. */
static bool is_named(const struct selection *selection, const struct kernel *kernel)
{
    const char *name = selection->options->variant;
    while (name != NULL && !is_called(kernel, name, strcspn(name, ",")))
        if (*(name = strchrnul(name, ',')) == ',')
            name++;
        else
            return false;
    return true;
}

/* Each name of --variant must be a kernel's. Returns 0, or 2 after one line. */
static int check_names(const struct selection *selection)
{
    for (const char *name = selection->options->variant; name != NULL;) {
        const int length = (int)strcspn(name, ",");
        bool found = false;
        for (int k = 0; k < selection->num_kernels && !found; k++)
            found = is_called(&selection->kernels[k], name, (size_t)length);
        if (!found)
            return usage_error("there is no variant \"%.*s\"; --list names them", length, name);
        name = name[length] == ',' ? name + length + 1 : NULL;
    }
    return 0;
}

bool selection_wants(const struct selection *selection, const struct kernel *kernel)
{
    return is_named(selection, kernel) && launch_tunables_take(&kernel->info->tunable, &selection->options->config);
}

/* Whether the chip, or what the code is compiled for, lacks what the kernel needs. */
static bool chip_lacks(const struct selection *selection, const struct kernel *kernel, char *why, size_t size)
{
    const struct machine *machine = selection->machine;
    if (machine->backend == ON_CPU || kernel->info->min_arch <= machine->arch)
        return false;
    snprintf(why, size, "%s needs sm_%d, this is compiled for sm_%d and the device is sm_%d%d", kernel->name,
             kernel->info->min_arch, machine->arch, machine->device.major, machine->device.minor);
    return true;
}

bool selection_refuses(const struct selection *selection, const struct kernel *kernel, const size_t sizes[MAX_SIZES],
                       char *why, size_t size)
{
    if (chip_lacks(selection, kernel, why, size))
        return true;
    const int used = snprintf(why, size, "%s ", kernel->name);
    if (kernel->info->float32_only && selection->options->dtype != FLOAT32) {
        snprintf(why + used, size - (size_t)used, "takes float32, not %s", dtype_name(selection->options->dtype));
        return true;
    }
    if (kernel->info->bits16_only && selection->options->dtype == FLOAT32) {
        snprintf(why + used, size - (size_t)used, "takes bf16 and fp16, not float32");
        return true;
    }
    if ((kernel->lacks & selection->chosen) != 0) {
        char names[CHOICE_TEXT];
        snprintf(why + used, size - (size_t)used, "does not take %s",
                 choice_text(selection->operation, kernel->lacks & selection->chosen, ',', names));
        return true;
    }
    return selection->operation->refuses != NULL &&
           selection->operation->refuses(kernel->info, sizes, why + used, size - (size_t)used);
}

bool selection_runs(const struct selection *selection, const struct kernel *kernel, enum direction direction,
                    const size_t sizes[MAX_SIZES])
{
    char why[256];
    return selection_wants(selection, kernel) && kernel->runs[direction] &&
           !selection_refuses(selection, kernel, sizes, why, sizeof why);
}

/* One line for a kernel that does not take what --config gives. Returns 2. */
static int refuse_config(const struct selection *selection, const struct kernel *kernel)
{
    char given[LAUNCH_CONFIG_TEXT], takes[LAUNCH_CONFIG_TEXT];
    launch_config_text(&selection->options->config, ',', given);
    if (*launch_tunables_text(&kernel->info->tunable, takes) == '\0')
        return usage_error("%s leaves no choice of rows, threads or stages; choose a variant that does, see --list",
                           kernel->name);
    return usage_error("%s takes %s; it does not take %s", kernel->name, takes, given + 1);
}

int selection_check(struct selection *selection, enum direction asked)
{
    const struct options *options = selection->options;
    const bool narrowed = options->forward || options->reverse || options->backward || options->any_file;
    const struct kernel *named = NULL;
    char why[256], given[LAUNCH_CONFIG_TEXT];
    int num_wanted = 0;
    bool runs = false;

    memset(selection->directions, 0, sizeof selection->directions);
    for (int k = 0; k < selection->num_kernels; k++) {
        const struct kernel *kernel = &selection->kernels[k];
        if (is_named(selection, kernel))
            named = kernel;
        if (!selection_wants(selection, kernel))
            continue;
        num_wanted++;
        for (enum direction d = 0; d < NUM_DIRECTIONS; d++)
            if (kernel->runs[d] && (!narrowed || d == asked))
                selection->directions[d] = runs = true;
    }
    if (check_names(selection) != 0)
        return 2;
    if (num_wanted == 0 && options->variant != NULL)
        return refuse_config(selection, named);
    if (num_wanted == 0)
        return usage_error("no variant takes %s; --list shows what each takes",
                           launch_config_text(&options->config, ',', given) + 1);
    if (!runs)
        return usage_error("%s%s%s does not run %s; leave the option out, or see the chapters in README.md",
                           selection->chapter->name, options->variant != NULL ? ", variant " : "",
                           options->variant != NULL ? options->variant : "", pass_name(selection->operation, asked));
    for (int k = 0; k < selection->num_kernels && options->variant != NULL; k++)
        if (is_named(selection, &selection->kernels[k]) &&
            chip_lacks(selection, &selection->kernels[k], why, sizeof why))
            return usage_error("%s; choose another variant", why);
    return 0;
}

/* ---- shapes ---- */

/* The number of the size whose option takes a list, -1 if there is none. */
static int list_size(const struct operation *operation)
{
    for (int s = 0; s < operation->num_sizes; s++)
        if (operation->sizes[s].is_list)
            return s;
    return -1;
}

/* Adds the shape `sizes` with all that the options say in place of its own. */
static void add_shape(struct selection *selection, const size_t sizes[MAX_SIZES])
{
    const struct options *options = selection->options;
    const int list = list_size(selection->operation);
    size_t shape[MAX_SIZES];
    memcpy(shape, sizes, sizeof shape);
    for (int s = 0; s < selection->operation->num_sizes; s++)
        if (options->size_given[s])
            shape[s] = options->sizes[s];
    if (selection->operation->settle != NULL)
        selection->operation->settle(shape, options->size_given);
    if (options->num_list == 0)
        shapes_add(&selection->shapes, shape);
    for (int i = 0; i < options->num_list; i++) {
        shape[list] = options->list[i];
        shapes_add(&selection->shapes, shape);
    }
}

/* Whether some wanted kernel can run the shape, in any direction; else why not. */
static bool anyone_takes(const struct selection *selection, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    for (int k = 0; k < selection->num_kernels; k++)
        if (selection_wants(selection, &selection->kernels[k]) &&
            !selection_refuses(selection, &selection->kernels[k], sizes, why, size))
            return true;
    return false;
}

int selection_shapes(struct selection *selection)
{
    const struct chapter *chapter = selection->chapter;
    const struct options *options = selection->options;
    const int list = list_size(selection->operation);
    struct shapes defaults = {NULL, 0};
    char why[256] = "";
    bool any = false;
    selection->shapes_named = options->num_list > 0;

    (chapter->default_shapes != NULL ? chapter->default_shapes
                                     : selection->operation->default_shapes)(selection->machine, &defaults);
    for (int i = 0; i < defaults.count; i++)
        add_shape(selection, defaults.sizes[i]);
    free(defaults.sizes);

    /* some kernel must take each value of a list that was given, and a named kernel, or a given size, some shape */
    const struct shapes *shapes = &selection->shapes;
    for (int v = 0; v < options->num_list; v++) {
        bool taken = false;
        for (int i = 0; i < shapes->count && !taken; i++)
            taken = shapes->sizes[i][list] == options->list[v] &&
                    anyone_takes(selection, shapes->sizes[i], why, sizeof why);
        if (!taken)
            return usage_error("%s; choose another shape or variant", why);
    }
    for (int i = 0; i < shapes->count && !any; i++)
        any = anyone_takes(selection, shapes->sizes[i], why, sizeof why);
    for (int s = 0; s < selection->operation->num_sizes; s++)
        selection->shapes_named = selection->shapes_named || options->size_given[s];
    if (!any && (options->variant != NULL || options->with != NULL || selection->shapes_named))
        return usage_error("%s; choose another shape or variant", why);
    return 0;
}

/* ---- the user's own arrays ---- */

const struct kernel *selection_for_arrays(const struct selection *selection, enum direction direction,
                                          const size_t sizes[MAX_SIZES])
{
    const struct options *options = selection->options;
    const struct kernel *kernel = NULL;
    char why[256];
    if (options->variant != NULL && strchr(options->variant, ',') != NULL) {
        usage_error("arrays are given to one kernel; name one variant");
        return NULL;
    }
    for (int k = 0; k < selection->num_kernels; k++)
        if (options->variant != NULL ? is_named(selection, &selection->kernels[k]) : selection->kernels[k].is_default)
            kernel = &selection->kernels[k];
    if (!launch_tunables_take(&kernel->info->tunable, &options->config))
        refuse_config(selection, kernel);
    else if (!kernel->runs[direction])
        usage_error("%s does not run %s; choose another variant", kernel->name,
                    pass_name(selection->operation, direction));
    else if (selection_refuses(selection, kernel, sizes, why, sizeof why))
        usage_error("%s; choose another variant", why);
    else
        return kernel;
    return NULL;
}
