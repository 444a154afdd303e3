/* A slice of a GPU, and the CTAs that it replays. */
#include "slice.h"
#include "../../base/err.h"
#include <math.h>
#include <stdlib.h>

enum { SMS_LEAST = 3, SMS_MOST = 12, SMS_WHOLE = 16, WAVES_LEAST = 4 };
#define LARGER 0.004 /* what one SM more costs, in relative error of the share of channels */

static uint32_t share(uint32_t of, uint32_t sms, uint32_t all) {
    double n = round((double)of * sms / all);
    return n < 1 ? 1 : (uint32_t)n;
}

/* Of how many SMs: their channels are a whole number, nearly. */
static uint32_t pick_sms(const struct ww_gpu_spec *g) {
    uint32_t best = SMS_LEAST;
    double least = INFINITY;
    for (uint32_t n = SMS_LEAST; n <= SMS_MOST; n++) {
        double exact = (double)g->dram_channels * n / g->sm_count;
        double off = fabs(share(g->dram_channels, n, g->sm_count) / exact - 1) + LARGER * n;
        if (off < least) least = off, best = n;
    }
    return best;
}

static enum ww_code set(struct ww_slice *s, struct ww_arena *arena, const char *key, uint32_t value,
                        struct ww_error *error) {
    const char *text = ww_arena_printf(arena, "%s=%u", key, value);
    if (!text) return ww_fail_nomem(error, "a slice of a GPU");
    s->set[s->sets++] = text;
    return WW_OK;
}

/* Half of what is read is in the other half of the L2, which a slice does not have: loads from DRAM stand for
 * it. */
static enum ww_code one_partition(const struct ww_gpu_spec *g, struct ww_slice *s, struct ww_arena *arena,
                                  struct ww_error *error) {
    double far = (double)g->l2_far_latency / 2 * g->clock_dram_mhz / g->clock_l2_mhz;
    WW_TRY(set(s, arena, "l2.partitions", 1, error));
    WW_TRY(set(s, arena, "l2.far_latency", 0, error));
    return set(s, arena, "dram.latency", g->dram_latency + (uint32_t)lround(far), error);
}

enum ww_code ww_slice_of(const struct ww_gpu_spec *g, struct ww_arena *arena, struct ww_slice *s,
                         struct ww_error *error) {
    *s = (struct ww_slice){.part = 1, .memory = 1};
    if (g->sm_count < SMS_WHOLE || g->l2_slices % g->dram_channels) return WW_OK;
    s->sms = pick_sms(g);
    s->part = (double)s->sms / g->sm_count;
    uint32_t channels = share(g->dram_channels, s->sms, g->sm_count);
    uint32_t slices = g->l2_slices / g->dram_channels * channels;
    s->memory = channels / (g->dram_channels * s->part);
    WW_TRY(set(s, arena, "sm.count", s->sms, error));
    WW_TRY(set(s, arena, "dram.channels", channels, error));
    WW_TRY(set(s, arena, "l2.slices", slices, error));
    WW_TRY(set(s, arena, "l2.size_kb", g->l2_size_kb / g->l2_slices * slices, error));
    if (g->xbar_trunks) {
        uint32_t trunks = share(g->xbar_trunks, s->sms, g->sm_count);
        double bytes = (double)g->xbar_trunk_bytes * g->xbar_trunks * s->part / trunks;
        WW_TRY(set(s, arena, "xbar.trunks", trunks, error));
        WW_TRY(set(s, arena, "xbar.trunk_bytes", (uint32_t)fmax(1, round(bytes)), error));
    }
    if (g->xbar_columns) WW_TRY(set(s, arena, "xbar.columns", 0, error)); /* all ways are the mean one */
    return g->l2_partitions > 1 ? one_partition(g, s, arena, error) : WW_OK;
}

void ww_slice_share(uint64_t ctas, double part, uint64_t slots, unsigned waves, uint64_t *replayed,
                    uint64_t *left) {
    uint64_t mine = (uint64_t)ceil((double)ctas * part - 1e-9);
    *replayed = mine;
    *left = 0;
    if (waves < WAVES_LEAST) waves = WAVES_LEAST;
    if (mine <= waves * slots) return;
    *left = (mine / slots - (waves - 1)) * slots;
    *replayed = mine - *left;
}

/* As many columns of CTAs as are the slice's share of a row, so that as many rows are under way at a time as on
 * the whole GPU, and what neighbours in a column share lies as far apart for the slice's part of the L2. At
 * least as many as make the CTAs under way no higher than wide. */
uint64_t ww_slice_columns(const uint32_t grid[3], uint64_t rows, const struct ww_slice *slice, uint64_t slots,
                          uint64_t ctas) {
    uint64_t shared = (uint64_t)llround(grid[0] * slice->part);
    uint64_t square = (uint64_t)ceil(sqrt((double)slots)), least = (ctas + rows - 1) / rows;
    uint64_t wide = shared > square ? shared : square;
    if (wide < least) wide = least;
    return wide < grid[0] ? wide : grid[0];
}

enum ww_code ww_slice_block(const uint32_t grid[3], const struct ww_slice *slice, uint64_t slots, uint64_t ctas,
                            uint64_t **cta, struct ww_error *error) {
    uint64_t rows = (uint64_t)grid[1] * grid[2];
    uint64_t wide = ww_slice_columns(grid, rows, slice, slots, ctas), high = (ctas + wide - 1) / wide;
    uint64_t first = (rows - high) / 2 * grid[0] + (grid[0] - wide) / 2;
    *cta = malloc(ctas * sizeof **cta);
    if (!*cta) return ww_fail_nomem(error, "CTAs of a grid");
    for (uint64_t i = 0; i < ctas; i++) (*cta)[i] = first + i / wide * grid[0] + i % wide;
    return WW_OK;
}

/* When a wave's CTAs are dispatched on the mean; waves are counted from the last one. */
static double wave_start(const struct ww_cta_span *cta, uint64_t count, uint64_t slots, uint64_t from_last) {
    double sum = 0;
    for (uint64_t i = 0; i < slots; i++) sum += (double)cta[count - (from_last + 1) * slots + i].first_cycle;
    return sum / (double)slots;
}

/* The slope of a line through all waves but the first, which begins at once. CTAs of an SM end one after
 * another in some waves and together in others, so that two waves alone can be a fifth too near or too far. */
double ww_slice_wave_cycles(const struct ww_cta_span *cta, uint64_t count, uint64_t slots) {
    uint64_t waves = slots ? count / slots : 0;
    double x = 0, y = 0, xx = 0, xy = 0, n = 0;
    if (waves < 2) return 0;
    if (waves == 2) return wave_start(cta, count, slots, 0) - wave_start(cta, count, slots, 1);
    for (uint64_t w = 0; w + 1 < waves; w++, n++) {
        double start = wave_start(cta, count, slots, w), at = -(double)w;
        x += at, y += start, xx += at * at, xy += at * start;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}
