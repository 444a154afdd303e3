/* Points of a space as inputs of the Gaussian process. */
#include "adaptive.h"
#include <math.h>

static double coded(const struct ww_sweep_param *p, size_t level, bool category) {
    double low = INFINITY, high = -INFINITY, v = p->level[level].value;
    if (category) return (double)level;
    for (size_t k = 0; k < p->count; k++) {
        low = fmin(low, p->level[k].value);
        high = fmax(high, p->level[k].value);
    }
    if (!(high > low)) return 0;
    return low > 0 && high >= 4 * low ? log(v / low) / log(high / low) : (v - low) / (high - low);
}

void ww_gp_inputs(const struct ww_sweep_space *space, const uint16_t *level, size_t points, size_t width,
                  double *input, bool *category) {
    size_t used = 0;
    for (size_t k = 0; k < space->param_count; k++) {
        const struct ww_sweep_param *p = &space->param[k];
        bool text = false;
        if (p->count < 2) continue;
        for (size_t l = 0; l < p->count; l++) text = text || !p->level[l].number;
        category[used] = text;
        for (size_t i = 0; i < points; i++)
            input[i * width + used] = coded(p, level[i * space->param_count + k], text);
        used++;
    }
}
