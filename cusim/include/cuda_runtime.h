/* SPDX-License-Identifier: MIT */
/* cuda_runtime.h - the simulator's device side: what a kernel finds when it is compiled for the CPU.

   Thread indices are plain variables that the engine sets before it lets a thread run. Whatever makes a thread wait
   (barriers, shuffles, votes) is a call into the engine; everything else is an inline function. Two things are not C++
   and are rewritten before this file's user is compiled (rewrite.pl): kernel<<<...>>>() and __shared__.

   SIM_AT: calls that can fail know the file and line of their caller. */
#ifndef CUDA_RUNTIME_H
#define CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
#ifdef __CUDACC__ /* a kernel's printf names its thread (print.cpp) */
extern "C" {
int printf(const char *, ...) __asm__("sim_printf");
int puts(const char *) __asm__("sim_puts");
int putchar(int) __asm__("sim_putchar");
}
#endif
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <new>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tuple>
#include <type_traits>

#include "sim_shape.h"

void sim_throw_away(cudaError_t error); /* what a call has returned that is a statement of its own (rewrite.pl) */

#ifdef SIM_QUALIFIERS /* cusim: check.pl reads these words, rewrite.pl takes them away */
#define __global__ __sim_global__
#define __device__ __sim_device__
#define __host__ __sim_host__
#define __constant__ __sim_constant__
#define __managed__ __sim_managed__
#else
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#endif
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#ifdef SIM_AS_WRITTEN /* cusim --watch: each function has variables of its own; and a large kernel takes the compiler less time */
#define __forceinline__ inline
#else
#define __forceinline__ inline __attribute__((always_inline))
#endif

/* Inlined always, so that a fault in it is traced to the kernel's line. */
#define SIM_INLINE static inline __attribute__((always_inline, unused))
#define SIM_METHOD inline __attribute__((always_inline)) /* the same in a class */
#define SIM_AT const char *file = __builtin_FILE(), int line = __builtin_LINE()

/* ---- vector types, with CUDA's alignments ---- */

#define SIM_VECTOR1(name, type)                                                                                        \
    struct name {                                                                                                      \
        type x;                                                                                                        \
    };                                                                                                                 \
    SIM_INLINE name make_##name(type x)                                                                                \
    {                                                                                                                  \
        return name{x};                                                                                                \
    }
#define SIM_VECTOR2(name, type, bytes)                                                                                 \
    struct __align__(bytes) name                                                                                       \
    {                                                                                                                  \
        typedef type sim_member;                                                                                       \
        type x, y;                                                                                                     \
    };                                                                                                                 \
    SIM_INLINE name make_##name(type x, type y)                                                                        \
    {                                                                                                                  \
        return name{x, y};                                                                                             \
    }
#define SIM_VECTOR3(name, type)                                                                                        \
    struct name {                                                                                                      \
        typedef type sim_member;                                                                                       \
        type x, y, z;                                                                                                  \
    };                                                                                                                 \
    SIM_INLINE name make_##name(type x, type y, type z)                                                                \
    {                                                                                                                  \
        return name{x, y, z};                                                                                          \
    }
#define SIM_VECTOR4(name, type, bytes)                                                                                 \
    struct __align__(bytes) name                                                                                       \
    {                                                                                                                  \
        typedef type sim_member;                                                                                       \
        type x, y, z, w;                                                                                               \
    };                                                                                                                 \
    SIM_INLINE name make_##name(type x, type y, type z, type w)                                                        \
    {                                                                                                                  \
        return name{x, y, z, w};                                                                                       \
    }

#define SIM_VECTORS(name, type, two, four)                                                                             \
    SIM_VECTOR1(name##1, type)                                                                                         \
    SIM_VECTOR2(name##2, type, two)                                                                                    \
    SIM_VECTOR3(name##3, type)                                                                                         \
    SIM_VECTOR4(name##4, type, four)
SIM_VECTORS(char, signed char, 2, 4)
SIM_VECTORS(uchar, unsigned char, 2, 4)
SIM_VECTORS(short, short, 4, 8)
SIM_VECTORS(ushort, unsigned short, 4, 8)
SIM_VECTORS(int, int, 8, 16)
SIM_VECTORS(uint, unsigned, 8, 16)
SIM_VECTORS(long, long, 16, 16)
SIM_VECTORS(ulong, unsigned long, 16, 16)
SIM_VECTORS(longlong, long long, 16, 16)
SIM_VECTORS(ulonglong, unsigned long long, 16, 16)
SIM_VECTORS(float, float, 8, 16)
SIM_VECTORS(double, double, 16, 16)
SIM_VECTOR4(double4_16a, double, 16)
SIM_VECTOR4(double4_32a, double, 32)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3() const
    {
        return uint3{x, y, z};
    }
};

/* ---- the thread's place ---- */

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
static const int warpSize = 32;

/* ---- host calls that take any pointer type in C++ ---- */

template <class T>
SIM_INLINE cudaError_t cudaMalloc(T **pointer, size_t size)
{
    return cudaMalloc((void **)(void *)pointer, size);
}
template <class T>
SIM_INLINE cudaError_t cudaMallocHost(T **pointer, size_t size)
{
    return cudaMallocHost((void **)(void *)pointer, size);
}
template <class T>
SIM_INLINE cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)(kernel), attribute, value);
}
template <class T>
SIM_INLINE cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel)
{
    return cudaFuncGetAttributes(attributes, (const void *)(kernel));
}
template <class T>
SIM_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *num_blocks, T *kernel, int block_size,
                                                                     size_t dynamic_shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(num_blocks, (const void *)(kernel), block_size,
                                                         dynamic_shared);
}
template <class T>
SIM_INLINE cudaError_t cudaMallocManaged(T **pointer, size_t size, unsigned flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)(void *)pointer, size, flags);
}
template <class T>
SIM_INLINE cudaError_t cudaHostAlloc(T **pointer, size_t size, unsigned flags)
{
    return cudaHostAlloc((void **)(void *)pointer, size, flags);
}
template <class T>
SIM_INLINE cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags)
{
    return cudaHostGetDevicePointer((void **)(void *)device, host, flags);
}
template <class T>
SIM_INLINE cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height)
{
    return cudaMallocPitch((void **)(void *)pointer, pitch, width, height);
}
template <class T>
SIM_INLINE cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaStream_t stream)
{
    return cudaMallocAsync((void **)(void *)pointer, size, stream);
}
template <class T>
SIM_INLINE cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void **)(void *)pointer, size, pool, stream);
}
template <class T>
SIM_INLINE cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config)
{
    return cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class T>
SIM_INLINE cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *pointer, size_t size = 0,
                                                unsigned flags = cudaMemAttachSingle)
{
    return cudaStreamAttachMemAsync(stream, (void *)pointer, size, flags);
}

/* where the pages of managed memory are: no page moves here. Before CUDA 13 a place was the number of a device */
cudaError_t sim_place_of_managed(const void *pointer, size_t size);
SIM_INLINE cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int, cudaStream_t = 0)
{
    return sim_place_of_managed(pointer, size);
}
SIM_INLINE cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, cudaMemLocation, unsigned,
                                            cudaStream_t = 0)
{
    return sim_place_of_managed(pointer, size);
}
SIM_INLINE cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise, int)
{
    return sim_place_of_managed(pointer, size);
}
SIM_INLINE cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise, cudaMemLocation)
{
    return sim_place_of_managed(pointer, size);
}

SIM_INLINE cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth)
{
    return cudaExtent{width, height, depth};
}
SIM_INLINE cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t xsize, size_t ysize)
{
    return cudaPitchedPtr{pointer, pitch, xsize, ysize};
}
SIM_INLINE cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    return cudaPos{x, y, z};
}

/* the block size with which most threads are resident: registers are not known, so the largest; and the blocks that
   fill the device */
template <class T>
SIM_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel, size_t dynamic_shared = 0,
                                                          int limit = 0)
{
    cudaDeviceProp prop;
    int fit = 0;
    cudaGetDeviceProperties(&prop, 0);
    *block = limit > 0 && limit < prop.maxThreadsPerBlock ? limit : prop.maxThreadsPerBlock;
    const cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, (const void *)kernel, *block, dynamic_shared);
    *grid = fit * prop.multiProcessorCount;
    return error;
}

SIM_INLINE cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags)
{
    return cudaEventCreateWithFlags(event, flags);
}

/* old and new ways to instantiate a graph */
SIM_INLINE cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, void *, char *, size_t)
{
    return cudaGraphInstantiate(exec, graph, 0ull);
}
SIM_INLINE cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

struct cudaLaunchConfig_t;
cudaError_t cudaOccupancyMaxActiveClusters(int *num_clusters, const void *kernel, const cudaLaunchConfig_t *config);
template <class T>
SIM_INLINE cudaError_t cudaOccupancyMaxActiveClusters(int *num_clusters, T *kernel, const cudaLaunchConfig_t *config)
{
    return cudaOccupancyMaxActiveClusters(num_clusters, (const void *)(kernel), config);
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *cluster_size, const void *kernel,
                                                 const cudaLaunchConfig_t *config);
template <class T>
SIM_INLINE cudaError_t cudaOccupancyMaxPotentialClusterSize(int *cluster_size, T *kernel,
                                                            const cudaLaunchConfig_t *config)
{
    return cudaOccupancyMaxPotentialClusterSize(cluster_size, (const void *)(kernel), config);
}
/* variables at file scope: a kernel's `table' and the host's &table are the same bytes here */
void sim_know_symbol(const void *start, size_t size);
void sim_give_symbol(const void *start); /* host code asks for its address */
int sim_know_variables(void);            /* kernels may write variables that processes do not share (rewrite.pl) */

/* What the pointers of a copy say of its elements: which of their bytes are padding. Of void and bytes nothing is known. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define SIM_CLEAR_PADDING(p) __builtin_clear_padding(p)
#endif
#endif
template <typename T>
struct sim_padding {
    unsigned char bytes[sizeof(T)];
    sim_elements elements = {sizeof(T), bytes};
#ifdef SIM_CLEAR_PADDING
    sim_padding()
    {
        memset(bytes, 0xff, sizeof(bytes));
        SIM_CLEAR_PADDING((T *)bytes);
        for (unsigned char &b : bytes)
            b = b == 0;
    }
#endif
};
template <typename T, typename = void>
struct sim_is_whole : std::false_type {
};
template <typename T>
struct sim_is_whole<T, std::void_t<decltype(sizeof(T))>> : std::true_type {
};
template <typename P>
const sim_elements *sim_elements_of()
{
    typedef std::remove_cv_t<std::remove_all_extents_t<P>> T;

    if constexpr (!sim_is_whole<T>::value || std::is_void<T>::value || std::is_function<T>::value) {
        return NULL;
    } else if constexpr (std::is_scalar<T>::value && sizeof(T) > 1) {
        static const sim_elements plain = {sizeof(T), NULL};
        return &plain;
    } else if constexpr (std::is_class<T>::value && std::is_trivially_copyable<T>::value) {
#ifdef SIM_CLEAR_PADDING
        static const sim_padding<T> known;
        return &known.elements;
#endif
    }
    return NULL;
}

/* While one of these lives, copies know that. */
void sim_copies_elements(const sim_elements *elements);
struct sim_copying {
    SIM_METHOD sim_copying(const sim_elements *to, const sim_elements *from)
    {
        sim_copies_elements(from != NULL ? from : to);
    }
    SIM_METHOD ~sim_copying()
    {
        sim_copies_elements(NULL);
    }
};
#define SIM_COPY                                                                                                       \
    template <typename D, typename S,                                                                                  \
              typename = std::enable_if_t<!std::is_const<D>::value && !std::is_volatile<D>::value>>                    \
    SIM_INLINE cudaError_t
SIM_COPY cudaMemcpy(D *dst, const S *src, size_t size, enum cudaMemcpyKind kind)
{
    const sim_copying knows(sim_elements_of<D>(), sim_elements_of<S>());
    return cudaMemcpy((void *)dst, (const void *)src, size, kind);
}
SIM_COPY cudaMemcpyAsync(D *dst, const S *src, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream = 0)
{
    const sim_copying knows(sim_elements_of<D>(), sim_elements_of<S>());
    return cudaMemcpyAsync((void *)dst, (const void *)src, size, kind, stream);
}
SIM_COPY cudaMemcpy2D(D *dst, size_t dst_pitch, const S *src, size_t src_pitch, size_t width, size_t height,
                      enum cudaMemcpyKind kind)
{
    const sim_copying knows(sim_elements_of<D>(), sim_elements_of<S>());
    return cudaMemcpy2D((void *)dst, dst_pitch, (const void *)src, src_pitch, width, height, kind);
}
#undef SIM_COPY
int sim_know_variables(void); /* the program has variables that kernels may write (rewrite.pl) */
template <class T>
SIM_INLINE const T &sim_symbol(const T &symbol)
{
    sim_know_symbol(&symbol, sizeof(symbol));
    return symbol;
}
/* The kind of a copy that names a variable, and not an address. */
SIM_INLINE cudaMemcpyKind sim_by_symbol(cudaMemcpyKind kind)
{
    return (cudaMemcpyKind)(kind | SIM_BY_SYMBOL);
}
cudaError_t sim_past_symbol(const char *call); /* the error of a copy that reaches past its end */
template <class T>
SIM_INLINE cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t size, size_t offset = 0,
                                          cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return offset > sizeof(symbol) || size > sizeof(symbol) - offset
               ? sim_past_symbol("cudaMemcpyToSymbol")
               : cudaMemcpy((char *)&sim_symbol(symbol) + offset, src, size, sim_by_symbol(kind));
}
template <class T>
SIM_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t size, size_t offset,
                                               cudaMemcpyKind kind, cudaStream_t stream = 0)
{
    return offset > sizeof(symbol) || size > sizeof(symbol) - offset
               ? sim_past_symbol("cudaMemcpyToSymbolAsync")
               : cudaMemcpyAsync((char *)&sim_symbol(symbol) + offset, src, size, sim_by_symbol(kind), stream);
}
template <class T>
SIM_INLINE cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t size, size_t offset = 0,
                                            cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return offset > sizeof(symbol) || size > sizeof(symbol) - offset
               ? sim_past_symbol("cudaMemcpyFromSymbol")
               : cudaMemcpy(dst, (const char *)&sim_symbol(symbol) + offset, size, sim_by_symbol(kind));
}
template <class T>
SIM_INLINE cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t size, size_t offset,
                                                 cudaMemcpyKind kind, cudaStream_t stream = 0)
{
    return offset > sizeof(symbol) || size > sizeof(symbol) - offset
               ? sim_past_symbol("cudaMemcpyFromSymbolAsync")
               : cudaMemcpyAsync(dst, (const char *)&sim_symbol(symbol) + offset, size, sim_by_symbol(kind), stream);
}
template <class T>
SIM_INLINE cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol)
{
    *pointer = (void *)&sim_symbol(symbol);
    sim_give_symbol(*pointer);
    return cudaSuccess;
}
template <class T>
SIM_INLINE cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol)
{
    *size = sizeof(symbol);
    return cudaSuccess;
}

/* ---- launch: k<E><<<grid, block>>>(args) becomes sim_kernel(k<E>, "k<E>", sim_config(grid, block))(args) ---- */

struct sim_config {
    dim3 grid, block;
    size_t dynamic_shared;
    cudaStream_t stream;
    const char *file;
    int line;
    dim3 cluster;             /* blocks */
    bool cooperative = false; /* all blocks are resident at the same time, or none runs */
    sim_config(dim3 grid, dim3 block, size_t dynamic_shared = 0, cudaStream_t stream = 0, SIM_AT)
        : grid(grid), block(block), dynamic_shared(dynamic_shared), stream(stream), file(file), line(line)
    {
    }
    sim_config in_clusters(unsigned x, unsigned y = 1, unsigned z = 1) const
    {
        sim_config same = *this;
        same.cluster = dim3(x, y, z);
        return same;
    }
};

/* A kernel has __cluster_dims__: names it in its body (rewrite.pl), so where there is the kernel, this is known. */
int sim_know_cluster(const void *kernel, unsigned x, unsigned y, unsigned z);
template <auto kernel, unsigned x, unsigned y = 1, unsigned z = 1>
inline const int sim_cluster_known = sim_know_cluster((const void *)(kernel), x, y, z);

/* Runs body(arguments) once for each thread of the grid. */
cudaError_t sim_last_launch(void); /* of the launch before: success, unless it was refused */
void sim_launch(const void *kernel, const char *name, const sim_config *config, void (*body)(void *), void *arguments,
                size_t arguments_size);

/* An argument that is a pointer must not be the host's address of a variable of the device, or of a function. */
void sim_check_pointer(const volatile void *pointer, const sim_config *config);
void sim_check_function(const void *function, const sim_config *config);
void sim_refuse_object(const sim_config *config); /* it has virtual functions, and comes by value */

/* Kernels get pointers to such elements: who copies one as a whole takes its padding along, which nobody writes. */
bool sim_know_padding(const sim_elements *elements);

template <class T>
SIM_INLINE void sim_check_argument(const T &argument, const sim_config *config)
{
    typedef typename std::remove_pointer<T>::type pointed;
    if constexpr (std::is_pointer<T>::value && !std::is_function<pointed>::value) {
        sim_check_pointer(argument, config);
        if constexpr (std::is_class<pointed>::value)
            static const bool known __attribute__((unused)) = sim_know_padding(sim_elements_of<pointed>());
    } else if constexpr (std::is_pointer<T>::value) {
        sim_check_function((const void *)argument, config);
    } else if constexpr (std::is_polymorphic<T>::value) {
        sim_refuse_object(config);
    }
    (void)argument, (void)config;
}

/* A class that knows when it is copied or destroyed, which a function gets by its address (the C++ ABI of all Unix). */
template <class T>
constexpr bool sim_by_address =
    std::is_class<T>::value &&
    !(std::is_trivially_destructible<T>::value && std::is_trivially_copy_constructible<T>::value &&
      (std::is_trivially_move_constructible<T>::value || !std::is_move_constructible<T>::value));

/* A thread's own copy of an argument. Of a class such as above, too, it is bytes, as on a GPU: only the host's copies are
   made by its constructor, and destroyed. */
template <class T, bool by_address = sim_by_address<T>>
struct sim_argument {
    typedef T passed;
    const T &value;
    sim_argument(const T &value) : value(value)
    {
    }
};
template <class T>
struct sim_argument<T, true> {
    typedef T &passed;
    alignas(T) char bytes[sizeof(T)];
    T &value;
    sim_argument(const T &from) : value(*(T *)bytes)
    {
        memcpy(bytes, (const void *)&from, sizeof(T));
    }
};

template <class... P>
struct sim_launcher {
    void (*kernel)(P...);
    const char *name;
    sim_config config;

    void operator()(P... args) const
    {
        (sim_check_argument(args, &config), ...);
        if constexpr ((std::is_reference<P>::value || ...))
            launch_by_reference(args...);
        else
            launch_by_value(args...);
    }

  private:
    void launch_by_value(const P &...args) const
    {
        auto thread = [call = (void (*)(typename sim_argument<P>::passed...))(void (*)())kernel, args...] {
            if constexpr ((sim_by_address<P> || ...))
                call(sim_argument<P>(args).value...);
            else
                call(args...);
        }; /* the arguments, in one place */
        sim_launch((const void *)(kernel), name, &config, [](void *t) { (*(decltype(thread) *)t)(); }, &thread,
                   sizeof(thread));
    }

    /* What a kernel gets by reference is not copied: it has to be in memory that the kernel may touch. */
    void launch_by_reference(P... args) const
    {
        auto thread = [kernel = this->kernel, held = std::tuple<P...>(args...)] { std::apply(kernel, held); };
        sim_launch((const void *)(kernel), name, &config, [](void *t) { (*(decltype(thread) *)t)(); }, &thread,
                   sizeof(thread));
    }
};
template <class... P>
sim_launcher<P...> sim_kernel(void (*kernel)(P...), const char *name, sim_config config)
{
    return {kernel, name, config};
}

/* The same for a name that says less than which kernel it is (an overloaded one, a template without its arguments), or
   that has default arguments: `call` calls it, `find` finds its address where the arguments have the very types of the
   parameters. */
template <class Call, class Find>
struct sim_named_launcher {
    Call call;
    Find find;
    const char *name;
    sim_config config;

    template <class... A>
    void operator()(A... args) const
    {
        if constexpr (std::is_invocable<Find, A...>::value) {
            sim_launcher<A...>{(void (*)(A...))find(args...), name, config}(args...);
        } else {
            (sim_check_argument(args, &config), ...);
            static const char unknown = 0; /* its place stands for the kernel's */
            auto thread = [call = this->call, args...] { call(args...); };
            sim_launch(
                &unknown, name, &config, [](void *t) { (*(decltype(thread) *)t)(); }, &thread, sizeof(thread));
        }
    }
};
template <class Call, class Find>
sim_named_launcher<Call, Find> sim_named_kernel(Call call, Find find, const char *name, sim_config config)
{
    return {call, find, name, config};
}

/* ---- launch with attributes, of which there are three: how many blocks are a cluster; that all blocks are resident at
   the same time; and that the launch may begin before the one before it has ended, which changes nothing here: kernels
   of a stream run one after the other ---- */

enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6
};
union cudaLaunchAttributeValue {
    int cooperative, programmaticStreamSerializationAllowed;
    struct {
        unsigned x, y, z;
    } clusterDim;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

struct sim_launch_config { /* made of the pointer where it is passed: knows the place of the call */
    sim_config config;
    sim_launch_config(const cudaLaunchConfig_t *given, SIM_AT)
        : config(given->gridDim, given->blockDim, given->dynamicSmemBytes, given->stream, file, line)
    {
        for (unsigned i = 0; i < given->numAttrs; i++)
            if (given->attrs[i].id == cudaLaunchAttributeClusterDimension)
                config.cluster = dim3(given->attrs[i].val.clusterDim.x, given->attrs[i].val.clusterDim.y,
                                      given->attrs[i].val.clusterDim.z);
            else if (given->attrs[i].id == cudaLaunchAttributeCooperative)
                config.cooperative = given->attrs[i].val.cooperative != 0;
    }
};
static inline void cudaGridDependencySynchronize(void)
{
}
static inline void cudaTriggerProgrammaticLaunchCompletion(void)
{
}
template <class... P, class... A>
SIM_INLINE cudaError_t cudaLaunchKernelEx(sim_launch_config launch, void (*kernel)(P...), A &&...args)
{
    sim_kernel(kernel, "kernel", launch.config)(args...);
    return sim_last_launch();
}

/* ---- launch by an untyped pointer: (void *)kernel becomes sim_untyped(kernel, "kernel"), which remembers its parameters ---- */

typedef void (*sim_spread)(const void *kernel, const char *name, sim_config config, void **arguments);
void sim_know_kernel(const void *kernel, const char *name, sim_spread spread);
cudaError_t sim_launch_known(const void *kernel, sim_config config, void **arguments);

template <size_t... i>
struct sim_indices {
};
template <size_t n, size_t... i>
struct sim_first : sim_first<n - 1, n - 1, i...> {
};
template <size_t... i>
struct sim_first<0, i...> {
    typedef sim_indices<i...> all;
};
template <class... P, size_t... i>
void sim_call_with(sim_launcher<P...> launcher, void **arguments, sim_indices<i...>)
{
    (void)arguments;
    launcher(*(typename std::remove_reference<P>::type *)arguments[i]...);
}
template <class... P>
void *sim_untyped(void (*kernel)(P...), const char *name)
{
    sim_know_kernel((const void *)(kernel), name,
                    [](const void *known, const char *called, sim_config config, void **arguments) {
                        sim_call_with(sim_kernel((void (*)(P...))known, called, config), arguments,
                                      typename sim_first<sizeof...(P)>::all());
                    });
    return (void *)(kernel);
}
inline void *sim_untyped(const void *kernel, const char *)
{
    return (void *)(kernel);
}

/* arguments: the addresses of the kernel's. */
SIM_INLINE cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t dynamic_shared = 0, cudaStream_t stream = 0, SIM_AT)
{
    return sim_launch_known(kernel, sim_config(grid, block, dynamic_shared, stream, file, line), arguments);
}
template <class... P>
SIM_INLINE cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                        size_t dynamic_shared = 0, cudaStream_t stream = 0, SIM_AT)
{
    return cudaLaunchKernel((const void *)sim_untyped(kernel, "kernel"), grid, block, arguments, dynamic_shared, stream,
                            file, line);
}

/* a kernel as a node of a graph */
struct cudaKernelNodeParams {
    void *func;
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams, **extra;
};
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const cudaKernelNodeParams *params);

/* All blocks are resident at the same time, or the launch is refused: what grid.sync() needs. arguments: their addresses. */
SIM_INLINE cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                                   size_t dynamic_shared = 0, cudaStream_t stream = 0, SIM_AT)
{
    sim_config config(grid, block, dynamic_shared, stream, file, line);
    config.cooperative = true;
    return sim_launch_known(kernel, config, arguments);
}
template <class... P>
SIM_INLINE cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                                   size_t dynamic_shared = 0, cudaStream_t stream = 0, SIM_AT)
{
    return cudaLaunchCooperativeKernel((const void *)sim_untyped(kernel, "kernel"), grid, block, arguments,
                                       dynamic_shared, stream, file, line);
}

/* ---- shared memory: each declaration becomes a reference to memory that the engine hands out ---- */

struct sim_shared {              /* one __shared__ variable; static, so that all threads find the same one */
    void *start;                 /* of it in the block that ran last, */
    uint64_t block;              /* which was this one */
    struct sim_region **regions; /* of each block that may be resident */
};
void *sim_static_shared(sim_shared *variable, const char *name, size_t size, size_t align, const sim_shape *shape,
                        SIM_AT);
void *sim_dynamic_shared(const char *name, size_t align, const sim_shape *shape, SIM_AT);

/* Bytes of .x, for CUDA's vector types. */
template <class T, class = void>
constexpr size_t sim_member_of = 0;
template <class T>
constexpr size_t sim_member_of<T, std::void_t<typename T::sim_member>> = sizeof(typename T::sim_member);

/* What kind of number a type is, or the members of a vector type: as sim_shape says. */
template <class T, class = void>
constexpr char sim_kind_of = std::is_floating_point<T>::value ? 'f'
                             : !std::is_integral<T>::value    ? 0
                             : std::is_signed<T>::value       ? 'i'
                                                              : 'u';
template <class T>
constexpr char sim_kind_of<T, std::void_t<typename T::sim_member>> = sim_kind_of<typename T::sim_member>;

/* Of an array of any rank. */
template <class T>
using sim_element = typename std::remove_cv<typename std::remove_all_extents<T>::type>::type;

template <class T>
constexpr sim_shape sim_make_shape(const sim_field *fields = NULL)
{
    typedef sim_element<T> element;
    return {sizeof(element),
            sim_member_of<element>,
            sim_kind_of<element>,
            std::is_class<element>::value,
            std::is_same<element, char>::value || std::is_same<element, unsigned char>::value,
            (unsigned)std::rank<T>::value,
            {std::extent<T, 0>::value, std::extent<T, 1>::value, std::extent<T, 2>::value, std::extent<T, 3>::value,
             std::extent<T, 4>::value, std::extent<T, 5>::value},
            fields};
}
template <class T>
constexpr sim_shape sim_shape_of = sim_make_shape<T>();

/* ---- variables of the device: each becomes a reference to memory that the engine hands out before main, too ---- */

enum sim_variable_kind { SIM_DEVICE, SIM_CONSTANT, SIM_MANAGED };
/* `first`: its initial value, NULL: zeros. `fixed`: the program's text says what it is. `unit`: the file that is compiled. */
void *sim_make_variable(const char *name, sim_variable_kind kind, size_t size, const sim_shape *shape,
                        const void *first, bool fixed, const void *unit, const char *file, int line);
static const char sim_unit __attribute__((unused)) = 0;
template <class T>
T &sim_variable(const char *name, sim_variable_kind kind, const sim_field *fields = NULL, const void *first = NULL,
                const void *unit = &sim_unit, SIM_AT)
{
    const sim_shape shape = sim_make_shape<T>(fields);
    const bool fixed = first != NULL && (kind == SIM_CONSTANT || std::is_const<std::remove_all_extents_t<T>>::value);

    if constexpr (std::is_class<sim_element<T>>::value && std::is_default_constructible<sim_element<T>>::value &&
                  !std::is_trivially_default_constructible<sim_element<T>>::value) {
        static typename std::remove_cv<T>::type made; /* what its constructor makes of it */
        first = first == NULL ? &made : first;
    }
    return *(T *)sim_make_variable(name, kind, sizeof(T), &shape, first, fixed, unit, file, line);
}

/* ---- barriers ---- */

enum sim_barrier_kind { SIM_BARRIER, SIM_BARRIER_COUNT, SIM_BARRIER_AND, SIM_BARRIER_OR };
int sim_barrier(sim_barrier_kind kind, int predicate, const char *file, int line);

/* clang-format off */
SIM_INLINE void __syncthreads(SIM_AT) { sim_barrier(SIM_BARRIER, 0, file, line); }
SIM_INLINE int __syncthreads_count(int p, SIM_AT) { return sim_barrier(SIM_BARRIER_COUNT, p, file, line); }
SIM_INLINE int __syncthreads_and(int p, SIM_AT) { return sim_barrier(SIM_BARRIER_AND, p, file, line); }
SIM_INLINE int __syncthreads_or(int p, SIM_AT) { return sim_barrier(SIM_BARRIER_OR, p, file, line); }
/* clang-format on */

/* One thread runs at a time and sees all that was written before: a fence only tells the search for races. `how`:
   observe.h. __threadfence and its kin are sequentially consistent: 8 + 16 + 128, and 32 for the own block only. */
void sim_fence(const char *what, unsigned how, const char *file, int line);
/* clang-format off */
SIM_INLINE void __threadfence(SIM_AT) { sim_fence("__threadfence", 8 + 16 + 128, file, line); }
SIM_INLINE void __threadfence_block(SIM_AT) { sim_fence("__threadfence_block", 8 + 16 + 32 + 128, file, line); }
SIM_INLINE void __threadfence_system(SIM_AT) { sim_fence("__threadfence_system", 8 + 16 + 128, file, line); }
/* clang-format on */

/* Lets the other threads run. */
void __nanosleep(unsigned ns, SIM_AT);

/* ---- warp collectives ---- */

/* Kind and name of each call that the lanes of a warp make together. */
#define SIM_WARP_CALLS(X)                                                                                              \
    X(SIM_SYNCWARP, "__syncwarp")                                                                                      \
    X(SIM_SHFL, "__shfl_sync")                                                                                         \
    X(SIM_SHFL_UP, "__shfl_up_sync")                                                                                   \
    X(SIM_SHFL_DOWN, "__shfl_down_sync")                                                                               \
    X(SIM_SHFL_XOR, "__shfl_xor_sync")                                                                                 \
    X(SIM_BALLOT, "__ballot_sync")                                                                                     \
    X(SIM_ALL, "__all_sync")                                                                                           \
    X(SIM_ANY, "__any_sync")                                                                                           \
    X(SIM_MATCH_ANY, "__match_any_sync")                                                                               \
    X(SIM_REDUCE_ADD, "__reduce_add_sync")                                                                             \
    X(SIM_REDUCE_MIN, "__reduce_min_sync")                                                                             \
    X(SIM_REDUCE_MAX, "__reduce_max_sync")                                                                             \
    X(SIM_REDUCE_UMIN, "__reduce_min_sync (unsigned)")                                                                 \
    X(SIM_REDUCE_UMAX, "__reduce_max_sync (unsigned)")                                                                 \
    X(SIM_REDUCE_AND, "__reduce_and_sync")                                                                             \
    X(SIM_REDUCE_OR, "__reduce_or_sync")                                                                               \
    X(SIM_REDUCE_XOR, "__reduce_xor_sync")                                                                             \
    X(SIM_MATRIX, "load or store of a matrix by wmma")                                                                 \
    X(SIM_PRODUCT, "mma_sync")                                                                                         \
    X(SIM_FRAGMENTS, "product of matrices in registers")

#define SIM_ENUM(kind, name) kind,
enum sim_warp_kind { SIM_WARP_CALLS(SIM_ENUM) };
#undef SIM_ENUM

/* What a lane brings to a product of matrices: its elements of a, b and the sum, in which it gets the result. Element i of
   lane l has the number 32 i + l, by rows or by columns; of the sum by rows. */
struct sim_product {
    int m, n, k;
    bool a_by_column, b_by_column;
    const double *a, *b;
    double *sum;
};

/* What a lane brings to a product of fragments, and what it gets: of each of eight steps the words that 32 shuffles
   would bring it (sim_mma_sync.h). */
struct sim_fragment {
    unsigned a[4], b[2], got[8][4];
};

/* `lane`: source lane, distance or lane mask of a shuffle. Returns this lane's result. */
uint64_t sim_warp_call(sim_warp_kind kind, unsigned mask, uint64_t value, unsigned lane, int width, const char *file,
                       int line);

SIM_INLINE void __syncwarp(unsigned mask = 0xffffffff, SIM_AT)
{
    sim_warp_call(SIM_SYNCWARP, mask, 0, 0, 32, file, line);
}

/* Any value of up to 8 bytes travels as a 64-bit word. */
template <class T>
SIM_INLINE T sim_shuffle(sim_warp_kind kind, unsigned mask, T value, unsigned lane, int width, const char *file,
                         int line)
{
    static_assert(sizeof(T) <= 8, "shuffles take types of up to 8 bytes: numbers, half, __half2");
    uint64_t word = 0;
    memcpy(&word, &value, sizeof(T));
    lane = (lane & 31) | (unsigned)sim_kind_of<T> << 8 | (unsigned)sizeof(T) << 16; /* the rest is for watch.cpp */
    word = sim_warp_call(kind, mask, word, lane, width, file, line);
    memcpy(&value, &word, sizeof(T));
    return value;
}
template <class T>
SIM_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32, SIM_AT)
{
    return sim_shuffle(SIM_SHFL, mask, value, (unsigned)lane, width, file, line);
}
template <class T>
SIM_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, SIM_AT)
{
    return sim_shuffle(SIM_SHFL_UP, mask, value, delta, width, file, line);
}
template <class T>
SIM_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, SIM_AT)
{
    return sim_shuffle(SIM_SHFL_DOWN, mask, value, delta, width, file, line);
}
template <class T>
SIM_INLINE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, SIM_AT)
{
    return sim_shuffle(SIM_SHFL_XOR, mask, value, (unsigned)lane_mask, width, file, line);
}

SIM_INLINE unsigned __ballot_sync(unsigned mask, int p, SIM_AT)
{
    return (unsigned)sim_warp_call(SIM_BALLOT, mask, p != 0, 0, 32, file, line);
}
SIM_INLINE int __all_sync(unsigned mask, int p, SIM_AT)
{
    return (int)sim_warp_call(SIM_ALL, mask, p != 0, 0, 32, file, line);
}
SIM_INLINE int __any_sync(unsigned mask, int p, SIM_AT)
{
    return (int)sim_warp_call(SIM_ANY, mask, p != 0, 0, 32, file, line);
}
template <class T>
SIM_INLINE unsigned __match_any_sync(unsigned mask, T value, SIM_AT)
{
    static_assert(sizeof(T) <= 8, "__match_any_sync takes numbers of up to 8 bytes");
    uint64_t word = 0;
    memcpy(&word, &value, sizeof(T));
    return (unsigned)sim_warp_call(SIM_MATCH_ANY, mask, word, 0, 32, file, line);
}

#define SIM_REDUCE(name, type, kind)                                                                                   \
    SIM_INLINE type name(unsigned mask, type value, SIM_AT)                                                            \
    {                                                                                                                  \
        return (type)sim_warp_call(kind, mask, (unsigned)value, 0, 32, file, line);                                    \
    }
SIM_REDUCE(__reduce_add_sync, int, SIM_REDUCE_ADD)
SIM_REDUCE(__reduce_add_sync, unsigned, SIM_REDUCE_ADD)
SIM_REDUCE(__reduce_min_sync, int, SIM_REDUCE_MIN)
SIM_REDUCE(__reduce_max_sync, int, SIM_REDUCE_MAX)
SIM_REDUCE(__reduce_min_sync, unsigned, SIM_REDUCE_UMIN)
SIM_REDUCE(__reduce_max_sync, unsigned, SIM_REDUCE_UMAX)
SIM_REDUCE(__reduce_and_sync, unsigned, SIM_REDUCE_AND)
SIM_REDUCE(__reduce_or_sync, unsigned, SIM_REDUCE_OR)
SIM_REDUCE(__reduce_xor_sync, unsigned, SIM_REDUCE_XOR)

template <class T>
SIM_INLINE unsigned __match_all_sync(unsigned mask, T value, int *all_equal, SIM_AT)
{
    *all_equal = __match_any_sync(mask, value, file, line) == mask;
    return *all_equal ? mask : 0;
}

/* The lanes of the warp that come to the call together: all that do before none of the warp can go on. (On a GPU it is up
   to the hardware which do: do not build on it.) */
unsigned sim_gather(const char *name, const char *file, int line);
SIM_INLINE unsigned __activemask(SIM_AT)
{
    return sim_gather("__activemask", file, line);
}

/* Faults unless a group can be cut into tiles of that many threads. */
void sim_check_tile(unsigned size, const char *file, int line);

/* The barrier of the grid, and whether it has one: only in a cooperative launch. */
void sim_grid_sync(const char *file, int line);
bool sim_grid_is_whole(void);

/* Whether that is the block's shared memory, or device memory. */
unsigned __isShared(const void *address);
unsigned __isGlobal(const void *address);

/* ---- atomics: one thread runs at a time, so each is a read and a write, observed as one ---- */

void sim_atomic_load(const void *address, void *value, size_t size, unsigned order = 0);
void sim_atomic_store(void *address, const void *value, size_t size);

/* Loads and stores that do not race with each other, of up to 16 bytes at once. */
void sim_strong_load(const void *address, void *value, size_t size, unsigned order = 0);
void sim_strong_store(void *address, const void *value, size_t size, unsigned order = 0);

#define SIM_ATOMIC_AS(name, type, result, how)                                                                         \
    SIM_INLINE type name(type *address, type value)                                                                    \
    {                                                                                                                  \
        type old;                                                                                                      \
        sim_atomic_load(address, &old, sizeof(old), how);                                                              \
        const type now = (type)(result);                                                                               \
        sim_atomic_store(address, &now, sizeof(now));                                                                  \
        return old;                                                                                                    \
    }
#define SIM_ATOMIC(name, type, result) /* those for one block or the whole system do the same here */                  \
    SIM_ATOMIC_AS(name, type, result, 0)                                                                               \
    SIM_ATOMIC_AS(name##_block, type, result, 0)                                                                       \
    SIM_ATOMIC_AS(name##_system, type, result, 0)
#define SIM_ATOMIC_COUNT(name, type, result) /* 256: SIM_COUNTS (access.h) */                                          \
    SIM_ATOMIC_AS(name, type, result, 256)                                                                             \
    SIM_ATOMIC_AS(name##_block, type, result, 256)                                                                     \
    SIM_ATOMIC_AS(name##_system, type, result, 256)
#define SIM_ATOMIC_CAS_AS(name, type)                                                                                  \
    SIM_INLINE type name(type *address, type compare, type value)                                                      \
    {                                                                                                                  \
        type old;                                                                                                      \
        sim_atomic_load(address, &old, sizeof(old));                                                                   \
        const type now = old == compare ? value : old;                                                                 \
        sim_atomic_store(address, &now, sizeof(now));                                                                  \
        return old;                                                                                                    \
    }
#define SIM_ATOMIC_CAS(type)                                                                                           \
    SIM_ATOMIC_CAS_AS(atomicCAS, type)                                                                                 \
    SIM_ATOMIC_CAS_AS(atomicCAS_block, type)                                                                           \
    SIM_ATOMIC_CAS_AS(atomicCAS_system, type)
#define SIM_ATOMICS_INTEGER(type)                                                                                      \
    SIM_ATOMIC_COUNT(atomicAdd, type, old + value)                                                                     \
    SIM_ATOMIC(atomicMax, type, old > value ? old : value)                                                             \
    SIM_ATOMIC(atomicMin, type, old < value ? old : value)                                                             \
    SIM_ATOMIC(atomicAnd, type, (old & value))                                                                         \
    SIM_ATOMIC(atomicOr, type, old | value)                                                                            \
    SIM_ATOMIC(atomicXor, type, old ^ value)                                                                           \
    SIM_ATOMIC(atomicExch, type, value)                                                                                \
    SIM_ATOMIC_CAS(type)
SIM_ATOMICS_INTEGER(int)
SIM_ATOMICS_INTEGER(unsigned)
SIM_ATOMICS_INTEGER(unsigned long long)
SIM_ATOMIC_CAS(unsigned short)
SIM_ATOMIC(atomicMax, long long, old > value ? old : value)
SIM_ATOMIC(atomicMin, long long, old < value ? old : value)
SIM_ATOMIC(atomicAnd, long long, (old & value))
SIM_ATOMIC(atomicOr, long long, old | value)
SIM_ATOMIC(atomicXor, long long, old ^ value)
SIM_ATOMIC_COUNT(atomicSub, int, old - value)
SIM_ATOMIC_COUNT(atomicSub, unsigned, old - value)
SIM_ATOMIC_COUNT(atomicInc, unsigned, old >= value ? 0 : old + 1)
SIM_ATOMIC_COUNT(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
SIM_ATOMIC_COUNT(atomicAdd, float, old + value)
SIM_ATOMIC(atomicExch, float, value)
SIM_ATOMIC_COUNT(atomicAdd, double, old + value)
SIM_INLINE float2 atomicAdd(float2 *address, float2 value) /* each number is an atomic of its own */
{
    return float2{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
SIM_INLINE float4 atomicAdd(float4 *address, float4 value)
{
    return float4{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y), atomicAdd(&address->z, value.z),
                  atomicAdd(&address->w, value.w)};
}

/* clang-format off */
/* ---- loads and stores with a cache hint: there is no cache. Those that pass L1 (__ldcg, __stcg, __ldcv, __stwt) see
        what other blocks write, all their bytes at once: they do not race with each other. ---- */

template <class T> struct sim_same {
    typedef T type; /* keeps T from being deduced from the stored value */
};

#define SIM_LOAD(name)                                                                                                 \
    template <class T> SIM_INLINE T name(const T *p) { return *p; }
#define SIM_STORE(name)                                                                                                \
    template <class T> SIM_INLINE void name(T *p, typename sim_same<T>::type value) { *p = value; }
SIM_LOAD(__ldca)
SIM_LOAD(__ldcs)
SIM_STORE(__stwb)
SIM_STORE(__stcs)
void sim_read_only(const void *p, size_t size); /* that was read by __ldg, so nothing writes it in this launch */
template <class T> SIM_INLINE T __ldg(const T *p) { T value = *p; sim_read_only(p, sizeof(T)); return value; }
#define SIM_STRONG_LOAD(name)                                                                                          \
    template <class T> SIM_INLINE T name(const T *p) { T value; sim_strong_load(p, &value, sizeof(T)); return value; }
#define SIM_STRONG_STORE(name)                                                                                         \
    template <class T> SIM_INLINE void name(T *p, typename sim_same<T>::type value)                                    \
    { sim_strong_store(p, &value, sizeof(T)); }
SIM_STRONG_LOAD(__ldcg)
SIM_STRONG_LOAD(__ldcv)
SIM_STRONG_STORE(__stcg)
SIM_STRONG_STORE(__stwt)

/* ---- arithmetic ---- */

/* with nvcc's overloads: what is smaller than int is taken as one, and two that are not of one size need a conversion */
#define SIM_MIN_MAX(type)                                                                                              \
    SIM_INLINE type min(type a, type b) { return a < b ? a : b; }                                                      \
    SIM_INLINE type max(type a, type b) { return a > b ? a : b; }
#define SIM_MIN_MAX_INTEGER(type)                                                                                      \
    SIM_MIN_MAX(type)                                                                                                  \
    SIM_MIN_MAX(unsigned type)                                                                                         \
    SIM_INLINE unsigned type min(type a, unsigned type b) { return min((unsigned type)a, b); }                         \
    SIM_INLINE unsigned type min(unsigned type a, type b) { return min(a, (unsigned type)b); }                         \
    SIM_INLINE unsigned type max(type a, unsigned type b) { return max((unsigned type)a, b); }                         \
    SIM_INLINE unsigned type max(unsigned type a, type b) { return max(a, (unsigned type)b); }
SIM_MIN_MAX_INTEGER(int)
SIM_MIN_MAX_INTEGER(long)
SIM_MIN_MAX_INTEGER(long long)
SIM_INLINE unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
SIM_INLINE unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
SIM_INLINE float min(float a, float b) { return fminf(a, b); }
SIM_INLINE float max(float a, float b) { return fmaxf(a, b); }
SIM_INLINE double min(double a, double b) { return fmin(a, b); }
SIM_INLINE double max(double a, double b) { return fmax(a, b); }
SIM_INLINE double min(float a, double b) { return fmin(a, b); }
SIM_INLINE double min(double a, float b) { return fmin(a, b); }
SIM_INLINE double max(float a, double b) { return fmax(a, b); }
SIM_INLINE double max(double a, float b) { return fmax(a, b); }

SIM_INLINE long long llmin(long long a, long long b) { return a < b ? a : b; }
SIM_INLINE long long llmax(long long a, long long b) { return a > b ? a : b; }
SIM_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
SIM_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

SIM_INLINE float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
SIM_INLINE float __fadd_rn(float a, float b) { return a + b; }
SIM_INLINE float __fmul_rn(float a, float b) { return a * b; }
SIM_INLINE float __fdividef(float a, float b) { return a / b; }
SIM_INLINE float __fsub_rn(float a, float b) { return a - b; }
SIM_INLINE float __fdiv_rn(float a, float b) { return a / b; }
SIM_INLINE float __frcp_rn(float a) { return 1 / a; }
SIM_INLINE float __fsqrt_rn(float a) { return sqrtf(a); }
SIM_INLINE float __frsqrt_rn(float a) { return 1 / sqrtf(a); }
SIM_INLINE float __saturatef(float a) { return a > 0 ? a < 1 ? a : 1 : 0; }
SIM_INLINE double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
SIM_INLINE double __dadd_rn(double a, double b) { return a + b; }
SIM_INLINE double __dmul_rn(double a, double b) { return a * b; }
#define __expf expf /* less exact on a GPU; some of these names the C library declares, too */
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __powf powf
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __tanhf tanhf
#define __sincosf sincosf
SIM_INLINE float rsqrtf(float a) { return 1 / sqrtf(a); }
SIM_INLINE double rsqrt(double a) { return 1 / sqrt(a); }
SIM_INLINE int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
SIM_INLINE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
SIM_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
SIM_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }

#define SIM_BITS(name, from, to)                                                                                       \
    SIM_INLINE to name(from value)                                                                                     \
    {                                                                                                                  \
        to bits;                                                                                                       \
        memcpy(&bits, &value, sizeof(bits));                                                                           \
        return bits;                                                                                                   \
    }
SIM_BITS(__int_as_float, int, float)
SIM_BITS(__uint_as_float, unsigned, float)
SIM_BITS(__float_as_int, float, int)
SIM_BITS(__float_as_uint, float, unsigned)
SIM_BITS(__longlong_as_double, long long, double)
SIM_BITS(__double_as_longlong, double, long long)

SIM_INLINE unsigned __brev(unsigned a)
{
    unsigned b = 0;
    for (int i = 0; i < 32; i++)
        b |= (a >> i & 1) << (31 - i);
    return b;
}
SIM_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) { return (unsigned)(((unsigned long long)high << 32 | low) << (by & 31) >> 32); }
SIM_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) { return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31)); }
SIM_INLINE int __popc(unsigned a) { return __builtin_popcount(a); }
SIM_INLINE int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
SIM_INLINE int __clz(int a) { return a ? __builtin_clz((unsigned)a) : 32; }
SIM_INLINE int __clzll(long long a) { return a ? __builtin_clzll((unsigned long long)a) : 64; }
SIM_INLINE int __ffs(int a) { return __builtin_ffs(a); }
SIM_INLINE int __ffsll(long long a) { return __builtin_ffsll(a); }

/* What cvta does to a pointer, in any of the spaces of memory: nothing. */
SIM_INLINE size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
SIM_INLINE size_t __cvta_generic_to_shared(const void *p) { return (size_t)p; }
SIM_INLINE size_t __cvta_generic_to_local(const void *p) { return (size_t)p; }
SIM_INLINE size_t __cvta_generic_to_constant(const void *p) { return (size_t)p; }
SIM_INLINE void *__cvta_global_to_generic(size_t a) { return (void *)a; }
SIM_INLINE void *__cvta_shared_to_generic(size_t a) { return (void *)a; }
SIM_INLINE void *__cvta_local_to_generic(size_t a) { return (void *)a; }
SIM_INLINE void *__cvta_constant_to_generic(size_t a) { return (void *)a; }
template <class A, class B> SIM_INLINE void sim_same_bits(A &to, B from)
{
    static_assert(sizeof(to) == 8 && sizeof(from) == 8, "cvta is of 8 bytes");
    memcpy(&to, &from, 8);
}

/* clang-format on */

/* ---- libraries: a function that has no stand-in here stops the program where it is called ---- */

[[noreturn]] void sim_no_stand_in(const char *name);
#define SIM_NO_STAND_IN(type, name)                                                                                    \
    template <class... A>                                                                                              \
    SIM_INLINE type name(A &&...)                                                                                      \
    {                                                                                                                  \
        sim_no_stand_in(#name);                                                                                        \
    }

#include "sim_math.h"
#include "sim_simd.h"
#include "sim_nv_atomic.h"

/* ---- the rest ---- */

long long clock64(void); /* counts nanoseconds: of the simulation, not of a GPU */
[[noreturn]] void sim_trap(const char *file, int line);
SIM_INLINE void __trap(SIM_AT)
{
    sim_trap(file, line);
}

#include "sim_refused.h"
#include "sim_texture.h"

#endif
#endif
