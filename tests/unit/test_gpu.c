/* GPU models: finding, inheritance, overrides, the rules between parameters, and the models that come with
 * the source. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/config/find.h"
#include "../../estimator/config/gpu.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[] = "/tmp/warpwatt-test-gpu-XXXXXX";

static int make_dir(void **state) {
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state) {
    (void)state;
    unsetenv("WARPWATT_MODELS");
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void write_model(const char *name, const char *text) {
    FILE *f = fopen(path_of(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Loads a model of the folder with overrides up to NULL. */
static enum ww_code load(const char *name, struct ww_gpu **gpu, struct ww_error *e, const char *a,
                         const char *b) {
    const char *set[] = {a, b};
    return ww_gpu_load(path_of(name), set, a ? b ? 2 : 1 : 0, gpu, e);
}

static const char *value(const struct ww_gpu *gpu, const char *key, bool source) {
    static struct ww_param_view v;
    for (size_t i = 0; i < ww_gpu_param_count(); i++)
        if (ww_gpu_param(gpu, i, &v, NULL) == WW_OK && strcmp(v.key, key) == 0)
            return source ? v.source : v.value;
    return NULL;
}

static void refused(const char *text, const char *where, const char *part) {
    struct ww_gpu *gpu;
    struct ww_error e;
    char place[160];
    write_model("bad.json", text);
    assert_int_equal(load("bad.json", &gpu, &e, NULL, NULL), WW_INPUT);
    assert_null(gpu);
    snprintf(place, sizeof place, "%s%s", path_of("bad.json"), where);
    assert_string_equal(e.where, place);
    if (!strstr(e.text, part)) fail_msg("\"%s\" is not in \"%s\"", part, e.text);
}

static void every_model_of_the_source_loads_by_name(void **state) {
    (void)state;
    struct ww_names names;
    assert_int_equal(ww_gpu_names(&names, NULL), WW_OK);
    assert_true(names.count >= 3);
    for (size_t i = 0; i < names.count; i++) {
        struct ww_gpu *gpu;
        struct ww_error e;
        if (ww_gpu_load(names.name[i], NULL, 0, &gpu, &e) != WW_OK) fail_msg("%s: %s", e.where, e.text);
        assert_string_equal(ww_gpu_name(gpu), names.name[i]);
        ww_gpu_free(gpu);
    }
    ww_names_free(&names);
}

static void every_figure_of_a_model_that_is_not_a_default_has_a_source(void **state) {
    (void)state;
    struct ww_names names;
    assert_int_equal(ww_gpu_names(&names, NULL), WW_OK);
    for (size_t i = 0; i < names.count; i++) {
        struct ww_gpu *gpu;
        assert_int_equal(ww_gpu_load(names.name[i], NULL, 0, &gpu, NULL), WW_OK);
        for (size_t p = 0; p < ww_gpu_row_count; p++)
            if (isnan(ww_gpu_rows[p].def) && ww_gpu_rows[p].type != WW_STR && !gpu->source[p][0])
                fail_msg("%s: %s has no source", names.name[i], ww_gpu_rows[p].key);
        ww_gpu_free(gpu);
    }
    ww_names_free(&names);
}

static void names_are_sorted_without_bases_and_doubles(void **state) {
    (void)state;
    struct ww_names names;
    write_model("_base.json", "{}");
    write_model("0aa.json", "{}");
    write_model("gtx480.json", "{}"); /* also in the source tree */
    write_model("notes.txt", "");
    setenv("WARPWATT_MODELS", dir, 1);
    assert_int_equal(ww_gpu_names(&names, NULL), WW_OK);
    assert_string_equal(names.name[0], "0aa");
    for (size_t i = 0; i < names.count; i++) {
        assert_true(names.name[i][0] != '_' && !strchr(names.name[i], '.'));
        if (i) assert_true(strcmp(names.name[i - 1], names.name[i]) < 0);
    }
    ww_names_free(&names);
    unlink(path_of("gtx480.json"));
    unlink(path_of("0aa.json"));
    unsetenv("WARPWATT_MODELS");
}

static void the_environment_comes_before_the_source_tree(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    char text[256];
    assert_int_equal(ww_find_data("models", "gtx480", text, sizeof text, NULL), WW_OK);
    char child[400];
    snprintf(child, sizeof child, "{\"inherits\": \"%s\", \"name\": \"mine\"}", text);
    write_model("gtx480.json", child);
    setenv("WARPWATT_MODELS", dir, 1);
    assert_int_equal(ww_gpu_load("gtx480", NULL, 0, &gpu, NULL), WW_OK);
    assert_string_equal(ww_gpu_name(gpu), "mine");
    ww_gpu_free(gpu);
    unsetenv("WARPWATT_MODELS");
    unlink(path_of("gtx480.json"));
}

static void an_unknown_name_gives_the_nearest_and_the_places_searched(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_error e;
    assert_int_equal(ww_gpu_load("gtx48", NULL, 0, &gpu, &e), WW_INPUT);
    assert_non_null(strstr(e.text, "did you mean \"gtx480\""));
    assert_non_null(strstr(e.text, "/models"));
}

static void a_name_cannot_lead_out_of_the_directories(void **state) {
    (void)state;
    char out[256];
    assert_int_equal(ww_find_data("models", "../models/gtx480", out, sizeof out, NULL), WW_INPUT);
    assert_int_equal(ww_find_data("models", ".hidden", out, sizeof out, NULL), WW_INPUT);
    assert_int_equal(ww_find_data("models", "", out, sizeof out, NULL), WW_INPUT);
}

static void a_missing_file_is_an_io_error_with_its_path(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_error e;
    assert_int_equal(ww_gpu_load("/nowhere/x.json", NULL, 0, &gpu, &e), WW_IO);
    assert_string_equal(e.where, "/nowhere/x.json");
}

static void a_child_overrides_its_parent_and_keeps_the_rest(void **state) {
    (void)state;
    struct ww_gpu *gpu, *parent;
    write_model("child.json", "{\"inherits\": \"gtx480\", \"sources\": {\"me\": \"my own bench\"},"
                              " \"sm\": {\"count\": {\"value\": 7, \"source\": \"me\"}}}");
    assert_int_equal(load("child.json", &gpu, NULL, NULL, NULL), WW_OK);
    assert_int_equal(ww_gpu_load("gtx480", NULL, 0, &parent, NULL), WW_OK);
    assert_string_equal(ww_gpu_name(gpu), "child");
    assert_string_equal(value(gpu, "sm.count", false), "7");
    assert_string_equal(value(gpu, "sm.count", true), "my own bench");
    assert_int_equal(gpu->spec.dram_tcl, parent->spec.dram_tcl);
    assert_string_equal(value(gpu, "dram.tcl", true), value(parent, "dram.tcl", true));
    ww_gpu_free(gpu);
    ww_gpu_free(parent);
}

static void a_parent_is_looked_for_beside_its_child_first(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    write_model("_b.json", "{\"inherits\": \"gtx480\", \"l1\": {\"mshrs\": 17}}");
    write_model("c.json", "{\"inherits\": \"_b\"}");
    assert_int_equal(load("c.json", &gpu, NULL, NULL, NULL), WW_OK);
    assert_int_equal(gpu->spec.l1_mshrs, 17);
    ww_gpu_free(gpu);
}

static void inheritance_in_a_circle_is_refused(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_error e;
    write_model("x.json", "{\"inherits\": \"y\"}");
    write_model("y.json", "{\"inherits\": \"x\"}");
    assert_int_equal(load("x.json", &gpu, &e, NULL, NULL), WW_INPUT);
    assert_non_null(strstr(e.where, "$.inherits"));
    assert_non_null(strstr(e.text, "inherit from itself"));
}

static void a_parent_that_is_not_there_names_the_child(void **state) {
    (void)state;
    refused("{\"inherits\": \"nothing\"}", ": $.inherits", "\"nothing\" not found");
    refused("{\"inherits\": 3}", ": $.inherits", "expected a string");
}

static void missing_keys_are_errors_that_name_the_first(void **state) {
    (void)state;
    refused("{}", ": $.node_nm", "missing key");
}

static void unknown_keys_and_bounds_name_file_and_path(void **state) {
    (void)state;
    refused("{\"inherits\": \"gtx480\", \"l1\": {\"size\": 3}}", ": $.l1.size", "unknown key");
    refused("{\"inherits\": \"gtx480\", \"sm\": {\"count\": 0}}", ": $.sm.count",
            "out of bounds: expected 1..1024");
    refused("{\"inherits\": \"gtx480\", \"sources\": 3}", ": $.sources", "expected an object");
    refused("[]", ": $", "expected an object");
}

static void index_masks_and_way_weights_must_fit_the_cache(void **state) {
    (void)state;
    refused("{\"inherits\": \"gtx480\", \"l1\": {\"index\": \"0x80,\"}}", ": $.l1.index", "not a list");
    refused("{\"inherits\": \"gtx480\", \"l1\": {\"index\": \"0x40\"}}", ": $.l1.index",
            "inside of a line of 128 bytes");
    refused("{\"inherits\": \"gtx480\", \"l1\": {\"ways\": 8}}", ": $.l1.index",
            "5 masks do not divide 16 sets; expected at most 4 masks, or none (l1.index=)");
    refused("{\"inherits\": \"gtx480\", \"l1\": {\"ways\": 8, \"index\": \"\"}}", ": $.l1.way_weights",
            "or another l1.replace, such as lru");
    refused("{\"inherits\": \"gtx480\", \"l1\": {\"way_weights\": \"1,3,1\"}}", ": $.l1.way_weights",
            "for l1.ways = 4");
    refused("{\"inherits\": \"gtx480\", \"l1\": {\"way_weights\": \"0,0,0,0\"}}", ": $.l1.way_weights", "");
    refused("{\"inherits\": \"gtx480\", \"tex\": {\"kb\": 13}}", ": $.tex.kb", "not a whole number of sets");
    refused("{\"inherits\": \"gtx980\", \"lsu\": {\"line\": 24}}", ": $.lsu.line", "24");
}

static void carve_outs_rise_and_hold_all_shared_memory(void **state) {
    (void)state;
    refused("{\"inherits\": \"rtx2080ti\", \"l1\": {\"carveouts\": \"64,32\"}}", ": $.l1.carveouts", "rising");
    refused("{\"inherits\": \"rtx2080ti\", \"l1\": {\"carveouts\": \"32,48\"}}", ": $.l1.carveouts",
            "sm.shared_kb = 64");
    refused("{\"inherits\": \"rtx2080ti\", \"l1\": {\"carveouts\": \"32,128\"}}", ": $.l1.carveouts",
            "l1.size_kb = 96");
    refused("{\"inherits\": \"rtx2080ti\", \"l1\": {\"carveouts\": \"32;64\"}}", ": $.l1.carveouts", "");
    refused("{\"inherits\": \"rtx2080ti\", \"l1\": {\"unified\": false}}", ": $.l1.carveouts", "l1.unified");
}

static void overrides_apply_last_and_in_order(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    write_model("o.json", "{\"inherits\": \"gtx480\", \"sm\": {\"count\": 7}}");
    assert_int_equal(load("o.json", &gpu, NULL, "sm.count=8", "sm.count=9"), WW_OK);
    assert_int_equal(gpu->spec.sm_count, 9);
    assert_string_equal(value(gpu, "sm.count", true), "override");
    ww_gpu_free(gpu);
}

static void bad_overrides_are_named(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_error e;
    write_model("o.json", "{\"inherits\": \"gtx480\"}");
    assert_int_equal(load("o.json", &gpu, &e, "sm.cuont=8", NULL), WW_INPUT);
    assert_non_null(strstr(e.text, "did you mean \"sm.count\""));
    assert_int_equal(load("o.json", &gpu, &e, "sm.count=0", NULL), WW_INPUT);
    assert_non_null(strstr(e.where, "sm.count=0"));
    assert_int_equal(load("o.json", &gpu, &e, "sm.count", NULL), WW_USAGE);
    assert_int_equal(load("o.json", &gpu, &e, "=3", NULL), WW_USAGE);
}

static void equal_gpus_have_equal_json_and_unequal_ones_do_not(void **state) {
    (void)state;
    struct ww_gpu *a, *b;
    write_model("e1.json", "{\"inherits\": \"gtx480\", \"name\": \"e\", \"l1\": {\"mshrs\": 9, \"ways\": 4}}");
    write_model("e2.json", "{\"name\": \"e\", \"l1\": {\"ways\": 4}, \"inherits\": \"gtx480\"}");
    assert_int_equal(load("e1.json", &a, NULL, NULL, NULL), WW_OK);
    assert_int_equal(load("e2.json", &b, NULL, "l1.mshrs=9", NULL), WW_OK);
    assert_string_equal(ww_gpu_json(a), ww_gpu_json(b));
    ww_gpu_free(b);
    assert_int_equal(load("e2.json", &b, NULL, "l1.mshrs=10", NULL), WW_OK);
    assert_string_not_equal(ww_gpu_json(a), ww_gpu_json(b));
    ww_gpu_free(a);
    ww_gpu_free(b);
}

static void canonical_json_is_a_model_of_the_same_gpu(void **state) {
    (void)state;
    struct ww_gpu *a, *b;
    assert_int_equal(ww_gpu_load("v100", NULL, 0, &a, NULL), WW_OK);
    write_model("again.json", ww_gpu_json(a));
    assert_int_equal(load("again.json", &b, NULL, NULL, NULL), WW_OK);
    assert_string_equal(ww_gpu_json(a), ww_gpu_json(b));
    ww_gpu_free(a);
    ww_gpu_free(b);
}

static void rules_between_parameters_hold(void **state) {
    (void)state;
    static const struct {
        const char *set[2], *key;
    } bad[] = {
        {{"l1.line=96", NULL}, "l1.line"},
        {{"power.sm_mhz=100", NULL}, "power.sm_mhz"},
        {{"l1.ways=3", NULL}, "l1.size_kb"},
        {{"l1.size_kb=48", NULL}, "l1.size_kb"}, /* beside 48 KiB of shared memory in 64 KiB */
        {{"l1.sector=256", NULL}, "l1.size_kb"},
        {{"sm.schedulers=8", "sm.max_warps=4"}, "sm.schedulers"},
        {{"sm.shared_per_cta_kb=49", NULL}, "sm.shared_per_cta_kb"},
        {{"l2.slices=13", NULL}, "l2.size_kb"},
        {{"l2.interleave=64", NULL}, "l2.interleave"},
        {{"dram.channels=5", NULL}, "l2.slices"},
        {{"dram.tras=1", NULL}, "dram.tras"},
        {{"dram.trfc=9999", NULL}, "dram.trfc"},
        {{"dram.bank_groups=32", NULL}, "dram.bank_groups"},
        {{"shared.banks=24", NULL}, "shared.banks"},
        {{"pipe.fp32.lanes=12", NULL}, "pipe.fp32.lanes"},
        {{"sm.max_threads=2048", NULL}, "sm.max_threads"},
    };
    write_model("r.json", "{\"inherits\": \"gtx480\"}");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ww_gpu *gpu;
        struct ww_error e;
        char where[300], more[100] = "";
        if (load("r.json", &gpu, &e, bad[i].set[0], bad[i].set[1]) != WW_INPUT)
            fail_msg("%s passed", bad[i].set[0]);
        if (bad[i].set[1]) snprintf(more, sizeof more, " --set %s", bad[i].set[1]);
        snprintf(where, sizeof where, "--set %s%s: $.%s", bad[i].set[0], more, bad[i].key);
        assert_string_equal(e.where, where);
    }
}

static void a_file_that_is_unsound_alone_is_blamed_before_overrides(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_error e;
    write_model("u.json", "{\"inherits\": \"gtx480\", \"l1\": {\"ways\": 3}}");
    assert_int_equal(load("u.json", &gpu, &e, "sm.count=3", NULL), WW_INPUT);
    assert_non_null(strstr(e.where, "u.json: $.l1.size_kb"));
}

static void l1_and_shared_memory_share_an_array(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    write_model("s.json", "{\"inherits\": \"gtx480\", \"sm\": {\"shared_kb\": 16, \"shared_per_cta_kb\": 16}}");
    assert_int_equal(load("s.json", &gpu, NULL, "l1.size_kb=48", NULL), WW_OK);
    ww_gpu_free(gpu);
    assert_int_equal(load("s.json", &gpu, NULL, "l1.size_kb=64", NULL), WW_INPUT);
    assert_int_equal(load("s.json", &gpu, NULL, "l1.size_kb=64", "sm.array_kb=0"), WW_OK);
    ww_gpu_free(gpu);
}

static void numbers_in_errors_are_the_shortest(void **state) {
    (void)state;
    refused("{\"inherits\": \"gtx480\", \"clock\": {\"sm_mhz\": 1.38}}", ": $.clock.sm_mhz",
            "1.38 is out of bounds: expected 10..10000 MHz");
}

static void the_error_for_an_inner_name_gives_the_file_name(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_error e;
    write_model("stem.json", "{\"inherits\": \"gtx480\", \"name\": \"inner name\"}");
    setenv("WARPWATT_MODELS", dir, 1);
    assert_int_equal(ww_gpu_load("inner name", NULL, 0, &gpu, &e), WW_INPUT);
    unsetenv("WARPWATT_MODELS");
    assert_non_null(strstr(e.text, "is loaded as \"stem\""));
}

static void the_nearest_ancestor_with_a_power_table_is_known(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    write_model("child.json", "{\"inherits\": \"v100\"}");
    write_model("grandchild.json", "{\"inherits\": \"child\"}");
    assert_int_equal(load("grandchild.json", &gpu, NULL, NULL, NULL), WW_OK);
    assert_string_equal(ww_gpu_ancestor_table(gpu), "v100");
    ww_gpu_free(gpu);
    assert_int_equal(ww_gpu_load("v100", NULL, 0, &gpu, NULL), WW_OK);
    assert_null(ww_gpu_ancestor_table(gpu));
    ww_gpu_free(gpu);
}

static void has_table(const char *text, const char *expected) {
    struct ww_gpu *gpu;
    write_model("derived.json", text);
    assert_int_equal(load("derived.json", &gpu, NULL, NULL, NULL), WW_OK);
    assert_string_equal(gpu->spec.power_table, expected);
    ww_gpu_free(gpu);
}

static void a_derived_model_keeps_the_power_table(void **state) {
    (void)state;
    has_table("{\"inherits\": \"v100\", \"sm\": {\"count\": 40}}", "v100");
}

static void a_derived_model_of_another_node_has_no_power_table(void **state) {
    (void)state;
    has_table("{\"inherits\": \"v100\", \"node_nm\": 7}", "");
}

static void a_derived_model_with_other_memory_has_no_power_table(void **state) {
    (void)state;
    has_table("{\"inherits\": \"v100\", \"dram\": {\"type\": \"hbm3\"}}", "");
}

static void parameters_out_of_range_are_refused(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_param_view v;
    assert_int_equal(ww_gpu_load("v100", NULL, 0, &gpu, NULL), WW_OK);
    assert_int_equal(ww_gpu_param(gpu, ww_gpu_param_count(), &v, NULL), WW_USAGE);
    ww_gpu_free(gpu);
}

static void keys_of_the_rows_are_distinct_and_explained(void **state) {
    (void)state;
    for (size_t a = 0; a < ww_gpu_row_count; a++) {
        assert_true(strlen(ww_gpu_rows[a].help) > 3);
        for (size_t b = 0; b < a; b++) assert_string_not_equal(ww_gpu_rows[a].key, ww_gpu_rows[b].key);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_of_the_source_loads_by_name),
        cmocka_unit_test(every_figure_of_a_model_that_is_not_a_default_has_a_source),
        cmocka_unit_test(names_are_sorted_without_bases_and_doubles),
        cmocka_unit_test(the_environment_comes_before_the_source_tree),
        cmocka_unit_test(an_unknown_name_gives_the_nearest_and_the_places_searched),
        cmocka_unit_test(a_name_cannot_lead_out_of_the_directories),
        cmocka_unit_test(a_missing_file_is_an_io_error_with_its_path),
        cmocka_unit_test(a_child_overrides_its_parent_and_keeps_the_rest),
        cmocka_unit_test(a_parent_is_looked_for_beside_its_child_first),
        cmocka_unit_test(inheritance_in_a_circle_is_refused),
        cmocka_unit_test(a_parent_that_is_not_there_names_the_child),
        cmocka_unit_test(missing_keys_are_errors_that_name_the_first),
        cmocka_unit_test(unknown_keys_and_bounds_name_file_and_path),
        cmocka_unit_test(index_masks_and_way_weights_must_fit_the_cache),
        cmocka_unit_test(carve_outs_rise_and_hold_all_shared_memory),
        cmocka_unit_test(overrides_apply_last_and_in_order),
        cmocka_unit_test(bad_overrides_are_named),
        cmocka_unit_test(equal_gpus_have_equal_json_and_unequal_ones_do_not),
        cmocka_unit_test(canonical_json_is_a_model_of_the_same_gpu),
        cmocka_unit_test(rules_between_parameters_hold),
        cmocka_unit_test(a_file_that_is_unsound_alone_is_blamed_before_overrides),
        cmocka_unit_test(l1_and_shared_memory_share_an_array),
        cmocka_unit_test(numbers_in_errors_are_the_shortest),
        cmocka_unit_test(the_error_for_an_inner_name_gives_the_file_name),
        cmocka_unit_test(the_nearest_ancestor_with_a_power_table_is_known),
        cmocka_unit_test(a_derived_model_keeps_the_power_table),
        cmocka_unit_test(a_derived_model_of_another_node_has_no_power_table),
        cmocka_unit_test(a_derived_model_with_other_memory_has_no_power_table),
        cmocka_unit_test(parameters_out_of_range_are_refused),
        cmocka_unit_test(keys_of_the_rows_are_distinct_and_explained),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
