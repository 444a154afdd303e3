/* micro.h: microbenchmarks as traces that are made in memory, CTA by CTA, when a replay asks for them.
 *
 * They follow X. Mei and X. Chu, "Dissecting GPU Memory Hierarchy through Microbenchmarking" (TPDS 2017): the
 * chase is listing 3 with the loop unrolled by the trace, the strided shared-memory access listing 4, the
 * copies sections 5.1 and 6.1. Reads of clock() need no instruction of their own around a load: a replay knows
 * the cycle in which each instruction issues. Where a kernel of the paper reads the clock at a barrier, the
 * trace has an instruction of class sysreg, whose issue is the reading.
 *
 * Ownership: a microbenchmark owns its launch; CTAs made from it are given back with ww_micro_release and hold
 * memory of their own, so that any number of them may be out. Nothing refers to the caller's arrays.
 */
#ifndef WW_TRACES_MICRO_H
#define WW_TRACES_MICRO_H

#include "../trace.h"

/* How a load reaches memory. */
enum ww_micro_path {
    WW_MICRO_GLOBAL,    /* a plain global load: in the L1 where the GPU caches global loads there */
    WW_MICRO_L2,        /* past the L1 (ld.cg) */
    WW_MICRO_READ_ONLY, /* the read-only data cache (ld.global.nc) */
    WW_MICRO_TEXTURE,   /* a texture fetch */
    WW_MICRO_SHARED,
    WW_MICRO_PATH_COUNT
};
const char *ww_micro_path_name(enum ww_micro_path path);

struct ww_micro;

const struct ww_launch *ww_micro_launch(const struct ww_micro *m);
void ww_micro_free(struct ww_micro *m);
/* Makes the streams of a CTA. Errors: WW_USAGE (no such CTA), WW_NOMEM. */
enum ww_code ww_micro_cta(const struct ww_micro *m, uint64_t cta, struct ww_cta_trace *out,
                          struct ww_error *error);
void ww_micro_release(const struct ww_micro *m, struct ww_cta_trace *cta);
/* Writes it as a trace file that `run` replays. Errors: those of the writer. */
enum ww_code ww_micro_write(const struct ww_micro *m, const char *path, struct ww_error *error);

/* Static instructions whose issue tells the time: from *first to before *end. For a chase these are the load
 * and what uses the last value: issue i + 1 less issue i is the latency of access i. For the others, the
 * readings of the clock. */
void ww_micro_timed(const struct ww_micro *m, uint32_t *first, uint32_t *end);

/* ---- chases: one CTA ---- */

/* A fine-grained P-chase of one thread: `count` loads of 4 bytes at the addresses, in order, each of which
 * needs the value of the one before. The list is all accesses, with those that warm the caches. `shared_bytes`:
 * of the CTA, for shared addresses. */
struct ww_micro_chase {
    enum ww_micro_path path;
    const uint64_t *address;
    size_t count;
    uint32_t shared_bytes;
};
enum ww_code ww_micro_chase(const struct ww_micro_chase *what, struct ww_micro **out, struct ww_error *error);

/* A full warp, each lane at stride * lane words of shared memory, `count` times, each load dependent on the one
 * before (listing 4). `width`: bytes of a word, 4 or 8. */
enum ww_code ww_micro_smem_stride(uint32_t stride, uint32_t width, size_t count, struct ww_micro **out,
                                  struct ww_error *error);

/* ---- throughput: many CTAs ---- */

/* Every thread repeats: `loads` loads, then `stores` stores that need the loads' values. Element e (of `width`
 * bytes, neighbouring threads side by side) of operand k in repetition r lies at
 *     base[k] + (cta mod wrap_ctas) * cta_bytes + moved mod wrap_bytes + thread * width
 *     moved = first_bytes + k * operand_bytes + r * repeat_bytes
 * with wrap_bytes and wrap_ctas 0 for no wrapping. The first `wave` CTAs, as many as a GPU holds, are as in the
 * middle of a long grid (without prologue and clock): they count in another order, a permutation, in which they
 * lie on SMs in no order. The one that counts as c leaves out (wave - 1 - c) / wave of all repetitions at their
 * beginning, so that they end one after another. Operands 0 .. loads - 1 are loads. */
#define WW_MICRO_OPERANDS 64
struct ww_micro_bulk {
    enum ww_micro_path path; /* of the loads; WW_MICRO_SHARED: of loads and stores */
    uint32_t ctas, cta_size, loads, stores, repeats, width, shared_bytes;
    uint32_t prologue; /* integer instructions before all, each of which needs the one before */
    bool used;         /* the last values are looked at in the end */
    uint32_t wrap_ctas, wave;
    uint64_t cta_bytes, operand_bytes, repeat_bytes, wrap_bytes;
    uint64_t base[WW_MICRO_OPERANDS];
    bool clocked; /* barrier and clock before and after each repetition */
};
enum ww_code ww_micro_bulk(const struct ww_micro_bulk *what, struct ww_micro **out, struct ww_error *error);
/* Repetitions that the CTA leaves out. */
uint32_t ww_micro_left_out(const struct ww_micro_bulk *what, uint64_t cta);

/* Copies `bytes` (rounded up to whole repetitions) from one global array to another with `ilp` words of 4 bytes
 * a thread at a time: section 5.1, figure 12. *copied (may be NULL) is what is copied. */
enum ww_code ww_micro_gcopy(uint32_t ctas, uint32_t cta_size, uint32_t ilp, uint64_t bytes, uint64_t *copied,
                            struct ww_micro **out, struct ww_error *error);
/* Copies `ilp` words a thread between two regions of shared memory, `repeats` times between barriers and
 * readings of the clock: section 6.1, figure 15. `ctas` of the whole GPU. ilp 0: barriers and readings alone.
 */
enum ww_code ww_micro_scopy(uint32_t ctas, uint32_t cta_size, uint32_t ilp, uint32_t repeats,
                            struct ww_micro **out, struct ww_error *error);
/* One element of 8 bytes a thread, CTAs of which `shared_bytes` let one or a few lie in an SM: `loads` arrays
 * read, `stores` (at most one) written (read: 1, 0; triad: 3, 1), as gpu-stream of RRZE-HPC/gpu-benches. The
 * code is as a compiler writes it, with stall counts that count on a GPU of `arch` (NULL: on none; of the
 * caller, for as long as the microbenchmark lasts). Timed are the loads. */
struct ww_micro_stream {
    uint32_t ctas, cta_size, loads, stores, shared_bytes;
    uint64_t apart; /* bytes from one array to the next */
    const char *arch;
};
enum ww_code ww_micro_stream(const struct ww_micro_stream *what, struct ww_micro **out, struct ww_error *error);
/* Each CTA reads the same `bytes` `passes` times in loads of 4 bytes, as gpu-cache of RRZE-HPC/gpu-benches.
 * bytes: a multiple of 4 * cta_size; both: so that a thread has a multiple of 8 loads, which are at once. */
enum ww_code ww_micro_cache_read(uint32_t ctas, uint32_t cta_size, uint64_t bytes, uint32_t passes,
                                 struct ww_micro **out, struct ww_error *error);
/* CTAs read parts of an array, as those of gpu-l2-cache of RRZE-HPC/gpu-benches: CTA k reads `rows` rows of
 * part k mod `parts`. The first `wave`, as many as the GPU holds, have read a piece of theirs before, the first
 * one most of it, so that the next ones begin one after another; which part they read and how far they are has
 * nothing to do with their SMs. A thread has `row_loads` (1 or 2) loads of 8 bytes in a row; the same row of
 * all parts lies side by side. Four (2) or eight (1) loads are at once; `rows`, of a part, is a multiple of
 * what they read. *read (may be NULL): rows that all CTAs read. */
struct ww_micro_parts {
    uint32_t ctas, wave, cta_size, parts, rows, row_loads;
};
enum ww_code ww_micro_parts_read(const struct ww_micro_parts *what, uint64_t *read, struct ww_micro **out,
                                 struct ww_error *error);

/* ---- programs ---- */

/* A CTA of `threads` threads of which every warp executes the same steps, with the same accesses. What is
 * timed: instructions from `first` to before `end`. */
struct ww_micro_program {
    const char *kernel, *arch; /* of the caller, for as long as the microbenchmark lasts */
    const struct ww_inst *inst;
    const struct ww_step *step;
    const struct ww_access *access;
    uint32_t inst_count, step_count, access_count, threads, first, end, shared_bytes;
    uint32_t cluster;          /* CTAs of the launch, above 1 a cluster; 0 is 1 */
    const char *const *string; /* mnemonics, the first one "", or NULL: none; as long as the microbenchmark */
    uint32_t string_count;
};
enum ww_code ww_micro_program(const struct ww_micro_program *what, struct ww_micro **out,
                              struct ww_error *error);

/* One CTA whose threads read the same eight elements of `width` bytes again and again, as those of gpu-strides
 * of RRZE-HPC/gpu-benches: four elements apart, from the thread's place on. The place, in elements, is
 *     (x mod 64) * column + (y mod 32) * row      x = thread mod columns, y = thread / columns
 * The loads of a repetition are at once; then their products are added up. */
struct ww_micro_lanes {
    uint32_t cta_size, width, first, columns, column, row, repeats;
};
enum ww_code ww_micro_lanes_read(const struct ww_micro_lanes *what, struct ww_micro **out,
                                 struct ww_error *error);

/* Each of `ctas` x `cta_size` threads reads a double of the array at `from`, multiplies it and writes it to the
 * array at `to`, as the kernel of gpu-small-kernels of RRZE-HPC/gpu-benches. */
struct ww_micro_scale {
    uint32_t ctas, cta_size;
    uint64_t from, to;
};
enum ww_code ww_micro_scale(const struct ww_micro_scale *what, struct ww_micro **out, struct ww_error *error);

/* Each thread reads `words` words (a multiple of 4) of each of two arrays, and makes of every pair a chain of
 * `rounds` fused multiply-adds between a subtraction and an addition: 2 + 2 x rounds operations for 8 bytes, as
 * gpu-roofline of RRZE-HPC/gpu-benches. Four pairs are read at once, two chains are under way. */
struct ww_micro_roofline {
    uint32_t ctas, cta_size, words, rounds;
};
enum ww_code ww_micro_roofline(const struct ww_micro_roofline *what, struct ww_micro **out,
                               struct ww_error *error);

/* ---- address lists ---- */

/* Addresses of `passes` walks over `bytes` from `base` in steps of `stride`, in the order of rising addresses.
 * Returns how many; `address` (NULL: only count) has room for them. */
size_t ww_micro_walk(uint64_t base, uint64_t bytes, uint64_t stride, uint32_t passes, uint64_t *address);

#endif
