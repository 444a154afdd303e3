/* What makes a variant's code, for those who compile it for a GPU: nvcc's options or the command's words. */
#include "expression.h"
#include "program.h"
#include <inttypes.h>
#include <string.h>

static void put_values(const struct ww_variant_at *at, enum ww_program_pass pass, const char *before,
                       struct ww_buf *out) {
    for (size_t i = 0; i < at->params; i++)
        if (at->space->param[i].pass == pass)
            ww_buf_printf(out, " %s%s=%s", before, at->space->param[i].key, at->level[i]->text);
}

/* What -D does not do: nvcc takes no macro in #pragma unroll. */
static void put_header(const struct ww_variant_at *at, struct ww_buf *out) {
    const char *between = "; in the source also in #pragma unroll:";
    for (size_t i = 0; i < at->params; i++) {
        if (at->space->param[i].pass != WW_PASS_HEADER) continue;
        ww_buf_printf(out, "%s %s=%s", between, at->space->param[i].key, at->level[i]->text);
        between = "";
    }
}

static enum ww_code put_texts(const struct ww_variant_at *at, const char *const *text, size_t n,
                              struct ww_buf *out, struct ww_error *error) {
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < n && code == WW_OK; i++) {
        struct ww_buf word = {0};
        code = ww_variant_text(at, text[i], at->space->file, &word, error);
        ww_buf_printf(out, " %s", word.p ? word.p : "");
        ww_buf_free(&word);
    }
    return code;
}

static enum ww_code put_registers(const struct ww_variant_at *at, const char *option, struct ww_buf *out,
                                  struct ww_error *error) {
    const char *limit = at->space->program->max_registers;
    int64_t n = 0;
    if (limit) WW_TRY(ww_expression(limit, ww_variant_lookup, at, "$.program.max_registers", &n, error));
    if (n > 0) ww_buf_printf(out, " %s%" PRId64, option, n);
    return WW_OK;
}

enum ww_code ww_variant_options(const struct ww_variant_at *at, struct ww_buf *out, struct ww_error *error) {
    const struct ww_program *p = at->space->program;
    size_t n = p->source ? strlen(p->source) : 0;
    bool ptx = n > 4 && strcmp(p->source + n - 4, ".ptx") == 0;
    ww_buf_puts(out, ptx ? "ptxas" : p->source ? "nvcc" : "env");
    put_values(at, WW_PASS_ENVIRONMENT, "", out);
    WW_TRY(put_texts(at, p->command, p->source ? 0 : p->command_count, out, error));
    put_values(at, WW_PASS_DEFINE, "-D", out);
    WW_TRY(put_texts(at, p->option, p->option_count, out, error));
    if (!p->source) return out->failed ? ww_fail_nomem(error, "options") : WW_OK;
    WW_TRY(put_registers(at, ptx ? "--maxrregcount " : "-maxrregcount=", out, error));
    if (p->ptxas_options) ww_buf_puts(out, ptx ? "" : " -Xptxas");
    WW_TRY(put_texts(at, &p->ptxas_options, p->ptxas_options ? 1 : 0, out, error));
    put_header(at, out);
    if (ptx) WW_TRY(put_texts(at, &p->source, 1, out, error));
    return out->failed ? ww_fail_nomem(error, "options") : WW_OK;
}
