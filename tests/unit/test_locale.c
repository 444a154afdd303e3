/* The library in a program whose locale writes numbers with a comma: what it reads and writes is the same. */
#include "../../estimator/warpwatt.h"
#include "db_fixture.h"
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static struct ww_error error;
static char dir[64];
static const char *comma; /* name of the locale */

#define OK(call)                                                                                               \
    do {                                                                                                       \
        enum ww_code ok_code_ = (call);                                                                        \
        if (ok_code_ != WW_OK) fail_msg("%s: %s: %s", #call, error.where, error.text);                         \
    } while (0)

static const char *in_dir(const char *name) {
    static char path[4][200];
    static unsigned next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", dir, name);
    return p;
}

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* German if the machine has it, else one that differs from C in its numbers only. */
static int set_up(void **state) {
    (void)state;
    char command[400];
    snprintf(dir, sizeof dir, "/tmp/warpwatt-locale-XXXXXX");
    if (!mkdtemp(dir)) return -1;
    comma = "de_DE.UTF-8";
    if (setlocale(LC_ALL, comma)) return 0;
    comma = "comma";
    put(in_dir("comma.src"),
        "comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\n"
        "END LC_NUMERIC\n");
    put(in_dir("ascii.map"), /* a bare machine has no character maps */
        "<code_set_name> ASCII\n<comment_char> %\n<escape_char> /\n<mb_cur_min> 1\n<mb_cur_max> 1\nCHARMAP\n"
        "<U0000>..<U007F> /x00 ASCII\nEND CHARMAP\n");
    snprintf(command, sizeof command,
             "I18NPATH=/nowhere localedef -c -i '%s/comma.src' -f '%s/ascii.map' '%s/comma' >/dev/null 2>&1",
             dir, dir, dir);
    if (system(command) == -1) return -1;
    setenv("LOCPATH", dir, 1);
    return setlocale(LC_ALL, comma) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char command[100];
    setlocale(LC_ALL, "C");
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command) == 0 ? 0 : -1;
}

/* What `write` writes under each of the two locales is the same text, and the locale is left as it was. */
static void same_in_both(void (*write)(FILE *out)) {
    char *text[2] = {NULL, NULL};
    const char *const name[] = {"C", comma};
    for (int i = 0; i < 2; i++) {
        size_t size;
        FILE *out = open_memstream(&text[i], &size);
        assert_non_null(setlocale(LC_ALL, name[i]));
        error = (struct ww_error){.code = WW_OK};
        write(out);
        fclose(out);
        assert_string_equal(localeconv()->decimal_point, i ? "," : ".");
    }
    setlocale(LC_ALL, "C");
    assert_true(strlen(text[0]) > 20);
    assert_string_equal(text[1], text[0]);
    free(text[0]);
    free(text[1]);
}

static void write_gpu(FILE *out) {
    static const char *const set[] = {"clock.sm_mhz=700.25", "dram.mhz=923.75"};
    struct ww_gpu *gpu;
    struct ww_param_view view;
    OK(ww_gpu_load("gtx480", set, 1, &gpu, &error));
    fprintf(out, "%s\n", ww_gpu_json(gpu));
    for (size_t i = 0; i < ww_gpu_param_count(); i++) {
        OK(ww_gpu_param(gpu, i, &view, &error));
        fprintf(out, "%s %s %s\n", view.key, view.value, view.bounds);
    }
    ww_gpu_free(gpu);
    assert_int_equal(ww_gpu_load("gtx480", (const char *const[]){"clock.sm_mhz=0.001"}, 1, &gpu, &error),
                     WW_INPUT);
    fputs(error.text, out);
}

static void gpus_are_read_alike(void **state) {
    (void)state;
    same_in_both(write_gpu);
}

static void write_reports(FILE *out) {
    struct ww_result *r[2] = {ww_fixture_result(NULL), ww_fixture_result(&(struct ww_fixture){.seed = 7})};
    const struct ww_result *const runs[] = {r[0], r[1]};
    const struct ww_report_set set = {runs, (const int64_t[]){1, 2}, 2, NULL, NULL, NULL, NULL, NULL};
    OK(ww_report_summary(r[0], 1, false, out, &error));
    OK(ww_report_summary(r[0], 1, true, out, &error));
    OK(ww_report_text(r[0], 1, out, &error));
    OK(ww_report_json(r[0], 1, out, &error));
    OK(ww_report_timeline(r[0], 1, out, &error));
    OK(ww_report_source(r[0], 9, false, out, &error));
    OK(ww_report_compare(r[0], 1, r[1], 2, false, out, &error));
    OK(ww_report_compare(r[0], 1, r[1], 2, true, out, &error));
    OK(ww_report_csv(&set, out, &error));
    OK(ww_report_markdown(&set, out, &error));
    OK(ww_report_html(&set, out, &error));
    ww_result_free(r[0]);
    ww_result_free(r[1]);
}

static void reports_are_written_alike(void **state) {
    (void)state;
    same_in_both(write_reports);
}

static void write_database(FILE *out) {
    struct ww_db *db;
    struct ww_result *r = ww_fixture_result(NULL), *back;
    int64_t id;
    unlink(in_dir("d.db"));
    OK(ww_db_open(in_dir("d.db"), true, &db, &error));
    OK(ww_db_store(db, r, &id, &error));
    OK(ww_db_load(db, id, &back, &error));
    r->peak_memory_bytes = back->peak_memory_bytes; /* is not stored */
    ww_fixture_assert_equal(r, back);
    for (int format = WW_FORMAT_TABLE; format <= WW_FORMAT_JSON; format++)
        OK(ww_db_query(
            db, "SELECT ?1 AS given, ?1 * 2 AS twice, energy_j, cycles / 7.0, printf('%.3f', ipc) FROM v_run",
            (const char *const[]){"0.125"}, 1, (enum ww_format)format, out, &error));
    ww_result_free(r);
    ww_result_free(back);
    ww_db_close(db);
}

static void databases_are_asked_alike(void **state) {
    (void)state;
    same_in_both(write_database);
}

static void record(void) {
    struct ww_record_options o = {.out_path = in_dir("a.wwt"), .arch = "sm_20"};
    struct ww_record_stats stats;
    OK(ww_record_workload("saxpy", (const char *const[]){"n=4096"}, 1, &o, &stats, &error));
}

static void write_run(FILE *out) {
    struct ww_gpu *gpu;
    struct ww_result *r;
    record();
    OK(ww_gpu_load("gtx480", NULL, 0, &gpu, &error));
    for (int i = 0; i < 2; i++) {
        struct ww_run_options o = {.gpu = gpu, .trace_path = in_dir("a.wwt"), .mode = i ? "analytic" : "full"};
        OK(ww_run(&o, &r, &error));
        assert_true(i || r->energy_j > 0);
        r->host_seconds = 0.5;
        r->peak_memory_bytes = 1;
        OK(ww_report_json(r, 1, out, &error));
        ww_result_free(r);
    }
    ww_gpu_free(gpu);
}

static void replays_give_the_same(void **state) {
    (void)state;
    same_in_both(write_run);
}

static void write_sweep(FILE *out) {
    struct ww_sweep_summary summary;
    struct ww_db *db;
    char space[600];
    record();
    snprintf(
        space, sizeof space,
        "{\"gpu\": \"gtx480\", \"traces\": [\"%s\"], \"parameters\": {\"clock.sm_mhz\":"
        " {\"from\": 600.5, \"to\": 602, \"step\": 0.75}}, \"conditions\": [\"clock.sm_mhz * 0.5 > 300.5\"],"
        " \"objectives\": [{\"name\": \"o\", \"sql\": \"p.cycles * 0.25\"}, \"time\"]}",
        in_dir("a.wwt"));
    put(in_dir("s.json"), space);
    unlink(in_dir("s.db"));
    struct ww_sweep_options o = {.space = in_dir("s.json"), .db = in_dir("s.db"), .jobs = 2};
    OK(ww_sweep(&o, &summary, &error));
    assert_int_equal(summary.points, 2);
    OK(ww_db_open(o.db, false, &db, &error));
    OK(ww_db_query(db, "SELECT space FROM sweep", NULL, 0, WW_FORMAT_CSV, out, &error));
    OK(ww_db_query(db, "SELECT point, key, value, typeof(value) FROM sweep_setting ORDER BY 1, 2", NULL, 0,
                   WW_FORMAT_CSV, out, &error));
    OK(ww_db_query(db, "SELECT point, objective, value FROM sweep_value ORDER BY 1, 2", NULL, 0, WW_FORMAT_CSV,
                   out, &error));
    ww_db_close(db);
}

static void sweeps_have_the_same_points(void **state) {
    (void)state;
    same_in_both(write_sweep);
}

/* The PTX has a constant with a point, the description a buffer of them, and what must come out. */
static void write_kernel(FILE *out) {
    struct ww_record_options o = {.kernel_output = out};
    struct ww_record_stats stats;
    put(in_dir("k.ptx"), ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
                         " .reg .f32 %f<4>;\n .reg .b64 %rd<4>;\n ld.param.u64 %rd1, [a];\n"
                         " cvta.to.global.u64 %rd2, %rd1;\n ld.global.f32 %f1, [%rd2];\n"
                         " mul.f32 %f2, %f1, 2.5;\n st.global.f32 [%rd2], %f2;\n ret;\n}\n");
    put(in_dir("k.json"), "{\"buffers\": {\"x\": {\"type\": \"f32\", \"count\": 1, \"fill\": {\"value\": 1.5},"
                          " \"expect\": {\"value\": 3.75}}}, \"kernel\": \"k\", \"grid\": [1], \"block\": [1],"
                          " \"args\": [{\"buffer\": \"x\"}]}");
    enum ww_code code = ww_record_ptx(in_dir("k.ptx"), in_dir("k.json"), &o, &stats, &error);
    fprintf(out, "exit %d, verified %d, %s: %s\n", (int)code, stats.verified, error.where, error.text);
    put(in_dir("k.json"), "{\"buffers\": {\"x\": {\"type\": \"f32\", \"count\": 1, \"fill\": {\"value\": 1.5},"
                          " \"expect\": {\"value\": 3.25}}}, \"kernel\": \"k\", \"grid\": [1], \"block\": [1],"
                          " \"args\": [{\"buffer\": \"x\"}]}");
    code = ww_record_ptx(in_dir("k.ptx"), in_dir("k.json"), &o, &stats, &error);
    fprintf(out, "exit %d, %s: %s\n", (int)code, error.where, error.text);
}

static void kernels_have_the_same_constants(void **state) {
    (void)state;
    same_in_both(write_kernel);
}

static void write_calibrations(FILE *out) {
    char path[512];
    struct ww_measured *m;
    OK(ww_calibrate_structures(NULL, out, &error));
    ww_fixture_source_file("tests/hardware/synthetic.json", path);
    OK(ww_measured_load(path, &m, &error));
    OK(ww_measured_derive(m, "v100", in_dir("derived.json"), out, &error));
    ww_measured_free(m);
    char *text = ww_fixture_read(in_dir("derived.json"));
    fputs(text, out);
    free(text);
}

static void calibrations_are_written_alike(void **state) {
    (void)state;
    same_in_both(write_calibrations);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_are_read_alike),
        cmocka_unit_test(reports_are_written_alike),
        cmocka_unit_test(databases_are_asked_alike),
        cmocka_unit_test(replays_give_the_same),
        cmocka_unit_test(sweeps_have_the_same_points),
        cmocka_unit_test(kernels_have_the_same_constants),
        cmocka_unit_test(calibrations_are_written_alike),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
