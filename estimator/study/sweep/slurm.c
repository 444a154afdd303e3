/* Driving a sweep on a Slurm cluster: submits missing shards and merges finished ones, until all points are
 * there. */
#include "../../api/database.h"
#include "../../api/sweep.h"
#include "slurm.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    POINTS_DEFAULT = 100, /* of a shard */
    TRIES_DEFAULT = 3,
    POLL_DEFAULT = 5, /* seconds */
    MISSES = 2,       /* looks at which a task is gone and its file not there, before it counts as lost */
    DEAF = 60,        /* looks that may fail in a row */
    STEP_MS = 200     /* between two questions whether to stop */
};

void ww_slurm_note(const struct slurm *s, const char *fmt, ...) {
    char text[900];
    va_list args;
    if (!s->options->note) return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    s->options->note(s->job->options->context, text);
}

/* ---- what has come back ---- */

/* Counts the points of every shard that the database has. A new one makes its tries count anew. */
static enum ww_code recount(struct slurm *s, struct ww_error *error) {
    struct sweep_job *job = s->job;
    WW_TRY(ww_db_sweep_done(job->db, &job->head, job->done, error));
    job->finished = 0;
    for (size_t i = 0; i < s->shards; i++) {
        struct slurm_shard *h = &s->shard[i];
        size_t stored = 0;
        for (size_t p = h->first; p < h->end; p++) stored += job->done[p];
        if (stored > h->stored && h->tries > 1) h->tries = 1;
        h->stored = stored;
        h->done = stored == h->end - h->first;
        job->finished += stored;
    }
    return WW_OK;
}

/* Joins a shard's file unless it was joined as it is. One that cannot be read is set aside. */
static enum ww_code take_file(struct slurm *s, struct slurm_shard *h, const char *path, uint64_t *merged,
                              struct ww_error *error) {
    struct stat st;
    struct ww_db_merged m = {0};
    struct ww_error inner = {.code = WW_OK};
    char aside[SLURM_PATH + 80];
    if (h->done || stat(path, &st) != 0) return WW_OK;
    int64_t ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    if (h->seen_size == (uint64_t)st.st_size && h->seen_ns == ns) return WW_OK;
    enum ww_code code = ww_db_merge(s->job->db, path, &m, &inner);
    bool garbage = code == WW_DB || (code == WW_IO && !S_ISREG(st.st_mode));
    if (garbage && access(path, F_OK) == 0) {
        snprintf(aside, sizeof aside, "%s.bad", path);
        ww_slurm_note(s, "%s: %s; set aside", path, inner.text);
        return rename(path, aside) == 0 ? WW_OK
                                        : ww_fail(error, WW_IO, path, "cannot be renamed: %s", strerror(errno));
    }
    if (code != WW_OK) {
        if (error) *error = inner;
        return code;
    }
    h->seen_size = (uint64_t)st.st_size;
    h->seen_ns = ns;
    s->job->computed += m.results;
    *merged += m.points;
    return WW_OK;
}

/* All files of shards in the folder. Reading the folder, not asking for names, makes network file systems look
 * afresh. */
static enum ww_code collect(struct slurm *s, struct ww_error *error) {
    char path[SLURM_PATH + 64];
    uint64_t merged = 0;
    enum ww_code code = WW_OK;
    DIR *d = opendir(s->folder);
    if (!d) return ww_fail(error, WW_IO, s->folder, "cannot be read: %s", strerror(errno));
    for (struct dirent *e; code == WW_OK && (e = readdir(d));) {
        char *end;
        if (strncmp(e->d_name, "shard-", 6) != 0) continue;
        unsigned long number = strtoul(e->d_name + 6, &end, 10);
        if (strcmp(end, ".db") != 0 || number < 1 || number > s->shards) continue;
        ww_slurm_path(s, path, "shard-%lu.db", number);
        code = take_file(s, &s->shard[number - 1], path, &merged, error);
    }
    closedir(d);
    return code == WW_OK && merged ? recount(s, error) : code;
}

/* ---- what is lost ---- */

static void lose(struct slurm *s, size_t i) {
    struct slurm_shard *h = &s->shard[i];
    char line[300];
    ww_slurm_last_line(s, h, line);
    h->failed = true;
    h->given_up = h->tries >= s->options->tries;
    ww_slurm_note(s, "shard %zu of %zu: task %" PRIu64 "_%" PRIu64 " ended%s%s with %zu of %zu points%s%s; %s",
                  i + 1, s->shards, h->array, h->index, h->state[0] ? " as " : "", h->state, h->stored,
                  h->end - h->first, line[0] ? ": " : "", line, h->given_up ? "given up" : "again");
}

/* A task that is in the queue no more, and whose points are not here. A file may be seen later than the end of
 * the task that wrote it, so that this is asked twice. */
static void judge(struct slurm *s) {
    for (size_t i = 0; i < s->shards; i++) {
        struct slurm_shard *h = &s->shard[i];
        if (h->done || h->queued || h->failed || h->tries == 0)
            h->misses = 0;
        else if (++h->misses >= MISSES)
            lose(s, i);
    }
}

/* Shards that may still come. */
static size_t expected(const struct slurm *s) {
    size_t count = 0;
    for (size_t i = 0; i < s->shards; i++) count += !s->shard[i].done && !s->shard[i].given_up;
    return count;
}

/* ---- the loop ---- */

/* Waits for the next look. False: stop. */
static bool rest(struct slurm *s) {
    const struct ww_sweep_options *o = s->job->options;
    struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    for (unsigned ms = 0; ms < 1000 * s->options->poll_s; ms += STEP_MS) {
        double part = (double)s->job->finished / (double)s->job->plan.count;
        char of[48];
        snprintf(of, sizeof of, "of %zu points", s->job->plan.count);
        if (o->progress && !o->progress(o->context, part, s->job->finished, of)) return false;
        nanosleep(&step, NULL);
    }
    return true;
}

/* A cluster may take only so many jobs at a time: the rest waits until some have ended. */
static enum ww_code submit(struct slurm *s, struct ww_error *error) {
    struct ww_error inner = {.code = WW_OK};
    if (s->refused_at && s->queued >= s->refused_at) return WW_OK;
    enum ww_code code = ww_slurm_submit(s, &inner);
    if (code == WW_IO && s->queued) {
        if (!s->refused_at) ww_slurm_note(s, "%s: %s; the rest waits", inner.where, inner.text);
        s->refused_at = s->queued;
        return WW_OK;
    }
    s->refused_at = 0;
    if (code != WW_OK && error) *error = inner;
    return code;
}

/* Prints once why nothing runs, and in what state the nodes are. */
static void say_wait(struct slurm *s) {
    if (s->running || !s->waits[0] || strcmp(s->waits, s->said) == 0) return;
    char nodes[200];
    ww_slurm_nodes(nodes);
    ww_slurm_note(s, "%zu tasks wait: %s (nodes: %s)", s->queued, s->waits, nodes);
    snprintf(s->said, sizeof s->said, "%s", s->waits);
}

static enum ww_code look(struct slurm *s, unsigned *deaf, struct ww_error *error) {
    struct ww_error inner = {.code = WW_OK};
    enum ww_code code = ww_slurm_look(s, &inner);
    if (code == WW_OK) {
        *deaf = 0;
    } else if (code != WW_IO || ++*deaf >= DEAF) {
        if (error) *error = inner;
        return code;
    } else if (*deaf == 1) {
        ww_slurm_note(s, "%s: %s; asked again", inner.where, inner.text);
    }
    return WW_OK;
}

static enum ww_code drive(struct slurm *s, struct ww_error *error) {
    unsigned deaf = 0;
    WW_TRY(recount(s, error));
    for (;;) {
        WW_TRY(look(s, &deaf, error)); /* before the files: what has ended by now must be there */
        WW_TRY(collect(s, error));
        if (!expected(s)) return WW_OK;
        if (!deaf) {
            judge(s);
            WW_TRY(submit(s, error));
            say_wait(s);
        }
        if (!expected(s)) return WW_OK;
        if (!rest(s)) return ww_fail(error, WW_FAIL, s->job->space.file, "stopped");
    }
}

/* ---- the whole ---- */

static enum ww_code report_lost(const struct slurm *s, struct ww_error *error) {
    size_t lost = 0, last = 0;
    char line[300];
    for (size_t i = 0; i < s->shards; i++)
        if (s->shard[i].given_up) {
            lost++;
            last = i;
        }
    if (!lost) return WW_OK;
    ww_slurm_last_line(s, &s->shard[last], line);
    return ww_fail(
        error, WW_FAIL, s->folder,
        "%zu of %zu shards failed %u times each%s%s; %zu of %zu points are stored, the same command tries"
        " again",
        lost, s->shards, s->options->tries, line[0] ? ", the last with: " : "", line, s->job->finished,
        s->job->plan.count);
}

static enum ww_code finish(struct slurm *s, struct ww_sweep_summary *summary, struct ww_error *error) {
    struct sweep_job *job = s->job;
    summary->computed = job->computed;
    WW_TRY(ww_db_sweep_counts(job->db, &job->head, &summary->stored, &summary->invalid, &summary->infeasible,
                              error));
    WW_TRY(ww_db_sweep_causes(job->db, &job->head, summary->cause, &summary->causes, error));
    WW_TRY(report_lost(s, error));
    WW_TRY(ww_sweep_fit(job, error));
    WW_TRY(ww_db_make_durable(job->db, error));
    if (!s->options->keep) ww_slurm_folder_remove(s);
    return WW_OK;
}

static enum ww_code begin(struct slurm *s, struct ww_sweep_summary *summary, struct ww_error *error) {
    struct sweep_job *job = s->job;
    WW_TRY(ww_db_sweep_hash(&job->head, s->hash, error));
    snprintf(s->name, sizeof s->name, "warpwatt-%.16s", s->hash);
    WW_TRY(ww_slurm_limits(s, error));
    WW_TRY(ww_db_open(job->options->db, true, &job->db, error));
    WW_TRY(ww_db_sweep_begin(job->db, &job->head, error));
    summary->sweep = job->head.id;
    summary->points = job->plan.count;
    job->done = ww_arena_array(&job->space.arena, job->plan.count, sizeof *job->done);
    if (!job->done) return ww_fail_nomem(error, "a sweep");
    return ww_slurm_folder_open(s, error);
}

enum ww_code ww_sweep_run_slurm(struct sweep_job *job, struct ww_sweep_summary *summary,
                                struct ww_error *error) {
    struct ww_sweep_slurm options = *job->options->slurm;
    struct slurm s = {.job = job, .options = &options, .lock = -1};
    if (!options.shard_points) options.shard_points = POINTS_DEFAULT;
    if (!options.tries) options.tries = TRIES_DEFAULT;
    if (!options.poll_s) options.poll_s = POLL_DEFAULT;
    enum ww_code code = begin(&s, summary, error);
    if (code == WW_OK) code = drive(&s, error);
    if (code == WW_OK) code = finish(&s, summary, error);
    if (code != WW_OK) summary->stored = job->finished;
    if (code == WW_FAIL && expected(&s) && s.queued)
        ww_slurm_note(&s, "%zu tasks continue; `scancel --name=%s` cancels them", s.queued, s.name);
    ww_slurm_folder_close(&s);
    return code;
}
