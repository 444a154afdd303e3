/* device_internal.h: a device and its modules (device.c, device_module.c). */
#ifndef WW_TRACES_PTX_DEVICE_INTERNAL_H
#define WW_TRACES_PTX_DEVICE_INTERNAL_H

#include "../../../estimator/api/record.h"
#include "../../cta_pick.h"
#include "../../sass/record/module.h"
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
    char *text;           /* read from a file, or NULL */
    const char *ptx_text; /* NULL: machine code only */
    size_t ptx_bytes;
    struct ptx_module *ptx; /* NULL: not needed so far */
    struct sx_module *code; /* machine code, or NULL */
    uint32_t code_target;   /* of the PTX that the machine code was made from; 0: the program brought it */
    uint64_t *global;       /* address of each global variable, by symbol id */
    uint32_t global_count;
    unsigned char *constant_bank;
    uint64_t bank_address; /* of the constant bank on the device; 0: has none yet */
    struct ww_kernel *kernels;
};

struct ww_device {
    uint64_t stream_limit; /* bytes recorded for the CTAs of a launch that have not finished */
    struct ww_record_options options;
    enum ww_record_code code;
    uint32_t arch; /* that PTX is lowered for: 70 */
    char arch_name[16];
    uint32_t machine_arch; /* of machine code: 86 */
    char said[200];        /* the last message about where code comes from */
    struct mem mem;
    struct ww_module *modules;
    bool records;
    struct tex_object *texture; /* from the heap */
    uint64_t texture_count;
    uint32_t cluster[3];            /* of the next launches, see ww_device_cluster */
    uint64_t workspace;             /* of the next launches, see ww_device_cooperate */
    bool paused;                    /* launches are computed, not recorded */
    const struct ww_cta_pick *pick; /* the CTAs of each launch that are run; NULL: all */
    struct recorder recorder;
    uint64_t launches, executed_threads, executed_warps;
};

void ww_module_free(struct ww_module *m);
/* Parses the module's PTX and places its variables, unless that is done. Errors: the parser's, WW_UNSUPPORTED
 * (it has none). */
enum ww_code ww_module_need_ptx(struct ww_device *d, struct ww_module *m, struct ww_error *error);
/* The host writes constants into the machine code's bank: takes them over before PTX of the module runs. */
void ww_module_take_constants(struct ww_module *m);
/* device_code.c: makes machine code of a module's PTX, if the device wants it; m->code is NULL if not. Errors:
 * only if it has to be machine code. */
enum ww_code ww_module_compile(struct ww_device *d, struct ww_module *m, struct ww_error *error);
/* The kernel's machine code; *kernel is NULL if its PTX is to be run. Errors: WW_USAGE (no such kernel), those
 * of the decoder if it has to be machine code or there is no PTX. */
enum ww_code ww_module_machine(struct ww_device *d, struct ww_module *m, const char *name,
                               struct sx_loaded **kernel, struct ww_error *error);
/* What a launch is asked to be. */
struct launch_request {
    const uint32_t *grid, *block;
    uint32_t dynamic_shared;
    const struct ww_arg *args;
    size_t count;
};
/* Runs a kernel's machine code. Errors: those of ww_device_launch. */
enum ww_code ww_module_launch(struct ww_device *d, struct ww_module *m, struct sx_loaded *kernel,
                              const struct launch_request *launch, struct ww_error *error);
/* Limits of a kernel's block; 0: none. */
struct launch_limits {
    const char *kernel;
    uint32_t required[3], most[3];
};
enum ww_code ww_device_check_shape(const struct launch_limits *limits, const uint32_t grid[3],
                                   const uint32_t block[3], uint64_t shared, struct ww_error *error);
/* CTAs of a launch's cluster, all 0 without clusters; `required`: what the kernel says, 0: nothing. */
enum ww_code ww_device_check_cluster(const struct ww_device *d, const uint32_t required[3],
                                     const uint32_t grid[3], const char *kernel, uint32_t cluster[3],
                                     struct ww_error *error);
/* Prints a message to the user, unless it is the same as the last one. */
void ww_device_say(struct ww_device *d, const char *text);
/* The kernel of that name, made ready. Errors: WW_USAGE (none such; the text names those there are), the
 * decoder's and the lowering's. */
enum ww_code ww_module_kernel(struct ww_device *d, struct ww_module *m, const char *name,
                              struct ww_kernel **out, struct ww_error *error);

#endif
