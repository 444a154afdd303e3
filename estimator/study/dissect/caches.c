/* Sections 4.3 and 4.5: the caches of an SM. */
#include "../../api/dissect.h"
#include "meter.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_CACHE (512 * WW_KB)

/* Latency of the L2, to tell whether a path is cached in the SM at all. */
static enum ww_code beyond(struct ww_meter *m, double *cycles, struct ww_error *error) {
    m->path = WW_MICRO_L2;
    return ww_meter_hit(m, cycles, error);
}

static enum ww_code dissect_path(struct ww_meter *m, enum ww_micro_path path, const char *name, double l2,
                                 struct ww_error *error) {
    struct ww_cluster cluster[WW_CLUSTERS];
    size_t count;
    struct ww_dissect_cache *c = &m->out->cache[m->out->cache_count++];
    struct ww_infer_plan plan = {.unit = 4,
                                 .size_step = 32,
                                 .smallest = WW_KB,
                                 .largest = LARGEST_CACHE,
                                 .longest_line = 512,
                                 .sets = true};
    struct ww_infer_plan look = {.unit = 32, .smallest = WW_KB, .largest = LARGEST_CACHE};
    *c = (struct ww_dissect_cache){.name = name, .miss = NAN};
    m->path = path;
    WW_TRY(ww_meter_hit(m, &c->hit, error));
    c->texture = path == WW_MICRO_TEXTURE;
    c->cached = c->hit < 0.9 * l2;
    if (!c->cached) return WW_OK;
    WW_TRY(ww_meter_levels(m, &look, cluster, &count, error));
    if (count < 2) return WW_OK;
    c->miss = (cluster[1].low + cluster[1].high) / 2.0;
    plan.hit_at_most = ww_cluster_between(&cluster[0], &cluster[1]);
    struct ww_box box = ww_meter_box(m);
    return ww_infer(&box, &plan, &m->out->arena, &c->c, error);
}

/* Compute capabilities whose compiler switch -dlcm=ca or cg turns the L1 on or off for global loads. */
static const char *other_switch(const struct ww_meter *m) {
    const char *arch = m->board.arch;
    if (strncmp(arch, "sm_2", 4) == 0) return "l1.global_loads=false";
    if (strncmp(arch, "sm_5", 4) == 0) return "l1.global_loads=true";
    return NULL;
}

static enum ww_code switched(const struct ww_dissect_options *o, struct ww_dissect *out, const char *override,
                             double l2, struct ww_error *error) {
    struct ww_meter m;
    bool on = strstr(override, "true") != NULL;
    enum ww_code code = ww_meter_open(&m, o, out, override, error);
    if (code == WW_OK)
        code =
            dissect_path(&m, WW_MICRO_GLOBAL, on ? "global loads, L1 on" : "global loads, L1 off", l2, error);
    ww_meter_close(&m);
    return code;
}

static enum ww_code all_paths(struct ww_meter *m, struct ww_error *error) {
    double l2;
    WW_TRY(beyond(m, &l2, error));
    const char *other = other_switch(m);
    bool on = other && strstr(other, "false");
    WW_TRY(dissect_path(m, WW_MICRO_GLOBAL,
                        !other ? "global loads"
                        : on   ? "global loads, L1 on"
                               : "global loads, L1 off",
                        l2, error));
    if (other) WW_TRY(switched(m->options, m->out, other, l2, error));
    if (atoi(m->board.arch + 3) >= 35) /* the first with such loads */
        WW_TRY(dissect_path(m, WW_MICRO_READ_ONLY, "read-only loads", l2, error));
    WW_TRY(dissect_path(m, WW_MICRO_TEXTURE, "texture", l2, error));
    return ww_dissect_l2(m, error);
}

enum ww_code ww_dissect_caches(const struct ww_dissect_options *options, struct ww_dissect *out,
                               struct ww_error *error) {
    struct ww_meter m;
    enum ww_code code = ww_meter_open(&m, options, out, NULL, error);
    if (code == WW_OK) code = all_paths(&m, error);
    if (code == WW_OK) code = ww_dissect_classic(&m, error);
    ww_meter_close(&m);
    return code;
}
