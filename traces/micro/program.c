/* Microbenchmarks whose instructions and steps are given. */
#include "internal.h"
#include <string.h>

enum ww_code ww_micro_program(const struct ww_micro_program *p, struct ww_micro **out, struct ww_error *error) {
    struct ww_micro *m;
    uint32_t ctas = p->cluster ? p->cluster : 1;
    *out = NULL;
    if (p->inst_count == 0 || p->threads == 0)
        return ww_fail(error, WW_USAGE, p->kernel, "%u instructions, %u threads", p->inst_count, p->threads);
    WW_TRY(ww_micro_new(p->kernel, ctas, p->threads, p->inst_count, p->step_count, &m, error));
    m->access = ww_arena_array(&m->arena, (size_t)p->access_count + 1, sizeof *m->access);
    if (!m->access) {
        ww_micro_free(m);
        return ww_fail_nomem(error, p->kernel);
    }
    memcpy(m->inst, p->inst, p->inst_count * sizeof *p->inst);
    if (p->step_count) memcpy(m->step, p->step, p->step_count * sizeof *p->step);
    if (p->access_count) memcpy(m->access, p->access, p->access_count * sizeof *p->access);
    m->launch.arch = p->arch;
    if (ctas > 1) memcpy(m->launch.cluster, (uint32_t[3]){ctas, 1, 1}, sizeof m->launch.cluster);
    m->launch.shared_static = p->shared_bytes;
    if (p->string) {
        m->launch.string = p->string;
        m->launch.string_count = p->string_count;
    }
    m->step_count = p->step_count;
    m->access_count = p->access_count;
    m->timed_first = p->first;
    m->timed_end = p->end;
    *out = m;
    return WW_OK;
}
