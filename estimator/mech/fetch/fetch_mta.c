/* Many-thread aware prefetching in hardware (Lee et al., MICRO 2010): strides of each warp, promoted to strides
 * of a load when three warps agree; strides from warp to warp; a cache of its own for what is prefetched; a
 * throttle.
 *
 *   load --> GS: stride of the load, for all warps --hit--> this warp's next access
 *            PWS: stride of load and warp --trained--> the same
 *            IP: difference from warp to warp --trained--> the next warp's access
 *
 * The throttle (table I there) looks at a period of 100,000 cycles: early evictions over useful prefetches (e),
 * and merges over requests (m, averaged with the period before). e > 2 %: no prefetching; e > 1 %: a fifth of
 * the prefetches less; else m > 15 %: a fifth more, or no prefetching. The last is meant for SMs without a
 * D-cache, where prefetches that no load merges with have no use; with a D-cache, those that come in time merge
 * with nothing, and Sethia's comparison has MTA continue there. So it is an option (quiet=stop), and nothing is
 * changed by default. What ends "no prefetching" is ours: a period of it is followed by the initial degree. */
#include "fetch.h"
#include "fetch_stride.h"

enum { GS = 8, IP = 8, PROMOTE = 3, FIFTHS = 5, DEGREE = 2 };
enum { QUIET_KEEP, QUIET_STOP };

struct settings {
    uint32_t entries, queue, latency, cache_kb, cache_ways, period, quiet;
    bool throttle, send;
};

static const struct ww_param params[] = {
    WW_PARAM_U32(settings, entries, "entries", "entry", 1, WW_STRIDE_MOST, 32,
                 "of the table of warps' strides"),
    WW_PARAM_U32(settings, cache_kb, "cache_kb", "KiB", 1, 1024, 16, "prefetch cache"),
    WW_PARAM_U32(settings, cache_ways, "cache_ways", "way", 1, 64, 8, "its associativity; LRU"),
    WW_PARAM_BOOL(settings, throttle, "throttle", 1, "prefetch less where it does not pay"),
    WW_PARAM_U32(settings, period, "period", "SM cycle", 100, 100000000, 100000, "of the throttle"),
    WW_PARAM_ENUM(settings, quiet, "quiet", "keep|stop", 0,
                  "what the throttle does where prefetches neither leave early nor merge"),
    WW_PARAM_U32(settings, queue, "queue", "line", 1, 4096, 64, "lines that wait to be prefetched"),
    WW_PARAM_U32(settings, latency, "latency", "SM cycle", 0, 1000, 10, "from a load to its prefetches"),
    WW_PARAM_BOOL(settings, send, "send", 1, "ask memory; false: learn and ask for nothing"),
};

struct global_stride {
    uint64_t used;
    int64_t stride;
    uint32_t pc;
};

struct between_warps {
    uint64_t used, last;
    int64_t stride; /* bytes from a warp to the next one */
    uint32_t pc, warp, met;
};

struct state {
    struct ww_stride_table pws;
    struct global_stride gs[GS];
    struct between_warps ip[IP];
    uint64_t clock;
    /* throttle */
    uint64_t before, latest; /* cycles of the launches before, and the latest one of this launch */
    uint64_t period_at;      /* end of the period, over all launches */
    uint64_t useful, lost, merges, requests;
    double merge_ratio;
    uint32_t degree, turn; /* of five prefetches so many are dropped */
};

static void mta_plan(const void *settings, struct ww_fetch_plan *plan) {
    const struct settings *s = settings;
    *plan = (struct ww_fetch_plan){
        .queue = s->queue, .latency = s->latency, .cache_kb = s->cache_kb, .cache_ways = s->cache_ways};
}

static void mta_begin(void *state, const void *settings, const struct ww_fetch_launch *launch) {
    struct state *m = state;
    const struct settings *s = settings;
    (void)launch;
    if (!m->period_at) {
        m->period_at = s->period;
        m->degree = DEGREE;
    }
    m->before += m->latest;
    m->latest = 0;
}

/* ---- throttle ---- */

static void end_period(struct state *m, const struct settings *s) {
    double early = m->useful ? (double)m->lost / (double)m->useful : m->lost ? 1 : 0;
    double ratio = m->requests ? (double)m->merges / (double)m->requests : 0;
    m->merge_ratio = (m->merge_ratio + ratio) / 2;
    if (m->degree == FIFTHS)
        m->degree = DEGREE;
    else if (early > 0.02)
        m->degree = FIFTHS;
    else if (early > 0.01)
        m->degree++;
    else if (m->merge_ratio > 0.15)
        m->degree -= m->degree > 0;
    else if (m->requests && s->quiet == QUIET_STOP)
        m->degree = FIFTHS;
    m->useful = m->lost = m->merges = m->requests = 0;
}

static void watch(struct state *m, const struct settings *s, const struct ww_fetch_load *load) {
    for (uint32_t i = 0; i < load->lines; i++) {
        uint8_t o = load->line[i].outcome;
        m->useful += o == WW_FETCH_TIMELY || o == WW_FETCH_LATE;
        m->merges += o == WW_FETCH_MERGED || o == WW_FETCH_LATE;
        m->requests += o >= WW_FETCH_MERGED;
    }
    m->latest = load->cycle;
    for (uint32_t most = 4; m->before + load->cycle >= m->period_at && most; most--) {
        end_period(m, s);
        m->period_at += s->period;
    }
    if (m->period_at <= m->before + load->cycle) m->period_at = m->before + load->cycle + s->period;
}

static void mta_sent(void *state, uint32_t token) {
    struct state *m = state;
    (void)token;
    m->requests++;
}

static void mta_lost(void *state) {
    struct state *m = state;
    m->lost++;
}

/* ---- training ---- */

static const struct global_stride *find_global(struct state *m, uint32_t pc) {
    for (uint32_t i = 0; i < GS; i++)
        if (m->gs[i].used && m->gs[i].pc == pc) {
            m->gs[i].used = ++m->clock;
            return &m->gs[i];
        }
    return NULL;
}

static uint64_t key_of(uint32_t pc, uint32_t warp) {
    return (uint64_t)pc << 6 | warp | 1ull << 40;
}

/* Three warps have the same stride of this load: it is that of all, and theirs are given back. */
static void promote(struct state *m, const struct settings *s, uint32_t pc, int64_t stride) {
    uint32_t agree = 0;
    struct global_stride *victim = &m->gs[0];
    for (uint32_t i = 0; i < s->entries; i++) {
        const struct ww_stride_entry *e = &m->pws.entry[i];
        agree += e->key >> 6 == key_of(pc, 0) >> 6 && e->trained && e->stride == stride;
    }
    if (agree < PROMOTE) return;
    for (uint32_t i = 1; i < GS; i++)
        if (m->gs[i].used < victim->used) victim = &m->gs[i];
    *victim = (struct global_stride){.used = ++m->clock, .stride = stride, .pc = pc};
    for (uint32_t i = 0; i < s->entries; i++)
        if (m->pws.entry[i].key >> 6 == key_of(pc, 0) >> 6) m->pws.entry[i] = (struct ww_stride_entry){0};
}

/* The stride from warp to warp, or 0 while it is not known: three accesses by different warps agree. */
static int64_t between(struct state *m, const struct ww_fetch_load *load) {
    struct between_warps *e = &m->ip[0];
    for (uint32_t i = 0; i < IP; i++) {
        if (m->ip[i].used && m->ip[i].pc == load->pc) {
            e = &m->ip[i];
            break;
        }
        if (m->ip[i].used < e->used) e = &m->ip[i];
    }
    if (!e->used || e->pc != load->pc) {
        *e = (struct between_warps){++m->clock, load->address[0], 0, load->pc, load->warp, 0};
        return 0;
    }
    int64_t warps = (int64_t)load->warp - (int64_t)e->warp, bytes = (int64_t)(load->address[0] - e->last);
    bool whole = warps != 0 && bytes % warps == 0;
    if (whole && e->met && bytes / warps == e->stride)
        e->met += e->met < 2;
    else
        e->met = whole;
    e->stride = whole ? bytes / warps : 0;
    e->used = ++m->clock;
    e->last = load->address[0];
    e->warp = load->warp;
    return e->met == 2 ? e->stride : 0;
}

static int64_t predict(struct state *m, const struct settings *s, const struct ww_fetch_load *load) {
    int64_t warps = between(m, load);
    const struct global_stride *g = find_global(m, load->pc);
    if (g) return g->stride;
    const struct ww_stride_entry *e =
        ww_stride_access(&m->pws, s->entries, key_of(load->pc, load->warp), load->address[0]);
    if (!e->trained) return warps;
    int64_t stride = e->stride;
    promote(m, s, load->pc, stride);
    return stride;
}

static void mta_load(void *state, const void *settings, const struct ww_fetch_load *load,
                     struct ww_fetch_requests *requests) {
    struct state *m = state;
    const struct settings *s = settings;
    if (s->throttle) watch(m, s, load);
    int64_t shift = predict(m, s, load);
    if (shift == 0 || !s->send) return;
    if (s->throttle && m->turn++ % FIFTHS < m->degree) return;
    requests->request[requests->count++] =
        (struct ww_fetch_request){.base = (uint64_t)shift, .token = 0, .shifted = true};
}

const struct ww_fetch_ops ww_fetch_mta = {
    .info = {.kind = WW_KIND_FETCH,
             .name = "mta",
             .help = "many-thread aware: strides within and between warps, a prefetch cache, a throttle",
             .paper = "Lee, Lakshminarayana, Kim, Vuduc: Many-Thread Aware Prefetching Mechanisms for GPGPU "
                      "Applications, MICRO 2010",
             .params = params,
             .param_count = sizeof params / sizeof params[0],
             .settings_size = sizeof(struct settings)},
    .plan = mta_plan,
    .state_size = sizeof(struct state),
    .begin = mta_begin,
    .load = mta_load,
    .sent = mta_sent,
    .lost = mta_lost,
};
