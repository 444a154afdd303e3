/* Lines of a file. */
#include "input.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum ww_code ww_as_bad(const struct ww_as_input *in, struct ww_error *error, const char *fmt, ...) {
    char text[512], where[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    snprintf(where, sizeof where, "%.250s:%llu", in->source.name, (unsigned long long)in->line);
    return ww_fail(error, WW_INPUT, where, "%s", text);
}

enum ww_code ww_as_read(struct ww_as_source *s, void *to, size_t n, size_t *got, struct ww_error *error) {
    uint64_t left = s->size > s->at ? s->size - s->at : 0;
    *got = 0;
    if (s->fd < 0) {
        *got = n < left ? n : (size_t)left;
        if (*got) memcpy(to, s->memory + s->at, *got);
        s->at += *got;
        return WW_OK;
    }
    ssize_t r;
    do r = pread(s->fd, to, n, (off_t)s->at);
    while (r < 0 && errno == EINTR);
    if (r < 0) return ww_fail(error, WW_IO, s->name, "cannot read: %s", strerror(errno));
    *got = (size_t)r;
    s->at += *got;
    return WW_OK;
}

enum ww_code ww_as_read_at(struct ww_as_source *s, uint64_t offset, void *to, size_t n,
                           struct ww_error *error) {
    char *p = to;
    size_t got;
    s->at = offset;
    while (n) {
        WW_TRY(ww_as_read(s, p, n, &got, error));
        if (!got)
            return ww_fail(error, WW_INPUT, s->name, "the file ends before offset %llu, which it names",
                           (unsigned long long)(offset + n));
        p += got;
        n -= got;
        offset += got;
    }
    return WW_OK;
}

static enum ww_code open_source(struct ww_as_input *in, struct ww_error *error) {
    struct stat st;
    in->source.name = in->path;
    in->source.fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO without a writer too */
    if (in->source.fd < 0) return ww_fail(error, WW_IO, in->path, "cannot open: %s", strerror(errno));
    if (fstat(in->source.fd, &st) != 0 || !S_ISREG(st.st_mode))
        return ww_fail(error, WW_IO, in->path, "not a regular file; a pipe must be saved to a file first");
    in->source.size = (uint64_t)st.st_size;
    return WW_OK;
}

static enum ww_code start(struct ww_as_input *in, struct ww_error *error) {
    in->cap = WW_AS_WINDOW;
    in->text = malloc(in->cap + 1);
    if (!in->text) return ww_fail_nomem(error, "a trace's text");
    return ww_as_decoder_new(&in->source, &in->decoder, error);
}

enum ww_code ww_as_input_open(const char *path, struct ww_as_input **in, struct ww_error *error) {
    *in = NULL;
    struct ww_as_input *i = calloc(1, sizeof *i);
    if (!i) return ww_fail_nomem(error, "a trace's text");
    i->source.fd = -1;
    i->path = strdup(path);
    enum ww_code code = i->path ? open_source(i, error) : ww_fail_nomem(error, "a trace's text");
    if (code == WW_OK) code = start(i, error);
    if (code == WW_OK)
        *in = i;
    else
        ww_as_input_close(i);
    return code;
}

enum ww_code ww_as_input_memory(const void *data, size_t n, const char *name, struct ww_as_input **in,
                                struct ww_error *error) {
    *in = NULL;
    struct ww_as_input *i = calloc(1, sizeof *i);
    if (!i) return ww_fail_nomem(error, "a trace's text");
    i->source = (struct ww_as_source){.name = name, .fd = -1, .memory = data, .size = n};
    enum ww_code code = start(i, error);
    if (code == WW_OK)
        *in = i;
    else
        ww_as_input_close(i);
    return code;
}

void ww_as_input_close(struct ww_as_input *in) {
    if (!in) return;
    ww_as_decoder_free(in->decoder);
    if (in->source.fd >= 0) close(in->source.fd);
    free(in->text);
    free(in->path);
    free(in);
}

double ww_as_input_part(const struct ww_as_input *in) {
    return in->source.size ? (double)in->source.at / (double)in->source.size : 1;
}

/* More text behind what is there: moves it to the window's start, makes the window larger if it is full. */
static enum ww_code fill(struct ww_as_input *in, struct ww_error *error) {
    size_t left = in->end - in->at, got;
    memmove(in->text, in->text + in->at, left);
    in->at = 0;
    in->end = left;
    if (left == in->cap) {
        if (in->cap >= WW_AS_LINE_MAX) {
            in->line++;
            return ww_as_bad(in, error, "a line is longer than %zu bytes", WW_AS_LINE_MAX);
        }
        char *text = realloc(in->text, in->cap * 2 + 1);
        if (!text) return ww_fail_nomem(error, "a trace's text");
        in->text = text;
        in->cap *= 2;
    }
    enum ww_code code = ww_as_decode(in->decoder, in->text + in->end, in->cap - in->end, &got, error);
    if (code != WW_OK) return code;
    in->end += got;
    in->text_bytes += got;
    in->finished = got == 0;
    return WW_OK;
}

enum ww_code ww_as_input_line(struct ww_as_input *in, char **line, size_t *n, struct ww_error *error) {
    size_t searched = 0;
    for (;;) {
        char *start = in->text + in->at;
        char *nl = memchr(start + searched, '\n', in->end - in->at - searched);
        if (!nl && !in->finished) {
            searched = in->end - in->at;
            WW_TRY(fill(in, error));
            continue;
        }
        if (!nl && in->at == in->end) {
            *line = NULL;
            *n = 0;
            return WW_OK;
        }
        if (!nl) nl = in->text + in->end;
        *line = start;
        *n = (size_t)(nl - start);
        in->at += *n + (nl < in->text + in->end);
        in->line++;
        if (*n && start[*n - 1] == '\r') --*n;
        start[*n] = 0;
        return memchr(start, 0, *n) ? ww_as_bad(in, error, "a zero byte; expected text") : WW_OK;
    }
}
