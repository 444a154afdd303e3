/* rt_array.h: CUDA arrays. */
#ifndef WW_TRACES_CUDA_RT_ARRAY_H
#define WW_TRACES_CUDA_RT_ARRAY_H

#include "rt_types.h"

/* The program's handle is its address. */
struct rt_array {
    uint64_t address; /* device address; rows lie one behind the other */
    rt_channel channel;
    rt_extent extent; /* as given: height and depth 0 if the array has none */
    unsigned flags;
    size_t element, row, rows; /* bytes of an element and of a row; rows of a slice, at least 1 */
    struct rt_array *next;
};

#pragma GCC visibility push(default)
/* NULL if it is no array. */
struct rt_array *ww_rt_array_find(const void *handle);
/* Bytes of an element; 0 if the description makes no sense. */
size_t ww_rt_element_bytes(const rt_channel *c);
#pragma GCC visibility pop

#endif
