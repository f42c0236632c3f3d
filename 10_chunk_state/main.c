/* main.c - chapter 10 as a program. README.md is the text. */
#include "operation/chunk_operation.h"

int main(int argc, char **argv)
{
    return harness_main(argc, argv, &chapter10);
}
