/* SPDX-License-Identifier: MIT */
/* cuda_gl_interop.h - declares what programs name that draw with OpenGL; a call stops the program with its name and
   line. */
#ifndef CUDA_GL_INTEROP_H
#define CUDA_GL_INTEROP_H

#include "cuda_runtime.h"
#define __CUDA_GL_INTEROP_H__

#ifdef __cplusplus
SIM_STOP(cudaGraphicsGLRegisterBuffer)
SIM_STOP(cudaGraphicsGLRegisterImage)
SIM_STOP(cudaGLRegisterBufferObject)
SIM_STOP(cudaGLUnregisterBufferObject)
SIM_STOP(cudaGLMapBufferObject)
SIM_STOP(cudaGLUnmapBufferObject)
SIM_STOP(cudaGLSetGLDevice)
#endif
#endif
