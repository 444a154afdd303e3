/* outfile.h: how every output file is checked and written.
 *
 * The file may be absent, empty, not a regular file (/dev/stdout, /dev/null, a pipe), or of the kind that is
 * written: then it is replaced. It must not be one of the inputs, whatever name it is given by. Anything else
 * is WW_USAGE, before any work is done. A regular file is written under a temporary name and renamed when it is
 * complete, so that a failure leaves the old one. Any other file is written directly. So is a descriptor that
 * is open already (/dev/stdout, /dev/fd/3): its file is never replaced, and must be empty if it is a regular
 * one.
 *
 * The check reads a file's first bytes through a descriptor that it closes. Closing drops the locks of a
 * database that this process has open, so check first and open databases afterwards. */
#ifndef WW_BASE_OUTFILE_H
#define WW_BASE_OUTFILE_H

#include "tempfile.h"
#include <stdio.h>

/* What is written; outfile.c knows each by its first bytes. */
enum ww_outfile_kind {
    WW_OUTFILE_TRACE,
    WW_OUTFILE_DATABASE,
    WW_OUTFILE_PROFILE, /* of a trace, for the analytical model */
    WW_OUTFILE_PAGE,    /* HTML report */
    WW_OUTFILE_GPU,     /* that inherits from another */
    WW_OUTFILE_POWER,   /* table */
    WW_OUTFILE_FIT,     /* of the analytical model */
    WW_OUTFILE_SCRIPT,  /* of gnuplot */
    WW_OUTFILE_DATA,    /* columns for gnuplot */
    WW_OUTFILE_SVG,
    WW_OUTFILE_PNG,
    WW_OUTFILE_KINDS
};
/* "WwDB" in ASCII: the application id in the header of a database of ours. */
#define WW_DB_APPLICATION_ID 0x57774442

/* Applies the rule to `path` and resolves it into *target, which the caller frees: the regular file that it
 * names, through symbolic links (also through one whose file does not exist yet), or the new name itself; NULL
 * if it names something that is written directly. Errors: WW_USAGE, WW_IO (links without end, cannot be read),
 * WW_NOMEM. */
enum ww_code ww_outfile_resolve(const char *path, enum ww_outfile_kind kind, char **target,
                                struct ww_error *error);
/* Applies the rule only. */
enum ww_code ww_outfile_check(const char *path, enum ww_outfile_kind kind, struct ww_error *error);
/* The same for a file NAME in a folder of plots: its ending (.gp, .dat, .svg, .png) says of which kind it is.
 */
enum ww_code ww_outfile_check_in(const char *folder, const char *name, struct ww_error *error);
/* WW_USAGE if both names stand for one regular file (device and inode): writing `out` would destroy what is
 * read. `in` may be NULL. */
enum ww_code ww_outfile_not_input(const char *out, const char *in, struct ww_error *error);

/* A file that is being written. */
struct ww_outfile {
    char *path;          /* as it was named: for errors */
    char *target;        /* NULL: written directly */
    struct ww_temp temp; /* in the target's folder */
    int fd;
    FILE *stream; /* NULL until ww_outfile_stream */
};

/* Begins; fd is open for writing. On an error there is nothing to close. */
enum ww_code ww_outfile_open(struct ww_outfile *f, const char *path, enum ww_outfile_kind kind,
                             struct ww_error *error);
/* The same, and makes `stream`. */
enum ww_code ww_outfile_stream(struct ww_outfile *f, const char *path, enum ww_outfile_kind kind,
                               struct ww_error *error);
/* Ends: puts the file in place if `code` is WW_OK and all could be written, else removes what there is of it.
 * Returns `code`, or what went wrong now. */
enum ww_code ww_outfile_close(struct ww_outfile *f, enum ww_code code, struct ww_error *error);

#endif
