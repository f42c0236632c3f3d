/* SPDX-License-Identifier: MIT */
/* variables.cpp - variables of the device (__device__, __constant__, __managed__): memory for each, in a region of its
   own, and what host code may do with them.

   On a GPU host code has another variable of the same name, which holds nothing that counts. Here the two are one, so
   what host code does with it is told, unless it names it in a cudaMemcpyToSymbol or FromSymbol, or has asked
   cudaGetSymbolAddress for its address. */
#include <set>
#include <string.h>

#include "../include/cuda_runtime.h"
#include "../machine/announce.h"
#include "../machine/fault.h"
#include "../machine/image.h"
#include "../machine/region.h"
#include "host.h"
#include "memory.h"
#include "tasks.h"

static const size_t most_constant = 65536; /* bytes of a file that is compiled */
static size_t num_variables;
static const struct sim_region *too_much; /* the __constant__ variable with which there are too many of these, */
static size_t bytes_with_it;              /* so many; told by the first launch: before main no message can be said */

void sim_check_constants(void)
{
    if (too_much != NULL)
        sim_fault(too_much->file, too_much->line,
                  "with %s there are %zu bytes of __constant__ memory, more than %zu. Declare it __device__, or pass a "
                  "pointer to the kernel",
                  too_much->array_name, bytes_with_it, most_constant);
}

void *sim_make_variable(const char *name, sim_variable_kind kind, size_t size, const sim_shape *shape,
                        const void *first, bool fixed, const void *unit, const char *file, int line)
{
    static const void *last_unit;
    static size_t constant_bytes; /* of that */
    const sim_lock_guard guard;
    struct sim_region *const r = sim_region_create(size, 256, true);

    if (r == NULL)
        sim_fault(file, line, "no memory for the variable %s of %zu bytes. Free some memory", name, size);
    r->array_name = name;
    r->shape = *shape;
    r->shape.is_raw = false;
    r->file = file;
    r->line = line;
    r->is_variable = true;
    r->constant = kind == SIM_CONSTANT;
    r->host = r->managed = kind == SIM_MANAGED;
    r->fixed = fixed;
    num_variables++;
    if (first != NULL)
        memcpy(r->start, first, size);
    sim_tell.written(r, r->start, size);
    if (r->managed) {
        sim_has_managed = true;
        sim_num_lines++;
    }
    if (r->constant) {
        constant_bytes = (unit == last_unit ? constant_bytes : 0) + size;
        last_unit = unit;
        if (constant_bytes > most_constant && too_much == NULL) {
            too_much = r;
            bytes_with_it = constant_bytes;
        }
    }
    return r->start;
}

/* The variable there, if host code can only mean its own one of that name. */
static struct sim_region *hosts_variable(const void *address)
{
    struct sim_region *const r = num_variables > 0 && sim_maybe_region(address) ? sim_region_near(address) : NULL;

    return r != NULL && r->is_variable && !r->managed && !r->given && sim_region_holds(r, address, 0) ? r : NULL;
}

void sim_give_symbol(const void *start)
{
    const sim_lock_guard guard;
    struct sim_region *const r = sim_region_near(start);

    if (r != NULL)
        r->given = true;
}

/* Functions whose addresses copies have brought from the device. */
static std::set<const void *> &functions = *new std::set<const void *>();

void sim_check_function(const void *function, const sim_config *config)
{
    const sim_lock_guard guard;

    if (function != NULL && functions.count(function) == 0)
        sim_fault(config->file, config->line,
                  "the kernel gets the host's address of a function, which on a GPU has another one. Let a __device__ "
                  "variable hold the address, and copy it from there with cudaMemcpyFromSymbol");
}

void sim_refuse_object(const sim_config *config)
{
    const sim_lock_guard guard;
    sim_fault(
        config->file, config->line,
        "the kernel gets an object with virtual functions by value, whose table of functions is the host's: a GPU "
        "has another one. Let the kernel make it");
}

void sim_addresses_come(const void *bytes, size_t size)
{
    const char *address;

    for (size_t i = 0; num_variables > 0 && i + sizeof(address) <= size; i += sizeof(address)) {
        memcpy(&address, (const char *)bytes + i, sizeof(address));
        struct sim_region *const r = hosts_variable(address);
        if (r != NULL)
            r->given = true;
        if (address >= &__ehdr_start && address < &etext)
            functions.insert(address);
    }
}

void sim_check_address(const void *pointer, const char *instead)
{
    char what[600];

    if (hosts_variable(pointer) == NULL)
        return;
    sim_region_describe(pointer, 0, what, sizeof(what));
    sim_fault_at(sim_call.at,
                 "%s gets the host's address of %s, a variable of the device, which on a GPU has another one. Use %s",
                 sim_call.name, what, instead);
}

void sim_check_pointer(const volatile void *pointer, const sim_config *config)
{
    char what[600];

    if (num_variables == 0 || hosts_variable((const void *)pointer) == NULL)
        return;
    sim_region_describe((const void *)pointer, 0, what, sizeof(what));
    sim_fault(config->file, config->line,
              "the kernel gets the host's address of %s, a variable of the device, which on a GPU has another one. Ask "
              "cudaGetSymbolAddress for that, or use the variable in the kernel without passing it",
              what);
}
