/* SPDX-License-Identifier: MIT */
/* error.h - one sentence on stderr for wrong usage or input. */
#ifndef ERROR_H
#define ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Writes one line on stderr, "PROGRAM: " and the message, which says what is wrong and how to mend it. Returns 2, the
   exit status of a usage or input error. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif
#endif
