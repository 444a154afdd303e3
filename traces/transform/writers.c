/* Whether a trace in which the engine fills shared memory keeps the program of the one in which warps do. */
#include "../../estimator/api/trace.h"
#include "writers.h"
#include "copy.h"
#include "../dma.h"
#include "regions.h"
#include <string.h>

enum { LANES = 32, REGISTERS = 256, CONSTANT = 1 };

/* Where a register's value comes from, by lane: 0 unknown, CONSTANT, else a global address. */
typedef uint64_t origin_row[REGISTERS][LANES];

/* What the warps of the first trace loaded: the writer of each word, in the order of the warp's loads. */
struct log {
    uint64_t *writer;
    size_t count, room;
};

/* One CTA that is run. */
struct machine {
    const struct ww_launch *launch;
    const struct ww_cta_trace *cta;
    const uint8_t *role; /* NULL: the engine copies */
    uint32_t words;
    uint64_t *writer, *fills; /* by word of shared memory */
    origin_row *origin;       /* by warp, if there are roles */
    uint32_t *step, *access, *stores, (*starts)[WW_DMA_BUFFERS], done[WW_DMA_BUFFERS];
    size_t *loaded;  /* by warp: words loaded */
    struct log *log; /* by warp */
    bool writes_log; /* else compares with it */
    struct ww_writers *out;
    bool refused;
};

static uint64_t mix(uint64_t a, uint64_t b) {
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 29;
}

static void fill(struct machine *m, uint64_t word, uint64_t from) {
    if (word >= m->words)
        m->refused = true;
    else
        m->writer[word] = mix(mix(1, from), ++m->fills[word]);
}

static void transfer(struct machine *m, uint32_t warp, const struct ww_access *a, uint32_t mask,
                     const uint64_t *pool) {
    struct ww_dma d;
    uint64_t room[32] = {0};
    if (!ww_dma_unpack(ww_list_addresses(a, pool, (uint32_t)__builtin_popcount(mask), room), &d)) {
        m->refused = true;
        return;
    }
    if (++m->starts[warp][d.buffer] <= m->done[d.buffer]) return; /* another warp has started it */
    m->done[d.buffer]++;
    for (uint32_t r = 0; r < ww_dma_rows(&d); r++) {
        struct ww_dma_row row = ww_dma_row(&d, r);
        for (uint32_t k = 0; k < row.left + row.count + row.right; k++) {
            bool memory = k >= row.left && k < row.left + row.count;
            fill(m, ww_dma_place(&d, row.first + k) / 4,
                 memory ? row.global + (k - row.left) * ww_dma_pitch(&d) : CONSTANT);
        }
    }
}

static void load_word(struct machine *m, uint32_t warp, uint64_t word) {
    struct log *log = &m->log[warp];
    size_t at = m->loaded[warp]++;
    uint64_t writer = m->writer[word];
    if (m->writes_log) {
        if (at < log->room) log->writer[log->count++] = writer;
        return;
    }
    m->out->loads++;
    m->out->changed += at >= log->count || log->writer[at] != writer;
}

static void shared_lane(struct machine *m, const struct ww_inst *in, bool copy, uint32_t warp, uint32_t lane,
                        uint64_t address) {
    uint32_t data = 0;
    for (uint32_t s = 0; s < in->src_count; s++)
        if (in->src[s].reg < WW_REG_PRED) data = in->src[s].reg; /* the last one */
    for (uint32_t r = 0; r < in->width / 4u; r++) {
        uint64_t word = address / 4 + r;
        if (word >= m->words) {
            m->refused = true;
            return;
        }
        if (copy)
            fill(m, word, m->origin[warp][data + r][lane]);
        else if (in->op == WW_OP_LOAD)
            load_word(m, warp, word);
        else
            m->writer[word] = mix(mix(2, warp), (uint64_t)m->stores[warp] * LANES * 4 + lane * 4 + r);
    }
}

static void shared_access(struct machine *m, const struct ww_inst *in, const struct ww_step *step,
                          const struct ww_access *a, const uint64_t *pool, uint32_t warp) {
    bool copy = m->role && m->role[step->inst] == WW_COPY_STORE;
    if (in->op == WW_OP_STORE && !copy) m->stores[warp]++;
    for (uint32_t left = step->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        shared_lane(m, in, copy, warp, lane, ww_region_lane_address(a, pool, step->mask, lane));
    }
}

/* What an instruction's destination holds afterwards. */
static void follow(struct machine *m, const struct ww_inst *in, uint32_t warp, uint32_t mask,
                   const struct ww_access *a, const uint64_t *pool) {
    uint32_t registers = 0, from = 0;
    if (in->dst_count == 0 || in->dst[0].reg >= WW_REG_PRED) return;
    bool load = a && in->op == WW_OP_LOAD && in->space == WW_SPACE_GLOBAL;
    bool move = strstr(m->launch->string[in->mnemonic], "MOV") != NULL;
    for (uint32_t s = 0; s < in->src_count; s++)
        if (in->src[s].reg < WW_REG_PRED) from = in->src[s].reg, registers++;
    for (uint32_t r = 0; r < in->dst[0].n; r++)
        for (uint32_t left = mask; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            uint64_t v = move && in->src_count == 0 ? CONSTANT : 0;
            if (load) v = ww_region_lane_address(a, pool, mask, lane) + 4u * (uint64_t)r;
            if (move && registers == 1) v = m->origin[warp][from + r][lane];
            m->origin[warp][in->dst[0].reg + r][lane] = v;
        }
}

/* Runs a warp to its next barrier or its end; true if it met a barrier. */
static bool run_warp(struct machine *m, uint32_t warp) {
    const struct ww_warp_stream *s = &m->cta->warp[warp];
    while (m->step[warp] < s->step_count) {
        const struct ww_step *step = &s->step[m->step[warp]++];
        const struct ww_inst *in = &m->launch->inst[step->inst];
        const struct ww_access *a = in->flags & WW_INST_ACCESS ? &s->access[m->access[warp]++] : NULL;
        if (in->op == WW_OP_BARRIER) return true;
        if (in->op == WW_OP_DMA && a) transfer(m, warp, a, step->mask, s->pool);
        if (a && in->space == WW_SPACE_SHARED) shared_access(m, in, step, a, s->pool, warp);
        if (m->origin) follow(m, in, warp, step->mask, a, s->pool);
    }
    return false;
}

static void run_cta(struct machine *m, bool backwards) {
    for (bool more = true; more && !m->refused;) {
        more = false;
        for (uint32_t k = 0; k < m->cta->warp_count; k++)
            more = run_warp(m, backwards ? m->cta->warp_count - 1 - k : k) || more;
    }
}

/* At most so many words does a warp load from shared memory. */
static size_t words_loaded(const struct ww_launch *launch, const struct ww_warp_stream *s) {
    size_t n = 0;
    for (uint32_t k = 0; k < s->step_count; k++) {
        const struct ww_inst *in = &launch->inst[s->step[k].inst];
        if (in->op == WW_OP_LOAD && in->space == WW_SPACE_SHARED) n += LANES * (in->width / 4u);
    }
    return n;
}

static enum ww_code make_logs(struct machine *m, struct ww_arena *arena, struct ww_error *error) {
    uint32_t warps = m->cta->warp_count;
    m->writes_log = true;
    m->log = ww_arena_array(arena, warps, sizeof *m->log);
    m->origin = ww_arena_array(arena, warps, sizeof *m->origin);
    if (!m->log || !m->origin) return ww_fail_nomem(error, "writers of shared memory");
    for (uint32_t w = 0; w < warps; w++) {
        m->log[w].room = words_loaded(m->launch, &m->cta->warp[w]);
        m->log[w].writer = ww_arena_raw(arena, m->log[w].room + 1, sizeof *m->log[w].writer);
        if (!m->log[w].writer) return ww_fail_nomem(error, "writers of shared memory");
    }
    return WW_OK;
}

static enum ww_code make_state(struct machine *m, struct ww_arena *arena, struct ww_error *error) {
    uint32_t warps = m->cta->warp_count;
    m->words = (m->launch->shared_static + m->launch->shared_dynamic + 3) / 4;
    m->writer = ww_arena_array(arena, m->words + 1u, sizeof *m->writer);
    m->fills = ww_arena_array(arena, m->words + 1u, sizeof *m->fills);
    m->step = ww_arena_array(arena, 3 * (size_t)warps, sizeof *m->step);
    m->starts = ww_arena_array(arena, warps, sizeof *m->starts);
    m->loaded = ww_arena_array(arena, warps, sizeof *m->loaded);
    if (!m->writer || !m->fills || !m->step || !m->starts || !m->loaded)
        return ww_fail_nomem(error, "writers of shared memory");
    m->access = m->step + warps;
    m->stores = m->access + warps;
    return WW_OK;
}

/* Runs the CTA of a trace. log: NULL to make it (*made), else to compare with. */
static enum ww_code run(struct ww_trace *trace, size_t launch, uint64_t index, const uint8_t *role,
                        bool backwards, struct log *log, struct log **made, struct ww_writers *out,
                        struct ww_arena *arena, struct ww_error *error) {
    struct machine m = {.role = role, .log = log, .out = out};
    struct ww_cta_trace cta;
    WW_TRY(ww_trace_launch(trace, launch, &m.launch, error));
    WW_TRY(ww_trace_load_cta(trace, launch, index, &cta, error));
    m.cta = &cta;
    enum ww_code code = make_state(&m, arena, error);
    if (code == WW_OK && !log) code = make_logs(&m, arena, error);
    if (code == WW_OK) run_cta(&m, backwards);
    for (uint32_t w = 0; code == WW_OK && log && w < cta.warp_count; w++)
        if (m.loaded[w] < log[w].count) out->changed += log[w].count - m.loaded[w];
    if (made) *made = m.log;
    ww_trace_release_cta(trace, &cta);
    if (code == WW_OK && m.refused)
        return ww_fail(error, WW_UNSUPPORTED, "", "CTA %llu: access beyond its shared memory",
                       (unsigned long long)index);
    return code;
}

enum ww_code ww_writers_compare(struct ww_trace *before, struct ww_trace *after, size_t launch, uint64_t cta,
                                const uint8_t *role, struct ww_writers *out, struct ww_error *error) {
    struct ww_arena arena;
    struct log *log = NULL;
    ww_arena_init(&arena, 0);
    enum ww_code code = run(before, launch, cta, role, false, NULL, &log, out, &arena, error);
    if (code == WW_OK) code = run(after, launch, cta, NULL, false, log, NULL, out, &arena, error);
    if (code == WW_OK) code = run(after, launch, cta, NULL, true, log, NULL, out, &arena, error);
    ww_arena_free(&arena);
    return code;
}

static enum ww_code compare_launch(struct ww_trace *before, struct ww_trace *after, size_t launch,
                                   struct ww_writers *out, struct ww_arena *arena, struct ww_error *error) {
    enum { LOOK = 64 }; /* CTAs that say which instructions copy */
    const struct ww_launch *l;
    const uint8_t *role;
    bool found;
    WW_TRY(ww_trace_launch(before, launch, &l, error));
    WW_TRY(ww_copy_find(before, launch, LOOK, arena, &role, &found, error));
    for (uint64_t cta = ww_trace_next_cta(before, launch, 0); cta < l->cta_count;
         cta = ww_trace_next_cta(before, launch, cta + 1))
        WW_TRY(ww_writers_compare(before, after, launch, cta, role, out, error));
    return WW_OK;
}

enum ww_code ww_writers_compare_all(struct ww_trace *before, struct ww_trace *after, struct ww_writers *out,
                                    struct ww_error *error) {
    struct ww_arena arena;
    enum ww_code code = WW_OK;
    ww_arena_init(&arena, 0);
    for (size_t l = 0; l < ww_trace_launch_count(before) && code == WW_OK; l++) {
        code = compare_launch(before, after, l, out, &arena, error);
        ww_arena_reset(&arena);
    }
    ww_arena_free(&arena);
    return code;
}
