/* Size and speed of the trace container on made-up kernels: bytes for each warp instruction, and warp
 * instructions encoded and decoded in a second on one core.
 *
 *     bench_wwt              the made-up kernels
 *     bench_wwt FILE...      traces, as they are
 */
#include "../../estimator/warpwatt.h"
#include "../../estimator/base/rng.h"
#include "../../traces/wwt/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WARPS 8
#define STEPS_MAX 4096

/* Fills steps and accesses of one warp; `id` numbers the warps of the grid. */
struct stream {
    struct ww_step step[STEPS_MAX];
    struct ww_access access[STEPS_MAX];
    uint64_t pool[STEPS_MAX * 32];
    uint32_t steps, accesses, used;
};

#define INSTS 64
static struct ww_inst insts[INSTS];

static void step(struct stream *s, uint32_t inst, uint32_t mask) {
    s->step[s->steps++] = (struct ww_step){inst, mask};
}

static void affine(struct stream *s, uint32_t inst, uint32_t mask, uint64_t base, int32_t stride) {
    step(s, inst, mask);
    s->access[s->accesses++] = (struct ww_access){base, stride, WW_AFFINE};
}

/* Access instructions are those whose number is 3 modulo 4. */
static void plain(struct stream *s, uint32_t first, uint32_t n, uint32_t mask) {
    for (uint32_t i = 0; i < n; i++)
        if ((first + i) % 4 != 3) step(s, first + i, mask);
}

static void saxpy(struct stream *s, struct ww_rng *r, uint64_t id) {
    (void)r;
    plain(s, 0, 11, UINT32_MAX);
    affine(s, 11, UINT32_MAX, 0x7f0000000000u + id * 128, 4);
    affine(s, 15, UINT32_MAX, 0x7f4000000000u + id * 128, 4);
    plain(s, 16, 1, UINT32_MAX);
    affine(s, 19, UINT32_MAX, 0x7f4000000000u + id * 128, 4);
    plain(s, 20, 1, UINT32_MAX);
}

/* 16 x 16 tiles: a warp covers two rows, so that its addresses are two pieces. */
static void rows(struct stream *s, uint32_t inst, uint64_t base, uint64_t pitch) {
    step(s, inst, UINT32_MAX);
    s->access[s->accesses++] = (struct ww_access){0, 0, s->used};
    for (unsigned l = 0; l < 32; l++) s->pool[s->used++] = base + 4 * (l % 16) + pitch * (l / 16);
}

static void sgemm(struct stream *s, struct ww_rng *r, uint64_t id) {
    (void)r;
    uint64_t cta = id / WARPS, w = id % WARPS, y = cta / 64, x = cta % 64;
    plain(s, 0, 20, UINT32_MAX);
    for (unsigned k = 0; k < 64; k++) {
        rows(s, 23, 0x7f0000000000u + (y * 16 + w * 2) * 4096 + k * 64, 4096);
        rows(s, 27, 0x7f4000000000u + (k * 16 + w * 2) * 4096 + x * 64, 4096);
        affine(s, 31, UINT32_MAX, w * 128, 4);
        for (unsigned i = 0; i < 16; i++) affine(s, 35, UINT32_MAX, i * 64, 0), plain(s, 36, 2, UINT32_MAX);
        plain(s, 40, 3, UINT32_MAX);
    }
}

/* A lane walks a row of its own; lanes drop out; columns are random. */
static void spmv(struct stream *s, struct ww_rng *r, uint64_t id) {
    uint32_t length[32], longest = 0;
    uint64_t start[32], at = id * 32 * 8;
    for (unsigned l = 0; l < 32; l++) {
        length[l] = 2 + ww_rng_below(r, 14);
        start[l] = at;
        at += length[l];
        if (length[l] > longest) longest = length[l];
    }
    plain(s, 0, 10, UINT32_MAX);
    for (uint32_t k = 0; k < longest; k++) {
        uint32_t mask = 0;
        for (unsigned l = 0; l < 32; l++) mask |= (uint32_t)(k < length[l]) << l;
        for (unsigned a = 0; a < 3; a++) {
            step(s, 11 + 4 * a, mask);
            s->access[s->accesses++] = (struct ww_access){0, 0, s->used};
            for (unsigned l = 0; l < 32; l++)
                if (mask >> l & 1)
                    s->pool[s->used++] = 0x7f0000000000u + ((uint64_t)a << 36) +
                                         4 * (a < 2 ? start[l] + k : ww_rng_below(r, 1u << 18));
        }
        plain(s, 24, 4, mask);
        plain(s, 28, 3, mask);
    }
    plain(s, 32, 3, UINT32_MAX);
}

struct kernel {
    const char *name;
    void (*make)(struct stream *, struct ww_rng *, uint64_t);
    uint32_t ctas;
};

static void check(enum ww_code code, const struct ww_error *e) {
    if (code == WW_OK) return;
    fprintf(stderr, "bench_wwt: %s: %s\n", e->where, e->text);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Writes the kernel's trace; returns the seconds that the writer took. */
static double record(const struct kernel *k, const char *path) {
    static const char *const strings[] = {"", "INST"};
    static struct stream s[WARPS];
    struct ww_launch l = {.kernel = k->name,
                          .arch = "sm_70",
                          .grid = {k->ctas, 1, 1},
                          .block = {WARPS * 32, 1, 1},
                          .inst = insts,
                          .inst_count = INSTS,
                          .string = strings,
                          .string_count = 2};
    struct ww_trace_writer *w;
    struct ww_error e;
    struct ww_rng r;
    double seconds = 0;
    ww_rng_seed(&r, 1);
    for (uint32_t i = 0; i < INSTS; i++)
        insts[i] = (struct ww_inst){.pc = i * 16,
                                    .op = i % 4 == 3 ? WW_OP_LOAD : WW_OP_FP32,
                                    .space = i % 4 == 3 ? WW_SPACE_GLOBAL : WW_SPACE_NONE,
                                    .width = i % 4 == 3 ? 4 : 0,
                                    .flags = i % 4 == 3 ? WW_INST_ACCESS : 0,
                                    .mnemonic = 1};
    check(ww_trace_writer_new(path, NULL, 0, &w, &e), &e);
    check(ww_trace_writer_launch(w, &l, &e), &e);
    for (uint32_t c = 0; c < k->ctas; c++) {
        struct ww_warp_stream warp[WARPS];
        for (uint32_t i = 0; i < WARPS; i++) {
            s[i].steps = s[i].accesses = s[i].used = 0;
            k->make(&s[i], &r, (uint64_t)c * WARPS + i);
            warp[i] = (struct ww_warp_stream){s[i].step, s[i].access, s[i].pool, s[i].steps, s[i].accesses};
        }
        double t = now();
        check(ww_trace_writer_cta(w, &(struct ww_cta_trace){c, WARPS, warp, NULL}, &e), &e);
        seconds += now() - t;
    }
    double t = now();
    check(ww_trace_writer_end_launch(w, &e), &e);
    check(ww_trace_writer_finish(w, NULL, &e), &e);
    return seconds + now() - t;
}

/* Decodes every group of the file once; prints a line. */
static void measure(const char *name, const char *path, double record_seconds) {
    struct ww_trace *t;
    struct ww_error e;
    uint64_t warps = 0, accesses = 0;
    double start = now();
    check(ww_trace_open(path, &t, &e), &e);
    for (size_t i = 0; i < t->index.launch_count; i++) {
        const struct ww_wwt_launch *l = &t->index.launch[i];
        warps += l->view.warp_instructions;
        for (uint32_t g = 0; g < l->group_count; g++) {
            struct ww_cta_trace cta;
            check(ww_trace_load_cta(t, i, l->group[g].run[0].first, &cta, &e), &e);
            accesses += l->group[g].decoded->access_count;
            ww_trace_release_cta(t, &cta);
        }
    }
    double seconds = now() - start;
    printf("%-16s %10llu warp instructions  %5.1f%% access  %7.3f bytes/warp instruction", name,
           (unsigned long long)warps, warps ? 100.0 * (double)accesses / (double)warps : 0,
           warps ? (double)t->size / (double)warps : 0);
    if (record_seconds > 0) printf("  written %6.1f M/s", 1e-6 * (double)warps / record_seconds);
    printf("  decoded %6.1f M/s\n", 1e-6 * (double)warps / seconds);
    ww_trace_close(t);
}

int main(int argc, char **argv) {
    static const struct kernel kernels[] = {
        {"saxpy-like", saxpy, 20000}, {"sgemm-like", sgemm, 256}, {"spmv-like", spmv, 1000}};
    char path[64];
    for (int i = 1; i < argc; i++) measure(argv[i], argv[i], 0);
    if (argc > 1) return 0;
    snprintf(path, sizeof path, "/tmp/bench-wwt-%ld.wwt", (long)getpid());
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        measure(kernels[i].name, path, record(&kernels[i], path));
    unlink(path);
    return 0;
}
