// SPDX-License-Identifier: MIT
// undefined.cpp - findings of the compiler's own checks while a kernel runs (-fsanitize=..., cusim): an index past
// the end of an array, a pointer past the end of a variable, a function without a result. The compiler calls one of
// these functions, whose names and arguments it fixes (libubsan's, of which nothing else is needed).
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../machine/fault.h"
#include "../machine/locate.h"

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

// The line of the source that this place in the code comes from, with the file as seen from here; empty if that cannot
// be read.
static void source_line(const struct ubsan_place *at, const void *pc, char *line, int size)
{
    char path[600];
    line[0] = '\0';
    sim_locate((const char *)pc - 1, path, sizeof(path));
    if (char *colon = strrchr(path, ':'))
        *colon = '\0';
    FILE *file = fopen(path, "r");
    for (uint32_t i = 0; file != NULL && i < at->line; i++)
        if (fgets(line, size, file) == NULL)
            line[0] = '\0';
    if (file != NULL)
        fclose(file);
}

// The name of the array of which the line has elements, x in x[i] = x[i - 1] + x[i]; empty where there are several.
static void only_array(const struct ubsan_place *at, const void *pc, char *name, size_t size)
{
    char line[512];
    source_line(at, pc, line, sizeof(line));
    name[0] = '\0';
    for (const char *open = strchr(line, '['); open != NULL; open = strchr(open + 1, '[')) {
        const char *begin = open;
        while (begin > line && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
            begin--;
        const int length = (int)(open - begin);
        if (name[0] != '\0' && (strncmp(name, begin, length) != 0 || name[length] != '\0')) {
            name[0] = '\0';
            return;
        }
        snprintf(name, size, "%.*s", length, begin);
    }
}

// The expression that ends in the ] at this place, as the source has it: sums[warp][lane + 1]. Empty where the source
// cannot be read, or has something else there. `pc`: the same place in the code.
static void expression_at(const struct ubsan_place *at, const void *pc, char *text, size_t size)
{
    char line[512];
    source_line(at, pc, line, sizeof(line));
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
    const void *const pc = __builtin_return_address(0);
    const char *const dimension = strchr(found->array->name, '[');
    const long long last = dimension != NULL ? atoll(dimension + 1) - 1 : -1;
    long long i = value_of(found->index, index);
    char text[512];
    if (i >= 1LL << 31 && i < 1LL << 32) // a number below 0 that has lost its sign
        i -= 1LL << 32;
    expression_at(&found->at, pc, text, sizeof(text));
    int open = 0;
    char *array_end = text + strlen(text); // where the last [...] begins
    while (array_end > text && (open += (array_end[-1] == ']') - (array_end[-1] == '[')) > 0)
        array_end--;
    if (array_end > text)
        array_end[-1] = '\0';
    else
        only_array(&found->at, pc, text, sizeof(text));
    if (last < 0 && i >= 0) // of the host, whose size is known only here: only g++ knows it
        sim_fault_at(pc, "uses %s[%lld], past the end. Compare the index with the array's size",
                     text[0] != '\0' ? text : "array", i);
    if (text[0] == '\0')
        sim_fault_at(pc, "uses element %lld of an array %s, %s %lld)", i, found->array->name,
                     i < 0 ? "before the start (the first is" : "past the end (the last is", i < 0 ? 0 : last);
    sim_fault_at(pc, "uses %s[%lld], %s %s[%lld])", text, i,
                 i < 0 ? "before the start (the first is" : "past the end (the last is", text, i < 0 ? 0 : last);
}

[[noreturn]] void __ubsan_handle_type_mismatch_v1_abort(const struct ubsan_pointer *found, uintptr_t)
{
    char text[512];
    expression_at(&found->at, __builtin_return_address(0), text, sizeof(text));
    sim_fault_at(__builtin_return_address(0),
                 "%s%s%s past the end of a variable of the thread. Compare the index with the array's size",
                 found->use == 1 ? "writes " : "reads ", text[0] != '\0' ? text : found->type->name,
                 text[0] != '\0' ? "," : "");
}

// 16 bytes at a multiple of 8 may be two members of 8 bytes (observe.cpp). Only the compiler knows that they are a
// float4.
void __ubsan_handle_type_mismatch_v1(const struct ubsan_pointer *found, uintptr_t address)
{
    const unsigned align = 1u << found->log_align;
    char what[600];

    if (!sim_place.in_thread || align < 16)
        return;
    sim_region_describe((const void *)address, 0, what, sizeof(what));
    sim_fault_at(__builtin_return_address(0),
                 "%s %u bytes at %s, an address that is misaligned for its type. Align float4 to 16 bytes, float2 to 8",
                 found->use == 1 ? "writes" : "reads", align, what);
}

[[noreturn]] void __ubsan_handle_builtin_unreachable(const struct ubsan_place *)
{
    sim_fault_at(__builtin_return_address(0), "comes to a place that __builtin_unreachable says it never does");
}

[[noreturn]] void __ubsan_handle_missing_return(const struct ubsan_place *)
{
    sim_fault_at(__builtin_return_address(0), "a function that has a result ends without return");
}

} // extern "C"
