/* The code table of a kernel: static instructions by pc and operands, and the launch's instruction table. */
#include "text.h"
#include "../../estimator/base/hash.h"
#include <stdlib.h>
#include <string.h>

enum ww_code ww_as_code_new(const char *kernel, const char *arch, struct ww_as_code **code,
                            struct ww_error *error) {
    struct ww_as_code *c = calloc(1, sizeof *c);
    *code = c;
    if (!c) return ww_fail_nomem(error, "a code table");
    ww_arena_init(&c->arena, (size_t)1 << 30);
    c->kernel = ww_arena_strdup(&c->arena, kernel);
    c->arch = ww_arena_strdup(&c->arena, arch);
    uint32_t zero;
    if (!c->kernel || !c->arch) return ww_fail_nomem(error, "a code table");
    return ww_as_code_string(c, "", 0, &zero, error);
}

void ww_as_code_free(struct ww_as_code *c) {
    if (!c) return;
    ww_arena_free(&c->arena);
    free(c->slot);
    free(c->inst);
    free(c->string);
    free(c);
}

static uint32_t hash_of(uint32_t pc, const char *key, size_t n) {
    return (uint32_t)ww_hash_bytes(key, n, pc);
}

static struct ww_as_static **find_slot(const struct ww_as_code *c, uint32_t hash, uint32_t pc, const char *key,
                                       size_t n) {
    uint32_t i = hash & (c->slot_count - 1);
    for (struct ww_as_static *s; (s = c->slot[i]); i = (i + 1) & (c->slot_count - 1))
        if (s->hash == hash && s->pc == pc && s->key_n == n && memcmp(s->key, key, n) == 0) break;
    return &c->slot[i];
}

struct ww_as_static *ww_as_code_find(struct ww_as_code *c, uint32_t pc, const char *key, size_t n) {
    return c->slot_count ? *find_slot(c, hash_of(pc, key, n), pc, key, n) : NULL;
}

static bool make_room(struct ww_as_code *c) {
    if (2 * (c->static_count + 1) <= c->slot_count) return true;
    uint32_t count = c->slot_count ? c->slot_count * 2 : 256;
    struct ww_as_static **slot = calloc(count, sizeof(struct ww_as_static *));
    if (!slot) return false;
    for (uint32_t i = 0; i < c->slot_count; i++) {
        struct ww_as_static *s = c->slot[i];
        if (!s) continue;
        uint32_t k = s->hash & (count - 1);
        while (slot[k]) k = (k + 1) & (count - 1);
        slot[k] = s;
    }
    free(c->slot);
    c->slot = slot;
    c->slot_count = count;
    return true;
}

static enum ww_code add_static(struct ww_as_code *c, uint32_t pc, const char *key, size_t n,
                               struct ww_as_static **out, struct ww_error *error) {
    if (c->static_count >= WW_AS_STATIC_MAX)
        return ww_fail(error, WW_UNSUPPORTED, c->kernel, "more than %u static instructions", WW_AS_STATIC_MAX);
    struct ww_as_static *s = ww_arena_alloc(&c->arena, sizeof *s);
    if (!s || !make_room(c)) return ww_fail_nomem(error, "a code table");
    s->pc = pc;
    s->hash = hash_of(pc, key, n);
    s->key = ww_arena_strndup(&c->arena, key, n);
    s->key_n = (uint32_t)n;
    if (!s->key) return ww_fail_nomem(error, "a code table");
    *find_slot(c, s->hash, pc, key, n) = s;
    c->static_count++;
    *out = s;
    return WW_OK;
}

/* Takes zero registers out, and what does not fit the register file. */
static uint8_t compact(struct ww_operand *o, unsigned count) {
    uint8_t n = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t end = o[i].reg < WW_REG_PRED ? 255 : o[i].reg + 1u;
        if (o[i].reg == UINT16_MAX) continue;
        if (o[i].reg + (uint32_t)o[i].n > end) o[i].n = (uint16_t)(end - o[i].reg);
        o[n++] = o[i];
    }
    memset(o + n, 0, (count - n) * sizeof *o);
    return n;
}

enum ww_code ww_as_code_add(struct ww_as_code *c, const struct ww_inst *inst, const char *key, size_t n,
                            size_t opcode_at, size_t opcode_n, struct ww_as_static **out,
                            struct ww_error *error) {
    struct ww_as_static *s;
    WW_TRY(add_static(c, inst->pc, key, n, &s, error));
    s->opcode = s->key + opcode_at;
    s->opcode_n = (uint32_t)opcode_n;
    s->inst = *inst;
    s->row = ww_sass_find(s->opcode, opcode_n);
    s->unknown = !s->row;
    if (s->row)
        ww_sass_describe(s->row, s->opcode, opcode_n, &s->inst);
    else
        s->inst.op = WW_OP_NOP;
    s->inst.dst_count = compact(s->inst.dst, s->inst.dst_count);
    s->inst.src_count = compact(s->inst.src, s->inst.src_count);
    if (s->inst.op == WW_OP_STORE || s->inst.op == WW_OP_REDUCE) s->inst.dst_count = 0; /* no result comes */
    s->exits = s->inst.op == WW_OP_EXIT;
    *out = s;
    return ww_as_code_string(c, s->opcode, opcode_n, &s->inst.mnemonic, error);
}

enum ww_code ww_as_code_declare(struct ww_as_code *c, const struct ww_inst *inst, const char *mnemonic,
                                const char *file, const char *key, size_t n, struct ww_error *error) {
    struct ww_as_static *s;
    uint32_t index;
    bool access = (inst->flags & WW_INST_ACCESS) != 0;
    WW_TRY(add_static(c, inst->pc, key, n, &s, error));
    s->inst = *inst;
    s->declared = true;
    s->exits = inst->op == WW_OP_EXIT;
    WW_TRY(ww_as_code_string(c, mnemonic, strlen(mnemonic), &s->inst.mnemonic, error));
    WW_TRY(ww_as_code_string(c, file, strlen(file), &s->inst.file, error));
    return ww_as_code_index(c, s, inst->space, access, &index, error);
}

enum ww_code ww_as_code_index(struct ww_as_code *c, struct ww_as_static *s, unsigned space, bool with_access,
                              uint32_t *index, struct ww_error *error) {
    uint32_t *known = &s->index[space][with_access];
    if (*known) {
        *index = *known - 1;
        return WW_OK;
    }
    if (c->inst_count == c->inst_room) {
        uint32_t room = c->inst_room ? c->inst_room * 2 : 256;
        struct ww_inst *inst = realloc(c->inst, room * sizeof *inst);
        if (!inst) return ww_fail_nomem(error, "a code table");
        c->inst = inst;
        c->inst_room = room;
    }
    *index = c->inst_count;
    c->inst[c->inst_count] = s->inst;
    c->inst[c->inst_count].space = (uint8_t)space;
    if (with_access) c->inst[c->inst_count].flags |= WW_INST_ACCESS;
    *known = ++c->inst_count;
    return WW_OK;
}

enum ww_code ww_as_code_string(struct ww_as_code *c, const char *s, size_t n, uint32_t *number,
                               struct ww_error *error) {
    for (uint32_t i = 0; i < c->string_count; i++)
        if (strncmp(c->string[i], s, n) == 0 && !c->string[i][n]) {
            *number = i;
            return WW_OK;
        }
    if (c->string_count >= 8192)
        return ww_fail(error, WW_UNSUPPORTED, c->kernel, "more than 8192 different opcodes and file names");
    if (c->string_count == c->string_room) {
        uint32_t room = c->string_room ? c->string_room * 2 : 64;
        const char **string = realloc(c->string, room * sizeof *string);
        if (!string) return ww_fail_nomem(error, "a code table");
        c->string = string;
        c->string_room = room;
    }
    c->string[c->string_count] = ww_arena_strndup(&c->arena, s, n);
    if (!c->string[c->string_count]) return ww_fail_nomem(error, "a code table");
    *number = c->string_count++;
    return WW_OK;
}
