/* cu_error.c: the driver's interface: numbers, names and texts of errors. Most numbers are the runtime's. */
#include "cu.h"
#include <string.h>

int ww_cu_code(int code) {
    switch (code) {
    case RT_ERROR_INVALID_CONFIGURATION:
    case RT_ERROR_INVALID_PITCH_VALUE:
    case RT_ERROR_INVALID_MEMCPY_DIRECTION:
    case RT_ERROR_INVALID_CHANNEL_DESCRIPTOR:
    case RT_ERROR_INVALID_FILTER_SETTING:
    case RT_ERROR_MISSING_CONFIGURATION:
        return RT_ERROR_INVALID_VALUE;
    case RT_ERROR_INVALID_DEVICE_FUNCTION:
        return CU_INVALID_HANDLE;
    case RT_ERROR_INVALID_SYMBOL:
        return CU_NOT_FOUND;
    default:
        return code;
    }
}

static const struct {
    int code;
    const char *name;
} names[] = {{0, "CUDA_SUCCESS"},
             {2, "CUDA_ERROR_OUT_OF_MEMORY"},
             {CU_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
             {4, "CUDA_ERROR_DEINITIALIZED"},
             {200, "CUDA_ERROR_INVALID_IMAGE"},
             {CU_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
             {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
             {CU_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
             {CU_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
             {719, "CUDA_ERROR_LAUNCH_FAILED"},
#define X(id, number, name, text) {number, "CUDA_ERROR_" #id},
#include "rt_error.def"
#undef X
             {0, NULL}};

RT_EXPORT int cuGetErrorName(int error, const char **name) {
    if (!name) return RT_ERROR_INVALID_VALUE;
    for (size_t n = 0; names[n].name; n++) {
        if (names[n].code != error) continue;
        *name = names[n].name;
        return 0;
    }
    *name = NULL;
    return RT_ERROR_INVALID_VALUE;
}

RT_EXPORT int cuGetErrorString(int error, const char **text) {
    if (!text) return RT_ERROR_INVALID_VALUE;
    if (error == CU_INVALID_CONTEXT) {
        *text = "invalid device context";
        return 0;
    }
    switch (error) {
#define X(id, number, name, said)                                                                              \
    case number:                                                                                               \
        *text = said;                                                                                          \
        return 0;
#include "rt_error.def"
#undef X
    default:
        *text = NULL;
        return RT_ERROR_INVALID_VALUE;
    }
}
