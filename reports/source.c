/* Source lines ranked by the warp-cycles that warps stalled with an instruction of theirs at the head.
 * Instructions without a source line stand for themselves, by kernel and PC. */
#include "../estimator/api/report.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "../estimator/base/locale.h"
#include "../estimator/base/err.h"
#include "parts.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

enum { MNEMONICS = 6 };

/* One line of source, or one instruction that has none. */
struct line {
    const char *file, *kernel; /* kernel: the first that has the line */
    uint32_t number, pc;       /* pc: the lowest */
    uint64_t stall_cycles;
    uint64_t requests; /* warp instructions that asked for sectors */
    struct ww_pc_row sum;
    const char *mnemonic[MNEMONICS];
    unsigned mnemonics; /* distinct ones met; those beyond MNEMONICS are not kept */
};

/* What is reported. */
struct source {
    const struct ww_result *result;
    struct line *line;
    size_t lines, shown;
    uint64_t total;              /* stall cycles of all lines */
    struct ww_launch_result all; /* of it pc_unknown: counters that some launch does not know */
};

struct entry {
    const struct ww_pc_row *row;
    const char *kernel;
};

static int order_key(const struct entry *x, const struct entry *y) {
    int known = (y->row->line > 0) - (x->row->line > 0);
    if (known) return known;
    int c = strcmp(x->row->file, y->row->file);
    if (c) return c;
    if (x->row->line > 0) return x->row->line < y->row->line ? -1 : x->row->line > y->row->line;
    c = strcmp(x->kernel, y->kernel);
    return c ? c : x->row->pc < y->row->pc ? -1 : x->row->pc > y->row->pc;
}

static int by_key(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    int c = order_key(x, y);
    if (c) return c;
    /* one fixed order within a line, so that kernel and mnemonics shown do not depend on qsort */
    c = strcmp(x->kernel, y->kernel);
    return c ? c : x->row->pc < y->row->pc ? -1 : x->row->pc > y->row->pc;
}

static int by_stall(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    if (x->stall_cycles != y->stall_cycles) return x->stall_cycles < y->stall_cycles ? 1 : -1;
    int c = strcmp(x->file, y->file);
    if (c) return c;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    c = strcmp(x->kernel, y->kernel);
    return c ? c : x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void add_mnemonic(struct line *l, const char *mnemonic) {
    for (unsigned i = 0; i < l->mnemonics && i < MNEMONICS; i++)
        if (strcmp(l->mnemonic[i], mnemonic) == 0) return;
    if (l->mnemonics < MNEMONICS) l->mnemonic[l->mnemonics] = mnemonic;
    l->mnemonics++;
}

static void add_row(struct line *l, const struct ww_pc_row *p) {
    for (int s = 0; s < WW_STATE_COUNT; s++) l->sum.stall[s] += p->stall[s];
    for (int i = 0; i < WW_INST_COUNTER_COUNT; i++) l->sum.counter[i] += p->counter[i];
    l->stall_cycles += ww_stall_cycles(p->stall);
    if (p->counter[WW_I_SECTORS]) l->requests += p->counter[WW_I_ISSUES];
    if (p->pc < l->pc) l->pc = p->pc;
    add_mnemonic(l, p->mnemonic);
}

static size_t merge(const struct entry *entry, size_t count, struct line *line) {
    size_t lines = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || order_key(&entry[i - 1], &entry[i]) != 0)
            line[lines++] = (struct line){.file = entry[i].row->file,
                                          .kernel = entry[i].kernel,
                                          .number = entry[i].row->line,
                                          .pc = entry[i].row->pc};
        add_row(&line[lines - 1], entry[i].row);
    }
    return lines;
}

/* All lines of the result, ranked. Free *out. */
static enum ww_code collect(const struct ww_result *r, struct line **out, size_t *lines,
                            struct ww_error *error) {
    size_t count = 0, n = 0;
    for (size_t i = 0; i < r->launch_count; i++) count += r->launch[i].pc_count;
    struct entry *entry = calloc(count + 1, sizeof *entry);
    for (size_t i = 0; i < r->launch_count && entry; i++)
        for (size_t p = 0; p < r->launch[i].pc_count; p++)
            entry[n++] = (struct entry){&r->launch[i].pc[p], r->launch[i].kernel};
    if (entry) qsort(entry, n, sizeof *entry, by_key);
    *lines = 0;
    for (size_t i = 0; i < n; i++) *lines += i == 0 || order_key(&entry[i - 1], &entry[i]) != 0;
    *out = calloc(*lines + 1, sizeof **out);
    if (entry && *out) merge(entry, n, *out);
    if (*out) qsort(*out, *lines, sizeof **out, by_stall);
    bool failed = !entry || !*out;
    free(entry);
    return failed ? ww_fail_nomem(error, "a source report") : WW_OK;
}

/* ---- JSON ---- */

static void write_line(struct ww_jsonw *w, const struct source *s, const struct line *l) {
    int top = ww_top_stall(l->sum.stall);
    ww_jsonw_open_flat(w, NULL, '{');
    ww_jsonw_str(w, "file", l->file);
    ww_jsonw_u64(w, "line", l->number);
    ww_jsonw_str(w, "kernel", l->kernel);
    ww_jsonw_u64(w, "pc", l->pc);
    ww_jsonw_u64(w, "stall_warp_cycles", l->stall_cycles);
    ww_part_known(w, "share", ww_ratio((double)l->stall_cycles, (double)s->total));
    ww_jsonw_str(w, "top_stall", top < 0 ? NULL : ww_state_name((enum ww_warp_state)top));
    ww_part_states(w, "warp_cycles", l->sum.stall, false);
    ww_part_inst_counters(w, l->sum.counter, s->all.pc_unknown, 0, WW_INST_COUNTER_COUNT);
    ww_jsonw_u64(w, "requests", l->requests);
    ww_jsonw_open_flat(w, "mnemonics", '[');
    for (unsigned i = 0; i < l->mnemonics && i < MNEMONICS; i++) ww_jsonw_str(w, NULL, l->mnemonic[i]);
    ww_jsonw_close(w, ']');
    ww_jsonw_close(w, '}');
}

static enum ww_code print_json(const struct source *s, FILE *out, struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "gpu", s->result->gpu);
    ww_jsonw_str(&w, "trace", s->result->trace);
    ww_jsonw_u64(&w, "stall_warp_cycles", s->total);
    ww_jsonw_u64(&w, "line_count", s->lines);
    ww_jsonw_open(&w, "lines", '[');
    for (size_t i = 0; i < s->shown; i++) write_line(&w, s, &s->line[i]);
    ww_jsonw_close(&w, ']');
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

/* ---- text ---- */

static void place_text(const struct source *s, const struct line *l, char *out, size_t size) {
    char kernel[WW_NAME_SHORT];
    if (l->number)
        snprintf(out, size, "%.300s:%u", l->file, l->number);
    else
        snprintf(out, size, "%.300s+0x%x", ww_kernel_name(s->result, l->kernel, kernel), l->pc);
}

static void mnemonics_text(const struct line *l, char *out, size_t size) {
    size_t used = 0;
    for (unsigned i = 0; i < l->mnemonics && i < MNEMONICS && used < size; i++) {
        int n = snprintf(out + used, size - used, "%s%.20s", i ? " " : "", l->mnemonic[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    if (l->mnemonics > MNEMONICS && used < size) snprintf(out + used, size - used, " ...");
}

/* NULL: the counter has no column. */
static const char *heading(const struct source *s, enum ww_inst_counter c) {
    if (s->all.pc_unknown >> c & 1) return NULL;
    if (!ww_inst_counter_has_merges(&s->all, c)) return ww_inst_counter_heading(c);
    return c == WW_I_L1_MISS ? "L1 misses and merges" : "L2 misses and merges";
}

/* Mean lanes that execute an instruction. */
static void add_lanes(struct ww_grid *g, const struct line *l) {
    char text[32];
    double issues = (double)l->sum.counter[WW_I_ISSUES];
    ww_grid_add(g, ww_plain(ww_ratio((double)l->sum.counter[WW_I_THREAD_INSTRUCTIONS], issues), 3, text));
}

/* Sectors of a warp instruction, and how few would do. */
static void add_per_request(struct ww_grid *g, const struct line *l) {
    char text[32];
    double requests = (double)l->requests;
    ww_grid_add(g, ww_plain(ww_ratio((double)l->sum.counter[WW_I_SECTORS], requests), 3, text));
    ww_grid_add(g, ww_plain(ww_ratio((double)l->sum.counter[WW_I_IDEAL_SECTORS], requests), 3, text));
}

static void add_line(struct ww_grid *g, const struct source *s, const struct line *l) {
    char place[400], mnemonics[192] = "", text[32];
    int top = ww_top_stall(l->sum.stall);
    place_text(s, l, place, sizeof place);
    mnemonics_text(l, mnemonics, sizeof mnemonics);
    ww_grid_add(g, place);
    ww_grid_add(g, ww_si((double)l->stall_cycles, "", text));
    ww_grid_add(g, ww_percent(ww_ratio((double)l->stall_cycles, (double)s->total), text));
    ww_grid_add(g, top < 0 ? "-" : ww_state_name((enum ww_warp_state)top));
    for (int i = 0; i < WW_INST_COUNTER_COUNT; i++)
        if (i == WW_I_IDEAL_SECTORS && heading(s, (enum ww_inst_counter)i))
            add_per_request(g, l);
        else if (heading(s, (enum ww_inst_counter)i)) {
            ww_grid_add(g, ww_si((double)l->sum.counter[i], "", text));
            if (i == WW_I_ISSUES) add_lanes(g, l);
        }
    ww_grid_add(g, mnemonics);
}

static void add_head(struct ww_grid *g, const struct source *s) {
    static const char *const first[] = {"line", "stall warp-cycles", "share", "top stall"};
    const char *head[sizeof first / sizeof *first + WW_INST_COUNTER_COUNT + 3];
    g->columns = sizeof first / sizeof *first;
    memcpy(head, first, sizeof first);
    for (int i = 0; i < WW_INST_COUNTER_COUNT; i++) {
        const char *one = heading(s, (enum ww_inst_counter)i);
        if (one && i == WW_I_IDEAL_SECTORS) head[g->columns++] = "a request";
        if (one) head[g->columns++] = one;
        if (one && i == WW_I_ISSUES) head[g->columns++] = "lanes";
    }
    head[g->columns++] = "instructions";
    g->left = 1u | 1u << 3 | 1u << (g->columns - 1);
    for (unsigned i = 0; i < g->columns; i++) ww_grid_add(g, head[i]);
}

/* Lines whose instructions ask for many more sectors than their lanes' bytes fill. */
static void print_warnings(const struct source *s, FILE *out) {
    struct ww_pc_row all = {0};
    for (size_t i = 0; i < s->lines; i++) all.counter[WW_I_SECTORS] += s->line[i].sum.counter[WW_I_SECTORS];
    for (size_t i = 0; i < s->shown && !(s->all.pc_unknown >> WW_I_IDEAL_SECTORS & 1); i++) {
        const struct line *l = &s->line[i];
        char place[400], clean[400], text[WW_SECTORS_TEXT];
        if (!ww_wastes_sectors(l->sum.counter, l->requests, all.counter[WW_I_SECTORS], text)) continue;
        place_text(s, l, place, sizeof place);
        ww_clean_text(place, clean, sizeof clean);
        fprintf(out, "warning: %s: %s\n", clean, text);
    }
}

static enum ww_code print_text(const struct source *s, FILE *out, struct ww_error *error) {
    if (s->lines == 0) {
        fputs("The run has no counters by instruction.\n", out);
        return ww_out_check(out, error);
    }
    struct ww_grid g = {0};
    add_head(&g, s);
    for (size_t i = 0; i < s->shown; i++) add_line(&g, s, &s->line[i]);
    fprintf(out, "Source lines by stall (%zu of %zu)\n", s->shown, s->lines);
    WW_TRY(ww_grid_print(&g, out, error));
    print_warnings(s, out);
    return ww_out_check(out, error);
}

enum ww_code ww_report_source(const struct ww_result *result, size_t most, bool json, FILE *out,
                              struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct source s = {.result = result};
    enum ww_code code = collect(result, &s.line, &s.lines, error);
    for (size_t i = 0; i < s.lines && code == WW_OK; i++) s.total += s.line[i].stall_cycles;
    for (size_t i = 0; i < result->launch_count; i++) s.all.pc_unknown |= result->launch[i].pc_unknown;
    s.shown = s.lines < most ? s.lines : most;
    if (code == WW_OK) code = json ? print_json(&s, out, error) : print_text(&s, out, error);
    free(s.line);
    return code;
}
