/* SPDX-License-Identifier: MIT */
/* main.c - chapter 08 as a program: a few long sequences, and what chapter 06 does with them. README.md is the text. */
#include "lookback.h"

int main(int argc, char **argv)
{
    return harness_main(argc, argv, &chapter08);
}
