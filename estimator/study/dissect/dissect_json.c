/* A dissection as JSON (reports/schema/dissect.json). */
#include "../../api/dissect.h"
#include "../../base/jsonw.h"
#include "dissect.h"
#include <math.h>

static void put_bits(struct ww_jsonw *w, const char *key, uint64_t bits) {
    ww_jsonw_open_flat(w, key, '[');
    for (unsigned b = 0; b < 64; b++)
        if ((bits >> b) & 1) ww_jsonw_u64(w, NULL, b);
    ww_jsonw_close(w, ']');
}

static void put_ways(struct ww_jsonw *w, const struct ww_infer_cache *c) {
    ww_jsonw_open_flat(w, "way_probability", '[');
    for (uint32_t i = 0; i < c->way_count && i < WW_INFER_WAYS; i++) ww_jsonw_f64(w, NULL, c->way[i]);
    ww_jsonw_close(w, ']');
    ww_jsonw_u64(w, "replacements", c->victims);
}

static void put_structure(struct ww_jsonw *w, const struct ww_infer_cache *c) {
    ww_jsonw_bool(w, "found", c->found);
    if (!c->found) return;
    ww_jsonw_u64(w, "size_bytes", c->size);
    ww_jsonw_u64(w, "line_bytes", c->line);
    ww_jsonw_u64(w, "fill_bytes", c->fill);
    ww_jsonw_u64(w, "sets", c->sets);
    ww_jsonw_open(w, "kinds", '[');
    for (size_t i = 0; i < c->kind_count; i++) {
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, "sets", c->kind[i].sets);
        ww_jsonw_u64(w, "ways", c->kind[i].ways);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
    ww_jsonw_str(w, "replacement", ww_policy_name(c->policy));
    put_ways(w, c);
    put_bits(w, "set_bits", c->set_bits);
    ww_jsonw_bool(w, "set_by_bits", c->set_by_bits);
    put_bits(w, "way_bits", c->way_bits);
    ww_jsonw_open_flat(w, "new_misses", '[');
    for (size_t i = 0; i < c->grown_count; i++) ww_jsonw_u64(w, NULL, c->grown[i]);
    ww_jsonw_close(w, ']');
}

static void put_caches(struct ww_jsonw *w, const struct ww_dissect *d) {
    ww_jsonw_open(w, "caches", '[');
    for (size_t i = 0; i < d->cache_count; i++) {
        ww_jsonw_open(w, NULL, '{');
        ww_jsonw_str(w, "name", d->cache[i].name);
        ww_jsonw_bool(w, "cached", d->cache[i].cached);
        ww_jsonw_f64(w, "hit_cycles", d->cache[i].hit);
        ww_jsonw_f64(w, "miss_cycles", d->cache[i].miss);
        put_structure(w, &d->cache[i].c);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void put_l2(struct ww_jsonw *w, const struct ww_dissect_l2 *l2) {
    ww_jsonw_open(w, "l2", '{');
    ww_jsonw_bool(w, "found", l2->found);
    ww_jsonw_f64(w, "hit_cycles", l2->hit);
    ww_jsonw_f64(w, "miss_cycles", l2->miss);
    ww_jsonw_u64(w, "size_bytes", l2->size);
    ww_jsonw_u64(w, "fill_bytes", l2->fill);
    ww_jsonw_bool(w, "periodic", l2->periodic);
    ww_jsonw_u64(w, "prefetched_bytes", l2->prefetched);
    ww_jsonw_close(w, '}');
}

static void put_tlbs(struct ww_jsonw *w, const struct ww_dissect *d) {
    ww_jsonw_open(w, "tlbs", '[');
    for (size_t i = 0; i < d->tlb_count; i++) {
        ww_jsonw_open(w, NULL, '{');
        ww_jsonw_f64(w, "hit_cycles", d->tlb[i].hit);
        ww_jsonw_f64(w, "miss_cycles", d->tlb[i].miss);
        put_structure(w, &d->tlb[i].c);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void put_patterns(struct ww_jsonw *w, const struct ww_dissect *d) {
    static const char *const name[] = {"p1", "p2", "p3", "p4", "p5", "p6"};
    ww_jsonw_open(w, "latency", '[');
    for (size_t i = 0; i < d->pattern_count; i++) {
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_str(w, "name", d->pattern[i].name);
        for (int k = 0; k < 6; k++) ww_jsonw_f64(w, name[k], d->pattern[i].p[k]);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void put_point(struct ww_jsonw *w, const char *key, const struct ww_dissect_point *p) {
    ww_jsonw_open_flat(w, key, '{');
    ww_jsonw_u64(w, "ctas", p->ctas);
    ww_jsonw_u64(w, "cta_size", p->cta_size);
    ww_jsonw_u64(w, "ilp", p->ilp);
    ww_jsonw_f64(w, "gb_per_s", p->gbps);
    ww_jsonw_close(w, '}');
}

static void put_points(struct ww_jsonw *w, const struct ww_dissect_point *p, size_t count,
                       const struct ww_dissect_point *best) {
    put_point(w, "best", best);
    ww_jsonw_open(w, "copies", '[');
    for (size_t i = 0; i < count; i++) put_point(w, NULL, &p[i]);
    ww_jsonw_close(w, ']');
}

static void put_shared(struct ww_jsonw *w, const struct ww_dissect_shared *s) {
    ww_jsonw_open(w, "shared", '{');
    ww_jsonw_f64(w, "latency_cycles", s->latency);
    ww_jsonw_open_flat(w, "conflict_cycles", '[');
    for (int i = 0; i < 5; i++) ww_jsonw_f64(w, NULL, s->conflict[i]);
    ww_jsonw_close(w, ']');
    ww_jsonw_open(w, "strides", '[');
    for (size_t i = 0; i < WW_DISSECT_STRIDES; i++) {
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, "stride", s->stride[i].stride);
        ww_jsonw_f64(w, "cycles", s->stride[i].cycles);
        ww_jsonw_f64(w, "cycles_8_byte_mode", s->stride[i].cycles8);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
    ww_jsonw_u64(w, "barrier_cycles", s->barrier_cycles);
    ww_jsonw_f64(w, "bytes_per_cycle", s->cycle_bytes);
    put_points(w, s->point, s->point_count, &s->best);
    ww_jsonw_close(w, '}');
}

static void put_rows(struct ww_jsonw *w, const char *key, const struct ww_dissect_classic_row *row,
                     size_t count) {
    ww_jsonw_open(w, key, '[');
    for (size_t i = 0; i < count; i++) {
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, "bytes", row[i].bytes);
        ww_jsonw_u64(w, "stride", row[i].stride);
        ww_jsonw_f64(w, "cycles", row[i].cycles);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void put_guess(struct ww_jsonw *w, const char *key, const struct ww_dissect_guess *g) {
    ww_jsonw_open_flat(w, key, '{');
    ww_jsonw_u64(w, "size_bytes", g->size);
    ww_jsonw_u64(w, "line_bytes", g->line);
    ww_jsonw_u64(w, "sets", g->sets);
    ww_jsonw_u64(w, "ways", g->ways);
    ww_jsonw_close(w, '}');
}

static void put_classic(struct ww_jsonw *w, const struct ww_dissect_classic *c) {
    ww_jsonw_open(w, "classic", '{');
    put_guess(w, "by_strides", &c->by_saavedra);
    put_guess(w, "by_sizes", &c->by_wong);
    put_rows(w, "strides", c->saavedra, c->saavedra_count);
    put_rows(w, "sizes", c->wong, c->wong_count);
    ww_jsonw_close(w, '}');
}

static void put_curve(struct ww_jsonw *w, const char *key, const char *value, const struct ww_dissect_xy *p,
                      size_t count) {
    ww_jsonw_open(w, key, '[');
    for (size_t i = 0; i < count; i++) {
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, "bytes", p[i].bytes);
        ww_jsonw_f64(w, value, p[i].y);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static void put_curves(struct ww_jsonw *w, const struct ww_dissect_curves *c) {
    ww_jsonw_open(w, "curves", '{');
    put_curve(w, "latency", "cycles", c->latency, c->latency_count);
    ww_jsonw_open(w, "plateaus", '[');
    for (size_t i = 0; i < c->plateau_count; i++) {
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, "from_bytes", c->plateau[i].from);
        ww_jsonw_u64(w, "to_bytes", c->plateau[i].to);
        ww_jsonw_f64(w, "cycles", c->plateau[i].level);
        ww_jsonw_f64(w, "knee_bytes", c->plateau[i].knee);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
    put_curve(w, "read_same", "gb_per_s", c->cache, c->cache_count);
    put_curve(w, "read_parts", "gb_per_s", c->l2, c->l2_count);
    ww_jsonw_open(w, "streams", '[');
    for (size_t i = 0; i < c->stream_count; i++) {
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, "ctas", c->stream[i].ctas);
        ww_jsonw_u64(w, "cta_size", c->stream[i].cta_size);
        ww_jsonw_f64(w, "read_gb_per_s", c->stream[i].read);
        ww_jsonw_f64(w, "triad_gb_per_s", c->stream[i].triad);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
    ww_jsonw_close(w, '}');
}

enum ww_code ww_dissect_json(const struct ww_dissect *d, FILE *out, struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "gpu", d->gpu);
    ww_jsonw_u64(&w, "accesses", d->accesses);
    if (d->parts & WW_DISSECT_CACHES) {
        put_caches(&w, d);
        put_l2(&w, &d->l2);
        if (d->classic.measured) put_classic(&w, &d->classic);
    }
    if (d->parts & WW_DISSECT_TLB) put_tlbs(&w, d);
    if (d->parts & WW_DISSECT_LATENCY) put_patterns(&w, d);
    if (d->shared.measured) put_shared(&w, &d->shared);
    if (d->global.measured) {
        ww_jsonw_open(&w, "global", '{');
        ww_jsonw_f64(&w, "peak_gb_per_s", d->global.peak);
        put_points(&w, d->global.point, d->global.point_count, &d->global.best);
        ww_jsonw_close(&w, '}');
    }
    if (d->curves.measured) put_curves(&w, &d->curves);
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}
