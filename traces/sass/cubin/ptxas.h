/* ptxas.h: machine code from PTX, by NVIDIA's assembler where a CUDA toolkit is installed.
 *
 * ptxas is looked for in WARPWATT_PTXAS (a list of files, separated by ':'; if it is set, nowhere else), in
 * PATH, in CUDA_HOME/bin, and in the bin directories of /usr/local/cuda*, /opt/cuda* and
 * /usr/lib/nvidia-cuda-toolkit. Each one is asked which architectures it supports; of those that support the
 * wanted one the first that reads the PTX's version is taken, else the first with `.version` and `.target`
 * lowered to what it reads. For sm_70 and sm_72, which toolkits from 13 on do not know, sm_75 is the last
 * resort.
 *
 * Compiled code is kept in XDG_CACHE_HOME/warpwatt/ptxas (~/.cache/warpwatt/ptxas), a file for each PTX text,
 * version of ptxas, and options. Files appear whole (renamed into place), so that processes may share it; a
 * damaged file is compiled again. A directory that cannot be written only costs time. It takes at most
 * WARPWATT_PTXAS_CACHE_MB megabytes (512 if that is unset; 0: nothing is kept).
 */
#ifndef WW_TRACES_SASS_PTXAS_H
#define WW_TRACES_SASS_PTXAS_H

#include "../../../estimator/base/buf.h"
#include "../../../estimator/base/err.h"

struct ww_ptxas_request {
    const char *text; /* PTX */
    size_t n;
    const char *name;       /* of the PTX, in messages */
    uint32_t arch;          /* compute capability x 10: 75 */
    uint32_t max_registers; /* of a thread; 0: the architecture's limit */
    const char *options;    /* further options of ptxas, separated by spaces; NULL: none */
    bool no_cache;
    ww_progress_fn progress; /* asked while ptxas runs; false: ptxas is ended. NULL: not called */
    void *context;
};
struct ww_ptxas_result {
    struct ww_buf cubin;
    uint32_t arch;      /* that the code is of */
    uint32_t target;    /* of the PTX: 75 of '.target sm_75' */
    bool substitute;    /* of another architecture than the wanted one */
    bool lowered;       /* .version or .target was lowered */
    bool cached;        /* taken from the cache */
    char origin[240];   /* "ptxas 12.4.131 -arch sm_70" */
    char warnings[400]; /* that ptxas printed; "" if none */
};
/* Compiles. On success free with ww_ptxas_result_free. Errors: WW_UNSUPPORTED (no ptxas for this architecture),
 * WW_INPUT (ptxas refused the PTX, with its first words), WW_IO, WW_FAIL (progress stopped it), WW_NOMEM. */
enum ww_code ww_ptxas_compile(const struct ww_ptxas_request *request, struct ww_ptxas_result *result,
                              struct ww_error *error);
void ww_ptxas_result_free(struct ww_ptxas_result *result);

/* ---- private to ptxas*.c ---- */

#define PTXAS_ARCH_MAX 48
#define PTXAS_TOOL_MAX 32
struct ptxas_tool {
    char *path;
    char version[32]; /* "12.4.131" */
    unsigned major, minor;
    struct {
        uint32_t arch;
        bool specific; /* sm_90a, too */
    } arch[PTXAS_ARCH_MAX];
    size_t arch_count;
    bool asked, works;
};
struct ptxas_tools {
    struct ptxas_tool tool[PTXAS_TOOL_MAX];
    size_t count;
};
/* The files that may be ptxas, in order; none of them is run. Free with ww_ptxas_tools_free. */
enum ww_code ww_ptxas_tools_find(struct ptxas_tools *tools, struct ww_error *error);
/* Asks for version and architectures, once. */
void ww_ptxas_tool_ask(struct ptxas_tool *tool);
bool ww_ptxas_tool_supports(const struct ptxas_tool *tool, uint32_t arch, bool specific);
/* The newest PTX version that it reads, x 10: 8.4 is 84. */
unsigned ww_ptxas_tool_ptx(const struct ptxas_tool *tool);
void ww_ptxas_tools_free(struct ptxas_tools *tools);
/* Reads the version and architectures out of what ptxas prints. */
bool ww_ptxas_parse_version(const char *text, struct ptxas_tool *tool);
void ww_ptxas_parse_architectures(const char *help, struct ptxas_tool *tool);

/* The first .version and .target of a PTX text. */
struct ptxas_header {
    unsigned version;                                  /* x 10 */
    uint32_t target;                                   /* 90 */
    char suffix;                                       /* 'a' or 'f', 0: none */
    size_t version_at, version_n, target_at, target_n; /* of the numbers ("8.4", "sm_90a") in the text */
};
bool ww_ptxas_read_header(const char *text, size_t n, struct ptxas_header *header);
/* The text with other numbers in its header; the target's suffix stays only for `specific` code. */
enum ww_code ww_ptxas_lower_header(const char *text, size_t n, const struct ptxas_header *header,
                                   unsigned version, uint32_t target, bool specific, struct ww_buf *out,
                                   struct ww_error *error);

/* Cache: the key is everything that decides about the code. False: not there, or damaged. */
bool ww_ptxas_cache_get(const char *key, const char *text, size_t n, struct ww_buf *cubin);
void ww_ptxas_cache_put(const char *key, const char *text, size_t n, const struct ww_buf *cubin);
/* Bytes that the cache may take: WARPWATT_PTXAS_CACHE_MB, or 512 MB if that is unset or no number. */
uint64_t ww_ptxas_cache_limit(void);
/* Removes files of the cache from its folder, those unused for longest first, until they take at most `limit`.
 */
void ww_ptxas_cache_trim(const char *folder, uint64_t limit);

#endif
