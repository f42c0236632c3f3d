/* SPDX-License-Identifier: MIT */
/* arch.h - the compute capability that the code was compiled for (90 for sm_90; set by the makefile). A newer chip runs
   it, too, but not what was left out of it. */
#ifndef ARCH_H
#define ARCH_H

#ifndef LINREC_ARCH
#define LINREC_ARCH 1000
#endif

#endif
