/* SPDX-License-Identifier: MIT */
/* locate.h - from addresses in the machine code to lines of the source. */
#ifndef SIM_LOCATE_H
#define SIM_LOCATE_H

#include <stddef.h>
#include <stdint.h>

/* The source position of a code address, "scan.cu:50", or the address itself where that is unknown. */
void sim_locate(const void *address, char *text, size_t size);

/* The same as its reader looks for it: where it is in a function of a header, `place` is the line of the program that
   calls it, if the compiler has made the function a part of its caller or it runs right now, and `header` that in the
   header; else that is empty. The second one has both in a text, "scan.cu:50 (in warp_scan.cuh:31)". */
void sim_locate_both(const void *address, char *place, char *header, size_t size);
void sim_locate_call(const void *address, char *text, size_t size);

/* Positions of many addresses at once, with the names of their functions. */
struct sim_located {
    const void *address;
    char function[256], place[256];
};
void sim_locate_all(struct sim_located *list, size_t count);

/* Function and position of the first of some nested frames that is not the simulator's own, nor in a header if there is
   one that is not; false: none. */
bool sim_locate_frames(const void *const *addresses, int count, char *function, char *place, size_t size);

/* The running stack from the frame of that address on, the innermost first; the frames around it as addresses of their
   calls. Returns how many, 0 if the address is not on it. */
int sim_stack_from(const void *address, const void **frames, int most);

/* Whether a source is one of the simulator's, wherever its folder lies. */
bool sim_is_own(const char *path);

/* The file that the program, or the shared library with the simulator in it, was read from, and how far it was moved
   from the addresses that its symbols have. Returns false if that is not known. */
bool sim_find_program(char *file, size_t size, uintptr_t *offset);

/* The path of a file of cusim's, "compile/variables.pl": beside an installed cusim, or in the checkout that the program
   was built in. Returns false if it is not there. */
bool sim_find_own(const char *file, char *path, size_t size);

void sim_shorten_name(char *name);  /* "void scan<4>(float const*, int)" becomes "scan<4>" */
void sim_shorten_paths(char *text); /* as a reader would write them: a/../b/c.cuh is b/c.cuh */

#endif
