/* slice.h: a part of a GPU that stands for the whole: some of its SMs, with their share of L2 slices, crossbar
 * and DRAM channels. What one SM sees of a grid that all SMs share is then seen on the slice, with as many CTAs
 * for each of its SMs. */
#ifndef WW_SWEEP_SLICE_H
#define WW_SWEEP_SLICE_H

#include "../../base/arena.h"
#include "../../config/gpu.h"
#include "../../result/result.h"

#define WW_SLICE_SETTINGS 14

struct ww_slice {
    uint32_t sms;                       /* 0: this GPU is replayed whole */
    double part;                        /* of the GPU's SMs */
    double memory;                      /* channels of the slice over those that would be its share */
    const char *set[WW_SLICE_SETTINGS]; /* overrides that make it */
    size_t sets;
};

/* The slice of a GPU: of 3 to 12 SMs the number whose share of the channels is nearest to a whole one. GPUs of
 * fewer than 16 SMs are left whole. Errors: WW_NOMEM. */
enum ww_code ww_slice_of(const struct ww_gpu_spec *gpu, struct ww_arena *arena, struct ww_slice *slice,
                         struct ww_error *error);

/* Columns of the grid that the slice's CTAs are taken from; rows: of the grid, y and z. */
uint64_t ww_slice_columns(const uint32_t grid[3], uint64_t rows, const struct ww_slice *slice, uint64_t slots,
                          uint64_t ctas);

/* Which `ctas` of a grid, of as many at most, are replayed on a slice that holds `slots` at a time: those of
 * columns and rows in the grid's middle, in the order of their dispatch. */
enum ww_code ww_slice_block(const uint32_t grid[3], const struct ww_slice *slice, uint64_t slots, uint64_t ctas,
                            uint64_t **cta, struct ww_error *error);

/* How many CTAs a slice replays of a grid of `ctas`, `slots` of which it holds at a time: all of its share if
 * these are `waves` waves (at least 4) at most, else one less and what the last one of the share has. *left:
 * CTAs of the share that are not replayed, whole waves. */
void ww_slice_share(uint64_t ctas, double part, uint64_t slots, unsigned waves, uint64_t *replayed,
                    uint64_t *left);

/* Cycles from the dispatch of a wave of `slots` CTAs to that of the next one; the spans are in the order of
 * their dispatch. 0: there are not two waves. */
double ww_slice_wave_cycles(const struct ww_cta_span *cta, uint64_t count, uint64_t slots);

#endif
