/* SPDX-License-Identifier: MIT */
/* image.cpp - the program's own data that watched code may not touch: the linker's tables, what lies behind two
   places in .data and .bss, and in host code what lies on the stack from a third one on. */
#include "image.h"

#include <initializer_list>
#include <stdio.h>
#include <string.h>

#include "../counts.h"
#include "../include/cuda_runtime.h"
#include "shortcuts.h"
#include "sizes.h"

extern "C" char __data_start[] __attribute__((weak)), _DYNAMIC[] __attribute__((weak));

const char *sim_image_end = &end;
bool sim_has_private;
static const char *private_data = &edata, *private_bss = &end, *private_stack;

void sim_protect(const void *data, const void *bss, const void *stack)
{
    sim_has_private = true;
    sim_shortcuts_forget();
    private_data = (const char *)data;
    private_bss = (const char *)bss;
    private_stack = (const char *)stack;
    sim_image_end = __data_start != NULL && _DYNAMIC != NULL ? _DYNAMIC : private_data;
}

static bool lies_in(const char *p, const void *start, size_t size)
{
    return (size_t)(p - (const char *)start) < size;
}

bool sim_is_private_data(const char *p)
{
    if (p < __data_start || (p >= private_data && p < &edata) || p >= private_bss)
        return !lies_in(p, &threadIdx, sizeof(threadIdx)) && !lies_in(p, &blockIdx, sizeof(blockIdx)) &&
               !lies_in(p, &blockDim, sizeof(blockDim)) && !lies_in(p, &gridDim, sizeof(gridDim));
    return false;
}

bool sim_is_private_stack(const char *p)
{
    return lies_in(p, private_stack, private_stack == NULL ? 0 : SIM_HOST_STACK);
}

bool sim_is_private(const void *start, size_t size)
{
    for (const char *p : {(const char *)start, (const char *)start + size - 1})
        if (p >= sim_image_end && p < &end ? sim_is_private_data(p) : sim_is_private_stack(p))
            return true;
    return false;
}

const char *sim_host_memory(const void *address)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    const char *found = NULL;
    char line[512];
    unsigned long first, last;
    char readable;

    while (maps != NULL && found == NULL && fgets(line, sizeof(line), maps) != NULL)
        if (sscanf(line, "%lx-%lx %c", &first, &last, &readable) == 3 && readable == 'r' &&
            (unsigned long)address >= first && (unsigned long)address < last)
            found = strstr(line, "[stack]") != NULL ? "a local variable" : "of malloc, new or a std::vector";
    if (maps != NULL)
        fclose(maps);
    return found;
}
