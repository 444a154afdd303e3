/* profile.h: the analytical model's profile of a trace, independent of any GPU.
 *
 *   trace --one pass--> counts, global reuse, rows  \
 *         --samples---> reuse on one SM, paths       > struct ww_model_profile --> model.h, FILE.profile
 *
 * A profile is plain data without pointers into the trace. It is made once for a trace, stored next to it
 * (profile_file.h), and every design point is computed from it alone. Related published models profile the
 * intervals of a representative warp (J.-C. Huang et al., GPUMech, MICRO 2014), the divergence of its accesses
 * (L. Wang et al., MDM, MICRO 2020) and the structural limits of a core (J. Lee et al., GCoM, ISCA 2022). Here
 * a CTA's dependences are kept as cutting planes of its critical path (profile_path.h), so that intervals
 * follow from the latencies of each design point instead of those of one profiled machine. */
#ifndef WW_FAST_PROFILE_H
#define WW_FAST_PROFILE_H

#include "../api/trace.h"
#include "../../traces/trace.h"

/* What a step of a critical path takes. */
enum ww_path_class {
    WW_PATH_ISSUE,  /* issue after the warp's instruction before it */
    WW_PATH_BRANCH, /* fetch after a branch */
    WW_PATH_INT,    /* results of the pipelines ... */
    WW_PATH_IMUL,
    WW_PATH_FP32,
    WW_PATH_FP16,
    WW_PATH_FP64,
    WW_PATH_SFU,
    WW_PATH_TENSOR,
    WW_PATH_CONTROL, /* predicates and uniform results of control instructions */
    WW_PATH_SHARED,  /* shared memory and shuffles, without conflicts */
    WW_PATH_PASS,    /* each extra pass of a conflict */
    WW_PATH_UPDATE,  /* serialised updates of shared atomics */
    WW_PATH_CONST,   /* constant cache */
    WW_PATH_MEMORY,  /* loads and atomics of global and local memory */
    WW_PATH_LINE,    /* each line of these beyond the first */
    WW_PATH_BARRIER, /* from the last warp's arrival to the next issue */
    WW_PATH_COUNT
};

#define WW_PATH_PLANES 12  /* supporting planes of a CTA's critical path; see profile_path.h */
#define WW_REUSE_BINS 64   /* two an octave; bin 0 holds distance 0, the last one what was never used before */
#define WW_LOCAL_LEVELS 6  /* CTAs that an SM runs at a time: 1, 2, 4, ... 32 */
#define WW_GLOBAL_LEVELS 3 /* CTAs that all SMs together run at a time: 16, 64, 256 */
#define WW_ROW_WINDOWS 3   /* sectors that wait at all DRAM channels: 512, 2048, 8192 */
#define WW_LSU_WIDTHS 3    /* lanes of the load/store unit: 32, 16, 8 */
#define WW_HOT_PIECES 64   /* of 256 bytes, which atomics update most; see profile_hot.h */

/* Reuse distances on one SM, in lines of 128 bytes. A sector hits a cache of lines that holds more lines than
 * the largest distance at which its line was used since the sector was. */
struct ww_local_reuse {
    float sector[2][WW_REUSE_BINS]; /* sectors of loads: plain ones; read-only, texture and local ones */
    float line[2][WW_REUSE_BINS];   /* lines of these */
    float episode[2]
                 [WW_REUSE_BINS]; /* waits for loads, by their farthest sector: all loads; if plain ones miss */
};

/* Reuse distances in the order in which all SMs together use memory, so many CTAs at a time. */
struct ww_global_reuse {
    float sector[WW_REUSE_BINS];  /* sectors of loads */
    float line[WW_REUSE_BINS];    /* lines of loads, which an unsectored L1 asks for */
    float store[WW_REUSE_BINS];   /* sectors of stores and atomics: since they were stored to last */
    float episode[WW_REUSE_BINS]; /* as of the local ones */
};

/* Misses whose rows are counted. */
enum ww_row_kind {
    WW_ROW_SECTORS,
    WW_ROW_LINES,  /* loads that ask for whole lines */
    WW_ROW_STORES, /* pieces are lines: evicted one by one; one window */
    WW_ROW_KINDS
};

/* One launch. Counts are of the CTAs that the trace holds; paths and distances are sampled. */
struct ww_kernel_profile {
    char kernel[64];
    uint32_t grid[3], block[3];
    uint32_t registers_per_thread, shared_static, shared_dynamic, warps_per_cta;
    uint64_t ctas, warp_instructions, thread_instructions;
    uint64_t pipe[WW_PIPE_COUNT];   /* warp instructions by pipeline; system registers apart */
    uint64_t sysreg, pairs;         /* pairs: instructions that could go with the one before them */
    uint64_t lane[WW_PIPE_COUNT];   /* active lanes of these */
    uint64_t arith[WW_ARITH_COUNT]; /* active lanes by what they compute */
    uint64_t register_reads, register_writes,
        conflicts2; /* conflicts2: extra reads with two banks of 2 ports */
    uint64_t branches, divergent, barriers, shuffles;
    uint64_t global_loads, global_stores, atomics, local, texture, constants; /* warp instructions */
    uint64_t shared, shared_passes, shared_store_passes, shared_updates;
    uint64_t load_sectors[2], load_lines[2]; /* as of struct ww_local_reuse */
    uint64_t bypass_sectors, bypass_lines;   /* loads past the L1 */
    uint64_t store_sectors, store_lines, store_bytes, atomic_sectors, atomic_lines, atomic_updates;
    uint64_t lsu_cycles[WW_LSU_WIDTHS];      /* look-ups of lines, at least those of the lanes */
    uint64_t code_lines;                     /* lines of 128 bytes of executed instructions */
    uint64_t constant_lines;                 /* distinct ones of 64 bytes */
    uint64_t pages;                          /* of 2 MiB that no launch used before */
    uint64_t stored_loaded;                  /* sectors that were first stored to in lines that were in use */
    uint64_t stored_before;                  /* sectors that earlier launches stored to first */
    double cta_mean, cta_max, cta_deviation; /* warp instructions of a CTA */
    double rows_per_sector[WW_ROW_KINDS][WW_ROW_WINDOWS];   /* rows of DRAM that a window of misses opens */
    double chunks_per_sector[WW_ROW_KINDS][WW_ROW_WINDOWS]; /* pieces of 256 bytes in it; profile_rows.h */
    uint64_t hot_piece[WW_HOT_PIECES];            /* addresses / 256, those that are updated most first */
    uint64_t hot_updates[WW_HOT_PIECES];          /* of atomic_updates; 0: there is none any more */
    float plane[WW_PATH_PLANES][WW_PATH_COUNT];   /* mean over sampled CTAs */
    float longest[WW_PATH_PLANES][WW_PATH_COUNT]; /* of the CTA with the most instructions */
    struct ww_local_reuse local_reuse[WW_LOCAL_LEVELS];
    struct ww_global_reuse global_reuse[WW_GLOBAL_LEVELS];
};

struct ww_model_profile {
    char hash[17]; /* of the trace */
    size_t count;
    struct ww_kernel_profile *launch;
};

/* Reads the whole trace once, and samples of it several times. Free with ww_model_profile_free, also after an
 * error. Errors: those of ww_trace_load_cta, WW_FAIL (progress stopped it), WW_NOMEM. */
enum ww_code ww_model_profile_make(struct ww_trace *trace, ww_progress_fn progress, void *context,
                                   struct ww_model_profile *profile, struct ww_error *error);
void ww_model_profile_free(struct ww_model_profile *profile);

/* The bin of a distance in lines, and the least distance of a bin. */
unsigned ww_reuse_bin(double lines);
double ww_reuse_bin_start(unsigned bin);

#endif
