/* A dissection as tables for people. */
#include "../../api/dissect.h"
#include "../../base/escape.h"
#include "dissect.h"
#include <math.h>
#include <string.h>

void ww_dissect_size_text(uint64_t bytes, char *out, size_t size) {
    static const char *const unit[] = {"B", "KB", "MB", "GB"};
    unsigned u = 0;
    while (u < 3 && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        u++;
    }
    snprintf(out, size, "%llu%s", (unsigned long long)bytes, unit[u]);
}

void ww_dissect_bits_text(uint64_t bits, char *out, size_t size) {
    size_t n = 0;
    out[0] = 0;
    for (unsigned bit = 0; bit < 64 && n < size; bit++) {
        if (!((bits >> bit) & 1)) continue;
        unsigned end = bit;
        while (end < 63 && ((bits >> (end + 1)) & 1)) end++;
        n += (size_t)snprintf(out + n, size - n, end > bit ? "%s%u-%u" : "%s%u", n ? "," : "", bit, end);
        bit = end;
    }
}

void ww_dissect_sets_text(const struct ww_infer_cache *c, const char *unit, char *out, size_t size) {
    size_t n = 0;
    out[0] = 0;
    if (c->sets == 1)
        snprintf(out, size, "fully associative");
    else if (c->kind_count == 1)
        snprintf(out, size, "%u sets x %u %s", c->sets, c->kind[0].ways, unit);
    else
        for (size_t i = 0; i < c->kind_count && n < size; i++)
            n += (size_t)snprintf(out + n, size - n, "%s%u set%s of %u%s%s", i ? " + " : "", c->kind[i].sets,
                                  c->kind[i].sets > 1 ? "s" : "", c->kind[i].ways,
                                  i + 1 == c->kind_count ? " " : "", i + 1 == c->kind_count ? unit : "");
}

static void print_ways(const struct ww_infer_cache *c, FILE *out) {
    bool equal = true;
    for (uint32_t w = 0; w < c->way_count && w < WW_INFER_WAYS; w++) {
        double spread = 4 * sqrt(1.0 / c->way_count / (double)c->victims);
        equal &= fabs(c->way[w] - 1.0 / c->way_count) <= spread;
    }
    if (equal) {
        fprintf(out, "      ways replaced    all as often (%llu replacements)\n",
                (unsigned long long)c->victims);
        return;
    }
    fprintf(out, "      ways replaced   ");
    for (uint32_t w = 0; w < c->way_count && w < WW_INFER_WAYS; w++) {
        uint32_t k, d;
        if (ww_fraction(c->way[w], c->victims, &k, &d))
            fprintf(out, " %u/%u", k, d);
        else
            fprintf(out, " %.3f", c->way[w]);
    }
    fprintf(out, "  (%llu replacements)\n", (unsigned long long)c->victims);
}

static void print_mapping(const struct ww_infer_cache *c, FILE *out) {
    char bits[96];
    if (c->set_bits) {
        ww_dissect_bits_text(c->set_bits, bits, sizeof bits);
        if (c->set_by_bits)
            fprintf(out, "      set              address bits %s\n", bits);
        else
            fprintf(out,
                    "      set              address bits %s choose a group of %u sets, no bit the set in it\n",
                    bits, c->sets >> __builtin_popcountll(c->set_bits));
    } else if (c->sets > 1) {
        fprintf(out, "      set              not chosen by address bits\n");
    }
    if (!c->way_bits) return;
    ww_dissect_bits_text(c->way_bits, bits, sizeof bits);
    fprintf(out, "      lines of a set   differ in address bits %s\n", bits);
}

static void print_structure(const struct ww_infer_cache *c, const char *unit, FILE *out) {
    char size[32], line[32], fill[32], sets[128];
    ww_dissect_size_text(c->size, size, sizeof size);
    ww_dissect_size_text(c->line, line, sizeof line);
    ww_dissect_size_text(c->fill, fill, sizeof fill);
    fprintf(out, "      size             %s\n", size);
    if (c->line)
        fprintf(out, "      %-16s %s%s%s%s\n", unit, line, c->fill < c->line ? ", in sectors of " : "",
                c->fill < c->line ? fill : "", "");
    if (c->sets) {
        ww_dissect_sets_text(c, strcmp(unit, "page") == 0 ? "entries" : "lines", sets, sizeof sets);
        if (c->sets == 1)
            fprintf(out, "      sets             %s, %u %s\n", sets, c->kind[0].ways,
                    strcmp(unit, "page") == 0 ? "entries" : "lines");
        else
            fprintf(out, "      sets             %s\n", sets);
    }
    if (c->policy != WW_POLICY_UNKNOWN) fprintf(out, "      replacement      %s\n", ww_policy_name(c->policy));
    if (c->policy == WW_POLICY_RANDOM && c->victims) print_ways(c, out);
    if (c->sets) print_mapping(c, out);
}

static void print_caches(const struct ww_dissect *d, FILE *out) {
    fprintf(out, "Caches of an SM\n");
    for (size_t i = 0; i < d->cache_count; i++) {
        const struct ww_dissect_cache *c = &d->cache[i];
        if (!c->cached) {
            fprintf(out, "   %s: not cached in the SM, %.0f cycles\n", c->name, c->hit);
            continue;
        }
        fprintf(out, "   %s: hit %.0f cycles", c->name, c->hit);
        if (isnan(c->miss))
            fprintf(out, "\n");
        else
            fprintf(out, ", miss %.0f\n", c->miss);
        if (c->c.found)
            print_structure(&c->c, "line", out);
        else
            fprintf(out, "      no size at which it misses\n");
    }
}

static void print_l2(const struct ww_dissect *d, FILE *out) {
    const struct ww_dissect_l2 *l2 = &d->l2;
    char size[32];
    fprintf(out, "L2 cache: hit %.0f cycles, miss %.0f\n", l2->hit, l2->miss);
    if (!l2->found) {
        fprintf(out, "      no size at which it misses\n");
        return;
    }
    ww_dissect_size_text(l2->size, size, sizeof size);
    fprintf(out, "      size             %s\n", size);
    if (l2->fill) fprintf(out, "      a miss brings    %lluB\n", (unsigned long long)l2->fill);
    fprintf(out, "      replacement      %s\n", l2->periodic ? "periodic, as LRU" : "not LRU");
    if (l2->prefetched < 512)
        fprintf(out, "      prefetch         none\n");
    else
        fprintf(out, "      prefetch         sequential, %.0f %% of the size after a miss\n",
                100.0 * (double)l2->prefetched / (double)l2->size);
}

static void print_tlbs(const struct ww_dissect *d, FILE *out) {
    if (!d->tlb_count) fprintf(out, "TLB: none seen up to 512MB\n");
    for (size_t i = 0; i < d->tlb_count; i++) {
        fprintf(out, "L%zu TLB: hit %.0f cycles, miss %.0f, for data in the L2 cache\n", i + 1, d->tlb[i].hit,
                d->tlb[i].miss);
        print_structure(&d->tlb[i].c, "page", out);
        if (d->tlb[i].c.grown_count < 2 || d->tlb[i].c.sets < 2) continue;
        fprintf(out, "      new misses       ");
        for (size_t k = 0; k < d->tlb[i].c.grown_count && k < 16; k++)
            fprintf(out, "%s%u", k ? " " : "", d->tlb[i].c.grown[k]);
        fprintf(out, "  (each page more)\n");
    }
}

static void print_patterns(const struct ww_dissect *d, FILE *out) {
    fprintf(out, "Latency of a global load, cycles\n");
    fprintf(out, "             P1     P2     P3     P4     P5     P6\n");
    fprintf(out, "   cache    hit    hit    hit   miss   miss   miss\n");
    fprintf(out, "   L1 TLB   hit   miss   miss    hit   miss   miss\n");
    fprintf(out, "   L2 TLB     -    hit   miss      -   miss   miss, other part of the page table\n");
    for (size_t i = 0; i < d->pattern_count; i++) {
        fprintf(out, "   %-6s", d->pattern[i].name);
        for (int k = 0; k < 6; k++)
            if (isnan(d->pattern[i].p[k]))
                fprintf(out, "%6s ", "-");
            else
                fprintf(out, "%6.0f ", d->pattern[i].p[k]);
        fprintf(out, "\n");
    }
}

static void print_shared(const struct ww_dissect *d, FILE *out) {
    const struct ww_dissect_shared *s = &d->shared;
    fprintf(out, "Shared memory: %.0f cycles\n", s->latency);
    fprintf(out, "   conflict     2-way  4-way  8-way 16-way 32-way\n   cycles    ");
    for (int i = 0; i < 5; i++)
        if (isnan(s->conflict[i]))
            fprintf(out, "%7s", "-");
        else
            fprintf(out, "%7.0f", s->conflict[i]);
    fprintf(out, "\n");
    if (s->modes) {
        fprintf(out, "   stride           1      2      4      6      8     16     32\n   4-byte mode ");
        static const uint32_t row[] = {1, 2, 4, 6, 8, 16, 32};
        for (size_t i = 0; i < 7; i++) fprintf(out, "%6.0f ", s->stride[row[i] - 1].cycles);
        fprintf(out, "\n   8-byte mode ");
        for (size_t i = 0; i < 7; i++) fprintf(out, "%6.0f ", s->stride[row[i] - 1].cycles8);
        fprintf(out, "\n");
    }
    fprintf(out, "   a barrier and a reading of the clock take %llu cycles\n",
            (unsigned long long)s->barrier_cycles);
    fprintf(out, "   copy, best of %zu: %.2f GB/s an SM (%.1f bytes a cycle), CTAs of %u x %u an SM, ILP %u\n",
            s->point_count, s->best.gbps, s->cycle_bytes, s->best.cta_size, s->best.ctas, s->best.ilp);
}

static void print_global(const struct ww_dissect *d, FILE *out) {
    const struct ww_dissect_global *g = &d->global;
    fprintf(out, "Global copy, best of %zu: %.2f GB/s, %.1f %% of %.2f, %u CTAs of %u, ILP %u\n",
            g->point_count, g->best.gbps, 100 * g->best.gbps / g->peak, g->peak, g->best.ctas, g->best.cta_size,
            g->best.ilp);
}

static void print_guess(const char *method, const struct ww_dissect_guess *g, FILE *out) {
    char size[32], line[32];
    ww_dissect_size_text(g->size, size, sizeof size);
    ww_dissect_size_text(g->line, line, sizeof line);
    if (!g->line || !g->sets || !g->ways) {
        fprintf(out, "   %-22s %s, no lines and sets told\n", method, size);
        return;
    }
    fprintf(out, "   %-22s %s, line %s, %u sets x %u lines\n", method, size, line, g->sets, g->ways);
}

static void print_classic(const struct ww_dissect *d, FILE *out) {
    fprintf(out, "Classic methods on the texture cache, from average latencies\n");
    print_guess("strides (Saavedra 1995)", &d->classic.by_saavedra, out);
    print_guess("sizes (Wong 2010)", &d->classic.by_wong, out);
}

static void print_curves(const struct ww_dissect *d, FILE *out) {
    const struct ww_dissect_curves *c = &d->curves;
    fprintf(out, "Random chase through 128-byte lines\n");
    for (size_t i = 0; i < c->plateau_count; i++) {
        const struct ww_dissect_plateau *p = &c->plateau[i];
        fprintf(out, "   %8.0f to %8.0f KB %7.1f cycles", (double)p->from / 1024, (double)p->to / 1024,
                p->level);
        if (isnan(p->knee))
            fprintf(out, "\n");
        else
            fprintf(out, ", half of the way from before at %.0f KB\n", p->knee / 1024);
    }
    fprintf(out, "All SMs read          KB     GB/s\n");
    for (size_t i = 0; i < c->cache_count; i++)
        fprintf(out, "   the same     %8.0f %8.0f\n", (double)c->cache[i].bytes / 1024, c->cache[i].y);
    for (size_t i = 0; i < c->l2_count; i++)
        fprintf(out, "   parts of     %8.0f %8.0f\n", (double)c->l2[i].bytes / 1024, c->l2[i].y);
    fprintf(out, "Streams, CTAs of an SM     read    triad, GB/s\n");
    for (size_t i = 0; i < c->stream_count; i++)
        fprintf(out, "   %u x %4u threads     %8.0f %8.0f\n", c->stream[i].ctas, c->stream[i].cta_size,
                c->stream[i].read, c->stream[i].triad);
}

enum ww_code ww_dissect_print(const struct ww_dissect *d, FILE *out, struct ww_error *error) {
    fprintf(out, "%s\n", ww_shown(d->gpu));
    if (d->parts & WW_DISSECT_CACHES) {
        print_caches(d, out);
        print_l2(d, out);
        if (d->classic.measured) print_classic(d, out);
    }
    if (d->parts & WW_DISSECT_TLB) print_tlbs(d, out);
    if (d->parts & WW_DISSECT_LATENCY) print_patterns(d, out);
    if (d->shared.measured)
        print_shared(d, out);
    else if (d->parts & WW_DISSECT_SHARED)
        fprintf(out, "Shared memory: less than a warp's strides need\n");
    if (d->global.measured) print_global(d, out);
    if (d->curves.measured) print_curves(d, out);
    return ferror(out) ? ww_fail(error, WW_IO, "", "cannot write") : WW_OK;
}
