/* cubin.h: reading machine code for NVIDIA GPUs (an ELF file that ptxas or nvlink makes).
 *
 * What is read is not trusted: each offset, size and index is checked, and an error says where. Numbers are
 * taken as the file has them; nothing is executed here.
 *
 * The code of all text sections lies in one block, each section at a multiple of its alignment:
 *
 *     code:     | .text.a | .text.b | ...          offset o of the block has the address WW_CUBIN_CODE + o
 *     externs:  vprintf, malloc, ...               number i has the address WW_CUBIN_EXTERN + 16 i
 *
 * Calls within a section are relative in the machine's code; only relocations put absolute addresses into it.
 * A cubin is read (ww_cubin_read), then placed (ww_cubin_place), which applies the relocations to its own
 * copies of code, constants and initial values. Strings, arrays and bytes belong to the cubin until
 * ww_cubin_free.
 */
#ifndef WW_TRACES_SASS_CUBIN_H
#define WW_TRACES_SASS_CUBIN_H

#include "../../../estimator/base/err.h"

#define WW_CUBIN_BANKS 5         /* constant banks 0 to 4 */
#define WW_CUBIN_BANK_USER 3u    /* of __constant__ variables */
#define WW_CUBIN_EXTERN 0x1000u  /* address of the first function that the driver supplies */
#define WW_CUBIN_CODE 0x100000u  /* address of the first byte of `code` */
#define WW_CUBIN_BANK_MAX 65536u /* bytes of one constant bank */

/* A parameter of a kernel: where it lies from the start of the parameters. */
struct ww_cubin_param {
    uint32_t offset, size;
};
/* A source line: instructions from byte `offset` of the section on, up to the next entry. File 0: unknown. */
struct ww_cubin_line {
    uint32_t offset, file, line;
};
/* An indirect branch at `offset` of the section and its targets: `count` of the kernel's targets from `first`.
 */
struct ww_cubin_branch {
    uint32_t offset, first, count;
};
struct ww_cubin_bytes {
    unsigned char *data;
    uint64_t size;
};
/* A named piece of a text section: functions inside a kernel, or the section's own name. */
struct ww_cubin_function {
    const char *name;
    uint64_t offset, size; /* in the code block */
    bool entry;            /* a kernel, or a function of its own section */
};

/* A text section: a kernel, or a device function that is linked separately. */
struct ww_cubin_kernel {
    const char *name;
    bool entry;                /* a kernel: can be launched */
    uint64_t code, code_bytes; /* offset of the section in the code block; bytes */
    uint32_t registers;        /* general registers of a thread; 0: not told */
    /* Static shared memory, with what the architecture reserves in front (sm_90: 1024). */
    uint32_t shared_bytes;
    uint32_t local_bytes; /* stack of a thread: MIN_STACK_SIZE, FRAME_SIZE where that is larger */
    bool stack_unknown;   /* it may need more (recursion, calls by pointer) */
    uint32_t barriers;
    uint32_t max_threads[3], required_threads[3]; /* 0: no limit told */
    uint32_t cluster[3];                          /* CTAs of a cluster; 0: not told */
    uint32_t param_offset, param_bytes;           /* place in bank 0 */
    struct ww_cubin_param *params;
    uint32_t param_count;
    struct ww_cubin_bytes bank[WW_CUBIN_BANKS]; /* bank 0 without values of the driver and the launch; bytes may
                                                   be shared by kernels (banks 3 and 4); size 0: no such bank */
    struct ww_cubin_line *lines;
    size_t line_count;
    uint32_t *exits, *syscalls; /* offsets in the section */
    size_t exit_count, syscall_count;
    struct ww_cubin_branch *branches;
    size_t branch_count;
    uint32_t *targets; /* offsets in the section */
    size_t target_count;
};

/* A variable in global or constant memory. */
struct ww_cubin_variable {
    const char *name;
    bool constant;   /* lies in bank 3 of every kernel, else in global memory */
    uint64_t offset; /* in `globals`, or in bank 3 */
    uint64_t size;
};

struct cubin_name;
struct ww_arena;
struct ww_cubin_section;
struct ww_cubin_symbol;
struct ww_cubin {
    char *where;      /* name in messages */
    uint32_t arch;    /* compute capability x 10: 75 */
    bool specific;    /* runs on this very architecture only (sm_90a) */
    bool relocatable; /* was not linked: a module of kernels alone, which need nothing of other modules */
    char *compiler;   /* version and options as ptxas wrote them into the file; "": not told */
    struct ww_cubin_kernel *kernels;
    size_t kernel_count;
    struct ww_cubin_function *functions; /* by offset */
    size_t function_count;
    struct ww_cubin_bytes code;
    struct ww_cubin_bytes globals; /* initial values of the module's global memory; what follows them is zero */
    uint64_t globals_bytes;        /* bytes of all of it */
    uint64_t globals_align;        /* a power of two, at most 4096 */
    struct ww_cubin_variable *variables;
    size_t variable_count;
    const char **externs; /* functions and variables that are not in the file */
    size_t extern_count;
    const char **files; /* of line tables; files[0] is "" */
    size_t file_count;
    /* The rest is the reader's own. */
    unsigned char *bytes;
    uint64_t size;
    struct ww_cubin_section *sections;
    uint32_t section_count;
    struct ww_cubin_symbol *symbols;
    uint32_t symbol_count;
    struct cubin_name *names;
    struct ww_cubin_bytes shared_banks[WW_CUBIN_BANKS];
    struct ww_arena *arena; /* holds all of it */
};

/* True if the bytes begin as a cubin does. */
bool ww_cubin_is(const void *data, size_t n);
/* Whether the bytes are a linked cubin of sm_70 or newer, and whether it runs on its own architecture alone. */
bool ww_cubin_look(const void *data, size_t n, bool *specific);
/* Reads a cubin from n bytes, which are copied. `where` names it in errors. On success free with
 * ww_cubin_free. Errors: WW_INPUT (with the offset), WW_UNSUPPORTED (an architecture before sm_70), WW_NOMEM.
 */
enum ww_code ww_cubin_read(const void *data, size_t n, const char *where, struct ww_cubin **cubin,
                           struct ww_error *error);
/* Applies all relocations: global memory lies at `globals`. Errors: WW_INPUT, WW_UNSUPPORTED (a type that is
 * not known, an undefined variable). Once for a cubin. */
enum ww_code ww_cubin_place(struct ww_cubin *cubin, uint64_t globals, struct ww_error *error);
void ww_cubin_free(struct ww_cubin *cubin);

const struct ww_cubin_kernel *ww_cubin_kernel(const struct ww_cubin *cubin, const char *name);
const struct ww_cubin_variable *ww_cubin_variable(const struct ww_cubin *cubin, const char *name);
/* The kernel or function whose code holds byte `offset` of the code block, NULL if there is none. */
const struct ww_cubin_kernel *ww_cubin_section_at(const struct ww_cubin *cubin, uint64_t offset);
/* The name of the function that the driver supplies at a code address; NULL if none. */
const char *ww_cubin_extern(const struct ww_cubin *cubin, uint64_t address);
/* The source line of byte `offset` of a kernel's section: false if none is known. */
bool ww_cubin_line(const struct ww_cubin *cubin, const struct ww_cubin_kernel *kernel, uint64_t offset,
                   const char **file, uint32_t *line);

#endif
