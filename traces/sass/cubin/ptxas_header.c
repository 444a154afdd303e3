/* ptxas_header.c: the .version and .target of PTX text, and other ones in their place. */
#include "ptxas.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct scan {
    const char *p;
    size_t n, at;
};

/* Skips blanks and comments. */
static void skip(struct scan *s) {
    while (s->at < s->n) {
        const char *p = s->p + s->at;
        size_t left = s->n - s->at;
        if (isspace((unsigned char)*p)) {
            s->at++;
        } else if (left > 1 && p[0] == '/' && p[1] == '/') {
            const char *end = memchr(p, '\n', left);
            s->at = end ? (size_t)(end - s->p) : s->n;
        } else if (left > 1 && p[0] == '/' && p[1] == '*') {
            s->at += 2;
            while (s->at + 1 < s->n && !(s->p[s->at] == '*' && s->p[s->at + 1] == '/')) s->at++;
            s->at = s->at + 2 < s->n ? s->at + 2 : s->n;
        } else {
            return;
        }
    }
}

/* The next run of characters up to a blank or comma. */
static size_t word(struct scan *s, char *out, size_t room) {
    skip(s);
    size_t begin = s->at;
    while (s->at < s->n && !isspace((unsigned char)s->p[s->at]) && s->p[s->at] != ',' && s->p[s->at] != ';')
        s->at++;
    size_t n = s->at - begin;
    if (n >= room) n = 0;
    memcpy(out, s->p + begin, n);
    out[n] = 0;
    return begin;
}

bool ww_ptxas_read_header(const char *text, size_t n, struct ptxas_header *h) {
    struct scan s = {.p = text, .n = n};
    char w[32];
    memset(h, 0, sizeof *h);
    word(&s, w, sizeof w);
    if (strcmp(w, ".version") != 0) return false;
    unsigned major, minor;
    h->version_at = word(&s, w, sizeof w);
    h->version_n = s.at - h->version_at;
    if (sscanf(w, "%2u.%1u", &major, &minor) != 2) return false;
    h->version = major * 10 + minor;
    word(&s, w, sizeof w);
    if (strcmp(w, ".target") != 0) return false;
    h->target_at = word(&s, w, sizeof w);
    h->target_n = s.at - h->target_at;
    char *end;
    if (strncmp(w, "sm_", 3) != 0) return false;
    unsigned long v = strtoul(w + 3, &end, 10);
    if (v < 10 || v > 999) return false;
    h->target = (uint32_t)v;
    h->suffix = *end;
    return true;
}

enum ww_code ww_ptxas_lower_header(const char *text, size_t n, const struct ptxas_header *h, unsigned version,
                                   uint32_t target, bool specific, struct ww_buf *out, struct ww_error *error) {
    ww_buf_append(out, text, h->version_at);
    ww_buf_printf(out, "%u.%u", version / 10, version % 10);
    size_t between = h->version_at + h->version_n;
    ww_buf_append(out, text + between, h->target_at - between);
    ww_buf_printf(out, "sm_%u", target);
    if (specific && h->suffix) ww_buf_append(out, &h->suffix, 1);
    size_t rest = h->target_at + h->target_n;
    ww_buf_append(out, text + rest, n - rest);
    return out->failed ? ww_fail_nomem(error, "PTX text") : WW_OK;
}
