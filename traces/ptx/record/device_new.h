/* device_new.h: making a device and what it recorded, for the recorder's entry points and tests. */
#ifndef WW_TRACES_PTX_DEVICE_H
#define WW_TRACES_PTX_DEVICE_H

#include "../../../estimator/api/record.h"
#include "../../cta_pick.h"
#include "../../device.h"
#include "../../trace.h"

/* A device under the options; with options->out_path each launch is recorded into that file under `meta`.
 * Errors: WW_USAGE (arch), WW_IO, WW_NOMEM. Free with ww_device_free_all. */
enum ww_code ww_device_new(const struct ww_record_options *options, const struct ww_trace_meta *meta,
                           struct ww_device **device, struct ww_error *error);
/* From now on only these CTAs of each launch are run (cta_pick.h); NULL: all. The caller's own. */
void ww_device_pick(struct ww_device *device, const struct ww_cta_pick *pick);
/* Ends the recording and fills *stats (but verified and host_seconds). */
enum ww_code ww_device_finish(struct ww_device *device, struct ww_record_stats *stats, struct ww_error *error);
/* Frees the device (NULL is fine); a recording that was not finished is removed. */
void ww_device_free_all(struct ww_device *device);
/* Removes a recording that was not finished, and frees nothing: for a process that ends in the middle of one of
 * the device's functions. */
void ww_device_abandon(const struct ww_device *device);
/* Loads PTX text under a name, for errors. */
enum ww_code ww_device_module_text(struct ww_device *device, const char *text, size_t n, const char *name,
                                   struct ww_module **module, struct ww_error *error);
/* Machine code that a program brings, and where it comes from ("sm_80 of the program's fat binary"). */
struct ww_cubin_source {
    const void *data;
    size_t n;
    const char *origin;
};
/* Loads machine code under a name; `text` is the PTX that kernels fall back to, NULL if there is none, and
 * stays the caller's until the device is freed. Errors: those of the reader of cubins, WW_UNSUPPORTED. */
enum ww_code ww_device_module_cubin(struct ww_device *device, const struct ww_cubin_source *cubin,
                                    const char *text, size_t n, const char *name, struct ww_module **module,
                                    struct ww_error *error);
/* Loads a PTX file, whatever its name. */
enum ww_code ww_device_module_file(struct ww_device *device, const char *path, struct ww_module **module,
                                   struct ww_error *error);
/* Records without a file and calls back with each finished CTA; for tests. */
void ww_device_watch(struct ww_device *device, void (*on_cta)(void *context, const struct ww_cta_trace *cta),
                     void *context);
/* The instruction table of the last recorded launch; lives until the next. */
const struct ww_inst *ww_device_table(const struct ww_device *device, uint32_t *count);
/* Host memory of an allocation of `n` bytes at least, or NULL; for reading results in place. */
void *ww_device_host(struct ww_device *device, uint64_t address, size_t n);
/* PTX thread instructions executed so far. */
uint64_t ww_device_executed(const struct ww_device *device);

#endif
