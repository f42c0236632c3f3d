/* SPDX-License-Identifier: MIT */
/* image.h - the program's own data that watched code may not touch (sim_protect, counts.h). */
#ifndef SIM_IMAGE_H
#define SIM_IMAGE_H

#include <stddef.h>

/* set by the linker: first byte, end of code and end of data of what it links, a program or a shared library */
extern "C" char __ehdr_start, etext, edata, end;

extern const char *sim_image_end; /* up to here all of the program's data is free */

extern bool sim_has_private; /* some of it, or of the host's stack, is not */

/* Whether a byte of the program's data, or of the host's stack, is not. The third one: a part of some host memory. */
bool sim_is_private_data(const char *p);
bool sim_is_private_stack(const char *p);
bool sim_is_private(const void *start, size_t size);

/* What memory of the host lies there, for messages: "a local variable"; NULL: none. */
const char *sim_host_memory(const void *address);

#endif
