/* memsys_fixture.h: a small GPU behind the L1, and a client that logs what comes back. */
#ifndef WW_TESTS_MEMSYS_FIXTURE_H
#define WW_TESTS_MEMSYS_FIXTURE_H

#include "../../estimator/warpwatt.h"
#include "estimator/core/time/epoch.h"
#include "estimator/core/memory/memsys.h"

#define LOG_MAX 4096
#define RIG_INSTS 8 /* the instruction of rig_read and the like is their tag modulo this */

struct logged {
    struct ww_mem_reply reply;
    uint64_t ps;
    uint16_t sm;
};

struct rig {
    struct ww_gpu_spec spec;
    struct ww_queue *queue;
    struct ww_memsys *memory;
    uint64_t counter[WW_COUNTER_COUNT];
    struct ww_inst_count inst[RIG_INSTS];
    struct logged log[LOG_MAX];
    size_t replies; /* all; the first LOG_MAX are in the log */
    uint64_t unblocked;
    uint64_t loads; /* the user's */
    /* Called after each reply and unblocking, if set. */
    void (*react)(struct rig *rig, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps);
    void *user;
};

/* Every clock at 1 GHz (a cycle is 1000 ps), two SMs, two slices of 8 KiB, one channel without refresh;
 * crossbar latency 10, L2 latency 20; lines of 128 bytes in sectors of 32. */
void small_spec(struct ww_gpu_spec *spec);
/* Starts a rig on its spec. */
void rig_start(struct rig *rig);
void rig_stop(struct rig *rig);
/* Runs until nothing is left to do. */
void rig_drain(struct rig *rig);
/* A read of whole L1 line sectors at queue time; asserts that it is accepted. */
void rig_read(struct rig *rig, uint16_t sm, uint64_t address, uint32_t sectors, uint32_t tag);
void rig_write(struct rig *rig, uint16_t sm, uint64_t address, uint32_t sectors, uint16_t bytes, uint32_t tag);
void rig_atomic(struct rig *rig, uint16_t sm, uint64_t address, uint32_t sectors, uint16_t ops, uint32_t tag);
/* Time from now to the last reply of one read, in ps. */
uint64_t rig_round_trip(struct rig *rig, uint64_t address, uint32_t sectors);
/* Asserts the conservation laws of crossbar, L2 and DRAM counters. */
void rig_check_laws(const struct rig *rig);

#endif
