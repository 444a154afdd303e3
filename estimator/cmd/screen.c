/* Output to a terminal: a stream that writes '?' for control characters, characters that change the direction
 * of writing, and those without width. Line breaks and tabs stay. Names have been through ww_shown() or
 * ww_put_text() where they are printed, which take their line breaks away as well; this stream covers all that
 * was printed without them. */
#include "../base/escape.h"
#include "cmd.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 4096, LONGEST = 4 };

struct screen {
    int fd;
    bool exact;         /* as it is */
    char rest[LONGEST]; /* the begin of a character, or CR, whose end was not there yet */
    size_t rest_n;
    char out[BUFFER];
    size_t out_n;
    int error; /* of the first write that failed */
};

static struct screen output;

static void flush(struct screen *s) {
    for (size_t at = 0; at < s->out_n && !s->error;) {
        ssize_t n = write(s->fd, s->out + at, s->out_n - at);
        if (n < 0 && errno != EINTR) s->error = errno;
        if (n > 0) at += (size_t)n;
    }
    s->out_n = 0;
}

static void put(struct screen *s, const char *p, size_t n) {
    if (s->out_n + n > BUFFER) flush(s);
    memcpy(s->out + s->out_n, p, n);
    s->out_n += n;
}

/* How many bytes of the character at p are still missing; a CR needs the character that follows it. */
static size_t missing(const char *p, size_t n) {
    unsigned char c = (unsigned char)*p;
    size_t want = c == '\r' ? 2 : c < 0xc2 || c > 0xf4 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < n && i < want && c != '\r'; i++)
        if (((unsigned char)p[i] & 0xc0) != 0x80) return 0;
    return want > n ? want - n : 0;
}

/* Writes the first character of the rest. */
static void take(struct screen *s) {
    bool shows,
        line = *s->rest == '\n' || *s->rest == '\t' || (s->rest_n > 1 && memcmp(s->rest, "\r\n", 2) == 0);
    size_t length = ww_text_next(s->rest, s->rest_n, &shows);
    put(s, shows || line ? s->rest : "?", shows || line ? length : 1);
    s->rest_n -= length;
    memmove(s->rest, s->rest + length, s->rest_n);
}

static void filter(struct screen *s, const char *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bool plain = (p[i] >= ' ' && p[i] < 127) || p[i] == '\n';
        if (plain && !s->rest_n) {
            put(s, p + i, 1);
            continue;
        }
        s->rest[s->rest_n++] = p[i];
        while (s->rest_n && !missing(s->rest, s->rest_n)) take(s);
    }
}

static ssize_t screen_write(void *cookie, const char *p, size_t n) {
    struct screen *s = cookie;
    if (!s->error && s->exact) {
        for (size_t at = 0, part; at < n; at += part) {
            part = n - at < BUFFER ? n - at : BUFFER;
            put(s, p + at, part);
        }
    } else if (!s->error) {
        filter(s, p, n);
    }
    flush(s);
    if (!s->error) return (ssize_t)n;
    errno = s->error;
    return 0; /* what fopencookie() takes for an error */
}

static int screen_close(void *cookie) {
    struct screen *s = cookie;
    while (s->rest_n) take(s);
    flush(s);
    bool bad = s->error != 0 || (s->fd == STDOUT_FILENO && close(s->fd) != 0);
    if (s->error) errno = s->error;
    if (s != &output) free(s);
    return bad ? -1 : 0;
}

static FILE *open_screen(struct screen *s, int fd) {
    *s = (struct screen){.fd = fd};
    FILE *f = fopencookie(s, "w", (cookie_io_functions_t){.write = screen_write, .close = screen_close});
    if (f && isatty(fd)) setvbuf(f, NULL, _IOLBF, 0);
    return f;
}

void ww_cmd_screen_begin(void) {
    FILE *f = open_screen(&output, STDOUT_FILENO);
    if (f) stdout = f;
}

void ww_cmd_screen_data(void) {
    output.exact = !isatty(STDOUT_FILENO);
}

FILE *ww_cmd_screen_stderr(void) {
    struct screen *s = malloc(sizeof *s);
    FILE *f = s ? open_screen(s, STDERR_FILENO) : NULL;
    if (!f) free(s);
    return f;
}
