/* kit_result.h: the results file, which grows from run to run.
 *
 * The file is JSON (reports/schema/hardware.json) with one record on each line, so that a later run can take up
 * what is there without a JSON parser: it keeps every record's line as it is and knows what is done by the
 * records' ids. It is always written whole under another name and then renamed; a run that is killed leaves the
 * last state that was written.
 *
 * Ownership: a result owns its lines and ids; free it with kit_result_free, also after an error.
 */
#ifndef KIT_RESULT_H
#define KIT_RESULT_H

#include "kit_stats.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KIT_SCHEMA "warpwatt-hardware-1"
#define KIT_ID_MAX 256

struct kit_result {
    const char *path;
    char *gpu;   /* the line of the GPU's properties: one JSON object */
    char **line; /* records: one JSON object each, without a comma */
    char **id;
    size_t count, capacity;
    char error[512]; /* why a call returned false */
};

/* Starts an empty result for `path` (which must outlive it). With `resume` what the file holds is read; there
 * may be no file. Without it a file that is there is an error. `gpu`: the JSON object of this GPU, which must
 * be the file's. False: `error` says why. */
bool kit_result_open(struct kit_result *r, const char *path, const char *gpu, bool resume);
void kit_result_free(struct kit_result *r);

bool kit_result_has(const struct kit_result *r, const char *id);
/* Adds records; a record of that id that is there is replaced. False: no memory, id too long. */
bool kit_result_line(struct kit_result *r, const char *id, const char *json);
/* "part" is micro or power; parameters are words "key=value". */
bool kit_result_figure(struct kit_result *r, const char *part, const char *method, const char *parameters,
                       const char *unit, struct kit_value v);
/* The id that kit_result_figure gives, into `id` of KIT_ID_MAX bytes. */
void kit_result_figure_id(char *id, const char *part, const char *method, const char *parameters);

/* Writes the file. False: `error` says why. */
bool kit_result_write(struct kit_result *r);

/* Appends text as a JSON string with its quotes, as much as fits; `n` is the room at `out`. */
void kit_json_string(char *out, size_t n, const char *text);

#ifdef __cplusplus
}
#endif

#endif
