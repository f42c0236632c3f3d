/* SPDX-License-Identifier: MIT */
/* arch.h - what the code was compiled for. The host cannot see it, so the makefile says it; what it does not say is
   not there, and launchers take the slower way.

   LINREC_ARCH     the compute capability, 90 for sm_90. A newer chip runs the code, too, but not what was left out of
                   it. Not said: the least that there is.
   LINREC_SM_90A   this file was compiled for sm_90a: sm_90 with what no other chip has (wgmma.h). */
#ifndef ARCH_H
#define ARCH_H

#ifndef LINREC_ARCH
#define LINREC_ARCH 75
#endif

#if defined LINREC_SM_90A && defined __CUDA_ARCH__ && !defined CUSIM
#if __CUDA_ARCH__ == 900 && !defined __CUDA_ARCH_FEAT_SM90_ALL
#error "LINREC_SM_90A is defined, but this is compiled for sm_90: compile it with -arch=sm_90a, or leave LINREC_SM_90A out"
#endif
#endif

#endif
