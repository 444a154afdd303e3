/* device_module.c: loading PTX onto a device: global variables, constant bank, kernels. */
#include "../../../estimator/base/buf.h"
#include "../../../estimator/config/json.h"
#include "../../embed.h"
#include "device_internal.h"
#include <stdlib.h>
#include <string.h>

#define TEXT_LIMIT ((size_t)256 << 20)

void ww_module_free(struct ww_module *m) {
    while (m->kernels) {
        struct ww_kernel *next = m->kernels->next;
        ww_ex_kernel_free(m->kernels->decoded);
        free(m->kernels);
        m->kernels = next;
    }
    ww_ptx_module_free(m->ptx);
    ww_sx_module_free(m->code);
    free(m->constant_bank);
    free(m->global);
    free(m->name);
    free(m->text);
    free(m);
}

/* ---- initial values ---- */

static uint64_t address_of(const struct ww_module *m, const struct ptx_symbol *s, bool generic) {
    if (s->kind == PTX_SYM_FUNC) return EX_FUNC_BASE + (uint64_t)s->func->index * EX_FUNC_STEP;
    if (s->space == PTX_S_GLOBAL) return s->id < m->global_count ? m->global[s->id] : 0;
    uint64_t window = s->space == PTX_S_CONST    ? EX_CONST_WINDOW
                      : s->space == PTX_S_SHARED ? EX_SHARED_WINDOW
                                                 : 0;
    return s->offset + (generic ? window : 0);
}

static void initialise(const struct ww_module *m, const struct ptx_symbol *s, unsigned char *to) {
    if (s->init) memcpy(to, s->init, s->size);
    uint32_t bytes = ww_ptx_type_bytes((enum ptx_type)s->type);
    for (size_t n = 0; n < s->reloc_count && bytes; n++) {
        uint64_t v = address_of(m, s->reloc[n].sym, s->reloc[n].generic) + (uint64_t)s->reloc[n].add;
        size_t width = bytes < 8 ? bytes : 8;
        if (s->reloc[n].at <= s->size && width <= s->size - s->reloc[n].at)
            memcpy(to + s->reloc[n].at, &v, width);
    }
}

typedef enum ww_code (*each_variable)(struct ww_device *d, struct ww_module *m, const struct ptx_symbol *s,
                                      struct ww_error *error);

static enum ww_code for_each_variable(struct ww_device *d, struct ww_module *m, each_variable fn,
                                      struct ww_error *error) {
    const struct ptx_module *p = m->ptx;
    for (size_t n = 0; n < p->symbol_count; n++)
        if (p->symbol[n]->kind == PTX_SYM_VAR) WW_TRY(fn(d, m, p->symbol[n], error));
    for (size_t f = 0; f < p->func_count; f++)
        for (uint32_t n = 0; n < p->func[f]->local_count; n++)
            if (p->func[f]->local[n]->kind == PTX_SYM_VAR) WW_TRY(fn(d, m, p->func[f]->local[n], error));
    return WW_OK;
}

static enum ww_code count_ids(struct ww_device *d, struct ww_module *m, const struct ptx_symbol *s,
                              struct ww_error *error) {
    (void)d;
    bool has_id = s->id != UINT32_MAX; /* variables of functions have none */
    if (s->space == PTX_S_GLOBAL && !has_id)
        return ww_fail(error, WW_UNSUPPORTED, m->name, ".global variable %s inside of a function", s->name);
    if (has_id && s->id >= m->global_count) m->global_count = s->id + 1;
    return WW_OK;
}

/* The address of a variable that machine code of the same module has placed; 0 if there is none. */
static uint64_t placed(const struct ww_module *m, const struct ptx_symbol *s) {
    const struct ww_cubin_variable *v = m->code ? ww_cubin_variable(m->code->cubin, s->name) : NULL;
    return v && !v->constant && v->size == s->size ? m->code->globals + v->offset : 0;
}

static enum ww_code place(struct ww_device *d, struct ww_module *m, const struct ptx_symbol *s,
                          struct ww_error *error) {
    if (s->space != PTX_S_GLOBAL) return WW_OK;
    struct mem_alloc *a;
    if (s->is_extern && s->size == 0) return WW_OK;
    m->global[s->id] = placed(m, s);
    if (m->global[s->id]) return WW_OK;
    WW_TRY(ww_mem_new(&d->mem, s->size, s->name, &a, error));
    m->global[s->id] = a->base;
    return WW_OK;
}

static enum ww_code fill(struct ww_device *d, struct ww_module *m, const struct ptx_symbol *s,
                         struct ww_error *error) {
    unsigned char *to = NULL;
    if (s->space == PTX_S_GLOBAL && m->global[s->id] && !placed(m, s)) {
        const struct mem_alloc *a = ww_mem_find(&d->mem, m->global[s->id]);
        if (a) to = a->host; /* a variable of no bytes holds no address */
    }
    if (s->space == PTX_S_CONST) {
        if (s->offset > m->ptx->const_bytes || s->size > m->ptx->const_bytes - s->offset)
            return ww_fail(error, WW_INPUT, m->name, "constant %s lies outside of the bank", s->name);
        to = m->constant_bank + s->offset;
    }
    if (to) initialise(m, s, to);
    return WW_OK;
}

static enum ww_code load_ptx(struct ww_device *d, struct ww_module *m, struct ww_error *error) {
    WW_TRY(ww_ptx_module_parse(m->ptx_text, m->ptx_bytes, m->name, &m->ptx, error));
    WW_TRY(ww_ptx_module_prepare(m->ptx, error));
    WW_TRY(for_each_variable(d, m, count_ids, error));
    m->global = calloc((size_t)m->global_count + 1, sizeof *m->global);
    m->constant_bank = calloc(1, m->ptx->const_bytes + 1);
    if (!m->global || !m->constant_bank) return ww_fail_nomem(error, "a module's variables");
    WW_TRY(for_each_variable(d, m, place, error));
    return for_each_variable(d, m, fill, error);
}

enum ww_code ww_module_need_ptx(struct ww_device *d, struct ww_module *m, struct ww_error *error) {
    if (m->ptx) return WW_OK;
    if (!m->ptx_text)
        return ww_fail(error, WW_UNSUPPORTED, m->name,
                       "machine code of the program without PTX: expected PTX, too");
    enum ww_code code = load_ptx(d, m, error);
    if (code == WW_OK) return WW_OK;
    ww_ptx_module_free(m->ptx);
    free(m->global);
    free(m->constant_bank);
    m->ptx = NULL;
    m->global = NULL;
    m->constant_bank = NULL;
    return code;
}

void ww_module_take_constants(struct ww_module *m) {
    for (size_t n = 0; m->code && n < m->ptx->symbol_count; n++) {
        const struct ptx_symbol *s = m->ptx->symbol[n];
        if (s->kind != PTX_SYM_VAR || s->space != PTX_S_CONST || s->is_extern) continue;
        const struct ww_cubin_variable *v = ww_cubin_variable(m->code->cubin, s->name);
        const struct ww_cubin_bytes *bank = &m->code->cubin->shared_banks[WW_CUBIN_BANK_USER];
        if (v && v->constant && v->size == s->size && v->offset + v->size <= bank->size)
            memcpy(m->constant_bank + s->offset, bank->data + v->offset, s->size);
    }
}

/* ---- finding ---- */

static struct ww_module *find(const struct ww_device *d, const char *name) {
    for (struct ww_module *m = d->modules; m; m = m->next)
        if (strcmp(m->name, name) == 0) return m;
    return NULL;
}

/* What a module is made of. `owned` (may be NULL) holds the text; it is taken over. */
struct source {
    const char *text; /* PTX, NULL: none */
    size_t n;
    char *owned;
    const struct ww_cubin_source *cubin; /* NULL: none given */
};

static enum ww_code load(struct ww_device *d, struct ww_module *m, const struct source *s,
                         struct ww_error *error) {
    m->ptx_text = s->text;
    m->ptx_bytes = s->n;
    if (s->cubin)
        WW_TRY(
            ww_sx_module_new(&d->mem, s->cubin->data, s->cubin->n, m->name, s->cubin->origin, &m->code, error));
    else
        WW_TRY(ww_module_compile(d, m, error));
    return m->code ? WW_OK : ww_module_need_ptx(d, m, error);
}

static enum ww_code add(struct ww_device *d, const char *name, struct source source, struct ww_module **module,
                        struct ww_error *error) {
    char *owned = source.owned;
    struct ww_module *m = calloc(1, sizeof *m);
    char *copy = strdup(name);
    if (!m || !copy) {
        free(m);
        free(copy);
        free(owned);
        return ww_fail_nomem(error, "a module");
    }
    m->name = copy;
    m->text = owned;
    enum ww_code code = load(d, m, &source, error);
    if (code != WW_OK) {
        ww_module_free(m);
        return code;
    }
    m->next = d->modules;
    d->modules = m;
    *module = m;
    return WW_OK;
}

enum ww_code ww_device_module_text(struct ww_device *d, const char *text, size_t n, const char *name,
                                   struct ww_module **module, struct ww_error *error) {
    return add(d, name, (struct source){.text = text, .n = n}, module, error);
}

enum ww_code ww_device_module_cubin(struct ww_device *d, const struct ww_cubin_source *cubin, const char *text,
                                    size_t n, const char *name, struct ww_module **module,
                                    struct ww_error *error) {
    WW_TRY(add(d, name, (struct source){.text = text, .n = n, .cubin = cubin}, module, error));
    char said[200];
    snprintf(said, sizeof said, "machine code of sm_%u: %.150s", (*module)->code->cubin->arch, cubin->origin);
    ww_device_say(d, said);
    return WW_OK;
}

enum ww_code ww_device_module_file(struct ww_device *d, const char *path, struct ww_module **module,
                                   struct ww_error *error) {
    struct ww_buf text = {0};
    enum ww_code code = ww_read_file(path, TEXT_LIMIT, &text, error);
    if (code != WW_OK) {
        ww_buf_free(&text);
        return code;
    }
    if (ww_cubin_is(text.p, text.n)) {
        ww_buf_free(&text);
        return ww_fail(error, WW_INPUT, path, "is a cubin (machine code), not PTX");
    }
    return add(d, path, (struct source){.text = text.p, .n = text.n, .owned = text.p}, module, error);
}

enum ww_code ww_device_module(struct ww_device *d, const char *name, struct ww_module **module,
                              struct ww_error *error) {
    size_t n = strlen(name);
    *module = find(d, name);
    if (*module) return WW_OK;
    if (n > 4 && strcmp(name + n - 4, ".ptx") == 0) return ww_device_module_file(d, name, module, error);
    for (size_t k = 0; k < ww_embedded_ptx_count; k++) {
        const struct ww_embedded_ptx *e = &ww_embedded_ptx[k];
        if (strcmp(e->name, name) == 0)
            return add(d, name, (struct source){.text = (const char *)e->data, .n = e->size}, module, error);
    }
    return ww_fail(error, WW_USAGE, name, "no such PTX in the library, and not a path that ends in .ptx");
}

static enum ww_code no_kernel(const struct ww_module *m, const char *name, struct ww_error *error) {
    struct ww_buf names = {0};
    for (size_t f = 0; f < m->ptx->func_count && names.n < 400; f++)
        if (m->ptx->func[f]->is_entry)
            ww_buf_printf(&names, "%s%s", names.n ? ", " : "", m->ptx->func[f]->name);
    enum ww_code code = ww_fail(error, WW_USAGE, m->name, "no kernel '%s': expected one of %.420s", name,
                                names.p ? names.p : "(none)");
    ww_buf_free(&names);
    return code;
}

enum ww_code ww_module_kernel(struct ww_device *d, struct ww_module *m, const char *name,
                              struct ww_kernel **out, struct ww_error *error) {
    WW_TRY(ww_module_need_ptx(d, m, error));
    for (*out = m->kernels; *out; *out = (*out)->next)
        if (strcmp((*out)->name, name) == 0) return WW_OK;
    struct ptx_func *f = ww_ptx_module_func(m->ptx, name);
    if (!f || !f->is_entry || f->is_extern) return no_kernel(m, name, error);
    struct ww_kernel *k = calloc(1, sizeof *k);
    if (!k) return ww_fail_nomem(error, "a kernel");
    k->name = f->name;
    struct ptx_lower_options options = {
        .arch = d->arch, .machine = d->machine_arch, .max_registers = d->options.max_registers};
    enum ww_code code = ww_ex_kernel_new(m->ptx, f, m->global, m->global_count, &k->decoded, error);
    if (code == WW_OK && d->records) code = ww_ptx_lower(m->ptx, f, &options, error);
    if (code != WW_OK) {
        ww_ex_kernel_free(k->decoded);
        free(k);
        return code;
    }
    k->next = m->kernels;
    m->kernels = k;
    *out = k;
    return WW_OK;
}
