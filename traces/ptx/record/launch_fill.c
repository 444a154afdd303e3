/* launch_fill.c: filling buffers, running the launches, comparing results. */
#include "../../../estimator/base/demangle.h"
#include "../../../estimator/base/nearest.h"
#include "../../../estimator/base/rng.h"
#include "../../../estimator/base/text.h"
#include "device_host.h"
#include "device_internal.h"
#include "../exec/exec.h"
#include "launch_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    uint32_t bytes;
} TYPES[LAUNCH_TYPES] = {{"u8", 1},  {"s8", 1},  {"u16", 2}, {"s16", 2},  {"u32", 4}, {"s32", 4},
                         {"u64", 8}, {"s64", 8}, {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}};

const char ww_launch_type_names[] = "u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64";

uint32_t ww_launch_type_bytes(enum launch_type type) {
    return TYPES[type].bytes;
}

const char *ww_launch_type_name(enum launch_type type) {
    return TYPES[type].name;
}

bool ww_launch_type_find(const char *name, enum launch_type *type) {
    for (unsigned n = 0; n < LAUNCH_TYPES; n++)
        if (strcmp(name, TYPES[n].name) == 0) {
            *type = (enum launch_type)n;
            return true;
        }
    return false;
}

static bool store_integer(enum launch_type type, double value, unsigned char *to) {
    unsigned bits = 8 * TYPES[type].bytes;
    bool is_signed = type == LAUNCH_S8 || type == LAUNCH_S16 || type == LAUNCH_S32 || type == LAUNCH_S64;
    double top = ldexp(1, (int)(is_signed ? bits - 1 : bits));
    if (!(value >= (is_signed ? -top : 0)) || value >= top || value != floor(value)) return false;
    uint64_t v = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    memcpy(to, &v, bits / 8);
    return true;
}

bool ww_launch_is_number(const cJSON *v) {
    return cJSON_IsNumber(v) && isfinite(v->valuedouble);
}

bool ww_launch_store(enum launch_type type, double value, unsigned char *to) {
    if (!isfinite(value)) return false;
    float f = (float)value;
    uint16_t h;
    switch (type) {
    case LAUNCH_F64:
        memcpy(to, &value, 8);
        return true;
    case LAUNCH_F32:
        memcpy(to, &f, 4);
        return isfinite(f);
    case LAUNCH_F16:
        h = ww_ex_double_to_f16(value, PTX_R_RN, false);
        memcpy(to, &h, 2);
        return isfinite(ww_ex_f16_to_double(h));
    case LAUNCH_BF16:
        h = ww_ex_double_to_bf16(value, PTX_R_RN);
        memcpy(to, &h, 2);
        return isfinite(ww_ex_bf16_to_double(h));
    default:
        return store_integer(type, value, to);
    }
}

double ww_launch_load(enum launch_type type, const unsigned char *from) {
    uint64_t v = 0;
    float f;
    double d;
    memcpy(&v, from, TYPES[type].bytes);
    switch (type) {
    case LAUNCH_F64:
        memcpy(&d, from, 8);
        return d;
    case LAUNCH_F32:
        memcpy(&f, from, 4);
        return (double)f;
    case LAUNCH_F16:
        return ww_ex_f16_to_double((uint16_t)v);
    case LAUNCH_BF16:
        return ww_ex_bf16_to_double((uint16_t)v);
    case LAUNCH_S8:
        return (int8_t)v;
    case LAUNCH_S16:
        return (int16_t)v;
    case LAUNCH_S32:
        return (int32_t)v;
    case LAUNCH_S64:
        return (double)(int64_t)v;
    default:
        return (double)v;
    }
}

/* ---- the forms of fill and expect ---- */

static const cJSON *get(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static bool is_range(const cJSON *v) {
    const cJSON *min = get(v, "min"), *max = get(v, "max");
    return cJSON_IsObject(v) && cJSON_GetArraySize(v) == 2 && ww_launch_is_number(min) &&
           ww_launch_is_number(max) && min->valuedouble <= max->valuedouble;
}

static bool is_sequence(const cJSON *v) {
    const cJSON *start = get(v, "start"), *step = get(v, "step");
    return cJSON_IsObject(v) && cJSON_GetArraySize(v) == 2 && ww_launch_is_number(start) &&
           ww_launch_is_number(step);
}

static bool is_numbers(const cJSON *v) {
    const cJSON *e;
    if (!cJSON_IsArray(v) || !v->child) return false;
    cJSON_ArrayForEach(e, v) if (!ww_launch_is_number(e)) return false;
    return true;
}

enum ww_code ww_launch_check_fill(const struct launch_file *f, const cJSON *fill, const char *path,
                                  bool is_expect, struct ww_error *error) {
    static const char *const fills[] = {"value", "random", "sequence", "file", "values", NULL};
    static const char *const expects[] = {"value", "sequence", "file", "values", "tolerance", "relative", NULL};
    char where[320];
    unsigned forms = 0;
    snprintf(where, sizeof where, "%.160s: %.140s", f->path, path);
    if (!cJSON_IsObject(fill)) return ww_launch_fail(f, path, error, "expected an object");
    WW_TRY(ww_json_only_keys(fill, is_expect ? expects : fills, where, error));
    for (const cJSON *v = fill->child; v; v = v->next) {
        bool bound = strcmp(v->string, "tolerance") == 0 || strcmp(v->string, "relative") == 0;
        bool good = bound                                ? ww_launch_is_number(v) && v->valuedouble >= 0
                    : strcmp(v->string, "value") == 0    ? ww_launch_is_number(v)
                    : strcmp(v->string, "random") == 0   ? is_range(v)
                    : strcmp(v->string, "sequence") == 0 ? is_sequence(v)
                    : strcmp(v->string, "file") == 0     ? cJSON_IsString(v)
                                                         : is_numbers(v);
        forms += !bound;
        if (!good)
            return ww_launch_fail(f, path, error, "%s: malformed or not finite, see docs/reference/launch.md",
                                  v->string);
    }
    return forms == 1
               ? WW_OK
               : ww_launch_fail(f, path, error, "expected exactly one of value, %ssequence, file, values",
                                is_expect ? "" : "random, ");
}

/* ---- values ---- */

static enum ww_code store(const struct launch_file *f, const struct launch_buffer *b, uint64_t n, double v,
                          unsigned char *to, struct ww_error *error) {
    if (ww_launch_store(b->type, v, to)) return WW_OK;
    return ww_launch_fail(f, b->path, error, "element %llu: %g does not fit type %s", (unsigned long long)n, v,
                          TYPES[b->type].name);
}

/* The file holds exactly b->bytes; they are read into `to`. */
static enum ww_code read_exactly(int fd, const char *path, const struct launch_buffer *b, unsigned char *to,
                                 struct ww_error *error) {
    struct stat st;
    unsigned char more;
    ssize_t n = 0;
    if (fstat(fd, &st) != 0) return ww_fail(error, WW_IO, path, "cannot examine: %s", strerror(errno));
    if (!S_ISREG(st.st_mode)) return ww_fail(error, WW_IO, path, "expected a regular file");
    if (st.st_size >= 0 && (uint64_t)st.st_size != b->bytes)
        return ww_fail(error, WW_INPUT, path, "%lld bytes, expected %llu for %s", (long long)st.st_size,
                       (unsigned long long)b->bytes, b->path);
    for (uint64_t at = 0; at < b->bytes; at += (uint64_t)n) {
        n = read(fd, to + at, b->bytes - at);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n < 0)
            return ww_fail(error, WW_IO, path, "cannot read: %s", strerror(errno));
        else if (n == 0)
            return ww_fail(error, WW_INPUT, path, "became shorter while it was read");
    }
    return read(fd, &more, 1) == 0 ? WW_OK : ww_fail(error, WW_INPUT, path, "became longer while it was read");
}

static enum ww_code from_file(const struct launch_file *f, const struct launch_buffer *b, const char *name,
                              unsigned char *to, struct ww_error *error) {
    struct ww_buf path = {0};
    enum ww_code code;
    ww_buf_printf(&path, "%s%s", name[0] == '/' ? "" : f->folder, name);
    int fd = path.failed ? -1 : open(path.p, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO has no writer yet */
    if (path.failed)
        code = ww_fail_nomem(error, "a path");
    else if (fd < 0)
        code = ww_fail(error, WW_IO, path.p, "cannot open: %s", strerror(errno));
    else
        code = read_exactly(fd, path.p, b, to, error);
    if (fd >= 0) close(fd);
    ww_buf_free(&path);
    return code;
}

/* The listed values, begun again from the first when there are fewer than elements. */
static enum ww_code from_list(const struct launch_file *f, const struct launch_buffer *b, const cJSON *list,
                              unsigned char *to, struct ww_error *error) {
    uint32_t size = ww_launch_type_bytes(b->type);
    const cJSON *e = list->child;
    for (uint64_t n = 0; n < b->bytes / size; n++, e = e->next ? e->next : list->child)
        WW_TRY(store(f, b, n, e->valuedouble, to + n * size, error));
    return WW_OK;
}

static enum ww_code from_random(const struct launch_file *f, const struct launch_buffer *b, const cJSON *range,
                                uint64_t seed, unsigned char *to, struct ww_error *error) {
    uint32_t size = ww_launch_type_bytes(b->type);
    double min = get(range, "min")->valuedouble, max = get(range, "max")->valuedouble;
    struct ww_rng rng;
    ww_rng_seed(&rng, seed);
    for (uint64_t n = 0; n < b->bytes / size; n++) {
        double u = ww_rng_unit(&rng);
        double v = b->type < LAUNCH_F16 ? floor(min + u * (max - min + 1)) : min + u * (max - min);
        WW_TRY(store(f, b, n, v > max ? max : v, to + n * size, error));
    }
    return WW_OK;
}

/* Fills b->bytes at `to` as the fill or expect object says. */
static enum ww_code make_values(const struct launch_file *f, const struct launch_buffer *b, const cJSON *fill,
                                uint64_t seed, unsigned char *to, struct ww_error *error) {
    uint32_t size = ww_launch_type_bytes(b->type);
    const cJSON *v;
    if ((v = get(fill, "file"))) return from_file(f, b, v->valuestring, to, error);
    if ((v = get(fill, "values"))) return from_list(f, b, v, to, error);
    if ((v = get(fill, "random"))) return from_random(f, b, v, seed, to, error);
    double start = 0, step = 0;
    if ((v = get(fill, "value"))) start = v->valuedouble;
    if ((v = get(fill, "sequence"))) {
        start = get(v, "start")->valuedouble;
        step = get(v, "step")->valuedouble;
    }
    for (uint64_t n = 0; n < b->bytes / size; n++)
        WW_TRY(store(f, b, n, start + step * (double)n, to + n * size, error));
    return WW_OK;
}

/* ---- comparing ---- */

static bool within(double have, double want, double tolerance, double relative) {
    if (have == want || (isnan(have) && isnan(want))) return true;
    return fabs(have - want) <= tolerance + relative * fabs(want);
}

static enum ww_code compare(const struct launch_file *f, const struct launch_buffer *b,
                            const unsigned char *have, const unsigned char *want, struct ww_error *error) {
    uint32_t size = ww_launch_type_bytes(b->type);
    const cJSON *t = get(b->expect, "tolerance"), *r = get(b->expect, "relative");
    double tolerance = t ? t->valuedouble : 0, relative = r ? r->valuedouble : 0;
    for (uint64_t n = 0; n < b->bytes / size; n++) {
        const unsigned char *x = have + n * size, *y = want + n * size;
        if (memcmp(x, y, size) == 0) continue;
        double vx = ww_launch_load(b->type, x), vy = ww_launch_load(b->type, y);
        bool exact = b->type < LAUNCH_F16 && !t && !r;
        if (!exact && within(vx, vy, tolerance, relative)) continue;
        char where[320];
        snprintf(where, sizeof where, "%.160s: %.120s.expect", f->path, b->path);
        return ww_fail(error, WW_MISMATCH, where,
                       "element %llu of buffer %s is %.17g, expected %.17g (tolerance %g, relative %g)",
                       (unsigned long long)n, b->name, vx, vy, tolerance, relative);
    }
    return WW_OK;
}

static enum ww_code check_buffer(const struct launch_file *f, struct ww_device *d,
                                 const struct launch_buffer *b, struct ww_error *error) {
    unsigned char *want = malloc(b->bytes);
    const unsigned char *have = ww_device_host(d, b->address, b->bytes);
    enum ww_code code =
        want && have ? make_values(f, b, b->expect, 0, want, error) : ww_fail_nomem(error, "expected values");
    if (code == WW_OK) code = compare(f, b, have, want, error);
    free(want);
    return code;
}

/* ---- running ---- */

static enum ww_code make_buffers(struct launch_file *f, struct ww_device *d, uint64_t seed,
                                 struct ww_error *error) {
    for (uint32_t n = 0; n < f->buffer_count; n++) {
        struct launch_buffer *b = &f->buffer[n];
        WW_TRY(ww_device_alloc(d, b->bytes, &b->address, error));
        if (!b->fill) continue;
        WW_TRY(make_values(f, b, b->fill, seed + n, ww_device_host(d, b->address, b->bytes), error));
    }
    return WW_OK;
}

/* "$.launches[0].args" in `out`. */
static const char *below(const struct launch_call *c, const char *key, char out[96]) {
    snprintf(out, 96, "%s.%s", c->path, key);
    return out;
}

static enum ww_code no_kernel(const struct launch_file *f, const struct launch_call *c,
                              const struct ptx_module *p, struct ww_error *error) {
    char path[96], met[81];
    struct ww_buf names = {0};
    struct ww_nearest near;
    snprintf(met, sizeof met, "%.80s", c->kernel);
    ww_nearest_init(&near, met);
    for (size_t n = 0; n < p->func_count; n++) {
        if (!p->func[n]->is_entry) continue;
        char whole[WW_NAME_WHOLE];
        /* overloads of one name are told apart by the PTX's names alone */
        bool plain = ww_demangle(p->func[n]->name, whole, sizeof whole) && strchr(whole, '<');
        ww_nearest_offer(&near, p->func[n]->name);
        if (names.n < 200) ww_buf_printf(&names, "%s%s", names.n ? ", " : "", plain ? whole : p->func[n]->name);
    }
    const char *best = ww_nearest_get(&near);
    enum ww_code code =
        best ? ww_launch_fail(f, below(c, "kernel", path), error,
                              "met \"%s\", which is not a kernel of the PTX; did you mean \"%.160s\"?", met,
                              best)
             : ww_launch_fail(f, below(c, "kernel", path), error,
                              "met \"%s\", expected a kernel of the PTX: %.240s", met,
                              names.p ? names.p : "it has none");
    ww_buf_free(&names);
    return code;
}

/* The same for a module whose PTX only ptxas can read: names of parameters are not known. */
static enum ww_code check_machine_call(const struct launch_file *f, const struct launch_call *c,
                                       struct ww_device *d, struct ww_module *m, struct ww_error *error) {
    char path[96], key[32];
    struct ww_kernel_info info;
    if (!ww_module_has_kernel(d, m, c->kernel))
        return ww_launch_fail(f, below(c, "kernel", path), error,
                              "met \"%.80s\", which is not a kernel of the PTX", c->kernel);
    WW_TRY(ww_device_kernel_info(d, m, c->kernel, &info, error));
    if (c->arg_count != info.param_count)
        return ww_launch_fail(f, below(c, "args", path), error,
                              "met %u argument%s, expected %u: the parameters of kernel %.80s", c->arg_count,
                              ww_plural(c->arg_count, "s"), (unsigned)info.param_count, c->kernel);
    for (uint32_t n = 0; n < c->arg_count; n++) {
        uint64_t offset, bytes;
        WW_TRY(ww_device_kernel_param(d, m, c->kernel, n, &offset, &bytes, error));
        if (c->arg[n].size == bytes) continue;
        snprintf(key, sizeof key, "args[%u]", n);
        return ww_launch_fail(f, below(c, key, path), error, "met %zu byte%s, expected %llu", c->arg[n].size,
                              ww_plural(c->arg[n].size, "s"), (unsigned long long)bytes);
    }
    return WW_OK;
}

/* Kernel and arguments of a launch, before anything runs. */
static enum ww_code check_call(const struct launch_file *f, const struct launch_call *c,
                               const struct ww_module *m, struct ww_error *error) {
    char path[96], key[32];
    const struct ptx_func *k = ww_ptx_module_func(m->ptx, c->kernel);
    if (!k || !k->is_entry || k->is_extern) return no_kernel(f, c, m->ptx, error);
    if (c->arg_count != k->param_count)
        return ww_launch_fail(f, below(c, "args", path), error,
                              "met %u argument%s, expected %u: kernel %.80s has %u parameter%s", c->arg_count,
                              ww_plural(c->arg_count, "s"), (unsigned)k->param_count, c->kernel,
                              (unsigned)k->param_count, ww_plural(k->param_count, "s"));
    for (uint32_t n = 0; n < c->arg_count; n++) {
        if (c->arg[n].size == k->param[n]->size) continue;
        snprintf(key, sizeof key, "args[%u]", n);
        return ww_launch_fail(f, below(c, key, path), error,
                              "met %zu byte%s, expected %llu: parameter %.80s of the kernel", c->arg[n].size,
                              ww_plural(c->arg[n].size, "s"), (unsigned long long)k->param[n]->size,
                              k->param[n]->name);
    }
    return WW_OK;
}

/* Blanks do not count: "f<1,2>" is "f<1, 2>". */
static bool same_name(const char *a, const char *b) {
    for (;; a++, b++) {
        while (*a == ' ') a++;
        while (*b == ' ') b++;
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

/* A kernel may be called as in C++, if one alone has that name; the module's names outlive the launches. */
static void find_mangled(struct launch_call *c, const struct ptx_module *p) {
    char whole[WW_NAME_WHOLE];
    const char *found = NULL;
    if (ww_ptx_module_func(p, c->kernel)) return;
    for (size_t n = 0; n < p->func_count; n++) {
        const struct ptx_func *k = p->func[n];
        if (!k->is_entry || !ww_demangle(k->name, whole, sizeof whole) || !same_name(whole, c->kernel))
            continue;
        if (found) return;
        found = k->name;
    }
    if (found) c->kernel = found;
}

/* The device reports a wrong launch shape as WW_USAGE; here it is an error of the description. */
static enum ww_code launch(const struct launch_file *f, const struct launch_call *c, struct ww_device *d,
                           struct ww_module *m, const struct ww_arg *args, struct ww_error *error) {
    struct ww_error mine = {0};
    enum ww_code code =
        ww_device_launch(d, m, c->kernel, c->grid, c->block, c->shared, args, c->arg_count, &mine);
    if (code == WW_USAGE) return ww_launch_fail(f, c->path, error, "%.160s: %.300s", mine.where, mine.text);
    if (code != WW_OK && error) *error = mine;
    return code;
}

static enum ww_code run_call(const struct launch_file *f, const struct launch_call *c, struct ww_device *d,
                             struct ww_module *m, struct ww_error *error) {
    struct ww_arg args[LAUNCH_ARGS];
    uint64_t address[LAUNCH_ARGS];
    for (uint32_t n = 0; n < c->arg_count; n++) {
        const struct launch_arg *a = &c->arg[n];
        if (a->buffer) address[n] = a->buffer->address + a->offset;
        args[n] = (struct ww_arg){a->buffer ? (const void *)&address[n] : a->data, a->size};
    }
    for (uint32_t n = 0; n < c->repeat; n++) WW_TRY(launch(f, c, d, m, args, error));
    return WW_OK;
}

size_t ww_launch_differs(const char *type, const void *have, const void *want, const void *before, size_t bytes,
                         double tolerance, double relative, double *met, double *expected) {
    enum launch_type t;
    if (!ww_launch_type_find(type, &t)) return SIZE_MAX;
    size_t each = TYPES[t].bytes;
    const unsigned char *h = have, *w = want, *b = before;
    for (size_t i = 0; i < bytes / each; i++) {
        if (memcmp(h + i * each, w + i * each, each) == 0) continue;
        if (b && memcmp(h + i * each, b + i * each, each) == 0) continue;
        *met = ww_launch_load(t, h + i * each);
        *expected = ww_launch_load(t, w + i * each);
        if (fabs(*met - *expected) <= tolerance + relative * fabs(*expected)) continue;
        return i;
    }
    return SIZE_MAX;
}

static enum ww_code look(const struct launch_file *f, struct ww_device *d, const struct ww_launch_use *use,
                         bool ran, struct ww_error *error) {
    for (uint32_t n = 0; use->look && n < f->buffer_count; n++) {
        const struct launch_buffer *b = &f->buffer[n];
        struct ww_launch_view view = {n, b->name, ww_launch_type_name(b->type),
                                      ww_device_host(d, b->address, b->bytes), b->bytes};
        WW_TRY(use->look(use->context, ran, &view, error));
    }
    return WW_OK;
}

enum ww_code ww_launch_file_run(struct launch_file *f, struct ww_device *d, const char *ptx_path, uint64_t seed,
                                const struct ww_launch_use *use, bool *verified, struct ww_error *error) {
    struct ww_module *m;
    bool any = false;
    *verified = false;
    WW_TRY(ww_device_module_file(d, ptx_path, &m, error));
    /* PTX that only ptxas can read is no error where its machine code runs. */
    bool parsed = ww_module_need_ptx(d, m, NULL) == WW_OK;
    for (uint32_t n = 0; parsed && n < f->call_count; n++) find_mangled(&f->call[n], m->ptx);
    for (uint32_t n = 0; n < f->call_count; n++)
        WW_TRY(parsed ? check_call(f, &f->call[n], m, error) : check_machine_call(f, &f->call[n], d, m, error));
    WW_TRY(make_buffers(f, d, seed, error));
    WW_TRY(look(f, d, use, false, error));
    ww_device_pick(d, use->pick);
    for (uint32_t n = 0; n < f->call_count; n++) WW_TRY(run_call(f, &f->call[n], d, m, error));
    for (uint32_t n = 0; n < f->buffer_count; n++) {
        if (!f->buffer[n].expect || use->pick) continue;
        WW_TRY(check_buffer(f, d, &f->buffer[n], error));
        any = true;
    }
    *verified = any;
    return look(f, d, use, true, error);
}
