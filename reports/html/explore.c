/* Parts of a run's page to explore: speed of light by launch, the memory chart, instructions beside source
 * lines. */
#include "../../estimator/result/result.h"
#include "../../estimator/result/names.h"
#include "page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTION_ROWS = 300, LIGHT_ROWS = 100, EXPLORE_FROM = 4 };

void ww_html_explorer(struct ww_page *p, const char *const *first) {
    ww_html(p, "<div data-explore data-objectives=\"");
    for (size_t i = 0; first[i]; i++) {
        if (i) ww_html(p, "&#10;");
        ww_html_text(p, first[i]);
    }
    ww_html(p, "\"></div>\n");
}

/* ---- speed of light ---- */

static double share_issued(const struct ww_launch_result *l) {
    return ww_ratio((double)l->slot[WW_SLOT_ISSUED], (double)ww_sum_u64(l->slot, WW_SLOT_COUNT));
}

/* Bytes a second over what a level can move; < 0: not known. */
static double share_moved(const struct ww_level *level, double bytes_per_second) {
    return bytes_per_second > 0 && level->read_gb_s >= 0
               ? (level->read_gb_s + fmax(level->write_gb_s, 0)) * 1e9 / bytes_per_second
               : -1;
}

static void add_light(struct ww_tab *t, const struct ww_result *r, const struct ww_launch_result *l,
                      const struct ww_gpu_facts *f) {
    static const char *const names[] = {"issue", "L1", "L2", "DRAM"};
    struct ww_level level[WW_LEVELS];
    char text[16];
    ww_levels(l, level);
    const double part[] = {share_issued(l),
                           share_moved(&level[0], f->l1_bytes * f->sm_count * f->clock_mhz * 1e6),
                           share_moved(&level[1], f->l2_bytes * f->l2_slices * f->l2_mhz * 1e6), level[2].busy};
    int top = 0;
    snprintf(text, sizeof text, "%u", l->index);
    ww_tab_value(t, l->index, text);
    ww_tab_kernel(t, r, l->kernel);
    for (int i = 0; i < 4; i++) {
        ww_tab_percent(t, part[i]);
        if (part[i] > part[top]) top = i;
    }
    ww_tab_text(t, part[top] > 0.6 ? names[top] : "latency");
    ww_tab_si(t, (double)l->time_ps * 1e-12, "s");
}

void ww_html_light(struct ww_page *p, const struct ww_result *r, const struct ww_launch_result *const *order) {
    static const char *const head[] = {"launch",        "kernel",       "issue slots used",
                                       "L1 bandwidth",  "L2 bandwidth", "DRAM bus busy",
                                       "nearest limit", "time",         NULL};
    struct ww_gpu_facts facts;
    struct ww_tab t;
    ww_gpu_facts(r->gpu_json, &facts);
    ww_html(
        p,
        "<h3>Speed of light</h3>\n<p>How much of each limit a launch reaches; below 60 %% of all it waits for "
        "latencies.</p>\n");
    if (r->launch_count >= EXPLORE_FROM)
        ww_html_explorer(p, (const char *const[]){"time", "DRAM bus busy", NULL});
    ww_tab_begin(&t, p, "Speed of light by launch, the longest first", head, 1u << 1 | 1u << 6);
    for (size_t i = 0; i < r->launch_count && i < LIGHT_ROWS; i++) add_light(&t, r, order[i], &facts);
    ww_tab_end(&t);
}

/* ---- instructions ---- */

struct entry {
    const struct ww_launch_result *launch;
    struct ww_pc_row sum;
    uint64_t stall;
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
    ww_tab_si(t, (double)c->counter[WW_I_L1_MISS], "");
    ww_tab_si(t, (double)c->counter[WW_I_SHARED_CONFLICTS], "");
}

void ww_html_instructions(struct ww_page *p, const struct ww_result *r) {
    static const char *const head[] = {"address",   "kernel",         "source line", "instruction",
                                       "issues",    "stall",          "top stall",   "sectors",
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
            e[n++] = (struct entry){&r->launch[i], r->launch[i].pc[k], 0};
    n = add_up(e, n);
    for (size_t i = 0; i < n; i++) all += (double)e[i].stall;
    ww_html(p, "<details open><summary>Instructions beside their source lines: %zu</summary>\n", n);
    if (n > INSTRUCTION_ROWS)
        ww_html(p, "<p class=\"note\">The first %d of %zu instructions; report --source has all lines.</p>\n",
                INSTRUCTION_ROWS, n);
    ww_tab_begin(&t, p, "Instructions in the order of the code; stall: share of all stalled warp-cycles", head,
                 7u << 1 | 1u << 6);
    for (size_t i = 0; i < n && i < INSTRUCTION_ROWS; i++) add_instruction(&t, r, &e[i], all);
    ww_tab_end(&t);
    ww_html(p, "</details>\n");
    free(e);
}
