/* record_table.c: the instruction table of a launch. */
#include "../exec/record.h"
#include "../exec/simt.h"
#include "../exec/spin.h"
#include "../exec/tmem.h"
#include <string.h>

static uint32_t count_twins(const struct ex_func *f) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->count; k++)
        if (f->inst[k].kind == EX_MEM && f->inst[k].space == PTX_S_GENERIC)
            n += 2 * f->src->inst[k].lower_count;
    for (uint32_t k = 0; k < f->count; k++)
        if (f->inst[k].op == PTX_TCGEN05) n += TMEM_SHAPES;
    return n;
}

/* Index of a string in the table; strings are few. */
static enum ww_code intern(struct recorder *r, const char *s, uint32_t limit, uint32_t *index,
                           struct ww_error *error) {
    for (uint32_t n = 0; n < r->string_count; n++)
        if (strcmp(r->string[n], s) == 0) {
            *index = n;
            return WW_OK;
        }
    if (r->string_count == limit) return ww_fail(error, WW_INTERNAL, "instruction table", "too many strings");
    r->string[r->string_count] = s;
    *index = r->string_count++;
    return WW_OK;
}

static enum ww_code copy_machine(struct recorder *r, const struct ex_kernel *k, const struct ex_func *f,
                                 uint32_t limit, struct ww_error *error) {
    for (uint32_t n = 0; n < f->src->machine_count; n++) {
        const struct ptx_machine *m = &f->src->machine[n];
        struct ww_inst *inst = &r->inst[r->entry_count];
        *inst = m->inst;
        WW_TRY(intern(r, m->mnemonic ? m->mnemonic : "", limit, &inst->mnemonic, error));
        const char *file = m->inst.file < k->module->file_count ? k->module->file[m->inst.file] : "";
        WW_TRY(intern(r, file, limit, &inst->file, error));
        r->entry[r->entry_count++] =
            (struct record_entry){.part = m->access_part,
                                  .space = inst->space,
                                  .op = inst->op,
                                  .access = (inst->flags & WW_INST_ACCESS) != 0,
                                  .only_if_taken = m->only_if_taken,
                                  .conditional = (inst->flags & WW_INST_BRANCH_COND) != 0,
                                  .offset = m->access_offset};
    }
    return WW_OK;
}

static void add_twins(struct recorder *r, const struct ex_func *f) {
    for (uint32_t k = 0; k < f->count; k++) {
        const struct ex_inst *i = &f->inst[k];
        if (i->kind != EX_MEM || i->space != PTX_S_GENERIC) continue;
        for (uint32_t n = 0; n < i->record_count; n++) {
            uint32_t at = i->record_first + n;
            if (!r->entry[at].access || r->entry[at].part != 0) continue;
            ww_recorder_add_twin(r, at, WW_SPACE_SHARED);
            ww_recorder_add_twin(r, at, WW_SPACE_LOCAL);
        }
    }
}

/* The loop that ends with the branch, in which only the branch goes elsewhere or back. */
static enum ww_code add_loop(struct recorder *r, const struct ex_func *f, uint32_t branch,
                             struct ww_error *error) {
    const struct ex_inst *end = &f->inst[branch];
    struct spin_loop loop = {.first = f->inst[end->target].record_first,
                             .last = end->record_first + end->record_count - 1};
    if (!end->record_count || loop.last - loop.first >= SPIN_LENGTH) return WW_OK;
    for (uint32_t k = end->target; k < branch; k++) {
        const struct ex_inst *i = &f->inst[k];
        bool leaves = i->kind == EX_BRA && (i->target > branch || i->target < end->target);
        if (i->kind == EX_BRX || i->kind == EX_CALL || i->kind == EX_RET || (i->kind == EX_BRA && !leaves))
            return WW_OK;
        for (uint32_t n = 0; i->guard != EX_NO_SLOT && n < i->record_count; n++)
            loop.guarded |= 1ull << (i->record_first + n - loop.first);
    }
    return ww_spin_add(r, &loop, error);
}

static enum ww_code add_loops(struct recorder *r, const struct ex_func *f, struct ww_error *error) {
    for (uint32_t k = 0; k < f->count; k++)
        if (f->inst[k].kind == EX_BRA && f->inst[k].is_back_edge && f->inst[k].target <= k)
            WW_TRY(add_loop(r, f, k, error));
    return WW_OK;
}

/* Matrix instructions in tensor memory have their shape from a register: twins, one for each. */
static const char *shape_name(struct recorder *r, const char *name, uint8_t kind, uint32_t n) {
    const char *rest = kind == PTX_T_TF32                             ? "8.F32.TF32"
                       : kind == PTX_T_E4M3 || kind == PTX_T_MXF8F6F4 ? "32.F32.E4M3"
                       : kind == PTX_T_MXF4 || kind == PTX_T_MXF4NVF4 ? "64.F32.E2M1"
                       : kind == PTX_T_S8                             ? "32.S8"
                                                                      : "16.F32";
    return ww_arena_printf(&r->arena, "%s.%ux%ux%s", name, tmem_shape_rows(n), tmem_shape_columns(n), rest);
}

static enum ww_code add_shapes(struct recorder *r, const struct ex_func *f, uint32_t limit,
                               struct ww_error *error) {
    for (uint32_t k = 0; k < f->count; k++) {
        const struct ex_inst *i = &f->inst[k];
        uint32_t at = i->record_first, end = at + i->record_count, first = r->entry_count;
        if (i->op != PTX_TCGEN05 || i->src->sub != PTX_SUB_TC_MMA) continue;
        while (at < end && r->entry[at].op != WW_OP_TENSOR) at++;
        if (at == end) continue;
        for (uint32_t n = 0; n < TMEM_SHAPES; n++) {
            const char *name = shape_name(r, r->string[r->inst[at].mnemonic], i->src->type[0], n);
            if (!name) return ww_fail_nomem(error, "instruction table");
            ww_recorder_add_twin(r, at, WW_SPACE_NONE);
            WW_TRY(intern(r, name, limit, &r->inst[first + n].mnemonic, error));
        }
        r->entry[at].shapes = first;
    }
    return WW_OK;
}

enum ww_code ww_recorder_prepare(struct recorder *r, struct ex_kernel *kernel, struct ww_error *error) {
    uint64_t count = 0, limit = 1 + kernel->module->file_count;
    for (uint32_t n = 0; n < kernel->func_count; n++)
        if (kernel->func[n]) count += 2 * kernel->func[n]->src->machine_count + count_twins(kernel->func[n]);
    limit += count;
    ww_spin_free(r);
    ww_arena_free(&r->arena);
    ww_arena_init(&r->arena, (size_t)2 << 30);
    r->entry_count = 0;
    r->entry = ww_arena_array(&r->arena, count, sizeof *r->entry);
    r->inst = ww_arena_array(&r->arena, count, sizeof *r->inst);
    r->string = ww_arena_array(&r->arena, limit, sizeof *r->string);
    if (!r->entry || !r->inst || !r->string || count > UINT32_MAX / 2)
        return ww_fail_nomem(error, "instruction table");
    r->string[0] = "";
    r->string_count = 1;
    for (uint32_t n = 0; n < kernel->func_count; n++) {
        struct ex_func *f = kernel->func[n];
        if (!f) continue;
        uint32_t base = r->entry_count;
        WW_TRY(copy_machine(r, kernel, f, (uint32_t)limit, error));
        for (uint32_t k = 0; k < f->count; k++) {
            f->inst[k].record_first = base + f->src->inst[k].lower_first;
            f->inst[k].record_count = f->src->inst[k].lower_count;
            if (f->src->inst[k].lower_first + (uint64_t)f->src->inst[k].lower_count > f->src->machine_count)
                return ww_fail(error, WW_INTERNAL, f->src->name, "lowering out of bounds");
        }
    }
    for (uint32_t n = 0; n < kernel->func_count; n++) {
        if (!kernel->func[n]) continue;
        add_twins(r, kernel->func[n]);
        WW_TRY(add_shapes(r, kernel->func[n], (uint32_t)limit, error));
    }
    for (uint32_t n = 0; n < kernel->func_count; n++)
        if (kernel->func[n]) WW_TRY(add_loops(r, kernel->func[n], error));
    return WW_OK;
}

void ww_recorder_clear(struct recorder *r) {
    ww_arena_free(&r->arena);
    ww_spin_free(r);
    memset(r, 0, sizeof *r);
}
