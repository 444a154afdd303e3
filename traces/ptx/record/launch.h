/* launch.h: a launch description (docs/reference/launch.md): buffers, how they are filled, launches, expected
 * results. */
#ifndef WW_TRACES_PTX_LAUNCH_H
#define WW_TRACES_PTX_LAUNCH_H

#include "device_new.h"

struct launch_file;

/* Reads and checks the description. Errors: WW_IO, WW_INPUT with file and JSON path. */
enum ww_code ww_launch_file_load(const char *path, struct launch_file **file, struct ww_error *error);
/* The same of JSON text. `where` names it in errors; files in it are looked for in the folder of that name. */
enum ww_code ww_launch_file_parse(const char *text, size_t n, const char *where, struct launch_file **file,
                                  struct ww_error *error);
void ww_launch_file_free(struct launch_file *file);
struct ww_launch_view {
    size_t number;
    const char *name, *type;
    const void *data;
    size_t bytes;
};
/* An element that differs from the wanted one by more than tolerance + relative x |wanted|, or SIZE_MAX. With
 * `before` elements that have kept their value from before are not looked at. `type` is as in a description. */
size_t ww_launch_differs(const char *type, const void *have, const void *want, const void *before, size_t bytes,
                         double tolerance, double relative, double *met, double *expected);
/* How a description is run but for the usual: all may be 0. */
struct ww_launch_use {
    const struct ww_cta_pick *pick; /* these CTAs of each launch alone; expected values are not compared then */
    /* Called before the first launch (`ran` false) and at the end with each buffer: its number, name, elements'
     * type as in the description, and what it holds. */
    enum ww_code (*look)(void *context, bool ran, const struct ww_launch_view *buffer, struct ww_error *error);
    void *context;
};
/* Makes and fills the buffers, runs the launches, compares what is expected. *verified: something was
 * expected and all of it held. Errors: those of the device, WW_MISMATCH, WW_IO (a file of values). */
enum ww_code ww_launch_file_run(struct launch_file *file, struct ww_device *device, const char *ptx_path,
                                uint64_t seed, const struct ww_launch_use *use, bool *verified,
                                struct ww_error *error);

#endif
