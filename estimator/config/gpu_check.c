/* Rules that tie several GPU parameters together. */
#include "gpu.h"
#include "mask_list.h"

struct check {
    const struct ww_gpu_spec *s;
    const char *where;
    struct ww_error *error;
};

#define RULE(c, holds, key, ...)                                                                               \
    do {                                                                                                       \
        if (!(holds)) return broken(c, key, __VA_ARGS__);                                                      \
    } while (0)

__attribute__((format(printf, 3, 4))) static enum ww_code broken(const struct check *c, const char *key,
                                                                 const char *fmt, ...) {
    char text[400], where[320];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    snprintf(where, sizeof where, "%.240s: $.%s", c->where, key);
    return ww_fail(c->error, WW_INPUT, where, "%s", text);
}

static enum ww_code powers_of_two(const struct check *c) {
    const struct ww_gpu_spec *s = c->s;
    const struct {
        const char *key;
        uint32_t v;
    } all[] = {
        {"l1.line", s->l1_line},
        {"l1.sector", s->l1_sector},
        {"l1.tag_banks", s->l1_tag_banks},
        {"lsu.line", s->lsu_line},
        {"tex.line", s->tex_line},
        {"l2.line", s->l2_line},
        {"l2.sector", s->l2_sector},
        {"l2.fetch_bytes", s->l2_fetch_bytes},
        {"l2.interleave", s->l2_interleave},
        {"icache.line", s->icache_line},
        {"const.line", s->const_line},
        {"const.l15_line", s->const_l15_line},
        {"shared.banks", s->shared_banks},
        {"shared.bank_bytes", s->shared_bank_bytes},
        {"shared.map_bytes", s->shared_map_bytes},
        {"dram.banks", s->dram_banks},
        {"dram.bank_groups", s->dram_bank_groups},
        {"dram.row_bytes", s->dram_row_bytes},
        {"dram.bus_bits", s->dram_bus_bits},
        {"dram.burst", s->dram_burst},
        {"lsu.lanes", s->lsu_lanes},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        RULE(c, (all[i].v & (all[i].v - 1)) == 0, all[i].key, "%u is not a power of two", all[i].v);
    return WW_OK;
}

static enum ww_code sm_rules(const struct check *c) {
    const struct ww_gpu_spec *s = c->s;
    RULE(c, s->power_sm_mhz == 0 || s->clock_sm_mhz <= 10 * s->power_sm_mhz, "power.sm_mhz",
         "%g MHz is below a tenth of clock.sm_mhz, %g: no chip's voltage reaches so far", s->power_sm_mhz,
         s->clock_sm_mhz);
    RULE(c, !s->collect_units_sp || !s->front_rf_banks, "collect.units_sp",
         "operand collectors and front.rf_banks model the same conflicts: one of them must be 0");
    RULE(c, !s->front_rf_window || s->front_rf_banks == 2, "front.rf_window",
         "reads are of two banks, but front.rf_banks is %u", s->front_rf_banks);
    RULE(c, s->sm_schedulers <= s->sm_max_warps, "sm.schedulers", "%u schedulers, but sm.max_warps is %u",
         s->sm_schedulers, s->sm_max_warps);
    RULE(c, s->sm_max_threads <= s->sm_max_warps * 32, "sm.max_threads", "%u does not fit sm.max_warps = %u",
         s->sm_max_threads, s->sm_max_warps);
    RULE(c, s->sm_shared_per_cta_kb <= s->sm_shared_kb, "sm.shared_per_cta_kb",
         "%u KiB is more than sm.shared_kb = %u KiB; with it set sm.shared_per_cta_kb to %u at most",
         s->sm_shared_per_cta_kb, s->sm_shared_kb, s->sm_shared_kb);
    RULE(c, s->sm_register_unit <= s->sm_registers, "sm.register_unit", "%u is more than sm.registers = %u",
         s->sm_register_unit, s->sm_registers);
    RULE(c, s->sm_shared_unit <= s->sm_shared_kb * 1024 || !s->sm_shared_kb, "sm.shared_unit",
         "%u is more than sm.shared_kb = %u KiB", s->sm_shared_unit, s->sm_shared_kb);
    return WW_OK;
}

static enum ww_code shared_rules(const struct check *c) {
    const struct ww_gpu_spec *s = c->s;
    const struct {
        const char *key;
        uint32_t v;
    } all[] = {
        {"shared.conflict_cycles_2", s->shared_conflict_cycles_2},
        {"shared.conflict_cycles_4", s->shared_conflict_cycles_4},
        {"shared.conflict_cycles_8", s->shared_conflict_cycles_8},
        {"shared.conflict_cycles_16", s->shared_conflict_cycles_16},
        {"shared.conflict_cycles_32", s->shared_conflict_cycles_32},
    };
    for (size_t i = 1; i < sizeof all / sizeof all[0]; i++)
        RULE(c, all[i].v >= all[i - 1].v && !all[i].v == !all[0].v, all[i].key,
             "%u after %s = %u: give all five, rising, or none", all[i].v, all[i - 1].key, all[i - 1].v);
    RULE(c, !s->shared_map_bytes || (s->shared_map_bytes >= 4 && s->shared_map_bytes <= s->shared_bank_bytes),
         "shared.map_bytes", "%u is not 4 to shared.bank_bytes = %u", s->shared_map_bytes,
         s->shared_bank_bytes);
    RULE(c, !s->shared_half_warp || (s->shared_banks <= 32 && s->shared_bank_bytes == 4), "shared.half_warp",
         "half-warps are those of at most 32 banks of 4 bytes, not %u of %u", s->shared_banks,
         s->shared_bank_bytes);
    return WW_OK;
}

static enum ww_code pipe_rules(const struct check *c) {
    const struct ww_gpu_spec *s = c->s;
    const struct {
        const char *key;
        uint32_t lanes, count;
    } all[] = {
        {"pipe.int.lanes", s->pipe_int_lanes, s->pipe_int_count},
        {"pipe.imul.lanes", s->pipe_imul_lanes, s->pipe_imul_count},
        {"pipe.fp32.lanes", s->pipe_fp32_lanes, s->pipe_fp32_count},
        {"pipe.fp16.lanes", s->pipe_fp16_lanes, s->pipe_fp16_count},
        {"pipe.fp64.lanes", s->pipe_fp64_lanes, s->pipe_fp64_count},
        {"pipe.sfu.lanes", s->pipe_sfu_lanes, s->pipe_sfu_count},
        {"pipe.tensor.lanes", s->pipe_tensor_lanes, s->pipe_tensor_count},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        RULE(c, !all[i].count || (all[i].lanes & (all[i].lanes - 1)) == 0, all[i].key,
             "%u is not a power of two (a warp has 32 lanes)", all[i].lanes);
    return WW_OK;
}

/* One cache: sectors divide lines; whole sets. `bytes` is per instance. */
static enum ww_code cache_rules(const struct check *c, const char *key, uint64_t bytes, uint32_t line,
                                uint32_t sector, uint32_t ways) {
    RULE(c, sector <= line, key, "sectors of %u bytes are larger than lines of %u bytes", sector, line);
    RULE(c, line / sector <= 32, key, "lines of %u bytes have more than 32 sectors of %u bytes", line, sector);
    uint64_t set = (uint64_t)line * ways;
    RULE(c, bytes >= set && bytes % set == 0, key,
         "%llu bytes are not a whole number of sets of %u ways of %u-byte lines", (unsigned long long)bytes,
         ways, line);
    return WW_OK;
}

/* Carve-outs rise, lie in the array, and hold all of the shared memory. */
static enum ww_code carveout_rules(const struct check *c) {
    const struct ww_gpu_spec *s = c->s;
    uint64_t kb[WW_MASKS_MAX];
    int count = ww_mask_list(s->l1_carveouts, kb);
    if (!s->l1_carveouts[0]) return WW_OK;
    bool good =
        count > 0 && s->l1_unified && kb[count - 1] >= s->sm_shared_kb && kb[count - 1] <= s->l1_size_kb;
    for (int i = 1; i < count; i++) good = good && kb[i] > kb[i - 1];
    RULE(c, good, "l1.carveouts",
         "\"%s\": expected rising KiB, the last of sm.shared_kb = %u to l1.size_kb = %u, and l1.unified",
         s->l1_carveouts, s->sm_shared_kb, s->l1_size_kb);
    return WW_OK;
}

static enum ww_code memory_rules(const struct check *c) {
    const struct ww_gpu_spec *s = c->s;
    RULE(c, s->l1_read_spare < s->l1_miss_queue, "l1.read_spare", "%u leaves no place of l1.miss_queue = %u",
         s->l1_read_spare, s->l1_miss_queue);
    if (s->l1_enabled)
        WW_TRY(
            cache_rules(c, "l1.size_kb", (uint64_t)s->l1_size_kb << 10, s->l1_line, s->l1_sector, s->l1_ways));
    if (s->icache_kb)
        WW_TRY(cache_rules(c, "icache.kb", (uint64_t)s->icache_kb << 10, s->icache_line, s->icache_line,
                           s->icache_ways));
    if (s->icache_l0_kb) {
        RULE(c, s->icache_kb, "icache.l0_kb", "an L0 needs an L1.5 behind it, but icache.kb is 0");
        RULE(c, s->icache_line >= 32, "icache.line", "%u bytes do not hold two instructions", s->icache_line);
        WW_TRY(cache_rules(c, "icache.l0_kb", (uint64_t)s->icache_l0_kb << 10, s->icache_line, s->icache_line,
                           s->icache_l0_ways));
    }
    if (s->const_fixed_kb)
        WW_TRY(cache_rules(c, "const.fixed_kb", (uint64_t)s->const_fixed_kb << 10, s->const_line, s->const_line,
                           s->const_fixed_ways));
    if (s->const_l15_kb)
        WW_TRY(cache_rules(c, "const.l15_kb", (uint64_t)s->const_l15_kb << 10, s->const_l15_line,
                           s->const_l15_line, s->const_l15_ways));
    WW_TRY(
        cache_rules(c, "const.kb", (uint64_t)s->const_kb << 10, s->const_line, s->const_line, s->const_ways));
    uint64_t l2 = (uint64_t)s->l2_size_kb << 10;
    RULE(c, l2 % s->l2_slices == 0, "l2.size_kb", "%u KiB do not divide into l2.slices = %u", s->l2_size_kb,
         s->l2_slices);
    WW_TRY(cache_rules(c, "l2.size_kb", l2 / s->l2_slices, s->l2_line, s->l2_sector, s->l2_ways));
    RULE(c, !s->l1_unified || s->l1_size_kb >= s->sm_shared_kb, "l1.size_kb",
         "%u KiB hold less than sm.shared_kb = %u KiB, but l1.unified is true; with it set sm.shared_kb and "
         "sm.shared_per_cta_kb to %u at most",
         s->l1_size_kb, s->sm_shared_kb, s->l1_size_kb);
    WW_TRY(carveout_rules(c));
    uint32_t both = (s->l1_enabled ? s->l1_size_kb : 0) + s->sm_shared_kb;
    RULE(c, !s->sm_array_kb || both <= s->sm_array_kb, "l1.size_kb",
         "%u KiB and sm.shared_kb = %u KiB do not fit the array that they share, sm.array_kb = %u KiB; with it "
         "set "
         "sm.shared_kb and sm.shared_per_cta_kb to %u at most",
         s->l1_size_kb, s->sm_shared_kb, s->sm_array_kb,
         s->l1_size_kb < s->sm_array_kb ? s->sm_array_kb - s->l1_size_kb : 0);
    if (s->xbar_columns) {
        RULE(c, s->sm_gpcs, "xbar.columns", "ways differ by the SM's GPC, but sm.gpcs is 0");
        RULE(c, s->l2_slices % (2 * s->xbar_columns) == 0, "xbar.columns",
             "%u slices do not divide into %u columns of two partitions", s->l2_slices, s->xbar_columns);
        RULE(c, s->l2_partitions == 1, "xbar.columns",
             "ways that differ are not modelled with l2.partitions=2");
        RULE(c, s->l2_coalesce < 2, "xbar.columns", "ways that differ are not modelled with l2.coalesce");
    }
    if (s->l2_partitions > 1) {
        RULE(c, s->l2_slices % 2 == 0, "l2.partitions", "%u slices do not divide in two", s->l2_slices);
        RULE(c, s->l2_ways > 1 && s->l2_mshrs > 15, "l2.partitions",
             "two partitions need 2 ways and 16 MSHRs of a slice, but l2.ways is %u and l2.mshrs %u",
             s->l2_ways, s->l2_mshrs);
        RULE(c, (uint64_t)s->l2_mshrs * s->l2_mshr_merge <= 16384, "l2.partitions",
             "l2.mshrs = %u times l2.mshr_merge = %u is more than two partitions take, 16384", s->l2_mshrs,
             s->l2_mshr_merge);
        RULE(c, s->l2_write_miss == WW_L2_WRITE_ALLOCATE, "l2.write_miss",
             "fetch is not modelled with two partitions");
        RULE(c, s->l2_prefetch == WW_L2_PREFETCH_OFF, "l2.prefetch", "is not modelled with two partitions");
    }
    if (s->l2_write_miss == WW_L2_WRITE_FETCH)
        RULE(c, s->l2_mshrs >= ww_gpu_request_line(s) / s->l2_sector, "l2.mshrs",
             "%u MSHRs of a slice cannot fetch the %u sectors that a request may write (l2.write_miss=fetch)",
             s->l2_mshrs, ww_gpu_request_line(s) / s->l2_sector);
    RULE(c, s->l2_replace != 3 || s->l2_ways <= 64, "l2.ways", "%u ways; l2.replace nru takes 64 at most",
         s->l2_ways);
    RULE(c, s->l2_prefetch != WW_L2_PREFETCH_SEQUENTIAL || s->l2_prefetch_kb, "l2.prefetch_kb",
         "0 KiB, but l2.prefetch is sequential");
    uint32_t line = ww_gpu_request_line(s);
    RULE(c, line >= s->l1_line, "lsu.line", "%u bytes are less than l1.line = %u", line, s->l1_line);
    RULE(c, line == s->l1_line || (s->l1_sector == 32 && s->l2_sector == 32), "lsu.line",
         "%u bytes need sectors of 32 bytes, but l1.sector is %u and l2.sector %u", line, s->l1_sector,
         s->l2_sector);
    RULE(c, s->l2_interleave >= line && s->l2_interleave >= s->l2_line, "l2.interleave",
         "%u bytes split a line (l1.line = %u, lsu.line = %u, l2.line = %u)", s->l2_interleave, s->l1_line,
         line, s->l2_line);
    RULE(c, s->l2_sector == s->l1_sector || s->l1_sector % s->l2_sector == 0, "l2.sector",
         "%u bytes do not divide l1.sector = %u", s->l2_sector, s->l1_sector);
    RULE(c, line <= s->l2_line || line % s->l2_line == 0, "l2.line", "%u bytes do not divide l1.line = %u",
         s->l2_line, line);
    return WW_OK;
}

/* A list of masks that gives the bits of a set number; see core/memory/set_index.h. */
static enum ww_code index_rules(const struct check *c, const char *key, const char *text, uint32_t line,
                                uint32_t sets) {
    uint64_t mask[WW_MASKS_MAX];
    int count = ww_mask_list(text, mask);
    RULE(c, count >= 0 && count <= 16, key, "\"%s\" is not a list of at most 16 numbers between commas", text);
    RULE(c, (sets >> count) << count == sets && sets >> count, key,
         "%d masks do not divide %u sets; expected at most %d masks, or none (%s=)", count, sets,
         sets ? __builtin_ctz(sets) : 0, key);
    for (int i = 0; i < count; i++)
        RULE(c, mask[i] >= line && !(mask[i] & (line - 1)) && mask[i] >> 40 <= line - 1, key,
             "0x%llx has no bit, a bit inside of a line of %u bytes, or too high a one",
             (unsigned long long)mask[i], line);
    return WW_OK;
}

static enum ww_code sm_cache_rules(const struct check *c) {
    const struct ww_gpu_spec *s = c->s;
    uint64_t weight[WW_MASKS_MAX], sum = 0;
    int count = ww_mask_list(s->l1_way_weights, weight);
    if (s->l1_enabled) {
        WW_TRY(index_rules(c, "l1.index", s->l1_index, s->l1_line,
                           s->l1_size_kb * 1024 / s->l1_line / s->l1_ways));
        for (int i = 0; i < count; i++) sum += weight[i] > UINT16_MAX ? UINT32_MAX : weight[i];
        RULE(c, s->l1_replace != WW_REPLACE_WEIGHTED || (count == (int)s->l1_ways && sum && sum < UINT32_MAX),
             "l1.way_weights",
             "\"%s\" gives no weights below 65536 for l1.ways = %u; expected one for each way, or another "
             "l1.replace, such as lru",
             s->l1_way_weights, s->l1_ways);
        RULE(c, s->l1_replace != WW_REPLACE_WEIGHTED || !s->l1_unified, "l1.replace",
             "weighted replacement needs a fixed number of ways, but l1.unified is true");
    }
    if (!s->tex_kb) return WW_OK;
    WW_TRY(cache_rules(c, "tex.kb", (uint64_t)s->tex_kb << 10, s->tex_line, 32, s->tex_ways));
    RULE(c, s->l2_sector == 32, "tex.kb", "a texture cache needs l2.sector = 32, which is %u", s->l2_sector);
    RULE(c, s->tex_line <= ww_gpu_request_line(s), "tex.line", "%u bytes are more than l1.line or lsu.line",
         s->tex_line);
    return index_rules(c, "tex.index", s->tex_index, s->tex_line, s->tex_kb * 1024 / s->tex_line / s->tex_ways);
}

static enum ww_code tlb_rules(const struct check *c) {
    const struct ww_gpu_spec *s = c->s;
    uint32_t values = s->tlb_l2_sets + (s->tlb_l2_first_ways ? 1 : 0);
    if (!s->tlb_enabled) return WW_OK;
    RULE(c, !(s->tlb_page_kb & (s->tlb_page_kb - 1)), "tlb.page_kb", "%u is not a power of two",
         s->tlb_page_kb);
    RULE(c, !(s->tlb_entry_bytes & (s->tlb_entry_bytes - 1)), "tlb.entry_bytes", "%u is not a power of two",
         s->tlb_entry_bytes);
    RULE(c, !(s->tlb_context_mb & (s->tlb_context_mb - 1)), "tlb.context_mb", "%u is not a power of two",
         s->tlb_context_mb);
    RULE(c, (values & (values - 1)) == 0, "tlb.l2_sets", "%u sets take %u values of the index, no power of two",
         s->tlb_l2_sets, values);
    RULE(c, s->tlb_entry_bytes <= ww_gpu_request_line(s), "tlb.entry_bytes",
         "%u bytes are more than a line of requests, %u", s->tlb_entry_bytes, ww_gpu_request_line(s));
    RULE(c, s->tlb_page_kb <= s->tlb_context_mb << 10, "tlb.page_kb",
         "%u KiB are more than tlb.context_mb = %u MiB", s->tlb_page_kb, s->tlb_context_mb);
    return WW_OK;
}

static enum ww_code dram_rules(const struct check *c) {
    const struct ww_gpu_spec *s = c->s;
    RULE(c, s->l2_slices % s->dram_channels == 0, "l2.slices", "%u is not a multiple of dram.channels = %u",
         s->l2_slices, s->dram_channels);
    RULE(c, s->dram_bank_groups <= s->dram_banks, "dram.bank_groups", "%u groups of dram.banks = %u banks",
         s->dram_bank_groups, s->dram_banks);
    uint32_t burst_bytes = s->dram_bus_bits / 8 * s->dram_burst;
    RULE(c, burst_bytes <= s->dram_row_bytes, "dram.row_bytes", "%u bytes hold less than a burst of %u bytes",
         s->dram_row_bytes, burst_bytes);
    RULE(c, burst_bytes <= s->l2_sector, "dram.bus_bits",
         "a burst of dram.burst = %u transfers carries %u bytes, of which one sector of l2.sector = %u is "
         "used, so that a "
         "wider bus moves no more; lower dram.burst and dram.tccd, or raise dram.channels",
         s->dram_burst, burst_bytes, s->l2_sector);
    RULE(c, s->dram_burst % s->dram_data_rate == 0, "dram.burst",
         "%u transfers are not a whole number of command-clock cycles at dram.data_rate = %u", s->dram_burst,
         s->dram_data_rate);
    RULE(c, s->dram_tccd >= s->dram_burst / s->dram_data_rate, "dram.tccd",
         "%u is less than a burst takes on the data bus: %u cycles", s->dram_tccd,
         s->dram_burst / s->dram_data_rate);
    RULE(c, s->dram_row_bytes >= s->l2_line, "dram.row_bytes", "%u bytes hold less than l2.line = %u",
         s->dram_row_bytes, s->l2_line);
    RULE(c, s->dram_tras >= s->dram_trcd, "dram.tras", "%u is less than dram.trcd = %u", s->dram_tras,
         s->dram_trcd);
    RULE(c, s->dram_tfaw >= s->dram_trrd, "dram.tfaw", "%u is less than dram.trrd = %u", s->dram_tfaw,
         s->dram_trrd);
    RULE(c, !s->dram_trefi || s->dram_trfc < s->dram_trefi, "dram.trfc",
         "%u: refreshes would take all of dram.trefi = %u", s->dram_trfc, s->dram_trefi);
    return WW_OK;
}

enum ww_code ww_gpu_check(const struct ww_gpu_spec *spec, const char *where, struct ww_error *error) {
    struct check c = {spec, where, error};
    WW_TRY(powers_of_two(&c));
    WW_TRY(sm_rules(&c));
    WW_TRY(shared_rules(&c));
    WW_TRY(pipe_rules(&c));
    WW_TRY(memory_rules(&c));
    WW_TRY(sm_cache_rules(&c));
    WW_TRY(tlb_rules(&c));
    return dram_rules(&c);
}
