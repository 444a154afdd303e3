/* The analytical model's profile of a trace, independent of any GPU. */
#include "../api/trace.h"
#include "profile.h"
#include "profile_count.h"
#include "profile_path.h"
#include "profile_rows.h"
#include "profile_run.h"
#include "profile_stack.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_STEPS 200000 /* instructions of a sample of one SM's CTAs */
#define LOCAL_SMS                                                                                              \
    61 /* that share the CTAs, unless there are fewer; CTAs of one SM are not aligned in the grid */
#define PATH_CTAS 6                 /* whose critical paths are taken, in addition to the longest one */
#define PATH_STEPS 60000            /* instructions of these */
#define GPU_SHARE 0.75              /* of the host's time: the passes over all SMs */
#define FULL (WW_GLOBAL_LEVELS - 1) /* the level of most CTAs at a time */
#define NOMINAL_L2 8192.0           /* lines of a cache whose misses show the locality of rows: 1 MiB */

unsigned ww_reuse_bin(double lines) {
    if (lines < 1) return 0;
    if (lines >= WW_STACK_NEVER) return WW_REUSE_BINS - 1;
    unsigned bin = 1 + (unsigned)(2 * log2(lines));
    return bin < WW_REUSE_BINS - 2 ? bin : WW_REUSE_BINS - 2;
}

double ww_reuse_bin_start(unsigned bin) {
    return bin == 0 ? 0 : bin == WW_REUSE_BINS - 1 ? WW_STACK_NEVER : exp2((bin - 1) / 2.0);
}

/* A profiler at work on one trace. */
struct maker {
    struct ww_trace *trace;
    ww_progress_fn progress;
    void *progress_context;
    size_t index;
    const struct ww_launch *launch;
    struct ww_kernel_profile *to;
    struct ww_profile_counter count;
    struct ww_rows *rows[WW_ROW_KINDS][WW_ROW_WINDOWS];
    struct ww_stack *global[WW_GLOBAL_LEVELS], *local; /* global: kept over launches, as the L2 is */
    unsigned at;                                       /* level of the pass over all that is under way */
    double before, all;    /* warp instructions of the launches before this one, of all */
    struct ww_seen *pages; /* the same */
    double stored;         /* sectors that were stored to, so far */
    struct ww_local_reuse *level;
    uint64_t longest, longest_steps;
};

static void put(float *bins, double distance, double weight) {
    bins[ww_reuse_bin(distance)] += (float)weight;
}

/* ---- all SMs ---- */

static unsigned windows_of(enum ww_row_kind kind) {
    return kind == WW_ROW_STORES ? 1 : WW_ROW_WINDOWS;
}

static void add_rows(struct maker *m, enum ww_row_kind kind, uint64_t line, uint32_t sectors) {
    for (unsigned w = 0; w < windows_of(kind); w++) ww_rows_add(m->rows[kind][w], line, sectors);
}

static void begin_rows(struct maker *m) {
    for (enum ww_row_kind k = 0; k < WW_ROW_KINDS; k++)
        for (unsigned w = 0; w < windows_of(k); w++)
            ww_rows_begin(m->rows[k][w], k == WW_ROW_STORES ? WW_ROWS_STORE_WINDOW : 512u << 2 * w,
                          k != WW_ROW_STORES);
}

static void end_rows(struct maker *m) {
    for (enum ww_row_kind k = 0; k < WW_ROW_KINDS; k++)
        for (unsigned w = 0; w < windows_of(k); w++) {
            struct ww_rows *r = m->rows[k][w];
            ww_rows_end(r);
            m->to->rows_per_sector[k][w] = r->sectors > 0 ? r->all_stretches / r->sectors : 0;
            m->to->chunks_per_sector[k][w] = r->sectors > 0 ? r->all_chunks / r->sectors : 0;
        }
}

static void global_line(struct maker *m, enum ww_walk_kind kind, const struct ww_walk_line *line,
                        double far[2]) {
    struct ww_global_reuse *g = &m->to->global_reuse[m->at];
    struct ww_stack_use use;
    bool store = kind == WW_WALK_STORE || kind == WW_WALK_ATOMIC;
    if (!ww_stack_use(m->global[m->at], line->line, line->sectors, store, &use)) return;
    uint32_t missed = 0;
    for (uint32_t s = 0; s < 4; s++) {
        if (!(line->sectors >> s & 1)) continue;
        put(store ? g->store : g->sector, use.sector[s], use.weight);
        if (store && m->at == FULL && use.sector[s] >= WW_STACK_NEVER) {
            m->stored += use.weight;
            if (use.line < WW_STACK_NEVER) m->to->stored_loaded += (uint64_t)use.weight;
        }
        if (use.sector[s] > far[0]) far[0] = use.sector[s];
        if (use.sector[s] >= NOMINAL_L2) missed |= 1u << s;
    }
    if (!store) put(g->line, use.line, use.weight);
    if (m->at != FULL) return;
    if (missed) add_rows(m, store ? WW_ROW_STORES : WW_ROW_SECTORS, line->line, missed);
    if (!store && use.line >= NOMINAL_L2) add_rows(m, WW_ROW_LINES, line->line, 15);
}

static void global_access(void *context, enum ww_walk_kind kind, const struct ww_walk_line *line, unsigned n,
                          double far[2]) {
    struct maker *m = context;
    if (m->at == FULL) ww_profile_count_access(&m->count, kind, line, n);
    for (unsigned i = 0; i < n; i++) global_line(m, kind, &line[i], far);
}

static void global_episode(void *context, const double far[2]) {
    struct maker *m = context;
    put(m->to->global_reuse[m->at].episode, far[0], 1);
}

static void global_step(void *context, const struct ww_walk *walk, const struct ww_inst *inst, uint32_t mask,
                        const struct ww_access *access, bool last) {
    struct maker *m = context;
    (void)last;
    ww_profile_count_step(&m->count, walk, inst, mask, access);
}

static void global_cta(void *context, uint64_t cta, uint64_t instructions) {
    struct maker *m = context;
    ww_profile_count_cta(&m->count, instructions);
    if (instructions <= m->longest_steps) return;
    m->longest = cta;
    m->longest_steps = instructions;
}

/* What is done of this launch, in its instructions, as what is done of the trace. */
static bool tell(const struct maker *m, double here) {
    double done = m->before + here, part = m->all > 0 ? done / m->all : 1;
    char of[64];
    if (!m->progress) return true;
    snprintf(of, sizeof of, "of %.0f warp instructions", m->all);
    return m->progress(m->progress_context, part < 1 ? part : 1, (uint64_t)done, of);
}

static bool global_go_on(void *context, uint64_t steps) {
    struct maker *m = context;
    double all = (double)m->launch->warp_instructions, part = all > 0 ? (double)steps / all : 1;
    return tell(m, GPU_SHARE * (FULL - m->at + part) / WW_GLOBAL_LEVELS * all);
}

/* Reuse with so many CTAs side by side over the GPU; the last level counts instructions, too. */
static enum ww_code pass_over_gpu(struct maker *m, unsigned level, struct ww_error *error) {
    bool counts = level == FULL;
    struct ww_profile_run run = {.trace = m->trace,
                                 .launch = m->index,
                                 .stride = 1,
                                 .most = m->launch->cta_count,
                                 .slots = 16u << 2 * level,
                                 .context = m,
                                 .access = global_access,
                                 .episode = global_episode,
                                 .step = counts ? global_step : NULL,
                                 .cta = counts ? global_cta : NULL,
                                 .go_on = global_go_on};
    m->at = level;
    return ww_profile_run(&run, error);
}

static enum ww_code pass_over_all(struct maker *m, struct ww_error *error) {
    m->longest = m->longest_steps = 0;
    begin_rows(m);
    WW_TRY(ww_profile_count_begin(&m->count, m->launch, m->pages, m->to, error));
    enum ww_code code = pass_over_gpu(m, FULL, error);
    ww_profile_count_end(&m->count);
    end_rows(m);
    for (unsigned level = FULL; code == WW_OK && level-- > 0;) code = pass_over_gpu(m, level, error);
    return code;
}

/* ---- one SM ---- */

static void local_access(void *context, enum ww_walk_kind kind, const struct ww_walk_line *line, unsigned n,
                         double far[2]) {
    struct maker *m = context;
    unsigned type = kind == WW_WALK_CACHED;
    if (kind != WW_WALK_LOAD &&
        kind != WW_WALK_CACHED) { /* not looked up for loading: it costs the L2's time */
        far[0] = far[1] = WW_STACK_NEVER;
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        struct ww_stack_use use;
        if (!ww_stack_use(m->local, line[i].line, line[i].sectors, false, &use)) continue;
        put(m->level->line[type], use.line, use.weight);
        for (uint32_t s = 0; s < 4; s++) {
            if (!(line[i].sectors >> s & 1)) continue;
            put(m->level->sector[type], use.sector[s], use.weight);
            if (use.sector[s] > far[0]) far[0] = use.sector[s];
        }
    }
    far[1] = type == 1 ? far[0] : WW_STACK_NEVER;
}

static void local_episode(void *context, const double far[2]) {
    struct maker *m = context;
    put(m->level->episode[0], far[0], 1);
    put(m->level->episode[1], far[1], 1);
}

/* The CTAs that one of several SMs would run, so many at a time. */
static enum ww_code pass_over_sm(struct maker *m, unsigned level, uint64_t first, uint64_t stride,
                                 struct ww_error *error) {
    struct ww_profile_run run = {.trace = m->trace,
                                 .launch = m->index,
                                 .first = first,
                                 .stride = stride,
                                 .most = (m->launch->cta_count + stride - 1) / stride,
                                 .slots = 1u << level,
                                 .steps = LOCAL_STEPS / 2,
                                 .context = m,
                                 .access = local_access,
                                 .episode = local_episode};
    m->level = &m->to->local_reuse[level];
    ww_stack_clear(m->local);
    return ww_profile_run(&run, error);
}

static enum ww_code pass_over_levels(struct maker *m, struct ww_error *error) {
    uint64_t ctas = m->launch->cta_count;
    const struct ww_kernel_profile *p = m->to;
    if (p->load_lines[0] + p->load_lines[1] + p->bypass_lines + p->atomic_lines == 0) return WW_OK;
    for (unsigned level = 0; level < WW_LOCAL_LEVELS; level++) {
        uint64_t at_a_time = 1u << level, stride = ctas / at_a_time;
        if (level > 0 && at_a_time > ctas) { /* all CTAs have been sampled */
            m->to->local_reuse[level] = m->to->local_reuse[level - 1];
            continue;
        }
        if (stride > LOCAL_SMS) stride = LOCAL_SMS;
        if (stride < 1) stride = 1;
        WW_TRY(pass_over_sm(m, level, 0, stride, error));
        if (stride > 2) WW_TRY(pass_over_sm(m, level, stride / 2, stride, error));
    }
    return WW_OK;
}

/* ---- paths ---- */

static enum ww_code add_paths(struct maker *m, struct ww_path *path, uint64_t index, double weight,
                              float plane[WW_PATH_PLANES][WW_PATH_COUNT], uint64_t *steps,
                              struct ww_error *error) {
    struct ww_cta_trace cta;
    double steps_of[WW_PATH_COUNT];
    WW_TRY(ww_trace_load_cta(m->trace, m->index, index, &cta, error));
    for (unsigned k = 0; k < WW_PATH_PLANES; k++) {
        struct ww_path_latency latency = ww_path_point(k);
        ww_path_longest(path, &cta, &latency, steps_of);
        for (int c = 0; c < WW_PATH_COUNT; c++) plane[k][c] += (float)(weight * steps_of[c]);
    }
    for (uint32_t w = 0; w < cta.warp_count; w++) *steps += cta.warp[w].step_count;
    ww_trace_release_cta(m->trace, &cta);
    return WW_OK;
}

static enum ww_code sample_paths(struct maker *m, struct ww_path *path, struct ww_error *error) {
    uint64_t ctas = m->launch->cta_count, steps = 0;
    unsigned taken = 0, most = ctas < PATH_CTAS ? (unsigned)ctas : PATH_CTAS;
    for (unsigned i = 0; i < most && (i == 0 || steps < PATH_STEPS); i++) {
        /* in an order that spreads them also if it stops early */
        uint64_t place = (uint64_t)((2 * (i * 3 % most) + 1) * ctas / (2 * most));
        uint64_t cta = ww_trace_next_cta(m->trace, m->index, place);
        if (cta >= ctas) cta = ww_trace_next_cta(m->trace, m->index, 0);
        if (cta >= ctas) break;
        WW_TRY(add_paths(m, path, cta, 1, m->to->plane, &steps, error));
        taken++;
    }
    for (unsigned k = 0; taken > 1 && k < WW_PATH_PLANES; k++)
        for (int c = 0; c < WW_PATH_COUNT; c++) m->to->plane[k][c] /= (float)taken;
    if (m->longest_steps > 0) WW_TRY(add_paths(m, path, m->longest, 1, m->to->longest, &steps, error));
    return WW_OK;
}

static enum ww_code pass_over_paths(struct maker *m, struct ww_error *error) {
    struct ww_path *path = ww_path_new(m->launch);
    if (!path) return ww_fail_nomem(error, "profile");
    enum ww_code code = sample_paths(m, path, error);
    ww_path_free(path);
    return code;
}

/* ---- launches ---- */

static void describe(const struct ww_launch *l, struct ww_kernel_profile *p) {
    const char *name = l->kernel ? l->kernel : "";
    size_t n = strnlen(name, sizeof p->kernel - 1);
    memcpy(p->kernel, name, n);
    memcpy(p->grid, l->grid, sizeof p->grid);
    memcpy(p->block, l->block, sizeof p->block);
    p->registers_per_thread = l->registers_per_thread;
    p->shared_static = l->shared_static;
    p->shared_dynamic = l->shared_dynamic;
    p->warps_per_cta = l->warps_per_cta;
}

static enum ww_code profile_launch(struct maker *m, struct ww_error *error) {
    WW_TRY(ww_trace_launch(m->trace, m->index, &m->launch, error));
    if (!tell(m, 0)) return ww_fail(error, WW_FAIL, "", "stopped before the end");
    describe(m->launch, m->to);
    m->to->stored_before = (uint64_t)m->stored;
    WW_TRY(pass_over_all(m, error));
    WW_TRY(pass_over_levels(m, error));
    WW_TRY(pass_over_paths(m, error));
    m->before += (double)m->launch->warp_instructions;
    return WW_OK;
}

static enum ww_code count_all(struct maker *m, struct ww_error *error) {
    for (size_t i = 0; i < ww_trace_launch_count(m->trace); i++) {
        const struct ww_launch *launch;
        WW_TRY(ww_trace_launch(m->trace, i, &launch, error));
        m->all += (double)launch->warp_instructions;
    }
    return WW_OK;
}

enum ww_code ww_model_profile_make(struct ww_trace *trace, ww_progress_fn progress, void *context,
                                   struct ww_model_profile *profile, struct ww_error *error) {
    struct maker m = {.trace = trace, .progress = progress, .progress_context = context};
    enum ww_code code = WW_OK;
    *profile = (struct ww_model_profile){.count = ww_trace_launch_count(trace)};
    memcpy(profile->hash, ww_trace_hash(trace), sizeof profile->hash - 1);
    profile->launch = calloc(profile->count ? profile->count : 1, sizeof *profile->launch);
    bool room = profile->launch != NULL;
    for (unsigned i = 0; i < WW_GLOBAL_LEVELS; i++) room &= (m.global[i] = ww_stack_new()) != NULL;
    for (enum ww_row_kind k = 0; k < WW_ROW_KINDS; k++)
        for (unsigned w = 0; w < windows_of(k); w++)
            room &= (m.rows[k][w] = malloc(sizeof *m.rows[k][w])) != NULL;
    m.local = ww_stack_new();
    m.pages = ww_seen_new();
    if (!room || !m.local || !m.pages) code = ww_fail_nomem(error, "profile");
    if (code == WW_OK) code = count_all(&m, error);
    for (; code == WW_OK && m.index < profile->count; m.index++) {
        m.to = &profile->launch[m.index];
        code = profile_launch(&m, error);
    }
    for (unsigned i = 0; i < WW_GLOBAL_LEVELS; i++) ww_stack_free(m.global[i]);
    for (enum ww_row_kind k = 0; k < WW_ROW_KINDS; k++)
        for (unsigned w = 0; w < windows_of(k); w++) free(m.rows[k][w]);
    ww_stack_free(m.local);
    ww_seen_free(m.pages);
    if (code != WW_OK) ww_model_profile_free(profile);
    return code;
}

void ww_model_profile_free(struct ww_model_profile *profile) {
    free(profile->launch);
    *profile = (struct ww_model_profile){0};
}
