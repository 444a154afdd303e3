/* gpu.h: a GPU's parameters as a C struct, from gpu.def. Immutable once loaded. */
#ifndef WW_CONFIG_GPU_H
#define WW_CONFIG_GPU_H

#include "../api/gpu.h"
#include "param.h"

struct ww_gpu_spec {
#define U32(field, ...) uint32_t field;
#define F64(field, ...) double field;
#define BOOL(field, ...) bool field;
#define ENUM(field, ...) uint32_t field;
#define STR(field, ...) char field[WW_STR_MAX];
#include "gpu.def"
#undef U32
#undef F64
#undef BOOL
#undef ENUM
#undef STR
};

/* Enumerators in the order of the names in gpu.def. */
enum ww_l1_write { WW_L1_KEEP, WW_L1_UPDATE, WW_L1_EVICT, WW_L1_ALLOCATE };
enum ww_idle_sm { WW_IDLE_SM_TABLE, WW_IDLE_SM_CLOCK_GATED, WW_IDLE_SM_POWER_GATED };
enum ww_leakage { WW_LEAKAGE_VOLTAGE, WW_LEAKAGE_CONSTANT };
enum ww_replace { WW_REPLACE_LRU, WW_REPLACE_FIFO, WW_REPLACE_RANDOM, WW_REPLACE_WEIGHTED };
enum ww_set_hash { WW_HASH_NONE, WW_HASH_XOR };
enum ww_l2_write_miss { WW_L2_WRITE_ALLOCATE, WW_L2_WRITE_FETCH };
enum ww_l2_prefetch_mode { WW_L2_PREFETCH_OFF, WW_L2_PREFETCH_SEQUENTIAL };
enum ww_dependences { WW_DEPENDENCES_SCOREBOARD, WW_DEPENDENCES_CONTROL };
enum ww_core_sched { WW_CORE_SCHED_GTO, WW_CORE_SCHED_CGGTY };
enum ww_imul_shares { WW_IMUL_OWN, WW_IMUL_INT, WW_IMUL_FP32 };
/* In the order of pipe.tensor.unit; see tensor.def. */
enum ww_tensor_unit {
    WW_TENSOR_LANES,
    WW_TENSOR_VOLTA,
    WW_TENSOR_TURING,
    WW_TENSOR_GA100,
    WW_TENSOR_GA10X,
    WW_TENSOR_AD10X,
    WW_TENSOR_GH100,
    WW_TENSOR_GB20X,
    WW_TENSOR_GB100
};

/* Name of the GPU's own warp scheduler. */
static inline const char *ww_gpu_sched(const struct ww_gpu_spec *s) {
    return s->core_sched == WW_CORE_SCHED_CGGTY ? "cggty" : "gto";
}

/* Line that requests to the memory system lie in, in bytes. */
static inline uint32_t ww_gpu_request_line(const struct ww_gpu_spec *s) {
    return s->lsu_line ? s->lsu_line : s->l1_line;
}

struct ww_gpu {
    struct ww_gpu_spec spec;
    struct ww_arena arena;
    char *json;                   /* canonical, of all parameters */
    const char **source;          /* one per row, "" where defaulted */
    const char *ancestor_table;   /* power table named as the nearest ancestor that has one, or NULL */
    struct ww_override *override; /* that made a difference */
    size_t override_count;
    const char **file; /* what it was read from: its own file, then its ancestors' */
    size_t file_count;
};

/* WW_USAGE if `out` is one of the files that the GPU was read from. */
enum ww_code ww_gpu_not_output(const struct ww_gpu *gpu, const char *out, struct ww_error *error);

extern const struct ww_param ww_gpu_rows[];
extern const size_t ww_gpu_row_count;

/* Checks what single bounds cannot: multiples, powers of two, capacities that divide. WW_INPUT names the
 * keys. Called by ww_gpu_load. */
enum ww_code ww_gpu_check(const struct ww_gpu_spec *spec, const char *where, struct ww_error *error);

/* Directories searched for models, in order; see ww_gpu_load. `out` gets the path of models/NAME.json or
 * power tables (subdir "models" or "power"). WW_INPUT lists the directories tried. */
enum ww_code ww_find_data(const char *subdir, const char *name, char *out, size_t out_size,
                          struct ww_error *error);

#endif
