/* listing.c: a run's source files, each line next to its machine code and what its instructions cost. The texts
 * are those that the trace keeps, else files of the user's whose hash is the one that the trace notes; which
 * file a line is of comes from the database, so that a name must stay below the user's folder. */
#include "../../estimator/result/result.h"
#include "../../estimator/result/names.h"
#include "page.h"
#include "../../estimator/api/trace.h"
#include "../../estimator/base/source_text.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 8, ROWS = 400, AROUND = 2, NAMED = 24, MNEMONIC = 40 };

struct row {
    uint32_t number;
    struct ww_pc_row sum;
    uint64_t stall, requests; /* requests: warp instructions that asked for sectors */
    bool ideal_known;
    const struct entry *first; /* of its instructions, by address; an instruction has one for each launch */
    size_t entries;
};

struct listing {
    const char *file;
    struct row *row; /* by number */
    size_t rows;
    uint64_t stall;
};

/* ---- what is counted ---- */

struct entry {
    const struct ww_pc_row *pc;
    bool ideal_known;
};

static int by_line(const void *a, const void *b) {
    const struct ww_pc_row *x = ((const struct entry *)a)->pc, *y = ((const struct entry *)b)->pc;
    int c = strcmp(x->file, y->file);
    if (c) return c;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static int by_stall(const void *a, const void *b) {
    const struct listing *x = a, *y = b;
    if (x->stall != y->stall) return x->stall < y->stall ? 1 : -1;
    return strcmp(x->file, y->file);
}

static void add(struct row *row, const struct entry *e) {
    const struct ww_pc_row *pc = e->pc;
    for (int k = 0; k < WW_INST_COUNTER_COUNT; k++) row->sum.counter[k] += pc->counter[k];
    for (int s = 0; s < WW_STATE_COUNT; s++) row->sum.stall[s] += pc->stall[s];
    row->stall += ww_stall_cycles(pc->stall);
    if (pc->counter[WW_I_SECTORS]) row->requests += pc->counter[WW_I_ISSUES];
    row->ideal_known = e->ideal_known && (row->entries == 0 || row->ideal_known);
    row->entries++;
}

/* Rows of one file, which begin at e[0]. Returns how many entries they are of. */
static size_t take_file(struct listing *l, const struct entry *e, size_t n, struct row *row) {
    size_t i = 0;
    *l = (struct listing){.file = e[0].pc->file, .row = row};
    for (; i < n && strcmp(e[i].pc->file, l->file) == 0; i++) {
        bool next = l->rows == 0 || row[l->rows - 1].number != e[i].pc->line;
        if (next) row[l->rows++] = (struct row){.number = e[i].pc->line, .first = &e[i]};
        add(&row[l->rows - 1], &e[i]);
    }
    for (size_t k = 0; k < l->rows; k++) l->stall += row[k].stall;
    return i;
}

static size_t collect(const struct ww_result *r, struct entry *e) {
    size_t n = 0;
    for (size_t i = 0; i < r->launch_count; i++)
        for (size_t k = 0; k < r->launch[i].pc_count; k++)
            if (r->launch[i].pc[k].line && r->launch[i].pc[k].file[0])
                e[n++] =
                    (struct entry){&r->launch[i].pc[k], !(r->launch[i].pc_unknown >> WW_I_IDEAL_SECTORS & 1)};
    qsort(e, n, sizeof *e, by_line);
    return n;
}

/* ---- the texts ---- */

static bool has_dots(const char *path) {
    for (const char *at = strstr(path, ".."); at; at = strstr(at + 1, ".."))
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == 0)) return true;
    return false;
}

/* The file under the folder, by its path or by its name alone; NULL: it is not there. */
static char *find_file(const char *folder, const char *file, char hash[WW_SOURCE_TEXT_HASH]) {
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    char path[PATH_MAX];
    char *text = NULL;
    size_t bytes;
    if (has_dots(file)) file = name;
    while (*file == '/') file++;
    int n = snprintf(path, sizeof path, "%s/%s", folder, file);
    if (n > 0 && n < (int)sizeof path && *file) text = ww_source_read(path, &bytes, hash);
    n = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!text && n > 0 && n < (int)sizeof path && *name) text = ww_source_read(path, &bytes, hash);
    return text;
}

/* The text of a file, which the caller frees, and in *note what is to be said of it. NULL: there is none. */
static char *find_text(struct ww_page *p, const struct ww_trace *trace, const char *file, const char **note) {
    struct ww_trace_source known = {0};
    char hash[WW_SOURCE_TEXT_HASH] = "";
    bool found = trace && p->find_source(trace, file, &known);
    *note = NULL;
    if (found && known.text) {
        char *copy = strdup(known.text);
        if (!copy) p->failed = true;
        *note = "The trace keeps this text.";
        return copy;
    }
    char *text = p->sources ? find_file(p->sources, file, hash) : NULL;
    if (text && found && strcmp(hash, known.hash) != 0) {
        free(text);
        *note = "The file in the folder of sources is not the one that was recorded: its hash differs.";
        return NULL;
    }
    if (!text)
        *note = p->sources
                    ? "This file is not in the folder of sources."
                    : "The trace keeps this file's hash alone: report --sources DIR shows it, trace record "
                      "--keep-source keeps it.";
    else
        *note = found ? "The hash of this file is the one that was recorded."
                      : "Not checked: the trace, or the file's hash in it, is not at hand.";
    return text;
}

/* ---- the page ---- */

/* "0080 LDG.E  61.2 %", a line for each instruction: its share of the file's stalled warp-cycles. */
static void put_machine(struct ww_tab *t, const struct listing *l, const struct row *row) {
    struct ww_buf text = {0};
    unsigned count = 0;
    for (size_t i = 0; i < row->entries;) {
        const struct ww_pc_row *pc = row->first[i].pc;
        uint64_t stall = 0;
        char part[32];
        for (; i < row->entries && row->first[i].pc->pc == pc->pc; i++)
            stall += ww_stall_cycles(row->first[i].pc->stall);
        if (count++ >= NAMED) continue;
        ww_percent(ww_ratio((double)stall, (double)l->stall), part);
        ww_buf_printf(&text, "%s%04x %-*.*s %8s", count > 1 ? "\n" : "", pc->pc, 18, MNEMONIC, pc->mnemonic,
                      part);
    }
    if (count > NAMED) ww_buf_printf(&text, "\nand %u more", count - NAMED);
    if (text.failed) t->page->failed = true;
    ww_tab_lines(t, text.failed || !text.p ? "" : text.p);
    ww_buf_free(&text);
}

static void put_line(struct ww_tab *t, const struct listing *l, const struct row *row, uint32_t number,
                     const char *text) {
    char shown[32];
    snprintf(shown, sizeof shown, "%u", number);
    ww_tab_value(t, number, shown);
    ww_tab_code(t, text);
    if (row)
        put_machine(t, l, row);
    else
        ww_tab_text(t, "");
    if (!row) {
        for (int i = 0; i < 9; i++) ww_tab_text(t, "");
        return;
    }
    int top = ww_top_stall(row->sum.stall);
    ww_tab_percent(t, ww_ratio((double)row->stall, (double)l->stall));
    ww_tab_text(t, top < 0 ? "-" : ww_state_name((enum ww_warp_state)top));
    double issues = (double)row->sum.counter[WW_I_ISSUES];
    ww_tab_si(t, issues, "");
    double lanes = ww_ratio((double)row->sum.counter[WW_I_THREAD_INSTRUCTIONS], issues);
    ww_tab_value(t, lanes >= 0 ? lanes : (double)NAN, ww_plain(lanes, 3, (char[32]){0}));
    ww_tab_si(t, (double)row->sum.counter[WW_I_SECTORS], "");
    ww_tab_per_request(t, row->sum.counter, row->requests, row->ideal_known);
    ww_tab_si(t, (double)row->sum.counter[WW_I_L1_MISS], "");
    ww_tab_si(t, (double)row->sum.counter[WW_I_SHARED_CONFLICTS], "");
}

/* True if a line lies near one that has instructions; *row: its own, or NULL. */
static bool is_near(const struct listing *l, size_t *at, uint32_t number, const struct row **row) {
    while (*at < l->rows && l->row[*at].number + AROUND < number) (*at)++;
    *row = NULL;
    if (*at == l->rows || l->row[*at].number > number + AROUND) return false;
    for (size_t i = *at; i < l->rows && l->row[i].number <= number; i++)
        if (l->row[i].number == number) *row = &l->row[i];
    return true;
}

static void put_text(struct ww_page *p, const struct listing *l, char *text) {
    static const char *const head[] = {
        "line",    "source",    "machine code", "stall",     "top stall",      "issues", "lanes",
        "sectors", "a request", "ideal",        "L1 misses", "bank conflicts", NULL};
    struct ww_tab t;
    size_t at = 0, shown = 0;
    uint32_t number = 0;
    char caption[200], *rest = text;
    const struct row *row;
    snprintf(caption, sizeof caption, "%.160s", l->file);
    ww_tab_begin(&t, p, caption, head, 1u << 1 | 1u << 2 | 1u << 4);
    for (char *line = strsep(&rest, "\n"); line && shown < ROWS; line = strsep(&rest, "\n")) {
        number++;
        if (!is_near(l, &at, number, &row)) continue;
        put_line(&t, l, row, number, line);
        shown++;
    }
    ww_tab_end(&t);
    if (shown == ROWS) ww_html(p, "<p class=\"note\">The first %d lines with instructions.</p>\n", ROWS);
}

static void put_listing(struct ww_page *p, const struct listing *l, const struct ww_trace *trace) {
    const char *note;
    char *text = find_text(p, trace, l->file, &note);
    ww_html(p, "<details open><summary>");
    ww_html_text(p, l->file);
    ww_html(p, "</summary>\n");
    if (note) ww_html(p, "<p class=\"note\">%s</p>\n", note);
    if (text) put_text(p, l, text);
    ww_html(p, "</details>\n");
    free(text);
}

/* True if there is something to show or to tell. */
static bool is_wanted(const struct ww_page *p, const struct ww_trace *trace, const struct listing *l,
                      size_t files) {
    struct ww_trace_source known;
    if (p->sources) return true;
    for (size_t i = 0; trace && i < files && i < FILES; i++)
        if (p->find_source(trace, l[i].file, &known)) return true;
    return false;
}

static bool has_lines(const struct ww_result *r) {
    for (size_t i = 0; i < r->launch_count; i++)
        for (size_t k = 0; k < r->launch[i].pc_count; k++)
            if (r->launch[i].pc[k].line) return true;
    return false;
}

static void put_no_text(struct ww_page *p, const struct ww_result *r) {
    if (has_lines(r))
        ww_html(p,
                "<p class=\"hint\">The text of the source is not at hand: report --sources DIR shows it, trace "
                "record --keep-source -- PROGRAM keeps it.</p>\n");
}

void ww_html_listing(struct ww_page *p, const struct ww_result *r, const struct ww_trace *trace) {
    size_t most = 0, files = 0, rows = 0;
    for (size_t i = 0; i < r->launch_count; i++) most += r->launch[i].pc_count;
    if (!p->sources && !trace) put_no_text(p, r);
    if ((!p->sources && !trace) || !most) return;
    struct entry *e = calloc(most, sizeof *e);
    struct row *row = calloc(most, sizeof *row);
    struct listing *l = calloc(most, sizeof *l);
    if (!e || !row || !l) p->failed = true;
    size_t n = p->failed ? 0 : collect(r, e);
    for (size_t at = 0; at < n; files++) {
        at += take_file(&l[files], e + at, n - at, row + rows);
        rows += l[files].rows;
    }
    if (files) qsort(l, files, sizeof *l, by_stall);
    if (!is_wanted(p, trace, l, files)) {
        files = 0;
        put_no_text(p, r);
    }
    if (files) {
        ww_html(p,
                "<h3>Source</h3>\n<p>Lines with instructions and %d around each; stall: share of the file's "
                "stalled "
                "warp-cycles.</p>\n",
                AROUND);
    }
    for (size_t i = 0; i < files && i < FILES; i++) put_listing(p, &l[i], trace);
    free(e);
    free(row);
    free(l);
}
