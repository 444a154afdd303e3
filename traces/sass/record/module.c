/* module.c: machine code on a device. */
#include "module.h"
#include <stdlib.h>

static enum ww_code place(struct sx_module *m, struct mem *mem, struct ww_error *error) {
    const struct ww_cubin *c = m->cubin;
    struct mem_alloc *a;
    if (c->globals_bytes) {
        WW_TRY(ww_mem_new(mem, c->globals_bytes, c->where, &a, error));
        m->globals = a->base;
        WW_TRY(ww_cubin_place(m->cubin, m->globals, error));
        memcpy(a->host, c->globals.data, c->globals.size);
        return WW_OK;
    }
    return ww_cubin_place(m->cubin, 0, error);
}

static enum ww_code fill(struct sx_module *m, struct mem *mem, const void *data, size_t n, const char *where,
                         const char *origin, struct ww_error *error) {
    WW_TRY(ww_cubin_read(data, n, where, &m->cubin, error));
    if (!ww_sx_arch_of(m->cubin->arch))
        return ww_fail(error, WW_UNSUPPORTED, where, "machine code for sm_%u: its launches are not known",
                       m->cubin->arch);
    snprintf(m->arch, sizeof m->arch, "sm_%u", m->cubin->arch);
    m->origin = strdup(origin);
    if (!m->origin) return ww_fail_nomem(error, "a module");
    return place(m, mem, error);
}

enum ww_code ww_sx_module_new(struct mem *mem, const void *data, size_t n, const char *where,
                              const char *origin, struct sx_module **module, struct ww_error *error) {
    struct sx_module *m = calloc(1, sizeof *m);
    if (!m) return ww_fail_nomem(error, "a module");
    enum ww_code code = fill(m, mem, data, n, where, origin, error);
    if (code != WW_OK) {
        if (m->globals) ww_mem_release(mem, m->globals);
        ww_sx_module_free(m);
        return code;
    }
    *module = m;
    return WW_OK;
}

void ww_sx_module_free(struct sx_module *m) {
    if (!m) return;
    while (m->loaded) {
        struct sx_loaded *next = m->loaded->next;
        if (m->loaded->kernel) ww_sx_kernel_free(m->loaded->kernel);
        free(m->loaded);
        m->loaded = next;
    }
    ww_cubin_free(m->cubin);
    free(m->origin);
    free(m);
}

enum ww_code ww_sx_module_kernel(struct sx_module *m, const char *name, struct sx_loaded **kernel,
                                 struct ww_error *error) {
    const struct ww_cubin_kernel *source = ww_cubin_kernel(m->cubin, name);
    *kernel = NULL;
    if (!source || !source->entry) return WW_OK;
    for (*kernel = m->loaded; *kernel; *kernel = (*kernel)->next)
        if ((*kernel)->source == source) return WW_OK;
    struct sx_loaded *k = calloc(1, sizeof *k);
    if (!k) return ww_fail_nomem(error, "a kernel");
    k->source = source;
    if (ww_sx_kernel_new(m->cubin, source, &k->kernel, &k->error) != WW_OK) k->kernel = NULL;
    k->next = m->loaded;
    m->loaded = *kernel = k;
    return WW_OK;
}

uint32_t ww_sx_shared_static(const struct sx_module *m, const struct ww_cubin_kernel *kernel) {
    uint32_t reserved = ww_sx_arch_of(m->cubin->arch)->shared_base;
    return kernel->shared_bytes > reserved ? kernel->shared_bytes - reserved : 0;
}
