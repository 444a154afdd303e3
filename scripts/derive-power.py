#!/usr/bin/env python3
"""Writes the power tables that are derived from those of gtx480 and v100 by node, transistors and memory.

Every derived row says from which table, by which factor and with what uncertainty. Shapes of structures and nominal
clocks are those of the GPU's model.

usage: derive-power.py --program build/warpwatt [GPU...]
"""
import argparse
import json
import math
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLES = os.path.join(ROOT, "power", "tables")
DRAM = {"dram_activate", "dram_read", "dram_write", "dram_background"}

A40_FIT = (1.266, 1.751)  # front end, registers and lanes; crossbar, L2, controllers and DRAM
L40_FIT = (1.137, 0.846)
SOURCES = {
    "geometry": "shape of this GPU as models/ has it; node of the process",
    "vf": "A. Sethia, Equalizer, Mascar and APOGEE (PhD thesis), section 3.5: voltage changes linearly with frequency, "
          "15 % with 15 %; nominal at this model's clock. The limits are an assumption, chosen to hold boards' idle "
          "voltages (0.7) and beyond",
    "gddr5": "thesis as vf, sections 3.1 and 3.5: active standby current (IDD2N) is 30 % higher at full speed than at "
             "3.2 Gbps; full speed taken as the 6 Gbps of Hynix GDDR5; no change of voltage is stated",
    "standby": "No published figure; an assumption of this table: one supply voltage at all speeds, standby as GDDR5's",
    "cacti": "law of a RAM's energy per read against the node in power/tables/scaling.json (CACTI 7)",
    "cacti-leak": "law of a RAM's leakage against the node in power/tables/scaling.json (CACTI 7), times the chips' "
                  "transistors as NVIDIA states them (billions: GT200 1.4, GF100 and GF110 3.0, GF114 1.95, GK110 7.1, GM204 5.2)",
    "between": "between the rows of the gtx480 and v100 tables, linear in the logarithms of node and energy",
    "foundry": "the row of the v100 table times TSMC's power at equal speed (12FFC 0.75 of 16FFC, 10FF 0.65 of 16FF+, "
               "7FF 0.60 of 10FF, recalled from its technology pages); DRAM and constants as they are",
    "foundry-leak": "the row of the v100 table times TSMC's published power as for the other rows, times the chips' "
                    "transistors as NVIDIA states them (billions: GV100 21.1, GA100 54.2)",
    "volta": "the row of the v100 table: the same process family (TSMC 12FFN) and an SM of the same descent; leakage by the "
             "chips' transistors as NVIDIA states them (billions: GV100 21.1, TU102 18.6)",
    "same": "the row of the gtx480 table: the same architecture and node",
    "gddr3": "Qimonda HYB18H1G321AF datasheet, revision 0.92, page 36: precharge standby current IDD2F of 300 mA",
    "fx5600": "accel-sim/gpgpu-sim_distribution configs/deprecated-cfgs/QuadroFX5600/gpuwattch_quadrofx5600.xml: DRAM "
              "coefficient times its GDDR3 base energy; a burst is 32 bytes",
    "gddr5-energy": "AMD and Hynix' slides on HBM: GDDR5 moves 10.5 GB/s for each watt, which is 11.9 pJ a bit",
    "roofline": "RRZE-HPC/gpu-benches, gpu-roofline on eight A100 of 40 GB: watts at 0.25, 32.25, 64.25 and 96.25 operations "
                "a byte, to which the rows derived from v100 by `foundry` were fitted by least squares (validate roofline, at the "
                "measured rates, with the operands that the operand cache keeps): front end, registers and lanes x 1.165; "
                "crossbar, L2, controllers and DRAM x 1.457",
    "kept": "an operand that the operand cache keeps (the reuse flag of machine code) is not read from a bank. M. Gebhart, S. W. Keckler, W. J. "
            "Dally, MICRO 2011 (A compile-time managed multi-level register file hierarchy): reading the last result file, a latch at the "
            "operands of a unit, takes 0.7 pJ for 128 bits, the main register file 8 (recalled); that share of the row of a bank's read",
    "h200": "RRZE-HPC/gpu-benches, gpu-roofline of an H200 (572 W at 3759 GB/s and 0.25 operations a byte, 675 W at 6.25, 396 W "
            "and 42.4 TFLOPS at 102.25): a straight line through the three gives 120 pJ a byte and 10.9 pJ a fused multiply-add, "
            "which are those of the A100's file (120 and 11.1): at its clock of 1980 MHz the newer node saves nothing",
    "foundry5": "the row of the a100 table times TSMC's power at equal speed, N5 0.70 of N7",
    "limit": "pranjalssh/fast.cu, README.md: cuBLAS makes 797.8 TFLOPS of bf16, normally distributed, 8192^3, on an H100 SXM; H. He (thonking.ai, "
             "Strangely, Matrix Multiplications on GPUs Run Faster When Given Predictable Data): such products are bound by the limit of power "
             "(700 W by NVIDIA's data sheet), those of zeros are not and make 295 of an A100's 312 TFLOPS. So the board ran at 1561 MHz with "
             "700 W; energy with the square of the voltage, which changes as the clock (vf); less static power and other rows as a GEMM's replay "
             "has them. Were the voltage the nominal one, it would be 9.4 pJ: hence the uncertainty",
    "ada": "a100's energies, as of the H100, which is of the same process: gpu-benches' roofline of an L40 has 10.9 pJ a fused "
           "multiply-add, too (199 W at 0.25 and 300 W at 22.25 operations a byte, 845 GB/s at both)",
    "ada-leak": "the row of the a100 table times TSMC's power at equal speed, N5 0.70 of N7, times the chips' transistors as "
                "NVIDIA states them (billions: GA100 54.2, AD102 76.3)",
    "gddr6": "kylolab.com, Ultra-Bandwidth Solutions, comparison of memories: GDDR6 takes 7.5 pJ a bit in the device, activates included",
    "p0": "NVIDIA/open-gpu-kernel-modules issue 874: an A40, whose memory is the same, draws 110 W at its full clocks (P0) while nothing "
          "runs; less the rows for an idle chip",
    "l40": "RRZE-HPC/gpu-benches, gpu-roofline of an L40 at 2490 MHz: watts at 0.25, 4.25, 12.25 and 20.25 operations a byte, to which "
           "the rows derived from a100 were fitted by least squares (validate roofline, at the measured rates): front end, registers and lanes x %s; crossbar, L2, "
           "controllers and DRAM x %s" % L40_FIT,
    "ga102-leak": "the row of the a100 table, of TSMC's 7 nm, for Samsung's 8 nm as it is, times the chips' transistors as NVIDIA states them "
                  "(billions: GA100 54.2, GA102 28.3, GA104 17.4)",
    "tu104-leak": "the row of the v100 table, times the chips' transistors as NVIDIA states them (billions: GV100 21.1, TU104 13.6)",
    "a40": "RRZE-HPC/gpu-benches, gpu-roofline of eight A40 at 1740 MHz, means: watts at 0.25, 4.25, 12.25 and 20.25 operations a byte, to which "
           "the rows derived from a100 were fitted by least squares (validate roofline, at the measured rates): front end, registers and lanes x %s; crossbar, L2, controllers and DRAM x %s" % A40_FIT,
    "ga102": "the row of the a100 table, of TSMC's 7 nm, for Samsung's 8 nm as it is",
    "a40-table": "the row of the a40 table: the same chip family and process",
    "l40-table": "the row of the l40 table: the same chip family and process",
    "listed": "nvidia-smi of idle boards at full clocks (P0, no memory in use), listings in public repositories: %s; less the rows for an idle chip",
    "idle-assumed": "No listing at full clocks was found; an assumption of this table: %s; less the rows for an idle chip",
    "gddr6x": "kylolab.com as for GDDR6, 7.5 pJ a bit; GDDR6X's and GDDR7's own were not found",
    "limit-b200": "stas00/ml-engineering, compute/accelerator, table of matmul: a B200 makes 1745 TFLOPS of bf16, 1792 x 16128 x 3072, of 2250; taken "
                  "as bound by the data sheet's 1000 W as an H100 is (source limit of h100's table), with tensor cores as busy as an A100's with "
                  "zeros, 295 of 312 TFLOPS. So the board ran at 1522 MHz; flashinfer, pull request 2899, saw a B200 at 1000 W fall from 1965 to "
                  "some 1580 MHz in attention. Energy with the square of the voltage, which changes as the clock (vf), less static power and other rows. Tensor "
                  "memory is in it. Were the voltage the nominal one, it would be 4.4 pJ: hence the uncertainty",
    "idle": "nvidia-smi of idle H100 SXM boards: 68 to 73 W in six users' listings, 70 W less the other rows for an idle chip",
}
# Listings by board: watts of an idle board at full clocks, and what they are.
LISTED = {"t4": (27.5, "Tesla T4, 27 to 28 W in three"), "l4": (28, "L4, 27 to 30 W in three"), "a10": (54, "A10, 53 to 55 W in two"),
          "rtx3090": (95, "RTX 3090, 88 and 101 W"), "rtx4090": (57, "RTX 4090, 50 to 64 W in three"), "gh200": (100, "GH200, 89 and 106 W"),
          "b200": (141, "B200, 136 to 145 W in six")}
ASSUMED = {"a6000": (110, "an A40's 110 W"), "l40s": (110, "an A40's 110 W, as of the L40"),
           "rtx3080": (75, "75 W, between an A10's and an RTX 3090's, which has 24 devices of memory where this has 10"),
           "rtx3070": (45, "45 W, an A10's less the devices of memory that this does not have"),
           "rtx2080": (35, "35 W, a T4's at a higher clock"), "rtx5090": (70, "70 W, an RTX 4090's with 16 devices of memory for 12")}
# Factors on the rows that were derived from v100, by component (source roofline).
ROOFLINE = {**dict.fromkeys(("fp32", "int", "regfile", "scheduler", "ibuffer", "icache"), 1.165),
            **dict.fromkeys(("xbar", "l2", "mem_ctrl", "dram_read", "dram_write", "dram_activate"), 1.457)}
def two_factors(core, memory):
    return {**dict.fromkeys(("fp32", "int", "regfile", "scheduler", "ibuffer", "icache"), core),
            **dict.fromkeys(("xbar", "l2", "mem_ctrl", "dram_read", "dram_write"), memory)}


A40 = two_factors(*A40_FIT)
L40 = two_factors(*L40_FIT)


# Events of gtx480's table, and those of v100's table whose mean stands for them.
WHOLE = {("fp32", "lane_fp32"): ("lane_fp32_add", "lane_fp32_fma"),
         ("fp32", "lane_fp16"): ("lane_fp16_add", "lane_fp16_fma"),
         ("fp64", "lane_fp64"): ("lane_fp64_add", "lane_fp64_fma"),
         ("sfu", "lane_sfu"): ("lane_sfu_exp", "lane_sfu_rsq", "lane_sfu_log", "lane_sfu_sin"),
         ("l1", "l1_sector_write"): ("l1_write_miss",),
         ("l2", "l2_sector_write"): ("l2_write_hit",)}


def load(name):
    with open(os.path.join(TABLES, name + ".json")) as f:
        return json.load(f)


def node_law(quantity):
    """ln y of a RAM against the node, as power/scaling.c has it."""
    law = next(l for l in load("scaling")["laws"] if l["kind"] == "ram" and l["quantity"] == quantity)
    nodes = [90, 65, 45, 32, 22]

    def at(nm):
        i = 0
        while i < len(nodes) - 2 and nm < nodes[i + 1]:
            i += 1
        t = math.log(nodes[i] / nm) / math.log(nodes[i] / nodes[i + 1])
        return (1 - t) * law["node_%d" % nodes[i]] + t * law["node_%d" % nodes[i + 1]]
    return at


def ratio(quantity, frm, to):
    at = node_law(quantity)
    return math.exp(at(to) - at(frm))


def row(base, value, uncertainty, source, note):
    r = {k: v for k, v in base.items() if k not in ("value", "uncertainty", "source", "note")}
    r.update(value=float("%.4g" % value), uncertainty=uncertainty, source=source, note=note)
    return r


def scaled(rows, table, factor, uncertainty, source):
    return [row(r, r["value"] * factor, max(uncertainty, r["uncertainty"]), source,
                "%s's row times %.3g" % (table, factor)) for r in rows]


def dram_event(kind, counter, nanojoules, uncertainty, source, note):
    return {"component": kind, "event": counter, "value": nanojoules, "unit": "nJ", "uncertainty": uncertainty,
            "source": source, "note": note}


def static(component, per, kind, value, uncertainty, source, note):
    return {"component": component, "per": per, "kind": kind, "value": float("%.4g" % value),
            "uncertainty": uncertainty, "source": source, "note": note}


def fermi_static(leakage, idle, background=None):
    rows = load("gtx480")["static"]
    constant = next(r for r in rows if r["component"] == "constant")
    idle_source, stalled = [r for r in rows if r["per"] in ("idle_sm", "stalled_sm")]
    rows = [row(constant, constant["value"], 0.5, "same", "gtx480's row"),
            static("sm_other", "gpu", "leakage", 41.9 * leakage, 0.5, "cacti-leak", "41.9 W times %.3g" % leakage),
            row(idle_source, idle_source["value"] * idle, 0.5, "cacti", "gtx480's row times %.3g" % idle),
            row(stalled, stalled["value"] * idle, 0.5, "cacti", "gtx480's row times %.3g" % idle)]
    engine = next(r for r in load("gtx480")["static"] if r["per"] == "dma_engine")
    rows.append(row(engine, engine["value"] * idle, 0.5, "cacti", "gtx480's row times %.3g, its area as it is" % idle))
    return rows + ([background] if background else [])


def from_fermi(nm, transistors, dram, background):
    """An older or like GPU: all on-chip rows of gtx480 by the node's law."""
    base = load("gtx480")
    energy = ratio("read_pj", 40, nm)
    source = "same" if nm == 40 else "cacti"
    events = scaled([r for r in base["events"] if r["component"] not in DRAM], "gtx480", energy, 0.6, source)
    events += dram or scaled([r for r in base["events"] if r["component"] in DRAM], "gtx480", 1, 0.4, "same")
    return {"events": events, "static": fermi_static(ratio("leakage_mw", 40, nm) * transistors / 3.0, energy,
                                                     background)}


def between(nm, transistors, chips):
    """28 nm: on-chip rows between gtx480 at 40 nm and v100 at 12 nm."""
    old, new = load("gtx480"), load("v100")
    share = math.log(40 / nm) / math.log(40 / 12)
    picojoule = {"pJ": 1, "nJ": 1000}
    other = {(r["component"], r["event"]): r["value"] * picojoule[r["unit"]] for r in new["events"]}
    for (component, event), parts in WHOLE.items():  # gtx480's rows are coarser
        other[component, event] = sum(other[component, part] for part in parts) / len(parts)
    events = []
    for r in old["events"]:
        if r["component"] in DRAM:
            continue
        end = other.get((r["component"], r["event"]))
        if end is None:  # an event that only gtx480's table has
            events += scaled([r], "gtx480", ratio("read_pj", 40, nm), 0.6, "cacti")
            continue
        value = r["value"] ** (1 - share) * end ** share
        events.append(row(r, value, 0.6, "between", "gtx480 %.4g pJ, v100 %.4g pJ" % (r["value"], end)))
    access = 11.9 * 256 / 1000
    events += [dram_event("dram_read", "dram_sector_read", round(access, 3), 0.5, "gddr5-energy", "32 bytes"),
               dram_event("dram_write", "dram_sector_write", round(access, 3), 0.5, "gddr5-energy", "32 bytes")]
    background = static("dram_background", "gpu", "standby", 0.3 * 1.5 * chips, 0.7, "gddr3",
                        "the current of a GDDR3 chip at GDDR5's 1.5 V, %d chips; GDDR5's own was not found" % chips)
    return {"events": events, "static": fermi_static(ratio("leakage_mw", 40, nm) * transistors / 3.0,
                                                     ratio("read_pj", 40, nm), background)}


def as_measured(events):
    """What measured watts say of rows that were derived from another chip. Rows that the measurements say nothing
    of stay as they are."""
    out = []
    for r in events:
        factor = ROOFLINE.get(r["component"])
        out.append(row(r, r["value"] * factor, 0.3, "roofline", "%s times %.3g" % (r["note"], factor)) if factor else r)
    return out


KEPT = 0.7 / 8  # of a bank's read (source kept)


def with_kept_operands(events):
    """Reads of a bank, and of what the operand cache keeps, apart. v100's source counts all reads alike."""
    out = []
    for r in events:
        if r["event"] != "reg_read":
            out.append(r)
            continue
        out += [dict(r, event="reg_bank_read"),
                dict(r, event="reg_reuse", value=float("%.4g" % (r["value"] * KEPT)), uncertainty=0.6, source="kept",
                     note="%.3g of a bank's read" % KEPT)]
    return out


def from_volta(transistors, stacks):
    factor = 0.65 * 0.60 / 0.75
    base = load("v100")
    on_chip = [r for r in base["events"] if r["component"] not in DRAM]
    dram = [r for r in base["events"] if r["component"] in DRAM]
    leakage = factor * transistors / 21.1
    events = as_measured(scaled(on_chip, "v100", factor, 0.5, "foundry") + scaled(dram, "v100", 1, 0.35, "foundry"))
    events = with_kept_operands(events)
    rows = {r["component"]: r for r in base["static"]}
    steady = [row(rows["constant"], rows["constant"]["value"], 0.5, "foundry", "v100's row"),
              row(rows["sm_idle"], rows["sm_idle"]["value"] * factor, 0.5, "foundry", "v100's row times %.3g" % factor),
              row(rows["mem_ctrl"], rows["mem_ctrl"]["value"] * factor * stacks / 4, 0.6, "foundry",
                  "v100's row times %.3g" % (factor * stacks / 4))]
    lanes = [dict(r, first_lane=float("%.4g" % (r["first_lane"] * leakage)),
                  add_lane=float("%.4g" % (r["add_lane"] * leakage)), uncertainty=0.5, source="foundry-leak",
                  note="v100's row times %.3g" % leakage) for r in base["lane_model"]]
    return {"events": events, "static": steady, "lane_model": lanes}


def gddr6_events(source="gddr6"):
    access = 7.5 * 256 / 1000
    return [dram_event(c, e, access, 0.4, source, "32 bytes")
            for c, e in (("dram_read", "dram_sector_read"), ("dram_write", "dram_sector_write"))]


def board_idle(gpu, others):
    """Constant power: what an idle board draws at full clocks, less what the table's other rows make of an idle chip."""
    source, (watts, _) = ("listed", LISTED[gpu]) if gpu in LISTED else ("idle-assumed", ASSUMED[gpu])
    return source, max(watts - others, 0), "%g W less %.3g W" % (watts, others)


def from_turing(transistors, sms=None, gpu=None):
    """12 nm as the V100: its rows on the chip; GDDR6's published energy a bit for the memory."""
    base = load("v100")
    leakage = transistors / 21.1
    events = scaled([r for r in base["events"] if r["component"] not in DRAM], "v100", 1, 0.5, "volta")
    events += scaled([r for r in base["events"] if r["component"] == "dram_activate"], "v100", 1, 0.6, "volta")
    events += gddr6_events()
    steady = [row(r, r["value"], 0.6, "volta", "v100's row") for r in base["static"]]
    if gpu:
        rows = {r["component"]: r for r in base["static"]}
        source, watts, note = board_idle(gpu, sms * rows["sm_idle"]["value"] + rows["mem_ctrl"]["value"])
        steady = [row(r, watts, 0.3, source, note) if r["component"] == "constant" else r for r in steady]
    lanes = [dict(r, first_lane=float("%.4g" % (r["first_lane"] * leakage)),
                  add_lane=float("%.4g" % (r["add_lane"] * leakage)), uncertainty=0.5, source="tu104-leak" if gpu else "volta",
                  note="v100's row times %.3g" % leakage) for r in base["lane_model"]]
    return {"events": events, "static": steady, "lane_model": lanes}


# What bounds a GEMM by the board's watts (sources limit, limit-b200): the board's watts, operations a second, operations a cycle of
# all SMs, nominal MHz, and of a GEMM's replay at that clock constant watts, watts of leakage, and pJ of all other rows a lane
# operation. h100: tests/cuda/gemm.cu, 4096 x 4096 x 1024, the writes of C taken for 8192 rather than 1024 deep. b200:
# gemm_tcgen05, 512 x 9472 x 4096, its DRAM taken for the product that was measured.
LIMIT = {"h100": (700, 797.8e12, 132 * 4096, 1980, 56.15, 47, 2.6), "b200": (1000, 1745e12, 148 * 8192, 1965, 125.4, 90, 3.0)}


def tensor_at_limit(gpu="h100"):
    """pJ of 8 multiply-adds (a lane operation) of a board whose GEMM is bound by its watts."""
    watts, rate, width, nominal, constant, leakage, others = LIMIT[gpu]
    busy = 295 / 312
    clock = rate / (width * busy) / 1e6
    volts = clock / nominal
    return (watts - constant - leakage * volts) / (rate / 16) * 1e12 / volts ** 2 - others


def from_ampere(transistors, sms, stacks, gpu=None):
    """Hopper and Blackwell: a100's energies, which an H200's roofline confirms, and the watts of an idle board."""
    factor = 0.70
    base = load("a100")
    leakage = factor * transistors / 54.2
    events = [row(r, r["value"], 0.3 if r["source"] == "roofline" else 0.6, "h200", "a100's row") for r in base["events"]]
    tensor = (tensor_at_limit("b200"), 0.5, "limit-b200", "the board's 1000 W at 1745 TFLOPS") if gpu == "b200" else \
        (tensor_at_limit(), 0.45, "limit", "the board's 700 W at 797.8 TFLOPS")
    events = [row(r, *tensor) if r["event"] == "lane_tensor" else r for r in events]
    passes = next(r for r in events if r["event"] == "shared_passes")
    events.insert(events.index(passes) + 1, dict(passes, event="shared_matrix_passes", note="the row of shared_passes: a pass is one whoever reads"))
    rows = {r["component"]: r for r in base["static"]}
    idle = row(rows["sm_idle"], rows["sm_idle"]["value"] * factor, 0.5, "foundry5", "a100's row times %.3g" % factor)
    control = row(rows["mem_ctrl"], rows["mem_ctrl"]["value"] * factor * stacks / 5, 0.6, "foundry5",
                  "a100's row times %.3g" % (factor * stacks / 5))
    # An H100's idle watts, whose memory has 5 stacks.
    others = sms * idle["value"] + control["value"] * 5 / stacks
    constant = row(rows["constant"], 70 - others, 0.15, "idle", "70 W less %.3g W" % others)
    if gpu:
        source, watts, note = board_idle(gpu, sms * idle["value"] + control["value"])
        constant = row(rows["constant"], watts, 0.2, source, note)
    lanes = [dict(r, first_lane=float("%.4g" % (r["first_lane"] * leakage)),
                  add_lane=float("%.4g" % (r["add_lane"] * leakage)), uncertainty=0.5, source="foundry5",
                  note="a100's row times %.3g, with the transistors (%g billion, GA100 54.2)" % (leakage, transistors))
             for r in base["lane_model"]]
    return {"events": events, "static": [constant, idle, control], "lane_model": lanes}


def from_ada(sms):
    """AD102 with GDDR6: a100's energies, which an L40's roofline confirms, and its two factors."""
    return like_a100(sms, 0.70, 0.70 * 76.3 / 54.2, L40, "ada", "l40", "ada-leak", ("p0", 110, 0.2))


def like_a100(sms, process, leakage, factors, source, fitted, leaks, idle_board):
    base = load("a100")
    events = [row(r, r["value"], 0.6, source, "a100's row") for r in base["events"] if r["component"] not in DRAM]
    events += gddr6_events()
    events = [row(r, r["value"] * factors[r["component"]], 0.3, fitted,
                  "%s times %.3g" % (r["note"], factors[r["component"]])) if r["component"] in factors else r for r in events]
    rows = {r["component"]: r for r in base["static"]}
    idle = row(rows["sm_idle"], rows["sm_idle"]["value"] * process, 0.5, "foundry5" if process < 1 else source, "a100's row times %.2g" % process)
    control = row(rows["mem_ctrl"], rows["mem_ctrl"]["value"] * process, 0.6, "foundry5" if process < 1 else source, "a100's row times %.2g" % process)
    others = sms * idle["value"] + control["value"]
    board, watts, sure = idle_board
    constant = row(rows["constant"], watts - others, sure, board, "%g W less %.3g W" % (watts, others))
    lanes = [dict(r, first_lane=float("%.4g" % (r["first_lane"] * leakage)),
                  add_lane=float("%.4g" % (r["add_lane"] * leakage)), uncertainty=0.5, source=leaks,
                  note="a100's row times %.3g" % leakage) for r in base["lane_model"]]
    return {"events": events, "static": [constant, idle, control], "lane_model": lanes}


def from_ga102():
    """GA102 at Samsung's 8 nm: a100's energies and an A40's two factors."""
    return like_a100(84, 1, 28.3 / 54.2, A40, "ga102", "a40", "ga102-leak", ("p0", 110, 0.2))


def sibling(gpu, of, sms, transistors, memory="gddr6"):
    """The table of a board with the same SMs and process; its own idle watts, and leakage by the transistors."""
    base = load(of)
    events = [row(r, r["value"], max(r["uncertainty"], 0.4), of + "-table", "%s's row" % of) for r in base["events"] if r["component"] not in DRAM]
    factor = {"a40": A40, "l40": L40}[of]["dram_read"]
    events += [row(r, r["value"] * factor, 0.5, memory, "32 bytes, times %.3g as %s's" % (factor, of)) for r in gddr6_events(memory)]
    rows = {r["component"]: r for r in base["static"]}
    source, watts, note = board_idle(gpu, sms * rows["sm_idle"]["value"] + rows["mem_ctrl"]["value"])
    steady = [row(rows["constant"], watts, 0.3, source, note)]
    steady += [row(rows[c], rows[c]["value"], 0.6, of + "-table", "%s's row" % of) for c in ("sm_idle", "mem_ctrl")]
    leakage = transistors / {"a40": 28.3, "l40": 76.3}[of]
    lanes = [dict(r, first_lane=float("%.4g" % (r["first_lane"] * leakage)), add_lane=float("%.4g" % (r["add_lane"] * leakage)),
                  uncertainty=0.5, source=of + "-table", note="%s's row times %.3g, by the transistors (%g billion)" % (of, leakage, transistors))
             for r in base["lane_model"]]
    return {"events": events, "static": steady, "lane_model": lanes}


def parameters(program, gpu):
    text = subprocess.run([program, "gpu", "show", gpu], capture_output=True, text=True, check=True).stdout
    return {f[0]: f[1] for f in (line.split() for line in text.splitlines()) if len(f) > 1}


def structures(p, base):
    """The rows of the table that it is derived from, with this GPU's shapes."""
    def whole(key):
        return int(float(p[key]))
    unified = p["l1.unified"] == "true"
    shape = {
        "regfile": {"bytes": 4 * whole("sm.registers")},
        "shared": {"bytes": 1024 * whole("l1.size_kb" if unified else "sm.shared_kb"),
                   "row_bytes": whole("shared.banks") * whole("shared.bank_bytes")},
        "l1": {"bytes": 1024 * whole("l1.size_kb"), "row_bytes": whole("l1.line"), "ways": whole("l1.ways")},
        "constant": {"bytes": 1024 * whole("const.kb"), "row_bytes": whole("const.line"), "ways": whole("const.ways")},
        "l2": {"bytes": 1024 * whole("l2.size_kb"), "row_bytes": whole("l2.line"), "ways": whole("l2.ways"),
               "banks": whole("l2.slices")},
        "l1_mshr": {"bytes": 8 * whole("l1.mshrs")},
        "l1_queue": {"bytes": 32 * whole("l1.miss_queue")},
        "l2_mshr": {"bytes": 8 * whole("l2.mshrs"), "copies": whole("l2.slices")},
    }
    if whole("icache.kb"):
        shape["icache"] = {"bytes": 1024 * whole("icache.kb"), "row_bytes": whole("icache.line"),
                           "ways": whole("icache.ways")}
    if whole("tex.kb"):
        shape["texture"] = {"bytes": 1024 * whole("tex.kb"), "row_bytes": 32, "ways": whole("tex.ways")}
    return [dict(r, node_nm=whole("node_nm"), **{k: v for k, v in shape[r["structure"]].items()})
            for r in base["structures"] if r["structure"] in shape]


def domains(p, base, dram):
    rows = [dict(r, mhz=float(p["clock.%s_mhz" % r["domain"]])) for r in base["domains"]]
    rows[2]["slope"] = 0  # no change of the memory's voltage is published for these boards
    rate = rows[2]["mhz"] * float(p["dram.data_rate"]) / 1000
    if dram == "gddr5":  # 1.3 at 6 Gbps over 1 at 3.2 Gbps, relative to this rate
        per_gbps = 0.3 / (6 - 3.2)
        rows[2]["standby"] = round(per_gbps * rate / (1 + per_gbps * (rate - 3.2)), 3)
    rows[2]["source"] = dram
    return rows


def gddr3(chips):
    return [dram_event("dram_activate", "dram_precharge", 10.7692, 0.4, "fx5600", "activate and precharge together"),
            dram_event("dram_read", "dram_sector_read", 9.2308, 0.4, "fx5600", "32 bytes"),
            dram_event("dram_write", "dram_sector_write", 5.2308, 0.4, "fx5600", "32 bytes")], \
        static("dram_background", "gpu", "standby", 0.3 * 1.9 * chips, 0.4, "gddr3",
               "at 1.9 V, %d chips" % chips)


def like_gtx480():
    background = next(r for r in load("gtx480")["static"] if r["component"] == "dram_background")
    return row(background, background["value"], 0.7, "same", "gtx480's row")


def tables():
    dram, background = gddr3(16)
    return {
        "gtx280": ("GTX 280 (65 nm), derived from gtx480", "gtx480", "standby",
                   lambda: from_fermi(65, 1.4, dram, background)),
        "gtx285": ("GTX 285 (55 nm), derived from gtx480", "gtx480", "standby",
                   lambda: from_fermi(55, 1.4, dram, background)),
        "gtx560ti": ("GTX 560 Ti (40 nm), the rows of gtx480", "gtx480", "gddr5",
                     lambda: from_fermi(40, 1.95, None, like_gtx480())),
        "gtx580": ("GTX 580 (40 nm), the rows of gtx480", "gtx480", "gddr5",
                   lambda: from_fermi(40, 3.0, None, like_gtx480())),
        "gtx780": ("GTX 780 (28 nm), between gtx480 and v100", "gtx480", "gddr5", lambda: between(28, 7.1, 12)),
        "gtx980": ("GTX 980 (28 nm), between gtx480 and v100", "gtx480", "gddr5", lambda: between(28, 5.2, 8)),
        "a100": ("A100 40 GB (7 nm), derived from v100 and fitted to an A100's watts", "v100", "standby",
                 lambda: from_volta(54.2, 5)),
        "a100_80": ("A100 80 GB (7 nm), as the A100 of 40 GB", "v100", "standby", lambda: from_volta(54.2, 5)),
        "rtx2080ti": ("RTX 2080 Ti (12 nm), derived from v100", "v100", "standby", lambda: from_turing(18.6)),
        # These read a100's table, which is written before.
        "h100": ("H100 (4N, of the 5 nm family), derived from a100", "a100", "standby", lambda: from_ampere(80, 132, 5)),
        "h100_pcie": ("H100 PCIe (4N, of the 5 nm family), derived from a100", "a100", "standby",
                      lambda: from_ampere(80, 114, 5)),
        "l40": ("L40 (4N, of the 5 nm family), derived from a100 and fitted to an L40's watts", "a100", "gddr5",
                lambda: from_ada(142)),
        "h200": ("H200 (4N, of the 5 nm family), derived from a100", "a100", "standby", lambda: from_ampere(80, 132, 6)),
        "gh200": ("GH200 (4N, of the 5 nm family), derived from a100", "a100", "standby", lambda: from_ampere(80, 132, 6, "gh200")),
        "b200": ("B200 (4NP, of the 5 nm family), derived from a100", "a100", "standby", lambda: from_ampere(208, 148, 8, "b200")),
        "a30": ("A30 (7 nm), as the A100 with three stacks", "v100", "standby", lambda: from_volta(54.2, 3)),
        "t4": ("T4 (12 nm), derived from v100", "v100", "standby", lambda: from_turing(13.6, 40, "t4")),
        "rtx2080": ("RTX 2080 (12 nm), derived from v100", "v100", "standby", lambda: from_turing(13.6, 46, "rtx2080")),
        "a40": ("A40 (Samsung's 8 nm), derived from a100 and fitted to A40s' watts", "a100", "gddr5", from_ga102),
        # These read a40's or l40's table.
        "a6000": ("RTX A6000 (8 nm), derived from a40", "a40", "gddr5", lambda: sibling("a6000", "a40", 84, 28.3)),
        "a10": ("A10 (8 nm), derived from a40", "a40", "gddr5", lambda: sibling("a10", "a40", 72, 28.3)),
        "rtx3090": ("RTX 3090 (8 nm), derived from a40", "a40", "gddr5", lambda: sibling("rtx3090", "a40", 82, 28.3, "gddr6x")),
        "rtx3080": ("RTX 3080 (8 nm), derived from a40", "a40", "gddr5", lambda: sibling("rtx3080", "a40", 68, 28.3, "gddr6x")),
        "rtx3070": ("RTX 3070 (8 nm), derived from a40", "a40", "gddr5", lambda: sibling("rtx3070", "a40", 46, 17.4)),
        "l40s": ("L40S (4N, of the 5 nm family), derived from l40", "l40", "gddr5", lambda: sibling("l40s", "l40", 142, 76.3)),
        "l4": ("L4 (4N, of the 5 nm family), derived from l40", "l40", "gddr5", lambda: sibling("l4", "l40", 58, 35.8)),
        "rtx4090": ("RTX 4090 (4N, of the 5 nm family), derived from l40", "l40", "gddr5", lambda: sibling("rtx4090", "l40", 128, 76.3, "gddr6x")),
        "rtx5090": ("RTX 5090 (4N, of the 5 nm family), derived from l40", "l40", "gddr5", lambda: sibling("rtx5090", "l40", 170, 92.2, "gddr6x")),
    }


def write(gpu, description, sections):
    used = {r["source"] for rows in sections.values() for r in rows}
    sources = {k: v for k, v in SOURCES.items() if k in used}
    for key, boards in (("listed", LISTED), ("idle-assumed", ASSUMED)):
        if key in sources:
            sources[key] %= boards[gpu][1]
    assert used <= set(SOURCES), used - set(SOURCES)
    out = ['{', '  "description": %s,' % json.dumps(description + "; written by scripts/derive-power.py."),
           '  "sources": {']
    out += [",\n".join("    %s: %s" % (json.dumps(k), json.dumps(v)) for k, v in sources.items()), "  }"]
    for key, rows in sections.items():
        out[-1] += ","
        out += ['  "%s": [' % key, ",\n".join("    " + json.dumps(r) for r in rows), "  ]"]
    with open(os.path.join(TABLES, gpu + ".json"), "w") as f:
        f.write("\n".join(out + ["}", ""]))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", default="build/warpwatt")
    arguments.add_argument("gpu", nargs="*")
    options = arguments.parse_args()
    for gpu, (description, base, dram, sections) in tables().items():
        if options.gpu and gpu not in options.gpu:
            continue
        p = parameters(options.program, gpu)
        sections = sections()
        sections["structures"] = structures(p, load(base))
        sections["domains"] = domains(p, load(base), dram)
        write(gpu, description, sections)


if __name__ == "__main__":
    main()
