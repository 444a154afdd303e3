/* warpwatt calibrate power, timing, analytic, structures */
#include "../warpwatt.h"
#include "cmd.h"
#include <stdlib.h>

static enum ww_code run_power(const struct cmd_line *line, struct ww_error *error) {
    struct ww_calibrate_options o = {.gpu = ww_cmd_get(line, "gpu"),
                                     .power_table = ww_cmd_get(line, "power"),
                                     .measured = ww_cmd_get(line, "measured"),
                                     .check = ww_cmd_get(line, "check"),
                                     .out = ww_cmd_get(line, "out"),
                                     .json = ww_cmd_has(line, "json")};
    const char **set = NULL, **fit = NULL;
    enum ww_code code = ww_cmd_all(line, "set", &set, &o.override_count, error);
    if (code == WW_OK) code = ww_cmd_all(line, "fit", &fit, &o.fit_count, error);
    o.overrides = set;
    o.fit = fit;
    if (code == WW_OK) code = ww_calibrate_power(&o, stdout, error);
    free(set);
    free(fit);
    return code;
}

static enum ww_code run_timing(const struct cmd_line *line, struct ww_error *error) {
    struct cmd_progress progress;
    struct ww_calibrate_timing_options o = {.gpu = ww_cmd_get(line, "gpu"),
                                            .measured = ww_cmd_get(line, "measured"),
                                            .check = ww_cmd_get(line, "check"),
                                            .traces = ww_cmd_get(line, "traces"),
                                            .out = ww_cmd_get(line, "out"),
                                            .json = ww_cmd_has(line, "json"),
                                            .progress = ww_cmd_progress_step,
                                            .context = &progress};
    const char **fit = NULL;
    WW_TRY(ww_cmd_all(line, "fit", &fit, &o.fit_count, error));
    o.fit = fit;
    ww_cmd_progress_begin(&progress, "calibrate timing", ww_cmd_has(line, "quiet"));
    enum ww_code code = ww_cmd_progress_end(&progress, ww_calibrate_timing(&o, stdout, error), error);
    free(fit);
    return code;
}

static enum ww_code run_analytic(const struct cmd_line *line, struct ww_error *error) {
    struct cmd_progress progress;
    struct ww_calibrate_analytic_options o = {.measured = ww_cmd_get(line, "measured"),
                                              .out = ww_cmd_get(line, "out"),
                                              .json = ww_cmd_has(line, "json"),
                                              .progress = ww_cmd_progress_step,
                                              .context = &progress};
    ww_cmd_progress_begin(&progress, "calibrate analytic", ww_cmd_has(line, "quiet"));
    return ww_cmd_progress_end(&progress, ww_calibrate_analytic(&o, stdout, error), error);
}

static const struct cmd_option analytic_options[] = {
    {"measured", 'm', "FILE", "CSV of full replays: application,trace,gpu,set,cycles,energy_j", CMD_REQUIRED},
    {"json", 0, NULL, "print JSON (reports/schema/calibrate.json)", 0},
    {"out", 'o', "FILE", "write the constants and errors as estimator/fast/model_fit.def has them", 0},
    {"quiet", 'q', NULL, "show no progress", 0},
    {0}};
const struct cmd ww_cmd_calibrate_analytic = {
    .arguments = "",
    .about = "Fits the few constants of the analytical model to full replays of many kernels,\n"
             "and measures its error on each application with constants fitted to the others.\n",
    .examples = "warpwatt calibrate analytic --measured replays.csv\n",
    .options = analytic_options,
    .run = run_analytic};

static enum ww_code run_structures(const struct cmd_line *line, struct ww_error *error) {
    return ww_calibrate_structures(ww_cmd_get(line, "table"), stdout, error);
}

static const struct cmd_option power_options[] = {
    {"gpu", 'g', "GPU", "model that was measured: a name (gpu list) or a path that ends in .json",
     CMD_REQUIRED},
    {"set", 's', "KEY=VALUE", "override a GPU parameter", CMD_REPEAT},
    {"measured", 'm', "FILE", "CSV with the heading trace,power_w or trace,power_w,sigma_w", CMD_REQUIRED},
    {"fit", 0, "PARTS", "components that share a factor, joined by +; static.NAME: its static power",
     CMD_REPEAT | CMD_REQUIRED},
    {"check", 0, "FILE", "points that the fit does not use; its error on them is printed", 0},
    {"power", 0, "TABLE", "power table to start from (default: the GPU's)", 0},
    {"json", 0, NULL, "print JSON (reports/schema/calibrate.json)", 0},
    {"out", 'o', "FILE", "write the table with the fitted factors (a name that ends in .json)", 0},
    {0}};
const struct cmd ww_cmd_calibrate_power = {
    .arguments = "",
    .about = "Replays the traces of a CSV file and fits factors, none negative, on groups of\n"
             "components of the power table to the measured watts (weighted least squares).\n",
    .examples = "warpwatt calibrate power --gpu a100 --measured fit.csv --fit fp32+regfile --fit dram_read -o "
                "my.json\n",
    .options = power_options,
    .run = run_power};

static const struct cmd_option timing_options[] = {
    {"gpu", 'g', "GPU", "model that was measured: a name (gpu list) or a path that ends in .json",
     CMD_REQUIRED},
    {"measured", 'm', "FILE", "measured cycles or times of workloads and traces (docs/reference/hardware.md)",
     CMD_REQUIRED},
    {"fit", 0, "KEY[=LOW:HIGH]", "parameter, and its bounds (default: a quarter of its value to four times it)",
     CMD_REPEAT | CMD_REQUIRED},
    {"check", 0, "FILE", "points that the fit does not use; its error on them is printed", 0},
    {"traces", 0, "DIR", "keep recordings in this folder and use those that are there", 0},
    {"json", 0, NULL, "print JSON (reports/schema/calibrate.json)", 0},
    {"out", 'o', "FILE", "write a GPU file with the fitted parameters", 0},
    {"quiet", 'q', NULL, "show no progress", 0},
    {0}};
const struct cmd ww_cmd_calibrate_timing = {
    .arguments = "",
    .about = "Fits latencies, bandwidths or other numbers of a GPU file to measured cycles or\n"
             "times of named workloads and traces (least squares of relative errors, within\n"
             "bounds). Refuses parameters whose effects the points cannot separate.\n",
    .examples = "warpwatt calibrate timing --gpu gtx480 --measured m.csv --fit "
                "dram.latency=50:300 -o my-gpu.json\n",
    .options = timing_options,
    .run = run_timing};

static const struct cmd_option structure_options[] = {
    {"table", 0, "FILE", "scaling table with the points (default: power/tables/scaling.json)", 0}, {0}};
const struct cmd ww_cmd_calibrate_structures = {
    .arguments = "",
    .about = "Fits the laws of energy, leakage and area to the points of a scaling table and\n"
             "prints them as the table's section \"laws\".\n",
    .examples = "warpwatt calibrate structures\n",
    .options = structure_options,
    .run = run_structures};
