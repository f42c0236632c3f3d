/* SPDX-License-Identifier: MIT */
/* arch.h - the chips that the code was compiled for. The host cannot see it, so the makefile says it; what it does
   not say is not there, and launchers take the slower way.

   LINREC_ARCH     the compute capabilities that there is code for, as a list, the newest last: 90 for sm_90, or
                   80,90,120. gpu_info_read says which of them the GPU runs. Not said: the least that there is.
   LINREC_SM_90A   the code that this file has for sm_90 is for sm_90a, sm_90 with what no other chip has (wgmma.h). The
                   makefile says it, and compiles the file so.
   DEVICE_ARCH     in a kernel: the compute capability that the compiler makes its code for, now. It reads a source once
                   for each of LINREC_ARCH, and once for the host, where this is 0. */
#ifndef ARCH_H
#define ARCH_H

#ifndef LINREC_ARCH
#define LINREC_ARCH 75
#endif

#ifdef __CUDA_ARCH__
#define DEVICE_ARCH (__CUDA_ARCH__ / 10)
#else
#define DEVICE_ARCH 0
#endif

#endif
