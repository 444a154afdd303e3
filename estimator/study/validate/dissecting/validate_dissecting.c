/* Suite "dissecting": the microbenchmarks of X. Mei and X. Chu, "Dissecting GPU Memory Hierarchy through
 * Microbenchmarking" (TPDS 2017), run on the models of their three boards as `warpwatt dissect` does.
 *
 * Structures must be inferred exactly, in the words of the targets; a structure that several boards share is
 * right if all of them have it. Latencies lie within 3 %, throughputs within 5 % and at the configuration that
 * the paper found best. */
#include "../../../api/dissect.h"
#include "../../../api/validate.h"
#include "../../dissect/dissect.h"
#include "../rows/validate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LATENCY_TOLERANCE 0.03
#define THROUGHPUT_TOLERANCE 0.05
#define NOT_SEEN "no such pattern was seen"

enum { GTX560TI, GTX780, GTX980, BOARDS };
static const char *const board[BOARDS] = {"gtx560ti", "gtx780", "gtx980"};
static const char *const suffix[BOARDS] = {"560", "780", "980"};

struct suite {
    struct ww_validation *v;
    const struct ww_validate_options *options;
    struct ww_dissect d[BOARDS];
    int done;
};

static enum ww_code number(struct suite *s, const char *id, double ours, double tolerance,
                           struct ww_error *error) {
    return ww_validate_add_number(s->v, id, ours, WW_VALIDATE_RELATIVE, tolerance, isnan(ours) ? NOT_SEEN : "",
                                  error);
}

static const struct ww_dissect_patterns *pattern(const struct ww_dissect *d, const char *name) {
    for (size_t i = 0; i < d->pattern_count; i++)
        if (strcmp(d->pattern[i].name, name) == 0) return &d->pattern[i];
    return NULL;
}

/* "dis-p1-980on": whatever of them the targets have. */
static enum ww_code latencies(struct suite *s, int b, struct ww_error *error) {
    static const struct {
        const char *name, *suffix;
    } variant[] = {{"", ""}, {"L1 on", "on"}, {"L1 off", "off"}};
    for (size_t k = 0; k < sizeof variant / sizeof variant[0]; k++) {
        const struct ww_dissect_patterns *p = pattern(&s->d[b], variant[k].name);
        for (int i = 0; p && i < 6; i++) {
            char id[32];
            snprintf(id, sizeof id, "dis-p%d-%s%s", i + 1, suffix[b], variant[k].suffix);
            if (ww_target_find(s->v, id)) WW_TRY(number(s, id, p->p[i], LATENCY_TOLERANCE, error));
        }
    }
    return WW_OK;
}

/* What the paper names as the best configuration stands in the target's note: "peak at CTA 512 x1 ILP 4; ...".
 */
static enum ww_code configuration(struct suite *s, int b, const char *id, struct ww_error *error) {
    char own_id[40], ours[64], paper[64], what[96], why[96] = "";
    struct ww_dissect_point at = {0};
    const struct ww_dissect_point *p = &s->d[b].shared.best;
    const struct ww_target *t = ww_target_find(s->v, id);
    const char *from = t ? strstr(t->note, "CTA ") : NULL;
    if (!from) return ww_fail(error, WW_INTERNAL, id, "the target names no configuration");
    snprintf(own_id, sizeof own_id, "%s-at", id);
    snprintf(ours, sizeof ours, "CTA %u x%u ILP %u", p->cta_size, p->ctas, p->ilp);
    snprintf(paper, sizeof paper, "%.*s", (int)strcspn(from, ";"), from);
    snprintf(what, sizeof what, "%s, smem copy, best configuration", t->machine);
    if (sscanf(from, "CTA %u x%u ILP %u", &at.cta_size, &at.ctas, &at.ilp) == 3)
        for (size_t i = 0; i < s->d[b].shared.point_count; i++) {
            const struct ww_dissect_point *q = &s->d[b].shared.point[i];
            if (q->cta_size == at.cta_size && q->ctas == at.ctas && q->ilp == at.ilp)
                snprintf(why, sizeof why, "%s reaches %.1f %% of ours", paper, 100 * q->gbps / p->gbps);
        }
    struct ww_validate_row row = {.id = own_id,
                                  .what = what,
                                  .ours = NAN,
                                  .paper = NAN,
                                  .ours_text = ours,
                                  .paper_text = paper,
                                  .unit = "",
                                  .why = why};
    return ww_validate_add(s->v, &row, error);
}

static enum ww_code shared(struct suite *s, int b, struct ww_error *error) {
    const struct ww_dissect_shared *m = &s->d[b].shared;
    char id[32];
    snprintf(id, sizeof id, "dis-slat-%s", suffix[b]);
    WW_TRY(number(s, id, m->latency, LATENCY_TOLERANCE, error));
    for (int i = 0; i < 5; i++) {
        snprintf(id, sizeof id, "dis-bank-%s-%d", suffix[b], 2 << i);
        WW_TRY(number(s, id, m->conflict[i], LATENCY_TOLERANCE, error));
    }
    /* clock() of Fermi counts the processor clock, and the paper turns its bytes a cycle into GB/s with the
     * graphics clock, half of it (table VII: 2 bytes a bank and cycle at 0.950 GHz). */
    bool fermi = b == GTX560TI;
    snprintf(id, sizeof id, "dis-sbw-%s", suffix[b]);
    WW_TRY(ww_validate_add_number(
        s->v, id, fermi ? m->best.gbps / 2 : m->best.gbps, WW_VALIDATE_RELATIVE, THROUGHPUT_TOLERANCE,
        fermi ? "bytes a clock() cycle at 0.950 GHz, as the paper has it" : "", error));
    return configuration(s, b, id, error);
}

static enum ww_code global(struct suite *s, int b, struct ww_error *error) {
    char id[32];
    snprintf(id, sizeof id, "dis-bw-%s", suffix[b]);
    return number(s, id, s->d[b].global.best.gbps, THROUGHPUT_TOLERANCE, error);
}

/* ---- structures ---- */

static void cache_text(const struct ww_infer_cache *c, bool bits, char *out, size_t size) {
    char bytes[32], line[32], sets[128], set[64] = "";
    ww_dissect_size_text(c->size, bytes, sizeof bytes);
    ww_dissect_size_text(c->line, line, sizeof line);
    ww_dissect_sets_text(c, "lines", sets, sizeof sets);
    if (bits && c->set_by_bits) {
        ww_dissect_bits_text(c->set_bits, set, sizeof set);
        snprintf(out, size, "%s %s line %s %s set = addr bits %s", bytes, line, sets, ww_policy_name(c->policy),
                 set);
    } else {
        snprintf(out, size, "%s %s line %s %s", bytes, line, sets, ww_policy_name(c->policy));
    }
}

static void l1_text(const struct ww_infer_cache *c, char *out, size_t size) {
    char bytes[32], line[32], way[64], major[64];
    size_t n;
    ww_dissect_size_text(c->size, bytes, sizeof bytes);
    ww_dissect_size_text(c->line, line, sizeof line);
    ww_dissect_bits_text(c->way_bits, way, sizeof way);
    ww_dissect_bits_text(c->set_bits, major, sizeof major);
    n = (size_t)snprintf(out, size,
                         "%s %s line %u sets x %u ways; way = addr bits %s major set = bits %s; replacement "
                         "probability of ways",
                         bytes, line, c->sets, c->kind[0].ways, way, major);
    for (uint32_t w = 0; w < c->way_count && n < size; w++) {
        uint32_t k, d;
        if (ww_fraction(c->way[w], c->victims, &k, &d))
            n += (size_t)snprintf(out + n, size - n, " %u/%u", k, d);
        else
            n += (size_t)snprintf(out + n, size - n, " %.3f", c->way[w]);
    }
}

static void tlb_text(const struct ww_dissect *d, size_t level, char *out, size_t size) {
    const struct ww_infer_cache *c = &d->tlb[level].c;
    char page[32], sets[128];
    if (level >= d->tlb_count) {
        snprintf(out, size, "none seen");
        return;
    }
    ww_dissect_size_text(c->line, page, sizeof page);
    ww_dissect_sets_text(c, "entries", sets, sizeof sets);
    if (c->sets == 1)
        snprintf(out, size, "%ux%s fully associative not bit-mapped", c->kind[0].ways, page);
    else
        snprintf(out, size, "%s x %s %s", sets, page, ww_policy_name(c->policy));
}

static void l2_text(const struct ww_dissect *d, char *out, size_t size) {
    const struct ww_dissect_l2 *l2 = &d->l2;
    double part = (double)l2->prefetched / (double)l2->size;
    char bytes[32], prefetch[64];
    ww_dissect_size_text(l2->size, bytes, sizeof bytes);
    if (!l2->found)
        snprintf(prefetch, sizeof prefetch, "of no size seen");
    else if (fabs(part - 2.0 / 3) <= 0.02)
        snprintf(prefetch, sizeof prefetch, "sequential DRAM prefetch of 2/3 of the L2 size");
    else if (part < 0.001)
        snprintf(prefetch, sizeof prefetch, "no DRAM prefetch");
    else
        snprintf(prefetch, sizeof prefetch, "sequential DRAM prefetch of %.2f of the L2 size", part);
    snprintf(out, size, "%lluB line %s %s", (unsigned long long)l2->fill, l2->periodic ? "LRU" : "non-LRU",
             prefetch);
}

/* One text if all are the same, else each with the board's name. */
struct merged {
    char text[1024];
    char first[320];
    bool differ;
    size_t n;
};
static void merge(struct merged *m, const char *name, const char *text) {
    if (!m->n)
        snprintf(m->first, sizeof m->first, "%s", text);
    else if (strcmp(m->first, text) != 0)
        m->differ = true;
    if (m->n < sizeof m->text)
        m->n +=
            (size_t)snprintf(m->text + m->n, sizeof m->text - m->n, "%s%s: %s", m->n ? "; " : "", name, text);
}
static enum ww_code add_merged(struct suite *s, const char *id, const struct merged *m, const char *why,
                               struct ww_error *error) {
    return ww_validate_add_text(s->v, id, m->differ || !m->n ? m->text : m->first, why, error);
}

static enum ww_code tlbs(struct suite *s, struct ww_error *error) {
    for (size_t level = 0; level < 2; level++) {
        struct merged m = {.n = 0};
        for (int b = 0; b < BOARDS; b++) {
            char text[320];
            tlb_text(&s->d[b], level, text, sizeof text);
            merge(&m, board[b], text);
        }
        WW_TRY(add_merged(s, level ? "dis-tlb2" : "dis-tlb1", &m, "", error));
    }
    return WW_OK;
}

static enum ww_code l2s(struct suite *s, struct ww_error *error) {
    struct merged m = {.n = 0};
    char sizes[128] = "";
    for (int b = 0; b < BOARDS; b++) {
        char text[320], bytes[32];
        size_t n = strlen(sizes);
        l2_text(&s->d[b], text, sizeof text);
        merge(&m, board[b], text);
        ww_dissect_size_text(s->d[b].l2.size, bytes, sizeof bytes);
        snprintf(sizes + n, sizeof sizes - n, "%s%s", n ? " " : "sizes ", bytes);
    }
    return add_merged(s, "dis-l2-line", &m, sizes, error);
}

static enum ww_code textures(struct suite *s, const char *id, const int *boards, size_t count, bool bits,
                             struct ww_error *error) {
    struct merged m = {.n = 0};
    for (size_t k = 0; k < count; k++) {
        const struct ww_dissect *d = &s->d[boards[k]];
        for (size_t i = 0; i < d->cache_count; i++) {
            char text[320], name[96];
            if (!d->cache[i].cached || strcmp(d->cache[i].name, "global loads, L1 on") == 0) continue;
            snprintf(name, sizeof name, "%s %s", d->gpu, d->cache[i].name);
            cache_text(&d->cache[i].c, bits, text, sizeof text);
            merge(&m, name, text);
        }
    }
    return add_merged(s, id, &m, "", error);
}

static enum ww_code fermi_l1(struct suite *s, struct ww_error *error) {
    const struct ww_dissect *d = &s->d[GTX560TI];
    char text[320] = "not cached";
    for (size_t i = 0; i < d->cache_count; i++)
        if (d->cache[i].cached && !d->cache[i].texture) l1_text(&d->cache[i].c, text, sizeof text);
    return ww_validate_add_text(s->v, "dis-l1-fermi", text, "", error);
}

static const char *degree(const struct ww_dissect_shared *m, double cycles, double free_of_conflicts) {
    return fabs(cycles - free_of_conflicts) < 0.5 ? "none"
           : fabs(cycles - m->conflict[0]) < 0.5  ? "2-way"
                                                  : "more";
}

static enum ww_code kepler_modes(struct suite *s, struct ww_error *error) {
    const struct ww_dissect_shared *m = &s->d[GTX780].shared;
    char text[320] = "";
    if (!m->modes) return ww_validate_add_text(s->v, "dis-bank-kepler", "one mode only", "", error);
    for (uint32_t stride = 2; stride <= 6; stride += 2) {
        const struct ww_dissect_stride *row = &m->stride[stride - 1];
        const char *four = degree(m, row->cycles, m->stride[0].cycles);
        const char *eight = degree(m, row->cycles8, m->stride[0].cycles8);
        size_t n = strlen(text);
        n += (size_t)snprintf(text + n, sizeof text - n, "%sstride %u: ", n ? "; " : "", stride);
        if (strcmp(four, eight) != 0)
            snprintf(text + n, sizeof text - n, "%s in 4B mode and %s in 8B mode", four, eight);
        else
            snprintf(text + n, sizeof text - n, "%s in both%s", four, stride == 2 ? " modes" : "");
    }
    return ww_validate_add_text(s->v, "dis-bank-kepler", text, "", error);
}

/* ---- the suite ---- */

static bool keep_on(void *context, double part, uint64_t done, const char *unit) {
    const struct suite *s = context;
    struct ww_error ignored;
    (void)part;
    (void)done;
    (void)unit;
    return ww_validate_step(s->options, (uint64_t)s->done, BOARDS, &ignored) == WW_OK;
}

static enum ww_code measure(struct suite *s, struct ww_error *error) {
    for (; s->done < BOARDS; s->done++) {
        struct ww_dissect_options o = {.gpu = board[s->done],
                                       .parts = WW_DISSECT_ALL & ~(unsigned)WW_DISSECT_CURVES,
                                       .progress = keep_on,
                                       .context = s};
        WW_TRY(ww_dissect_run(&o, &s->d[s->done], error));
    }
    return WW_OK;
}

static enum ww_code compare(struct suite *s, struct ww_error *error) {
    static const int older[] = {GTX560TI, GTX780}, maxwell[] = {GTX980};
    for (int b = BOARDS - 1; b >= 0; b--) WW_TRY(latencies(s, b, error));
    WW_TRY(tlbs(s, error));
    WW_TRY(textures(s, "dis-tex", older, 2, true, error));
    WW_TRY(textures(s, "dis-tex-max", maxwell, 1, false, error));
    WW_TRY(fermi_l1(s, error));
    WW_TRY(l2s(s, error));
    for (int b = 0; b < BOARDS; b++) WW_TRY(global(s, b, error));
    for (int b = 0; b < BOARDS; b++) WW_TRY(shared(s, b, error));
    return kepler_modes(s, error);
}

enum ww_code ww_validate_suite_dissecting(struct ww_validation *v, const struct ww_validate_options *options,
                                          struct ww_error *error) {
    struct suite *s = calloc(1, sizeof *s);
    if (!s) return ww_fail_nomem(error, "the suite");
    s->v = v;
    s->options = options;
    enum ww_code code = measure(s, error);
    if (code == WW_OK) code = compare(s, error);
    for (int b = 0; b < BOARDS; b++) ww_dissect_free(&s->d[b]);
    free(s);
    return code;
}
