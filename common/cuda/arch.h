/* SPDX-License-Identifier: MIT */
/* arch.h - the chip that the code was compiled for. The host cannot see it, so the makefile says it; what it does
   not say is not there, and launchers take the slower way.

   LINREC_ARCH     the compute capability, 90 for sm_90. A newer chip runs the code, too, but not what was left out of
                   it. Not said: the least that there is.
   LINREC_SM_90A   this file was compiled for sm_90a, sm_90 with what no other chip has (wgmma.h). The makefile says it
                   with -arch=sm_90a, and in the simulator. */
#ifndef ARCH_H
#define ARCH_H

#ifndef LINREC_ARCH
#define LINREC_ARCH 75
#endif

#endif
