/* run.c: ties a GPU, a trace, mechanisms and a power table together into one result. */
#include "../base/demangle.h"
#include "../api/gpu.h"
#include "../api/trace.h"
#include "../api/run.h"
#include "../result/result.h"
#include "../base/locale.h"
#include "run_int.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define EPOCH_CYCLES 4096
#define TARGET_ERROR 0.03
#define CONFIDENCE 0.95

static const struct mode {
    const char *name;
    enum ww_code (*run)(struct run *r, struct ww_error *error); /* NULL: chosen by the trace's size */
} modes[] = {{"full", ww_run_full},
             {"fast", ww_run_fast},
             {"sampled", ww_run_sampled},
             {"analytic", ww_run_analytic},
             {"auto", NULL}};
enum { MODES = sizeof modes / sizeof *modes, MODE_FULL = 0, MODE_SAMPLED = 2 };

static double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum ww_code new_result(struct run *r, struct ww_error *error) {
    r->result = calloc(1, sizeof *r->result);
    r->arena = calloc(1, sizeof *r->arena);
    if (!r->result || !r->arena) {
        free(r->result);
        free(r->arena);
        r->result = NULL;
        return ww_fail_nomem(error, "result");
    }
    ww_arena_init(r->arena, 0);
    r->result->owner = r->arena;
    return WW_OK;
}

static const struct mode *find_mode(const char *name) {
    for (size_t i = 0; name && i < MODES; i++)
        if (strcmp(name, modes[i].name) == 0) return &modes[i];
    return name ? NULL : &modes[MODE_FULL];
}

const char *ww_run_mode_at(size_t i) {
    return i < MODES ? modes[i].name : NULL;
}

static bool is_cache_control(const char *named) {
    static const char *const state[] = {"keep", "flush", "flush-once", "flush-sm"};
    for (size_t i = 0; named && i < sizeof state / sizeof *state; i++)
        if (strcmp(named, state[i]) == 0) return true;
    return !named;
}

/* An option that the mode would leave unused. */
static enum ww_code check_mode_options(const struct ww_run_options *o, struct ww_error *error) {
    const struct mode *mode = find_mode(o->mode);
    bool replays = mode->run == ww_run_full || mode->run == ww_run_fast;
    if (o->target_error != 0 && mode->run && mode->run != ww_run_sampled)
        return ww_fail(error, WW_USAGE, "--target-error",
                       "mode %s draws no sample: expected mode sampled or auto", mode->name);
    if (o->timeline && mode->run && !replays)
        return ww_fail(error, WW_USAGE, "--timeline", "mode %s keeps none: expected mode full, fast or auto",
                       mode->name);
    return WW_OK;
}

static enum ww_code check_options(const struct ww_run_options *o, struct ww_error *error) {
    if (!o->gpu || !o->trace_path) return ww_fail(error, WW_USAGE, NULL, "a run needs a GPU and a trace");
    if (!find_mode(o->mode))
        return ww_fail(error, WW_USAGE, "--mode", "\"%.40s\": expected full, fast, sampled, analytic or auto",
                       o->mode);
    if (o->epoch_cycles && (o->epoch_cycles < 64 || o->epoch_cycles > 1u << 30))
        return ww_fail(error, WW_USAGE, "--epoch", "%u: expected 64 to 1073741824 cycles", o->epoch_cycles);
    if (o->target_error != 0 && !(o->target_error >= 1e-4 && o->target_error <= 1))
        return ww_fail(error, WW_USAGE, "--target-error", "%g%%: expected 0.01%% to 100%%",
                       100 * o->target_error);
    if (o->confidence != 0 && !(o->confidence >= 0.5 && o->confidence <= 0.9999))
        return ww_fail(error, WW_USAGE, "--confidence", "%g%%: expected 50%% to 99.99%%", 100 * o->confidence);
    if (!is_cache_control(o->cache_control))
        return ww_fail(error, WW_USAGE, "--cache-control",
                       "\"%.40s\": expected keep, flush, flush-once or flush-sm", o->cache_control);
    return check_mode_options(o, error);
}

static enum ww_code load_power(struct run *r, struct ww_error *error) {
    const struct ww_run_options *o = r->options;
    const char *named = o->power_table ? o->power_table : o->gpu->spec.power_table;
    if (r->power || (o->power_table && strcmp(o->power_table, "none") == 0)) return WW_OK;
    WW_TRY(ww_power_load(named[0] ? named : ww_gpu_name(o->gpu), o->power_table || named[0], &r->own_power,
                         error));
    r->power = r->own_power;
    return WW_OK;
}

static enum ww_code open_all(struct run *r, struct ww_error *error) {
    const struct ww_run_options *o = r->options;
    WW_TRY(ww_trace_open(o->trace_path, &r->trace, error));
    WW_TRY(ww_mech_resolve_on(ww_gpu_sched(&o->gpu->spec), o->mechanisms, o->mechanism_count, r->arena,
                              r->choice, error));
    WW_TRY(ww_list_parse(o->launches, ww_trace_launch_count(r->trace), "--launches", r->arena, &r->launches,
                         error));
    WW_TRY(load_power(r, error));
    r->target_error = o->target_error != 0 ? o->target_error : TARGET_ERROR;
    r->confidence = o->confidence != 0 ? o->confidence : CONFIDENCE;
    return WW_OK;
}

struct ww_engine_options ww_run_engine_options(const struct run *r) {
    const struct ww_run_options *o = r->options;
    return (struct ww_engine_options){.gpu = &o->gpu->spec,
                                      .mechanism = r->choice,
                                      .epoch_cycles = o->epoch_cycles ? o->epoch_cycles : EPOCH_CYCLES,
                                      .seed = o->seed,
                                      .per_pc = o->per_pc,
                                      .threads = o->threads,
                                      .segments = r->power != NULL,
                                      .flush = r->flush,
                                      .one_pass = r->one_pass,
                                      .flush_sm = r->flush_sm,
                                      .progress = o->progress ? ww_run_progress : NULL,
                                      .progress_context = (void *)(uintptr_t)r};
}

/* Of all launches, as the index has them. */
static enum ww_code count_instructions(struct run *r, uint64_t *instructions, struct ww_error *error) {
    *instructions = 0;
    for (size_t i = 0; i < r->launches.count; i++)
        for (uint64_t k = r->launches.range[i].first; k <= r->launches.range[i].last; k++) {
            const struct ww_launch *launch;
            WW_TRY(ww_trace_launch(r->trace, k, &launch, error));
            *instructions += launch->warp_instructions;
        }
    return WW_OK;
}

/* "auto" is settled by what the launches hold. */
static enum ww_code choose_mode(struct run *r, const struct mode **mode, struct ww_error *error) {
    uint64_t instructions;
    *mode = find_mode(r->options->mode);
    if ((*mode)->run) return WW_OK;
    WW_TRY(count_instructions(r, &instructions, error));
    *mode = &modes[instructions > WW_AUTO_INSTRUCTIONS ? MODE_SAMPLED : MODE_FULL];
    return WW_OK;
}

static const char *copy(struct run *r, const char *s) {
    return ww_arena_strdup(r->arena, s ? s : "");
}

/* What the state before each launch was asked to be, where it is not the default. */
static void describe_control(struct run *r) {
    struct ww_result *result = r->result;
    if (r->flush || r->flush_sm)
        result->mechanism[result->mechanism_count++] =
            (struct ww_setting){"cache_control", r->options->cache_control};
    if (r->options->clock_control)
        result->mechanism[result->mechanism_count++] =
            (struct ww_setting){"clock_control", copy(r, r->options->clock_control)};
    if (r->options->serialize)
        result->mechanism[result->mechanism_count++] = (struct ww_setting){"serialize", "true"};
}

/* "kind = name" and "kind.parameter = value" of every chosen mechanism. */
static enum ww_code describe_mechanisms(struct run *r, struct ww_error *error) {
    struct ww_result *result = r->result;
    size_t most = 3; /* of describe_control() */
    for (int k = 0; k < WW_KIND_COUNT; k++)
        if (r->choice[k].info) most += 1 + r->choice[k].info->param_count;
    result->mechanism = ww_arena_array(r->arena, most, sizeof *result->mechanism);
    if (!result->mechanism) return ww_fail_nomem(error, "result");
    for (int k = 0; k < WW_KIND_COUNT; k++) {
        const struct ww_mech_choice *c = &r->choice[k];
        if (!c->info) continue;
        const char *kind = ww_mech_kind_name((enum ww_mech_kind)k);
        result->mechanism[result->mechanism_count++] =
            (struct ww_setting){copy(r, kind), copy(r, c->info->name)};
        for (size_t p = 0; p < c->info->param_count; p++) {
            struct ww_buf value = {0};
            ww_param_print_text(&c->info->params[p], c->settings, &value);
            result->mechanism[result->mechanism_count++] = (struct ww_setting){
                ww_arena_printf(r->arena, "%s.%s", kind, c->info->params[p].key), copy(r, value.p)};
            ww_buf_free(&value);
        }
    }
    describe_control(r);
    return WW_OK;
}

/* Architectures that share a lowering and so an instruction set of traces. */
static int family(const char *arch) {
    int sm = arch && strncmp(arch, "sm_", 3) == 0 ? atoi(arch + 3) : 0;
    return sm < 30 ? 2 : sm < 70 ? 5 : 7;
}

/* The architecture to record for so that the trace is of this GPU's family. */
static const char *lowering(const char *arch) {
    int f = family(arch);
    return f == 2 ? "sm_20" : f == 5 ? "sm_52" : "sm_70";
}

/* True if machine code of an architecture runs on a GPU: the same major number, the minor one not above. */
static bool runs_on(const char *code, const char *gpu) {
    int of = strncmp(code, "sm_", 3) == 0 ? atoi(code + 3) : 0,
        on = strncmp(gpu, "sm_", 3) == 0 ? atoi(gpu + 3) : 0;
    return of / 10 == on / 10 && of <= on;
}

/* How to record for this GPU. CUDA toolkits from 13 on compile no code for Volta: code of sm_75 is recorded
 * then. */
static const char *how_to_record(struct run *r, const struct ww_launch *launch) {
    const char *arch = r->options->gpu->spec.arch;
    if (!launch->code) return ww_arena_printf(r->arena, "trace record --arch %s", lowering(arch));
    if (!runs_on("sm_70", arch) || runs_on("sm_75", arch))
        return ww_arena_printf(r->arena, "trace record --arch %s", arch);
    return ww_arena_printf(
        r->arena, "trace record --arch %s --code ptx, or --arch %s with the ptxas of a CUDA toolkit up to 12",
        arch, arch);
}

static bool has_tensor(const struct ww_launch *launch) {
    for (uint32_t i = 0; i < launch->inst_count; i++)
        if (launch->inst[i].op == WW_OP_TENSOR) return true;
    return false;
}

/* What of this launch is not as this GPU's own code would be, or NULL. */
static const char *mismatch(struct run *r, const struct ww_launch *launch) {
    const struct ww_gpu *gpu = r->options->gpu;
    const char *arch = gpu->spec.arch;
    bool other = arch[0] && launch->arch &&
                 (family(arch) != family(launch->arch) || (launch->code && !runs_on(launch->arch, arch)));
    bool tensor = gpu->spec.pipe_tensor_count == 0 && has_tensor(launch);
    bool spills = launch->registers_per_thread > gpu->spec.sm_max_registers_per_thread;
    char kernel[WW_NAME_SHORT];
    if (!other && !tensor && !spills) return NULL;
    if (!other && !tensor)
        return ww_arena_printf(r->arena,
                               "%s: a thread of the trace has %u registers, of %s %u at most; those beyond are "
                               "left out, code for it would spill",
                               ww_short_name(launch->kernel, kernel), launch->registers_per_thread,
                               ww_gpu_name(gpu), gpu->spec.sm_max_registers_per_thread);
    return ww_arena_printf(
        r->arena, "%s: the trace is %sof %s, %s is %s%s%s%s%s", ww_short_name(launch->kernel, kernel),
        launch->code ? "machine code " : "", launch->arch ? launch->arch : "an unknown architecture",
        ww_gpu_name(gpu), arch, other ? "; instruction mix and registers are not this GPU's (" : "",
        other ? how_to_record(r, launch) : "", other ? ")" : "",
        tensor && spills ? "; tensor instructions take the fp16 pipelines, registers beyond this "
                           "GPU's are left out"
        : tensor         ? "; tensor instructions take the fp16 pipelines"
        : spills         ? "; registers beyond this GPU's are left out, code for it would spill"
                         : "");
}

/* A trace of another GPU replays: for a unit that this GPU lacks, the nearest one stands in; the run prints a
 * warning. */
static enum ww_code compare_arch(struct run *r, struct ww_error *error) {
    for (size_t i = 0; i < r->launches.count; i++)
        for (uint64_t k = r->launches.range[i].first; k <= r->launches.range[i].last; k++) {
            const struct ww_launch *launch;
            WW_TRY(ww_trace_launch(r->trace, k, &launch, error));
            r->result->warning = mismatch(r, launch);
            if (r->result->warning) return WW_OK;
        }
    return WW_OK;
}

static enum ww_code describe(struct run *r, struct ww_error *error) {
    struct ww_result *result = r->result;
    const struct ww_run_options *o = r->options;
    result->gpu = copy(r, ww_gpu_name(o->gpu));
    result->gpu_json = copy(r, ww_gpu_json(o->gpu));
    result->trace = copy(r, o->trace_path);
    result->trace_hash = copy(r, ww_trace_hash(r->trace));
    result->program = ww_trace_program(r->trace, r->arena);
    result->version = WW_VERSION;
    result->seed = o->seed;
    result->epoch_cycles = o->epoch_cycles ? o->epoch_cycles : EPOCH_CYCLES;
    if (!result->gpu || !result->gpu_json || !result->trace || !result->trace_hash || !result->program)
        return ww_fail_nomem(error, "result");
    WW_TRY(compare_arch(r, error));
    WW_TRY(ww_run_describe_overrides(r, error));
    return describe_mechanisms(r, error);
}

void ww_run_add_up(struct ww_result *result, const struct ww_launch_result *launch) {
    result->cycles += launch->cycles - launch->shared_cycles;
    result->time_ps += launch->time_ps - launch->shared_ps;
    result->warp_instructions += launch->warp_instructions;
    result->thread_instructions += launch->thread_instructions;
    if (launch->energy.known) result->energy_j += launch->energy.total_j;
}

/* The index's counts are of the CTAs that the file holds, which are all replayed: a file that says otherwise
 * contradicts itself, as trace verify would find. */
static enum ww_code compare_counts(const struct run *r, size_t index, const struct ww_launch_result *launch,
                                   struct ww_error *error) {
    const struct ww_launch *in;
    WW_TRY(ww_trace_launch(r->trace, index, &in, error));
    if (launch->warp_instructions == in->warp_instructions &&
        launch->thread_instructions == in->thread_instructions)
        return WW_OK;
    return ww_fail(error, WW_INPUT, r->options->trace_path,
                   "launch %zu executed %" PRIu64 " warp and %" PRIu64
                   " thread instructions, but the index says %" PRIu64 " and %" PRIu64
                   ": the file is damaged (trace verify)",
                   index, launch->warp_instructions, launch->thread_instructions, in->warp_instructions,
                   in->thread_instructions);
}

/* Joules of the launch and of its epochs. */
static enum ww_code add_energy(struct run *r, struct ww_launch_result *launch, struct ww_error *error) {
    const struct ww_gpu_spec *spec = &r->options->gpu->spec;
    size_t count;
    const struct ww_segment *segment = ww_engine_segments(r->engine, &count);
    if (!r->power) return WW_OK;
    if (!count || !launch->epoch_count) {
        ww_power_launch(r->power, spec, launch, &launch->energy);
        return WW_OK;
    }
    launch->epoch_energy = ww_arena_array(r->arena, launch->epoch_count, sizeof *launch->epoch_energy);
    if (!launch->epoch_energy) return ww_fail_nomem(error, "energy by epoch");
    ww_power_segments(r->power, spec, launch, segment, count, launch->epoch_energy, &launch->energy);
    return WW_OK;
}

/* Counters per instruction are checked now, since ww_result_check will not see them. */
static enum ww_code pack_pcs(struct run *r, struct ww_launch_result *launch, struct ww_error *error) {
    if (!r->options->pack_pc || !launch->pc_count) return WW_OK;
    WW_TRY(ww_launch_check_pcs(launch, error));
    return ww_pc_pack(&r->packer, launch, r->arena, error);
}

static enum ww_code replay_one(struct run *r, size_t index, struct ww_error *error) {
    struct ww_launch_result *launch = &r->result->launch[r->result->launch_count];
    const struct ww_launch *in;
    WW_TRY(ww_run_goes_on(r, index, error));
    WW_TRY(ww_trace_launch(r->trace, index, &in, error));
    r->current = in->warp_instructions;
    r->current_cost = r->cost[r->result->launch_count];
    WW_TRY(ww_engine_launch(r->engine, r->trace, index, r->arena, launch, error));
    launch->index = (uint32_t)index;
    WW_TRY(compare_counts(r, index, launch, error));
    WW_TRY(add_energy(r, launch, error));
    WW_TRY(ww_run_timeline_keep(r, &r->ctas, launch, error));
    WW_TRY(pack_pcs(r, launch, error));
    ww_arena_reset(&r->pc_arena);
    r->spent_cost += r->current_cost.cost;
    r->result->launch_count++;
    r->before += launch->warp_instructions;
    ww_run_add_up(r->result, launch);
    return WW_OK;
}

/* The group's launches, whose results follow one another. */
static enum ww_code replay_group(struct run *r, size_t first, size_t count, struct ww_error *error) {
    struct ww_launch_result *launch = &r->result->launch[r->result->launch_count];
    const struct ww_launch *in;
    WW_TRY(ww_run_goes_on(r, first, error));
    r->current = 0;
    r->current_cost = (struct ww_run_cost){0}; /* without a curve: CTAs of several kernels run side by side */
    for (size_t i = 0; i < count; i++) {
        WW_TRY(ww_trace_launch(r->trace, first + i, &in, error));
        r->current += in->warp_instructions;
        r->current_cost.cost += r->cost[r->result->launch_count + i].cost;
    }
    WW_TRY(ww_engine_concurrent(r->engine, r->trace, first, count, r->arena, launch, error));
    WW_TRY(ww_run_timeline_concurrent(r, &r->ctas, launch, count, error));
    for (size_t i = 0; i < count; i++) {
        WW_TRY(compare_counts(r, first + i, &launch[i], error));
        WW_TRY(add_energy(r, &launch[i], error));
        WW_TRY(pack_pcs(r, &launch[i], error));
        r->result->launch_count++;
        r->before += launch[i].warp_instructions;
        ww_run_add_up(r->result, &launch[i]);
    }
    r->spent_cost += r->current_cost.cost;
    ww_arena_reset(&r->pc_arena);
    return WW_OK;
}

static enum ww_code replay_range(struct run *r, uint64_t first, uint64_t last, struct ww_error *error) {
    bool concurrent = !r->options->serialize && r->options->gpu->spec.launch_resident_grids > 1 &&
                      ww_engine_side_by_side(r->engine);
    size_t count = 1;
    for (uint64_t k = first; k <= last; k += count) {
        if (concurrent) WW_TRY(ww_run_group(r->trace, k, last, &count, error));
        if (count > 1)
            WW_TRY(replay_group(r, k, count, error));
        else
            WW_TRY(replay_one(r, k, error));
    }
    return WW_OK;
}

enum ww_code ww_run_replay(struct run *r, bool fast, struct ww_error *error) {
    struct ww_engine_options options = ww_run_engine_options(r);
    options.fast = fast;
    if (fast) options.threads = 1; /* SMs take turns, see core/launch/spans.h */
    uint64_t n = 0;
    if (r->options->timeline) {
        WW_TRY(ww_run_timeline_open(r, &r->ctas, error));
        options.ctas = &r->ctas;
        options.segments = true;
    }
    if (r->options->pack_pc) options.pc_arena = &r->pc_arena;
    WW_TRY(ww_engine_new(&options, &r->engine, error));
    WW_TRY(count_instructions(r, &r->total, error));
    for (size_t i = 0; i < r->launches.count; i++)
        n += r->launches.range[i].last - r->launches.range[i].first + 1;
    r->result->launch = ww_arena_array(r->arena, n, sizeof *r->result->launch);
    if (!r->result->launch) return ww_fail_nomem(error, "result");
    WW_TRY(ww_run_costs(r, n, r->total, error));
    for (size_t i = 0; i < r->launches.count; i++)
        WW_TRY(replay_range(r, r->launches.range[i].first, r->launches.range[i].last, error));
    r->result->cycles_interval = (struct ww_interval){(double)r->result->cycles, (double)r->result->cycles};
    r->result->energy_interval = (struct ww_interval){r->result->energy_j, r->result->energy_j};
    return ww_run_copies(r, error);
}

enum ww_code ww_run_full(struct run *r, struct ww_error *error) {
    return ww_run_replay(r, false, error);
}

/* Launches in a row mostly have the same origin: they share its text. Those of a trace that another tool made
 * have the tool's name. */
static enum ww_code tell_code(struct run *r, struct ww_error *error) {
    const char *last = NULL, *tool = ww_trace_get_meta(r->trace)->tool;
    bool other = tool && tool[0] && strncmp(tool, "warpwatt ", 9) != 0;
    const char *foreign = other ? ww_arena_printf(r->arena, WW_CODE_FOREIGN "%s", tool) : NULL;
    if (other && !foreign) return ww_fail_nomem(error, "result");
    for (size_t i = 0; i < r->result->launch_count; i++) {
        struct ww_launch_result *l = &r->result->launch[i];
        const struct ww_launch *launch;
        WW_TRY(ww_trace_launch(r->trace, l->index, &launch, error));
        if (!launch->code) l->code = foreign;
        if (!launch->code) continue;
        if (!last || strcmp(last, launch->code) != 0) last = copy(r, launch->code);
        if (!last) return ww_fail_nomem(error, "result");
        l->code = last;
    }
    return WW_OK;
}

static void finish(struct run *r, double started) {
    struct ww_result *result = r->result;
    struct rusage usage;
    result->energy_known = r->power != NULL;
    result->confidence = r->confidence;
    result->host_seconds = now_seconds() - started;
    if (getrusage(RUSAGE_SELF, &usage) == 0) result->peak_memory_bytes = (uint64_t)usage.ru_maxrss * 1024;
}

static enum ww_code open_with(const struct ww_run_options *options, const struct ww_power *power, struct run *r,
                              struct ww_error *error) {
    *r = (struct run){.options = options, .power = power};
    WW_TRY(check_options(options, error));
    r->one_pass = options->cache_control && strcmp(options->cache_control, "flush-once") == 0;
    r->flush = r->one_pass || (options->cache_control && strcmp(options->cache_control, "flush") == 0);
    r->flush_sm = options->cache_control && strcmp(options->cache_control, "flush-sm") == 0;
    WW_TRY(new_result(r, error));
    enum ww_code code = open_all(r, error);
    if (code == WW_OK) code = describe(r, error);
    if (code != WW_OK) ww_run_close(r, true);
    return code;
}

enum ww_code ww_run_open(const struct ww_run_options *options, struct run *r, struct ww_error *error) {
    return open_with(options, NULL, r, error);
}

void ww_run_close(struct run *r, bool result) {
    ww_engine_free(r->engine);
    ww_run_timeline_close(&r->ctas);
    ww_arena_free(&r->pc_arena);
    ww_pc_packer_free(&r->packer);
    ww_power_free(r->own_power);
    ww_trace_close(r->trace);
    if (result) ww_result_free(r->result);
}

enum ww_code ww_run(const struct ww_run_options *options, struct ww_result **result, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    return ww_run_with_power(options, NULL, result, error);
}

enum ww_code ww_run_with_power(const struct ww_run_options *options, const struct ww_power *power,
                               struct ww_result **result, struct ww_error *error) {
    struct run r;
    const struct mode *mode = NULL;
    double started = now_seconds();
    *result = NULL;
    WW_TRY(open_with(options, power, &r, error));
    enum ww_code code = choose_mode(&r, &mode, error);
    if (code == WW_OK) {
        r.result->mode = mode->name;
        code = mode->run(&r, error);
    }
    if (code == WW_OK && options->timeline && mode->run == ww_run_sampled && !r.result->warning)
        r.result->warning = "a sampled replay keeps no timeline";
    if (code == WW_OK) code = tell_code(&r, error);
    if (code == WW_OK) code = ww_run_tell_board(&r, error);
    if (code == WW_OK) {
        finish(&r, started);
        code = ww_result_check(r.result, error);
    }
    ww_run_close(&r, code != WW_OK);
    if (code == WW_OK) *result = r.result;
    return code;
}
