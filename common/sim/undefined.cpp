// SPDX-License-Identifier: MIT
// undefined.cpp - what the compiler's own checks find while a kernel runs (-fsanitize=..., cusim): an index past
// the end of an array, a pointer past the end of a variable. The compiler calls one of these functions, whose names and
// arguments it fixes (libubsan's, of which nothing else is needed).
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

extern "C" {

struct ubsan_place {
    const char *file;
    uint32_t line, column;
};
struct ubsan_type { // an array's element and size, in words: 'float [4]'
    uint16_t kind;  // 0: an integer, else something that has no value here
    uint16_t info;  // of an integer: 2 x log2 of its bits, and 1 if it has a sign
    char name[1];
};
struct ubsan_index {
    struct ubsan_place at;
    const struct ubsan_type *array, *index;
};
struct ubsan_pointer {
    struct ubsan_place at;
    const struct ubsan_type *type;
    unsigned char log_align, use; // use: 1 for a store
};

// A value of up to 64 bits lies in the argument itself.
static long long value_of(const struct ubsan_type *type, uintptr_t value)
{
    const int bits = 1 << (type->info >> 1);
    if (type->kind != 0 || bits >= 64)
        return (long long)value;
    const uintptr_t low = value & (((uintptr_t)1 << bits) - 1);
    return (type->info & 1) && (low >> (bits - 1)) != 0 ? (long long)(low | ~(((uintptr_t)1 << bits) - 1))
                                                        : (long long)low;
}

// The expression that ends in the ] at this place, as the source has it: sums[warp][lane + 1]. Empty where the source
// cannot be read, or has something else there.
static void expression_at(const struct ubsan_place *at, char *text, size_t size)
{
    char line[512] = "";
    const char *path = at->file;
    while (strncmp(path, "../", 3) == 0) // as seen from the root, where programs run
        path += 3;
    FILE *file = fopen(path, "r");
    for (uint32_t i = 0; file != NULL && i < at->line; i++)
        if (fgets(line, sizeof(line), file) == NULL)
            line[0] = '\0';
    if (file != NULL)
        fclose(file);
    text[0] = '\0';
    if (at->column == 0 || at->column > strlen(line) || line[at->column - 1] != ']')
        return;
    int begin = (int)at->column, open = 0; // walks back over [...] and what they belong to
    while (begin > 0) {
        const char c = line[begin - 1];
        open += c == ']' || c == ')' ? 1 : c == '[' || c == '(' ? -1 : 0;
        if (open < 0 || (open == 0 && !isalnum((unsigned char)c) && strchr("_[](.>-", c) == NULL))
            break;
        begin--;
    }
    snprintf(text, size, "%.*s", (int)at->column - begin, line + begin);
}

[[noreturn]] void __ubsan_handle_out_of_bounds_abort(const struct ubsan_index *found, uintptr_t index)
{
    char text[512];
    expression_at(&found->at, text, sizeof(text));
    const char *const dimension = strchr(found->array->name, '[');
    sim_fault_at(__builtin_return_address(0), "%s%stakes element %lld of an array %s. Its last one is %lld", text,
                 text[0] != '\0' ? " " : "", value_of(found->index, index), found->array->name,
                 dimension != NULL ? atoll(dimension + 1) - 1 : -1);
}

[[noreturn]] void __ubsan_handle_type_mismatch_v1_abort(const struct ubsan_pointer *found, uintptr_t)
{
    char text[512];
    expression_at(&found->at, text, sizeof(text));
    sim_fault_at(__builtin_return_address(0),
                 "%s%s%s past the end of a variable of the thread. Compare the index with the array's size",
                 found->use == 1 ? "writes " : "reads ", text[0] != '\0' ? text : found->type->name,
                 text[0] != '\0' ? "," : "");
}

} // extern "C"
