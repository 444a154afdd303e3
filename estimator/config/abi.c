/* Sizes of the public structures, for bindings of other languages. */
#include "../warpwatt.h"
#include <string.h>

size_t ww_struct_size(const char *name) {
    static const struct {
        const char *name;
        size_t size;
    } list[] = {
#define SIZE(name) {#name, sizeof(struct name)}
        SIZE(ww_calibrate_analytic_options),
        SIZE(ww_calibrate_options),
        SIZE(ww_calibrate_timing_options),
        SIZE(ww_copy_span),
        SIZE(ww_correlate_options),
        SIZE(ww_cta_span),
        SIZE(ww_disasm_options),
        SIZE(ww_dissect_options),
        SIZE(ww_energy),
        SIZE(ww_epoch),
        SIZE(ww_epoch_energy),
        SIZE(ww_error),
        SIZE(ww_explored),
        SIZE(ww_explored_effect),
        SIZE(ww_explored_objective),
        SIZE(ww_explored_point),
        SIZE(ww_explored_variant),
        SIZE(ww_explored_candidate),
        SIZE(ww_export_options),
        SIZE(ww_export_stats),
        SIZE(ww_import_gap),
        SIZE(ww_import_options),
        SIZE(ww_import_stats),
        SIZE(ww_interval),
        SIZE(ww_launch_info),
        SIZE(ww_launch_result),
        SIZE(ww_measured),
        SIZE(ww_measured_figure),
        SIZE(ww_measured_point),
        SIZE(ww_mech_view),
        SIZE(ww_named_query),
        SIZE(ww_names),
        SIZE(ww_override),
        SIZE(ww_param_view),
        SIZE(ww_pc_row),
        SIZE(ww_segment),
        SIZE(ww_record_options),
        SIZE(ww_record_stats),
        SIZE(ww_report_set),
        SIZE(ww_result),
        SIZE(ww_run_options),
        SIZE(ww_sample_ratio),
        SIZE(ww_sample_row),
        SIZE(ww_sampling),
        SIZE(ww_setting),
        SIZE(ww_sweep_cause),
        SIZE(ww_sweep_merged),
        SIZE(ww_sweep_options),
        SIZE(ww_sweep_ranking),
        SIZE(ww_sweep_shard),
        SIZE(ww_sweep_slurm),
        SIZE(ww_sweep_summary),
        SIZE(ww_trace_source),
        SIZE(ww_transform_options),
        SIZE(ww_validate_options),
        SIZE(ww_vf_point),
        SIZE(ww_workload_view),
#undef SIZE
    };
    for (size_t i = 0; name && i < sizeof list / sizeof list[0]; i++)
        if (strcmp(list[i].name, name) == 0) return list[i].size;
    return 0;
}
