/* rt_types.h: the types and numbers of the CUDA runtime's interface that programs pass, as laid out by its
 * public headers, versions 11 to 13. */
#ifndef WW_TRACES_CUDA_RT_TYPES_H
#define WW_TRACES_CUDA_RT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rt_error {
#define X(id, number, name, text) RT_ERROR_##id = number,
#include "rt_error.def"
#undef X
};

enum { RT_HOST_TO_HOST, RT_HOST_TO_DEVICE, RT_DEVICE_TO_HOST, RT_DEVICE_TO_DEVICE, RT_COPY_DEFAULT };

typedef struct {
    unsigned x, y, z;
} rt_dim3;
typedef struct {
    size_t width, height, depth;
} rt_extent;
typedef struct {
    size_t x, y, z;
} rt_pos;
typedef struct {
    void *ptr;
    size_t pitch, xsize, ysize;
} rt_pitched;
typedef struct {
    int x, y, z, w, kind;
} rt_channel;
typedef struct {
    int type, id;
} rt_location;

typedef struct {
    void *src_array;
    rt_pos src_pos;
    rt_pitched src;
    void *dst_array;
    rt_pos dst_pos;
    rt_pitched dst;
    rt_extent extent;
    int kind;
} rt_copy3d;

enum { RESOURCE_ARRAY, RESOURCE_MIPMAP, RESOURCE_LINEAR, RESOURCE_PITCH2D };

typedef struct {
    int type;
    union {
        void *array;
        struct {
            void *p;
            rt_channel channel;
            size_t bytes;
        } linear;
        struct {
            void *p;
            rt_channel channel;
            size_t width, height, pitch;
        } pitch2d;
        int reserved[32];
    } u;
    unsigned flags; /* from 13 */
} rt_resource;

typedef struct {
    int address_mode[3], filter_mode, read_mode, srgb;
    float border[4];
    int normalized;
    /* what follows is of mipmaps and hints */
} rt_texture;

typedef struct {
    size_t shared_bytes, const_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout;
    int cluster_must, cluster_width, cluster_height, cluster_depth, cluster_policy,
        cluster_non_portable; /* from 11.8 */
    int reserved[16];
} rt_func_attributes;

typedef struct {
    int type, device;
    void *device_pointer, *host_pointer;
    long reserved[8]; /* from 13 */
} rt_pointer_attributes;

typedef struct {
    int id;
    char pad[4];
    union {
        char pad[64];
        int cooperative;
        struct {
            unsigned x, y, z;
        } cluster;
    } value;
} rt_launch_attribute;

typedef struct {
    rt_dim3 grid, block;
    size_t dynamic_shared;
    void *stream;
    rt_launch_attribute *attribute;
    unsigned attribute_count;
} rt_launch_config;

/* Memory types of cudaPointerGetAttributes. */
enum { RT_MEMORY_UNREGISTERED, RT_MEMORY_HOST, RT_MEMORY_DEVICE, RT_MEMORY_MANAGED };

#endif
