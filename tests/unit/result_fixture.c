#include "../../estimator/warpwatt.h"
#include "result_fixture.h"
#include "../../estimator/base/arena.h"
#include "../../estimator/base/rng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SMS = 2, SCHEDULERS = 2, EPOCH = 4096, PCS = 5 };

static const char gpu_json[] =
    "{\"clock.sm_mhz\":1000,\"dram.type\":\"gddr5\",\"l1.enabled\":true,\"l1.sector\":128,"
    "\"l2.sector\":32,\"launch.overhead_us\":0,\"name\":\"testgpu\",\"sm.count\":2,"
    "\"sm.max_warps\":64,\"sm.schedulers\":2}";

static void *must(void *p) {
    if (!p) fail_msg("out of memory");
    return p;
}

/* ---- one launch ---- */

static void fill_epoch(struct ww_epoch *e, struct ww_rng *rng) {
    for (int s = 0; s < WW_STATE_COUNT; s++)
        e->warp_cycles[s] = s % 5 == 4 ? 0 : ww_rng_below(rng, (uint32_t)e->cycles * 4) + 1;
    e->warp_cycles[WW_S_ISSUED] = ww_rng_below(rng, (uint32_t)e->cycles * 2) + 1;
    e->warp_instructions = e->warp_cycles[WW_S_ISSUED];
}

static void fill_epochs(struct ww_launch_result *l, struct ww_arena *arena, struct ww_rng *rng) {
    l->epoch_count = (l->cycles + EPOCH - 1) / EPOCH;
    l->epoch = must(ww_arena_array(arena, l->epoch_count, sizeof *l->epoch));
    for (size_t i = 0; i < l->epoch_count; i++) {
        struct ww_epoch *e = &l->epoch[i];
        e->first_cycle = i * EPOCH;
        e->cycles = l->cycles - e->first_cycle < EPOCH ? l->cycles - e->first_cycle : EPOCH;
        fill_epoch(e, rng);
        for (int s = 0; s < WW_STATE_COUNT; s++) l->warp_cycles[s] += e->warp_cycles[s];
        l->warp_instructions += e->warp_instructions;
    }
    for (int s = 0; s < WW_STATE_COUNT; s++) l->resident_warp_cycles += l->warp_cycles[s];
    l->thread_instructions = l->warp_instructions * 31;
}

static void fill_slots(struct ww_launch_result *l) {
    uint64_t rest = SMS * SCHEDULERS * l->cycles - l->warp_instructions;
    l->slot[WW_SLOT_ISSUED] = l->warp_instructions;
    l->slot[WW_SLOT_WAIT_MEM] = rest / 2;
    l->slot[WW_SLOT_WAIT_ALU] = rest / 3;
    l->slot[WW_SLOT_LAUNCH] = SMS * SCHEDULERS * (l->cycles / 32 + l->cycles / 64);
    l->slot[WW_SLOT_EMPTY] = rest - rest / 2 - rest / 3 - l->slot[WW_SLOT_LAUNCH];
}

static void fill_memory(uint64_t *c) {
    c[WW_C_L1_SECTOR_READ] = c[WW_C_L1_SECTOR_HIT] + c[WW_C_L1_SECTOR_MERGED] + c[WW_C_L1_SECTOR_MISS];
    c[WW_C_TEX_SECTOR_READ] = c[WW_C_TEX_SECTOR_HIT] + c[WW_C_TEX_SECTOR_MERGED] + c[WW_C_TEX_SECTOR_MISS];
    c[WW_C_L2_SECTOR_MISS] = c[WW_C_L1_SECTOR_MISS] / 2;
    c[WW_C_L2_SECTOR_MERGED] = c[WW_C_L1_SECTOR_MISS] / 8;
    c[WW_C_DMA_SECTOR] = 0;
    c[WW_C_DMA_WAKE] = c[WW_C_DMA_SQUASH];
    c[WW_C_PREFETCH_SENT] =
        c[WW_C_PREFETCH_TIMELY] + c[WW_C_PREFETCH_LATE] + c[WW_C_PREFETCH_EARLY] + c[WW_C_PREFETCH_USELESS];
    c[WW_C_PREFETCH_ASKED] =
        c[WW_C_PREFETCH_MERGED] + c[WW_C_PREFETCH_PRESENT] + c[WW_C_PREFETCH_DROPPED] + c[WW_C_PREFETCH_SENT];
    c[WW_C_XBAR_SECTOR_READ] =
        c[WW_C_L1_SECTOR_MISS] + c[WW_C_TEX_SECTOR_MISS] + c[WW_C_L2_ATOMIC] + c[WW_C_PREFETCH_SECTOR];
    c[WW_C_L1_SECTOR_WRITE] = c[WW_C_L1_WRITE_HIT] + c[WW_C_L1_WRITE_MISS];
    c[WW_C_XBAR_SECTOR_WRITE] = c[WW_C_L2_SECTOR_WRITE] = c[WW_C_L1_SECTOR_WRITE];
    c[WW_C_L2_WRITE_HIT] = c[WW_C_L2_SECTOR_WRITE] / 4;
    c[WW_C_L2_WRITE_MISS] = c[WW_C_L2_SECTOR_WRITE] - c[WW_C_L2_WRITE_HIT];
    c[WW_C_TLB_L2_ACCESS] = c[WW_C_TLB_L2_HIT] + c[WW_C_TLB_L2_MISS];
    c[WW_C_TLB_WALK] = c[WW_C_TLB_L2_MISS];
    c[WW_C_TLB_L1_MISS] = c[WW_C_TLB_MERGED] + c[WW_C_TLB_L2_ACCESS];
    c[WW_C_TLB_L1_ACCESS] = c[WW_C_TLB_L1_HIT] + c[WW_C_TLB_L1_MISS];
    c[WW_C_L2_SECTOR_READ] = c[WW_C_XBAR_SECTOR_READ] + c[WW_C_TLB_WALK_SECTOR];
    c[WW_C_L2_SECTOR_HIT] = c[WW_C_L2_SECTOR_READ] - c[WW_C_L2_SECTOR_MISS] - c[WW_C_L2_SECTOR_MERGED];
    c[WW_C_DRAM_SECTOR_READ] = c[WW_C_L2_SECTOR_MISS] + c[WW_C_L2_PREFETCH] + c[WW_C_L2_WRITE_FETCH];
    c[WW_C_DRAM_SECTOR_WRITE] = c[WW_C_L2_WRITEBACK] + c[WW_C_L2_WRITE_THROUGH];
    c[WW_C_DRAM_BURST_READ] = c[WW_C_DRAM_SECTOR_READ];
    c[WW_C_DRAM_BURST_WRITE] = c[WW_C_DRAM_SECTOR_WRITE];
    c[WW_C_DRAM_ROW_HIT] = c[WW_C_DRAM_SECTOR_READ] / 2;
}

static void fill_lanes(uint64_t *c) {
    c[WW_C_LANE_FP32] = c[WW_C_LANE_FP32_ADD] + c[WW_C_LANE_FP32_MUL] + c[WW_C_LANE_FP32_FMA];
    c[WW_C_LANE_FP16] = c[WW_C_LANE_FP16_ADD] + c[WW_C_LANE_FP16_MUL] + c[WW_C_LANE_FP16_FMA];
    c[WW_C_LANE_FP64] = c[WW_C_LANE_FP64_ADD] + c[WW_C_LANE_FP64_MUL] + c[WW_C_LANE_FP64_FMA];
    c[WW_C_LANE_SFU] = c[WW_C_LANE_SFU_EXP] + c[WW_C_LANE_SFU_RSQ] + c[WW_C_LANE_SFU_LOG] +
                       c[WW_C_LANE_SFU_SIN] + c[WW_C_LANE_CVT_FP] + c[WW_C_LANE_CVT_INT];
}

static void fill_counters(struct ww_launch_result *l, struct ww_rng *rng) {
    uint64_t *c = l->counter;
    for (int i = 0; i < WW_COUNTER_COUNT; i++) c[i] = i % 7 == 6 ? 0 : ww_rng_below(rng, 100000) + 1;
    c[WW_C_INST_ISSUED] = l->warp_instructions;
    c[WW_C_COPY_RECEIVED] = c[WW_C_COPY_SENT];
    c[WW_C_EVENT_RECEIVED] = c[WW_C_EVENT_SENT];
    c[WW_C_MBAR_WAIT] = c[WW_C_MBAR_OVER] + c[WW_C_MBAR_ENDED];
    c[WW_C_SYNC_WAIT] = c[WW_C_SYNC_OVER] + c[WW_C_SYNC_ENDED] + c[WW_C_SYNC_GIVEN_UP];
    c[WW_C_THREAD_INST] = l->thread_instructions;
    c[WW_C_DUAL_ISSUED] = 0;
    c[WW_C_SM_IDLE_CYCLES] = l->cycles / 8;
    c[WW_C_SM_ACTIVE_CYCLES] = SMS * l->cycles - c[WW_C_SM_IDLE_CYCLES];
    c[WW_C_LAUNCH_FRONT_CYCLES] = l->cycles / 32;
    c[WW_C_LAUNCH_END_CYCLES] = l->cycles / 64;
    c[WW_C_PIPE_STALL_CONFLICT] = c[WW_C_PIPE_STALL_OTHER] = c[WW_C_PIPE_STALL_SCHED] = 1;
    c[WW_C_PIPE_FETCH_CYCLES] = c[WW_C_SM_ACTIVE_CYCLES] - 3;
    c[WW_C_SMEM_FREE] = c[WW_C_SMEM_ALLOC];
    c[WW_C_FETCH_STREAM] = c[WW_C_FETCH_L0_MISS] / 2;
    c[WW_C_FETCH_L15] = c[WW_C_FETCH_L0_MISS] - c[WW_C_FETCH_STREAM] + c[WW_C_FETCH_AHEAD];
    c[WW_C_SHARED_PASSES] = c[WW_C_MEM_INST_SHARED] + c[WW_C_SHARED_WIDE] + c[WW_C_SHARED_CONFLICTS];
    c[WW_C_DRAM_BUSY_CYCLES] = l->cycles / 3;
    c[WW_C_DRAM_CYCLES] = l->cycles * 2;
    fill_lanes(c);
    fill_memory(c);
}

static void fill_energy(struct ww_energy *e, struct ww_rng *rng) {
    e->known = true;
    for (int i = 0; i < WW_COMPONENT_COUNT; i++) {
        e->dynamic_j[i] = i % 4 == 3 ? 0 : ww_rng_unit(rng) * 1e-5;
        e->static_j[i] = i % 3 == 2 ? 0 : ww_rng_unit(rng) * 1e-5;
        e->total_j += e->dynamic_j[i] + e->static_j[i];
    }
}

/* Power over time: half of the energy in the first epoch, one change of clocks. */
static void fill_time(struct ww_launch_result *l, struct ww_arena *arena) {
    for (size_t i = 0; i < l->epoch_count; i++) {
        l->epoch[i].time_ps = l->epoch[i].cycles * 1000;
        l->epoch[i].cta_limit = 8 - (uint32_t)i;
        l->epoch[i].ctas_paused = (uint32_t)i;
    }
    l->point_count = 2;
    l->point = must(ww_arena_array(arena, 2, sizeof *l->point));
    l->point[0] = (struct ww_vf_point){.mhz = {1000, 700, 924}};
    l->point[1] = (struct ww_vf_point){.cycle = 4608, .time_ps = 4608000, .mhz = {1150, 805, 1062.6}};
    l->cta_count = 3;
    l->cta = must(ww_arena_array(arena, 3, sizeof *l->cta));
    for (uint32_t i = 0; i < 3; i++)
        l->cta[i] = (struct ww_cta_span){i * 2, i % 2, i / 2, i * 100, 4000 + i, i * 100000, (4000 + i) * 1000};
    l->epoch_counter =
        must(ww_arena_array(arena, l->epoch_count * WW_EPOCH_COUNTERS, sizeof *l->epoch_counter));
    for (size_t i = 0; i < l->epoch_count * WW_EPOCH_COUNTERS; i++) l->epoch_counter[i] = i % 5 ? 1000 + i : 0;
    if (!l->energy.known) return;
    l->epoch_energy = must(ww_arena_array(arena, l->epoch_count, sizeof *l->epoch_energy));
    for (int c = 0; c < WW_COMPONENT_COUNT; c++)
        for (int e = 0; e < 2; e++) {
            l->epoch_energy[e].dynamic_j[c] = l->energy.dynamic_j[c] / 2;
            l->epoch_energy[e].static_j[c] = l->energy.static_j[c] / 2;
        }
}

/* Row i's part of a total: even shares, the last row takes the rest. */
static uint64_t part(uint64_t total, int i) {
    return i < PCS - 1 ? total / (PCS + 1) * (uint64_t)(i > 0) : total - (PCS - 2) * (total / (PCS + 1));
}

/* What counter k of instructions adds up to. */
static uint64_t sum_of(const struct ww_launch_result *l, int k) {
    static const int terms[WW_INST_COUNTER_COUNT][8] = {
#define SUM(...)                                                                                               \
    { __VA_ARGS__, -1 }
#define NO_SUM                                                                                                 \
    { -1 }
#define X(id, name, step, shown, heading, sum, help) [WW_I_##id] = sum,
#include "../../estimator/result/inst_counter.def"
#undef X
#undef NO_SUM
#undef SUM
    };
    uint64_t sum = 0;
    for (int i = 0; terms[k][i] >= 0; i++) sum += l->counter[terms[k][i]];
    return sum;
}

static void fill_pcs(struct ww_launch_result *l, struct ww_arena *arena) {
    static const char *const mnemonics[PCS] = {"S2R", "LDG.E", "FFMA", "STG.E", "EXIT"};
    l->pc_count = PCS;
    l->pc = must(ww_arena_array(arena, PCS, sizeof *l->pc));
    for (int i = 0; i < PCS; i++) {
        struct ww_pc_row *p = &l->pc[i];
        p->inst = (uint32_t)i;
        p->pc = (uint32_t)i * 16;
        p->line = i == 4 ? 0 : 10 + (uint32_t)i / 2;
        p->file = i == 4 ? "" : "src/kernel.cu";
        p->mnemonic = mnemonics[i];
        for (int k = 0; k < WW_INST_COUNTER_COUNT; k++) p->counter[k] = part(sum_of(l, k), i);
        p->counter[WW_I_IDEAL_SECTORS] = p->counter[WW_I_SECTORS] / 4;
        for (int s = 0; s < WW_STATE_COUNT; s++)
            if (s != WW_S_DONE) p->stall[s] = part(l->warp_cycles[s], i);
    }
}

static void fill_launch(struct ww_launch_result *l, size_t index, const struct ww_fixture *f,
                        struct ww_arena *arena, struct ww_rng *rng) {
    l->index = (uint32_t)index;
    l->kernel = index % 2 ? "second_kernel" : "first_kernel";
    for (int i = 0; i < 3; i++) l->grid[i] = i == 0 ? 40 + (uint32_t)index : 1;
    for (int i = 0; i < 3; i++) l->block[i] = i == 0 ? 256 : 1;
    l->registers_per_thread = 24;
    l->shared_bytes = 1024;
    l->ctas_per_sm = 4;
    l->occupancy_limiter = "registers";
    l->code = index % 2 ? "ptxas 12.4.131 -arch sm_70" : NULL; /* a trace may have both */
    l->cycles = 9000 + ww_rng_below(rng, 3000);
    l->time_ps = l->cycles * 1000;
    fill_epochs(l, arena, rng);
    fill_slots(l);
    fill_counters(l, rng);
    fill_pcs(l, arena);
    if (!f->no_energy) fill_energy(&l->energy, rng);
    fill_time(l, arena);
}

/* ---- the result ---- */

static void describe(struct ww_result *r, const struct ww_fixture *f, struct ww_arena *arena) {
    static const char *const settings[][2] = {{"sched", "gto"}, {"fetch", "none"}, {"fetch.degree", "2"}};
    r->gpu = f->gpu ? f->gpu : "testgpu";
    r->gpu_json = gpu_json;
    r->trace = f->trace ? f->trace : "dir/fixture.wwt";
    r->trace_hash = f->hash ? f->hash : "00112233445566778899aabbccddeeff";
    r->program = "fixture n=42";
    r->mode = "full";
    r->version = WW_VERSION;
    r->seed = f->seed;
    r->epoch_cycles = EPOCH;
    r->mechanism_count = sizeof settings / sizeof *settings;
    r->mechanism = must(ww_arena_array(arena, r->mechanism_count, sizeof *r->mechanism));
    for (size_t i = 0; i < r->mechanism_count; i++)
        r->mechanism[i] = (struct ww_setting){settings[i][0], settings[i][1]};
}

static void add_up(struct ww_result *r) {
    r->energy_known = true;
    for (size_t i = 0; i < r->launch_count; i++) {
        const struct ww_launch_result *l = &r->launch[i];
        r->cycles += l->cycles;
        r->time_ps += l->time_ps;
        r->warp_instructions += l->warp_instructions;
        r->thread_instructions += l->thread_instructions;
        r->energy_j += l->energy.total_j;
        r->energy_known &= l->energy.known;
    }
    r->confidence = 0.95;
    r->cycles_interval = (struct ww_interval){(double)r->cycles, (double)r->cycles};
    r->energy_interval = (struct ww_interval){r->energy_j, r->energy_j};
    r->host_seconds = 0.125;
    r->peak_memory_bytes = 12345678;
}

struct ww_result *ww_fixture_result(const struct ww_fixture *options) {
    struct ww_fixture f = options ? *options : (struct ww_fixture){0};
    struct ww_result *r = must(calloc(1, sizeof *r));
    struct ww_arena *arena = must(calloc(1, sizeof *arena));
    struct ww_rng rng;
    ww_rng_seed(&rng, f.seed);
    ww_arena_init(arena, 0);
    r->owner = arena;
    describe(r, &f, arena);
    r->launch_count = f.launches ? f.launches : 2;
    r->launch = must(ww_arena_array(arena, r->launch_count, sizeof *r->launch));
    for (size_t i = 0; i < r->launch_count; i++) fill_launch(&r->launch[i], i, &f, arena, &rng);
    add_up(r);
    return r;
}

/* ---- comparing ---- */

#define SAME(field)                                                                                            \
    do {                                                                                                       \
        if (a->field != b->field) fail_msg("field " #field " differs");                                        \
    } while (0)
#define SAME_TEXT(field)                                                                                       \
    do {                                                                                                       \
        if (strcmp(a->field, b->field) != 0)                                                                   \
            fail_msg("field " #field ": \"%s\" and \"%s\"", a->field, b->field);                               \
    } while (0)
#define SAME_BYTES(field)                                                                                      \
    do {                                                                                                       \
        if (memcmp(a->field, b->field, sizeof a->field) != 0) fail_msg("field " #field " differs");            \
    } while (0)

static void same_epoch(const struct ww_epoch *a, const struct ww_epoch *b) {
    SAME(first_cycle);
    SAME(cycles);
    SAME(warp_instructions);
    SAME_BYTES(warp_cycles);
    SAME(time_ps);
    SAME(cta_limit);
    SAME(ctas_paused);
}

static void same_epoch_energy(const struct ww_epoch_energy *a, const struct ww_epoch_energy *b) {
    SAME_BYTES(dynamic_j);
    SAME_BYTES(static_j);
}

static void same_point(const struct ww_vf_point *a, const struct ww_vf_point *b) {
    SAME(cycle);
    SAME(time_ps);
    SAME_BYTES(mhz);
}

static void same_cta(const struct ww_cta_span *a, const struct ww_cta_span *b) {
    SAME(cta);
    SAME(sm);
    SAME(slot);
    SAME(first_cycle);
    SAME(end_cycle);
    SAME(start_ps);
    SAME(end_ps);
}

static void same_pc(const struct ww_pc_row *a, const struct ww_pc_row *b) {
    SAME(inst);
    SAME(pc);
    SAME(line);
    SAME_TEXT(file);
    SAME_TEXT(mnemonic);
    SAME_BYTES(counter);
    SAME_BYTES(stall);
}

static void same_launch(const struct ww_launch_result *a, const struct ww_launch_result *b) {
    SAME(index);
    SAME_TEXT(kernel);
    SAME_BYTES(grid);
    SAME_BYTES(block);
    SAME(registers_per_thread);
    SAME(shared_bytes);
    SAME(ctas_per_sm);
    SAME_TEXT(occupancy_limiter);
    assert_int_equal(!a->code, !b->code);
    if (a->code) SAME_TEXT(code);
    SAME(cycles);
    SAME(time_ps);
    SAME(warp_instructions);
    SAME(thread_instructions);
    SAME(resident_warp_cycles);
    SAME_BYTES(counter);
    SAME_BYTES(warp_cycles);
    SAME_BYTES(slot);
    SAME(energy.known);
    SAME(energy.total_j);
    SAME_BYTES(energy.dynamic_j);
    SAME_BYTES(energy.static_j);
    SAME(epoch_count);
    SAME(pc_count);
    SAME(pc_unknown);
    for (size_t i = 0; i < a->epoch_count; i++) same_epoch(&a->epoch[i], &b->epoch[i]);
    for (size_t i = 0; i < a->pc_count; i++) same_pc(&a->pc[i], &b->pc[i]);
    if (!a->epoch_energy != !b->epoch_energy) fail_msg("only one has energy by epoch");
    for (size_t i = 0; a->epoch_energy && i < a->epoch_count; i++)
        same_epoch_energy(&a->epoch_energy[i], &b->epoch_energy[i]);
    SAME(cta_count);
    for (size_t i = 0; i < a->cta_count; i++) same_cta(&a->cta[i], &b->cta[i]);
    if (!a->epoch_counter != !b->epoch_counter) fail_msg("only one has counters by epoch");
    if (a->epoch_counter)
        assert_memory_equal(a->epoch_counter, b->epoch_counter,
                            a->epoch_count * WW_EPOCH_COUNTERS * sizeof *a->epoch_counter);
    SAME(point_count);
    for (size_t i = 0; i < a->point_count; i++) same_point(&a->point[i], &b->point[i]);
}

static void same_head(const struct ww_result *a, const struct ww_result *b) {
    SAME_TEXT(gpu);
    SAME_TEXT(gpu_json);
    SAME_TEXT(trace);
    SAME_TEXT(trace_hash);
    SAME_TEXT(program);
    SAME_TEXT(mode);
    SAME_TEXT(version);
    SAME(seed);
    SAME(epoch_cycles);
    SAME(mechanism_count);
    for (size_t i = 0; i < a->mechanism_count; i++) {
        SAME_TEXT(mechanism[i].key);
        SAME_TEXT(mechanism[i].value);
    }
}

void ww_fixture_assert_equal(const struct ww_result *a, const struct ww_result *b) {
    same_head(a, b);
    SAME(cycles);
    SAME(time_ps);
    SAME(warp_instructions);
    SAME(thread_instructions);
    SAME(energy_known);
    SAME(energy_j);
    SAME(confidence);
    SAME(cycles_interval.lo);
    SAME(cycles_interval.hi);
    SAME(energy_interval.lo);
    SAME(energy_interval.hi);
    SAME(host_seconds);
    SAME(peak_memory_bytes);
    SAME(launch_count);
    for (size_t i = 0; i < a->launch_count; i++) same_launch(&a->launch[i], &b->launch[i]);
}

void ww_fixture_assert_contains(const char *text, const char *sub) {
    if (!strstr(text, sub)) fail_msg("\"%s\" is not in \"%.2000s\"", sub, text);
}

/* ---- files ---- */

const char *ww_fixture_source_file(const char *name, char out[512]) {
    snprintf(out, 512, "%s", name);
    FILE *f = fopen(out, "r");
    if (!f) {
        const char *slash = strrchr(__FILE__, '/');
        snprintf(out, 512, "%.*s/../../%s", slash ? (int)(slash - __FILE__) : 1, slash ? __FILE__ : ".", name);
        f = fopen(out, "r");
    }
    if (!f) fail_msg("%s is not there", name);
    if (f) fclose(f);
    return out;
}

char *ww_fixture_read(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s cannot be opened", path);
    char *text = NULL;
    size_t n = 0, got;
    do {
        text = must(realloc(text, n + 4097));
        got = fread(text + n, 1, 4096, f);
        n += got;
    } while (got == 4096);
    fclose(f);
    text[n] = 0;
    return text;
}
