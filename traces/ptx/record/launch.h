/* launch.h: a launch description (docs/launch.md): buffers, how they are filled, launches, expected results. */
#ifndef WW_TRACES_PTX_LAUNCH_H
#define WW_TRACES_PTX_LAUNCH_H

#include "device_new.h"

struct launch_file;

/* Reads and checks the description. Errors: WW_IO, WW_INPUT with file and JSON path. */
enum ww_code ww_launch_file_load(const char *path, struct launch_file **file, struct ww_error *error);
void ww_launch_file_free(struct launch_file *file);
/* Makes and fills the buffers, runs the launches, compares what is expected. *verified: something was
 * expected and all of it held. Errors: those of the device, WW_MISMATCH, WW_IO (a file of values). */
enum ww_code ww_launch_file_run(struct launch_file *file, struct ww_device *device, const char *ptx_path,
                                uint64_t seed, bool *verified, struct ww_error *error);

#endif
