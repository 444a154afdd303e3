/* Job arrays: what is submitted, and the script that their tasks run. */
#include "../../api/sweep.h"
#include "slurm.h"
#include "../../base/spawn.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ww_slurm_quote(struct ww_buf *b, const char *word) {
    ww_buf_byte(b, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            ww_buf_puts(b, "'\\''");
        else
            ww_buf_byte(b, (unsigned char)*word);
    }
    ww_buf_byte(b, '\'');
}

static void add(struct ww_buf *b, const char *option, const char *value) {
    if (!value) return;
    ww_buf_printf(b, " %s ", option);
    ww_slurm_quote(b, value);
}

void ww_slurm_script(const struct slurm *s, const char *program, struct ww_buf *b) {
    const struct ww_sweep_options *o = s->job->options;
    char path[SLURM_PATH + 64], number[32];
    ww_buf_puts(b, "#!/bin/sh\n# A task of a job array; $1 is the list of the array's shards.\n"
                   "shard=$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" \"$1\") || exit\n"
                   "echo \"shard $shard on $(uname -n), try $((${SLURM_RESTART_COUNT:-0} + 1))\"\nexec ");
    ww_slurm_quote(b, program);
    ww_buf_puts(b, " sweep");
    ww_slurm_path(s, path, "space.json");
    ww_buf_byte(b, ' ');
    ww_slurm_quote(b, path);
    add(b, "--strategy", o->strategy);
    add(b, "--mode", o->mode);
    snprintf(number, sizeof number, "%" PRIu64, o->points);
    if (o->points) add(b, "--points", number);
    snprintf(number, sizeof number, "%" PRIu64, o->seed);
    add(b, "--seed", number);
    snprintf(number, sizeof number, "%u", s->options->cpus ? s->options->cpus : 1);
    add(b, "--jobs", number);
    ww_buf_puts(b, " --shard \"$shard\"");
    snprintf(number, sizeof number, "%zu", s->shards);
    add(b, "--of", number);
    ww_slurm_path(s, path, "shard-");
    ww_buf_puts(b, " --into ");
    ww_slurm_quote(b, path);
    ww_buf_puts(b, "\"$shard\".db");
    ww_slurm_path(s, path, "traces");
    add(b, "--traces", path);
    add(b, "--sweep-hash", s->hash);
    add(b, "--node-dir", s->options->node_dir);
    ww_buf_byte(b, '\n');
}

static enum ww_code write_script(const struct slurm *s, struct ww_error *error) {
    char program[4096];
    struct ww_buf b = {0};
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0 || (size_t)n >= sizeof program - 1)
        return ww_fail(error, WW_IO, "/proc/self/exe", "cannot be read: %s", strerror(errno));
    program[n] = 0;
    ww_slurm_script(s, program, &b);
    enum ww_code code = ww_slurm_write(s, "task.sh", &b, error);
    ww_buf_free(&b);
    return code;
}

/* ---- sbatch ---- */

struct words {
    const char **word;
    size_t count, room;
    struct ww_arena arena;
    bool failed;
};

static void push(struct words *w, const char *text) {
    if (text && w->count + 1 < w->room)
        w->word[w->count++] = text;
    else
        w->failed = true;
}

__attribute__((format(printf, 2, 3))) static void pushf(struct words *w, const char *fmt, ...) {
    char text[2 * SLURM_PATH];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    push(w, n >= 0 && (size_t)n < sizeof text ? ww_arena_strdup(&w->arena, text) : NULL);
}

/* The user's options come first, so that ours, which the sweep relies on, win. */
static void fill_words(const struct slurm *s, size_t count, struct words *w) {
    const struct ww_sweep_slurm *o = s->options;
    char path[SLURM_PATH + 64], here[SLURM_PATH];
    push(w, "sbatch");
    for (size_t i = 0; i < o->extra_count; i++) push(w, o->extra[i]);
    if (o->partition) pushf(w, "--partition=%s", o->partition);
    if (o->account) pushf(w, "--account=%s", o->account);
    if (o->time) pushf(w, "--time=%s", o->time);
    if (o->memory) pushf(w, "--mem=%s", o->memory);
    pushf(w, "--cpus-per-task=%u", o->cpus ? o->cpus : 1);
    push(w, "--parsable");
    push(w, "--ntasks=1");
    push(w, "--requeue");
    push(w, "--open-mode=append");
    pushf(w, "--job-name=%s", s->name);
    pushf(w, "--comment=%u", s->lists);
    pushf(w, "--array=0-%zu", count - 1);
    pushf(w, "--chdir=%s", getcwd(here, sizeof here) ? here : "/");
    ww_slurm_path(s, path, "log-%%A_%%a.txt");
    pushf(w, "--output=%s", path);
    ww_slurm_path(s, path, "task.sh");
    pushf(w, "%s", path);
    ww_slurm_path(s, path, "list-%u.txt", s->lists);
    pushf(w, "%s", path);
}

static enum ww_code sbatch(const struct slurm *s, size_t count, uint64_t *job, struct ww_error *error) {
    struct words w = {.room = s->options->extra_count + 32};
    struct ww_spawned r = {0};
    ww_arena_init(&w.arena, 0);
    w.word = ww_arena_array(&w.arena, w.room, sizeof *w.word);
    w.failed = !w.word;
    if (w.word) fill_words(s, count, &w);
    enum ww_code code =
        w.failed ? ww_fail_nomem(error, "the words of sbatch") : ww_spawn(w.word, &ww_spawn_usual, &r, error);
    if (code == WW_OK && r.status != 0) {
        const char *text = r.err.n ? r.err.p : "it said nothing";
        size_t n = strlen(text);
        while (n && text[n - 1] == '\n') n--;
        code = ww_fail(error, WW_IO, "sbatch", "the cluster does not take the job (exit status %d): %.*s",
                       r.status, (int)(n < 700 ? n : 700), text);
    }
    if (code == WW_OK) {
        if (!ww_slurm_number(r.out.p, job) || !*job)
            code =
                ww_fail(error, WW_IO, "sbatch", "\"%.60s\": expected a job's number", r.out.p ? r.out.p : "");
    }
    ww_spawned_free(&r);
    ww_arena_free(&w.arena);
    return code;
}

/* One array of at most as many tasks as the cluster allows. */
static enum ww_code submit_array(struct slurm *s, const uint32_t *number, size_t count,
                                 struct ww_error *error) {
    uint64_t job = 0;
    WW_TRY(ww_slurm_add_list(s, number, count, error));
    enum ww_code code = sbatch(s, count, &job, error);
    if (code != WW_OK) ww_slurm_drop_list(s);
    WW_TRY(code);
    for (size_t i = 0; i < count; i++) {
        struct slurm_shard *shard = &s->shard[number[i] - 1];
        shard->array = job;
        shard->index = i;
        shard->queued = true;
        shard->failed = false;
        shard->misses = 0;
        shard->tries++;
        shard->state[0] = 0;
    }
    s->queued += count;
    ww_slurm_note(s, "job array %" PRIu64 ": %zu of %zu shards", job, count, s->shards);
    return WW_OK;
}

static size_t list_waiting(const struct slurm *s, uint32_t *number) {
    size_t count = 0;
    for (size_t i = 0; i < s->shards; i++) {
        const struct slurm_shard *h = &s->shard[i];
        if (!h->done && !h->given_up && !h->queued && (h->failed || h->tries == 0))
            number[count++] = (uint32_t)i + 1;
    }
    return count;
}

enum ww_code ww_slurm_submit(struct slurm *s, struct ww_error *error) {
    uint32_t *number = calloc(s->shards, sizeof *number);
    if (!number) return ww_fail_nomem(error, "the shards of a sweep");
    size_t count = list_waiting(s, number), at = 0;
    enum ww_code code = count ? write_script(s, error) : WW_OK;
    while (code == WW_OK && at < count) {
        size_t n = count - at < s->array_most ? count - at : (size_t)s->array_most;
        code = submit_array(s, number + at, n, error);
        at += n;
    }
    free(number);
    return code;
}
