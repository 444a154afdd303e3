/* host_copy.h: copies and fills that a program asked for, and when they may run.
 *
 * An operation is a launch or such a copy. A copy begins after the operation before it of the same stream has
 * ended, and after those that it waits for have. Its place among the launches is where the program asked for
 * it. struct ww_trace_copy has what copies write to the device's memory; this file has their time.
 *
 * Ownership: it lives as long as the trace. */
#ifndef WW_TRACES_HOST_COPY_H
#define WW_TRACES_HOST_COPY_H

#include "../estimator/result/result.h"
#include "trace.h"

/* Names of operations in lists of waits. */
#define WW_OPERATION_OF_LAUNCH(k) (2 * (uint64_t)(k))
#define WW_OPERATION_OF_COPY(k) (2 * (uint64_t)(k) + 1)
#define WW_OPERATION_IS_COPY(o) ((o)&1)

struct ww_host_copy {
    uint64_t bytes;
    uint32_t stream; /* as ww_trace_order's */
    uint32_t launch; /* launches of the trace before it */
    enum ww_copy_way way;
    bool pageable;        /* its memory of the host is not pinned */
    const uint64_t *wait; /* operations */
    uint32_t wait_count;
};

/* Copies that a launch waits for, in addition to the launches of its order. */
struct ww_copy_waits {
    const uint32_t *copy;
    uint32_t count;
};

struct ww_host_order {
    const struct ww_host_copy *copy; /* in the order of the program */
    size_t copy_count;               /* 0: not recorded, or there are none */
    const struct ww_copy_waits *launch;
};

const struct ww_host_order *ww_trace_host_order(const struct ww_trace *trace);

/* Notes a copy that comes behind the launches written so far, which sets its `launch`; the waits are copied.
 * Beyond WW_WWT_HOST_COPIES_MAX none at all are kept. Errors: WW_INTERNAL (it waits for a later one), WW_NOMEM.
 */
enum ww_code ww_trace_writer_host_copy(struct ww_trace_writer *w, const struct ww_host_copy *copy,
                                       struct ww_error *error);
/* Notes copies that the next launch waits for. Errors: as above. */
enum ww_code ww_trace_writer_copy_waits(struct ww_trace_writer *w, const struct ww_copy_waits *waits,
                                        struct ww_error *error);

#endif
