/* Counters per instruction in few bytes: packed.h. */
#include "packed.h"
#include <stdlib.h>
#include <string.h>

#define VALUES (WW_INST_COUNTER_COUNT + WW_STATE_COUNT)
#define MASK ((VALUES + 7) / 8)

static const char *text(const char *s) {
    return s ? s : "";
}

static bool is_same_inst(const struct ww_pc_inst *a, const struct ww_pc_row *b) {
    return a->inst == b->inst && a->pc == b->pc && a->line == b->line &&
           strcmp(a->mnemonic, text(b->mnemonic)) == 0 && strcmp(a->file, text(b->file)) == 0;
}

static bool is_same_code(const struct ww_pc_code *code, const struct ww_launch_result *l) {
    if (!code->inst || code->count != l->pc_count) return false;
    for (size_t i = 0; i < code->count; i++)
        if (!is_same_inst(&code->inst[i], &l->pc[i])) return false;
    return true;
}

/* A copy of the string, or the copy that exists already. */
static const char *copy(struct ww_arena *arena, const char *s, const char *before) {
    return before && strcmp(before, text(s)) == 0 ? before : ww_arena_strdup(arena, text(s));
}

static bool copy_code(struct ww_pc_code *code, const struct ww_launch_result *l, struct ww_arena *arena) {
    struct ww_pc_inst *inst = ww_arena_array(arena, l->pc_count, sizeof *inst);
    if (!inst) return false;
    for (size_t i = 0; i < l->pc_count; i++) {
        const struct ww_pc_row *row = &l->pc[i];
        inst[i] = (struct ww_pc_inst){row->inst, row->pc, row->line,
                                      copy(arena, row->file, i ? inst[i - 1].file : NULL),
                                      copy(arena, row->mnemonic, i ? inst[i - 1].mnemonic : NULL)};
        if (!inst[i].file || !inst[i].mnemonic) return false;
    }
    *code = (struct ww_pc_code){inst, l->pc_count};
    return true;
}

/* The launch's code, remembered or new; NULL: no memory. */
static const struct ww_pc_code *find_code(struct ww_pc_packer *p, const struct ww_launch_result *l,
                                          struct ww_arena *arena) {
    for (unsigned i = 0; i < WW_PC_CODES; i++)
        if (is_same_code(&p->code[i], l)) return &p->code[i];
    struct ww_pc_code *code = &p->code[p->next++ % WW_PC_CODES];
    return copy_code(code, l, arena) ? code : NULL;
}

static uint64_t *value(struct ww_pc_row *row, size_t i) {
    return i < WW_INST_COUNTER_COUNT ? &row->counter[i] : &row->stall[i - WW_INST_COUNTER_COUNT];
}

static void put_row(struct ww_buf *b, struct ww_pc_row *row) {
    unsigned char mask[MASK] = {0};
    for (size_t i = 0; i < VALUES; i++)
        if (*value(row, i)) mask[i / 8] |= (unsigned char)(1u << i % 8);
    ww_buf_append(b, mask, sizeof mask);
    for (size_t i = 0; i < VALUES; i++)
        if (*value(row, i)) ww_buf_varint(b, *value(row, i));
}

enum ww_code ww_pc_pack(struct ww_pc_packer *p, struct ww_launch_result *l, struct ww_arena *arena,
                        struct ww_error *error) {
    const struct ww_pc_code *code = find_code(p, l, arena);
    struct ww_pc_packed *packed = ww_arena_alloc(arena, sizeof *packed);
    ww_buf_clear(&p->bytes);
    for (size_t i = 0; i < l->pc_count; i++) put_row(&p->bytes, &l->pc[i]);
    char *bytes = p->bytes.failed ? NULL : ww_arena_strndup(arena, p->bytes.p, p->bytes.n);
    if (!code || !packed || !bytes) return ww_fail_nomem(error, "counters per instruction");
    *packed = (struct ww_pc_packed){*code, (const unsigned char *)bytes, p->bytes.n};
    l->pc_packed = packed;
    l->pc = NULL;
    l->pc_count = 0;
    return WW_OK;
}

void ww_pc_packer_free(struct ww_pc_packer *p) {
    ww_buf_free(&p->bytes);
}

struct ww_pc_row *ww_pc_unpack(const struct ww_pc_packed *packed) {
    struct ww_pc_row *rows = calloc(packed->code.count + 1, sizeof *rows);
    struct ww_cursor c = {packed->bytes, packed->bytes + packed->n, false};
    for (size_t k = 0; rows && k < packed->code.count; k++) {
        const struct ww_pc_inst *in = &packed->code.inst[k];
        unsigned char mask[MASK] = {0};
        rows[k].inst = in->inst;
        rows[k].pc = in->pc;
        rows[k].line = in->line;
        rows[k].file = in->file;
        rows[k].mnemonic = in->mnemonic;
        for (size_t i = 0; i < MASK; i++) mask[i] = ww_cursor_byte(&c);
        for (size_t i = 0; i < VALUES; i++)
            if (mask[i / 8] >> i % 8 & 1) *value(&rows[k], i) = ww_cursor_varint(&c);
    }
    return rows;
}
