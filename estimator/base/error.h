/* error.h: version, error codes and progress: what every public call shares. Part of warpwatt.h. */
#ifndef WW_BASE_ERROR_H
#define WW_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WW_VERSION_MAJOR 0
#define WW_VERSION_MINOR 1
#define WW_VERSION_PATCH 0
#define WW_VERSION "0.1.0"

#define WW_API __attribute__((visibility("default")))

enum ww_code {
#define X(id, exit_code, help) WW_##id,
#include "err.def"
#undef X
    WW_CODE_COUNT
};

struct ww_error {
    enum ww_code code;
    char where[320]; /* file and place in it, "" if there is none */
    char text[640];  /* the value met and what was expected */
};

/* The library's version, "MAJOR.MINOR.PATCH". */
WW_API const char *ww_version(void);
/* The symbolic name of a code ("INPUT"), its meaning, and the program's exit code for it. */
WW_API const char *ww_code_name(enum ww_code code);
WW_API const char *ww_code_help(enum ww_code code);
WW_API int ww_code_exit(enum ww_code code);

/* Called repeatedly during long work with the part done (0 to 1, or < 0 if unknown), the number of units done
 * so far and the unit's name, or "of 36 points" if the total is known. If the part decreases, another piece of
 * work has begun. Returning false stops the work with WW_FAIL. */
typedef bool (*ww_progress_fn)(void *context, double part, uint64_t done, const char *unit);

#ifdef __cplusplus
}
#endif

#endif
