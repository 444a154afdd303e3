/* Reading what was measured on a GPU, whichever format it is in. */
#include "../../api/hardware.h"
#include "../../result/measured.h"
#include "../../base/locale.h"
#include "hardware.h"
#include "../../base/buf.h"
#include "../../base/hash.h"
#include "../../config/json.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT ((size_t)16 << 20)

struct ww_arena *ww_measured_arena(struct ww_measured *m) {
    return m->arena;
}

static bool ends_in(const char *text, const char *end) {
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

static enum ww_code parse(const char *path, const struct ww_buf *text, struct ww_measured *m,
                          struct ww_error *error) {
    const char *p = text->p ? text->p : "";
    m->source = ww_arena_strdup(m->arena, path);
    m->hash = ww_arena_printf(m->arena, "%016" PRIx64 "%016" PRIx64, ww_hash_bytes(p, text->n, 0),
                              ww_hash_bytes(p, text->n, 1));
    if (!m->source || !m->hash) return ww_fail_nomem(error, path);
    if (ww_measured_is_ncu(p, text->n)) return ww_measured_parse_ncu(p, text->n, path, m, error);
    return ends_in(path, ".csv") ? ww_measured_parse_csv(p, text->n, path, m, error)
                                 : ww_measured_parse_json(p, text->n, path, m, error);
}

enum ww_code ww_measured_load(const char *path, struct ww_measured **out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_buf text;
    *out = NULL;
    WW_TRY(ww_read_file(path, FILE_LIMIT, &text, error));
    struct ww_measured *m = ww_measured_new();
    enum ww_code code = m ? parse(path, &text, m, error) : ww_fail_nomem(error, path);
    ww_buf_free(&text);
    if (code == WW_OK)
        *out = m;
    else
        ww_measured_free(m);
    return code;
}

enum ww_code ww_measured_of_trace(struct ww_measured *m, const char *trace, struct ww_error *error) {
    const char *copy = ww_arena_strdup(m->arena, trace);
    if (!copy) return ww_fail_nomem(error, trace);
    for (size_t i = 0; i < m->point_count; i++) {
        m->point[i].workload = copy;
        m->point[i].parameters = "";
    }
    return WW_OK;
}

/* ---- metrics and parameters ---- */

bool ww_measured_word(const char *parameters, const char *key, char *out, size_t size) {
    size_t n = strlen(key);
    for (const char *p = parameters; *p;) {
        size_t length = strcspn(p, " ");
        if (length > n && p[n] == '=' && strncmp(p, key, n) == 0) {
            snprintf(out, size, "%.*s", (int)(length - n - 1), p + n + 1);
            return true;
        }
        p += length;
        p += strspn(p, " ");
    }
    return false;
}

bool ww_measured_number(const char *parameters, const char *key, double *out) {
    char text[64], *end;
    if (!ww_measured_word(parameters, key, text, sizeof text) || !text[0]) return false;
    *out = strtod(text, &end);
    return *end == 0;
}

const struct ww_measured_figure *ww_measured_find(const struct ww_measured *m, const char *part,
                                                  const char *method, const char *parameters) {
    for (size_t i = 0; i < m->figure_count; i++) {
        const struct ww_measured_figure *f = &m->figure[i];
        if (strcmp(f->part, part) == 0 && strcmp(f->method, method) == 0 &&
            strcmp(f->parameters, parameters) == 0)
            return f;
    }
    return NULL;
}
