#include "kit_nvml.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* From NVIDIA's documentation of NVML: a handle is a pointer, a result an enum whose 0 is success. */
typedef void *device;

struct kit_nvml {
    void *library;
    device handle;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_bus)(const char *, device *);
    int (*driver)(char *, unsigned);
    int (*energy)(device, unsigned long long *); /* mJ */
    int (*power)(device, unsigned *);            /* mW */
    int (*limit)(device, unsigned *);            /* mW */
    int (*clock)(device, int, unsigned *);       /* 1: SM, 2: memory; MHz */
    int (*reasons)(device, unsigned long long *);
    int (*temperature)(device, int, unsigned *); /* 0: the GPU */
};

/* A function's pointer by way of an object's, which ISO C does not convert. */
static void look(struct kit_nvml *n, const char *name, void *function) {
    void *found = dlsym(n->library, name);
    memcpy(function, &found, sizeof found);
}

static void look_all(struct kit_nvml *n) {
    look(n, "nvmlInit_v2", &n->init);
    look(n, "nvmlShutdown", &n->shutdown);
    look(n, "nvmlDeviceGetHandleByPciBusId_v2", &n->by_bus);
    look(n, "nvmlSystemGetDriverVersion", &n->driver);
    look(n, "nvmlDeviceGetTotalEnergyConsumption", &n->energy);
    look(n, "nvmlDeviceGetPowerUsage", &n->power);
    look(n, "nvmlDeviceGetEnforcedPowerLimit", &n->limit);
    look(n, "nvmlDeviceGetClockInfo", &n->clock);
    look(n, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons);
    if (!n->reasons) look(n, "nvmlDeviceGetCurrentClocksEventReasons", &n->reasons);
    look(n, "nvmlDeviceGetTemperature", &n->temperature);
}

struct kit_nvml *kit_nvml_open(const char *bus_id, const char **why) {
    struct kit_nvml *n = calloc(1, sizeof *n);
    *why = "out of memory";
    if (!n) return NULL;
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    *why = "libnvidia-ml.so.1 is not found";
    if (n->library) {
        look_all(n);
        *why = "libnvidia-ml.so.1 does not start";
        if (n->init && n->by_bus && n->init() == 0) {
            *why = "libnvidia-ml.so.1 does not know this GPU";
            if (n->by_bus(bus_id, &n->handle) == 0) return n;
            if (n->shutdown) n->shutdown();
        }
        dlclose(n->library);
    }
    free(n);
    return NULL;
}

void kit_nvml_close(struct kit_nvml *n) {
    if (!n) return;
    if (n->shutdown) n->shutdown();
    dlclose(n->library);
    free(n);
}

struct kit_nvml_sample kit_nvml_read(struct kit_nvml *n) {
    struct kit_nvml_sample s = {0};
    unsigned long long wide = 0;
    unsigned v = 0;
    if (!n) return s;
    s.ok = true;
    if (n->energy && n->energy(n->handle, &wide) == 0) {
        s.has_energy = true;
        s.energy_j = (double)wide * 1e-3;
    }
    if (n->power && n->power(n->handle, &v) == 0) {
        s.has_power = true;
        s.power_w = v * 1e-3;
    }
    if (n->clock && n->clock(n->handle, 1, &v) == 0) s.sm_mhz = v;
    if (n->clock && n->clock(n->handle, 2, &v) == 0) s.memory_mhz = v;
    if (n->temperature && n->temperature(n->handle, 0, &v) == 0) s.temperature_c = v;
    if (n->reasons && n->reasons(n->handle, &wide) == 0) s.throttle = wide;
    return s;
}

void kit_nvml_driver(struct kit_nvml *n, char *out) {
    out[0] = 0;
    if (n && n->driver && n->driver(out, 96) != 0) out[0] = 0;
}

double kit_nvml_limit(struct kit_nvml *n) {
    unsigned mw = 0;
    return n && n->limit && n->limit(n->handle, &mw) == 0 ? mw * 1e-3 : 0;
}
