/* Source files that a trace knows: hashes, and texts if they are kept. They stand among the strings of code
 * tables, behind those that instructions name, so that readers that do not look for them read such files too.
 */
#include "keep_source.h"
#include "../../estimator/api/trace.h"
#include "../../estimator/base/hash.h"
#include "../../estimator/base/source_text.h"
#include "reader.h"
#include "writer.h"
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK '\001'
enum { HASH_DIGITS = 16, NAME_AT = HASH_DIGITS + 2 };
_Static_assert(WW_SOURCE_HASH == WW_SOURCE_TEXT_HASH, "one hash");

/* ---- writing ---- */

void ww_wwt_forget_sources(struct ww_wwt_sources *s) {
    for (size_t i = 0; i < s->count; i++) {
        free(s->file[i].name);
        free(s->file[i].note);
    }
    free(s->file);
    free(s->folder);
    *s = (struct ww_wwt_sources){0};
}

enum ww_code ww_trace_writer_sources(struct ww_trace_writer *w, bool texts, const char *beside,
                                     struct ww_error *error) {
    const char *slash = beside ? strrchr(beside, '/') : NULL;
    w->sources.on = true;
    w->sources.texts = texts;
    if (!slash) return WW_OK;
    w->sources.folder = strndup(beside, (size_t)(slash - beside) + 1);
    return w->sources.folder ? WW_OK : ww_fail_nomem(error, "a folder's name");
}

static char *find_file(const struct ww_wwt_sources *s, const char *name, size_t *bytes,
                       char hash[WW_SOURCE_HASH]) {
    char path[PATH_MAX];
    char *text = ww_source_read(name, bytes, hash);
    if (text || !s->folder || *name == '/') return text;
    int n = snprintf(path, sizeof path, "%s%s", s->folder, name);
    return n > 0 && n < (int)sizeof path ? ww_source_read(path, bytes, hash) : NULL;
}

/* "MARK hash newline name", and "newline text" if the text is kept. */
static char *make_note(const struct ww_wwt_sources *s, const char *name, size_t *hash_only) {
    size_t bytes = 0, length = strlen(name);
    char hash[WW_SOURCE_HASH];
    if (!length || strchr(name, '\n')) return NULL;
    char *text = find_file(s, name, &bytes, hash);
    if (!text) return NULL;
    bool kept = s->texts && bytes <= WW_SOURCE_KEEP_MAX && !memchr(text, 0, bytes);
    *hash_only = NAME_AT + length;
    char *note = malloc(*hash_only + (kept ? bytes + 1 : 0) + 1);
    if (note) {
        snprintf(note, *hash_only + 1, "%c%s\n%s", MARK, hash, name);
        if (kept) {
            note[*hash_only] = '\n';
            memcpy(note + *hash_only + 1, text, bytes + 1);
        }
    }
    free(text);
    return note;
}

/* What is known of a file; it is looked for once in a recording. NULL: no memory. */
static const struct ww_wwt_source *look_up(struct ww_wwt_sources *s, const char *name) {
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->file[i].name, name) == 0) return &s->file[i];
    struct ww_wwt_source *more = realloc(s->file, (s->count + 1) * sizeof *more);
    if (!more) return NULL;
    s->file = more;
    struct ww_wwt_source *f = &more[s->count];
    *f = (struct ww_wwt_source){.name = strdup(name)};
    if (!f->name) return NULL;
    f->note = make_note(s, name, &f->hash_only);
    s->count++;
    return f;
}

static const char *note_for(struct ww_trace_writer *w, const struct ww_wwt_source *f, struct ww_arena *arena) {
    if (w->codes.n + strlen(f->note) <= WW_SOURCE_ALL_MAX) return f->note;
    return ww_arena_strndup(arena, f->note, f->hash_only);
}

enum ww_code ww_wwt_add_sources(struct ww_trace_writer *w, struct ww_launch *launch, struct ww_error *error) {
    struct ww_arena *arena = &w->l.arena;
    uint32_t count = launch->string_count, add = 0;
    if (!w->sources.on || !count) return WW_OK;
    bool *used = ww_arena_array(arena, count, sizeof *used);
    const char **string = ww_arena_array(arena, 2 * (size_t)count, sizeof *string);
    if (!used || !string) return ww_fail_nomem(error, "a launch");
    memset(used, 0, count * sizeof *used);
    for (uint32_t i = 0; i < launch->inst_count; i++)
        if (launch->inst[i].file < count && launch->inst[i].line) used[launch->inst[i].file] = true;
    memcpy(string, launch->string, count * sizeof *string);
    for (uint32_t i = 1; i < count && add < WW_SOURCE_FILES_MAX; i++) {
        const struct ww_wwt_source *f = used[i] && string[i] ? look_up(&w->sources, string[i]) : NULL;
        if (!f || !f->note) continue;
        string[count + add] = note_for(w, f, arena);
        if (!string[count + add++]) return ww_fail_nomem(error, "a launch");
    }
    launch->string = string;
    launch->string_count = count + add;
    return WW_OK;
}

/* ---- reading traces ---- */

bool ww_trace_has_hash(const struct ww_trace *trace, const char *hash) {
    return strcmp(trace->hash, hash) == 0;
}

/* True if the string is a note of that file; fills *source. */
static bool is_of(const char *note, const char *file, struct ww_trace_source *source) {
    size_t length = strlen(file);
    if (note[0] != MARK || strspn(note + 1, "0123456789abcdef") != HASH_DIGITS) return false;
    if (note[1 + HASH_DIGITS] != '\n' || strncmp(note + NAME_AT, file, length) != 0) return false;
    const char *end = note + NAME_AT + length;
    if (*end && *end != '\n') return false;
    snprintf(source->hash, sizeof source->hash, "%.16s", note + 1);
    source->text = *end ? end + 1 : NULL;
    return true;
}

/* A kept text that is not the one of its hash was not written by this recorder. */
static void check_text(struct ww_trace_source *s) {
    char hash[WW_SOURCE_HASH];
    if (!s->text) return;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)ww_hash_bytes(s->text, strlen(s->text), 0));
    if (strcmp(hash, s->hash) != 0) s->text = NULL;
}

bool ww_trace_find_source(const struct ww_trace *trace, const char *file, struct ww_trace_source *source) {
    bool found = false;
    *source = (struct ww_trace_source){0};
    for (size_t i = 0; *file && i < trace->index.launch_count; i++) {
        const struct ww_launch *l = &trace->index.launch[i].view;
        for (uint32_t k = l->string_count; k-- > 1;) {
            struct ww_trace_source s = {0};
            if (!is_of(l->string[k], file, &s)) continue;
            check_text(&s);
            if (!found || (s.text && !source->text)) *source = s;
            if (source->text) return true;
            found = true;
        }
    }
    return found;
}
