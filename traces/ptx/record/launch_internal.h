/* launch_internal.h: the parsed launch description (launch_json.c reads it, launch_fill.c acts on it). */
#ifndef WW_TRACES_PTX_LAUNCH_INTERNAL_H
#define WW_TRACES_PTX_LAUNCH_INTERNAL_H

#include "../../../estimator/config/json.h"
#include "launch.h"

#define LAUNCH_BUFFERS 256u
#define LAUNCH_LAUNCHES 10000u
#define LAUNCH_ARGS 256u
#define LAUNCH_BYTES ((uint64_t)8 << 30)

/* Element types of buffers and arguments. */
enum launch_type {
    LAUNCH_U8,
    LAUNCH_S8,
    LAUNCH_U16,
    LAUNCH_S16,
    LAUNCH_U32,
    LAUNCH_S32,
    LAUNCH_U64,
    LAUNCH_S64,
    LAUNCH_F16,
    LAUNCH_BF16,
    LAUNCH_F32,
    LAUNCH_F64,
    LAUNCH_TYPES
};

struct launch_buffer {
    const char *name;
    enum launch_type type;
    uint64_t bytes, address;
    const cJSON *fill, *expect; /* in the document, or NULL */
    char path[128];             /* JSON path, for errors */
};

struct launch_arg {
    const struct launch_buffer *buffer; /* or a value: */
    uint64_t offset;
    unsigned char *data;
    size_t size;
};

struct launch_call {
    const char *kernel;
    uint32_t grid[3], block[3], shared, repeat;
    struct launch_arg *arg;
    uint32_t arg_count;
    char path[64]; /* JSON path, for errors */
};

struct launch_file {
    struct ww_arena arena;
    const char *path, *folder; /* folder: of relative paths in it, "" or ends in '/' */
    cJSON *json;
    struct launch_buffer *buffer;
    uint32_t buffer_count;
    struct launch_call *call;
    uint32_t call_count;
};

uint32_t ww_launch_type_bytes(enum launch_type type);
/* Their names, "u8 s8 ...". */
extern const char ww_launch_type_names[];
const char *ww_launch_type_name(enum launch_type type);
/* False if there is no such type. */
bool ww_launch_type_find(const char *name, enum launch_type *type);
/* A JSON number that a double holds: 1e999 is none. */
bool ww_launch_is_number(const cJSON *v);
/* A number stored as an element; whole numbers keep all 64 bits up to 2^53. False if it does not fit. */
bool ww_launch_store(enum launch_type type, double value, unsigned char *to);
double ww_launch_load(enum launch_type type, const unsigned char *from);
/* Fails with "file: path". */
__attribute__((format(printf, 4, 5))) enum ww_code ww_launch_fail(const struct launch_file *f, const char *path,
                                                                  struct ww_error *error, const char *fmt, ...);
/* Checks a fill or expect object's form. */
enum ww_code ww_launch_check_fill(const struct launch_file *f, const cJSON *fill, const char *path,
                                  bool is_expect, struct ww_error *error);

#endif
