/* Parts of a run's page to explore: rows of tables as pictures, instructions next to source lines. */
#include "../../estimator/result/result.h"
#include "../../estimator/result/names.h"
#include "page.h"
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTION_ROWS = 300, WARNINGS = 5 };

void ww_html_explorer(struct ww_page *p, const char *const *first) {
    ww_html(p, "<div data-explore data-objectives=\"");
    for (size_t i = 0; first[i]; i++) {
        if (i) ww_html(p, "&#10;");
        ww_html_text(p, first[i]);
    }
    ww_html(p, "\"></div>\n");
}

/* ---- instructions ---- */

struct entry {
    const struct ww_launch_result *launch;
    struct ww_pc_row sum;
    uint64_t stall, unknown; /* unknown: counters that one of its launches does not have */
};

static int by_place(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    int c = strcmp(x->launch->kernel, y->launch->kernel);
    return c ? c : x->sum.inst < y->sum.inst ? -1 : x->sum.inst > y->sum.inst;
}

/* Instructions of the same kernel are added up over launches; returns their number. */
static size_t add_up(struct entry *e, size_t n) {
    size_t kept = 0;
    qsort(e, n, sizeof *e, by_place);
    for (size_t i = 0; i < n; i++) {
        if (kept && by_place(&e[kept - 1], &e[i]) == 0) {
            for (int k = 0; k < WW_INST_COUNTER_COUNT; k++) e[kept - 1].sum.counter[k] += e[i].sum.counter[k];
            for (int s = 0; s < WW_STATE_COUNT; s++) e[kept - 1].sum.stall[s] += e[i].sum.stall[s];
            e[kept - 1].unknown |= e[i].unknown;
        } else {
            e[kept++] = e[i];
        }
    }
    for (size_t i = 0; i < kept; i++) e[i].stall = ww_stall_cycles(e[i].sum.stall);
    return kept;
}

static void add_instruction(struct ww_tab *t, const struct ww_result *r, const struct entry *e, double all) {
    const struct ww_pc_row *c = &e->sum;
    char text[400];
    int top = ww_top_stall(c->stall);
    snprintf(text, sizeof text, "0x%04x", c->pc);
    ww_tab_value(t, c->pc, text);
    ww_tab_kernel(t, r, e->launch->kernel);
    const char *slash = strrchr(c->file, '/');
    snprintf(text, sizeof text, "%.200s:%u", slash ? slash + 1 : c->file, c->line);
    ww_tab_text(t, c->line ? text : "-");
    ww_tab_text(t, c->mnemonic);
    ww_tab_si(t, (double)c->counter[WW_I_ISSUES], "");
    ww_tab_percent(t, ww_ratio((double)e->stall, all));
    ww_tab_text(t, top < 0 ? "-" : ww_state_name((enum ww_warp_state)top));
    ww_tab_si(t, (double)c->counter[WW_I_SECTORS], "");
    ww_tab_per_request(t, c->counter, c->counter[WW_I_SECTORS] ? c->counter[WW_I_ISSUES] : 0,
                       !(e->unknown >> WW_I_IDEAL_SECTORS & 1));
    ww_tab_si(t, (double)c->counter[WW_I_L1_MISS], "");
    ww_tab_si(t, (double)c->counter[WW_I_SHARED_CONFLICTS], "");
}

/* Instructions that ask for many more sectors than their lanes' bytes fill. */
static void put_waste(struct ww_page *p, const struct entry *e, size_t n) {
    uint64_t all = 0;
    unsigned said = 0;
    char text[WW_SECTORS_TEXT];
    for (size_t i = 0; i < n; i++) all += e[i].sum.counter[WW_I_SECTORS];
    for (size_t i = 0; i < n; i++) {
        const struct ww_pc_row *c = &e[i].sum;
        const char *slash = strrchr(c->file, '/');
        if (e[i].unknown >> WW_I_IDEAL_SECTORS & 1 ||
            !ww_wastes_sectors(c->counter, c->counter[WW_I_ISSUES], all, text))
            continue;
        if (++said > WARNINGS) continue;
        ww_html(p, "<p class=\"note\">");
        ww_html_text(p, c->mnemonic);
        ww_html(p, " at 0x%04x", c->pc);
        if (c->line) ww_html(p, " (");
        if (c->line) ww_html_text(p, slash ? slash + 1 : c->file);
        if (c->line) ww_html(p, ":%u)", c->line);
        ww_html(p, ": %s.</p>\n", text);
    }
    if (said > WARNINGS)
        ww_html(p, "<p class=\"note\">The same of %u more instructions.</p>\n", said - WARNINGS);
}

void ww_html_instructions(struct ww_page *p, const struct ww_result *r) {
    static const char *const head[] = {"address",   "kernel",         "source line", "instruction", "issues",
                                       "stall",     "top stall",      "sectors",     "a request",   "ideal",
                                       "L1 misses", "bank conflicts", NULL};
    size_t n = 0, most = 0;
    double all = 0;
    struct ww_tab t;
    for (size_t i = 0; i < r->launch_count; i++) most += r->launch[i].pc_count;
    struct entry *e = most ? calloc(most, sizeof *e) : NULL;
    if (most && !e) p->failed = true;
    if (!e) return;
    for (size_t i = 0; i < r->launch_count; i++)
        for (size_t k = 0; k < r->launch[i].pc_count; k++)
            e[n++] = (struct entry){&r->launch[i], r->launch[i].pc[k], 0, r->launch[i].pc_unknown};
    n = add_up(e, n);
    for (size_t i = 0; i < n; i++) all += (double)e[i].stall;
    ww_html(p, "<details open><summary>Instructions next to their source lines: %zu</summary>\n", n);
    if (n > INSTRUCTION_ROWS)
        ww_html(p, "<p class=\"note\">The first %d of %zu instructions; report --source has all lines.</p>\n",
                INSTRUCTION_ROWS, n);
    ww_html(p, "<p>Stall: share of all stalled warp-cycles. A request: sectors that a warp instruction asks "
               "for; ideal: as "
               "few as would do if its lanes' bytes lay side by side.</p>\n");
    put_waste(p, e, n);
    ww_tab_begin(&t, p, "Instructions in the order of the code", head, 7u << 1 | 1u << 6);
    for (size_t i = 0; i < n && i < INSTRUCTION_ROWS; i++) add_instruction(&t, r, &e[i], all);
    ww_tab_end(&t);
    ww_html(p, "</details>\n");
    free(e);
}
