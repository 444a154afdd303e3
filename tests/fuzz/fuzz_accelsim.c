/* Fuzzes the Accel-Sim importer. The first byte chooses what the rest is:
 *
 *     '1' to '6'      the body of a trace of that version, behind a small sound header (grid 4, block 40)
 *     'L'             the same with line numbers
 *     'D'             a body behind a header that declares its instructions
 *     anything else   a whole file, plain or compressed (the byte is part of it)
 */
#include "../../estimator/warpwatt.h"
#include "../../traces/accelsim/import.h"
#include "../../traces/wwt/reader.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char header[] = "-kernel name = k\n-grid dim = (2,2,1)\n-block dim = (40,1,1)\n-shmem = 64\n"
                             "-nregs = 20\n-binary version = 80\n-shmem base_addr = 0x00007f0002000000\n"
                             "-local mem base_addr = 0x00007f0000000000\n";

static const char declarations[] = "-warpwatt launch = 0 0 sm_80\n"
                                   "-warpwatt inst = 10 18 1 4 1 0 0 1 2:1 1 4:2 7 LDG.E LDG.E a.cu\n"
                                   "-warpwatt inst = 20 13 0 0 1 0 0 0 0 0 BAR BAR.SYNC -\n";

static char path[64];

/* Where the traces go; one file, written over and over. */
static void choose_path(void) {
    if (!path[0]) snprintf(path, sizeof path, "/tmp/fuzz-accelsim-%ld.wwt", (long)getpid());
}

/* Text may say that a warp goes on behind its EXIT, or that a kernel has no registers: then verify says so. */
static bool of_the_text(enum ww_code code, const struct ww_error *error) {
    return code == WW_INPUT && (strstr(error->text, "EXIT") || strstr(error->text, "0 registers per thread"));
}

/* What was imported must be a sound trace. */
static void check_trace(void) {
    struct ww_trace *t;
    struct ww_error error = {.code = WW_OK};
    if (ww_trace_open(path, &t, &error) != WW_OK) abort();
    enum ww_code code = ww_trace_verify(t, NULL, NULL, &error);
    if (code != WW_OK && !of_the_text(code, &error)) abort();
    ww_trace_close(t);
    unlink(path);
}

static void import(const void *data, size_t size) {
    static struct ww_as_import im;
    struct ww_import_stats stats = {0};
    struct ww_error error = {.code = WW_OK};
    const struct ww_import_options options = {.out_path = path, .compression = 1};
    const struct ww_trace_meta meta = {.program = "fuzz"};
    struct ww_as_input *in;
    if (ww_as_input_memory(data, size, "fuzz", &in, &error) != WW_OK) return;
    enum ww_code code = ww_as_import_begin(&im, &options, &stats, &meta, &error);
    im.open_limit = 4096;
    if (code == WW_OK) code = ww_as_import_file(&im, in, &error);
    code = ww_as_import_end(&im, code, &error);
    ww_as_input_close(in);
    if (code == WW_OK)
        check_trace();
    else if (code == WW_INTERNAL)
        abort();
}

static void import_body(char kind, const uint8_t *data, size_t size) {
    struct ww_buf b = {0};
    ww_buf_puts(&b, header);
    ww_buf_printf(&b, "-accelsim tracer version = %c\n", kind == 'L' || kind == 'D' ? '5' : kind);
    if (kind == 'L') ww_buf_puts(&b, "-enable lineinfo = 1\n");
    if (kind == 'D') ww_buf_puts(&b, declarations);
    ww_buf_append(&b, data, size);
    if (!b.failed) import(b.p, b.n);
    ww_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    choose_path();
    if (size == 0) return 0;
    char kind = (char)*data;
    if ((kind >= '1' && kind <= '6') || kind == 'L' || kind == 'D')
        import_body(kind, data + 1, size - 1);
    else
        import(data, size);
    return 0;
}
