/* device.c: memory and launches of a device. */
#include "../../../estimator/api/record.h"
#include "../../../estimator/base/locale.h"
#include "../../wwt/keep_source.h"
#include "device_internal.h"
#include <stdlib.h>
#include <string.h>

#define MEMORY_LIMIT ((uint64_t)16 << 30)
/* Bytes of the streams of all CTAs in flight. An endless loop reaches the first within seconds. A user who
 * raises the instruction limit expects long kernels. */
#define STREAMS_DEFAULT ((uint64_t)768 << 20)
#define STREAMS_RAISED ((uint64_t)8 << 30)
#define SHARED_LIMIT (228u << 10)
#define MACHINE_FIRST 70u

static enum ww_code parse_arch(const char *arch, uint32_t *number, uint32_t *machine, struct ww_error *error) {
    char *end = NULL;
    unsigned long v = arch && strncmp(arch, "sm_", 3) == 0 ? strtoul(arch + 3, &end, 10) : 0;
    if (!end || *end || v < 20 || v > 200)
        return ww_fail(
            error, WW_USAGE, NULL,
            "arch '%s': expected sm_20 to sm_200; PTX is lowered as for the newest of sm_20, sm_52 and sm_70 "
            "that is not newer (sm_50 counts as sm_52)",
            arch ? arch : "");
    *number = v >= 70 ? 70 : v >= 50 ? 52 : 20;
    *machine = (uint32_t)v;
    return WW_OK;
}

enum ww_code ww_record_arch(const char *arch, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    uint32_t number, machine;
    return parse_arch(arch, &number, &machine, error);
}

/* Machine code is run from sm_70 on. */
static enum ww_code check_code(struct ww_device *d, struct ww_error *error) {
    if (d->code == WW_RECORD_PTX || d->machine_arch >= MACHINE_FIRST) return WW_OK;
    if (d->code == WW_RECORD_SASS)
        return ww_fail(error, WW_USAGE, NULL, "machine code of sm_%u: expected sm_%u or newer", d->machine_arch,
                       MACHINE_FIRST);
    d->code = WW_RECORD_PTX;
    return WW_OK;
}

enum ww_code ww_device_new(const struct ww_record_options *options, const struct ww_trace_meta *meta,
                           struct ww_device **device, struct ww_error *error) {
    struct ww_device *d = calloc(1, sizeof *d);
    if (!d) return ww_fail_nomem(error, "a device");
    d->options = *options;
    ww_mem_init(&d->mem, MEMORY_LIMIT);
    if (!d->options.instruction_limit) d->options.instruction_limit = EX_DEFAULT_LIMIT;
    d->stream_limit = d->options.instruction_limit > EX_DEFAULT_LIMIT ? STREAMS_RAISED : STREAMS_DEFAULT;
    enum ww_code code = parse_arch(options->arch ? options->arch : "sm_70", &d->arch, &d->machine_arch, error);
    snprintf(d->arch_name, sizeof d->arch_name, "sm_%u", d->arch);
    d->code = options->code;
    if (code == WW_OK) code = check_code(d, error);
    if (code == WW_OK && options->out_path) {
        code = ww_trace_writer_new(options->out_path, meta, options->compression, &d->recorder.writer, error);
        if (code == WW_OK)
            code = ww_trace_writer_sources(d->recorder.writer, options->keep_source,
                                           meta ? meta->program : NULL, error);
        d->records = true;
    }
    if (code != WW_OK) {
        ww_device_free_all(d);
        return code;
    }
    *device = d;
    return WW_OK;
}

void ww_device_pick(struct ww_device *d, const struct ww_cta_pick *pick) {
    d->pick = pick;
}

void ww_device_watch(struct ww_device *d, void (*on_cta)(void *context, const struct ww_cta_trace *cta),
                     void *context) {
    d->records = true;
    d->recorder.on_cta = on_cta;
    d->recorder.on_cta_context = context;
}

const struct ww_inst *ww_device_table(const struct ww_device *d, uint32_t *count) {
    *count = d->recorder.entry_count;
    return d->recorder.inst;
}

uint64_t ww_device_executed(const struct ww_device *d) {
    return d->executed_threads;
}

enum ww_code ww_device_finish(struct ww_device *d, struct ww_record_stats *stats, struct ww_error *error) {
    struct ww_trace_writer *w = d->recorder.writer;
    uint64_t bytes = 0;
    d->recorder.writer = NULL;
    if (w) WW_TRY(ww_trace_writer_finish(w, &bytes, error));
    stats->launches = d->launches;
    stats->warp_instructions = d->records ? d->recorder.warp_instructions : d->executed_warps;
    stats->thread_instructions = d->records ? d->recorder.thread_instructions : d->executed_threads;
    stats->bytes = bytes;
    return WW_OK;
}

void ww_device_free_all(struct ww_device *d) {
    if (!d) return;
    ww_trace_writer_abort(d->recorder.writer);
    ww_recorder_clear(&d->recorder);
    while (d->modules) {
        struct ww_module *next = d->modules->next;
        ww_module_free(d->modules);
        d->modules = next;
    }
    ww_mem_free_all(&d->mem);
    free(d->texture);
    free(d);
}

void ww_device_abandon(const struct ww_device *d) {
    ww_trace_writer_abandon(d->recorder.writer);
}

/* ---- memory ---- */

enum ww_code ww_device_alloc(struct ww_device *d, size_t bytes, uint64_t *address, struct ww_error *error) {
    struct mem_alloc *a;
    if (bytes == 0) return ww_fail(error, WW_USAGE, "device memory", "0 bytes asked for, expected at least 1");
    WW_TRY(ww_mem_new(&d->mem, bytes, NULL, &a, error));
    *address = a->base;
    return WW_OK;
}

enum ww_code ww_device_free(struct ww_device *d, uint64_t address, struct ww_error *error) {
    struct mem_alloc *a = address ? ww_mem_find(&d->mem, address) : NULL;
    if (address == 0) return WW_OK;
    if (!a || a->base != address || a->name)
        return ww_fail(error, WW_USAGE, "device memory", "0x%llx is not the start of an allocation",
                       (unsigned long long)address);
    ww_mem_release(&d->mem, address);
    return WW_OK;
}

static enum ww_code range(struct ww_device *d, uint64_t address, size_t n, unsigned char **host,
                          struct ww_error *error) {
    struct mem_alloc *a = ww_mem_find(&d->mem, address);
    if (!a || !mem_holds(a, address, n))
        return ww_fail(error, WW_USAGE, "device memory", "%zu bytes at 0x%llx do not lie in one allocation", n,
                       (unsigned long long)address);
    *host = a->host + (address - a->base);
    return WW_OK;
}

enum ww_code ww_device_write(struct ww_device *d, uint64_t address, const void *data, size_t n,
                             struct ww_error *error) {
    unsigned char *host;
    if (n == 0) return WW_OK;
    WW_TRY(range(d, address, n, &host, error));
    memcpy(host, data, n);
    return WW_OK;
}

enum ww_code ww_device_read(struct ww_device *d, void *data, uint64_t address, size_t n,
                            struct ww_error *error) {
    unsigned char *host;
    if (n == 0) return WW_OK;
    WW_TRY(range(d, address, n, &host, error));
    memcpy(data, host, n);
    return WW_OK;
}

enum ww_code ww_device_memset(struct ww_device *d, uint64_t address, unsigned char value, size_t n,
                              struct ww_error *error) {
    unsigned char *host;
    if (n == 0) return WW_OK;
    WW_TRY(range(d, address, n, &host, error));
    memset(host, value, n);
    return WW_OK;
}

void *ww_device_host(struct ww_device *d, uint64_t address, size_t n) {
    unsigned char *host = NULL;
    return range(d, address, n, &host, NULL) == WW_OK ? host : NULL;
}

/* ---- launches ---- */

enum ww_code ww_device_check_cluster(const struct ww_device *d, const uint32_t required[3],
                                     const uint32_t grid[3], const char *kernel, uint32_t cluster[3],
                                     struct ww_error *error) {
    uint64_t ctas = 1;
    memset(cluster, 0, 3 * sizeof *cluster);
    if (!required[0] && !d->cluster[0]) return WW_OK;
    for (int n = 0; n < 3; n++) {
        const uint32_t *from = required[0] ? required : d->cluster;
        cluster[n] = from[n] ? from[n] : 1;
        if (required[0] && d->cluster[0] && d->cluster[n] != cluster[n])
            return ww_fail(error, WW_USAGE, kernel, "clusters of %ux%ux%u CTAs: the kernel requires %ux%ux%u",
                           d->cluster[0], d->cluster[1], d->cluster[2], required[0], required[1], required[2]);
        if (grid[n] % cluster[n])
            return ww_fail(error, WW_USAGE, kernel,
                           "grid %ux%ux%u: expected a multiple of clusters of %ux%ux%u", grid[0], grid[1],
                           grid[2], cluster[0], cluster[1] ? cluster[1] : 1, cluster[2] ? cluster[2] : 1);
        ctas *= cluster[n];
    }
    if (ctas > WW_CLUSTER_MOST)
        return ww_fail(error, WW_USAGE, kernel, "clusters of %llu CTAs: expected at most %u",
                       (unsigned long long)ctas, WW_CLUSTER_MOST);
    if (d->pick && ctas > 1)
        return ww_fail(error, WW_UNSUPPORTED, kernel,
                       "some CTAs of a launch in clusters cannot be recorded alone");
    return WW_OK;
}

enum ww_code ww_device_check_shape(const struct launch_limits *limits, const uint32_t grid[3],
                                   const uint32_t block[3], uint64_t shared, struct ww_error *error) {
    const char *name = limits->kernel;
    const uint32_t *required = limits->required, *allowed = limits->most;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    bool small = block[0] <= 1024 && block[1] <= 1024 && block[2] <= 64;
    if (!small || threads == 0 || threads > 1024)
        return ww_fail(error, WW_USAGE, name, "block %ux%ux%u: expected 1 to 1024 threads", block[0], block[1],
                       block[2]);
    if (!grid[0] || !grid[1] || !grid[2] || grid[0] > INT32_MAX || grid[1] > 65535 || grid[2] > 65535)
        return ww_fail(error, WW_USAGE, name, "grid %ux%ux%u: expected 1 to 2147483647, 65535 and 65535 CTAs",
                       grid[0], grid[1], grid[2]);
    if (shared > SHARED_LIMIT)
        return ww_fail(error, WW_USAGE, name, "%llu bytes of shared memory: expected at most %u",
                       (unsigned long long)shared, SHARED_LIMIT);
    for (int n = 0; n < 3; n++)
        if (required[0] && block[n] != (required[n] ? required[n] : 1))
            return ww_fail(error, WW_USAGE, name, "block %ux%ux%u: the kernel requires %ux%ux%u", block[0],
                           block[1], block[2], required[0], required[1], required[2]);
    uint64_t most = (uint64_t)allowed[0] * (allowed[1] ? allowed[1] : 1) * (allowed[2] ? allowed[2] : 1);
    if (allowed[0] && threads > most)
        return ww_fail(error, WW_USAGE, name, "block of %llu threads: the kernel allows %llu",
                       (unsigned long long)threads, (unsigned long long)most);
    return WW_OK;
}

static enum ww_code pack_arguments(const struct ptx_func *f, const struct ww_arg *args, size_t count,
                                   unsigned char **block, struct ww_error *error) {
    if (count != f->param_count)
        return ww_fail(error, WW_USAGE, f->name, "%zu arguments given, the kernel has %u", count,
                       f->param_count);
    for (size_t n = 0; n < count; n++)
        if (args[n].size != f->param[n]->size)
            return ww_fail(error, WW_USAGE, f->name, "argument %zu (%s) has %zu bytes, the kernel expects %llu",
                           n, f->param[n]->name, args[n].size, (unsigned long long)f->param[n]->size);
    *block = calloc(1, f->param_bytes ? f->param_bytes : 1);
    if (!*block) return ww_fail_nomem(error, "kernel arguments");
    for (size_t n = 0; n < count; n++) memcpy(*block + f->param[n]->offset, args[n].data, args[n].size);
    return WW_OK;
}

static enum ww_code begin_record(struct ww_device *d, struct ww_kernel *k, const struct ex_run *r,
                                 struct ww_error *error) {
    const struct ptx_func *f = k->decoded->entry->src;
    uint32_t given = d->options.registers_per_thread;
    WW_TRY(ww_recorder_prepare(&d->recorder, k->decoded, error));
    if (!d->recorder.writer) return WW_OK;
    struct ww_launch launch = {.kernel = f->name,
                               .arch = d->arch_name,
                               .registers_per_thread = given ? given : f->machine_registers,
                               .shared_static = k->decoded->dynamic_at,
                               .shared_dynamic = r->dynamic_shared,
                               .local_bytes = (uint32_t)f->local_bytes + f->spill_bytes,
                               .cta_count = r->cta_count,
                               .warps_per_cta = r->warps_per_cta,
                               .inst = d->recorder.inst,
                               .inst_count = d->recorder.entry_count,
                               .string = d->recorder.string,
                               .string_count = d->recorder.string_count};
    if (r->dynamic_shared == 0) launch.shared_static = (uint32_t)f->shared_bytes;
    ww_cta_pick_grid(r->pick, r->grid, launch.grid);
    memcpy(launch.block, r->block, sizeof launch.block);
    memcpy(launch.cluster, r->cluster, sizeof launch.cluster);
    return ww_trace_writer_launch(d->recorder.writer, &launch, error);
}

static enum ww_code run(struct ww_device *d, struct ww_kernel *k, struct ex_run *r, struct ww_error *error) {
    bool records = d->records && !d->paused;
    if (records) {
        WW_TRY(begin_record(d, k, r, error));
        r->recorder = &d->recorder;
    }
    enum ww_code code = ww_ex_run_grid(r, error);
    d->executed_threads += r->thread_instructions;
    d->executed_warps += r->warp_instructions;
    if (code == WW_OK && records && d->recorder.writer)
        code = ww_trace_writer_end_launch(d->recorder.writer, error);
    d->launches++;
    return code;
}

enum ww_code ww_device_launch(struct ww_device *d, struct ww_module *module, const char *kernel,
                              const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_shared,
                              const struct ww_arg *args, size_t count, struct ww_error *error) {
    struct ww_kernel *k;
    struct sx_loaded *machine;
    WW_TRY(ww_module_machine(d, module, kernel, &machine, error));
    if (machine)
        return ww_module_launch(
            d, module, machine,
            &(struct launch_request){
                .grid = grid, .block = block, .dynamic_shared = dynamic_shared, .args = args, .count = count},
            error);
    WW_TRY(ww_module_kernel(d, module, kernel, &k, error));
    const struct ptx_func *f = k->decoded->entry->src;
    uint64_t shared = dynamic_shared ? (uint64_t)k->decoded->dynamic_at + dynamic_shared : f->shared_bytes;
    WW_TRY(
        ww_device_check_shape(&(struct launch_limits){.kernel = f->name,
                                                      .required = {f->reqntid[0], f->reqntid[1], f->reqntid[2]},
                                                      .most = {f->maxntid[0], f->maxntid[1], f->maxntid[2]}},
                              grid, block, shared, error));
    unsigned char *param;
    WW_TRY(pack_arguments(f, args, count, &param, error));
    uint32_t threads = block[0] * block[1] * block[2];
    struct ex_run r = {.mem = &d->mem,
                       .kernel = k->decoded,
                       .block_threads = threads,
                       .warps_per_cta = (threads + EX_LANES - 1) / EX_LANES,
                       .shared_bytes = (uint32_t)shared,
                       .dynamic_shared = dynamic_shared,
                       .param = param,
                       .constant_bank = module->constant_bank,
                       .constant_bank_bytes = (uint32_t)module->ptx->const_bytes,
                       .limit = d->options.instruction_limit,
                       .stream_limit = d->stream_limit,
                       .grid_id = d->launches,
                       .texture = d->texture,
                       .texture_count = d->texture_count,
                       .workspace = d->workspace,
                       .out = d->options.kernel_output,
                       .progress = d->options.progress,
                       .progress_context = d->options.context,
                       .cta_count = (uint64_t)grid[0] * grid[1] * grid[2]};
    memcpy(r.grid, grid, sizeof r.grid);
    enum ww_code fits = ww_device_check_cluster(d, f->cluster, grid, f->name, r.cluster, error);
    if (fits != WW_OK) {
        free(param);
        return fits;
    }
    memcpy(r.block, block, sizeof r.block);
    r.pick = d->pick;
    enum ww_code good = r.pick ? ww_cta_pick_check(r.pick, r.cta_count, f->name, error) : WW_OK;
    if (good != WW_OK) {
        free(param);
        return good;
    }
    if (r.pick) r.cta_count = r.pick->count;
    ww_module_take_constants(module);
    enum ww_code code = run(d, k, &r, error);
    free(param);
    return code;
}
