/* rt.h: the recording CUDA runtime and driver, private to libcudart and libcuda.
 *
 * One process has one device; everything is made at the first call that needs it and lives until the process
 * ends. Entry points take the one lock (RT_LOCK), do their work at once - streams have no queues - and set the
 * calling thread's last error. An error of a kernel is sticky: later calls return it, as CUDA's do.
 * Layouts and numbers are those of the CUDA runtime's public headers.
 */
#ifndef WW_TRACES_CUDA_RT_H
#define WW_TRACES_CUDA_RT_H

#include "../../estimator/api/gpu.h"
#include "../../estimator/base/locale.h"
#include "../../estimator/api/record.h"
#include "../../estimator/base/ownfd.h"
#include "../../estimator/config/gpu.h"
#include "../ptx/record/device_host.h"
#include "../sass/cubin/image.h"
#include "rt_types.h"
#include <pthread.h>

#define RT_EXPORT __attribute__((visibility("default")))
/* A second name of an entry point: per-thread default streams, older names. */
#define RT_ALIAS(name, of) RT_EXPORT extern __typeof__(of) name __attribute__((alias(#of)));

#define RT_DEVICE_BASE 0x200000000000u /* device memory: clear of everything that Linux maps by itself */
#define RT_SHARED_BASE 0x210000000000u /* pinned and managed memory: the same address for host and device */

/* What the compiler puts into .nvFatBinSegment. */
#define RT_WRAPPER_MAGIC 0x466243b1u
struct rt_wrapper {
    uint32_t magic, version; /* version 2: `linked` lists the fat binaries that were linked */
    const void *data;
    const void *linked;
};

struct rt_binary;

/* A kernel that the program registered. The program's handle (cudaKernel_t, cudaFunction_t) is its address. */
struct rt_kernel {
    const void *host; /* the host stub's address: the key of launches */
    char *name;       /* in the PTX */
    struct rt_binary *binary;
    struct rt_kernel *next;
    bool refused;                /* its module could not be used: reported once */
    uint32_t max_dynamic_shared; /* set by cudaFuncSetAttribute, 0: default */
    uint64_t launches;
};

struct rt_variable {
    const void *host; /* the shadow variable: the key of symbol calls */
    char *name;
    struct rt_binary *binary;
    uint64_t size;
    struct rt_variable *next;
};

/* A registered fat binary; `self` first, since programs see the handle as a void **. */
struct rt_binary {
    void *self;
    const void *data; /* the fat binary, or what `form` says */
    uint64_t bytes;   /* of a copy of ours; 0: it lies in the program */
    enum ww_image_form form;
    unsigned references;       /* of libraries and modules that the program loads */
    const void *const *linked; /* fat binaries of a device link, NULL-terminated, or NULL */
    struct ww_module *module;
    bool tried; /* loading was tried */
    int code;   /* result of loading: RT_... */
    struct rt_binary *next;
};

/* An allocation of a kind that needs more than an address. */
enum rt_kind { RT_KIND_HOST, RT_KIND_MANAGED, RT_KIND_REGISTERED };
struct rt_shared {
    void *host;
    size_t bytes, mapped; /* mapped: with `pad` bytes at both ends */
    uint32_t pad;
    enum rt_kind kind;
    unsigned flags;
    struct rt_shared *next;
};

struct rt_options {
    char *out, *arch, *gpu, *kernel; /* NULL: not given */
    uint64_t first, every, limit;    /* 0: no bound */
    bool no_record, strict, progress, quiet, keep_source;
    enum ww_record_code code;
    char *ptxas_options;    /* NULL: none */
    struct ww_ownfd report; /* .fd -1: none */
};

struct rt {
    struct rt_options options;
    bool started, runtime_used, driver_ready; /* the runtime was called; cuInit was */
    int start_code;                           /* RT_ERROR_... if starting failed */
    pid_t pid;
    struct ww_gpu *gpu;
    const struct ww_gpu_spec *spec;
    uint32_t capability; /* 75 */
    uint32_t machine;    /* architecture of the machine code that is run: --arch, else the GPU's */
    struct ww_device *device;
    struct rt_binary *binaries;
    struct rt_kernel *kernels;
    struct rt_variable *variables;
    struct rt_shared *shared;
    uint64_t next_shared; /* address of the next shared allocation */
    int sticky;           /* error of a kernel; 0: none */
    const char *running;  /* the kernel that runs, or NULL */
    bool damaged;         /* the recording cannot be finished */
    uint64_t launches, recorded;
    double now_us; /* modelled time of the device */
    uint64_t next_id;
    uint64_t stack_limit, fifo_limit;
};

#pragma GCC visibility push(default)
extern struct rt ww_rt;

/* core_state.c */
/* Starts the device unless it is; returns what came of it. */
int ww_rt_begin(void);
/* The same for entry points of the runtime; returns the sticky error if there is one. */
int ww_rt_enter(void);
/* Takes the lock only. */
void ww_rt_lock(void);
void ww_rt_unlock(const int *unused);
/* The lock, and the C locale: the program may have set one in which numbers have commas. */
#define RT_LOCK                                                                                                \
    __attribute__((cleanup(ww_rt_unlock))) const int rt_held_ = (ww_rt_lock(), 0);                             \
    (void)rt_held_;                                                                                            \
    WW_PLAIN_LOCALE
/* Begins an entry point that needs the device. */
#define RT_ENTER                                                                                               \
    RT_LOCK;                                                                                                   \
    do {                                                                                                       \
        int rt_code_ = ww_rt_enter();                                                                          \
        if (rt_code_) return ww_rt_set(rt_code_);                                                              \
    } while (0)
/* Notes the calling thread's last error and returns it. */
int ww_rt_set(int code);
int ww_rt_last_error(bool clear);
/* One line on stderr, "warpwatt: ...". */
__attribute__((format(printf, 1, 2))) void ww_rt_say(const char *fmt, ...);
/* True if launches of this process can be recorded. If the program closed the trace's descriptor, this is
 * reported once, and the recording is abandoned. */
bool ww_rt_recording(void);
/* Reports what failed, and returns `code`. */
int ww_rt_say_error(const struct ww_error *error, int code);
/* For entry points that do nothing: reports that once per name; returns RT_ERROR_NOT_SUPPORTED. */
int ww_rt_missing(const char *name);
/* The CUDA error of a failed kernel. */
int ww_rt_kernel_error(const struct ww_error *error);

/* core_mapped.c: bytes from p to the end of the readable memory around it; 0 if it cannot be read. */
uint64_t ww_rt_readable(const void *p);

/* core_options.c: reads the environment. Errors: WW_USAGE with the variable's name. */
enum ww_code ww_rt_read_options(struct rt_options *o, struct ww_error *error);

/* core_module.c */
struct rt_kernel *ww_rt_find_kernel(const void *host);
/* Loads the kernel's module. Returns a RT_ERROR_... code. */
int ww_rt_use_kernel(struct rt_kernel *k);
int ww_rt_load(struct rt_binary *b);
/* Device address and size of a symbol given by its shadow variable. */
int ww_rt_symbol(const void *symbol, uint64_t *address, uint64_t *bytes);

/* core_memory.c */
/* Host memory behind [p, p + n): of device, pinned or managed memory; NULL if it is none of these. `bad` is set
 * if the range begins in one but leaves it. */
unsigned char *ww_rt_device_bytes(const void *p, size_t n, bool *bad);
/* Memory at an address that host and device share, zeroed. NULL if none is left. */
void *ww_rt_shared_new(size_t bytes, enum rt_kind kind, unsigned flags);
struct rt_shared *ww_rt_shared_find(const void *p);

/* core_copy.c: one row of a copy; host pointers of both sides, checked. Returns RT_ERROR_.... */
int ww_rt_copy_rows(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
                    int kind);
/* Advances modelled time by a copy. */
void ww_rt_copy_time(size_t bytes, bool over_link);

/* core_device.c */
/* The device's attribute by its number in cudaDeviceAttr; false if there is none. */
bool ww_rt_attribute(int number, int *value);
/* rt_memory.c: bytes of device memory. */
size_t ww_rt_global_memory(void);
#pragma GCC visibility pop

#endif
