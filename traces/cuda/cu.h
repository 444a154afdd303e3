/* cu.h: the driver's interface, private to libcuda.so.1: its types, as laid out by the public header of
 * versions 11 to 13, and what its entry points begin with. Kernels, modules, memory, streams and events are
 * those of core.h; the program's handles are their addresses. */
#ifndef WW_TRACES_CUDA_CU_H
#define WW_TRACES_CUDA_CU_H

#include "core.h"

typedef uint64_t cu_pointer; /* CUdeviceptr */

enum { CU_NOT_INITIALIZED = 3, CU_INVALID_CONTEXT = 201, CU_INVALID_HANDLE = 400, CU_NOT_FOUND = 500 };
enum { CU_HOST = 1, CU_DEVICE, CU_ARRAY, CU_UNIFIED }; /* CUmemorytype */

struct cu_context {
    uint64_t id;
    unsigned flags;
    unsigned references; /* of the primary context */
    struct cu_context *next;
};

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    rt_launch_attribute *attribute;
    unsigned attribute_count;
} cu_launch_config;

/* A side of a copy, in the order of the 2D structure's fields. */
typedef struct {
    size_t x, y;
    int type;
    void *host;
    cu_pointer device;
    void *array;
    size_t pitch;
} cu_side2d;
typedef struct {
    cu_side2d src, dst;
    size_t width, height;
} cu_copy2d;
typedef struct {
    size_t x, y, z, level;
    int type;
    void *host;
    cu_pointer device;
    void *array, *context;
    size_t pitch, height;
} cu_side3d;
typedef struct {
    cu_side3d src, dst;
    size_t width, height, depth;
} cu_copy3d;

/* The driver's number of a code of the core: most are the same. */
int ww_cu_code(int code);
/* Starts the device; CU_NOT_INITIALIZED before cuInit. */
int ww_cu_enter(void);
/* The same, and a context has to be current in the calling thread. */
int ww_cu_enter_context(void);
/* The handle if it is one of a module that is loaded, else NULL. */
struct rt_binary *ww_cu_module(void *handle);

#define CU_ENTER                                                                                               \
    RT_LOCK;                                                                                                   \
    do {                                                                                                       \
        int cu_code_ = ww_cu_enter();                                                                          \
        if (cu_code_) return cu_code_;                                                                         \
    } while (0)
#define CU_CONTEXT                                                                                             \
    RT_LOCK;                                                                                                   \
    do {                                                                                                       \
        int cu_code_ = ww_cu_enter_context();                                                                  \
        if (cu_code_) return cu_code_;                                                                         \
    } while (0)

#endif
