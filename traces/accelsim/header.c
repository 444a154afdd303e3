/* The header of a trace. */
#include "text.h"
#include <stdlib.h>
#include <string.h>

enum header_field { KERNEL = 1, GRID = 2, BLOCK = 4 };

static const char *value_of(const char *line, const char *name) {
    size_t n = strlen(name);
    if (strncmp(line, name, n) != 0) return NULL;
    line += n;
    while (*line == ' ') line++;
    if (*line != '=') return NULL;
    line++;
    while (*line == ' ') line++;
    return line;
}

static enum ww_code get_triple(const struct ww_as_input *in, const char *v, uint32_t out[3],
                               struct ww_error *error) {
    char end = 0;
    unsigned long long x[3];
    if (sscanf(v, "(%9llu,%9llu,%9llu%c", &x[0], &x[1], &x[2], &end) != 4 || end != ')') {
        if (sscanf(v, "(%10llu,%10llu,%10llu%c", &x[0], &x[1], &x[2], &end) != 4 || end != ')')
            return ww_as_bad(in, error, "\"%.60s\"; expected three sizes such as (2,1,1)", v);
    }
    for (int i = 0; i < 3; i++) {
        if (!x[i] || x[i] > UINT32_MAX)
            return ww_as_bad(in, error, "\"%.60s\"; expected sizes from 1 to 4294967295", v);
        out[i] = (uint32_t)x[i];
    }
    return WW_OK;
}

static enum ww_code get_number(const struct ww_as_input *in, const char *v, uint64_t max, uint32_t *out,
                               struct ww_error *error) {
    uint64_t n;
    const char *p = v;
    if (!ww_as_dec(&p, &n) || *p || n > max)
        return ww_as_bad(in, error, "\"%.60s\"; expected a number up to %llu", v, (unsigned long long)max);
    *out = (uint32_t)n;
    return WW_OK;
}

static enum ww_code get_count(const struct ww_as_input *in, const char *v, uint64_t *out,
                              struct ww_error *error) {
    const char *p = v;
    if (!ww_as_dec(&p, out) || *p) return ww_as_bad(in, error, "\"%.60s\"; expected a number", v);
    return WW_OK;
}

static enum ww_code get_base(const struct ww_as_input *in, const char *v, uint64_t *out,
                             struct ww_error *error) {
    const char *p = v;
    if (!ww_as_hex(&p, out) || *p) return ww_as_bad(in, error, "\"%.60s\"; expected an address", v);
    return WW_OK;
}

/* "3", or "1.2" of old tracers. */
static enum ww_code get_version(const struct ww_as_input *in, const char *v, uint32_t *out,
                                struct ww_error *error) {
    char *end;
    unsigned long n = strtoul(v, &end, 10);
    if (end == v || n < 1 || n > 6 || (*end && *end != '.'))
        return ww_as_bad(in, error, "tracer version \"%.40s\"; expected 1 to 6", v);
    *out = (uint32_t)n;
    return WW_OK;
}

/* Our own: "<static shared bytes> <local bytes> <arch>". */
static enum ww_code get_launch(const struct ww_as_input *in, struct ww_arena *arena, const char *v,
                               struct ww_as_header *h, struct ww_error *error) {
    uint64_t shared, local;
    const char *p = v;
    if (!ww_as_dec(&p, &shared) || !ww_as_dec(&p, &local) || !*p || shared > UINT32_MAX || local > UINT32_MAX)
        return ww_as_bad(in, error, "\"%.60s\"; expected shared and local bytes and the architecture", v);
    h->shared_static = (uint32_t)shared;
    h->local_bytes = (uint32_t)local;
    h->arch = ww_arena_strdup(arena, p);
    h->ours = true;
    return h->arch ? WW_OK : ww_fail_nomem(error, "a header");
}

static enum ww_code get_string(struct ww_arena *arena, const char *v, const char **out,
                               struct ww_error *error) {
    *out = ww_arena_strdup(arena, v);
    return *out ? WW_OK : ww_fail_nomem(error, "a header");
}

static enum ww_code get_field(const struct ww_as_input *in, struct ww_arena *arena, const char *line,
                              struct ww_as_header *h, struct ww_error *error) {
    const char *v;
    uint32_t flag;
    if ((v = value_of(line, "-kernel name"))) {
        h->seen |= KERNEL;
        return get_string(arena, v, &h->kernel, error);
    }
    if ((v = value_of(line, "-grid dim"))) {
        h->seen |= GRID;
        return get_triple(in, v, h->grid, error);
    }
    if ((v = value_of(line, "-block dim"))) {
        h->seen |= BLOCK;
        return get_triple(in, v, h->block, error);
    }
    if ((v = value_of(line, "-shmem base_addr"))) return get_base(in, v, &h->shared_base, error);
    if ((v = value_of(line, "-local mem base_addr"))) return get_base(in, v, &h->local_base, error);
    if ((v = value_of(line, "-shmem"))) return get_number(in, v, UINT32_MAX, &h->shmem, error);
    if ((v = value_of(line, "-nregs"))) return get_number(in, v, 65535, &h->nregs, error);
    if ((v = value_of(line, "-binary version"))) return get_number(in, v, 9999, &h->binary, error);
    if ((v = value_of(line, "-nvbit version"))) return get_string(arena, v, &h->nvbit, error);
    if ((v = value_of(line, "-accelsim tracer version"))) return get_version(in, v, &h->version, error);
    if ((v = value_of(line, "-warpwatt launch"))) return get_launch(in, arena, v, h, error);
    if ((v = value_of(line, "-warpwatt ctas"))) {
        h->ctas_stated = true;
        return get_count(in, v, &h->ctas, error);
    }
    if ((v = value_of(line, "-enable lineinfo"))) {
        WW_TRY(get_number(in, v, 1, &flag, error));
        h->lineinfo = flag != 0;
    }
    return WW_OK; /* kernel id, stream: nothing here needs them; later tracers may add lines */
}

static enum ww_code check(const struct ww_as_input *in, struct ww_as_header *h, struct ww_error *error) {
    static const struct {
        unsigned bit;
        const char *name;
    } needed[] = {{KERNEL, "-kernel name"}, {GRID, "-grid dim"}, {BLOCK, "-block dim"}};
    for (size_t i = 0; i < 3; i++)
        if (!(h->seen & needed[i].bit))
            return ww_as_bad(in, error, "the header has no line \"%s = ...\"", needed[i].name);
    if (!h->version) h->version = 1; /* the first tracers did not say */
    return WW_OK;
}

enum ww_code ww_as_header_read(struct ww_as_input *in, struct ww_arena *arena, struct ww_as_code *own,
                               struct ww_as_header *h, char **line, size_t *n, struct ww_error *error) {
    *h = (struct ww_as_header){0};
    for (;;) {
        WW_TRY(ww_as_input_line(in, line, n, error));
        if (!*line) break;
        if (**line == 0) continue;
        if (strncmp(*line, "#BEGIN_TB", 9) == 0) break;
        if (**line == '#') continue; /* names the fields, which the version implies */
        if (**line != '-') break;
        if (strncmp(*line, WW_AS_OUR_INST, strlen(WW_AS_OUR_INST)) == 0) {
            if (own) WW_TRY(ww_as_get_declaration(in, *line + strlen(WW_AS_OUR_INST), own, error));
        } else {
            WW_TRY(get_field(in, arena, *line, h, error));
        }
    }
    return check(in, h, error);
}
