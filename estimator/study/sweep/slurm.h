/* slurm.h: a sweep as arrays of a Slurm cluster.
 *
 *   FOLDER/HASH/            HASH: the first 16 digits of the sweep's
 *     lock                  held by the one program that drives the sweep
 *     space.json            the space file as it was; traces/N.wwt: workloads that were recorded
 *     shards                how many
 *     task.sh               what a task runs; list-L.txt: the shards of array L, one a line
 *     shard-K.db            put in place by the tasks
 *     log-JOB_INDEX.txt     what a task printed
 *
 * A shard is done when the sweep's database has its points. What waits or runs is what squeue shows under the
 * sweep's name; the array's comment is the number of its list. Nothing else is remembered, so that a driver
 * that was killed finds its tasks again.
 */
#ifndef WW_SWEEP_SLURM_H
#define WW_SWEEP_SLURM_H

#include "../../api/sweep.h"
#include "../../base/buf.h"
#include "job.h"

enum { SLURM_PATH = 3072 };

struct slurm_shard {
    size_t first, end; /* points */
    bool done, given_up;
    bool queued, running; /* at the last look */
    bool failed;          /* its task ended without all of its points */
    unsigned tries;       /* submissions since its last new point */
    unsigned misses;      /* looks in a row at which it was neither queued nor done */
    size_t stored;        /* points that the sweep's database has */
    uint64_t array;       /* job of its last task, 0: none */
    uint64_t index;       /* of the task in it */
    uint64_t seen_size;   /* of the file that was merged last, and when that was written */
    int64_t seen_ns;
    char state[24]; /* how its last task ended, as Slurm names it; "" if that is not known */
};

/* The shards of an array, by the index of the task. */
struct slurm_list {
    uint32_t *number;
    size_t count;
};

struct slurm {
    struct sweep_job *job;
    const struct ww_sweep_slurm *options;
    char hash[WW_CONFIG_HASH], name[32]; /* name: of the jobs */
    char folder[SLURM_PATH];             /* absolute */
    struct slurm_shard *shard;
    size_t shards;
    struct slurm_list *list; /* list[L - 1] is that of list-L.txt */
    unsigned lists;
    uint64_t array_most;
    int lock;
    size_t queued, running; /* tasks at the last look */
    char waits[64];         /* why a task waits, "" if for nothing special */
    char said[64];          /* the reason that was printed last */
    size_t refused_at;      /* tasks that were queued when the cluster took no more; 0: it takes more */
};

/* Prints a message to the user. */
__attribute__((format(printf, 2, 3))) void ww_slurm_note(const struct slurm *s, const char *fmt, ...);

/* ---- slurm_folder.c ---- */

/* A file's name in the sweep's folder. */
__attribute__((format(printf, 3, 4))) void ww_slurm_path(const struct slurm *s, char out[SLURM_PATH + 64],
                                                         const char *fmt, ...);
/* Makes the folder or finds it, locks it, and fills it. Errors: WW_IO, WW_USAGE, WW_DB (another program drives
 * the sweep). */
enum ww_code ww_slurm_folder_open(struct slurm *s, struct ww_error *error);
void ww_slurm_folder_close(struct slurm *s);
/* Removes all that is in it. */
void ww_slurm_folder_remove(const struct slurm *s);
/* Writes a new list and counts it in s->lists. Errors: WW_IO, WW_NOMEM. */
enum ww_code ww_slurm_add_list(struct slurm *s, const uint32_t *number, size_t count, struct ww_error *error);
/* Takes the last list away again. */
void ww_slurm_drop_list(struct slurm *s);
/* Writes a file under a temporary name and renames it. */
enum ww_code ww_slurm_write(const struct slurm *s, const char *name, const struct ww_buf *text,
                            struct ww_error *error);
/* The last line that a task printed, "" if there is none. */
void ww_slurm_last_line(const struct slurm *s, const struct slurm_shard *shard, char out[300]);

/* ---- slurm_queue.c ---- */

/* Asks the cluster how many tasks an array may have. Errors: WW_IO (no Slurm here, or no reply from it). */
enum ww_code ww_slurm_limits(struct slurm *s, struct ww_error *error);
/* Looks at the queue: sets queued, running, array, index and state of every shard. Errors: WW_IO. */
enum ww_code ww_slurm_look(struct slurm *s, struct ww_error *error);
/* How many nodes are in which state, by sinfo; "not known" if that fails. */
void ww_slurm_nodes(char out[200]);
/* Reads one line of squeue's output. Exposed for tests. */
enum ww_code ww_slurm_read_queue(struct slurm *s, const char *text, struct ww_error *error);
/* Reads a number of 1 to 18 digits without a sign at the start of a text (may be NULL). False: there is none.
 */
bool ww_slurm_number(const char *text, uint64_t *out);
/* The value of a key in what `scontrol show config` prints, or NULL. */
const char *ww_slurm_config(const char *text, const char *key);

/* ---- slurm_submit.c ---- */

/* Submits all shards that are neither done, queued nor given up. Errors: WW_IO (sbatch, with its words). */
enum ww_code ww_slurm_submit(struct slurm *s, struct ww_error *error);
/* Appends a word as a POSIX shell reads it back. */
void ww_slurm_quote(struct ww_buf *b, const char *word);
/* The batch script. */
void ww_slurm_script(const struct slurm *s, const char *program, struct ww_buf *b);

#endif
