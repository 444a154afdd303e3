/* Microbenchmarks as traces that are made in memory. */
#include "internal.h"
#include <stdlib.h>

const char *ww_micro_path_name(enum ww_micro_path path) {
    static const char *const name[] = {"global", "L2", "read-only", "texture", "shared"};
    return path < WW_MICRO_PATH_COUNT ? name[path] : "";
}

const struct ww_launch *ww_micro_launch(const struct ww_micro *m) {
    return &m->launch;
}

void ww_micro_timed(const struct ww_micro *m, uint32_t *first, uint32_t *end) {
    *first = m->timed_first;
    *end = m->timed_end;
}

void ww_micro_free(struct ww_micro *m) {
    if (!m) return;
    ww_arena_free(&m->arena);
    free(m);
}

enum ww_code ww_micro_new(const char *kernel, uint32_t ctas, uint32_t cta_size, uint32_t inst_count,
                          size_t step_count, struct ww_micro **out, struct ww_error *error) {
    static const char *const string[] = {"", "LD", "ST", "USE", "BAR", "CLOCK", "EXIT", "FADD", "FFMA", "DMUL"};
    struct ww_micro *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m) return ww_fail_nomem(error, "a microbenchmark");
    ww_arena_init(&m->arena, 0);
    m->inst = ww_arena_array(&m->arena, inst_count, sizeof *m->inst);
    m->step = step_count <= UINT32_MAX ? ww_arena_array(&m->arena, step_count, sizeof *m->step) : NULL;
    if (!m->inst || !m->step) {
        ww_micro_free(m);
        return ww_fail_nomem(error, "a microbenchmark");
    }
    m->launch = (struct ww_launch){.kernel = kernel,
                                   .arch = "",
                                   .grid = {ctas, 1, 1},
                                   .block = {cta_size, 1, 1},
                                   .registers_per_thread = 16,
                                   .cta_count = ctas,
                                   .warps_per_cta = (cta_size + 31) / 32,
                                   .inst = m->inst,
                                   .inst_count = inst_count,
                                   .string = string,
                                   .string_count = sizeof string / sizeof string[0]};
    for (uint32_t i = 0; i < inst_count; i++) m->inst[i].pc = i * 8;
    *out = m;
    return WW_OK;
}

void ww_micro_set_path(struct ww_inst *inst, enum ww_micro_path path) {
    static const uint8_t space[] = {WW_SPACE_GLOBAL, WW_SPACE_GLOBAL, WW_SPACE_GLOBAL, WW_SPACE_TEX,
                                    WW_SPACE_SHARED};
    inst->op = path == WW_MICRO_TEXTURE ? WW_OP_TEXTURE : WW_OP_LOAD;
    inst->space = space[path];
    inst->mnemonic = WW_MICRO_LD;
    inst->flags = WW_INST_ACCESS;
    if (path == WW_MICRO_L2) inst->flags |= WW_INST_BYPASS_L1;
    if (path == WW_MICRO_READ_ONLY) inst->flags |= WW_INST_READ_ONLY;
}

static uint32_t lanes_of(const struct ww_micro *m, uint32_t warp) {
    uint32_t left = m->launch.block[0] - warp * 32;
    return left >= 32 ? UINT32_MAX : (1u << left) - 1;
}

/* The steps of a warp: the common ones, or for a last warp that is not full a copy with its mask. */
static const struct ww_step *steps_of(const struct ww_micro *m, uint32_t warp, struct ww_step *own) {
    uint32_t lanes = lanes_of(m, warp);
    if (lanes == UINT32_MAX || m->launch.warps_per_cta == 1) return m->step;
    for (uint32_t i = 0; i < m->step_count; i++)
        own[i] = (struct ww_step){m->step[i].inst, m->step[i].mask & lanes};
    return own;
}

static enum ww_code fill(const struct ww_micro *m, uint64_t cta, struct ww_arena *arena,
                         struct ww_cta_trace *out, struct ww_error *error) {
    uint32_t warps = m->launch.warps_per_cta, leave = m->left_out ? m->left_out(m, cta) : 0;
    struct ww_warp_stream *stream = ww_arena_array(arena, warps, sizeof *stream);
    bool tail = warps > 1 && m->launch.block[0] % 32;
    struct ww_step *own = tail ? ww_arena_array(arena, m->step_count, sizeof *own) : NULL;
    if (!stream || (tail && !own)) return ww_fail_nomem(error, "a CTA of a microbenchmark");
    for (uint32_t w = 0; w < warps; w++) {
        struct ww_access *access = m->access;
        if (!access) {
            access = ww_arena_array(arena, m->access_count, sizeof *access);
            if (!access) return ww_fail_nomem(error, "a CTA of a microbenchmark");
            m->addresses(m, cta, w, access);
        }
        stream[w] = (struct ww_warp_stream){.step = steps_of(m, w, own) + leave,
                                            .access = access + leave,
                                            .pool = m->pool,
                                            .step_count = m->step_count - leave,
                                            .access_count = m->access_count - leave};
    }
    *out = (struct ww_cta_trace){.index = cta, .warp_count = warps, .warp = stream, .group = arena};
    return WW_OK;
}

enum ww_code ww_micro_cta(const struct ww_micro *m, uint64_t cta, struct ww_cta_trace *out,
                          struct ww_error *error) {
    if (cta >= m->launch.cta_count)
        return ww_fail(error, WW_USAGE, m->launch.kernel, "there is no CTA %llu", (unsigned long long)cta);
    struct ww_arena *arena = malloc(sizeof *arena);
    if (!arena) return ww_fail_nomem(error, "a CTA of a microbenchmark");
    ww_arena_init(arena, 0);
    enum ww_code code = fill(m, cta, arena, out, error);
    if (code == WW_OK) return WW_OK;
    ww_arena_free(arena);
    free(arena);
    return code;
}

void ww_micro_release(const struct ww_micro *m, struct ww_cta_trace *cta) {
    (void)m;
    if (!cta->group) return;
    ww_arena_free(cta->group);
    free(cta->group);
    cta->group = NULL;
}

static enum ww_code write_ctas(const struct ww_micro *m, struct ww_trace_writer *w, struct ww_error *error) {
    WW_TRY(ww_trace_writer_launch(w, &m->launch, error));
    for (uint64_t k = 0; k < m->launch.cta_count; k++) {
        struct ww_cta_trace cta;
        WW_TRY(ww_micro_cta(m, k, &cta, error));
        enum ww_code code = ww_trace_writer_cta(w, &cta, error);
        ww_micro_release(m, &cta);
        if (code != WW_OK) return code;
    }
    return ww_trace_writer_end_launch(w, error);
}

enum ww_code ww_micro_write(const struct ww_micro *m, const char *path, struct ww_error *error) {
    const struct ww_trace_meta meta = {.program = m->launch.kernel, .tool = "warpwatt " WW_VERSION};
    struct ww_trace_writer *w;
    WW_TRY(ww_trace_writer_new(path, &meta, 0, &w, error));
    enum ww_code code = write_ctas(m, w, error);
    if (code == WW_OK) return ww_trace_writer_finish(w, NULL, error);
    ww_trace_writer_abort(w);
    return code;
}

size_t ww_micro_walk(uint64_t base, uint64_t bytes, uint64_t stride, uint32_t passes, uint64_t *address) {
    size_t n = 0;
    for (uint32_t p = 0; p < passes; p++)
        for (uint64_t at = 0; at < bytes; at += stride) {
            if (address) address[n] = base + at;
            n++;
        }
    return n;
}
