/* SPDX-License-Identifier: MIT */
/* call.c - statuses, the version, and new workspaces. See liblinrec.h. */
#include "call.h"

int linrec_version(void)
{
    return 10000 * LINREC_VERSION_MAJOR + 100 * LINREC_VERSION_MINOR + LINREC_VERSION_PATCH;
}

const char *linrec_strerror(int status)
{
    switch (status) {
    case LINREC_SUCCESS:
        return "no error";
    case LINREC_INVALID_ARGUMENT:
        return "an argument is wrong: a size, a type, or a pointer that is missing or not aligned as linrec.h says";
    case LINREC_WORKSPACE_TOO_SMALL:
        return "there is no workspace, or it has fewer bytes than linrec_X_workspace says for these sizes";
    case LINREC_NOT_SUPPORTED:
        return "this device, or this build of the library for it, has no kernel that takes these sizes";
    default:
        return status > LINREC_CUDA_ERROR ? cudaGetErrorString(linrec_cuda_error(status)) : "no status of linrec's";
    }
}

int call_status(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return LINREC_SUCCESS;
    case cudaErrorInvalidValue:
    case cudaErrorNotSupported:
        return LINREC_NOT_SUPPORTED;
    default:
        return LINREC_CUDA_ERROR + (int)error;
    }
}

int call_checked(cudaError_t error)
{
    return error == cudaErrorInvalidValue ? LINREC_INVALID_ARGUMENT : call_status(error);
}

int linrec_workspace_init(void *workspace, size_t bytes, cudaStream_t stream)
{
    if (bytes == 0)
        return LINREC_SUCCESS;
    if (workspace == NULL || (uintptr_t)workspace % 16 != 0)
        return LINREC_INVALID_ARGUMENT;
    return call_checked(cudaMemsetAsync(workspace, 0xFF, bytes, stream));
}
