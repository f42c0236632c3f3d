/* SPDX-License-Identifier: MIT */
/* choice.c - see choice.h */
#include "choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"

choice choice_all(const struct operation *operation, enum direction direction)
{
    choice all = 0;
    for (int f = 0; f < operation->num_flags; f++)
        all |= choice_of_flag(f);
    for (int a = 0; a < operation->num_arrays; a++)
        if (operation->arrays[a].optional && array_role(&operation->arrays[a], direction) != UNTOUCHED)
            all |= choice_of_array(a);
    return all;
}

choice choice_any(const struct operation *operation)
{
    return choice_all(operation, FORWARD) | choice_all(operation, BACKWARD);
}

choice choice_timed(const struct operation *operation)
{
    choice timed = 0;
    for (int f = 0; f < operation->num_flags; f++)
        timed |= operation->flags[f].timed ? choice_of_flag(f) : 0;
    for (int a = 0; a < operation->num_arrays; a++)
        timed |= operation->arrays[a].timed ? choice_of_array(a) : 0;
    return timed & choice_any(operation);
}

bool choice_is_told(const struct operation *operation, choice chosen)
{
    return choice_timed(operation) != 0 || chosen != 0;
}

bool choice_has(const struct operation *operation, choice chosen, int a)
{
    const struct array *array = &operation->arrays[a];
    if (array->optional)
        return (chosen & choice_of_array(a)) != 0;
    for (int b = 0; b < operation->num_arrays && array->goes_with != NULL; b++)
        if (strcmp(operation->arrays[b].name, array->goes_with) == 0)
            return (chosen & choice_of_array(b)) != 0;
    return true;
}

bool choice_has_baseline(const struct operation *operation, choice chosen, const struct baseline *baseline)
{
    for (int i = 0; i < baseline_num_arrays(baseline); i++)
        if (!choice_has(operation, chosen, baseline->arrays[i]))
            return false;
    return baseline_num_arrays(baseline) != 0;
}

/* The name of a bit, NULL for a bit that means nothing. */
static const char *name_of(const struct operation *operation, int bit)
{
    if ((choice_any(operation) >> bit & 1) == 0)
        return NULL;
    return bit < MAX_FLAGS ? operation->flags[bit].name : operation->arrays[bit - MAX_FLAGS].name;
}

int choice_read(const struct operation *operation, const char *text, choice *chosen)
{
    char names[CHOICE_TEXT];
    *chosen = 0;
    if (strcmp(text, "all") == 0)
        *chosen = choice_any(operation);
    if (strcmp(text, "all") == 0 || strcmp(text, "none") == 0)
        return 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        choice found = 0;
        for (int bit = 0; bit < MAX_FLAGS + MAX_ARRAYS; bit++) {
            const char *name = name_of(operation, bit);
            if (name != NULL && strlen(name) == length && strncmp(name, at, length) == 0)
                found = (choice)1 << bit;
        }
        if (found == 0)
            return usage_error("--with: \"%.*s\" is nothing to choose; give all, none, or some of %s", (int)length, at,
                               choice_text(operation, choice_any(operation), ',', names));
        *chosen |= found;
        at += length;
        if (*at == '\0')
            return 0;
    }
}

const char *choice_text(const struct operation *operation, choice chosen, char between, char text[CHOICE_TEXT])
{
    int used = 0;
    for (int bit = 0; bit < MAX_FLAGS + MAX_ARRAYS; bit++) {
        const char *name = name_of(operation, bit);
        if (name != NULL && (chosen >> bit & 1) != 0 && used + (int)strlen(name) + 2 < CHOICE_TEXT)
            used += sprintf(text + used, "%.*s%s", used != 0, &between, name);
    }
    return used != 0 ? text : strcpy(text, "none");
}

static int add_choice(choice list[MAX_CHOICES], int count, choice one)
{
    for (int i = 0; i < count; i++)
        if (list[i] == one)
            return count;
    list[count] = one;
    return count + 1;
}

int choice_list(const struct operation *operation, enum direction direction, choice fixed, choice also, bool every,
                choice list[MAX_CHOICES])
{
    const choice all = choice_all(operation, direction), open = all & ~fixed;
    int count = 0, num_open = 0;
    for (choice rest = open; rest != 0; rest &= rest - 1)
        num_open++;
    if (every && 1 << num_open <= MAX_CHOICES) {
        for (choice part = open; count < 1 << num_open; part = (part - 1) & open) /* all parts of `open`, downwards */
            list[count++] = part | (fixed & all);
        return count;
    }
    count = add_choice(list, count, all);
    for (choice rest = open; rest != 0; rest &= rest - 1)
        count = add_choice(list, count, all & ~(rest & ~(rest - 1))); /* without the lowest bit of the rest */
    count = add_choice(list, count, fixed & all);
    return add_choice(list, count, (also | fixed) & all);
}
