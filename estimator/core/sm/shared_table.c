/* The shared-memory management table of an SM, and what follows from it for its CTAs. */
#include "shared_table.h"

#include "occupancy.h"

bool ww_shared_take(struct ww_shared_table *t, uint32_t cta, uint32_t start, uint32_t size, bool is_public) {
    struct ww_shared_entry *room = NULL;
    if (size == 0 || start > t->capacity || size > t->capacity - start) return false;
    for (uint32_t i = 0; i < t->count; i++) {
        struct ww_shared_entry *e = &t->entry[i];
        if (!e->valid) {
            if (!room) room = e;
        } else if (start < e->start + e->size && e->start < start + size) {
            return false;
        }
    }
    if (!room) return false;
    *room = (struct ww_shared_entry){
        .cta = cta, .size = size, .start = start, .valid = true, .is_public = is_public};
    return true;
}

bool ww_shared_take_top(struct ww_shared_table *t, uint32_t cta, uint32_t size, uint32_t *start) {
    for (uint32_t end = t->capacity; size && end >= size; end -= size)
        if (ww_shared_take(t, cta, end - size, size, true)) {
            *start = end - size;
            return true;
        }
    return false;
}

bool ww_shared_drop(struct ww_shared_table *t, uint32_t cta, bool is_public) {
    for (uint32_t i = 0; i < t->count; i++) {
        struct ww_shared_entry *e = &t->entry[i];
        if (!e->valid || e->cta != cta || e->is_public != is_public) continue;
        e->valid = false;
        return true;
    }
    return false;
}

enum ww_code ww_shared_public(const struct ww_launch *launch, uint32_t *bytes, struct ww_error *error) {
    const char *name = launch->kernel ? launch->kernel : "";
    uint64_t all = (uint64_t)launch->shared_static + launch->shared_dynamic;
    *bytes = 0;
    for (uint32_t i = 0; i < launch->inst_count; i++) {
        const struct ww_inst *in = &launch->inst[i];
        if (!(in->flags & (WW_INST_SMEM_ALLOC | WW_INST_SMEM_FREE))) continue;
        if (in->bytes > all)
            return ww_fail(error, WW_INPUT, name,
                           "pc 0x%x allocates or frees %u bytes of shared memory; a CTA has %llu", in->pc,
                           in->bytes, (unsigned long long)all);
        if (*bytes && in->bytes != *bytes)
            return ww_fail(
                error, WW_INPUT, name,
                "pc 0x%x allocates or frees %u bytes of shared memory, another barrier %u: all must be "
                "of one size",
                in->pc, in->bytes, *bytes);
        *bytes = in->bytes;
    }
    return WW_OK;
}

static uint32_t in_units(const struct ww_gpu_spec *gpu, uint64_t bytes) {
    return (uint32_t)((bytes + gpu->sm_shared_unit - 1) / gpu->sm_shared_unit * gpu->sm_shared_unit);
}

enum ww_code ww_shared_plan(const struct ww_gpu_spec *gpu, const struct ww_launch *launch,
                            const struct ww_smem_plan *plan, uint32_t k, struct ww_shared_plan *out,
                            struct ww_error *error) {
    uint32_t bytes, capacity = gpu->sm_shared_kb * 1024;
    struct ww_launch private_part = *launch;
    *out = (struct ww_shared_plan){0};
    WW_TRY(ww_shared_public(launch, &bytes, error));
    if (!plan->dynamic || bytes == 0) return WW_OK;
    private_part.shared_static = launch->shared_static + launch->shared_dynamic - bytes;
    private_part.shared_dynamic = 0;
    out->on = true;
    out->public_bytes = in_units(gpu, bytes);
    out->private_bytes = ww_occupancy_shared(gpu, &private_part);
    WW_TRY(ww_occupancy(gpu, &private_part, &out->ctas, &out->limiter, error));
    if ((uint64_t)out->public_bytes + out->private_bytes > capacity)
        return ww_fail(error, WW_UNSUPPORTED, launch->kernel,
                       "a public part of %u and a private one of %u bytes, in units of %u, do not fit "
                       "sm.shared_kb = %u",
                       out->public_bytes, out->private_bytes, gpu->sm_shared_unit, gpu->sm_shared_kb);
    uint32_t fit = out->private_bytes ? (capacity - out->public_bytes) / out->private_bytes : UINT32_MAX;
    if (fit < out->ctas) {
        out->ctas = fit;
        out->limiter = "shared";
    }
    if (out->ctas > k + plan->extra) {
        out->ctas = k + plan->extra;
        out->limiter = "smem.extra";
    }
    return WW_OK;
}
