/* Figure 12 and the hardware of section 5.5 for suite "d2ma". */
#include "../../../api/validate.h"
#include "../../../../power/scaling.h"
#include "../../../../traces/dma.h"
#include "../../../core/sm/probe.h"
#include "d2ma_int.h"
#include <stdio.h>

enum { TRANSFERS = 256, CONTROLLERS = 8, MSHRS = 32 };

/* Cycles at which the first few transfers of the two CTAs were asked for, sent their first and last request,
 * were done. */
static enum ww_code lines(struct ww_validation *v, const char *way, const struct ww_transfer_log *log,
                          struct ww_error *error) {
    char id[64], what[128];
    for (size_t i = 0; i < log->count && i < log->capacity && i < 8; i++) {
        const struct ww_transfer *t = &log->row[i];
        const struct {
            const char *name, *what;
            uint64_t cycle;
        } at[] = {{"asked", "first instruction", t->asked},
                  {"first", "first request", t->first},
                  {"agen", "last request", t->last},
                  {"done", "data in shared memory", t->done}};
        for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
            snprintf(id, sizeof id, "d2ma-fig12-%s-%zu-%s", way, i, at[k].name);
            snprintf(what, sizeof what, "SAXPY %s, two CTAs on an SM: transfer %zu, of b%u,%u: %s", way, i,
                     (unsigned)t->cta, t->buffer, at[k].what);
            WW_TRY(ww_d2ma_inform(v, id, what, (double)at[k].cycle, "cycle", error));
        }
    }
    return WW_OK;
}

static size_t done_before(const struct ww_transfer_log *log, uint64_t cycle) {
    size_t n = 0;
    for (size_t i = 0; i < log->count && i < log->capacity; i++) n += log->row[i].done <= cycle;
    return n;
}

enum ww_code ww_d2ma_timeline(struct ww_validation *v, const char *path, struct ww_error *error) {
    static const char *const way[] = {"plain", "dma"};
    const struct ww_d2ma_kernel *k = &ww_d2ma_kernel[WW_D2MA_KERNELS];
    for (int i = 0; i < 2; i++) {
        struct ww_transfer row[TRANSFERS];
        struct ww_transfer_log log = {.row = row, .capacity = TRANSFERS};
        struct ww_d2ma_sum sum;
        const struct ww_d2ma_replay how = {
            .gpu = "gtx480-d2ma", .set = "sm.count=1", .kernel = i ? k->dma : k->plain, .log = &log};
        char id[64];
        WW_TRY(ww_d2ma_record(k, way[i], 2, path, error));
        WW_TRY(ww_d2ma_replay(path, &how, &sum, error));
        WW_TRY(lines(v, way[i], &log, error));
        snprintf(id, sizeof id, "d2ma-fig12-%s-2000", way[i]);
        WW_TRY(ww_d2ma_inform(v, id,
                              "tiles in shared memory before cycle 2000, both CTAs (plain: pairs of tiles)",
                              (double)done_before(&log, 2000), "", error));
        snprintf(id, sizeof id, "d2ma-fig12-%s-cycles", way[i]);
        WW_TRY(ww_d2ma_inform(v, id, "SAXPY, two CTAs on an SM", (double)sum.cycles, "cycle", error));
    }
    return WW_OK;
}

static enum ww_code bits(struct ww_validation *v, struct ww_error *error) {
    static const struct {
        const char *id, *what;
        double ours, paper;
        const char *unit;
    } row[] = {
        {"d2ma-bits-buffer", "bits of a buffer's entry (section 4.1)", WW_DMA_ENTRY_BITS, 173, "bit"},
        {"d2ma-bits-controller", "bits of a controller", WW_DMA_BUFFERS * WW_DMA_ENTRY_BITS, 692, "bit"},
        {"d2ma-bytes-engine", "bytes of the controllers of 8 CTAs (section 5.5)",
         CONTROLLERS * WW_DMA_BUFFERS * WW_DMA_ENTRY_BITS / 8.0, 692, "byte"},
        {"d2ma-bytes-mshr", "bytes of 16-bit shared addresses in 32 MSHRs", MSHRS * 16 / 8.0, 64, "byte"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct ww_validate_row r = {.id = row[i].id,
                                          .what = row[i].what,
                                          .ours = row[i].ours,
                                          .paper = row[i].paper,
                                          .unit = row[i].unit,
                                          .test = WW_VALIDATE_ABSOLUTE,
                                          .why = ""};
        WW_TRY(ww_validate_add(v, &r, error));
    }
    return WW_OK;
}

/* The controllers' table alone, read once a cycle, by the laws of memory structures. */
enum ww_code ww_d2ma_hardware(struct ww_validation *v, struct ww_error *error) {
    struct ww_scaling *laws = NULL;
    const struct ww_structure_shape table = {.kind = WW_STRUCTURE_RAM,
                                             .bytes = 692,
                                             .row_bytes = WW_DMA_ENTRY_BITS / 8.0,
                                             .ways = 1,
                                             .ports = 1,
                                             .node_nm = 45};
    double area = 0, leakage = 0, read = 0;
    WW_TRY(bits(v, error));
    WW_TRY(ww_scaling_load("scaling", true, &laws, error));
    area = ww_scaling_value(laws, WW_STRUCTURE_AREA, &table);
    leakage = ww_scaling_value(laws, WW_STRUCTURE_LEAKAGE, &table);
    read = ww_scaling_value(laws, WW_STRUCTURE_READ, &table);
    ww_scaling_free(laws);
    WW_TRY(ww_validate_add_number(
        v, "d2ma-hw-area", area * 1e6, WW_VALIDATE_RELATIVE, 1.0 / 3,
        "the controllers' table as a memory array; theirs is synthesised from flip-flops, "
        "and includes the control logic",
        error));
    return ww_validate_add_number(v, "d2ma-hw-power", leakage + read * 0.7, WW_VALIDATE_RELATIVE, 1.0 / 3,
                                  "the same, read in every cycle at 700 MHz; their activity is not stated",
                                  error);
}
