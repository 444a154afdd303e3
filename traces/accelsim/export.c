/* Exporting a trace as the text that Accel-Sim reads. */
#include "../../estimator/api/trace.h"
#include "../../estimator/api/foreign.h"
#include "../../estimator/base/locale.h"
#include "output.h"
#include "text.h"
#include "../wwt/reader.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATH_ROOM 4096

/* Where windows lie that no address of a recorded trace is in: shared and local ones are written as offsets. */
#define SHARED_BASE 0x7ffe000000000000u
#define LOCAL_BASE 0x7ffe000002000000u

struct exporter {
    struct ww_trace *trace;
    const char *dir;
    struct ww_export_options options;
    struct ww_export_stats stats;
    const struct ww_launch *launch;
    struct ww_buf *key; /* of each instruction: "1 R2 LDG.E 1 R4 " */
    uint8_t *width;     /* that its lines name: 0 without addresses */
    uint32_t *next;     /* of the same chain by pc, + 1; chain: the newest */
    uint32_t *chain;
    struct ww_as_output *out;
    struct ww_buf text;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A mnemonic for instructions that have none. */
static const char *plain_name(const struct ww_inst *i) {
    static const char *const name[WW_OP_COUNT] = {
        [WW_OP_NOP] = "NOP",          [WW_OP_INT] = "IADD3",       [WW_OP_IMUL] = "IMAD",
        [WW_OP_FP32] = "FFMA",        [WW_OP_FP16] = "HFMA2",      [WW_OP_FP64] = "DFMA",
        [WW_OP_SFU] = "MUFU",         [WW_OP_CVT] = "F2I",         [WW_OP_TENSOR] = "HMMA",
        [WW_OP_SHUFFLE] = "SHFL",     [WW_OP_VOTE] = "VOTE",       [WW_OP_BRANCH] = "BRA",
        [WW_OP_EXIT] = "EXIT",        [WW_OP_BARRIER] = "BAR",     [WW_OP_WARP_SYNC] = "WARPSYNC",
        [WW_OP_FENCE] = "MEMBAR",     [WW_OP_SLEEP] = "NANOSLEEP", [WW_OP_SYSREG] = "S2R",
        [WW_OP_LOAD] = "LD",          [WW_OP_STORE] = "ST",        [WW_OP_ATOMIC] = "ATOM",
        [WW_OP_REDUCE] = "RED",       [WW_OP_TEXTURE] = "TEX",     [WW_OP_ASYNC_COPY] = "LDGSTS",
        [WW_OP_ASYNC_WAIT] = "DEPBAR"};
    return name[i->op];
}

/* Generic accesses get the name of the space that they go to, so that readers need not resolve addresses. */
static const char *spaced_name(const char *base, size_t n, unsigned space) {
    static const char *const names[][4] = {{"LD", "LDG", "LDS", "LDL"},
                                           {"ST", "STG", "STS", "STL"},
                                           {"ATOM", "ATOMG", "ATOMS", "ATOM"},
                                           {"RED", "RED", "ATOMS", "RED"}};
    unsigned k = space == WW_SPACE_GLOBAL ? 1 : space == WW_SPACE_SHARED ? 2 : space == WW_SPACE_LOCAL ? 3 : 0;
    for (size_t i = 0; k && i < 4; i++)
        if (strlen(names[i][0]) == n && memcmp(names[i][0], base, n) == 0) return names[i][k];
    return NULL;
}

static void put_opcode(struct ww_buf *b, const struct ww_inst *i, const char *mnemonic) {
    if (*mnemonic < 'A' || *mnemonic > 'Z') mnemonic = plain_name(i);
    size_t base = strcspn(mnemonic, ".");
    const char *name = spaced_name(mnemonic, base, i->space);
    if (name) {
        ww_buf_puts(b, name);
        mnemonic += base;
    }
    for (; *mnemonic && b->n < 150; mnemonic++)
        ww_buf_byte(b, *mnemonic > ' ' && *mnemonic <= '~' ? (unsigned char)*mnemonic : '_');
    if (!b->p || i->space == WW_SPACE_NONE || !i->width) return;
    static const struct ww_sass_row any = {"", WW_OP_LOAD, WW_SPACE_GLOBAL, WW_SASS_LOAD};
    if (ww_sass_width(&any, b->p, b->n) != i->width)
        ww_buf_printf(b, i->width < 4 ? ".U%u" : ".%u", i->width * 8u);
}

#define CHAINS 1024u /* power of two */

/* True if an instruction before `at` has its pc and key: their lines would be one. */
static bool is_taken(const struct exporter *e, uint32_t at) {
    const struct ww_inst *inst = e->launch->inst;
    for (uint32_t i = e->chain[(inst[at].pc >> 3) % CHAINS]; i; i = e->next[i - 1])
        if (inst[i - 1].pc == inst[at].pc && e->key[i - 1].n == e->key[at].n &&
            memcmp(e->key[i - 1].p, e->key[at].p, e->key[at].n) == 0)
            return true;
    return false;
}

static void take(struct exporter *e, uint32_t at) {
    uint32_t *chain = &e->chain[(e->launch->inst[at].pc >> 3) % CHAINS];
    e->next[at] = *chain;
    *chain = at + 1;
}

static bool is_value(const struct ww_inst *i) {
    return i->op == WW_OP_BARRIER || i->op == WW_OP_SLEEP;
}

/* The instruction's key and its declaration in the header. */
static enum ww_code declare(struct exporter *e, uint32_t at, struct ww_error *error) {
    const struct ww_inst *i = &e->launch->inst[at];
    const char *mnemonic = e->launch->string[i->mnemonic], *file = e->launch->string[i->file];
    if (i->op == WW_OP_DMA)
        return ww_fail(error, WW_UNSUPPORTED, e->launch->kernel,
                       "pc 0x%x is a bulk transfer, which Accel-Sim's traces have no place for", i->pc);
    struct ww_buf opcode = {0};
    put_opcode(&opcode, i, mnemonic);
    size_t base = opcode.n;
    ww_as_put_key(&e->key[at], i, opcode.p ? opcode.p : "NOP");
    for (unsigned k = 2; !e->key[at].failed && is_taken(e, at); k++) {
        opcode.n = base;
        ww_buf_printf(&opcode, ".WW%u", k);
        ww_buf_clear(&e->key[at]);
        ww_as_put_key(&e->key[at], i, opcode.p);
    }
    take(e, at);
    bool access = (i->flags & WW_INST_ACCESS) && !is_value(i);
    e->width[at] = access ? (i->width ? i->width : 4) : 0;
    ww_as_put_declaration(&e->text, i, opcode.p ? opcode.p : "NOP", mnemonic, file);
    ww_buf_byte(&e->text, '\n');
    bool bad = opcode.failed || e->key[at].failed;
    ww_buf_free(&opcode);
    return bad ? ww_fail_nomem(error, "an export") : WW_OK;
}

static enum ww_code flush(struct exporter *e, struct ww_error *error) {
    if (e->text.failed) return ww_fail_nomem(error, "an export");
    e->stats.text_bytes += e->text.n;
    enum ww_code code = ww_as_output_write(e->out, e->text.p, e->text.n, error);
    ww_buf_clear(&e->text);
    return code;
}

static unsigned binary_version(const char *arch) {
    return strncmp(arch, "sm_", 3) == 0 ? (unsigned)strtoul(arch + 3, NULL, 10) % 10000 : 0;
}

/* A name as one line of a header holds it. */
static void put_name(struct ww_buf *b, const char *s) {
    for (; *s; s++) ww_buf_byte(b, (unsigned char)*s < ' ' ? '_' : (unsigned char)*s);
}

/* CTAs of the launch that the trace has: slices lack some. */
static uint64_t ctas_held(const struct exporter *e, size_t number) {
    const struct ww_wwt_launch *l = &e->trace->index.launch[number];
    uint64_t n = 0;
    for (size_t r = 0; r < l->run_count; r++) n += l->run[r].count;
    return n;
}

static enum ww_code put_header(struct exporter *e, size_t number, struct ww_error *error) {
    const struct ww_launch *l = e->launch;
    struct ww_buf *b = &e->text;
    uint64_t shmem = (uint64_t)l->shared_static + l->shared_dynamic;
    if (shmem > UINT32_MAX) return ww_fail(error, WW_UNSUPPORTED, l->kernel, "4 GiB of shared memory or more");
    ww_buf_puts(b, "-kernel name = ");
    put_name(b, l->kernel);
    ww_buf_printf(b, "\n-kernel id = %zu\n-grid dim = (%u,%u,%u)\n-block dim = (%u,%u,%u)\n", number + 1,
                  l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
    ww_buf_printf(b, "-shmem = %u\n-nregs = %u\n-binary version = %u\n-cuda stream id = 0\n", (unsigned)shmem,
                  l->registers_per_thread, binary_version(l->arch));
    ww_buf_printf(b, "-shmem base_addr = 0x%016llx\n-local mem base_addr = 0x%016llx\n",
                  (unsigned long long)SHARED_BASE, (unsigned long long)LOCAL_BASE);
    ww_buf_printf(b, "-nvbit version = none\n-accelsim tracer version = %u\n", e->options.version);
    if (e->options.version >= 5) ww_buf_puts(b, "-enable lineinfo = 0\n");
    ww_buf_printf(b, "%s%u %u ", WW_AS_OUR_LAUNCH, l->shared_static, l->local_bytes);
    put_name(b, l->arch);
    ww_buf_printf(b, "\n-warpwatt ctas = %llu\n", (unsigned long long)ctas_held(e, number));
    for (uint32_t i = 0; i < l->inst_count; i++) WW_TRY(declare(e, i, error));
    ww_buf_printf(b,
                  "\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
                  "[adrrescompress?] [mem_addresses]%s\n\n",
                  e->options.version >= 5 ? " immediate" : "");
    return flush(e, error);
}

/* ---- lines ---- */

/* Hexadecimal with at least `digits` digits. */
static void put_hex(struct ww_buf *b, uint64_t v, unsigned digits) {
    char s[16];
    unsigned n = 0;
    do s[15 - n++] = "0123456789abcdef"[v & 15];
    while ((v >>= 4) || n < digits);
    ww_buf_append(b, s + 16 - n, n);
}

static void put_int(struct ww_buf *b, int64_t v) {
    char s[20];
    unsigned n = 0;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do s[19 - n++] = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0) s[19 - n++] = '-';
    ww_buf_append(b, s + 20 - n, n);
    ww_buf_byte(b, ' ');
}

/* True if the mask's lanes follow one another: what the stride form is for. */
static bool is_run(uint32_t mask) {
    uint32_t low = mask >> __builtin_ctz(mask);
    return (low & (low + 1)) == 0;
}

static void put_addresses(struct ww_buf *b, uint32_t mask, const struct ww_access *a, const uint64_t *pool) {
    unsigned first = mask ? (unsigned)__builtin_ctz(mask) : 0, i = 0;
    bool affine = a->list == WW_AFFINE;
    uint64_t address = !mask    ? 0
                       : affine ? a->base + (uint64_t)(int64_t)a->stride * first
                                : ww_listed(a, pool, 0);
    if (!mask || (affine && is_run(mask))) {
        ww_buf_append(b, "1 0x", 4);
        put_hex(b, address, 1);
        ww_buf_byte(b, ' ');
        put_int(b, mask ? a->stride : 0);
        return;
    }
    ww_buf_append(b, "2 0x", 4);
    put_hex(b, address, 1);
    ww_buf_byte(b, ' ');
    for (mask &= mask - 1; mask; mask &= mask - 1) {
        uint64_t next = affine ? a->base + (uint64_t)(int64_t)a->stride * (unsigned)__builtin_ctz(mask)
                               : ww_listed(a, pool, ++i);
        put_int(b, (int64_t)(next - address));
        address = next;
    }
}

/* One line. Version 5 ends in an immediate; a value that version 3 has no field for stands there as well. */
static void put_step(struct exporter *e, const struct ww_step *s, const struct ww_access *a,
                     const uint64_t *pool) {
    const struct ww_inst *i = &e->launch->inst[s->inst];
    struct ww_buf *b = &e->text;
    put_hex(b, i->pc, 4);
    ww_buf_byte(b, ' ');
    put_hex(b, s->mask, 8);
    ww_buf_byte(b, ' ');
    ww_buf_append(b, e->key[s->inst].p, e->key[s->inst].n);
    put_int(b, e->width[s->inst]);
    if (e->width[s->inst]) {
        struct ww_access place = ww_access_place(i, a);
        put_addresses(b, s->mask, &place, pool);
    }
    if (a && is_value(i))
        put_int(b, (int64_t)a->base);
    else if (e->options.version >= 5)
        put_int(b, is_value(i) && i->op == WW_OP_BARRIER ? i->barrier : 0);
    ww_buf_byte(b, '\n');
}

static enum ww_code put_warp(struct exporter *e, uint32_t warp, const struct ww_warp_stream *s,
                             struct ww_error *error) {
    const struct ww_access *a = s->access;
    ww_buf_printf(&e->text, "\nwarp = %u\ninsts = %u\n", warp, s->step_count);
    for (uint32_t i = 0; i < s->step_count; i++) {
        bool access = (e->launch->inst[s->step[i].inst].flags & WW_INST_ACCESS) != 0;
        put_step(e, &s->step[i], access ? a++ : NULL, s->pool);
        if (e->text.n > 65536) WW_TRY(flush(e, error));
    }
    e->stats.warp_instructions += s->step_count;
    return WW_OK;
}

static enum ww_code put_cta(struct exporter *e, const struct ww_cta_trace *cta, struct ww_error *error) {
    const uint32_t *g = e->launch->grid;
    uint64_t row = cta->index / g[0];
    ww_buf_printf(&e->text, "\n#BEGIN_TB\n\nthread block = %u,%u,%u\n", (unsigned)(cta->index % g[0]),
                  (unsigned)(row % g[1]), (unsigned)(row / g[1]));
    for (uint32_t w = 0; w < cta->warp_count; w++) WW_TRY(put_warp(e, w, &cta->warp[w], error));
    ww_buf_puts(&e->text, "\n#END_TB\n");
    e->stats.ctas++;
    return WW_OK;
}

static enum ww_code put_ctas(struct exporter *e, size_t number, struct ww_error *error) {
    const struct ww_wwt_launch *l = &e->trace->index.launch[number];
    const struct ww_export_options *o = &e->options;
    for (size_t r = 0; r < l->run_count; r++)
        for (uint64_t i = 0; i < l->run[r].count; i++) {
            struct ww_cta_trace cta;
            WW_TRY(ww_trace_load_cta(e->trace, number, l->run[r].first + i, &cta, error));
            enum ww_code code = put_cta(e, &cta, error);
            ww_trace_release_cta(e->trace, &cta);
            WW_TRY(code);
            double part = (double)number / (double)e->trace->index.launch_count;
            if (o->progress && i % 64 == 0 &&
                !o->progress(o->context, part, e->stats.warp_instructions, "warp instructions"))
                return ww_fail(error, WW_FAIL, e->dir, "stopped before the end");
        }
    return flush(e, error);
}

static enum ww_code put_launch(struct exporter *e, size_t number, const char *path, struct ww_error *error) {
    WW_TRY(ww_trace_launch(e->trace, number, &e->launch, error));
    uint32_t n = e->launch->inst_count;
    e->key = calloc((size_t)n + 1, sizeof *e->key);
    e->width = calloc((size_t)n + 1, 1);
    e->next = calloc((size_t)n + CHAINS, sizeof *e->next);
    e->chain = e->next ? e->next + n : NULL;
    enum ww_code code = e->key && e->width && e->next ? ww_as_output_open(path, e->options.xz, &e->out, error)
                                                      : ww_fail_nomem(error, "an export");
    if (code == WW_OK) code = put_header(e, number, error);
    if (code == WW_OK) code = put_ctas(e, number, error);
    code = ww_as_output_close(e->out, code, &e->stats.bytes, error);
    e->out = NULL;
    for (uint32_t i = 0; e->key && i < n; i++) ww_buf_free(&e->key[i]);
    free(e->key);
    free(e->width);
    free(e->next);
    e->stats.launches += code == WW_OK;
    return code;
}

static enum ww_code put_list(const struct ww_buf *list, const char *path, struct ww_error *error) {
    struct ww_as_output *out = NULL;
    uint64_t bytes = 0;
    if (list->failed) return ww_fail_nomem(error, "an export");
    enum ww_code code = ww_as_output_open(path, false, &out, error);
    if (code == WW_OK) code = ww_as_output_write(out, list->p, list->n, error);
    return ww_as_output_close(out, code, &bytes, error);
}

static void trace_path(const struct exporter *e, size_t number, char path[PATH_ROOM]) {
    snprintf(path, PATH_ROOM, "%s/kernel-%zu.traceg%s", e->dir, number + 1, e->options.xz ? ".xz" : "");
}

/* The list is written last: a folder with a list is complete. After an error our files are removed. */
static enum ww_code export_all(struct exporter *e, struct ww_error *error) {
    char path[PATH_ROOM], list_path[PATH_ROOM];
    struct ww_buf list = {0};
    size_t count = e->trace->index.launch_count, done = 0;
    enum ww_code code = WW_OK;
    snprintf(list_path, sizeof list_path, "%s/kernelslist.g", e->dir);
    if (access(list_path, F_OK) == 0)
        return ww_fail(error, WW_USAGE, list_path, "it is there already; expected a folder without one");
    for (; done < count && code == WW_OK; done += code == WW_OK) {
        trace_path(e, done, path);
        ww_buf_printf(&list, "%s\n", strrchr(path, '/') + 1);
        code = put_launch(e, done, path, error);
    }
    if (code == WW_OK) code = put_list(&list, list_path, error);
    for (size_t i = 0; code != WW_OK && i < done; i++) {
        trace_path(e, i, path);
        unlink(path);
    }
    ww_buf_free(&list);
    return code;
}

enum ww_code ww_export_accelsim(struct ww_trace *trace, const char *dir,
                                const struct ww_export_options *options, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct exporter e = {.trace = trace, .dir = dir};
    double start = now();
    if (options) e.options = *options;
    if (!e.options.version) e.options.version = 5;
    if (e.options.version != 3 && e.options.version != 5)
        return ww_fail(error, WW_USAGE, "the format", "version %u; expected 3 or 5", e.options.version);
    if (!*dir)
        return ww_fail(error, WW_USAGE, "the output folder", "the name is empty; expected a folder's name");
    if (strlen(dir) > PATH_ROOM - 64)
        return ww_fail(error, WW_USAGE, "the output folder", "the folder's name is too long");
    bool made = mkdir(dir, 0777) == 0;
    if (!made && errno != EEXIST) return ww_fail(error, WW_IO, dir, "cannot create: %s", strerror(errno));
    enum ww_code code = export_all(&e, error);
    if (code != WW_OK && made) rmdir(dir);
    ww_buf_free(&e.text);
    e.stats.host_seconds = now() - start;
    if (e.options.stats) *e.options.stats = e.stats;
    return code;
}
