/* model_part.h: functions shared by the files of the model. */
#ifndef WW_FAST_MODEL_PART_H
#define WW_FAST_MODEL_PART_H

#include "model.h"

/* Memory traffic of a launch, in sectors of 32 bytes unless it says lines. */
struct ww_model_traffic {
    double l1_reads, l1_hits, l1_misses; /* of loads that look in the L1 */
    double l1_lines, miss_lines;         /* look-ups of lines, and lines that miss */
    double more_lines;                   /* look-ups beyond one for 128 bytes */
    double past_sectors, past_lines;     /* loads that go past the L1 */
    double l2_reads, l2_writes, l2_hits, l2_write_misses;
    double dram_reads, dram_writes;
    double miss_l1, miss_l2; /* of waits for loads: shares that the L1, and the L2, does not serve */
    double packets_up, packets_down, flits_up, flits_down;
};
/* CTAs that run at the same time. */
struct ww_model_ctas {
    uint32_t resident, shared_bytes; /* of an SM; of each */
    double active, sms; /* active: of those of an SM, how many go on at a time; SMs that have CTAs */
};
void ww_model_traffic(const struct ww_model_kernel *kernel, const struct ww_gpu_spec *gpu,
                      const struct ww_model_constants *constants, const struct ww_model_ctas *ctas,
                      struct ww_model_traffic *out);
/* L2 cycles of the slice that has most to do. */
double ww_model_slices(const struct ww_kernel_profile *p, const struct ww_gpu_spec *gpu,
                       const struct ww_model_traffic *traffic);
/* Cycles of DRAM (of its clock, of one channel) that the traffic needs, and rows that it opens. */
double ww_model_dram(const struct ww_model_kernel *kernel, const struct ww_gpu_spec *gpu,
                     const struct ww_model_constants *constants, const struct ww_model_traffic *traffic,
                     double *rows);
/* The power mean without the division by the number of terms: between their largest (exponent without bound)
 * and their sum (1). */
double ww_model_join(const double *term, size_t n, double exponent);
/* Events from counts, traffic and cycles. */
void ww_model_events(const struct ww_model_kernel *kernel, const struct ww_gpu_spec *gpu,
                     const struct ww_model_traffic *traffic, double rows, struct ww_model_result *out);

#endif
