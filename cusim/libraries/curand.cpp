/* SPDX-License-Identifier: MIT */
/* curand.cpp - cuRAND's host calls, with the numbers of include/curand_kernel.h. */
#include "../include/curand_kernel.h"
#include "../machine/announce.h"
#include "../machine/region.h"
#include "../runtime/host.h"
#include "../runtime/stream.h"

#include <mutex>
#include <set>

struct curandGenerator_st {
    sim_curand_state state;
    cudaStream_t stream;
};

/* Those that live: a program may ask with one that it has never made. */
static std::set<curandGenerator_t> generators;
static std::mutex generators_lock;

static bool is_made(curandGenerator_t generator)
{
    const std::lock_guard<std::mutex> guard(generators_lock);
    return generators.count(generator) > 0;
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    if (type >= CURAND_RNG_QUASI_DEFAULT)
        sim_no_stand_in("curandCreateGenerator of a quasirandom generator");
    const std::lock_guard<std::mutex> guard(generators_lock);
    *generator = new curandGenerator_st();
    generators.insert(*generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return curandCreateGenerator(generator, type);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    const std::lock_guard<std::mutex> guard(generators_lock);
    if (generators.erase(generator) == 0)
        return CURAND_STATUS_NOT_INITIALIZED;
    delete generator;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed)
{
    if (!is_made(generator))
        return CURAND_STATUS_NOT_INITIALIZED;
    curand_init(seed, 0, 0, &generator->state);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    if (!is_made(generator))
        return CURAND_STATUS_NOT_INITIALIZED;
    generator->state.at = offset;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    if (!is_made(generator))
        return CURAND_STATUS_NOT_INITIALIZED;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

/* At once, behind all that the stream has to do before. */
template <class T, class Next>
static curandStatus_t generate(curandGenerator_t generator, T *numbers, size_t n, Next next)
{
    if (!is_made(generator))
        return CURAND_STATUS_NOT_INITIALIZED;
    const sim_lock_guard guard;
    if (sim_is_stream(generator->stream) && !sim_is_captured(generator->stream))
        sim_finish(generator->stream);
    for (size_t i = 0; i < n; i++)
        numbers[i] = next(&generator->state);
    struct sim_region *const region = n > 0 ? sim_region_near(numbers) : NULL; /* of the device, or the host's own */
    if (region != NULL)
        sim_tell.written(region, numbers, n * sizeof(T));
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *numbers, size_t n)
{
    return generate(generator, numbers, n, [](sim_curand_state *s) { return curand(s); });
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *numbers, size_t n)
{
    return generate(generator, numbers, n, [](sim_curand_state *s) { return curand_uniform(s); });
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *numbers, size_t n)
{
    return generate(generator, numbers, n, [](sim_curand_state *s) { return curand_uniform_double(s); });
}

curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *numbers, size_t n, float mean, float stddev)
{
    return generate(generator, numbers, n, [=](sim_curand_state *s) { return mean + stddev * curand_normal(s); });
}

curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *numbers, size_t n, double mean,
                                          double stddev)
{
    return generate(generator, numbers, n,
                    [=](sim_curand_state *s) { return mean + stddev * curand_normal_double(s); });
}
