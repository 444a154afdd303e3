/* Comparing CTAs of a launch by the instructions that they execute. */
#include "alike.h"
#include "../../base/hash.h"
#include "../../config/json.h"
#include "../../core/sm/occupancy.h"
#include "../../../traces/trace.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM = 32 };
#define NEAR 0.02
#define NORMAL_95 1.96

uint64_t ww_alike_grid(const char *launch, size_t n, uint32_t grid[3]) {
    cJSON *root;
    uint64_t all = 1;
    if (ww_json_parse(launch, n, "launch", &root, NULL) != WW_OK) return 0;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "launches"), *call = root;
    if (list) call = cJSON_GetArraySize(list) == 1 ? list->child : NULL;
    const cJSON *repeat = cJSON_GetObjectItemCaseSensitive(call, "repeat");
    const cJSON *g = cJSON_GetObjectItemCaseSensitive(call, "grid");
    if (!call || !g || (repeat && !(repeat->valuedouble <= 1))) all = 0;
    for (int i = 0; i < 3; i++) {
        const cJSON *e = cJSON_IsArray(g) ? cJSON_GetArrayItem(g, i) : i ? NULL : g;
        double v = e ? e->valuedouble : 1;
        grid[i] = v >= 1 && v <= INT32_MAX ? (uint32_t)v : 1;
        if (all) all *= grid[i];
    }
    cJSON_Delete(root);
    return all;
}

static int by_number(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t corner(const uint32_t grid[3], unsigned k) {
    uint64_t at[3];
    for (int i = 0; i < 3; i++) at[i] = k >> i & 1 ? grid[i] - 1u : 0;
    return at[0] + grid[0] * (at[1] + grid[1] * at[2]);
}

uint64_t ww_alike_probes(const uint32_t grid[3], uint64_t probe[WW_ALIKE_PROBES]) {
    uint64_t all = (uint64_t)grid[0] * grid[1] * grid[2], n = 0, kept = 0;
    if (all <= WW_ALIKE_PROBES) {
        for (; n < all; n++) probe[n] = n;
        return n;
    }
    for (unsigned k = 0; k < 8; k++) probe[n++] = corner(grid, k);
    for (unsigned k = 0; k < RANDOM; k++) probe[n++] = ww_hash_mix(k + 1) % all;
    qsort(probe, n, sizeof *probe, by_number);
    for (uint64_t i = 0; i < n; i++)
        if (i == 0 || probe[i] != probe[kept - 1]) probe[kept++] = probe[i];
    return kept;
}

struct seen {
    uint64_t sign, instructions, longest;
    bool at_corner;
};

static void look(const struct ww_cta_trace *cta, struct seen *s) {
    s->sign = 0;
    s->instructions = s->longest = 0;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        const struct ww_warp_stream *v = &cta->warp[w];
        s->sign = ww_hash_bytes(v->step, v->step_count * sizeof *v->step, s->sign + 1);
        s->instructions += v->step_count;
        if (v->step_count > s->longest) s->longest = v->step_count;
    }
}

/* The CTA whose stream most others have. */
static const struct seen *commonest(const struct seen *s, size_t n) {
    const struct seen *best = s;
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        for (size_t k = 0; k < n; k++) same += s[k].sign == s[i].sign;
        if (same > most) most = same, best = &s[i];
    }
    return best;
}

static void compare(const struct seen *s, size_t n, bool all, struct ww_alike *out) {
    const struct seen *usual = commonest(s, n);
    double sum = 0, squares = 0, corners = 0, count = 0, at_corners = 0, same = 0;
    for (size_t i = 0; i < n; i++) {
        double v = (double)s[i].instructions;
        if (s[i].at_corner && !all) {
            corners += v;
            at_corners++;
            continue;
        }
        sum += v;
        squares += v * v;
        count++;
        same += s[i].sign == usual->sign ||
                fabs(v - (double)usual->instructions) <= NEAR * (double)usual->instructions;
    }
    double mean = sum / count, variance = fmax(0, squares / count - mean * mean);
    out->share = same / count;
    out->instructions = mean;
    out->error = all || !(mean > 0) ? 0 : NORMAL_95 * sqrt(variance / count) / mean;
    /* none of so many at random is an edge, though 1.5 of them may be in a grid */
    if (at_corners > 0 && mean > 0) out->error += 1.5 / count * fabs(corners / at_corners / mean - 1);
}

enum ww_code ww_alike_read(const char *path, struct ww_alike *alike, struct ww_error *error) {
    struct seen seen[WW_ALIKE_PROBES];
    uint64_t probe[WW_ALIKE_PROBES], n = ww_alike_probes(alike->grid, probe);
    struct ww_trace *trace;
    enum ww_code code = WW_OK;
    WW_TRY(ww_trace_open(path, &trace, error));
    for (uint64_t i = 0; i < n && code == WW_OK; i++) {
        struct ww_cta_trace cta;
        seen[i].at_corner = false;
        for (unsigned k = 0; k < 8; k++)
            seen[i].at_corner = seen[i].at_corner || probe[i] == corner(alike->grid, k);
        code = ww_trace_load_cta(trace, 0, i, &cta, error);
        if (code != WW_OK) break;
        look(&cta, &seen[i]);
        if (seen[i].longest > alike->longest) alike->longest = seen[i].longest;
        ww_trace_release_cta(trace, &cta);
    }
    ww_trace_close(trace);
    uint64_t all = (uint64_t)alike->grid[0] * alike->grid[1] * alike->grid[2];
    if (code == WW_OK) compare(seen, n, all <= WW_ALIKE_PROBES, alike);
    return code;
}

const char *ww_variant_limiter(const char *name) {
    static const char *const names[] = {"threads", "ctas", "registers", "shared", "grid", "barriers"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return names[i];
    return "";
}

enum ww_code ww_alike_occupancy(const char *path, const struct ww_gpu_spec *gpu,
                                struct ww_db_sweep_variant *row, uint64_t *ctas, struct ww_error *error) {
    struct ww_trace *trace;
    const struct ww_launch *launch;
    const char *limiter = "";
    uint32_t fit = 0;
    WW_TRY(ww_trace_open(path, &trace, error));
    enum ww_code code = ww_trace_launch(trace, 0, &launch, error);
    if (code == WW_OK) code = ww_occupancy(gpu, launch, &fit, &limiter, error);
    if (code == WW_OK) {
        *ctas = fit;
        row->registers = launch->registers_per_thread;
        row->shared_bytes = launch->shared_static + launch->shared_dynamic;
        row->local_bytes = launch->local_bytes;
        row->warps_per_cta = launch->warps_per_cta;
        row->ctas_per_sm = fit;
        row->limiter = ww_variant_limiter(limiter);
    }
    ww_trace_close(trace);
    return code;
}
