/* SPDX-License-Identifier: MIT */
/* host_device.h - HOST_DEVICE stands before functions that run on the host and, in a .cu file, on the device, too. Such
   a file includes cuda_runtime.h before this one. */
#ifndef HOST_DEVICE_H
#define HOST_DEVICE_H

#ifdef __cplusplus
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

#endif
