/* Section 5.2: latencies of a global load by what it hits and misses, from one list of accesses with strides
 * that change (figure 13).
 *
 *     P1  cache hit, L1 TLB hit        P4  cache miss, L1 TLB hit
 *     P2  cache hit, L2 TLB hit        P5  cache miss, page walk
 *     P3  cache hit, page walk         P6  the same, and a change of the active part of the page table
 */
#include "../../api/dissect.h"
#include "meter.h"
#include <math.h>
#include <string.h>

#define FAR (32 * WW_MB) /* s1 of the paper */
#define NEAR (1 * WW_MB) /* s2 */
#define ACTIVE (512 * WW_MB)
#define MORE_PAGES 85u /* beyond what any TLB of these holds */
#define MOST 2048u

enum label { P1, P2, P3, P4, P5, P6, NOT_COUNTED };

struct list {
    uint64_t address[MOST];
    uint8_t label[MOST];
    size_t count;
};

static void add(struct list *l, uint64_t address, enum label label) {
    if (l->count == MOST) return;
    l->address[l->count] = address;
    l->label[l->count++] = (uint8_t)label;
}

/* Element k of a walk: lines of different sets, in steps that differ in no bit of an L1's index. */
static uint64_t spread(uint64_t base, uint64_t stride, uint64_t k) {
    return base + k * stride + k * 4096;
}

/* P5 and P6: first visits far apart. The walk ends in the second active part. */
static void far_walk(struct list *l) {
    uint64_t last = ACTIVE;
    for (uint64_t k = 0; k < 2 * ACTIVE / FAR; k++) {
        uint64_t at = spread(0, FAR, k);
        add(l, at, k == 0 ? NOT_COUNTED : at / ACTIVE == last / ACTIVE ? P5 : P6);
        last = at;
    }
}

/* P4 and P5: every second step leads to a page that has just been used. */
static void near_walk(struct list *l) {
    uint64_t base = 2 * ACTIVE - FAR + (2 * ACTIVE / FAR) * 4096;
    for (uint64_t k = 1; k < FAR / NEAR; k++) add(l, base + k * NEAR, k % 2 ? P4 : P5);
}

/* P2: back to what is cached, in more pages than the L1 TLB holds and fewer than the L2 TLB. */
static void visit_again(struct list *l) {
    size_t from = 0, end = l->count;
    while (l->address[from] < ACTIVE) from++;
    for (int round = 0; round < 6; round++)
        for (size_t i = from; i < end; i++)
            if (l->label[i] != P4) add(l, l->address[i], round ? P2 : NOT_COUNTED);
}

/* P3: the same in more pages than both hold. */
static void visit_many(struct list *l) {
    for (int round = 0; round < 4; round++)
        for (uint64_t k = 0; k < MORE_PAGES; k++)
            add(l, spread(ACTIVE + 2 * WW_MB, 4 * WW_MB, k) + 2048, round > 1 ? P3 : NOT_COUNTED);
}

/* P6: first visits of further parts of the page table. */
static void further_parts(struct list *l) {
    for (uint64_t k = 2; k < 6; k++) add(l, spread(0, ACTIVE, k), P6);
}

static void one_line(struct list *l) {
    for (int i = 0; i < 12; i++) add(l, 6 * 4096, i > 3 ? P1 : NOT_COUNTED);
}

/* A pattern that does not differ from the one before is none of its own. */
static void name_patterns(const struct list *l, const uint32_t *latency, double p[6]) {
    for (int label = P1; label <= P6; label++) {
        uint32_t value[MOST];
        size_t n = 0;
        for (size_t i = 0; i < l->count; i++)
            if (l->label[i] == label) value[n++] = latency[i];
        p[label] = ww_median(value, n);
    }
    /* So many lines do not fit the cache: these are data misses. */
    bool walks = p[P2] - p[P1] > 2;
    if (fabs(p[P3] - p[P4]) <= 2 || (!walks && p[P3] > p[P4])) p[P3] = NAN;
    if (p[P3] - p[P2] <= 2) p[P3] = NAN;
    if (p[P2] - p[P1] <= 2) p[P2] = NAN;
    if (p[P6] < 1.03 * p[P5]) p[P6] = NAN;
    if (p[P5] < 1.03 * p[P4]) p[P5] = NAN;
}

static enum ww_code measure(struct ww_meter *m, const char *name, struct ww_error *error) {
    struct list l = {.count = 0};
    uint32_t latency[MOST];
    far_walk(&l);
    near_walk(&l);
    visit_again(&l);
    visit_many(&l);
    further_parts(&l);
    one_line(&l);
    struct ww_dissect_patterns *p = &m->out->pattern[m->out->pattern_count++];
    p->name = name;
    m->path = WW_MICRO_GLOBAL;
    WW_TRY(ww_meter_chase(m, l.address, l.count, latency, error));
    name_patterns(&l, latency, p->p);
    return WW_OK;
}

static enum ww_code with(const struct ww_dissect_options *o, struct ww_dissect *out, const char *override,
                         const char *name, struct ww_error *error) {
    struct ww_meter m;
    enum ww_code code = ww_meter_open(&m, o, out, override, error);
    if (code == WW_OK) code = measure(&m, name, error);
    ww_meter_close(&m);
    return code;
}

/* The L1 on and off where a compiler switch does that (Fermi: -dlcm=cg, Maxwell: -dlcm=ca). */
enum ww_code ww_dissect_latency(const struct ww_dissect_options *o, struct ww_dissect *out,
                                struct ww_error *error) {
    struct ww_meter m;
    enum ww_code code = ww_meter_open(&m, o, out, NULL, error);
    bool both =
        code == WW_OK && (strncmp(m.board.arch, "sm_2", 4) == 0 || strncmp(m.board.arch, "sm_5", 4) == 0);
    if (code == WW_OK && !both) code = measure(&m, "", error);
    ww_meter_close(&m);
    if (!both) return code;
    WW_TRY(with(o, out, "l1.global_loads=true", "L1 on", error));
    return with(o, out, "l1.global_loads=false", "L1 off", error);
}
