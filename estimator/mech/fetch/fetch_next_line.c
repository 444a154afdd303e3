/* Next-line prefetching: a line that a load does not find brings the one behind it (Sethia's dissertation,
 * section 5.2.2 and figure 5.3b: it fetches what other warps have used already, and what is used much later).
 */
#include "fetch.h"

struct settings {
    uint32_t queue, latency, degree;
    bool send;
};

static const struct ww_param params[] = {
    WW_PARAM_U32(settings, degree, "degree", "line", 1, 16, 1, "lines behind one that is missed"),
    WW_PARAM_U32(settings, queue, "queue", "line", 1, 4096, 64, "lines that wait to be prefetched"),
    WW_PARAM_U32(settings, latency, "latency", "SM cycle", 0, 1000, 10, "from a load to its prefetches"),
    WW_PARAM_BOOL(settings, send, "send", 1, "ask memory; false: learn and ask for nothing"),
};

struct state {
    uint32_t line;
};

static void next_plan(const void *settings, struct ww_fetch_plan *plan) {
    const struct settings *s = settings;
    *plan = (struct ww_fetch_plan){.queue = s->queue, .latency = s->latency};
}

static void next_begin(void *state, const void *settings, const struct ww_fetch_launch *launch) {
    struct state *n = state;
    (void)settings;
    n->line = launch->line;
}

static void next_load(void *state, const void *settings, const struct ww_fetch_load *load,
                      struct ww_fetch_requests *requests) {
    const struct state *n = state;
    const struct settings *s = settings;
    for (uint32_t i = 0; i < load->lines && s->send; i++)
        for (uint32_t k = 1; k <= s->degree && load->line[i].outcome == WW_FETCH_MISS; k++)
            if (requests->count < WW_FETCH_REQUESTS)
                requests->request[requests->count++] =
                    (struct ww_fetch_request){.base = load->line[i].address + (uint64_t)k * n->line,
                                              .mask = 1,
                                              .width = n->line,
                                              .token = WW_FETCH_NO_TOKEN};
}

const struct ww_fetch_ops ww_fetch_next_line = {
    .info = {.kind = WW_KIND_FETCH,
             .name = "next_line",
             .help = "the line behind one that a load misses",
             .paper = "J. E. Smith: Sequential program prefetching in memory hierarchies, IEEE Computer 1978",
             .params = params,
             .param_count = sizeof params / sizeof params[0],
             .settings_size = sizeof(struct settings)},
    .plan = next_plan,
    .state_size = sizeof(struct state),
    .begin = next_begin,
    .load = next_load,
};
