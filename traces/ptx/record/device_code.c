/* device_code.c: machine code of a device's modules: where it comes from, launches, and the way back to PTX. */
#include "../../../estimator/api/record.h"
#include "../../sass/cubin/ptxas.h"
#include "device_internal.h"
#include <stdlib.h>
#include <string.h>

#define MACHINE_LAST 90u /* the newest whose operations are checked, docs/reference/machine-code.md */

enum ww_code ww_record_code_parse(const char *text, const char *where, enum ww_record_code *code,
                                  struct ww_error *error) {
    static const struct {
        const char *name;
        enum ww_record_code code;
    } names[] = {{"ptx", WW_RECORD_PTX}, {"auto", WW_RECORD_AUTO}, {"sass", WW_RECORD_SASS}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i].name, text) != 0) continue;
        *code = names[i].code;
        return WW_OK;
    }
    return ww_fail(error, WW_USAGE, where, "'%.60s': expected sass, ptx or auto", text);
}

void ww_device_say(struct ww_device *d, const char *text) {
    if (strncmp(d->said, text, sizeof d->said - 1) == 0) return;
    snprintf(d->said, sizeof d->said, "%s", text);
    if (d->options.message) d->options.message(d->options.message_context, text);
}

/* Prints why PTX is lowered instead; the last message is kept, so that it is printed once for many modules. */
static void say_lowered(struct ww_device *d, const struct ww_error *why) {
    char text[700];
    snprintf(text, sizeof text, "PTX is lowered for %s: %.200s: %.400s", d->arch_name, why->where, why->text);
    ww_device_say(d, text);
}

static void say_compiled(struct ww_device *d, const struct ww_ptxas_result *r) {
    char text[400];
    snprintf(text, sizeof text, "machine code of sm_%u: %s%s", r->arch, r->origin,
             r->substitute ? "; it stands in for the chosen architecture, which no ptxas found here supports"
             : r->arch > MACHINE_LAST ? "; machine code of sm_70 to sm_90 is run, newer code is only tried"
                                      : "");
    ww_device_say(d, text);
}

static enum ww_code compile(struct ww_device *d, struct ww_module *m, struct ww_error *error) {
    struct ww_ptxas_request request = {.text = m->ptx_text,
                                       .n = m->ptx_bytes,
                                       .name = m->name,
                                       .arch = d->machine_arch,
                                       .max_registers = d->options.max_registers,
                                       .options = d->options.ptxas_options,
                                       .progress = d->options.progress,
                                       .context = d->options.context};
    struct ww_ptxas_result result;
    char origin[300];
    WW_TRY(ww_ptxas_compile(&request, &result, error));
    snprintf(origin, sizeof origin, "%s%s", result.origin, result.substitute ? " (substitute)" : "");
    enum ww_code code =
        ww_sx_module_new(&d->mem, result.cubin.p, result.cubin.n, m->name, origin, &m->code, error);
    m->code_target = result.target;
    if (code == WW_OK) say_compiled(d, &result);
    ww_ptxas_result_free(&result);
    return code;
}

enum ww_code ww_module_compile(struct ww_device *d, struct ww_module *m, struct ww_error *error) {
    struct ww_error why = {0};
    if (d->code == WW_RECORD_PTX) return WW_OK;
    enum ww_code code = compile(d, m, &why);
    if (code == WW_OK) return WW_OK;
    if (d->code == WW_RECORD_SASS || code == WW_NOMEM || code == WW_USAGE || code == WW_FAIL) {
        if (error) *error = why;
        return code;
    }
    say_lowered(d, &why);
    return WW_OK;
}

enum ww_code ww_module_machine(struct ww_device *d, struct ww_module *m, const char *name,
                               struct sx_loaded **kernel, struct ww_error *error) {
    *kernel = NULL;
    if (!m->code) return WW_OK;
    struct sx_loaded *k;
    WW_TRY(ww_sx_module_kernel(m->code, name, &k, error));
    if (!k && m->ptx_text) return WW_OK; /* its error names the kernels that there are */
    if (!k) return ww_fail(error, WW_USAGE, m->name, "no kernel '%s'", name);
    if (k->kernel) {
        *kernel = k;
        return WW_OK;
    }
    if (d->code == WW_RECORD_SASS || !m->ptx_text || k->error.code == WW_NOMEM) {
        if (error) *error = k->error;
        return k->error.code;
    }
    if (!k->said) say_lowered(d, &k->error);
    k->said = true;
    return WW_OK;
}

/* ---- launches ---- */

static enum ww_code pack(const struct ww_cubin_kernel *k, const struct launch_request *q, unsigned char **block,
                         struct ww_error *error) {
    if (q->count != k->param_count)
        return ww_fail(error, WW_USAGE, k->name, "%zu arguments given, the kernel has %u", q->count,
                       k->param_count);
    for (size_t n = 0; n < q->count; n++)
        if (q->args[n].size != k->params[n].size)
            return ww_fail(error, WW_USAGE, k->name, "argument %zu has %zu bytes, the kernel expects %u", n,
                           q->args[n].size, k->params[n].size);
    *block = calloc(1, k->param_bytes ? k->param_bytes : 1);
    if (!*block) return ww_fail_nomem(error, "kernel arguments");
    for (size_t n = 0; n < q->count; n++)
        if (q->args[n].size) memcpy(*block + k->params[n].offset, q->args[n].data, q->args[n].size);
    return WW_OK;
}

static enum ww_code begin_record(struct ww_device *d, const struct ww_module *m, const struct sx_run *r,
                                 struct ww_error *error) {
    const struct ww_cubin_kernel *k = r->kernel->entry;
    uint32_t given = d->options.registers_per_thread;
    WW_TRY(ww_sx_table(&d->recorder, r->kernel, error));
    if (!d->recorder.writer) return WW_OK;
    struct ww_launch launch = {.kernel = k->name,
                               .arch = m->code->arch,
                               .code = m->code->origin,
                               .registers_per_thread = given ? given : k->registers,
                               .shared_static = ww_sx_shared_static(m->code, k),
                               .shared_dynamic = r->dynamic_shared,
                               .local_bytes = k->local_bytes,
                               .inst = d->recorder.inst,
                               .inst_count = d->recorder.entry_count,
                               .string = d->recorder.string,
                               .string_count = d->recorder.string_count};
    ww_cta_pick_grid(r->pick, r->grid, launch.grid);
    memcpy(launch.block, r->block, sizeof launch.block);
    memcpy(launch.cluster, r->cluster, sizeof launch.cluster);
    return ww_trace_writer_launch(d->recorder.writer, &launch, error);
}

static enum ww_code run(struct ww_device *d, const struct ww_module *m, struct sx_run *r,
                        struct ww_error *error) {
    bool records = d->records && !d->paused;
    if (records) {
        WW_TRY(begin_record(d, m, r, error));
        r->recorder = &d->recorder;
    }
    enum ww_code code = ww_sx_run_grid(r, error);
    d->executed_threads += r->thread_instructions;
    d->executed_warps += r->warp_instructions;
    if (code == WW_OK && records && d->recorder.writer)
        code = ww_trace_writer_end_launch(d->recorder.writer, error);
    d->launches++;
    return code;
}

enum ww_code ww_module_launch(struct ww_device *d, struct ww_module *m, struct sx_loaded *kernel,
                              const struct launch_request *q, struct ww_error *error) {
    const struct ww_cubin_kernel *k = kernel->source;
    struct launch_limits limits = {.kernel = k->name};
    unsigned char *param;
    memcpy(limits.required, k->required_threads, sizeof limits.required);
    memcpy(limits.most, k->max_threads, sizeof limits.most);
    WW_TRY(ww_device_check_shape(&limits, q->grid, q->block,
                                 (uint64_t)ww_sx_shared_static(m->code, k) + q->dynamic_shared, error));
    WW_TRY(pack(k, q, &param, error));
    struct sx_run r = {.mem = &d->mem,
                       .kernel = kernel->kernel,
                       .dynamic_shared = q->dynamic_shared,
                       .param = param,
                       .limit = d->options.instruction_limit,
                       .stream_limit = d->stream_limit,
                       .grid_id = d->launches,
                       .texture = d->texture,
                       .texture_count = d->texture_count,
                       .workspace = d->workspace,
                       .out = d->options.kernel_output,
                       .progress = d->options.progress,
                       .progress_context = d->options.context};
    r.pick = d->pick;
    enum ww_code fits = ww_device_check_cluster(d, k->cluster, q->grid, k->name, r.cluster, error);
    if (fits != WW_OK) {
        free(param);
        return fits;
    }
    memcpy(r.grid, q->grid, sizeof r.grid);
    memcpy(r.block, q->block, sizeof r.block);
    enum ww_code code = run(d, m, &r, error);
    free(param);
    return code;
}
