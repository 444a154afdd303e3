/* db_fixture.h: a temporary database for each test of db/. */
#ifndef WW_TESTS_DB_FIXTURE_H
#define WW_TESTS_DB_FIXTURE_H

#include "../../estimator/warpwatt.h"
#include "result_fixture.h"

/* cmocka setup and teardown: *state is a struct ww_db_fixture with an open, empty database. */
struct ww_db_fixture {
    char dir[64], path[96];
    struct ww_db *db;
    struct ww_error error;
};
int ww_db_fixture_setup(void **state);
int ww_db_fixture_teardown(void **state);
/* Closes and opens again; the database must open. */
void ww_db_fixture_reopen(struct ww_db_fixture *f);
/* Stores ww_fixture_result(options); must succeed. */
int64_t ww_db_fixture_store(struct ww_db_fixture *f, const struct ww_fixture *options);
/* Output of a query, which must succeed; free() it. */
char *ww_db_fixture_query(struct ww_db_fixture *f, const char *sql, enum ww_format format);
/* The same of a named query without values. */
char *ww_db_fixture_named(struct ww_db_fixture *f, const char *name, enum ww_format format);
/* The code of a query's failure; the error is in f->error. */
enum ww_code ww_db_fixture_try(struct ww_db_fixture *f, const char *sql);
/* Runs SQL on the closed file through SQLite itself, foreign keys and checks off, then opens nothing. */
void ww_db_fixture_tamper(struct ww_db_fixture *f, const char *sql);

#endif
