/* exec_print.c: vprintf of the device runtime: arguments lie one after the other, each aligned to its size. */
#include "../../estimator/base/buf.h"
#include "simt.h"
#include <string.h>

#define FORMAT_MAX 4096u

struct spec {
    char text[40]; /* with '%', without length letters and conversion */
    uint32_t n;
    bool wide; /* 64-bit integer */
    char conversion;
};

struct printer {
    struct ex_warp *w;
    uint32_t lane;
    uint64_t args;
    struct ww_buf out;
};

static uint64_t next_argument(struct printer *p, uint32_t bytes) {
    uint64_t v = 0;
    p->args = (p->args + bytes - 1) / bytes * bytes;
    const unsigned char *at = ex_generic(p->w, p->lane, p->args, bytes);
    if (at) memcpy(&v, at, bytes);
    p->args += bytes;
    return v;
}

static void print_text(struct printer *p, const struct spec *s, uint64_t address) {
    char text[FORMAT_MAX];
    size_t n = 0;
    for (; address && n + 1 < sizeof text; n++) {
        const unsigned char *c = ex_generic(p->w, p->lane, address + n, 1);
        if (!c || !*c) break;
        text[n] = (char)*c;
    }
    text[n] = 0;
    (void)s;
    ww_buf_puts(&p->out, address ? text : "(null)");
}

/* Flags, width and precision were checked to be digits and flag letters: the format is ours. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void print_number(struct printer *p, struct spec *s) {
    char out[400];
    char *end = s->text + s->n;
    switch (s->conversion) {
    case 'd':
    case 'i':
        memcpy(end, "lld", 4);
        if (s->wide)
            snprintf(out, sizeof out, s->text, (long long)next_argument(p, 8));
        else
            snprintf(out, sizeof out, s->text, (long long)(int32_t)next_argument(p, 4));
        break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        memcpy(end, "llu", 4);
        end[2] = s->conversion;
        snprintf(out, sizeof out, s->text, (unsigned long long)next_argument(p, s->wide ? 8 : 4));
        break;
    case 'c':
        memcpy(end, "c", 2);
        snprintf(out, sizeof out, s->text, (int)next_argument(p, 4));
        break;
    case 'p':
        snprintf(out, sizeof out, "0x%llx", (unsigned long long)next_argument(p, 8));
        break;
    default: {
        uint64_t bits = next_argument(p, 8);
        double v;
        memcpy(&v, &bits, sizeof v);
        end[0] = s->conversion;
        end[1] = 0;
        snprintf(out, sizeof out, s->text, v);
        break;
    }
    }
    ww_buf_puts(&p->out, out);
}
#pragma GCC diagnostic pop

/* One conversion; returns where the format goes on, or NULL if it is none that is known. */
static const char *conversion(struct printer *p, const char *f) {
    struct spec s = {.text = "%", .n = 1};
    for (f++; *f && strchr("-+ #0123456789.*", *f); f++) {
        if (s.n >= 24) return NULL;
        if (*f == '*') {
            int n = (int32_t)next_argument(p, 4);
            n = n < -256 ? -256 : n > 256 ? 256 : n;
            s.n += (uint32_t)snprintf(s.text + s.n, 8, "%d", n);
        } else {
            s.text[s.n++] = *f;
        }
    }
    if (strspn(s.text + 1, "-+ #0") + 8 < s.n) return NULL; /* more digits than a width and precision need */
    unsigned longs = 0;
    for (; *f && strchr("hlLjzt", *f); f++) longs += *f == 'l' || *f == 'j' || *f == 'z' || *f == 't';
    s.wide = longs > 0;
    s.conversion = *f;
    if (!*f || !strchr("diuxXocspeEfFgGaA", *f)) return NULL;
    if (*f == 's')
        print_text(p, &s, next_argument(p, 8));
    else
        print_number(p, &s);
    return f + 1;
}

void ex_vprintf(struct ex_warp *w, uint32_t lane, uint64_t format, uint64_t args) {
    char text[FORMAT_MAX];
    size_t n = 0;
    for (; n + 1 < sizeof text; n++) {
        const unsigned char *c = ex_generic(w, lane, format + n, 1);
        if (!c) return;
        if (!*c) break;
        text[n] = (char)*c;
    }
    text[n] = 0;
    struct printer p = {.w = w, .lane = lane, .args = args};
    for (const char *f = text; f && *f && !w->run->failed;) {
        if (*f != '%') {
            ww_buf_byte(&p.out, (unsigned char)*f++);
        } else if (f[1] == '%') {
            ww_buf_byte(&p.out, '%');
            f += 2;
        } else {
            f = conversion(&p, f);
        }
    }
    if (w->run->out && p.out.n) fwrite(p.out.p, 1, p.out.n, w->run->out);
    ww_buf_free(&p.out);
}
