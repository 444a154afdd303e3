#include "kit_result.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "{\"schema\": \"" KIT_SCHEMA "\","
#define GPU "\"gpu\": "
#define RECORDS "\"records\": ["
#define ID "{\"id\": \""

void kit_json_string(char *out, size_t n, const char *text) {
    size_t at = 0;
    if (n < 3) return;
    out[at++] = '"';
    for (const unsigned char *p = (const unsigned char *)text; *p && at + 8 < n; p++) {
        if (*p == '"' || *p == '\\') {
            out[at++] = '\\';
            out[at++] = (char)*p;
        } else if (*p < 0x20 || *p > 0x7e) {
            at += (size_t)snprintf(out + at, n - at, "\\u%04x", *p);
        } else {
            out[at++] = (char)*p;
        }
    }
    out[at++] = '"';
    out[at] = 0;
}

static bool fail(struct kit_result *r, const char *what) {
    snprintf(r->error, sizeof r->error, "%.200s: %.250s", r->path, what);
    return false;
}

/* ---- records ---- */

static size_t find(const struct kit_result *r, const char *id) {
    size_t i = 0;
    while (i < r->count && strcmp(r->id[i], id) != 0) i++;
    return i;
}

bool kit_result_has(const struct kit_result *r, const char *id) {
    return find(r, id) < r->count;
}

static bool grow(struct kit_result *r) {
    size_t capacity = r->capacity ? 2 * r->capacity : 256;
    char **line = realloc(r->line, capacity * sizeof *line);
    if (line) r->line = line;
    char **id = realloc(r->id, capacity * sizeof *id);
    if (id) r->id = id;
    if (!line || !id) return fail(r, "out of memory");
    r->capacity = capacity;
    return true;
}

bool kit_result_line(struct kit_result *r, const char *id, const char *json) {
    size_t i = find(r, id);
    if (strlen(id) >= KIT_ID_MAX) return fail(r, "a record's id is too long");
    if (i == r->capacity && !grow(r)) return false;
    char *copy = strdup(json);
    char *name = i == r->count ? strdup(id) : NULL;
    if (!copy || (i == r->count && !name)) {
        free(copy);
        free(name);
        return fail(r, "out of memory");
    }
    if (i < r->count) {
        free(r->line[i]);
    } else {
        r->id[i] = name;
        r->count++;
    }
    r->line[i] = copy;
    return true;
}

void kit_result_figure_id(char *id, const char *part, const char *method, const char *parameters) {
    int n = snprintf(id, KIT_ID_MAX, "%s/%s%s%s", part, method, *parameters ? "/" : "", parameters);
    for (int i = 0; i < n && i < KIT_ID_MAX - 1; i++)
        if (id[i] == ' ') id[i] = ',';
}

bool kit_result_figure(struct kit_result *r, const char *part, const char *method, const char *parameters,
                       const char *unit, struct kit_value v) {
    char id[KIT_ID_MAX], text[1024];
    if (!isfinite(v.median) || !isfinite(v.low) || !isfinite(v.high)) return fail(r, "a figure is not finite");
    kit_result_figure_id(id, part, method, parameters);
    snprintf(text, sizeof text,
             ID "%s\", \"kind\": \"figure\", \"part\": \"%s\", \"method\": \"%s\", \"parameters\": \"%s\", "
                "\"unit\": \"%s\", \"median\": %.9g, \"low\": %.9g, \"high\": %.9g, \"count\": %zu}",
             id, part, method, parameters, unit, v.median, v.low, v.high, v.count);
    return kit_result_line(r, id, text);
}

/* ---- the file ---- */

static bool finish(struct kit_result *r, FILE *f, const char *temporary) {
    bool good = !ferror(f) && fflush(f) == 0 && fsync(fileno(f)) == 0;
    if (fclose(f) != 0) good = false;
    if (good && rename(temporary, r->path) == 0) return true;
    int saved = errno;
    remove(temporary);
    return fail(r, strerror(saved));
}

bool kit_result_write(struct kit_result *r) {
    char temporary[4096];
    int n = snprintf(temporary, sizeof temporary, "%s.part", r->path);
    if (n < 0 || (size_t)n >= sizeof temporary) return fail(r, "the name is too long");
    FILE *f = fopen(temporary, "w");
    if (!f) return fail(r, strerror(errno));
    fprintf(f, HEAD "\n" GPU "%s,\n" RECORDS "\n", r->gpu);
    for (size_t i = 0; i < r->count; i++) fprintf(f, "%s%s\n", r->line[i], i + 1 < r->count ? "," : "");
    fputs("]}\n", f);
    return finish(r, f, temporary);
}

/* A record's line: its id is the first member. */
static bool take_record(struct kit_result *r, char *line) {
    char id[KIT_ID_MAX];
    size_t n = strlen(line);
    if (n && line[n - 1] == ',') line[--n] = 0;
    char *from = line + strlen(ID), *end = n > strlen(ID) ? strchr(from, '"') : NULL;
    if (strncmp(line, ID, strlen(ID)) != 0 || line[n - 1] != '}' || !end || end - from >= KIT_ID_MAX)
        return fail(r, "a line is no record of this kit; give another --out");
    snprintf(id, sizeof id, "%.*s", (int)(end - from), from);
    return kit_result_line(r, id, line);
}

static bool take_line(struct kit_result *r, char *line, size_t number) {
    char text[KIT_ID_MAX];
    line[strcspn(line, "\n")] = 0;
    if (number == 0) return strcmp(line, HEAD) == 0 || fail(r, "is no results file of this kit");
    if (number == 1) {
        snprintf(text, sizeof text, "was measured on another GPU or driver; give another --out");
        size_t n = strlen(r->gpu);
        return (strncmp(line, GPU, strlen(GPU)) == 0 && strncmp(line + strlen(GPU), r->gpu, n) == 0 &&
                strcmp(line + strlen(GPU) + n, ",") == 0) ||
               fail(r, text);
    }
    if (number == 2) return strcmp(line, RECORDS) == 0 || fail(r, "is no results file of this kit");
    return strcmp(line, "]}") == 0 || take_record(r, line);
}

static bool read_lines(struct kit_result *r, FILE *f) {
    char *line = NULL;
    size_t size = 0, number = 0;
    bool good = true, ended = false;
    while (good && getline(&line, &size, f) >= 0) {
        good = !ended ? take_line(r, line, number++) : fail(r, "has lines behind its end");
        ended = strcmp(line, "]}") == 0;
    }
    free(line);
    return good && (ended || fail(r, "is cut off"));
}

bool kit_result_open(struct kit_result *r, const char *path, const char *gpu, bool resume) {
    memset(r, 0, sizeof *r);
    r->path = path;
    r->gpu = strdup(gpu);
    if (!r->gpu) return fail(r, "out of memory");
    FILE *f = fopen(path, "r");
    if (!f) return errno == ENOENT || fail(r, strerror(errno));
    bool good = resume ? read_lines(r, f) : fail(r, "exists; give --resume to go on with it, or another --out");
    fclose(f);
    return good;
}

void kit_result_free(struct kit_result *r) {
    for (size_t i = 0; i < r->count; i++) {
        free(r->line[i]);
        free(r->id[i]);
    }
    free(r->line);
    free(r->id);
    free(r->gpu);
    memset(r, 0, sizeof *r);
}
