/* Writing a launch: CTAs wait, become groups, and end as rows of the index. */
#include "index.h"
#include "writer.h"
#include "../../estimator/base/hash.h"
#include <stdlib.h>
#include <string.h>

void ww_wwt_forget_launch(struct ww_wwt_open_launch *l) {
    for (size_t i = 0; i < l->count; i++) ww_wwt_cta_free(&l->dict, l->cta[l->head + i]);
    ww_wwt_dictionary_free(&l->dict);
    free(l->cta);
    free(l->done);
    free(l->words.word);
    ww_buf_free(&l->rows);
    ww_arena_free(&l->arena);
    *l = (struct ww_wwt_open_launch){0};
}

static bool same_origin(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

/* Finds or adds the launch's code in the index; w->l.code is its number. The launch's own copy is read
 * back from there. */
static enum ww_code keep_code(struct ww_trace_writer *w, const struct ww_launch *launch,
                              struct ww_error *error) {
    struct ww_wwt_open_launch *l = &w->l;
    size_t at = w->codes.n;
    struct ww_launch noted = *launch;
    WW_TRY(ww_wwt_add_sources(w, &noted, error));
    ww_wwt_put_code(&w->codes, &noted);
    if (w->codes.failed) return ww_fail_nomem(error, "a launch");
    size_t n = w->codes.n - at;
    uint64_t hash = ww_hash_bytes(w->codes.p + at, n, 0);
    const unsigned char *p = (const unsigned char *)w->codes.p + at;
    struct ww_cursor c = {p, p + n, false};
    const char *why;
    if (!ww_wwt_get_code(&c, WW_WWT_VERSION_LAST, &l->arena, &l->view, &why))
        return ww_fail_nomem(error, "a launch");
    for (l->code = 0; l->code < w->code_count; l->code++) {
        const struct ww_wwt_known_code *k = &w->code[l->code];
        if (k->hash != hash || k->n != n || memcmp(w->codes.p + k->at, p, n) != 0) continue;
        if (!same_origin(k->origin, launch->code)) continue;
        w->codes.n = at;
        return WW_OK;
    }
    if (w->code_count == w->code_room) {
        size_t room = w->code_room ? w->code_room * 2 : 16;
        struct ww_wwt_known_code *code = realloc(w->code, room * sizeof *code);
        if (!code) return ww_fail_nomem(error, "a launch");
        w->code = code;
        w->code_room = room;
    }
    char *origin = launch->code ? strdup(launch->code) : NULL;
    if (launch->code && !origin) return ww_fail_nomem(error, "a launch");
    w->code[w->code_count++] = (struct ww_wwt_known_code){at, n, hash, origin};
    return WW_OK;
}

/* Enough zeroed counters for the table, however it grew. */
static bool grow_counts(struct ww_wwt_open_launch *l, uint32_t count) {
    if (count <= l->count_room) return true;
    uint32_t room = count + count / 2;
    uint64_t *warp = ww_arena_array(&l->arena, room, sizeof *warp);
    uint64_t *thread = ww_arena_array(&l->arena, room, sizeof *thread);
    if (!warp || !thread) return false;
    if (l->count_room) {
        memcpy(warp, l->inst_warp, l->count_room * sizeof *warp);
        memcpy(thread, l->inst_thread, l->count_room * sizeof *thread);
    }
    l->inst_warp = warp;
    l->inst_thread = thread;
    l->count_room = room;
    return true;
}

enum ww_code ww_trace_writer_grow(struct ww_trace_writer *w, const struct ww_launch *launch,
                                  struct ww_error *error) {
    struct ww_wwt_open_launch *l = &w->l;
    if (w->failed) return ww_fail(error, w->failed, w->path, "writing failed before");
    if (!l->open || launch->inst_count < l->view.inst_count)
        return ww_fail(error, WW_USAGE, w->path,
                       "an instruction table outside of a launch, or one that shrank");
    if (launch->inst_count > WW_WWT_INST_MAX)
        return ww_fail(error, WW_UNSUPPORTED, launch->kernel, "more than %u static instructions",
                       WW_WWT_INST_MAX);
    l->grown = true;
    l->view.inst = launch->inst;
    l->view.inst_count = launch->inst_count;
    l->waits = ww_wwt_has_waits(launch);
    l->view.string = launch->string;
    l->view.string_count = launch->string_count;
    l->view.local_bytes = launch->local_bytes;
    if (!grow_counts(l, launch->inst_count)) w->failed = ww_fail_nomem(error, "a launch");
    return w->failed;
}

/* The code of a launch whose table grew takes the place of the one that it began with. */
static enum ww_code keep_grown(struct ww_trace_writer *w, struct ww_error *error) {
    struct ww_wwt_open_launch *l = &w->l;
    struct ww_launch last = l->view;
    const char *why = ww_wwt_check_code(&last);
    if (why) return ww_fail(error, WW_INTERNAL, last.kernel, "%s", why);
    w->codes.n = l->codes_before;
    while (w->code_count > l->code_count_before) free(w->code[--w->code_count].origin);
    return keep_code(w, &last, error);
}

enum ww_code ww_trace_writer_copy(struct ww_trace_writer *w, const struct ww_trace_copy *copy,
                                  struct ww_error *error) {
    const char *why = ww_wwt_check_copy(copy);
    if (why) return ww_fail(error, WW_INTERNAL, w->path, "%s", why);
    if (!w->waiting) w->waiting = calloc(WW_WWT_COPIES_MAX, sizeof *w->waiting);
    if (!w->waiting) return ww_fail_nomem(error, "copies between launches");
    if (w->waiting_count == WW_WWT_COPIES_MAX)
        memmove(w->waiting, w->waiting + 1, --w->waiting_count * sizeof *w->waiting);
    w->waiting[w->waiting_count++] = *copy;
    return WW_OK;
}

/* The launch's own copies, then those that wait for it, become its. */
static enum ww_code take_copies(struct ww_trace_writer *w, const struct ww_launch *launch,
                                struct ww_error *error) {
    struct ww_wwt_open_launch *l = &w->l;
    uint32_t own = launch->copy_count, more = w->waiting_count;
    if (own > WW_WWT_COPIES_MAX) own = WW_WWT_COPIES_MAX;
    if (more > WW_WWT_COPIES_MAX - own) more = WW_WWT_COPIES_MAX - own;
    l->view.copy = NULL;
    l->view.copy_count = own + more;
    if (!l->view.copy_count) return WW_OK;
    struct ww_trace_copy *copy = ww_arena_array(&l->arena, l->view.copy_count, sizeof *copy);
    if (!copy) return ww_fail_nomem(error, "copies between launches");
    if (own) memcpy(copy, launch->copy + (launch->copy_count - own), own * sizeof *copy);
    if (more) memcpy(copy + own, w->waiting + (w->waiting_count - more), more * sizeof *copy);
    for (uint32_t i = 0; i < own; i++) {
        const char *why = ww_wwt_check_copy(&copy[i]);
        if (why) return ww_fail(error, WW_INTERNAL, launch->kernel, "%s", why);
    }
    w->waiting_count = 0;
    l->view.copy = copy;
    return WW_OK;
}

enum ww_code ww_trace_writer_order(struct ww_trace_writer *w, const struct ww_trace_order *order,
                                   struct ww_error *error) {
    size_t bytes = order->wait_count * sizeof *order->wait;
    uint32_t *wait = malloc(bytes + 1);
    if (!wait) return ww_fail_nomem(error, "the order of a launch");
    if (bytes) memcpy(wait, order->wait, bytes);
    free((void *)(uintptr_t)w->next_order.wait);
    w->next_order = *order;
    w->next_order.wait = wait;
    w->has_order = true;
    return WW_OK;
}

static enum ww_code take_order(struct ww_trace_writer *w, struct ww_error *error) {
    struct ww_trace_order *o = &w->l.view.order;
    if (w->has_order) *o = w->next_order;
    w->has_order = false;
    const char *why = ww_wwt_check_order(o, w->launch_count);
    if (why) return ww_fail(error, WW_INTERNAL, w->l.view.kernel, "%s", why);
    if (!o->wait_count) return WW_OK;
    uint32_t *wait = ww_arena_array(&w->l.arena, o->wait_count, sizeof *wait);
    if (!wait) return ww_fail_nomem(error, "the order of a launch");
    memcpy(wait, o->wait, o->wait_count * sizeof *wait);
    o->wait = wait;
    return WW_OK;
}

static enum ww_code start_launch(struct ww_trace_writer *w, const struct ww_launch *launch,
                                 struct ww_error *error) {
    struct ww_wwt_open_launch *l = &w->l;
    struct ww_launch shape = *launch;
    const char *why = ww_wwt_check_code(launch);
    if (why) return ww_fail(error, WW_INTERNAL, launch->kernel, "%s", why);
    why = ww_wwt_check_shape(&shape);
    if (!why) why = ww_wwt_check_cluster(&shape);
    if (why) return ww_fail(error, WW_UNSUPPORTED, launch->kernel, "%s", why);
    l->codes_before = w->codes.n;
    l->code_count_before = w->code_count;
    WW_TRY(keep_code(w, launch, error));
    shape.kernel = l->view.kernel;
    shape.arch = l->view.arch;
    shape.code = launch->code ? ww_arena_strdup(&l->arena, launch->code) : NULL;
    if (launch->code && !shape.code) return ww_fail_nomem(error, "a launch");
    shape.inst = l->view.inst;
    shape.string = l->view.string;
    l->view = shape;
    WW_TRY(take_copies(w, launch, error));
    WW_TRY(take_order(w, error));
    if (!grow_counts(l, shape.inst_count)) return ww_fail_nomem(error, "a launch");
    l->waits = ww_wwt_has_waits(&l->view);
    l->open = true;
    return WW_OK;
}

enum ww_code ww_trace_writer_launch(struct ww_trace_writer *w, const struct ww_launch *launch,
                                    struct ww_error *error) {
    if (w->failed) return ww_fail(error, w->failed, w->path, "writing failed before");
    if (w->l.open) return ww_fail(error, WW_USAGE, w->path, "a launch was started before the last one's end");
    w->failed = start_launch(w, launch, error);
    return w->failed;
}

/* Notes that the CTAs of a group are written: the sorted intervals stay merged. */
static bool note_done(struct ww_wwt_open_launch *l, uint64_t cta) {
    size_t low = 0, high = l->done_count; /* first interval that starts above cta */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (l->done[mid].first <= cta)
            low = mid + 1;
        else
            high = mid;
    }
    bool left = low > 0 && l->done[low - 1].end == cta,
         right = low < l->done_count && l->done[low].first == cta + 1;
    if (left && right) {
        l->done[low - 1].end = l->done[low].end;
        memmove(l->done + low, l->done + low + 1, (--l->done_count - low) * sizeof *l->done);
    } else if (left) {
        l->done[low - 1].end++;
    } else if (right) {
        l->done[low].first--;
    } else {
        if (l->done_count == l->done_room) {
            size_t room = l->done_room ? l->done_room * 2 : 16;
            struct ww_wwt_interval *done = realloc(l->done, room * sizeof *done);
            if (!done) return false;
            l->done = done;
            l->done_room = room;
        }
        memmove(l->done + low + 1, l->done + low, (l->done_count++ - low) * sizeof *l->done);
        l->done[low] = (struct ww_wwt_interval){cta, cta + 1};
    }
    return true;
}

static bool is_done(const struct ww_wwt_open_launch *l, uint64_t cta) {
    size_t low = 0, high = l->done_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (l->done[mid].end <= cta)
            low = mid + 1;
        else
            high = mid;
    }
    return low < l->done_count && l->done[low].first <= cta;
}

/* Writes the lowest n CTAs as a group. */
static enum ww_code flush_group(struct ww_trace_writer *w, size_t n, struct ww_error *error) {
    struct ww_wwt_open_launch *l = &w->l;
    struct ww_wwt_cta **cta = l->cta + l->head;
    struct ww_wwt_cuts cuts;
    uint32_t stored, crc;
    ww_buf_clear(&w->raw);
    WW_TRY(
        ww_wwt_encode(&l->view, w->launch_count, cta, n, &w->raw, &cuts, l->inst_warp, l->inst_thread, error));
    WW_TRY(ww_wwt_put_chunk(w, WW_WWT_CHUNK_CTAS, &w->raw, &cuts, &stored, &crc, error));
    ww_buf_varint(&l->rows, w->raw.n);
    ww_buf_varint(&l->rows, stored);
    ww_buf_u32(&l->rows, crc);
    ww_wwt_put_runs(&l->rows, cta, n, l->last_end, true);
    l->last_end = cta[n - 1]->index + 1;
    l->group_count++;
    bool ok = !l->rows.failed;
    for (size_t i = 0; i < n; i++) {
        ok = ok && note_done(l, cta[i]->index);
        l->pending_bytes -= cta[i]->bytes;
        ww_wwt_cta_free(&l->dict, cta[i]);
    }
    l->head += n;
    l->count -= n;
    if (l->next < l->last_end) l->next = l->last_end;
    l->ready = 0;
    l->ready_weight = 0;
    return ok ? WW_OK : ww_fail_nomem(error, "the index of a trace");
}

/* Moves CTAs with none missing below them into the ready part; writes groups that are full. */
static enum ww_code flush_ready(struct ww_trace_writer *w, struct ww_error *error) {
    struct ww_wwt_open_launch *l = &w->l;
    while (l->ready < l->count) {
        const struct ww_wwt_cta *c = l->cta[l->head + l->ready];
        if (c->index > l->next) break;
        if (c->index == l->next) l->next++;
        l->ready++;
        l->ready_weight += c->weight;
        if (l->ready_weight >= WW_WWT_GROUP_WEIGHT) WW_TRY(flush_group(w, l->ready, error));
    }
    return WW_OK;
}

/* Writes the lowest group of what waits, full or not. */
static enum ww_code flush_lowest(struct ww_trace_writer *w, struct ww_error *error) {
    struct ww_wwt_open_launch *l = &w->l;
    uint64_t weight = 0;
    size_t n = 0;
    while (n < l->count && weight < WW_WWT_GROUP_WEIGHT) weight += l->cta[l->head + n++]->weight;
    return flush_group(w, n, error);
}

/* First place whose CTA number is at least `cta`. */
static size_t find_place(const struct ww_wwt_open_launch *l, uint64_t cta) {
    size_t low = 0, high = l->count;
    if (high && l->cta[l->head + high - 1]->index < cta) return high;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (l->cta[l->head + mid]->index < cta)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool make_room(struct ww_wwt_open_launch *l) {
    if (l->head + l->count < l->room) return true;
    if (l->head > l->room / 2) {
        memmove(l->cta, l->cta + l->head, l->count * sizeof(struct ww_wwt_cta *));
        l->head = 0;
        return true;
    }
    size_t room = l->room ? l->room * 2 : 256;
    struct ww_wwt_cta **cta = realloc(l->cta, room * sizeof(struct ww_wwt_cta *));
    if (!cta) return false;
    l->cta = cta;
    l->room = room;
    return true;
}

static enum ww_code add_cta(struct ww_trace_writer *w, const struct ww_cta_trace *cta, size_t place,
                            struct ww_error *error) {
    struct ww_wwt_open_launch *l = &w->l;
    struct ww_wwt_cta *c;
    if (!make_room(l)) return ww_fail_nomem(error, "a CTA");
    if (l->waits && !ww_wwt_note_waits(&l->words, &l->view, cta)) return ww_fail_nomem(error, "a CTA");
    WW_TRY(ww_wwt_cta_copy(&l->dict, &l->view, cta, &c, error));
    struct ww_wwt_cta **at = l->cta + l->head + place;
    memmove(at + 1, at, (l->count - place) * sizeof(struct ww_wwt_cta *));
    *at = c;
    l->count++;
    l->pending_bytes += c->bytes;
    if (place < l->ready) { /* late, below others that wait */
        l->ready++;
        l->ready_weight += c->weight;
    }
    WW_TRY(flush_ready(w, error));
    while (l->pending_bytes > w->pending_limit && l->count) WW_TRY(flush_lowest(w, error));
    return WW_OK;
}

enum ww_code ww_trace_writer_cta(struct ww_trace_writer *w, const struct ww_cta_trace *cta,
                                 struct ww_error *error) {
    struct ww_wwt_open_launch *l = &w->l;
    if (w->failed) return ww_fail(error, w->failed, w->path, "writing failed before");
    if (!l->open) return ww_fail(error, WW_USAGE, w->path, "a CTA outside of a launch");
    if (cta->index >= l->view.cta_count)
        return ww_fail(error, WW_USAGE, l->view.kernel, "CTA %llu; the grid has %llu, numbered from 0",
                       (unsigned long long)cta->index, (unsigned long long)l->view.cta_count);
    size_t place = find_place(l, cta->index);
    if ((place < l->count && l->cta[l->head + place]->index == cta->index) || is_done(l, cta->index))
        return ww_fail(error, WW_USAGE, l->view.kernel, "CTA %llu was added twice",
                       (unsigned long long)cta->index);
    w->failed = add_cta(w, cta, place, error);
    return w->failed;
}

void ww_trace_writer_present(const struct ww_trace_writer *w, uint64_t *count, uint64_t *first_absent) {
    const struct ww_wwt_open_launch *l = &w->l;
    size_t waiting = 0;
    *count = l->count;
    *first_absent = 0;
    for (size_t i = 0; i <= l->done_count; i++) { /* what waits may fill the gaps between what is written */
        for (; waiting < l->count && l->cta[l->head + waiting]->index <= *first_absent; waiting++)
            *first_absent += l->cta[l->head + waiting]->index == *first_absent;
        if (i == l->done_count) break;
        if (l->done[i].first == *first_absent) *first_absent = l->done[i].end;
        *count += l->done[i].end - l->done[i].first;
    }
}

void ww_trace_writer_skip_to(struct ww_trace_writer *w, uint64_t cta) {
    if (w->l.next < cta) w->l.next = cta;
}

/* The launch's row of the index. */
static void put_launch(struct ww_trace_writer *w) {
    struct ww_wwt_open_launch *l = &w->l;
    const struct ww_launch *v = &l->view;
    struct ww_buf *b = &w->launches;
    ww_buf_varint(b, l->code);
    for (int i = 0; i < 3; i++) ww_buf_varint(b, v->grid[i]);
    for (int i = 0; i < 3; i++) ww_buf_varint(b, v->block[i]);
    ww_buf_varint(b, v->registers_per_thread);
    ww_buf_varint(b, v->shared_static);
    ww_buf_varint(b, v->shared_dynamic);
    ww_buf_varint(b, v->local_bytes);
    for (uint32_t i = 0; i < v->inst_count; i++) {
        ww_buf_varint(b, l->inst_warp[i]);
        if (l->inst_warp[i]) ww_buf_varint(b, 32 * l->inst_warp[i] - l->inst_thread[i]);
    }
    ww_buf_varint(b, l->group_count);
    ww_buf_append(b, l->rows.p, l->rows.n);
    ww_wwt_put_copies(&w->copies, v->copy, v->copy_count);
    ww_wwt_put_order(&w->orders, &v->order, w->launch_count);
    ww_wwt_put_cluster(&w->clusters, v->cluster, w->launch_count);
    w->launch_count++;
}

enum ww_code ww_trace_writer_end_launch(struct ww_trace_writer *w, struct ww_error *error) {
    if (w->failed) return ww_fail(error, w->failed, w->path, "writing failed before");
    if (!w->l.open) return ww_fail(error, WW_USAGE, w->path, "a launch was ended that was not started");
    while (w->l.count) {
        w->failed = flush_lowest(w, error);
        if (w->failed) return w->failed;
    }
    if (w->l.grown) w->failed = keep_grown(w, error);
    if (w->failed) return w->failed;
    const char *why = ww_wwt_put_waits(&w->waits, &w->l.words, w->launch_count);
    if (why) return w->failed = ww_fail(error, WW_UNSUPPORTED, w->l.view.kernel, "%s", why);
    put_launch(w);
    ww_wwt_forget_launch(&w->l);
    if (w->launches.failed) w->failed = ww_fail_nomem(error, "the index of a trace");
    return w->failed;
}
