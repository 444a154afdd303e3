/* device_internal.h: a device and its modules (device.c, device_module.c). */
#ifndef WW_TRACES_PTX_DEVICE_INTERNAL_H
#define WW_TRACES_PTX_DEVICE_INTERNAL_H

#include "../../../estimator/api/record.h"
#include "device_new.h"
#include "../exec/simt.h"

/* A kernel that has been launched: lowered if the device records, decoded. */
struct ww_kernel {
    struct ww_kernel *next;
    const char *name;
    struct ex_kernel *decoded;
};

struct ww_module {
    struct ww_module *next;
    char *name;
    char *text; /* read from a file, or NULL */
    struct ptx_module *ptx;
    uint64_t *global; /* address of each global variable, by symbol id */
    uint32_t global_count;
    unsigned char *constant_bank;
    uint64_t bank_address; /* of the constant bank on the device; 0: has none yet */
    struct ww_kernel *kernels;
};

struct ww_device {
    uint64_t stream_limit; /* bytes recorded for the CTAs of a launch that have not finished */
    struct ww_record_options options;
    uint32_t arch;
    char arch_name[16];
    struct mem mem;
    struct ww_module *modules;
    bool records;
    struct tex_object *texture; /* from the heap */
    uint64_t texture_count;
    uint64_t workspace; /* of the next launches, see ww_device_cooperate */
    bool paused;        /* launches are computed, not recorded */
    struct recorder recorder;
    uint64_t launches, executed_threads, executed_warps;
};

void ww_module_free(struct ww_module *m);
/* The kernel of that name, made ready. Errors: WW_USAGE (none such; the text names those there are), the
 * decoder's and the lowering's. */
enum ww_code ww_module_kernel(struct ww_device *d, struct ww_module *m, const char *name,
                              struct ww_kernel **out, struct ww_error *error);

#endif
