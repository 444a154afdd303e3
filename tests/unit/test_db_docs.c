/* The documentation names everything that the database holds, and JSON query output keeps to its schema. */
#include "../../estimator/warpwatt.h"
#include "db_fixture.h"
#include "skip.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The text between the heading "### `name`" and the next heading; NULL if there is none. Cuts `doc`. */
static char *section(const char *doc, const char *name) {
    char heading[128];
    snprintf(heading, sizeof heading, "\n### `%s`\n", name);
    const char *at = strstr(doc, heading);
    if (!at) return NULL;
    at += strlen(heading);
    const char *end = strstr(at, "\n#");
    return end ? strndup(at, (size_t)(end - at)) : strdup(at);
}

/* v_source adds up the counters of pc, which say what they are there. */
static bool is_counter(const char *column) {
    for (int i = 0; i < WW_INST_COUNTER_COUNT; i++)
        if (strcmp(column, ww_inst_counter_name((enum ww_inst_counter)i)) == 0) return true;
    return false;
}

static void every_column_of_every_table_and_view_is_documented(void **state) {
    char path[512];
    char *doc = ww_fixture_read(ww_fixture_source_file("docs/reference/database.md", path));
    char *rows = ww_db_fixture_query(*state,
                                     "SELECT s.name || ' ' || c.name AS pair FROM sqlite_schema s,"
                                     " pragma_table_info(s.name) c WHERE s.type IN ('table', 'view')"
                                     " AND s.name NOT LIKE 'sqlite_%'",
                                     WW_FORMAT_CSV);
    int columns = 0;
    for (char *line = strtok(rows, "\r\n"); (line = strtok(NULL, "\r\n")); columns++) {
        char *space = strchr(line, ' '), quoted[128];
        *space = 0;
        char *text = section(doc, strcmp(line, "v_source") == 0 && is_counter(space + 1) ? "pc" : line);
        if (!text) fail_msg("docs/reference/database.md has no section on %s", line);
        snprintf(quoted, sizeof quoted, "`%s`", space + 1);
        if (!strstr(text, quoted)) fail_msg("docs/reference/database.md: %s.%s is missing", line, space + 1);
        free(text);
    }
    assert_true(columns > 150);
    free(rows);
    free(doc);
}

static void every_documented_column_exists(void **state) {
    char path[512];
    char *doc = ww_fixture_read(ww_fixture_source_file("docs/reference/database.md", path)), *table = NULL;
    for (char *line = strtok(doc, "\n"); line; line = strtok(NULL, "\n")) {
        char name[64];
        if (sscanf(line, "### `%63[a-z_0-9]`", name) == 1) {
            free(table);
            table = strdup(name);
        } else if (table && table[0] != 'v' && sscanf(line, "| `%63[a-z_0-9]` |", name) == 1) {
            char sql[200];
            snprintf(sql, sizeof sql, "SELECT %s FROM %s", name, table);
            free(ww_db_fixture_query(*state, sql, WW_FORMAT_CSV));
        }
    }
    assert_non_null(table);
    free(table);
    free(doc);
}

static void every_named_query_has_an_example(void **state) {
    (void)state;
    char path[512];
    char *doc = ww_fixture_read(ww_fixture_source_file("docs/reference/query.md", path));
    for (size_t i = 0; i < ww_db_named_count(); i++) {
        char heading[64], example[96];
        snprintf(heading, sizeof heading, "\n### %s\n", ww_db_named(i)->name);
        snprintf(example, sizeof example, "    warpwatt query --named %s", ww_db_named(i)->name);
        ww_fixture_assert_contains(doc, heading);
        ww_fixture_assert_contains(doc, example);
    }
    free(doc);
}

static void named_queries_as_json_keep_to_their_schema(void **state) {
    struct ww_db_fixture *f = *state;
    if (system("python3 -c 'import jsonschema' 2>/dev/null") != 0)
        SKIP_BECAUSE("python3-jsonschema is not installed");
    ww_db_fixture_store(f, &(struct ww_fixture){.no_energy = true});
    ww_db_fixture_store(f, &(struct ww_fixture){.seed = 3});
    char script[512], schema[512], command[1200];
    snprintf(command, sizeof command, "python3 '%s' '%s'",
             ww_fixture_source_file("tests/cli/schema_check.py", script),
             ww_fixture_source_file("reports/schema/query.json", schema));
    for (size_t i = 0; i < ww_db_named_count(); i++) {
        char *text = ww_db_fixture_named(f, ww_db_named(i)->name, WW_FORMAT_JSON);
        FILE *pipe = popen(command, "w");
        assert_non_null(pipe);
        fputs(text, pipe);
        if (pclose(pipe) != 0) fail_msg("%s does not keep to the schema", ww_db_named(i)->name);
        free(text);
    }
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, ww_db_fixture_setup, ww_db_fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(every_column_of_every_table_and_view_is_documented),
        T(every_documented_column_exists),
        T(every_named_query_has_an_example),
        T(named_queries_as_json_keep_to_their_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
