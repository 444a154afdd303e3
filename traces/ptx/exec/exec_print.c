/* exec_print.c: vprintf of the device runtime: arguments lie one after the other, each aligned to its size. */
#include "../../../estimator/base/buf.h"
#include "kernel_print.h"
#include "simt.h"
#include <stdarg.h>
#include <string.h>

#define TEXT_MAX (1u << 20) /* bytes of a format, and of a text that is printed */
#define WIDTH_MAX 65536     /* of a field, and of a precision */

struct spec {
    char text[16]; /* '%', flags and "*.*"; room for length letters and the conversion */
    uint32_t n;
    int width, precision; /* negative precision: none */
    bool wide;            /* 64-bit integer */
    char conversion;
};

struct printer {
    struct kernel_reader *r;
    uint64_t args;
    struct ww_buf out;
};

__attribute__((format(printf, 3, 4))) static void fail(struct kernel_reader *r, enum ww_code code,
                                                       const char *fmt, ...) {
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->failed = true;
    r->fail(r->context, code, text);
}

static uint64_t next_argument(struct printer *p, uint32_t bytes) {
    uint64_t v = 0;
    p->args = (p->args + bytes - 1) / bytes * bytes;
    const unsigned char *at = p->r->at(p->r->context, p->args, bytes);
    if (at) memcpy(&v, at, bytes);
    p->args += bytes;
    return v;
}

/* The text at an address, of at most `most` bytes; one that does not end within TEXT_MAX fails the run. */
static bool read_text(struct kernel_reader *r, uint64_t address, uint64_t most, struct ww_buf *text) {
    ww_buf_puts(text, "");
    for (uint64_t n = 0; n < most; n++) {
        const unsigned char *c = r->at(r->context, address + n, 1);
        if (!c) return false;
        if (!*c) break;
        if (n == TEXT_MAX) {
            fail(r, WW_EXEC, "printf: a text or format of more than %u bytes", TEXT_MAX);
            return false;
        }
        ww_buf_byte(text, *c);
    }
    if (text->failed) fail(r, WW_NOMEM, "memory ran out in printf");
    return !text->failed;
}

/* Only flags from a known list stand in the format: it is ours. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void print_text(struct printer *p, struct spec *s, uint64_t address) {
    struct ww_buf text = {0};
    bool good = address
                    ? read_text(p->r, address, s->precision < 0 ? UINT64_MAX : (uint64_t)s->precision, &text)
                    : true;
    s->text[s->n] = 's';
    if (good) ww_buf_printf(&p->out, s->text, s->width, s->precision, address && text.p ? text.p : "(null)");
    ww_buf_free(&text);
}

static void print_pointer(struct printer *p, struct spec *s) {
    char text[24];
    unsigned long long address = next_argument(p, 8);
    snprintf(text, sizeof text, address ? "0x%llx" : "(nil)", address); /* as glibc, which CUDA prints with */
    s->text[s->n] = 's';
    ww_buf_printf(&p->out, s->text, s->width, -1, text);
}

static void print_number(struct printer *p, struct spec *s) {
    char *end = s->text + s->n;
    switch (s->conversion) {
    case 'd':
    case 'i': {
        uint64_t v = next_argument(p, s->wide ? 8 : 4);
        memcpy(end, "lld", 4);
        ww_buf_printf(&p->out, s->text, s->width, s->precision, s->wide ? (long long)v : (long long)(int32_t)v);
        break;
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        memcpy(end, "llu", 4);
        end[2] = s->conversion;
        ww_buf_printf(&p->out, s->text, s->width, s->precision,
                      (unsigned long long)next_argument(p, s->wide ? 8 : 4));
        break;
    case 'c':
        *end = 'c';
        ww_buf_printf(&p->out, s->text, s->width, -1, (int)next_argument(p, 4));
        break;
    case 'p':
        print_pointer(p, s);
        break;
    default: {
        uint64_t bits = next_argument(p, 8);
        double v;
        memcpy(&v, &bits, sizeof v);
        *end = s->conversion;
        ww_buf_printf(&p->out, s->text, s->width, s->precision, v);
        break;
    }
    }
}
#pragma GCC diagnostic pop

/* Digits or '*' as a width or precision. */
static const char *number(struct printer *p, const char *f, int64_t *v) {
    *v = 0;
    if (*f == '*') {
        *v = (int32_t)next_argument(p, 4);
        f++;
    }
    for (; *f >= '0' && *f <= '9'; f++)
        if (*v <= WIDTH_MAX) *v = 10 * *v + (*f - '0');
    if (*v > WIDTH_MAX || *v < -WIDTH_MAX)
        fail(p->r, WW_EXEC, "printf: a width or precision of more than %d", WIDTH_MAX);
    return f;
}

/* Flags, width and precision as C has them: a negative width adjusts to the left, a negative precision is none.
 */
static const char *field(struct printer *p, const char *f, struct spec *s) {
    int64_t width, precision = -1;
    s->text[s->n++] = '%';
    for (; *f && strchr("-+ #0", *f); f++)
        if (!memchr(s->text, *f, s->n)) s->text[s->n++] = *f;
    f = number(p, f, &width);
    if (*f == '.') f = number(p, f + 1, &precision);
    if (p->r->failed) return NULL;
    s->width = (int)width;
    s->precision = (int)precision;
    memcpy(s->text + s->n, "*.*", 3);
    s->n += 3;
    return f;
}

/* One conversion; returns where the format goes on, or NULL if it is none that is known. */
static const char *conversion(struct printer *p, const char *f) {
    struct spec s = {.n = 0};
    f = field(p, f + 1, &s);
    if (!f) return NULL;
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

void ww_kernel_vprintf(struct kernel_reader *r, uint64_t format, uint64_t args, FILE *out) {
    struct ww_buf text = {0};
    struct printer p = {.r = r, .args = args};
    bool good = read_text(r, format, UINT64_MAX, &text);
    for (const char *f = text.p; good && f && *f && !r->failed;) {
        if (*f != '%') {
            ww_buf_byte(&p.out, (unsigned char)*f++);
        } else if (f[1] == '%') {
            ww_buf_byte(&p.out, '%');
            f += 2;
        } else {
            f = conversion(&p, f);
        }
    }
    if (out && p.out.n) fwrite(p.out.p, 1, p.out.n, out);
    ww_buf_free(&p.out);
    ww_buf_free(&text);
}

/* ---- threads of PTX ---- */

struct thread {
    struct ex_warp *w;
    uint32_t lane;
    struct kernel_reader *reader;
};

static const unsigned char *at(void *context, uint64_t address, uint32_t bytes) {
    struct thread *t = context;
    const unsigned char *p = ww_ex_generic(t->w, t->lane, address, bytes);
    t->reader->failed = t->w->run->failed;
    return p;
}

static void fail_thread(void *context, enum ww_code code, const char *text) {
    struct thread *t = context;
    ww_ex_fail(t->w, t->lane, code, "%s", text);
}

void ww_ex_vprintf(struct ex_warp *w, uint32_t lane, uint64_t format, uint64_t args) {
    struct kernel_reader reader = {.at = at, .fail = fail_thread};
    struct thread t = {w, lane, &reader};
    reader.context = &t;
    ww_kernel_vprintf(&reader, format, args, w->run->out);
}
