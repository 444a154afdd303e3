/* Reads reports/core.sass: machine code of the suite's microbenchmarks, and how they are run. */
#include "../../../../traces/sass/code/sass_decode.h"
#include "../../../../traces/sass/code/sass_print.h"
#include "../../../../traces/sass/record/module.h"
#include "core_int.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STRINGS = 256, TEXT_ROOM = 256 };
enum { WORDS = 24, MOST_INSTS = 1 << 18, MOST_GPUS = 16, MOST_KERNELS = 512, MOST_RUNS = 1024 };

struct reader {
    struct core_suite *out;
    struct ww_arena *arena;
    const char *name;
    unsigned line;
    struct core_kernel *k; /* that lines belong to */
    uint32_t repeat, from,
        path_from; /* of an open repeat: copies, its first instruction, its place in the path */
    struct ww_access access;
    bool has_access, idle; /* of the next instruction */
    struct ww_error *error;
};

static enum ww_code refuse(const struct reader *r, const char *text, const char *word) {
    char where[320];
    snprintf(where, sizeof where, "%.200s:%u", r->name, r->line);
    return ww_fail(r->error, WW_INPUT, where, "%s \"%.60s\"", text, word);
}

static enum ww_code number(const struct reader *r, const char *word, uint64_t most, uint64_t *value) {
    char *end;
    *value = strtoull(word, &end, 0);
    if (!isdigit((unsigned char)*word) || *end || *value > most) return refuse(r, "no such number:", word);
    return WW_OK;
}

/* ---- instructions ---- */

static enum ww_code make_room(struct reader *r, uint32_t more) {
    struct core_kernel *k = r->k;
    uint32_t need = k->inst_count + more;
    if (need <= k->room) return WW_OK;
    if (need > MOST_INSTS) return refuse(r, "too many instructions in", k->name);
    uint32_t room = need > 2 * k->room ? need : 2 * k->room;
    struct ww_inst *inst = ww_arena_array(r->arena, room, sizeof *inst);
    struct ww_access *access = ww_arena_array(r->arena, room, sizeof *access);
    uint32_t *mask = ww_arena_array(r->arena, room, sizeof *mask);
    uint32_t *path = ww_arena_array(r->arena, room, sizeof *path);
    if (!inst || !access || !mask || !path) return ww_fail_nomem(r->error, k->name);
    if (k->inst_count) memcpy(inst, k->inst, k->inst_count * sizeof *inst);
    if (k->inst_count) memcpy(access, k->access, k->inst_count * sizeof *access);
    if (k->inst_count) memcpy(mask, k->mask, k->inst_count * sizeof *mask);
    if (k->path_count) memcpy(path, k->path, k->path_count * sizeof *path);
    k->inst = inst;
    k->access = access;
    k->mask = mask;
    k->path = path;
    k->room = room;
    return WW_OK;
}

static void append(struct core_kernel *k, const struct ww_inst *inst, const struct ww_access *access,
                   uint32_t mask) {
    uint32_t i = k->inst_count++;
    k->inst[i] = *inst;
    k->inst[i].pc = i ? k->inst[i - 1].pc + SASS_INSN_BYTES : 0;
    k->access[i] = *access;
    k->mask[i] = mask;
    k->path[k->path_count++] = i;
}

static enum ww_code read_bits(const struct reader *r, const char *word, uint64_t raw[2]) {
    char half[17] = {0};
    if (strlen(word) != 32 || word[strspn(word, "0123456789abcdef")])
        return refuse(r, "neither a keyword nor 32 hexadecimal digits:", word);
    memcpy(half, word, 16);
    raw[1] = strtoull(half, NULL, 16);
    raw[0] = strtoull(word + 16, NULL, 16);
    return WW_OK;
}

/* The mnemonic's number in the kernel's strings. */
static enum ww_code mnemonic(struct reader *r, const struct ww_sass_insn *insn, uint32_t *number) {
    struct core_kernel *k = r->k;
    char text[TEXT_ROOM], *name = text;
    ww_sass_print(insn, text, sizeof text);
    if (*name == '@') name += strcspn(name, " ");
    name += strspn(name, " ");
    name[strcspn(name, " ")] = 0;
    for (*number = 0; *number < k->string_count; ++*number)
        if (strcmp(k->string[*number], name) == 0) return WW_OK;
    if (k->string_count == MOST_STRINGS) return refuse(r, "too many mnemonics in", k->name);
    k->string[k->string_count] = ww_arena_strdup(r->arena, name);
    return k->string[k->string_count++] ? WW_OK : ww_fail_nomem(r->error, k->name);
}

static enum ww_code instruction(struct reader *r, const char *word, bool timed) {
    struct core_kernel *k = r->k;
    struct ww_sass_insn insn;
    struct ww_inst inst;
    uint64_t raw[2];
    if (!k) return refuse(r, "an instruction before any kernel:", word);
    WW_TRY(read_bits(r, word, raw));
    WW_TRY(make_room(r, 1));
    WW_TRY(ww_sass_decode((unsigned)strtoul(k->arch + 3, NULL, 10), raw, k->inst_count * SASS_INSN_BYTES,
                          r->name, &insn, r->error));
    ww_sx_describe(&inst, &insn, 0);
    WW_TRY(mnemonic(r, &insn, &inst.mnemonic));
    if ((inst.flags & WW_INST_ACCESS) && !r->has_access && inst.op != WW_OP_BARRIER)
        return refuse(r, "an access without addresses:", word);
    if (timed && k->first == UINT32_MAX) k->first = k->inst_count;
    if (timed) k->last = k->inst_count;
    append(k, &inst, &r->access, r->idle ? 0 : UINT32_MAX);
    r->has_access = r->idle = false;
    return WW_OK;
}

static enum ww_code end_repeat(struct reader *r) {
    struct core_kernel *k = r->k;
    uint32_t n = k ? k->inst_count - r->from : 0;
    if (!k || !r->repeat || !n) return refuse(r, "nothing is repeated by", "end");
    WW_TRY(make_room(r, n * (r->repeat - 1)));
    uint32_t shift = k->inst[k->inst_count - 1].pc + SASS_INSN_BYTES - k->inst[r->from].pc;
    uint32_t path_end = k->path_count;
    for (uint32_t c = 1; c < r->repeat; c++) {
        for (uint32_t i = r->from; i < r->from + n; i++) {
            k->inst[k->inst_count] = k->inst[i];
            k->inst[k->inst_count].pc += c * shift;
            k->mask[k->inst_count] = k->mask[i];
            k->access[k->inst_count++] = k->access[i];
        }
        for (uint32_t i = r->path_from; i < path_end; i++) k->path[k->path_count++] = k->path[i] + c * n;
    }
    r->repeat = 0;
    return WW_OK;
}

/* Code that lies there moves what follows. */
static enum ww_code skip(struct reader *r, const char *word) {
    uint64_t n;
    WW_TRY(number(r, word, MOST_INSTS, &n));
    if (!r->k || !r->k->inst_count) return refuse(r, "nothing before", "skip");
    for (uint64_t i = 0; i < n; i++) {
        WW_TRY(make_room(r, 1));
        append(r->k, &(struct ww_inst){.op = WW_OP_NOP, .flags = WW_INST_CONTROL}, &(struct ww_access){0}, 0);
        r->k->path_count--;
    }
    return WW_OK;
}

/* ---- the other lines ---- */

static enum ww_code gpu(struct reader *r, char **word, int count) {
    if (count < 3 || r->out->gpu_count == MOST_GPUS) return refuse(r, "expected NAME BASE after", "gpu");
    struct core_gpu *g = &r->out->gpu[r->out->gpu_count++];
    *g = (struct core_gpu){.name = word[1], .base = word[2], .count = (uint32_t)count - 3};
    g->set = ww_arena_array(r->arena, (size_t)count, sizeof *g->set);
    if (!g->set) return ww_fail_nomem(r->error, "a GPU");
    for (int i = 3; i < count; i++) g->set[i - 3] = word[i];
    return WW_OK;
}

static enum ww_code kernel(struct reader *r, char **word, int count) {
    if (count != 3 || strncmp(word[2], "sm_", 3) != 0 || r->out->kernel_count == MOST_KERNELS)
        return refuse(r, "expected NAME sm_NN after", "kernel");
    r->k = &r->out->kernel[r->out->kernel_count++];
    *r->k = (struct core_kernel){.name = word[1], .arch = word[2], .first = UINT32_MAX, .last = UINT32_MAX};
    r->k->run = ww_arena_array(r->arena, MOST_RUNS, sizeof *r->k->run);
    r->k->string = ww_arena_array(r->arena, MOST_STRINGS, sizeof *r->k->string);
    if (!r->k->run || !r->k->string) return ww_fail_nomem(r->error, word[1]);
    r->k->string[r->k->string_count++] = "";
    return WW_OK;
}

static enum ww_code setting(struct reader *r, char *word, struct core_run *run) {
    char *value = strchr(word, '=');
    uint64_t n = 0;
    if (!value) return refuse(r, "expected KEY=VALUE:", word);
    *value++ = 0;
    if (strcmp(word, "per") == 0) {
        char *end;
        run->per = strtod(value, &end);
        return *end || !(run->per > 0) ? refuse(r, "no such number:", value) : WW_OK;
    }
    char *more = strchr(value, ':');
    if (more) *more++ = 0;
    WW_TRY(number(r, value, 1 << 16, &n));
    if (strcmp(word, "warps") == 0)
        run->warps = (uint32_t)n;
    else if (strcmp(word, "turns") == 0)
        run->turns = (uint32_t)n;
    else if (strcmp(word, "of") == 0)
        run->of = (uint32_t)n;
    else if (strcmp(word, "launch") == 0)
        run->launch = (uint32_t)n;
    else if (strcmp(word, "cluster") == 0)
        run->cluster = (uint32_t)n;
    else if (strcmp(word, "control") == 0)
        run->control = n != 0;
    else
        return refuse(r, "unknown key", word);
    if (more) WW_TRY(number(r, more, 1 << 16, &n));
    if (more) run->more = (uint32_t)n;
    return WW_OK;
}

static enum ww_code run(struct reader *r, char **word, int count) {
    struct core_kernel *k = r->k;
    if (!k || count < 3 || k->run_count == MOST_RUNS) return refuse(r, "expected ID GPU after", "run");
    struct core_run *run = &k->run[k->run_count++];
    *run = (struct core_run){.id = word[1],
                             .warps = 1,
                             .turns = 1,
                             .launch = 1,
                             .cluster = 1,
                             .per = 1,
                             .of = UINT32_MAX,
                             .control = true};
    for (uint32_t i = 0; i < r->out->gpu_count; i++)
        if (strcmp(r->out->gpu[i].name, word[2]) == 0) run->gpu = &r->out->gpu[i];
    if (!run->gpu) return refuse(r, "unknown GPU", word[2]);
    for (int i = 3; i < count; i++) WW_TRY(setting(r, word[i], run));
    if (run->of == UINT32_MAX) run->of = run->turns - 1;
    if (!run->warps || !run->turns || run->of >= run->turns || (run->more && run->more <= run->turns))
        return refuse(r, "such numbers of warps and turns cannot be measured:", run->id);
    if (!run->cluster || run->cluster > WW_CLUSTER_CTAS || (run->cluster > 1 && !run->more))
        return refuse(r, "expected a cluster of 1 to 16 CTAs, and turns=A:B:", run->id);
    if (!run->more && k->first == UINT32_MAX) return refuse(r, "no instruction is timed:", run->id);
    return WW_OK;
}

static enum ww_code repeat(struct reader *r, char **word, int count) {
    uint64_t n;
    if (!r->k || count != 2 || r->repeat) return refuse(r, "expected a number after", "repeat");
    WW_TRY(number(r, word[1], MOST_INSTS, &n));
    if (!n) return refuse(r, "no such number:", word[1]);
    r->repeat = (uint32_t)n;
    r->from = r->k->inst_count;
    r->path_from = r->k->path_count;
    return WW_OK;
}

static enum ww_code addresses(struct reader *r, char **word, int count) {
    uint64_t base, stride;
    if (count != 3) return refuse(r, "expected BASE STRIDE after", "at");
    WW_TRY(number(r, word[1], UINT64_MAX, &base));
    WW_TRY(number(r, word[2], INT32_MAX, &stride));
    r->access = (struct ww_access){base, (int32_t)stride, WW_AFFINE};
    r->has_access = true;
    return WW_OK;
}

static enum ww_code line(struct reader *r, char **word, int count) {
    if (strcmp(word[0], "gpu") == 0) return gpu(r, word, count);
    if (strcmp(word[0], "kernel") == 0) return kernel(r, word, count);
    if (strcmp(word[0], "run") == 0) return run(r, word, count);
    if (strcmp(word[0], "repeat") == 0) return repeat(r, word, count);
    if (strcmp(word[0], "end") == 0) return end_repeat(r);
    if (strcmp(word[0], "at") == 0) return addresses(r, word, count);
    if (strcmp(word[0], "skip") == 0) return skip(r, count > 1 ? word[1] : "");
    if (strcmp(word[0], "idle") == 0) {
        r->idle = true;
        return WW_OK;
    }
    if (strcmp(word[0], "turn") == 0 && r->k) {
        r->k->turn = r->k->path_count;
        return WW_OK;
    }
    bool timed = strcmp(word[0], ">") == 0;
    return instruction(r, word[timed && count > 1 ? 1 : 0], timed);
}

enum ww_code ww_core_read(const char *text, size_t size, const char *name, struct ww_arena *arena,
                          struct core_suite *out, struct ww_error *error) {
    struct reader r = {.out = out, .arena = arena, .name = name, .error = error};
    char *copy = ww_arena_alloc(arena, size + 1), *rest, *save = NULL;
    *out = (struct core_suite){.gpu = ww_arena_array(arena, MOST_GPUS, sizeof *out->gpu),
                               .kernel = ww_arena_array(arena, MOST_KERNELS, sizeof *out->kernel)};
    if (!copy || !out->gpu || !out->kernel) return ww_fail_nomem(error, name);
    memcpy(copy, text, size);
    copy[size] = 0;
    for (char *p = copy; p; p = rest) {
        char *word[WORDS];
        int count = 0;
        rest = strchr(p, '\n');
        if (rest) *rest++ = 0;
        r.line++;
        p[strcspn(p, "#")] = 0;
        for (char *w = strtok_r(p, " \t\r", &save); w && count < WORDS; w = strtok_r(NULL, " \t\r", &save))
            word[count++] = w;
        if (count) WW_TRY(line(&r, word, count));
    }
    return WW_OK;
}

/* ---- a kernel with its turns ---- */

static void add_step(const struct core_kernel *k, uint32_t inst, struct ww_step **step,
                     struct ww_access **access) {
    *(*step)++ = (struct ww_step){inst, inst < k->inst_count ? k->mask[inst] : UINT32_MAX};
    if (inst < k->inst_count && k->inst[inst].flags & WW_INST_ACCESS) *(*access)++ = k->access[inst];
}

enum ww_code ww_core_micro(const struct core_kernel *k, const struct core_run *run, uint32_t turns,
                           struct ww_micro **out, struct ww_error *error) {
    size_t steps = k->turn + (size_t)turns * (k->path_count - k->turn) + 1;
    struct ww_step *all = calloc(steps, sizeof *all), *step = all;
    struct ww_access *accesses = calloc(steps, sizeof *accesses), *access = accesses;
    struct ww_inst *inst = calloc(k->inst_count + 1u, sizeof *inst);
    enum ww_code code = all && accesses && inst ? WW_OK : ww_fail_nomem(error, k->name);
    if (code == WW_OK) {
        if (k->inst_count) memcpy(inst, k->inst, k->inst_count * sizeof *inst);
        inst[k->inst_count] =
            (struct ww_inst){.pc = k->inst_count ? k->inst[k->inst_count - 1].pc + SASS_INSN_BYTES : 0,
                             .op = WW_OP_EXIT,
                             .flags = WW_INST_CONTROL,
                             .control = {5, 0, 7, 7, 0, 0}};
        for (uint32_t i = 0; i < k->turn; i++) add_step(k, k->path[i], &step, &access);
        for (uint32_t t = 0; t < turns; t++)
            for (uint32_t i = k->turn; i < k->path_count; i++) add_step(k, k->path[i], &step, &access);
        add_step(k, k->inst_count, &step, &access);
        const struct ww_micro_program p = {.kernel = k->name,
                                           .arch = k->arch,
                                           .inst = inst,
                                           .step = all,
                                           .access = accesses,
                                           .inst_count = k->inst_count + 1,
                                           .step_count = (uint32_t)(step - all),
                                           .access_count = (uint32_t)(access - accesses),
                                           .threads = 32 * run->warps,
                                           .cluster = run->cluster,
                                           .string = k->string,
                                           .string_count = k->string_count,
                                           .first = k->first,
                                           .end = k->last == UINT32_MAX ? UINT32_MAX : k->last + 1};
        code = ww_micro_program(&p, out, error);
    }
    free(all);
    free(accesses);
    free(inst);
    return code;
}
