/* chunk_device.h - test data and the oracle of the chunk states on the device, for shapes of any size. */
#ifndef CHUNK_DEVICE_H
#define CHUNK_DEVICE_H

#include "chunk_data.h"
#include "chunk_state.h"

#ifdef __cplusplus
extern "C" {
#endif

struct finding;

/* Writes the test data of one array on the device. Does not wait. */
cudaError_t chunk_fill_array(const struct chunk_spec *spec, int array, enum storage storage, void *values,
                             size_t count);

/* Compares on the device; *finding is there, too. */
cudaError_t chunk_device_check(const struct chunk_state_args *args, bool backward, int levels, struct finding *finding);

#ifdef __cplusplus
}
#endif
#endif
