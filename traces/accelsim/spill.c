/* The spill file of open CTAs. It has no name; its segments are
 *
 *     u64 offset of the CTA's segment before + 1 (0: none), then per warp: u32 steps, accesses, addresses,
 *     and those arrays. An access's list counts from the first address of its segment. */
#include "import.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum ww_code fail_io(const struct ww_as_import *im, const char *what, struct ww_error *error) {
    return ww_fail(error, WW_IO, im->spill.directory, "cannot %s a temporary file: %s", what, strerror(errno));
}

static enum ww_code open_spill(struct ww_as_import *im, struct ww_error *error) {
    if (im->spill.fd >= 0) return WW_OK;
    size_t n = strlen(im->spill.directory) + 32;
    char *path = malloc(n);
    if (!path) return ww_fail_nomem(error, "a temporary file");
    snprintf(path, n, "%s/.warpwatt-XXXXXX", im->spill.directory);
    im->spill.fd = mkostemp(path, O_CLOEXEC);
    if (im->spill.fd >= 0) unlink(path);
    free(path);
    return im->spill.fd >= 0 ? WW_OK : fail_io(im, "create", error);
}

static enum ww_code put(struct ww_as_import *im, const void *data, size_t n, struct ww_error *error) {
    const char *p = data;
    while (n) {
        ssize_t r = pwrite(im->spill.fd, p, n, (off_t)im->spill.end);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) return fail_io(im, "write", error);
        p += r;
        n -= (size_t)r;
        im->spill.end += (uint64_t)r;
    }
    return WW_OK;
}

static enum ww_code get(struct ww_as_import *im, uint64_t *at, void *data, size_t n, struct ww_error *error) {
    char *p = data;
    while (n) {
        ssize_t r = pread(im->spill.fd, p, n, (off_t)*at);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) return fail_io(im, "read", error);
        p += r;
        n -= (size_t)r;
        *at += (uint64_t)r;
    }
    return WW_OK;
}

/* Writes a warp and empties it; a copy that may still meet its twin stays. */
static enum ww_code put_warp(struct ww_as_import *im, struct ww_as_warp *w, struct ww_error *error) {
    uint32_t keep = w->last_copy && w->step_count ? 1 : 0;
    uint32_t n[3] = {w->step_count - keep, w->access_count - keep, w->pool_count};
    if (keep && w->access[n[1]].list != WW_AFFINE) n[2] = w->access[n[1]].list;
    WW_TRY(put(im, n, sizeof n, error));
    WW_TRY(put(im, w->step, n[0] * sizeof *w->step, error));
    WW_TRY(put(im, w->access, n[1] * sizeof *w->access, error));
    WW_TRY(put(im, w->pool, n[2] * sizeof *w->pool, error));
    struct ww_as_warp left = {
        .last_mask = w->last_mask, .exited = w->exited, .last_copy = w->last_copy, .started = w->started};
    if (keep) {
        uint32_t addresses = w->pool_count - n[2];
        if (!ww_as_warp_room(&left, 1, 1, 32)) return ww_fail_nomem(error, "a warp");
        left.step[left.step_count++] = w->step[n[0]];
        left.access[left.access_count] = w->access[n[1]];
        if (left.access[left.access_count].list != WW_AFFINE) left.access[left.access_count].list = 0;
        left.access_count++;
        if (addresses) memcpy(left.pool, w->pool + n[2], addresses * sizeof *left.pool);
        left.pool_count = addresses;
    }
    free(w->step);
    free(w->access);
    free(w->pool);
    *w = left;
    return WW_OK;
}

enum ww_code ww_as_spill_out(struct ww_as_import *im, struct ww_as_cta *cta, struct ww_error *error) {
    WW_TRY(open_spill(im, error));
    uint64_t at = im->spill.end;
    WW_TRY(put(im, &cta->segment, sizeof cta->segment, error));
    for (uint32_t i = 0; i < im->launch.warps_per_cta; i++) WW_TRY(put_warp(im, &cta->warp[i], error));
    cta->segment = at + 1;
    return WW_OK;
}

/* Puts a segment's warp in front of what the warp holds. */
static enum ww_code get_warp(struct ww_as_import *im, struct ww_as_warp *w, uint64_t *at,
                             struct ww_error *error) {
    uint32_t n[3];
    WW_TRY(get(im, at, n, sizeof n, error));
    if (!ww_as_warp_room(w, n[0], n[1], n[2])) return ww_fail_nomem(error, "a warp");
    memmove(w->step + n[0], w->step, w->step_count * sizeof *w->step);
    memmove(w->access + n[1], w->access, w->access_count * sizeof *w->access);
    memmove(w->pool + n[2], w->pool, w->pool_count * sizeof *w->pool);
    for (uint32_t i = 0; i < w->access_count; i++)
        if (w->access[n[1] + i].list != WW_AFFINE) w->access[n[1] + i].list += n[2];
    w->step_count += n[0];
    w->access_count += n[1];
    w->pool_count += n[2];
    WW_TRY(get(im, at, w->step, n[0] * sizeof *w->step, error));
    WW_TRY(get(im, at, w->access, n[1] * sizeof *w->access, error));
    return get(im, at, w->pool, n[2] * sizeof *w->pool, error);
}

enum ww_code ww_as_spill_in(struct ww_as_import *im, struct ww_as_cta *cta, struct ww_error *error) {
    while (cta->segment) {
        uint64_t at = cta->segment - 1;
        WW_TRY(get(im, &at, &cta->segment, sizeof cta->segment, error));
        for (uint32_t i = 0; i < im->launch.warps_per_cta; i++) WW_TRY(get_warp(im, &cta->warp[i], &at, error));
    }
    return WW_OK;
}
