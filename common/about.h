/* about.h - where a program runs. */
#ifndef ABOUT_H
#define ABOUT_H

#include "table.h"

/* Fills in *device, and what *run says of backend, device, toolkit and driver. run->device points to the name in
 *device. Returns 0, or 2 after one line on stderr if no device answers. */
int about_device(bool on_cpu, struct run *run, struct cudaDeviceProp *device);

#endif
