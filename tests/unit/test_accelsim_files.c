/* Files of Accel-Sim traces: compression, .tracez, lists, folders; and the way there and back. */
#include "../../estimator/warpwatt.h"
#include "../../traces/accelsim/output.h"
#include "accelsim_fixture.h"
#include "wwt_fixture.h"
#include "../../estimator/base/buf.h"
#include <lzma.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <cmocka.h>

static struct ww_arena arena;
static struct ww_error error;

static int set_up(void **state) {
    (void)state;
    ww_arena_init(&arena, 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    ww_arena_free(&arena);
    return 0;
}

static int clean(void **state) {
    (void)state;
    ww_made_clean();
    return 0;
}

#define OK(call)                                                                                               \
    do {                                                                                                       \
        enum ww_code ok_code_ = (call);                                                                        \
        if (ok_code_ != WW_OK) fail_msg("%s: %s: %s", #call, error.where, error.text);                         \
    } while (0)

/* ---- compression ---- */

#define WARP_LINES 3000

/* Header and one CTA with one long warp; the lines alone at *lines. */
static const char *make_text(const char **lines) {
    struct ww_buf b = {0};
    for (int i = 0; i < WARP_LINES; i++)
        ww_buf_printf(&b, "%04x ffffffff 1 R2 LDG.E 1 R4 4 1 0x%x 4 \n", 16 * (i % 50), 128 * i);
    *lines = ww_arena_strndup(&arena, b.p, b.n);
    ww_buf_free(&b);
    const char *header = as_header(&arena, &(struct as_text){.version = 3});
    return ww_arena_printf(&arena, "%s\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %d\n%s#END_TB\n",
                           header, WARP_LINES, *lines);
}

static size_t pack_gz(const char *text, unsigned char *out, size_t room) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)text;
    z.avail_in = (uInt)strlen(text);
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t n = room - z.avail_out;
    deflateEnd(&z);
    return n;
}

static size_t pack_xz(const char *text, unsigned char *out, size_t room) {
    size_t n = 0;
    assert_int_equal(
        lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, (const uint8_t *)text, strlen(text), out, &n, room),
        LZMA_OK);
    return n;
}

static size_t pack_zst(const char *text, unsigned char *out, size_t room) {
    size_t n = ZSTD_compress(out, room, text, strlen(text), 3);
    assert_false(ZSTD_isError(n));
    return n;
}

static void put32(struct ww_buf *b, uint32_t v) {
    ww_buf_u32(b, v);
}

/* Two pieces, no dictionary. */
static size_t pack_tracez(const char *lines, unsigned char *out, size_t room) {
    struct ww_buf b = {0};
    size_t half = strlen(lines) / 2;
    while (lines[half - 1] != '\n') half++;
    const char *part[2] = {lines, lines + half};
    size_t size[2] = {half, strlen(lines) - half};
    ww_buf_puts(&b, as_header(&arena, &(struct as_text){.version = 3}));
    ww_buf_byte(&b, 0);
    put32(&b, 0);
    put32(&b, 2048);
    uint64_t warp = b.n;
    put32(&b, WARP_LINES);
    put32(&b, 2);
    for (int i = 0; i < 2; i++) {
        size_t n = ZSTD_compress(out, room, part[i], size[i], 3);
        put32(&b, (uint32_t)n);
        ww_buf_append(&b, out, n);
    }
    uint64_t index = b.n;
    put32(&b, 1);
    for (int i = 0; i < 10; i++) put32(&b, 0);
    put32(&b, 1);
    put32(&b, WARP_LINES);
    put32(&b, 2);
    ww_buf_u64(&b, warp);
    put32(&b, 0);
    put32(&b, 0);
    ww_buf_u64(&b, index);
    assert_true(b.n < room && !b.failed);
    memcpy(out, b.p, b.n);
    size_t n = b.n;
    ww_buf_free(&b);
    return n;
}

static unsigned char packed[1 << 20];

static size_t pack(int kind) {
    const char *lines, *text = make_text(&lines);
    switch (kind) {
    case 0:
        return pack_gz(text, packed, sizeof packed);
    case 1:
        return pack_xz(text, packed, sizeof packed);
    case 2:
        return pack_zst(text, packed, sizeof packed);
    default:
        return pack_tracez(lines, packed, sizeof packed);
    }
}

static void check_packed(int kind) {
    struct as_result r;
    size_t n = pack(kind);
    as_import_bytes(packed, n, &r);
    if (r.code != WW_OK) fail_msg("%s: %s", r.error.where, r.error.text);
    assert_int_equal(r.cta.warp[0].step_count, WARP_LINES);
    assert_int_equal(as_address(&r, 0, WARP_LINES - 1, WARP_LINES - 1, 1), 128 * (WARP_LINES - 1) + 4);
    as_free(&r);
}

/* Every shorter file is an error; where only a header is left, it is one of plain text, which is none. */
static void check_truncated(int kind) {
    size_t n = pack(kind), least = strlen(as_header(&arena, &(struct as_text){.version = 3}));
    for (size_t cut = 1; cut + least < n; cut += cut < 64 ? 1 : n / 37) {
        struct as_result r;
        as_import_bytes(packed, n - cut, &r);
        if (r.code == WW_OK) fail_msg("%zu bytes less are no error", cut);
        as_free(&r);
    }
}

static void test_gzip_is_read(void **state) {
    (void)state;
    check_packed(0);
}

static void test_xz_is_read(void **state) {
    (void)state;
    check_packed(1);
}

static void test_zstd_is_read(void **state) {
    (void)state;
    check_packed(2);
}

static void test_tracez_is_read(void **state) {
    (void)state;
    check_packed(3);
}

static void test_several_gzip_members_are_one_text(void **state) {
    (void)state;
    struct as_result r;
    const char *lines, *text = make_text(&lines);
    char *first = ww_arena_strndup(&arena, text, 700);
    size_t n = pack_gz(first, packed, sizeof packed);
    n += pack_gz(text + 700, packed + n, sizeof packed - n);
    as_import_bytes(packed, n, &r);
    assert_int_equal(r.code, WW_OK);
    assert_int_equal(r.cta.warp[0].step_count, WARP_LINES);
    as_free(&r);
}

static void test_truncated_compression_is_an_error(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) check_truncated(kind);
}

/* ---- lists ---- */

#define ONE_CTA "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n0010 1 0 EXIT 0 0\n#END_TB\n"

static void put_trace(const char *name) {
    const char *header = as_header(&arena, &(struct as_text){.version = 3});
    const char *text = ww_arena_printf(&arena, "%s%s", header, ONE_CTA);
    size_t n = strlen(name), length = strlen(text);
    const void *data = text;
    if (n > 3 && strcmp(name + n - 3, ".gz") == 0) {
        length = pack_gz(text, packed, sizeof packed);
        data = packed;
    }
    ww_made_put(ww_made_path(&arena, name), data, length);
}

static enum ww_code import_path(const char *path, struct ww_import_stats *stats) {
    const struct ww_import_options o = {.out_path = ww_made_path(&arena, "list.wwt")};
    return ww_import_accelsim(path, &o, stats, &error);
}

static void put_list(const char *text) {
    ww_made_put(ww_made_path(&arena, "kernelslist.g"), text, strlen(text));
}

static void test_lists_name_traces_with_or_without_their_compression(void **state) {
    (void)state;
    struct ww_import_stats s;
    put_trace("kernel-1.traceg");
    put_trace("kernel-2.traceg.gz");
    put_list("MemcpyHtoD,0x00007f0000000000,4096\nkernel-1.traceg\n\nMemcpyHtoD,0x00007f0000000000,10\r\n"
             "kernel-2.traceg\nkernel-2.traceg.gz\n");
    OK(import_path(ww_made_path(&arena, "kernelslist.g"), &s));
    assert_int_equal(s.launches, 3);
    assert_int_equal(s.copies, 2);
    assert_int_equal(s.copy_bytes, 4106);
}

static void test_a_folder_stands_for_its_list(void **state) {
    (void)state;
    struct ww_import_stats s;
    put_trace("kernel-1.traceg");
    put_list("kernel-1.traceg\n");
    OK(import_path(ww_made_path(&arena, ""), &s));
    assert_int_equal(s.launches, 1);
}

/* The tracer writes a list for each CUDA context, and the post-processor one more beside it. */
static void test_a_folder_with_the_list_of_one_context_stands_for_it(void **state) {
    (void)state;
    struct ww_import_stats s;
    unlink(ww_made_path(&arena, "kernelslist.g"));
    put_trace("kernel-1-ctx_0x55aa10.traceg");
    static const char raw[] = "kernel-1-ctx_0x55aa10.trace\n", grouped[] = "kernel-1-ctx_0x55aa10.traceg\n";
    ww_made_put(ww_made_path(&arena, "kernelslist_ctx_0x55aa10"), raw, strlen(raw));
    ww_made_put(ww_made_path(&arena, "kernelslist_ctx_0x55aa10.g"), grouped, strlen(grouped));
    OK(import_path(ww_made_path(&arena, ""), &s));
    assert_int_equal(s.launches, 1);
}

static void test_traces_of_several_gpus_are_refused_by_name(void **state) {
    (void)state;
    struct ww_import_stats s;
    static const char other[] = "kernel-1-ctx_0x66bb20.traceg\n";
    unlink(ww_made_path(&arena, "kernelslist.g"));
    put_trace("kernel-1-ctx_0x55aa10.traceg");
    put_trace("kernel-1-ctx_0x66bb20.traceg");
    ww_made_put(ww_made_path(&arena, "kernelslist_ctx_0x66bb20.g"), other, strlen(other));
    assert_int_equal(import_path(ww_made_path(&arena, ""), &s), WW_USAGE);
    assert_non_null(strstr(error.text, "kernelslist_ctx_0x55aa10.g and kernelslist_ctx_0x66bb20.g"));
    unlink(ww_made_path(&arena, "kernelslist_ctx_0x55aa10"));
    unlink(ww_made_path(&arena, "kernelslist_ctx_0x55aa10.g"));
    unlink(ww_made_path(&arena, "kernelslist_ctx_0x66bb20.g"));
    put_list("kernel-1-ctx_0x55aa10.traceg\nkernel-1-ctx_0x66bb20.traceg\n");
    assert_int_equal(import_path(ww_made_path(&arena, "kernelslist.g"), &s), WW_UNSUPPORTED);
    assert_non_null(strstr(error.where, "kernelslist.g:2"));
    assert_non_null(strstr(error.text, "0x66bb20"));
    assert_non_null(strstr(error.text, "0x55aa10"));
}

static void test_a_trace_stands_for_itself(void **state) {
    (void)state;
    struct ww_import_stats s;
    put_trace("kernel-9.traceg.gz");
    OK(import_path(ww_made_path(&arena, "kernel-9.traceg.gz"), &s));
    assert_int_equal(s.launches, 1);
}

static void test_a_list_that_names_no_file_is_an_error_with_its_line(void **state) {
    (void)state;
    struct ww_import_stats s;
    put_trace("kernel-1.traceg");
    put_list("kernel-1.traceg\nkernel-77.traceg\n");
    assert_int_equal(import_path(ww_made_path(&arena, "kernelslist.g"), &s), WW_INPUT);
    assert_non_null(strstr(error.where, "kernelslist.g:2"));
    put_list("kernel-1.traceg\nsomething else\n");
    assert_int_equal(import_path(ww_made_path(&arena, "kernelslist.g"), &s), WW_INPUT);
    assert_non_null(strstr(error.where, "kernelslist.g:2"));
    put_list("MemcpyHtoD,0x0,1\n");
    assert_int_equal(import_path(ww_made_path(&arena, "kernelslist.g"), &s), WW_INPUT);
}

static void test_a_copy_without_its_bytes_is_an_error_with_its_line(void **state) {
    (void)state;
    static const char *const bad[] = {"MemcpyHtoD", "MemcpyHtoD,0x0,", "MemcpyHtoD,0x0,1 2",
                                      "MemcpyHtoD,0x0,-1", "MemcpyHtoD,0x0,18446744073709551616"};
    struct ww_import_stats s;
    put_trace("kernel-1.traceg");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put_list(ww_arena_printf(&arena, "kernel-1.traceg\n%s\n", bad[i]));
        assert_int_equal(import_path(ww_made_path(&arena, "kernelslist.g"), &s), WW_INPUT);
        assert_non_null(strstr(error.where, "kernelslist.g:2"));
        assert_non_null(strstr(error.text, "expected a copy"));
    }
}

/* ---- there and back ---- */

static void remove_folder(const char *dir, size_t launches) {
    for (size_t i = 1; i <= launches; i++) {
        unlink(ww_arena_printf(&arena, "%s/kernel-%zu.traceg", dir, i));
        unlink(ww_arena_printf(&arena, "%s/kernel-%zu.traceg.xz", dir, i));
    }
    unlink(ww_arena_printf(&arena, "%s/kernelslist.g", dir));
    rmdir(dir);
}

/* Exports what is at `path` and imports it to "back.wwt". */
static void there_and_back(const char *path, unsigned version, bool xz, size_t launches) {
    const char *dir = ww_made_path(&arena, "exported");
    struct ww_export_stats exported;
    const struct ww_export_options o = {.version = version, .xz = xz, .stats = &exported};
    const struct ww_import_options io = {.out_path = ww_made_path(&arena, "back.wwt")};
    struct ww_import_stats imported;
    struct ww_trace *t;
    remove_folder(dir, launches);
    OK(ww_trace_open(path, &t, &error));
    OK(ww_export_accelsim(t, dir, &o, &error));
    ww_trace_close(t);
    OK(ww_import_accelsim(dir, &io, &imported, &error));
    assert_int_equal(imported.warp_instructions, exported.warp_instructions);
    assert_int_equal(imported.unknown_instructions, 0);
    remove_folder(dir, launches);
}

static void check_launch(const struct ww_launch *a, const struct ww_launch *b) {
    assert_string_equal(a->kernel, b->kernel);
    assert_string_equal(a->arch, b->arch);
    assert_memory_equal(a->grid, b->grid, sizeof a->grid);
    assert_memory_equal(a->block, b->block, sizeof a->block);
    assert_int_equal(a->registers_per_thread, b->registers_per_thread);
    assert_int_equal(a->shared_static, b->shared_static);
    assert_int_equal(a->shared_dynamic, b->shared_dynamic);
    assert_int_equal(a->local_bytes, b->local_bytes);
    assert_int_equal(a->inst_count, b->inst_count);
    for (uint32_t i = 0; i < a->inst_count; i++) {
        struct ww_inst x = a->inst[i], y = b->inst[i];
        assert_string_equal(a->string[x.mnemonic], b->string[y.mnemonic]);
        assert_string_equal(a->string[x.file], b->string[y.file]);
        x.mnemonic = y.mnemonic = x.file = y.file = 0;
        assert_memory_equal(&x, &y, sizeof x);
    }
}

/* Steps, and what they mean: a mask of one lane leaves an affine access's stride open. */
static const char *differs(const struct ww_launch *l, const struct ww_warp_stream *s,
                           const struct ww_warp_stream *e) {
    uint64_t x[32], y[32];
    uint32_t k = 0;
    if (s->step_count != e->step_count || s->access_count != e->access_count) return "counts differ";
    for (uint32_t i = 0; i < s->step_count; i++) {
        const struct ww_inst *inst = &l->inst[s->step[i].inst];
        if (s->step[i].inst != e->step[i].inst || s->step[i].mask != e->step[i].mask) return "a step differs";
        if (!(inst->flags & WW_INST_ACCESS)) continue;
        if (inst->op == WW_OP_BARRIER && s->access[k].base != e->access[k].base) return "a value differs";
        unsigned n = ww_made_addresses(s->step[i].mask, &s->access[k], s->pool, x);
        ww_made_addresses(s->step[i].mask, &e->access[k], e->pool, y);
        if (inst->op != WW_OP_BARRIER && memcmp(x, y, n * sizeof *x) != 0) return "an address differs";
        k++;
    }
    return NULL;
}

static void check_back(const struct ww_made_launch *made, size_t count) {
    struct ww_trace *t;
    OK(ww_trace_open(ww_made_path(&arena, "back.wwt"), &t, &error));
    assert_int_equal(ww_trace_launch_count(t), count);
    for (size_t k = 0; k < count; k++) {
        const struct ww_launch *l;
        OK(ww_trace_launch(t, k, &l, &error));
        check_launch(&made[k].launch, l);
        for (size_t i = 0; i < made[k].cta_count; i++) {
            struct ww_cta_trace cta;
            OK(ww_trace_load_cta(t, k, made[k].cta[i].index, &cta, &error));
            assert_int_equal(cta.warp_count, made[k].cta[i].warp_count);
            for (uint32_t w = 0; w < cta.warp_count; w++) {
                const char *why = differs(l, &cta.warp[w], &made[k].cta[i].warp[w]);
                if (why) fail_msg("launch %zu, CTA %zu, warp %u: %s", k, i, w, why);
            }
            ww_trace_release_cta(t, &cta);
        }
    }
    ww_trace_close(t);
}

/* Of a barrier's access only the value counts; made-up ones have strides and lists. */
static void make_values(struct ww_made_launch *m) {
    for (size_t i = 0; i < m->cta_count; i++)
        for (uint32_t w = 0; w < m->cta[i].warp_count; w++) {
            const struct ww_warp_stream *s = &m->cta[i].warp[w];
            struct ww_access *a = (struct ww_access *)s->access;
            for (uint32_t k = 0; k < s->step_count; k++) {
                const struct ww_inst *inst = &m->launch.inst[s->step[k].inst];
                if (!(inst->flags & WW_INST_ACCESS)) continue;
                if (inst->op == WW_OP_BARRIER) *a = (struct ww_access){k * 7919u, 0, WW_AFFINE};
                a++;
            }
        }
}

static void test_every_made_up_trace_comes_back_whole(void **state) {
    (void)state;
    static const struct ww_made_shape shape[] = {{{20, 2, 1}, {70, 1, 1}, 12, 20, 2, false},
                                                 {{6, 1, 2}, {64, 1, 1}, 30, 40, 2, true},
                                                 {{3, 1, 1}, {2, 1, 1}, 200, 300, 0, false}};
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct ww_made_launch made[3];
        const char *path = ww_made_path(&arena, "there.wwt");
        for (size_t i = 0; i < 3; i++) {
            ww_made_launch(&arena, 900 + seed * 3 + i, &shape[i], &made[i]);
            make_values(&made[i]);
        }
        OK(ww_made_write(path, made, 3, 0, &error));
        there_and_back(path, seed % 2 ? 3 : 5, seed % 3 == 2, 3);
        check_back(made, 3);
    }
}

static void test_exports_overwrite_nothing(void **state) {
    (void)state;
    static const struct ww_made_shape shape = {{2, 1, 1}, {32, 1, 1}, 5, 5, 1, true};
    struct ww_made_launch made;
    struct ww_trace *t;
    const char *path = ww_made_path(&arena, "there.wwt"), *dir = ww_made_path(&arena, "taken");
    ww_made_launch(&arena, 5, &shape, &made);
    OK(ww_made_write(path, &made, 1, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    OK(ww_export_accelsim(t, dir, NULL, &error));
    assert_int_equal(ww_export_accelsim(t, dir, NULL, &error), WW_USAGE);
    assert_int_equal(ww_export_accelsim(t, dir, &(struct ww_export_options){.version = 4}, &error), WW_USAGE);
    ww_trace_close(t);
    remove_folder(dir, 1);
}

/* A disk that fills up in the middle. */
/* A program that is killed leaves no half of a file under its name. */
static void test_an_exported_file_has_its_name_when_it_is_whole(void **state) {
    (void)state;
    struct ww_as_output *out;
    uint64_t bytes = 0;
    const char *path = ww_made_path(&arena, "whole.traceg");
    OK(ww_as_output_open(path, false, &out, &error));
    OK(ww_as_output_write(out, "text", 4, &error));
    assert_int_not_equal(access(path, F_OK), 0);
    OK(ww_as_output_close(out, WW_OK, &bytes, &error));
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(ww_as_output_open(path, false, &out, &error), WW_USAGE);
    ww_as_output_close(out, WW_USAGE, &bytes, &error);
    assert_int_equal(unlink(path), 0);
}

static void test_a_failed_export_leaves_nothing(void **state) {
    (void)state;
    static const struct ww_made_shape shape = {{8, 1, 1}, {64, 1, 1}, 200, 300, 1, true};
    struct ww_made_launch made;
    struct ww_trace *t;
    struct rlimit old, small;
    const char *path = ww_made_path(&arena, "there.wwt"), *dir = ww_made_path(&arena, "failed"),
               *kept = ww_made_path(&arena, "kept");
    ww_made_launch(&arena, 6, &shape, &made);
    OK(ww_made_write(path, &made, 1, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    assert_int_equal(mkdir(kept, 0777), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){8192, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum ww_code first = ww_export_accelsim(t, dir, NULL, &error),
                 second = ww_export_accelsim(t, kept, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    ww_trace_close(t);
    assert_int_equal(first, WW_IO);
    assert_int_equal(second, WW_IO);
    assert_int_equal(access(dir, F_OK), -1);
    assert_int_equal(rmdir(kept), 0); /* a folder that was there stays, empty */
}

/* What other readers of the format need: its own lines only, registers of threads, one result, four sources. */
static void test_exported_lines_hold_what_the_format_has(void **state) {
    (void)state;
    static const struct ww_made_shape shape = {{2, 1, 1}, {32, 1, 1}, 40, 60, 1, false};
    struct ww_made_launch made;
    struct ww_trace *t;
    size_t n;
    const char *path = ww_made_path(&arena, "there.wwt"), *dir = ww_made_path(&arena, "plain");
    ww_made_launch(&arena, 77, &shape, &made);
    OK(ww_made_write(path, &made, 1, 0, &error));
    OK(ww_trace_open(path, &t, &error));
    OK(ww_export_accelsim(t, dir, NULL, &error));
    ww_trace_close(t);
    char *text = (char *)ww_made_read(&arena, ww_arena_printf(&arena, "%s/kernel-1.traceg", dir), &n);
    char *body = strstr(text, "#BEGIN_TB"), *save = NULL;
    assert_non_null(body);
    for (char *line = strtok_r(body, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        unsigned pc, mask, results, sources = 0, reg;
        int used = 0;
        if (line[0] < '0' || line[0] > '9') continue;
        if (sscanf(line, "%4x %8x %u%n", &pc, &mask, &results, &used) != 3) fail_msg("%s", line);
        assert_true(results <= 1);
        if (results) assert_int_equal(sscanf(line + used, " R%u", &reg), 1);
        if (results) assert_true(reg < 255);
        assert_int_equal(sscanf(line + used, results ? " R%*u %*s %u" : " %*s %u", &sources), 1);
        assert_true(sources <= 4);
    }
    remove_folder(dir, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_gzip_is_read),
        T(test_xz_is_read),
        T(test_zstd_is_read),
        T(test_tracez_is_read),
        T(test_several_gzip_members_are_one_text),
        T(test_truncated_compression_is_an_error),
        T(test_lists_name_traces_with_or_without_their_compression),
        T(test_a_folder_stands_for_its_list),
        T(test_a_folder_with_the_list_of_one_context_stands_for_it),
        T(test_traces_of_several_gpus_are_refused_by_name),
        T(test_a_trace_stands_for_itself),
        T(test_a_list_that_names_no_file_is_an_error_with_its_line),
        T(test_a_copy_without_its_bytes_is_an_error_with_its_line),
        T(test_every_made_up_trace_comes_back_whole),
        T(test_exports_overwrite_nothing),
        T(test_an_exported_file_has_its_name_when_it_is_whole),
        T(test_a_failed_export_leaves_nothing),
        T(test_exported_lines_hold_what_the_format_has),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
