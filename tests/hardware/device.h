/* device.h: the device of traces/device.h on the CUDA runtime, so that the workloads' host sides run on a GPU.
 *
 * Memory is the GPU's. A launch is timed at once and again later: the device notes every write, fill and launch
 * of a workload, and device_replay runs them again in the same order, on the same memory, with events around
 * each launch. Replays begin with an L2 in which nothing of the workload is left; a launch then finds what the
 * one before left, as in a replay of a trace.
 */
#ifndef KIT_DEVICE_H
#define KIT_DEVICE_H

/* The kernels of a module by name, ended by a NULL name. */
struct kit_kernel {
    const char *name;
    const void *function; /* as cudaLaunchKernel takes it */
};

#ifdef KIT_DEVICE
#include "kit.h"
#include <string>

extern "C" {
#include "../../traces/device.h"
}

/* One call of the workload's host side. */
struct kit_step {
    enum { WRITE, FILL, LAUNCH } kind;
    u64 address;
    size_t bytes;
    unsigned char value;
    void *copy; /* of what is written, in device memory */
    const struct kit_kernel *kernel;
    dim3 grid, block, cluster; /* cluster: all 0 without */
    unsigned shared;
    std::vector<std::vector<unsigned char>> argument;
    std::vector<double> seconds; /* of a launch, one of each replay */
};

struct ww_module {
    std::string name;
    const struct kit_kernel *kernel;
};

struct ww_device {
    struct kit *k;
    std::vector<struct kit_step> step;
    dim3 cluster = dim3(0, 0, 0); /* of the next launches */
    std::vector<struct ww_module *> module;
    std::vector<cudaTextureObject_t> image;
    std::vector<std::pair<u64, size_t>> memory; /* allocations, until the device is freed */
};

/* The kernels of a module, which is a file of traces/kernels; NULL if there is none of that name. */
const struct kit_kernel *kit_kernels_of(const char *name);
struct ww_device *device_new(struct kit *k);
void device_free(struct ww_device *d);
size_t device_launches(const struct ww_device *d);
/* Runs all steps once more and adds a time to each launch. */
void device_replay(struct ww_device *d);
#endif

#endif
