/* device_host.c: memory shared with the host, variables and kernels of a module, for a host program's runtime.
 */
#include "../../tensor_map.h"
#include "device_host.h"
#include "device_internal.h"
#include "../../wwt/writer.h"
#include "../exec/tex.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void ww_device_set_memory(struct ww_device *d, uint64_t address, uint64_t bytes) {
    d->mem.next = (address + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
    d->mem.limit = bytes;
}

uint64_t ww_device_memory_used(const struct ww_device *d) {
    return d->mem.bytes;
}

void ww_device_set_heap(struct ww_device *d, uint64_t bytes) {
    d->mem.heap_limit = bytes;
}

uint64_t ww_device_heap(const struct ww_device *d) {
    return d->mem.heap_limit;
}

enum ww_code ww_device_alloc_padded(struct ww_device *d, size_t bytes, uint32_t pad, uint64_t *address,
                                    struct ww_error *error) {
    struct mem_alloc *a;
    if (bytes == 0 || bytes > d->mem.limit)
        return ww_fail(error, bytes ? WW_NOMEM : WW_USAGE, "device memory", "%zu bytes asked for", bytes);
    WW_TRY(ww_mem_new(&d->mem, bytes + 2u * (uint64_t)pad, NULL, &a, error));
    a->pad = pad;
    *address = a->base + pad;
    return WW_OK;
}

enum ww_code ww_device_free_padded(struct ww_device *d, uint64_t address, struct ww_error *error) {
    const struct mem_alloc *a = ww_mem_find(&d->mem, address);
    if (!a || a->base + a->pad != address || a->name || a->from_kernel || a->foreign)
        return ww_fail(error, WW_USAGE, "device memory", "0x%llx is not the start of an allocation",
                       (unsigned long long)address);
    ww_mem_release(&d->mem, a->base);
    return WW_OK;
}

enum ww_code ww_device_note_copy(struct ww_device *d, const struct ww_trace_copy *copy,
                                 struct ww_error *error) {
    return d->recorder.writer ? ww_trace_writer_copy(d->recorder.writer, copy, error) : WW_OK;
}

enum ww_code ww_device_note_order(struct ww_device *d, const struct ww_trace_order *order,
                                  struct ww_error *error) {
    return d->recorder.writer ? ww_trace_writer_order(d->recorder.writer, order, error) : WW_OK;
}

enum ww_code ww_device_note_host_copy(struct ww_device *d, const struct ww_host_copy *copy,
                                      struct ww_error *error) {
    return d->recorder.writer ? ww_trace_writer_host_copy(d->recorder.writer, copy, error) : WW_OK;
}

enum ww_code ww_device_note_copy_waits(struct ww_device *d, const struct ww_copy_waits *waits,
                                       struct ww_error *error) {
    return d->recorder.writer ? ww_trace_writer_copy_waits(d->recorder.writer, waits, error) : WW_OK;
}

void ww_device_pause(struct ww_device *d, bool paused) {
    d->paused = paused;
}

bool ww_device_recording_lost(const struct ww_device *d) {
    return d->recorder.writer && ww_trace_writer_lost(d->recorder.writer);
}

enum ww_code ww_device_attach(struct ww_device *d, void *host, size_t bytes, struct ww_error *error) {
    return ww_device_attach_padded(d, host, bytes, 0, error);
}

enum ww_code ww_device_attach_padded(struct ww_device *d, void *host, size_t bytes, uint32_t pad,
                                     struct ww_error *error) {
    struct mem_alloc *a;
    unsigned char *first = (unsigned char *)host - pad;
    WW_TRY(ww_mem_attach(&d->mem, (uint64_t)(uintptr_t)first, bytes + 2u * (uint64_t)pad, first, &a, error));
    a->pad = pad;
    return WW_OK;
}

bool ww_device_detach(struct ww_device *d, const void *host) {
    struct mem_alloc *a = ww_mem_find(&d->mem, (uint64_t)(uintptr_t)host);
    if (!a || !a->foreign || a->host + a->pad != (const unsigned char *)host) return false;
    return ww_mem_release(&d->mem, a->base);
}

bool ww_device_find(const struct ww_device *d, uint64_t address, struct ww_device_range *range) {
    const struct mem_alloc *a = ww_mem_find(&d->mem, address);
    if (!a || address - a->base < a->pad || address - a->base >= a->size - a->pad) return false;
    *range = (struct ww_device_range){a->base + a->pad, a->size - 2u * a->pad, a->host + a->pad};
    return true;
}

void ww_device_cluster(struct ww_device *d, const uint32_t cluster[3]) {
    memcpy(d->cluster, cluster, sizeof d->cluster);
}

enum ww_code ww_device_cooperate(struct ww_device *d, bool cooperative, struct ww_error *error) {
    struct mem_alloc *a;
    if (d->workspace) ww_mem_release(&d->mem, d->workspace);
    d->workspace = 0;
    if (!cooperative) return WW_OK;
    WW_TRY(ww_mem_new(&d->mem, 16, NULL, &a, error));
    d->workspace = a->base;
    return WW_OK;
}

enum ww_code ww_device_add_texture(struct ww_device *d, const struct tex_object *object, uint64_t *handle,
                                   struct ww_error *error) {
    uint64_t at = 0;
    while (at < d->texture_count && d->texture[at].live) at++;
    if (at == d->texture_count) {
        struct tex_object *more = realloc(d->texture, (at + 1) * sizeof *more);
        if (!more) return ww_fail_nomem(error, "texture objects");
        d->texture = more;
        d->texture_count++;
    }
    d->texture[at] = *object;
    d->texture[at].live = true;
    *handle = at + 1;
    return WW_OK;
}

enum ww_code ww_device_texture_u32(struct ww_device *d, uint64_t address, uint64_t count, uint32_t words,
                                   uint64_t *handle, struct ww_error *error) {
    const struct tex_object o = {.kind = TEX_UNSIGNED,
                                 .channels = (uint8_t)words,
                                 .bits = {32, words > 1 ? 32 : 0, words > 2 ? 32 : 0, words > 2 ? 32 : 0},
                                 .mode = {TEX_CLAMP, TEX_CLAMP, TEX_CLAMP},
                                 .element = 4 * words,
                                 .address = address,
                                 .size = {count, 1, 1}};
    return ww_device_add_texture(d, &o, handle, error);
}

enum ww_code ww_device_image(struct ww_device *d, const struct ww_device_image *image, uint64_t *handle,
                             struct ww_error *error) {
    if (image->width == 0 || image->height == 0) return ww_fail(error, WW_USAGE, "image", "no pixels");
    const uint64_t row = 4u * (uint64_t)image->width;
    const struct tex_object object = {.filter = true,
                                      .normalized = true,
                                      .as_float = true,
                                      .kind = TEX_UNSIGNED,
                                      .channels = 4,
                                      .bits = {8, 8, 8, 8},
                                      .mode = {TEX_WRAP, TEX_WRAP, TEX_CLAMP},
                                      .element = 4,
                                      .address = image->address,
                                      .row = row,
                                      .slice = row * image->height,
                                      .size = {image->width, image->height, 1}};
    return ww_device_add_texture(d, &object, handle, error);
}

enum ww_code ww_device_map(struct ww_device *d, const struct ww_device_matrix *matrix,
                           unsigned char map[WW_DEVICE_MAP_BYTES], struct ww_error *error) {
    (void)d;
    const struct ww_tensor_map m = {.global = matrix->address,
                                    .type = matrix->element == 2 ? WW_TENSOR_F16 : WW_TENSOR_U8,
                                    .rank = 2,
                                    .swizzle = WW_SWIZZLE_128,
                                    .promotion = 2, /* 128 bytes */
                                    .dim = {matrix->columns, matrix->rows},
                                    .stride = {matrix->element, (uint64_t)matrix->columns * matrix->element},
                                    .box = {128 / matrix->element, matrix->box_rows},
                                    .step = {1, 1}};
    const char *wrong = ww_tensor_map_check(&m);
    if (wrong) return ww_fail(error, WW_USAGE, "tensor map", "%s", wrong);
    ww_tensor_map_encode(&m, map);
    return WW_OK;
}

struct tex_object *ww_device_texture(struct ww_device *d, uint64_t handle) {
    if (handle == 0 || handle > d->texture_count || !d->texture[handle - 1].live) return NULL;
    return &d->texture[handle - 1];
}

/* ---- variables ---- */

static const struct ptx_symbol *find_variable(const struct ww_module *m, const char *name) {
    for (size_t n = 0; n < m->ptx->symbol_count; n++) {
        const struct ptx_symbol *s = m->ptx->symbol[n];
        bool fits = s->kind == PTX_SYM_VAR && (s->space == PTX_S_GLOBAL || s->space == PTX_S_CONST);
        if (fits && !s->is_extern && strcmp(s->name, name) == 0) return s;
    }
    return NULL;
}

/* Gives a bank of constants a device address. Kernels could only reach it by a pointer that the host passes. */
static enum ww_code place_bank(struct ww_device *d, unsigned char *bank, uint64_t bytes, uint64_t *address,
                               struct ww_error *error) {
    if (*address) return WW_OK;
    struct mem_alloc *a;
    if (bytes == 0) bytes = 1;
    WW_TRY(ww_mem_attach(&d->mem, d->mem.next, bytes, bank, &a, error));
    d->mem.next += (bytes + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN + MEM_ALIGN;
    *address = a->base;
    return WW_OK;
}

/* Maps the pages of [address, address + bytes); pages may be shared with a variable that was mapped before. */
static enum ww_code map_pages(uint64_t address, uint64_t bytes, struct ww_error *error) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = address + bytes;
    for (uint64_t at = address / page * page; at < end; at += page) {
        void *want = (void *)(uintptr_t)at;
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
        void *got = mmap(want, page, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (got == want || (got == MAP_FAILED && errno == EEXIST)) continue;
        if (got != MAP_FAILED) munmap(got, page);
        return ww_fail(error, WW_IO, "device memory", "address 0x%llx cannot be mapped for the host: %s",
                       (unsigned long long)at, strerror(errno));
    }
    return WW_OK;
}

static enum ww_code share_with_host(struct mem_alloc *a, struct ww_error *error) {
    unsigned char *there = (unsigned char *)(uintptr_t)a->base; /* the address is chosen by mem.c */
    if (a->host == there) return WW_OK;
    WW_TRY(map_pages(a->base, a->size, error));
    memcpy(there, a->host, a->size);
    if (!a->foreign) free(a->host);
    a->foreign = true;
    a->host = there;
    return WW_OK;
}

/* A variable of the module's machine code; false if it has none of that name. */
static enum ww_code machine_variable(struct ww_device *d, struct ww_module *m,
                                     const struct ww_cubin_variable *v, uint64_t *address,
                                     struct ww_error *error) {
    struct sx_module *code = m->code;
    const struct ww_cubin_bytes *bank = &code->cubin->shared_banks[WW_CUBIN_BANK_USER];
    if (!v->constant) {
        *address = code->globals + v->offset;
        return WW_OK;
    }
    WW_TRY(place_bank(d, bank->data, bank->size, &code->bank_address, error));
    *address = code->bank_address + v->offset;
    return WW_OK;
}

static enum ww_code ptx_variable(struct ww_device *d, struct ww_module *m, const char *name, uint64_t *address,
                                 uint64_t *bytes, struct ww_error *error) {
    if (m->ptx_text) WW_TRY(ww_module_need_ptx(d, m, error));
    const struct ptx_symbol *s = m->ptx ? find_variable(m, name) : NULL;
    if (!s) return ww_fail(error, WW_USAGE, m->name, "no variable '%s' in this module", name);
    *bytes = s->size;
    *address = s->space == PTX_S_CONST ? 0 : m->global[s->id];
    if (s->space != PTX_S_CONST) return WW_OK;
    WW_TRY(place_bank(d, m->constant_bank, m->ptx->const_bytes, &m->bank_address, error));
    *address = m->bank_address + s->offset;
    return WW_OK;
}

enum ww_code ww_device_variable(struct ww_device *d, struct ww_module *m, const char *name, bool share,
                                uint64_t *address, uint64_t *bytes, struct ww_error *error) {
    const struct ww_cubin_variable *v = m->code ? ww_cubin_variable(m->code->cubin, name) : NULL;
    if (v) {
        *bytes = v->size;
        WW_TRY(machine_variable(d, m, v, address, error));
    } else {
        WW_TRY(ptx_variable(d, m, name, address, bytes, error));
    }
    struct mem_alloc *a = ww_mem_find(&d->mem, *address);
    bool constant = a && (a->base == m->bank_address || (m->code && a->base == m->code->bank_address));
    return share && a && !constant ? share_with_host(a, error) : WW_OK;
}

/* ---- kernels ---- */

bool ww_module_has_kernel(struct ww_device *d, struct ww_module *m, const char *kernel) {
    const struct ww_cubin_kernel *k = m->code ? ww_cubin_kernel(m->code->cubin, kernel) : NULL;
    if (k && k->entry) return true;
    if (!m->ptx_text || ww_module_need_ptx(d, m, NULL) != WW_OK) return false;
    const struct ptx_func *f = ww_ptx_module_func(m->ptx, kernel);
    return f && f->is_entry && !f->is_extern;
}

static uint32_t threads_of(const uint32_t limit[3]) {
    uint64_t most = (uint64_t)limit[0] * (limit[1] ? limit[1] : 1) * (limit[2] ? limit[2] : 1);
    return most && most < 1024 ? (uint32_t)most : 1024;
}

/* Programs compare the PTX version with the architectures that they were compiled for (CUB picks its kernels
 * so): it is that of the PTX, even if the code is of a newer architecture. */
static void machine_info(const struct ww_module *m, const struct ww_cubin_kernel *k,
                         struct ww_kernel_info *info) {
    uint32_t target = m->code_target ? m->code_target : m->code->cubin->arch;
    *info = (struct ww_kernel_info){.param_count = k->param_count,
                                    .param_bytes = k->param_bytes,
                                    .registers = k->registers,
                                    .shared_bytes = ww_sx_shared_static(m->code, k),
                                    .local_bytes = k->local_bytes,
                                    .constant_bytes = k->bank[WW_CUBIN_BANK_USER].size,
                                    .max_threads = threads_of(k->max_threads),
                                    .ptx_target = target,
                                    .ptx_version = m->code->cubin->arch};
}

enum ww_code ww_device_kernel_info(struct ww_device *d, struct ww_module *m, const char *kernel,
                                   struct ww_kernel_info *info, struct ww_error *error) {
    struct ww_kernel *k;
    struct sx_loaded *machine;
    WW_TRY(ww_module_machine(d, m, kernel, &machine, error));
    if (machine) {
        machine_info(m, machine->source, info);
        return WW_OK;
    }
    WW_TRY(ww_module_kernel(d, m, kernel, &k, error));
    const struct ptx_func *f = k->decoded->entry->src;
    *info = (struct ww_kernel_info){.param_count = f->param_count,
                                    .param_bytes = f->param_bytes,
                                    .registers = f->machine_registers,
                                    .shared_bytes = f->shared_bytes,
                                    .local_bytes = f->local_bytes + f->spill_bytes,
                                    .constant_bytes = m->ptx->const_bytes,
                                    .max_threads = threads_of(f->maxntid),
                                    .ptx_target = m->ptx->target,
                                    .ptx_version = m->ptx->version};
    return WW_OK;
}

enum ww_code ww_device_kernel_param(struct ww_device *d, struct ww_module *m, const char *kernel, uint32_t n,
                                    uint64_t *offset, uint64_t *bytes, struct ww_error *error) {
    struct ww_kernel *k;
    struct sx_loaded *machine;
    WW_TRY(ww_module_machine(d, m, kernel, &machine, error));
    if (machine) {
        const struct ww_cubin_kernel *source = machine->source;
        if (n >= source->param_count)
            return ww_fail(error, WW_USAGE, kernel, "parameter %u of %u", n, source->param_count);
        *offset = source->params[n].offset;
        *bytes = source->params[n].size;
        return WW_OK;
    }
    WW_TRY(ww_module_kernel(d, m, kernel, &k, error));
    const struct ptx_func *f = k->decoded->entry->src;
    if (n >= f->param_count) return ww_fail(error, WW_USAGE, kernel, "parameter %u of %u", n, f->param_count);
    *offset = f->param[n]->offset;
    *bytes = f->param[n]->size;
    return WW_OK;
}
