/* warpwatt dissect */
#include "../warpwatt.h"
#include "cmd.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned part;
} parts[] = {{"caches", WW_DISSECT_CACHES}, {"tlb", WW_DISSECT_TLB},       {"latency", WW_DISSECT_LATENCY},
             {"shared", WW_DISSECT_SHARED}, {"global", WW_DISSECT_GLOBAL}, {"curves", WW_DISSECT_CURVES}};

static enum ww_code read_parts(const struct cmd_line *line, unsigned *out, struct ww_error *error) {
    const char **only;
    size_t count;
    WW_TRY(ww_cmd_all(line, "only", &only, &count, error));
    *out = count ? 0 : WW_DISSECT_ALL;
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < count && code == WW_OK; i++) {
        size_t p = 0;
        while (p < sizeof parts / sizeof parts[0] && strcmp(parts[p].name, only[i]) != 0) p++;
        if (p == sizeof parts / sizeof parts[0])
            code = ww_fail(error, WW_USAGE, "--only",
                           "\"%.40s\": expected caches, tlb, latency, shared, global or curves", only[i]);
        else
            *out |= parts[p].part;
    }
    free(only);
    return code;
}

/* The report is kept until the progress line is gone. */
static enum ww_code measure(const struct cmd_line *line, struct ww_dissect_options *o, struct ww_error *error) {
    struct cmd_progress progress;
    char *text = NULL;
    size_t size = 0;
    FILE *kept = open_memstream(&text, &size);
    if (!kept) return ww_fail_nomem(error, "the report");
    o->progress = ww_cmd_progress_step;
    o->context = &progress;
    ww_cmd_progress_begin(&progress, o->gpu, ww_cmd_has(line, "quiet"));
    enum ww_code code = ww_dissect_report(o, ww_cmd_has(line, "json"), ww_cmd_get(line, "plots"), kept, error);
    if (fclose(kept) != 0 && code == WW_OK) code = ww_fail_nomem(error, "the report");
    code = ww_cmd_progress_end(&progress, code, error);
    if (code == WW_OK) fwrite(text, 1, size, stdout);
    free(text);
    return code;
}

static enum ww_code run_dissect(const struct cmd_line *line, struct ww_error *error) {
    struct ww_dissect_options o = {.gpu = ww_cmd_get(line, "gpu")};
    const char **set = NULL;
    WW_TRY(read_parts(line, &o.parts, error));
    WW_TRY(ww_cmd_u64(line, "seed", 0, INT64_MAX, &o.seed, error));
    WW_TRY(ww_cmd_all(line, "set", &set, &o.override_count, error));
    o.overrides = set;
    enum ww_code code = measure(line, &o, error);
    free(set);
    return code;
}

static const struct cmd_option dissect_options[] = {
    {"gpu", 'g', "GPU", "model to dissect: a name (gpu list) or a path that ends in .json", CMD_REQUIRED},
    {"set", 's', "KEY=VALUE", "override a GPU parameter", CMD_REPEAT},
    {"only", 0, "PART", "caches, tlb, latency, shared, global or curves (default: all)", CMD_REPEAT},
    {"plots", 0, "DIR", "write data and gnuplot scripts of the paper's figures", 0},
    {"seed", 0, "N", "seed of random choices, as of random replacement (default 0)", 0},
    {"json", 0, NULL, "print JSON (reports/schema/dissect.json)", 0},
    {"quiet", 'q', NULL, "show no progress", 0},
    {0}};
const struct cmd ww_cmd_dissect = {
    .arguments = "",
    .about = "Runs pointer chases and copies on the model as on hardware, and prints what follows\n"
             "from them: caches, TLBs, latencies, throughput (Mei and Chu, TPDS 2017).\n",
    .examples = "warpwatt dissect --gpu gtx780\n"
                "warpwatt dissect --gpu gtx980 --only caches --only tlb --json\n",
    .options = dissect_options,
    .run = run_dissect};
