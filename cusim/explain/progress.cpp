/* SPDX-License-Identifier: MIT */
/* progress.cpp - says on a terminal how far a launch is that takes long:

       cusim: kernel product, launched at tiled.cu:30: 1312 of 4096 blocks

   From two seconds of processor time on, once a second (message.cpp has the timer). The line goes when the launch ends,
   or when a kernel prints something, or an error is said. A file or a pipe gets none. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../include/cuda_runtime.h"
#include "../machine/announce.h"
#include "../machine/cores.h"
#include "../machine/fault.h"

static const unsigned patience = 2; /* seconds */
static const char erase[] = "\r\033[K";

static bool on_terminal, shown;
static unsigned seconds; /* that the launch has taken */

/* What a terminal does not take is not said. */
static void say(const char *text, size_t length)
{
    if (write(STDERR_FILENO, text, length) < 0)
        on_terminal = false;
}

void sim_hide_progress(void)
{
    if (shown)
        say(erase, sizeof(erase) - 1);
    shown = false;
}

void sim_show_progress(void)
{
    char line[200], text[100];

    if (!on_terminal || sim_place.kernel == NULL || ++seconds < patience)
        return;
    snprintf(line, sizeof(line), "cusim: kernel %.24s, launched at %.24s:%d: %llu of %llu blocks", sim_place.name,
             strrchr(sim_place.file, '/') != NULL ? strrchr(sim_place.file, '/') + 1 : sim_place.file, sim_place.line,
             (unsigned long long)sim_blocks_done(), (unsigned long long)gridDim.x * gridDim.y * gridDim.z);
    snprintf(text, sizeof(text), "%s%.79s", erase, line); /* a terminal erases one line */
    say(text, strlen(text));
    shown = true;
}

__attribute__((constructor(102))) static void subscribe(void)
{
    on_terminal = isatty(STDERR_FILENO);
    if (!on_terminal)
        return;
    sim_tell.launch_begins.add([](const void *, size_t) { seconds = 0; });
    sim_tell.launch_ends.add([](struct sim_counts *) { sim_hide_progress(); });
    sim_tell.process_begins.add([] { on_terminal = shown = false; }); /* one process says it for all */
    sim_tell.printed.add([](const char *) { sim_hide_progress(); });
}
