/* The workload suite: the host sides of traces/workloads with their references, the kernels of traces/kernels.
 */
#define KIT_DEVICE
#include "../../estimator/api/record.h"
#include "device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "../../traces/workloads/workload.h"
}

#define LAUNCHES_MOST 2000 /* records of a workload */

/* What a workload's launches have in common. */
struct run {
    const char *workload;
    char parameters[64];
    bool verified;
    char error[700];
};

static void launch_record(struct kit *k, const struct run *r, const struct kit_step &s, size_t number,
                          const struct kit_nvml_sample &nvml) {
    char id[KIT_ID_MAX], text[2048];
    std::vector<double> seconds = s.seconds;
    struct kit_value t = kit_value_of(seconds.data(), seconds.size());
    snprintf(id, sizeof id, "suite/%s/%zu", r->workload, number);
    snprintf(text, sizeof text,
             "{\"id\": \"%s\", \"kind\": \"launch\", \"workload\": \"%s\", \"parameters\": \"%s\", \"seed\": "
             "%llu, \"launch\": %zu, "
             "\"kernel\": \"%s\", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared_bytes\": %u, "
             "\"median\": %.9g, "
             "\"low\": %.9g, \"high\": %.9g, \"count\": %zu, \"sm_mhz\": %u, \"verified\": %s}",
             id, r->workload, r->parameters, k->seed, number, s.kernel->name, s.grid.x, s.grid.y, s.grid.z,
             s.block.x, s.block.y, s.block.z, s.shared, t.median, t.low, t.high, t.count, nvml.sm_mhz,
             r->verified ? "true" : "false");
    kit_record(k, id, text);
}

/* The workload is done when this record is there; it comes last. */
static void workload_record(struct kit *k, const struct run *r, size_t launches,
                            const struct kit_nvml_sample &nvml) {
    char id[KIT_ID_MAX], message[720], text[1600];
    kit_json_string(message, sizeof message, r->error);
    snprintf(id, sizeof id, "suite/%s", r->workload);
    snprintf(
        text, sizeof text,
        "{\"id\": \"%s\", \"kind\": \"workload\", \"workload\": \"%s\", \"parameters\": \"%s\", \"seed\": "
        "%llu, \"launches\": %zu, "
        "\"verified\": %s, \"message\": %s, \"sm_mhz\": %u, \"temperature_c\": %u, \"throttle_reasons\": %llu}",
        id, r->workload, r->parameters, k->seed, launches, r->verified ? "true" : "false", message, nvml.sm_mhz,
        nvml.temperature_c, (u64)nvml.throttle);
    kit_record(k, id, text);
}

static void measure(struct kit *k, struct run *r, struct ww_device *d) {
    unsigned runs = device_launches(d) > LAUNCHES_MOST / 4 ? (k->repeats + 2) / 3 : k->repeats;
    device_replay(d); /* warms up */
    for (auto &s : d->step) s.seconds.clear();
    for (unsigned i = 0; i < runs; i++) device_replay(d);
    struct kit_nvml_sample nvml = kit_nvml_read(k->nvml);
    size_t number = 0;
    for (auto &s : d->step)
        if (s.kind == kit_step::LAUNCH && number < LAUNCHES_MOST) launch_record(k, r, s, number++, nvml);
    workload_record(k, r, device_launches(d), nvml);
}

/* A workload that fails goes into the results with its message: that is a finding, too. */
static void run_workload(struct kit *k, const struct ww_workload_ops *ops) {
    struct run r = {};
    struct ww_error error = {};
    char id[KIT_ID_MAX];
    void *settings = nullptr;
    const struct ww_workload_ops *found;
    snprintf(id, sizeof id, "suite/%s", ops->name);
    if (!kit_begin_id(k, id)) return;
    r.workload = ops->name;
    snprintf(r.parameters, sizeof r.parameters, "size=%s", k->size);
    const char *parameter[] = {r.parameters};
    if (ww_workload_prepare(ops->name, parameter, 1, &found, &settings, &error) != WW_OK)
        kit_stop(k, error.where, error.text);
    struct ww_device *d = device_new(k);
    enum ww_code code = ops->run(settings, d, k->seed, &error);
    r.verified = code == WW_OK;
    if (code != WW_OK) snprintf(r.error, sizeof r.error, "%.200s: %.480s", error.where, error.text);
    if (code == WW_EXEC) kit_stop(k, error.where, error.text);
    printf("suite %s: %s\n", ops->name, r.verified ? "verified" : r.error);
    fflush(stdout);
    measure(k, &r, d);
    device_free(d);
    free(settings);
}

void suite(struct kit *k) {
    char arch[16], chosen[WW_WORKLOAD_ARCH];
    int major = 0, minor = 0;
    CHECK(k, cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    CHECK(k, cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    snprintf(arch, sizeof arch, "sm_%d%d", major, minor);
    for (size_t i = 0; i < ww_workload_count(); i++)
        if (ww_workload_arch(ww_workload_at(i), arch, chosen, NULL) == WW_OK) run_workload(k, ww_workload_at(i));
}
