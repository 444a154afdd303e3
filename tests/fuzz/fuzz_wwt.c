/* Fuzzes the trace container. The first byte chooses what the rest is:
 *
 *     'f' or the magic's first byte   a whole file (the magic's byte is part of it)
 *     'i'                             the data of an index chunk, past all checksums
 *     'o'                             the columns of a CTA group of a small fixed launch, as of version 1
 *     anything else                   the same, as of the latest version
 *
 * Checksums hide the inner parsers from whole files, hence the other two.
 */
#include "../../estimator/warpwatt.h"
#include "../../estimator/base/arena.h"
#include "../../traces/wwt/reader.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY ((size_t)256 << 20)

/* Looks at every byte of what was decoded, so that a sanitizer sees a bad pointer. */
static uint64_t look(const struct ww_launch *l, const struct ww_warp_stream *warp, size_t count) {
    uint64_t sum = 0;
    for (size_t w = 0; w < count; w++) {
        uint32_t k = 0;
        for (uint32_t i = 0; i < warp[w].step_count; i++) {
            const struct ww_step *s = &warp[w].step[i];
            if (s->inst >= l->inst_count) abort();
            if (!(l->inst[s->inst].flags & WW_INST_ACCESS)) continue;
            const struct ww_access *a = &warp[w].access[k++];
            for (int n = a->list == WW_AFFINE ? 0 : __builtin_popcount(s->mask); n > 0; n--)
                sum += ww_listed(a, warp[w].pool, (uint32_t)n - 1);
        }
        if (k != warp[w].access_count) abort();
    }
    return sum;
}

static void whole_file(const uint8_t *data, size_t size) {
    struct ww_error error;
    struct ww_trace *t;
    if (ww_trace_open_memory(data, size, "fuzz.wwt", &t, &error) != WW_OK) return;
    struct ww_trace_source source;
    (void)ww_trace_verify(t, NULL, NULL, &error);
    (void)ww_trace_find_source(t, "softmax.cu", &source);
    for (size_t i = 0; i < ww_trace_launch_count(t); i++) {
        struct ww_cta_trace cta;
        if (ww_trace_load_cta(t, i, 0, &cta, &error) != WW_OK) continue;
        look(&t->index.launch[i].view, cta.warp, cta.warp_count);
        ww_trace_release_cta(t, &cta);
    }
    ww_trace_close(t);
}

static void index_data(const uint8_t *data, size_t size) {
    struct ww_cursor c = {data, data + size, false};
    struct ww_wwt_index index;
    struct ww_arena arena;
    const char *why = "";
    ww_arena_init(&arena, MEMORY);
    if (ww_wwt_index_parse(&c, WW_WWT_VERSION_LAST, size, &arena, &index, &why))
        for (size_t i = 0; i < index.launch_count; i++) (void)ww_wwt_find_run(&index.launch[i], 1);
    ww_arena_free(&arena);
}

static void group_data(const uint8_t *data, size_t size, uint32_t version) {
    static const char *const strings[] = {""};
    static const unsigned char head[] = {0, 1, 0, 3}; /* launch 0; one run: CTAs 0 to 2 */
    struct ww_inst inst[16];
    struct ww_wwt_run run = {0, 3, 0, 0};
    struct ww_wwt_group g = {.cta_count = 3, .run = &run, .run_count = 1};
    struct ww_wwt_launch l = {.view = {.block = {40, 1, 1},
                                       .warps_per_cta = 2,
                                       .inst = inst,
                                       .inst_count = 16,
                                       .string = strings,
                                       .string_count = 1}};
    struct ww_wwt_decoded *d;
    const char *why;
    size_t at;
    for (unsigned i = 0; i < 16; i++)
        inst[i] = (struct ww_inst){.width = (uint8_t)(1u << i % 5), .flags = i % 3 == 1 ? WW_INST_ACCESS : 0};
    unsigned char *raw = malloc(sizeof head + size);
    if (!raw) return;
    memcpy(raw, head, sizeof head);
    if (size) memcpy(raw + sizeof head, data, size);
    if (ww_wwt_decode(&l, 0, &g, version, raw, sizeof head + size, NULL, &d, &why, &at) == WW_OK) {
        look(&l.view, d->warp, 6);
        ww_wwt_decoded_free(d);
    }
    free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    if (data[0] == (uint8_t)WW_WWT_MAGIC[0])
        whole_file(data, size);
    else if (data[0] == 'f')
        whole_file(data + 1, size - 1);
    else if (data[0] == 'i')
        index_data(data + 1, size - 1);
    else
        group_data(data + 1, size - 1, data[0] == 'o' ? WW_WWT_VERSION : WW_WWT_VERSION_LAST);
    return 0;
}
