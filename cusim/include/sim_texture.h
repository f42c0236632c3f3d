/* SPDX-License-Identifier: MIT */
/* sim_texture.h - the reads of kernels through texture and surface objects. A fetch is neither judged nor counted: a texture
   has its own rule for each address, and its own cache. Of cuda_runtime.h. */
#ifndef SIM_TEXTURE_H
#define SIM_TEXTURE_H

/* Up to four channels at a place, as doubles: filtered, and normalized where the texture says so. `layer`: -1 for none. */
struct sim_texel {
    double channel[4];
};
sim_texel sim_fetch(cudaTextureObject_t texture, float x, float y, float z, int dimensions, int layer);
sim_texel sim_fetch_at(cudaTextureObject_t texture, int i); /* of linear memory */
void sim_surface_write(cudaSurfaceObject_t surface, int x_bytes, int y, int z, const void *value, size_t size,
                       const char *file, int line);
void sim_surface_read(cudaSurfaceObject_t surface, int x_bytes, int y, int z, void *value, size_t size,
                      const char *file, int line);

template <class T>
struct sim_channels {
    static T of(const sim_texel &t)
    {
        return (T)t.channel[0];
    }
};
#define SIM_CHANNELS2(type, part)                                                                                      \
    template <>                                                                                                        \
    struct sim_channels<type> {                                                                                        \
        static type of(const sim_texel &t)                                                                             \
        {                                                                                                              \
            return type{(part)t.channel[0], (part)t.channel[1]};                                                       \
        }                                                                                                              \
    };
#define SIM_CHANNELS4(type, part)                                                                                      \
    template <>                                                                                                        \
    struct sim_channels<type> {                                                                                        \
        static type of(const sim_texel &t)                                                                             \
        {                                                                                                              \
            return type{(part)t.channel[0], (part)t.channel[1], (part)t.channel[2], (part)t.channel[3]};               \
        }                                                                                                              \
    };
SIM_CHANNELS2(float2, float)
SIM_CHANNELS2(int2, int)
SIM_CHANNELS2(uint2, unsigned)
SIM_CHANNELS2(uchar2, unsigned char)
SIM_CHANNELS2(ushort2, unsigned short)
SIM_CHANNELS4(float4, float)
SIM_CHANNELS4(int4, int)
SIM_CHANNELS4(uint4, unsigned)
SIM_CHANNELS4(uchar4, unsigned char)
SIM_CHANNELS4(char4, signed char)
SIM_CHANNELS4(ushort4, unsigned short)

template <class T>
SIM_INLINE T tex1Dfetch(cudaTextureObject_t texture, int i)
{
    return sim_channels<T>::of(sim_fetch_at(texture, i));
}
template <class T>
SIM_INLINE T tex1D(cudaTextureObject_t texture, float x)
{
    return sim_channels<T>::of(sim_fetch(texture, x, 0, 0, 1, -1));
}
template <class T>
SIM_INLINE T tex2D(cudaTextureObject_t texture, float x, float y)
{
    return sim_channels<T>::of(sim_fetch(texture, x, y, 0, 2, -1));
}
template <class T>
SIM_INLINE T tex3D(cudaTextureObject_t texture, float x, float y, float z)
{
    return sim_channels<T>::of(sim_fetch(texture, x, y, z, 3, -1));
}
template <class T>
SIM_INLINE T tex1DLayered(cudaTextureObject_t texture, float x, int layer)
{
    return sim_channels<T>::of(sim_fetch(texture, x, 0, 0, 1, layer));
}
template <class T>
SIM_INLINE T tex2DLayered(cudaTextureObject_t texture, float x, float y, int layer)
{
    return sim_channels<T>::of(sim_fetch(texture, x, y, 0, 2, layer));
}

enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
template <class T>
SIM_INLINE void surf2Dwrite(T value, cudaSurfaceObject_t surface, int x, int y,
                            cudaSurfaceBoundaryMode = cudaBoundaryModeTrap, SIM_AT)
{
    sim_surface_write(surface, x, y, 0, &value, sizeof(T), file, line);
}
template <class T>
SIM_INLINE void surf1Dwrite(T value, cudaSurfaceObject_t surface, int x, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap,
                            SIM_AT)
{
    sim_surface_write(surface, x, 0, 0, &value, sizeof(T), file, line);
}
template <class T>
SIM_INLINE void surf3Dwrite(T value, cudaSurfaceObject_t surface, int x, int y, int z,
                            cudaSurfaceBoundaryMode = cudaBoundaryModeTrap, SIM_AT)
{
    sim_surface_write(surface, x, y, z, &value, sizeof(T), file, line);
}
template <class T>
SIM_INLINE void surf2DLayeredwrite(T value, cudaSurfaceObject_t surface, int x, int y, int layer,
                                   cudaSurfaceBoundaryMode = cudaBoundaryModeTrap, SIM_AT)
{
    sim_surface_write(surface, x, y, layer, &value, sizeof(T), file, line);
}
template <class T>
SIM_INLINE void surf2Dread(T *value, cudaSurfaceObject_t surface, int x, int y,
                           cudaSurfaceBoundaryMode = cudaBoundaryModeTrap, SIM_AT)
{
    sim_surface_read(surface, x, y, 0, value, sizeof(T), file, line);
}
template <class T>
SIM_INLINE T surf2Dread(cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap,
                        SIM_AT)
{
    T value;
    sim_surface_read(surface, x, y, 0, &value, sizeof(T), file, line);
    return value;
}

/* the channels of a type */
template <class T>
SIM_INLINE cudaChannelFormatDesc cudaCreateChannelDesc()
{
    const auto kind = [](auto part) {
        return std::is_floating_point<decltype(part)>::value ? cudaChannelFormatKindFloat
               : std::is_signed<decltype(part)>::value       ? cudaChannelFormatKindSigned
                                                             : cudaChannelFormatKindUnsigned;
    };
    if constexpr (std::is_arithmetic<T>::value) {
        return cudaCreateChannelDesc((int)(8 * sizeof(T)), 0, 0, 0, kind(T()));
    } else {
        const T value = {};
        const int bits = (int)(8 * sizeof(value.x)), count = (int)(sizeof(T) / sizeof(value.x));
        return cudaCreateChannelDesc(bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
                                     kind(value.x));
    }
}

#endif
