/* pathfinder: dynamic programming over a grid, as Rodinia's benchmark of that name (S. Che et al., "Rodinia: A
 * Benchmark Suite for Heterogeneous Computing", IISWC 2009): each launch takes a pyramid of rows in shared
 * memory, with overlapping columns. Integers: compared exactly. */
#include "host.h"

enum { BLOCK = 256 }; /* of kernels/pathfinder.cu */

struct settings {
    uint32_t size, cols, rows, pyramid;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(cols, "cols", "column", 0, 4194304, 0, "columns; 0: 1000, 39000, 100000")                              \
    U32(rows, "rows", "row", 0, 1024, 0, "rows; 0: 12, 41, 101")                                               \
    U32(pyramid, "pyramid", "row", 1, 100, 20, "rows of a launch")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct grid {
    uint32_t cols, rows;
    int32_t *wall;
    uint32_t *want; /* costs of the last row */
};

static uint32_t smallest(const uint32_t *row, uint32_t c, uint32_t cols) {
    uint32_t best = row[c];
    if (c > 0 && row[c - 1] < best) best = row[c - 1];
    if (c + 1 < cols && row[c + 1] < best) best = row[c + 1];
    return best;
}

static enum ww_code make(struct ww_host *h, const struct settings *s, struct grid *g) {
    g->cols = ww_host_size(s->cols, s->size, 1000, 39000, 100000);
    g->rows = ww_host_size(s->rows, s->size, 12, 41, 101);
    size_t cells = (size_t)g->cols * g->rows;
    if (cells > 1u << 28)
        return ww_fail(h->error, WW_USAGE, h->name, "cols=%u, rows=%u: at most 2^28 cells", g->cols, g->rows);
    uint32_t *row[2];
    WW_TRY(ww_host_array(h, &g->wall, cells, sizeof *g->wall));
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_array(h, &row[i], g->cols, sizeof(uint32_t)));
    for (size_t i = 0; i < cells; i++) g->wall[i] = 1 + (int32_t)ww_rng_below(&h->rng, 9);
    for (uint32_t c = 0; c < g->cols; c++) row[0][c] = (uint32_t)g->wall[c];
    for (uint32_t r = 1; r < g->rows; r++)
        for (uint32_t c = 0; c < g->cols; c++)
            row[r & 1][c] = smallest(row[~r & 1], c, g->cols) + (uint32_t)g->wall[(size_t)r * g->cols + c];
    g->want = row[~g->rows & 1];
    return WW_OK;
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct grid g;
    uint64_t d_wall, d_cost[2];
    uint32_t *got;
    int turn = 0;
    WW_TRY(make(h, s, &g));
    WW_TRY(ww_host_upload(h, &d_wall, g.wall, (size_t)g.cols * g.rows, sizeof *g.wall));
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_upload(h, &d_cost[i], g.wall, g.cols, sizeof *g.wall));
    for (uint32_t first = 1; first < g.rows; turn ^= 1) {
        uint32_t steps = g.rows - first < s->pyramid ? g.rows - first : s->pyramid;
        const struct ww_host_shape shape = ww_host_line(ww_host_ceil(g.cols, BLOCK - 2 * steps), BLOCK);
        const struct ww_arg args[] = {WW_ARG(d_wall), WW_ARG(d_cost[turn]), WW_ARG(d_cost[!turn]),
                                      WW_ARG(g.cols), WW_ARG(first),        WW_ARG(steps)};
        WW_TRY(ww_host_launch(h, "pathfinder_steps", &shape, WW_ARGS(args)));
        first += steps;
    }
    WW_TRY(ww_host_array(h, &got, g.cols, sizeof *got));
    WW_TRY(ww_host_read(h, got, d_cost[turn], g.cols, sizeof *got));
    return ww_host_same_u32(h, "cost", got, g.want, g.cols);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("pathfinder", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_pathfinder = {
    .name = "pathfinder",
    .help = "cheapest paths through a grid: rows in shared memory with barriers, overlapping tiles",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "pathfinder",
    .run = run,
};
