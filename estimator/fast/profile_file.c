/* Profiles stored next to their traces. */
#include "../api/trace.h"
#include "profile_file.h"
#include "../base/hash.h"
#include "../base/infile.h"
#include "../base/outfile.h"
#include <stdlib.h>
#include <string.h>

#define FILE_MOST ((size_t)1 << 30)

static const char magic[6] = {'W', 'W', 'P', 'R', 'O', 'F'};
enum { HEAD = 6 + 2 + 8 + 16 + 8, LAUNCHES = 10000000 };

/* ---- fields: one list, read and written by the same walk ---- */

/* Where fields go to, or come from: exactly one of the two. */
struct fields {
    struct ww_buf *out;
    struct ww_cursor *in;
};

static void field_u64(struct fields *f, uint64_t *v) {
    if (f->out)
        ww_buf_u64(f->out, *v);
    else
        *v = ww_cursor_u64(f->in);
}

static void field_u32(struct fields *f, uint32_t *v) {
    uint64_t wide = *v;
    field_u64(f, &wide);
    if (wide > UINT32_MAX && f->in) f->in->failed = true;
    *v = (uint32_t)wide;
}

static void field_double(struct fields *f, double *v) {
    uint64_t bits;
    memcpy(&bits, v, sizeof bits);
    field_u64(f, &bits);
    memcpy(v, &bits, sizeof bits);
    if (f->in && !(*v >= 0 && *v < 1e30)) f->in->failed = true;
}

static void field_floats(struct fields *f, float *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        if (f->out)
            ww_buf_u32(f->out, bits);
        else
            bits = ww_cursor_u32(f->in);
        memcpy(&v[i], &bits, sizeof bits);
        if (f->in && !(v[i] >= 0 && v[i] < 1e30f)) f->in->failed = true;
    }
}

static void field_text(struct fields *f, char *text, size_t size) {
    if (f->out) {
        ww_buf_append(f->out, text, size);
        return;
    }
    const char *p = ww_cursor_bytes(f->in, size);
    if (p) memcpy(text, p, size);
    if (text[size - 1]) f->in->failed = true;
    text[size - 1] = 0;
}

static void fields_of_counts(struct fields *f, struct ww_kernel_profile *p) {
    uint64_t *const count[] = {&p->ctas,
                               &p->warp_instructions,
                               &p->thread_instructions,
                               &p->sysreg,
                               &p->pairs,
                               &p->register_reads,
                               &p->register_writes,
                               &p->conflicts2,
                               &p->branches,
                               &p->divergent,
                               &p->barriers,
                               &p->shuffles,
                               &p->global_loads,
                               &p->global_stores,
                               &p->atomics,
                               &p->local,
                               &p->texture,
                               &p->constants,
                               &p->shared,
                               &p->shared_passes,
                               &p->shared_store_passes,
                               &p->shared_updates,
                               &p->load_sectors[0],
                               &p->load_sectors[1],
                               &p->load_lines[0],
                               &p->load_lines[1],
                               &p->bypass_sectors,
                               &p->bypass_lines,
                               &p->store_sectors,
                               &p->store_lines,
                               &p->store_bytes,
                               &p->atomic_sectors,
                               &p->atomic_lines,
                               &p->atomic_updates,
                               &p->code_lines,
                               &p->constant_lines,
                               &p->pages,
                               &p->stored_loaded,
                               &p->stored_before};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) field_u64(f, count[i]);
    for (int i = 0; i < WW_PIPE_COUNT; i++) field_u64(f, &p->pipe[i]);
    for (int i = 0; i < WW_PIPE_COUNT; i++) field_u64(f, &p->lane[i]);
    for (int i = 0; i < WW_ARITH_COUNT; i++) field_u64(f, &p->arith[i]);
    for (int i = 0; i < WW_LSU_WIDTHS; i++) field_u64(f, &p->lsu_cycles[i]);
    for (int i = 0; i < WW_HOT_PIECES; i++) field_u64(f, &p->hot_piece[i]);
    for (int i = 0; i < WW_HOT_PIECES; i++) field_u64(f, &p->hot_updates[i]);
}

static void fields_of(struct fields *f, struct ww_kernel_profile *p) {
    field_text(f, p->kernel, sizeof p->kernel);
    for (int i = 0; i < 3; i++) field_u32(f, &p->grid[i]);
    for (int i = 0; i < 3; i++) field_u32(f, &p->block[i]);
    field_u32(f, &p->registers_per_thread);
    field_u32(f, &p->shared_static);
    field_u32(f, &p->shared_dynamic);
    field_u32(f, &p->warps_per_cta);
    fields_of_counts(f, p);
    field_double(f, &p->cta_mean);
    field_double(f, &p->cta_max);
    field_double(f, &p->cta_deviation);
    for (int i = 0; i < WW_ROW_KINDS; i++)
        for (int w = 0; w < WW_ROW_WINDOWS; w++) {
            field_double(f, &p->rows_per_sector[i][w]);
            field_double(f, &p->chunks_per_sector[i][w]);
        }
    field_floats(f, &p->plane[0][0], WW_PATH_PLANES * WW_PATH_COUNT);
    field_floats(f, &p->longest[0][0], WW_PATH_PLANES * WW_PATH_COUNT);
    for (int i = 0; i < WW_LOCAL_LEVELS; i++)
        field_floats(f, &p->local_reuse[i].sector[0][0], sizeof p->local_reuse[i] / sizeof(float));
    for (int i = 0; i < WW_GLOBAL_LEVELS; i++)
        field_floats(f, p->global_reuse[i].sector, sizeof p->global_reuse[i] / sizeof(float));
}

/* ---- the file ---- */

enum ww_code ww_model_profile_print(const struct ww_model_profile *profile, struct ww_buf *out,
                                    struct ww_error *error) {
    struct ww_buf body = {0};
    struct fields f = {.out = &body};
    for (size_t i = 0; i < profile->count; i++) fields_of(&f, &profile->launch[i]);
    ww_buf_append(out, magic, sizeof magic);
    ww_buf_byte(out, WW_PROFILE_VERSION & 255);
    ww_buf_byte(out, WW_PROFILE_VERSION >> 8);
    ww_buf_u64(out, body.n);
    ww_buf_append(out, profile->hash, 16);
    ww_buf_u64(out, profile->count);
    if (body.n) ww_buf_append(out, body.p, body.n);
    bool failed = body.failed || out->failed;
    ww_buf_free(&body);
    if (!failed) ww_buf_u32(out, ww_crc32(0, out->p, out->n));
    return failed || out->failed ? ww_fail_nomem(error, "profile") : WW_OK;
}

static enum ww_code check_frame(const unsigned char *p, size_t n, const char *where, struct ww_error *error) {
    if (n < HEAD + 4 || memcmp(p, magic, sizeof magic) != 0)
        return ww_fail(error, WW_INPUT, where, "no profile of a trace");
    unsigned version = p[6] | (unsigned)p[7] << 8;
    if (version != WW_PROFILE_VERSION)
        return ww_fail(error, WW_INPUT, where, "version %u, expected %d", version, WW_PROFILE_VERSION);
    struct ww_cursor size = {.p = p + 8, .end = p + 16}, sum = {.p = p + n - 4, .end = p + n};
    if (ww_cursor_u64(&size) != n - HEAD - 4)
        return ww_fail(error, WW_INPUT, where, "%zu bytes, which is not the size that it states", n);
    if (ww_cursor_u32(&sum) != ww_crc32(0, p, n - 4))
        return ww_fail(error, WW_INPUT, where, "the checksum does not match: the file is damaged");
    return WW_OK;
}

enum ww_code ww_model_profile_parse(const void *bytes, size_t n, const char *where,
                                    struct ww_model_profile *profile, struct ww_error *error) {
    const unsigned char *p = bytes;
    *profile = (struct ww_model_profile){0};
    WW_TRY(check_frame(p, n, where, error));
    struct ww_cursor in = {.p = p + 32, .end = p + n - 4};
    struct fields f = {.in = &in};
    uint64_t count = ww_cursor_u64(&in);
    size_t left = (size_t)(in.end - in.p);
    if (count > LAUNCHES || left != count * (count ? left / count : 1))
        return ww_fail(error, WW_INPUT, where, "%zu bytes do not hold %llu launches", left,
                       (unsigned long long)count);
    memcpy(profile->hash, p + 16, 16);
    profile->launch = calloc(count ? count : 1, sizeof *profile->launch);
    if (!profile->launch) return ww_fail_nomem(error, "profile");
    profile->count = count;
    for (size_t i = 0; i < count && !in.failed; i++) fields_of(&f, &profile->launch[i]);
    if (!in.failed && in.p == in.end) return WW_OK;
    ww_model_profile_free(profile);
    return ww_fail(error, WW_INPUT, where, "a value is out of its bounds, or launches have another size");
}

static enum ww_code write_file(const struct ww_buf *b, const char *path, struct ww_error *error) {
    struct ww_outfile file;
    WW_TRY(ww_outfile_stream(&file, path, WW_OUTFILE_PROFILE, error));
    fwrite(b->p, 1, b->n, file.stream);
    return ww_outfile_close(&file, WW_OK, error);
}

enum ww_code ww_model_profile_save(const struct ww_model_profile *profile, const char *path,
                                   struct ww_error *error) {
    struct ww_buf b = {0};
    enum ww_code code = ww_model_profile_print(profile, &b, error);
    if (code == WW_OK) code = write_file(&b, path, error);
    ww_buf_free(&b);
    return code;
}

enum ww_code ww_model_profile_load(const char *path, struct ww_model_profile *profile, struct ww_error *error) {
    struct ww_buf b = {0};
    char part[65536];
    size_t n;
    *profile = (struct ww_model_profile){0};
    FILE *file;
    WW_TRY(ww_infile_open(path, &file, error));
    while (b.n <= FILE_MOST && (n = fread(part, 1, sizeof part, file)) > 0) ww_buf_append(&b, part, n);
    bool failed = ferror(file) != 0;
    fclose(file);
    enum ww_code code = failed     ? ww_fail(error, WW_IO, path, "cannot be read")
                        : b.failed ? ww_fail_nomem(error, "profile")
                        : b.n > FILE_MOST
                            ? ww_fail(error, WW_INPUT, path, "larger than %zu bytes, the limit", FILE_MOST)
                            : ww_model_profile_parse(b.p ? b.p : "", b.n, path, profile, error);
    ww_buf_free(&b);
    return code;
}

static enum ww_code load_for(struct ww_trace *trace, const char *path, struct ww_model_profile *profile,
                             struct ww_error *error) {
    WW_TRY(ww_model_profile_load(path, profile, error));
    if (strcmp(profile->hash, ww_trace_hash(trace)) == 0 && profile->count == ww_trace_launch_count(trace))
        return WW_OK;
    ww_model_profile_free(profile);
    return ww_fail(error, WW_INPUT, path, "it belongs to another trace");
}

enum ww_code ww_model_profile_of(struct ww_trace *trace, const char *path, ww_progress_fn progress,
                                 void *context, struct ww_model_profile *profile, struct ww_error *made,
                                 struct ww_error *error) {
    struct ww_error why = {.code = WW_OK}, ignored;
    struct ww_buf name = {0};
    ww_buf_printf(&name, "%s" WW_PROFILE_SUFFIX, path);
    if (name.failed) {
        ww_buf_free(&name);
        return ww_fail_nomem(error, "profile");
    }
    enum ww_code code = load_for(trace, name.p, profile, &why);
    if (code != WW_OK) {
        code = ww_model_profile_make(trace, progress, context, profile, error);
        if (code == WW_OK) ww_model_profile_save(profile, name.p, &ignored);
    }
    if (made) *made = why;
    ww_buf_free(&name);
    return code;
}
