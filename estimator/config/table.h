/* table.h: JSON files that hold arrays of records, each record described by parameter rows.
 *
 *     { "description": "...",
 *       "sources": { "short": "full citation", ... },
 *       "SECTION": [ { "key": value, ..., "source": "short name or text" }, ... ], ... }
 *
 * Every record carries a source. Unknown sections and keys are errors that name file and JSON path.
 */
#ifndef WW_CONFIG_TABLE_H
#define WW_CONFIG_TABLE_H

#include "param.h"

/* One section. Filled by ww_table_load: records (in the arena) and count. */
struct ww_table_section {
    const char *key;
    const struct ww_param *rows; /* of one record; a WW_STR row with a NULL def_text is required */
    size_t row_count;
    size_t record_size;   /* 0: the section may be there and is not read */
    size_t source_offset; /* of a `const char *` in the record */
    bool required;
    void *records;
    size_t count;
};

/* Loads a file over `count` sections. Strings and records live in the arena; *description (may be NULL)
 * gets the text. At most 100,000 records in a section. Errors: WW_IO, WW_INPUT, WW_NOMEM. */
enum ww_code ww_table_load(const char *path, struct ww_table_section *section, size_t count,
                           struct ww_arena *arena, const char **description, struct ww_error *error);

#endif
