/* The cluster's state, from squeue and scontrol. Accounting (sacct) is not used, since many clusters have none.
 */
#include "slurm.h"
#include "../../base/spawn.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_DEFAULT 1001 /* MaxArraySize where Slurm does not say */

static enum ww_code refused(const char *program, const struct ww_spawned *r, struct ww_error *error) {
    const char *text = r->err.n ? r->err.p : r->out.n ? r->out.p : "it said nothing";
    return ww_fail(error, WW_IO, program, "exit status %d: %.*s", r->status, (int)strcspn(text, "\n"), text);
}

static enum ww_code ask(const char *const *argv, struct ww_spawned *r, struct ww_error *error) {
    WW_TRY(ww_spawn(argv, &ww_spawn_usual, r, error));
    return r->status == 0 ? WW_OK : refused(argv[0], r, error);
}

/* ---- the configuration ---- */

const char *ww_slurm_config(const char *text, const char *key) {
    size_t n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n");
        if (strncmp(line, key, n) == 0 && line[n + strspn(line + n, " ")] == '=') {
            line += n + strspn(line + n, " ") + 1;
            return line + strspn(line, " ");
        }
        if (!*line) break;
    }
    return NULL;
}

bool ww_slurm_number(const char *text, uint64_t *out) {
    size_t n = text ? strspn(text, "0123456789") : 0;
    if (n < 1 || n > 18) return false;
    *out = strtoull(text, NULL, 10);
    return true;
}

enum ww_code ww_slurm_limits(struct slurm *s, struct ww_error *error) {
    static const char *const argv[] = {"scontrol", "show", "config", NULL};
    struct ww_spawned r;
    struct ww_error inner = {.code = WW_OK};
    enum ww_code code = ask(argv, &r, &inner);
    if (code == WW_OK) {
        const char *most = r.out.p ? ww_slurm_config(r.out.p, "MaxArraySize") : NULL;
        s->array_most = ARRAY_DEFAULT;
        if (most && !ww_slurm_number(most, &s->array_most))
            code = ww_fail(&inner, WW_IO, "scontrol", "MaxArraySize = \"%.*s\": expected a number",
                           (int)strcspn(most, "\n") < 60 ? (int)strcspn(most, "\n") : 60, most);
        else if (s->array_most < 2)
            code = ww_fail(&inner, WW_UNSUPPORTED, "scontrol",
                           "the cluster takes no job arrays (MaxArraySize %.*s)",
                           most ? (int)strcspn(most, "\n") : 0, most ? most : "");
    } else if (code == WW_IO) {
        char text[400];
        snprintf(text, sizeof text, "%.390s", inner.text);
        ww_fail(&inner, WW_IO, "scontrol", "%s; --engine slurm needs a Slurm cluster that answers here", text);
    }
    ww_spawned_free(&r);
    if (code != WW_OK && error) *error = inner;
    return code;
}

/* ---- the queue ---- */

static bool is_one_of(const char *word, const char *const *list) {
    for (; *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return false;
}

/* A task in one of these states runs no more, and will not by itself. */
static bool has_ended(const char *state) {
    static const char *const ended[] = {"COMPLETED", "FAILED",        "CANCELLED", "TIMEOUT",
                                        "NODE_FAIL", "PREEMPTED",     "BOOT_FAIL", "DEADLINE",
                                        "REVOKED",   "OUT_OF_MEMORY", NULL};
    return is_one_of(state, ended);
}

/* Slurm holds the task after failures: it is cancelled, and submitted again as a lost one. */
static bool is_held(const char *state, const char *reason) {
    return strcmp(state, "REQUEUE_HOLD") == 0 || strcmp(state, "SPECIAL_EXIT") == 0 ||
           (strcmp(state, "PENDING") == 0 &&
            (strstr(reason, "requeued held") || strstr(reason, "requeued_held") ||
             strcmp(reason, "JobHoldMaxRequeue") == 0));
}

static void cancel(uint64_t job, uint64_t index) {
    char task[64];
    const char *const argv[] = {"scancel", task, NULL};
    struct ww_spawned r;
    snprintf(task, sizeof task, "%" PRIu64 "_%" PRIu64, job, index);
    ww_spawn(argv, &ww_spawn_usual, &r, NULL);
    ww_spawned_free(&r);
}

/* The shard of a task. NULL: there is none. */
static struct slurm_shard *shard_of(const struct slurm *s, uint64_t list, uint64_t index) {
    if (list < 1 || list > s->lists || index >= s->list[list - 1].count) return NULL;
    uint32_t number = s->list[list - 1].number[index];
    return number ? &s->shard[number - 1] : NULL;
}

static void note_reason(struct slurm *s, const char *reason) {
    static const char *const usual[] = {"None",      "Resources", "Priority", "JobArrayTaskLimit",
                                        "BeginTime", "Licenses",  "Cleaning", "Prolog",
                                        NULL};
    if (!is_one_of(reason, usual) && *reason) snprintf(s->waits, sizeof s->waits, "%.60s", reason);
}

/* One task: job, index, list, state and reason. */
static void take_task(struct slurm *s, uint64_t job, uint64_t index, uint64_t list, const char *state,
                      const char *reason) {
    struct slurm_shard *shard = shard_of(s, list, index);
    if (!shard || shard->array > job) return; /* a task of before the last submission */
    shard->array = job;
    shard->index = index;
    shard->state[0] = 0;
    if (has_ended(state)) {
        snprintf(shard->state, sizeof shard->state, "%.23s", state);
        return;
    }
    if (is_held(state, reason)) {
        cancel(job, index);
        return;
    }
    shard->queued = true;
    s->queued++;
    if (strcmp(state, "PENDING") == 0) {
        note_reason(s, reason);
        return;
    }
    shard->running = true;
    s->running++;
}

enum ww_code ww_slurm_read_queue(struct slurm *s, const char *text, struct ww_error *error) {
    s->queued = s->running = 0;
    s->waits[0] = 0;
    for (size_t i = 0; i < s->shards; i++) s->shard[i].queued = s->shard[i].running = false;
    while (text && *text) {
        unsigned long long job, index, list;
        char state[40], reason[100] = "", line[400];
        size_t n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), text);
        text += n + (text[n] == '\n');
        int got = sscanf(line, "%llu|%llu|%llu|%39[A-Z_]|%99[^\n]", &job, &index, &list, state, reason);
        if (got >= 4)
            take_task(s, job, index, list, state, reason);
        else if (strchr(line, '|') == NULL && line[0])
            return ww_fail(error, WW_IO, "squeue", "\"%.100s\": expected job, index, comment, state, reason",
                           line);
    }
    return WW_OK;
}

enum ww_code ww_slurm_look(struct slurm *s, struct ww_error *error) {
    char name[48], user[24];
    const char *const argv[] = {"squeue",         "-h", "-r", "-t", "all", "-u", user, name, "-o",
                                "%F|%K|%k|%T|%r", NULL};
    struct ww_spawned r;
    snprintf(name, sizeof name, "--name=%s", s->name);
    snprintf(user, sizeof user, "%lu", (unsigned long)geteuid());
    enum ww_code code = ask(argv, &r, error);
    if (code == WW_OK) code = ww_slurm_read_queue(s, r.out.p, error);
    ww_spawned_free(&r);
    return code;
}

void ww_slurm_nodes(char out[200]) {
    static const char *const argv[] = {"sinfo", "-h", "-o", "%D %T", NULL};
    struct ww_spawned r;
    size_t n = 0;
    snprintf(out, 200, "not known");
    if (ww_spawn(argv, &ww_spawn_usual, &r, NULL) == WW_OK && r.status == 0 && r.out.n)
        for (const char *p = r.out.p; *p && n < 196; p++) {
            if (*p != '\n')
                out[n++] = *p;
            else if (p[1])
                n += (size_t)snprintf(out + n, 3, ", ");
            out[n] = 0;
        }
    ww_spawned_free(&r);
}
