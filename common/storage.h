/* storage.h - the types in which an operation may keep its larger arrays. Kernels compute in float32 all the same. */
#ifndef STORAGE_H
#define STORAGE_H

enum storage { FLOAT32, BF16, FP16, NUM_STORAGES };

#endif
