/* kit_nvml.h: what NVIDIA's management library tells of a GPU.
 *
 * The library is opened at run time (libnvidia-ml.so.1 comes with the driver) and its functions are declared
 * here, so that neither its header nor the library is needed to build. It is only read: no clock, limit or mode
 * is ever set. Everything may be missing; then `ok` of a sample is false.
 */
#ifndef KIT_NVML_H
#define KIT_NVML_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kit_nvml;

struct kit_nvml_sample {
    bool ok, has_energy, has_power;
    double energy_j; /* since the driver was loaded */
    double power_w;  /* the driver's average over its own window */
    unsigned sm_mhz, memory_mhz, temperature_c;
    uint64_t throttle; /* reasons, a bit each: nvml.h, nvmlClocksThrottleReason... */
};

/* The GPU of that PCI bus id ("0000:01:00.0"). NULL: *why says what is missing. */
struct kit_nvml *kit_nvml_open(const char *bus_id, const char **why);
void kit_nvml_close(struct kit_nvml *n);
/* All that can be read just now; n may be NULL. */
struct kit_nvml_sample kit_nvml_read(struct kit_nvml *n);
/* "" if not known. `out` has 96 bytes. */
void kit_nvml_driver(struct kit_nvml *n, char *out);
/* The board's power limit in watts, 0 if not known. */
double kit_nvml_limit(struct kit_nvml *n);

#ifdef __cplusplus
}
#endif

#endif
