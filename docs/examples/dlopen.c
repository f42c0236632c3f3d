/* SPDX-License-Identifier: MIT */
/* dlopen.c - the moving average of library.c by a program that is not linked with the library: it looks for it while it
   runs, as a plug-in does, and goes on without it where there is none (docs/library.md).

       cc dlopen.c $(pkg-config --cflags linrec) -ldl -o dlopen                                                      */
#include <dlfcn.h>
#include <stdio.h>

#include <linrec.h>

enum { SEQ_LEN = 10000 };

/* What it calls, found by name. */
static struct {
    int (*version)(void);
    const char *(*strerror)(int status);
    int (*workspace)(const struct linrec_recurrence *, enum linrec_pass, size_t *bytes);
    int (*workspace_init)(void *workspace, size_t bytes, cudaStream_t);
    int (*forward)(const struct linrec_recurrence *, cudaStream_t);
    cudaError_t (*malloc)(void **memory, size_t bytes);
    cudaError_t (*memcpy)(void *to, const void *from, size_t bytes, enum cudaMemcpyKind);
} call;

/* Sets a pointer to the function of that name, or to NULL. (POSIX lets a function's address pass through void *.) */
static void find(void *library, const char *name, void *function)
{
    *(void **)function = library != NULL ? dlsym(library, name) : NULL;
}

/* Whether the library is there, with all that is called, in the version that this program was compiled for. */
static int has_library(void)
{
    void *const linrec = dlopen("liblinrec.so.1", RTLD_NOW | RTLD_LOCAL);
    find(linrec, "linrec_version", &call.version);
    find(linrec, "linrec_strerror", &call.strerror);
    find(linrec, "linrec_recurrence_workspace", &call.workspace);
    find(linrec, "linrec_workspace_init", &call.workspace_init);
    find(linrec, "linrec_recurrence_forward", &call.forward);

    /* The simulator's library has CUDA's functions in it. That for a GPU shows none, so they come from CUDA's own. */
    void *const cuda =
        linrec != NULL && dlsym(linrec, "cudaMalloc") != NULL ? linrec : dlopen("libcudart.so", RTLD_NOW);
    find(cuda, "cudaMalloc", &call.malloc);
    find(cuda, "cudaMemcpy", &call.memcpy);
    return call.version != NULL && call.version() / 10000 == LINREC_VERSION_MAJOR && call.strerror != NULL &&
           call.workspace != NULL && call.workspace_init != NULL && call.forward != NULL && call.malloc != NULL &&
           call.memcpy != NULL;
}

/* Returns the status of the first call that fails. */
static int average(const float *x, const float *c, float *y)
{
    struct linrec_recurrence average = {.num_seqs = 1, .seq_len = SEQ_LEN};
    void *arrays[3];
    int status = call.workspace(&average, LINREC_FORWARD, &average.workspace_bytes);
    if (status != LINREC_SUCCESS)
        return status;
    cudaError_t error = call.malloc(&average.workspace, average.workspace_bytes);
    for (int a = 0; a < 3 && error == cudaSuccess; a++)
        error = call.malloc(&arrays[a], SEQ_LEN * sizeof(float));
    for (int a = 0; a < 2 && error == cudaSuccess; a++)
        error = call.memcpy(arrays[a], a == 0 ? x : c, SEQ_LEN * sizeof(float), cudaMemcpyHostToDevice);
    if (error != cudaSuccess)
        return LINREC_CUDA_ERROR + (int)error;

    average.inputs = arrays[0], average.coeffs = arrays[1], average.outputs = arrays[2];
    status = call.workspace_init(average.workspace, average.workspace_bytes, NULL);
    if (status == LINREC_SUCCESS)
        status = call.forward(&average, NULL);
    if (status != LINREC_SUCCESS)
        return status;
    error = call.memcpy(y, arrays[2], SEQ_LEN * sizeof(float), cudaMemcpyDeviceToHost);
    return error == cudaSuccess ? LINREC_SUCCESS : LINREC_CUDA_ERROR + (int)error;
}

int main(void)
{
    static float x[SEQ_LEN], c[SEQ_LEN], y[SEQ_LEN];
    double expected = 0.0;

    for (int l = 0; l < SEQ_LEN; l++) {
        c[l] = 0.9f, x[l] = 0.1f * (float)(l % 100);
        expected = 0.9 * expected + 0.1 * (l % 100);
    }
    if (!has_library()) {
        printf("there is no liblinrec here; a loop says %.4f\n", expected);
        return 0;
    }
    const int status = average(x, c, y);
    if (status != LINREC_SUCCESS) {
        fprintf(stderr, "dlopen: %s\n", call.strerror(status));
        return 1;
    }
    printf("the average ends with %.4f; a loop says %.4f\n", (double)y[SEQ_LEN - 1], expected);
    return 0;
}
