/* module.h: machine code on a device: a cubin with its global memory placed, its kernels decoded when first
 * used.
 *
 * Ownership: a module owns its cubin and kernels; its global memory belongs to the device's table of memory.
 */
#ifndef WW_TRACES_SASS_MODULE_H
#define WW_TRACES_SASS_MODULE_H

#include "../exec/grid.h"

/* A kernel that has been used. */
struct sx_loaded {
    struct sx_loaded *next;
    const struct ww_cubin_kernel *source;
    struct sx_kernel *kernel; /* NULL: it could not be made ready, see `error` */
    struct ww_error error;
    bool said; /* a warning has been given */
};

struct sx_module {
    struct ww_cubin *cubin;
    char *origin;          /* where the code comes from */
    char arch[16];         /* "sm_75" */
    uint64_t globals;      /* address of the global memory, 0: it has none */
    uint64_t bank_address; /* device address of the constant variables; 0: none yet */
    struct sx_loaded *loaded;
};

/* Reads and places a cubin. Errors: those of ww_cubin_read and ww_cubin_place, WW_UNSUPPORTED (an architecture
 * whose launches are not known), WW_NOMEM. */
enum ww_code ww_sx_module_new(struct mem *mem, const void *data, size_t n, const char *where,
                              const char *origin, struct sx_module **module, struct ww_error *error);
/* NULL is fine. */
void ww_sx_module_free(struct sx_module *module);
/* The kernel of that name; *kernel is NULL if there is none. Check kernel->kernel. Errors: WW_NOMEM. */
enum ww_code ww_sx_module_kernel(struct sx_module *module, const char *name, struct sx_loaded **kernel,
                                 struct ww_error *error);
/* Bytes of static shared memory that the program asked for. */
uint32_t ww_sx_shared_static(const struct sx_module *module, const struct ww_cubin_kernel *kernel);

/* What a trace says of an instruction at `pc`, but for its strings. */
void ww_sx_describe(struct ww_inst *inst, const struct ww_sass_insn *in, uint32_t pc);

/* Fills the recorder's instruction table: entry n is instruction n of the kernel; twins for generic addresses
 * stand behind them. */
enum ww_code ww_sx_table(struct recorder *r, const struct sx_kernel *k, struct ww_error *error);

#endif
