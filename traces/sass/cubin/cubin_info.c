/* cubin_info.c: attributes of kernels, which .nv.info sections hold.
 *
 * An attribute is a format (1 none, 2 a byte, 3 two bytes, 4 counted bytes), a number, then two bytes (the
 * value, or the count of bytes that follow). The numbers' names are those that cuobjdump prints.
 */
#include "cubin_internal.h"
#include <string.h>

#define FORMAT_COUNTED 4u
#define SECTION_NO_BITS 8u
#define STACK_UNKNOWN UINT32_MAX
#define PARAM_MAX 4096u        /* parameters of a kernel */
#define PARAM_BYTES_MAX 65536u /* of all of them */
#define LOCAL_MAX ((uint32_t)1 << 24)

enum attribute {
    MAX_THREADS = 0x05,
    PARAM_CBANK = 0x0a,
    REQNTID = 0x10,
    FRAME_SIZE = 0x11,
    MIN_STACK_SIZE = 0x12,
    KPARAM_INFO = 0x17,
    KPARAM_INFO_V2 = 0x45,
    CBANK_PARAM_SIZE = 0x19,
    EXIT_INSTR_OFFSETS = 0x1c,
    CRS_STACK_SIZE = 0x1e,
    REGCOUNT = 0x2f,
    INDIRECT_BRANCH_TARGETS = 0x34,
    CTA_PER_CLUSTER = 0x3d,
    SYSCALL_OFFSETS = 0x46,
    NUM_BARRIERS = 0x4c
};

struct entry {
    uint64_t at; /* of the attribute in the file */
    unsigned number;
    uint32_t value;         /* formats 2 and 3 */
    const unsigned char *p; /* format 4: its bytes */
    uint32_t n;
};

static enum ww_code bad(const struct ww_cubin *c, const struct entry *e, const char *what,
                        struct ww_error *error) {
    return ww_cubin_bad(c, error, WW_INPUT, e->at, "attribute 0x%02x of a kernel: expected %s", e->number,
                        what);
}

static uint32_t word(const struct entry *e, unsigned n) {
    return (uint32_t)cubin_get(e->p + 4u * n, 4);
}

/* A list of offsets in the kernel's code. */
static enum ww_code offsets(struct ww_cubin *c, const struct ww_cubin_kernel *k, const struct entry *e,
                            uint32_t **list, size_t *count, struct ww_error *error) {
    size_t n = e->n / 4;
    *list = ww_arena_array(c->arena, n, sizeof **list);
    if (!*list) return ww_fail_nomem(error, "cubin");
    for (size_t i = 0; i < n; i++) {
        (*list)[i] = word(e, (unsigned)i);
        if ((*list)[i] >= k->code_bytes) return bad(c, e, "offsets within the code", error);
    }
    *count = n;
    return WW_OK;
}

/* Branches: offset, a word that is 0, number of targets, targets. */
static enum ww_code branches(struct ww_cubin *c, struct ww_cubin_kernel *k, const struct entry *e,
                             struct ww_error *error) {
    uint32_t words = e->n / 4;
    k->branches = ww_arena_array(c->arena, words / 3 + 1, sizeof *k->branches);
    k->targets = ww_arena_array(c->arena, words + 1, sizeof *k->targets);
    if (!k->branches || !k->targets) return ww_fail_nomem(error, "cubin");
    k->branch_count = k->target_count = 0;
    for (uint32_t at = 0; at < words;) {
        if (words - at < 3 || word(e, at + 2) > words - at - 3) return bad(c, e, "targets within it", error);
        struct ww_cubin_branch b = {
            .offset = word(e, at), .first = (uint32_t)k->target_count, .count = word(e, at + 2)};
        for (uint32_t i = 0; i < b.count; i++) {
            uint32_t target = word(e, at + 3 + i);
            if (target >= k->code_bytes) return bad(c, e, "targets within the code", error);
            k->targets[k->target_count++] = target;
        }
        k->branches[k->branch_count++] = b;
        at += 3 + b.count;
    }
    return WW_OK;
}

/* One parameter: index, then ordinal and offset of two bytes each, then a word with the size from bit 18 on,
 * or, of kernels with more than 4 KiB of parameters, in its lower half. */
static enum ww_code parameter(struct ww_cubin *c, struct ww_cubin_kernel *k, const struct entry *e,
                              struct ww_error *error) {
    if (e->n < 12) return bad(c, e, "12 bytes", error);
    uint32_t ordinal = word(e, 1) & 0xffff, offset = word(e, 1) >> 16;
    uint32_t size = e->number == KPARAM_INFO ? word(e, 2) >> 18 : word(e, 2) & 0xffff;
    if (ordinal >= PARAM_MAX) return bad(c, e, "a parameter's number below 4096", error);
    if (!k->params) k->params = ww_arena_array(c->arena, PARAM_MAX, sizeof *k->params);
    if (!k->params) return ww_fail_nomem(error, "cubin");
    k->params[ordinal] = (struct ww_cubin_param){.offset = offset, .size = size};
    if (ordinal >= k->param_count) k->param_count = ordinal + 1;
    return WW_OK;
}

static enum ww_code threads(const struct ww_cubin *c, const struct entry *e, uint32_t limit[3],
                            struct ww_error *error) {
    if (e->n < 12) return bad(c, e, "12 bytes", error);
    for (unsigned i = 0; i < 3; i++) limit[i] = word(e, i);
    return WW_OK;
}

static enum ww_code of_kernel(struct ww_cubin *c, struct ww_cubin_kernel *k, const struct entry *e,
                              struct ww_error *error) {
    switch (e->number) {
    case KPARAM_INFO:
    case KPARAM_INFO_V2:
        return parameter(c, k, e, error);
    case PARAM_CBANK:
        if (e->n < 8) return bad(c, e, "8 bytes", error);
        k->param_offset = word(e, 1) & 0xffff;
        k->param_bytes = word(e, 1) >> 16;
        return WW_OK;
    case MAX_THREADS:
        return threads(c, e, k->max_threads, error);
    case CTA_PER_CLUSTER:
        return threads(c, e, k->cluster, error);
    case REQNTID:
        return threads(c, e, k->required_threads, error);
    case EXIT_INSTR_OFFSETS:
        return offsets(c, k, e, &k->exits, &k->exit_count, error);
    case SYSCALL_OFFSETS:
        return offsets(c, k, e, &k->syscalls, &k->syscall_count, error);
    case INDIRECT_BRANCH_TARGETS:
        return branches(c, k, e, error);
    case NUM_BARRIERS:
        k->barriers = e->value & 0xff;
        return WW_OK;
    case CRS_STACK_SIZE:
        if (e->n >= 4 && word(e, 0) == STACK_UNKNOWN) k->stack_unknown = true;
        return WW_OK;
    default:
        return WW_OK;
    }
}

/* Attributes of the whole file: a symbol and a number. Those of functions inside a kernel count in its own. */
static enum ww_code of_symbol(struct ww_cubin *c, const struct entry *e, struct ww_error *error) {
    if (e->number != REGCOUNT && e->number != FRAME_SIZE && e->number != MIN_STACK_SIZE) return WW_OK;
    if (e->n < 8) return bad(c, e, "8 bytes", error);
    if (word(e, 0) >= c->symbol_count) return bad(c, e, "the number of a symbol", error);
    const struct ww_cubin_symbol *y = &c->symbols[word(e, 0)];
    uint32_t value = word(e, 1);
    if (y->section == CUBIN_NONE || c->sections[y->section].kind != CUBIN_TEXT) return WW_OK;
    struct ww_cubin_kernel *k = &c->kernels[c->sections[y->section].kernel];
    if (e->number == REGCOUNT) {
        if (value > k->registers) k->registers = value;
        if (value > 255) return bad(c, e, "at most 255 registers", error);
    } else if (value == STACK_UNKNOWN) {
        k->stack_unknown = true;
    } else {
        if (value > LOCAL_MAX) return bad(c, e, "a stack of at most 16 MiB", error);
        if (value > k->local_bytes) k->local_bytes = value;
    }
    return WW_OK;
}

static enum ww_code read_section(struct ww_cubin *c, const struct ww_cubin_section *s,
                                 struct ww_cubin_kernel *k, struct ww_error *error) {
    const unsigned char *p = c->bytes + s->offset;
    for (uint64_t at = 0; at < s->size;) {
        struct entry e = {.at = s->offset + at};
        if (s->size - at < 4) return bad(c, &e, "4 bytes", error);
        e.number = p[at + 1];
        e.value = (uint32_t)cubin_get(p + at + 2, 2);
        unsigned format = p[at];
        at += 4;
        if (format == FORMAT_COUNTED) {
            e.p = p + at, e.n = e.value;
            if (e.n > s->size - at) return bad(c, &e, "its bytes within the section", error);
            at += e.n;
        }
        WW_TRY(k ? of_kernel(c, k, &e, error) : of_symbol(c, &e, error));
    }
    return WW_OK;
}

/* Parameters lie within their bytes of bank 0, which lie within the bank. */
static enum ww_code check_parameters(const struct ww_cubin *c, const struct ww_cubin_kernel *k,
                                     struct ww_error *error) {
    if (k->entry && (uint64_t)k->param_offset + k->param_bytes > WW_CUBIN_BANK_MAX)
        return ww_cubin_bad(c, error, WW_INPUT, 0, "kernel %.100s: parameters beyond the end of bank 0",
                            k->name);
    for (uint32_t i = 0; i < k->param_count; i++)
        if ((uint64_t)k->params[i].offset + k->params[i].size > k->param_bytes)
            return ww_cubin_bad(c, error, WW_INPUT, 0,
                                "kernel %.100s: parameter %u: expected it within %u bytes", k->name, i,
                                k->param_bytes);
    return WW_OK;
}

enum ww_code ww_cubin_read_info(struct ww_cubin *c, struct ww_error *error) {
    for (uint32_t i = 0; i < c->section_count; i++) {
        const struct ww_cubin_section *s = &c->sections[i];
        const char *rest;
        if (!ww_cubin_prefix(s->name, ".nv.info", &rest) || s->type == SECTION_NO_BITS) continue;
        struct ww_cubin_kernel *k = *rest == '.' ? ww_cubin_kernel_named(c, rest + 1) : NULL;
        if (*rest == 0 || k) WW_TRY(read_section(c, s, k, error));
    }
    for (size_t i = 0; i < c->kernel_count; i++) WW_TRY(check_parameters(c, &c->kernels[i], error));
    return WW_OK;
}
