#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../../estimator/warpwatt.h"
#include "memsys_fixture.h"
#include <string.h>

static void set_dram(struct ww_gpu_spec *s) {
    s->dram_channels = 1;
    s->dram_bus_bits = 128;
    s->dram_data_rate = 2;
    s->dram_burst = 2;
    s->dram_banks = 8;
    s->dram_bank_groups = 4;
    s->dram_row_bytes = 2048;
    s->dram_queue = 64;
    s->dram_latency = 50;
    s->dram_tcl = 12;
    s->dram_twl = 4;
    s->dram_trcd = 14;
    s->dram_trp = 13;
    s->dram_tras = 30;
    s->dram_trrd = 4;
    s->dram_tfaw = 20;
    s->dram_tccd = 1;
    s->dram_tccd_l = 2;
    s->dram_twr = 11;
    s->dram_twtr = 5;
    s->dram_trtp = 3;
    s->dram_trefi = 0;
    s->dram_trfc = 0;
}

void small_spec(struct ww_gpu_spec *s) {
    memset(s, 0, sizeof *s);
    ww_param_defaults(ww_gpu_rows, ww_gpu_row_count, s);
    s->clock_sm_mhz = s->clock_l2_mhz = s->clock_dram_mhz = 1000;
    s->sm_count = 2;
    s->l1_line = 128;
    s->l1_sector = 32;
    s->xbar_latency = 10;
    s->xbar_flit = 40;
    s->xbar_header = 8;
    s->xbar_request_queue = 8;
    s->xbar_reply_queue = 8;
    s->l2_slices = 2;
    s->l2_size_kb = 16;
    s->l2_line = 128;
    s->l2_sector = 32;
    s->l2_ways = 4;
    s->l2_mshrs = 64;
    s->l2_mshr_merge = 8;
    s->l2_latency = 20;
    s->l2_bytes_per_cycle = 32;
    s->l2_interleave = 256;
    s->l2_slice_hash = 0;
    s->l2_hash = WW_HASH_NONE;
    set_dram(s);
}

static void on_reply(void *context, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    struct rig *rig = context;
    if (rig->replies < LOG_MAX) rig->log[rig->replies] = (struct logged){*reply, now_ps, sm};
    rig->replies++;
    if (rig->react) rig->react(rig, sm, reply, now_ps);
}

static void on_unblocked(void *context, uint16_t sm, uint64_t now_ps) {
    struct rig *rig = context;
    rig->unblocked++;
    if (rig->react) rig->react(rig, sm, NULL, now_ps);
}

void rig_start(struct rig *rig) {
    struct ww_memsys_client client = {rig, on_reply, on_unblocked};
    memset(rig->counter, 0, sizeof rig->counter);
    memset(rig->inst, 0, sizeof rig->inst);
    rig->replies = rig->unblocked = 0;
    rig->queue = ww_queue_new(500);
    assert_non_null(rig->queue);
    rig->memory = ww_memsys_new(&rig->spec, rig->queue, &client, rig->counter, 1);
    assert_non_null(rig->memory);
    ww_memsys_count_insts(rig->memory, rig->inst);
}

void rig_stop(struct rig *rig) {
    ww_memsys_free(rig->memory);
    ww_queue_free(rig->queue);
}

void rig_drain(struct rig *rig) {
    for (uint64_t steps = 0; ww_queue_step(rig->queue); steps++) assert_true(steps < 50000000);
    assert_true(ww_memsys_idle(rig->memory));
}

static void send(struct rig *rig, struct ww_mem_request request) {
    request.needs_reply = 1;
    request.inst = request.tag % RIG_INSTS;
    assert_true(ww_memsys_send(rig->memory, &request, ww_queue_now(rig->queue)));
}

void rig_read(struct rig *rig, uint16_t sm, uint64_t address, uint32_t sectors, uint32_t tag) {
    send(rig, (struct ww_mem_request){
                  .address = address, .sectors = sectors, .tag = tag, .sm = sm, .kind = WW_MEM_READ});
}

void rig_write(struct rig *rig, uint16_t sm, uint64_t address, uint32_t sectors, uint16_t bytes, uint32_t tag) {
    send(rig, (struct ww_mem_request){.address = address,
                                      .sectors = sectors,
                                      .tag = tag,
                                      .sm = sm,
                                      .kind = WW_MEM_WRITE,
                                      .bytes = bytes});
}

void rig_atomic(struct rig *rig, uint16_t sm, uint64_t address, uint32_t sectors, uint16_t ops, uint32_t tag) {
    send(rig, (struct ww_mem_request){.address = address,
                                      .sectors = sectors,
                                      .tag = tag,
                                      .sm = sm,
                                      .kind = WW_MEM_ATOMIC,
                                      .bytes = (uint16_t)(4 * ops),
                                      .atomic_ops = ops});
}

uint64_t rig_round_trip(struct rig *rig, uint64_t address, uint32_t sectors) {
    uint64_t from = ww_queue_now(rig->queue);
    size_t before = rig->replies;
    rig_read(rig, 0, address, sectors, 0);
    rig_drain(rig);
    assert_true(rig->replies > before && rig->replies <= LOG_MAX);
    return rig->log[rig->replies - 1].ps - from;
}

static uint64_t over_instructions(const struct rig *rig, enum ww_inst_counter counter) {
    uint64_t sum = 0;
    for (int i = 0; i < RIG_INSTS; i++) sum += rig->inst[i].counter[counter];
    return sum;
}

void rig_check_laws(const struct rig *rig) {
    const uint64_t *c = rig->counter;
    assert_int_equal(over_instructions(rig, WW_I_L2_MISS), c[WW_C_L2_SECTOR_MISS]);
    assert_int_equal(over_instructions(rig, WW_I_L2_MERGED), c[WW_C_L2_SECTOR_MERGED]);
    assert_int_equal(c[WW_C_L2_SECTOR_READ], c[WW_C_XBAR_SECTOR_READ] + c[WW_C_TLB_WALK_SECTOR]);
    assert_int_equal(c[WW_C_TLB_L1_ACCESS], rig->spec.tlb_enabled ? c[WW_C_XBAR_REQUEST] : 0);
    assert_int_equal(c[WW_C_TLB_L1_ACCESS], c[WW_C_TLB_L1_HIT] + c[WW_C_TLB_L1_MISS]);
    assert_int_equal(c[WW_C_TLB_L1_MISS], c[WW_C_TLB_MERGED] + c[WW_C_TLB_L2_ACCESS]);
    assert_int_equal(c[WW_C_TLB_L2_ACCESS], c[WW_C_TLB_L2_HIT] + c[WW_C_TLB_L2_MISS]);
    assert_int_equal(c[WW_C_TLB_WALK], c[WW_C_TLB_L2_MISS]);
    assert_int_equal(c[WW_C_L2_SECTOR_READ],
                     c[WW_C_L2_SECTOR_HIT] + c[WW_C_L2_SECTOR_MERGED] + c[WW_C_L2_SECTOR_MISS]);
    assert_int_equal(c[WW_C_L2_SECTOR_WRITE], c[WW_C_XBAR_SECTOR_WRITE]);
    assert_int_equal(c[WW_C_DRAM_SECTOR_READ],
                     c[WW_C_L2_SECTOR_MISS] + c[WW_C_L2_PREFETCH] + c[WW_C_L2_WRITE_FETCH]);
    assert_int_equal(c[WW_C_DRAM_SECTOR_WRITE], c[WW_C_L2_WRITEBACK] + c[WW_C_L2_WRITE_THROUGH]);
    uint64_t burst = rig->spec.dram_bus_bits / 8 * rig->spec.dram_burst;
    uint64_t per_sector = rig->spec.l2_sector > burst ? rig->spec.l2_sector / burst : 1;
    uint64_t small = rig->spec.l2_sector / 32; /* counters are of 32-byte sectors */
    assert_int_equal(c[WW_C_DRAM_BURST_READ] * small, c[WW_C_DRAM_SECTOR_READ] * per_sector);
    assert_int_equal(c[WW_C_DRAM_BURST_WRITE] * small, c[WW_C_DRAM_SECTOR_WRITE] * per_sector);
    uint64_t open = c[WW_C_DRAM_ACTIVATE] - c[WW_C_DRAM_PRECHARGE];
    assert_true(open <= (uint64_t)rig->spec.dram_channels * rig->spec.dram_banks);
    uint64_t bursts = c[WW_C_DRAM_BURST_READ] + c[WW_C_DRAM_BURST_WRITE];
    uint64_t cycles = rig->spec.dram_burst / rig->spec.dram_data_rate;
    assert_int_equal(c[WW_C_DRAM_BUSY_CYCLES], bursts * (cycles ? cycles : 1));
    assert_true(c[WW_C_DRAM_ROW_HIT] + c[WW_C_DRAM_ACTIVATE] >= bursts);
}
