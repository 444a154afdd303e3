/* program.h: the program of a space: what is built, with which parameters, how it is launched, and what its
 * outputs are compared with.
 *
 * A variant is one level of each of the program's parameters. It is built to PTX (by nvcc, by a command, or the
 * PTX is there), recorded under a launch description whose numbers are expressions over the parameters, and
 * replayed. Builds are kept by content, below XDG_CACHE_HOME/warpwatt/build. */
#ifndef WW_SWEEP_PROGRAM_H
#define WW_SWEEP_PROGRAM_H

#include "../../api/record.h"
#include "../../config/json.h"
#include "sweep.h"

#define WW_PROGRAM_WORDS 64 /* of a command, of options; files; constraints */
#define WW_PROGRAM_TIMEOUT_S 300
#define WW_PROGRAM_HASH 33

/* How a parameter reaches the source. */
enum ww_program_pass {
    WW_PASS_DEFINE,      /* -D of nvcc */
    WW_PASS_HEADER,      /* #define in front of the source, and its value in "#pragma unroll NAME" */
    WW_PASS_ENVIRONMENT, /* a variable of the command */
    WW_PASS_LAUNCH,      /* not at all: the launch's expressions, and {NAME} in file names and options */
    WW_PASS_COUNT
};

struct ww_program_compare {
    size_t params;
    const char *const *key; /* of the reference variant */
    const struct ww_sweep_level *level;
    const char **buffer;
    size_t buffers;
    double tolerance, relative;
};

struct ww_program {
    const char *source; /* .cu or .ptx, {NAME} in it; NULL: a command */
    const char **command;
    size_t command_count;
    const char **file; /* that the build reads besides */
    size_t file_count;
    const char **option; /* of nvcc */
    size_t option_count;
    const char *ptxas_options, *max_registers; /* NULL: none; an expression */
    const char **constraint;
    size_t constraint_count;
    const char *table; /* of the only variants that are meant, or NULL */
    uint64_t *row;     /* hashes of its rows' levels, ascending */
    size_t rows, params;
    size_t *last; /* by constraint: the last parameter that it names */
    cJSON *launch;
    const struct ww_program_compare *compare; /* NULL: nothing is compared */
    enum ww_record_code code;
    bool all_ctas; /* never a sample of the CTAs */
    unsigned timeout_s;
    const char *name;           /* in results */
    char hash[WW_PROGRAM_HASH]; /* of all that variants have in common, with the files' contents */
    const char *toolkit;        /* what builds and assembles, as text */
    const char *made_by;        /* for people: what kind of code is recorded, and what makes it */
    bool lowered;               /* machine code was wanted, and no ptxas here makes it */
};

/* Reads the section. Errors: WW_INPUT with the JSON path. */
struct space_reader;
enum ww_code ww_program_read(struct space_reader *r, const cJSON *node);
void ww_program_free(struct ww_program *program);
/* Looks at the files and the toolkit that builds are of, and fills in hash. Errors: WW_IO (a file),
 * WW_UNSUPPORTED (no nvcc). */
enum ww_code ww_program_open(struct ww_sweep_space *space, const char *arch, struct ww_error *error);

/* program_rows.c: reads "variants"; whether a variant is one of its rows. */
enum ww_code ww_program_read_rows(const struct space_reader *r, const cJSON *node);
bool ww_program_has_row(const struct ww_sweep_space *space, const uint16_t *level);

/* Whether the constraints hold that name no parameter behind `upto`, and do name that one. */
enum ww_code ww_program_holds(const struct ww_sweep_space *space, const uint16_t *level, size_t upto,
                              bool *holds, struct ww_error *error);

/* A variant: its parameters' levels, by parameter of the space. */
struct ww_variant_at {
    const struct ww_sweep_space *space;
    const struct ww_sweep_level *const
        *level; /* of the first `params` parameters of the space, the program's */
    size_t params;
};
/* For expressions over a variant's parameters; context: struct ww_variant_at. */
bool ww_variant_lookup(const void *context, const char *name, int64_t *value);
/* A text with {NAME} replaced by levels. Errors: WW_INPUT. */
enum ww_code ww_variant_text(const struct ww_variant_at *at, const char *text, const char *where,
                             struct ww_buf *out, struct ww_error *error);
/* The launch description with its expressions computed, as JSON text. Errors: WW_INPUT. */
enum ww_code ww_variant_launch(const struct ww_variant_at *at, struct ww_buf *out, struct ww_error *error);

/* ---- program_build.c ---- */

/* False: the build is to stop; context is the job's. */
struct ww_build_watch {
    bool (*goes_on)(void *context);
    void *context;
};
/* Builds a variant, unless the cache has it. *path: its PTX. *seconds: what the build took, 0 if it was there.
 * Errors: WW_INPUT (it does not compile; with the compiler's first words), WW_UNSUPPORTED (no nvcc), WW_IO (a
 * limit), WW_FAIL (stopped). */
enum ww_code ww_variant_build(const struct ww_variant_at *at, const char *arch,
                              const struct ww_build_watch *watch, struct ww_buf *path, double *seconds,
                              struct ww_error *error);
/* program_options.c: what makes a variant's code, as words of a command line. Errors: those of expressions. */
enum ww_code ww_variant_options(const struct ww_variant_at *at, struct ww_buf *out, struct ww_error *error);
/* The compiler's version, as text in the arena. Errors: WW_UNSUPPORTED (there is none). */
enum ww_code ww_program_compiler(struct ww_arena *arena, const char **text, struct ww_error *error);

#endif
