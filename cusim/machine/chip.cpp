/* SPDX-License-Identifier: MIT */
/* chip.cpp - the chip that is simulated. Chips differ in what a program asks about; the rest is in sizes.h. */
#include "chip.h"

#include <stdio.h>
#include <string.h>

#include "settings.h"

/* Chips that CUSIM_CHIP names; a file that it names has its compute capability (estimate/chips). */
static constexpr struct sim_chip chips[] = {{"h200", 9, 0, 227 << 10, 228 << 10},
                                            {"h100", 9, 0, 227 << 10, 228 << 10},
                                            {"l4", 8, 9, 99 << 10, 100 << 10},
                                            {"a100", 8, 0, 163 << 10, 164 << 10},
                                            {"t4", 7, 5, 64 << 10, 64 << 10}};
struct sim_chip sim_chip = chips[0];

__attribute__((constructor)) static void read_chip(void)
{
    const char *text = sim_setting("CUSIM_CHIP");
    int major = 0, minor = 0;

    if (text == NULL)
        return;
    if (FILE *const file = strchr(text, '/') != NULL ? fopen(text, "r") : NULL) {
        char line[1024];
        while (fgets(line, sizeof(line), file) != NULL &&
               sscanf(line, " compute_capability = %d.%d", &major, &minor) != 2)
            continue;
        fclose(file);
    }
    for (const struct sim_chip &chip : chips)
        if (strcmp(text, chip.name) == 0 || (chip.major == major && chip.minor == minor)) {
            sim_chip = chip;
            return;
        }
    sim_bad_setting("CUSIM_CHIP", text, "h200, h100, l4, a100 or t4, or to a file like estimate/chips/h200.chip");
}
