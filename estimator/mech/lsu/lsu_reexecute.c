/* Cache access re-execution: a request that the L1 refuses is put aside, with its address, and tried again, so
 * that requests behind it may hit in the L1. One memory instruction of a warp at a time may have requests in
 * the queue. They are tried when there is nothing new to do, or when the queue is full; one that is refused
 * again goes to the tail. */
#include "lsu.h"

struct settings {
    uint32_t entries;
};

static const struct ww_param params[] = {
    WW_PARAM_U32(settings, entries, "entries", "request", 1, 1024, 32,
                 "line requests in the re-execution queue"),
};

static void reexecute_plan(const void *settings, struct ww_lsu_plan *plan) {
    const struct settings *s = settings;
    *plan = (struct ww_lsu_plan){.entries = s->entries};
}

const struct ww_lsu_ops ww_lsu_reexecute = {
    .info =
        {.kind = WW_KIND_LSU,
         .name = "reexecute",
         .help = "refused requests are put aside and tried again",
         .paper =
             "Sethia, Jamshidi, Mahlke: Mascar: Speeding up GPU Warps by Reducing Memory Pitstops, HPCA 2015",
         .params = params,
         .param_count = sizeof params / sizeof params[0],
         .settings_size = sizeof(struct settings)},
    .plan = reexecute_plan,
};
