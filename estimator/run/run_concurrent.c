/* run_concurrent.c: which launches of a trace can run concurrently, and what a run keeps of them. */
#include "../core/launch/concurrent.h"
#include "../core/launch/ctalog.h"
#include "run_int.h"

#include <string.h>

#define WORDS (WW_CONCURRENT_MOST / 64)

/* Launches of a group that are behind a launch: it waits for them, or for others that do. */
struct known {
    uint64_t word[WORDS];
};

static void learn(struct known *to, const struct known *of, size_t i) {
    for (size_t k = 0; k < WORDS; k++) to->word[k] |= of[i].word[k];
    to->word[i / 64] |= 1ull << i % 64;
}

static size_t number_of(const struct known *k) {
    size_t n = 0;
    for (size_t i = 0; i < WORDS; i++) n += (size_t)__builtin_popcountll(k->word[i]);
    return n;
}

/* Launches that exclude others: engines of bulk transfers serve one launch at a time, clusters are placed
 * alone, and writes that are waited for are counted for one launch. */
static bool stays_alone(const struct ww_launch *l) {
    if (l->wait_words || l->cluster[0]) return true;
    for (uint32_t i = 0; i < l->inst_count; i++)
        if (l->inst[i].op == WW_OP_DMA) return true;
    return false;
}

/* Instructions of both are obeyed in the same way: the compiler's control fields are known of both, or of none.
 */
static bool alike(const struct ww_launch *a, const struct ww_launch *b) {
    uint32_t of_a = a->inst_count ? a->inst[0].flags : 0, of_b = b->inst_count ? b->inst[0].flags : 0;
    bool arch = a->arch && b->arch ? strcmp(a->arch, b->arch) == 0 : a->arch == b->arch;
    return arch && !((of_a ^ of_b) & WW_INST_CONTROL);
}

enum ww_code ww_run_group(struct ww_trace *trace, size_t first, size_t last, size_t *count,
                          struct ww_error *error) {
    struct known known[WW_CONCURRENT_MOST] = {0};
    uint32_t stream[WW_CONCURRENT_MOST];
    const struct ww_launch *head = NULL;
    size_t n = 0, insts = 0;
    *count = 1;
    for (; first + n <= last && n < WW_CONCURRENT_MOST; n++) {
        const struct ww_launch *l;
        WW_TRY(ww_trace_launch(trace, first + n, &l, error));
        stream[n] = l->order.stream;
        insts += l->inst_count;
        if (n == 0) head = l;
        for (size_t k = n; k-- > 0;)
            if (stream[k] == stream[n]) {
                learn(&known[n], known, k);
                break;
            }
        for (uint32_t w = 0; w < l->order.wait_count; w++)
            if (l->order.wait[w] >= first && l->order.wait[w] < first + n)
                learn(&known[n], known, l->order.wait[w] - first);
        if (!n && stays_alone(l)) return WW_OK;
        if (n &&
            (number_of(&known[n]) == n || stays_alone(l) || !alike(head, l) || insts > WW_CONCURRENT_INSTS))
            break;
    }
    *count = n;
    return WW_OK;
}

enum ww_code ww_run_timeline_concurrent(struct run *r, struct ww_cta_log *log, struct ww_launch_result *l,
                                        size_t count, struct ww_error *error) {
    const uint64_t mask = (1ull << WW_LOG_SHIFT) - 1;
    if (!r->options->timeline) return WW_OK;
    for (size_t i = 0; i < count; i++) {
        l[i].cta = ww_arena_array(r->arena, log->count + 1, sizeof *l[i].cta);
        if (!l[i].cta) return ww_fail_nomem(error, "the CTAs of a timeline");
    }
    for (size_t k = 0; k < log->count; k++) {
        size_t i = (size_t)(log->row[k].cta >> WW_LOG_SHIFT);
        struct ww_cta_span *to = &l[i].cta[l[i].cta_count++];
        *to = log->row[k];
        to->cta &= mask;
    }
    log->most -= log->count;
    log->count = 0;
    return WW_OK;
}

enum ww_code ww_run_tell_serial(struct run *r, struct ww_error *error) {
    size_t count = 1;
    if (r->result->warning || r->options->serialize || r->options->gpu->spec.launch_resident_grids < 2)
        return WW_OK;
    for (size_t i = 0; i < r->launches.count && count == 1; i++)
        for (uint64_t k = r->launches.range[i].first; k <= r->launches.range[i].last && count == 1; k++)
            WW_TRY(ww_run_group(r->trace, k, r->launches.range[i].last, &count, error));
    if (count > 1)
        r->result->warning =
            "launches of several streams are estimated as one after the other; --mode full replays "
            "them side by side";
    return WW_OK;
}
