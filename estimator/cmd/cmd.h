/* cmd.h: what a command of the program is, and what commands share.
 *
 * A command is one const struct: its arguments, its option rows, examples and code; parsing, help, the
 * manual page and shell completion all come from the rows. Commands return codes and fill the error; only
 * main.c prints errors and exits. Commands write to stdout freely: main.c checks it at the end.
 */
#ifndef WW_CMD_CMD_H
#define WW_CMD_CMD_H

#include "../warpwatt.h"
#include "../base/err.h"
#include "../base/buf.h"
#include "../base/eta.h"
#include "../base/jsonw.h"

enum { CMD_REPEAT = 1, CMD_REQUIRED = 2 };

/* One option; a table ends with a row whose name is NULL. */
struct cmd_option {
    const char *name; /* without "--" */
    char letter;      /* 0: none */
    const char *arg;  /* what its value is called ("FILE", "GPU": completion knows these); NULL: a flag */
    const char *help;
    unsigned flags; /* CMD_REPEAT, CMD_REQUIRED */
};

struct cmd_line;
struct cmd {
    const char *arguments; /* as in the usage line: "NAME", "[SQL] [VALUE...]" */
    unsigned min_arguments, max_arguments;
    const char *about;    /* a paragraph, lines of at most 76 columns; "" if the one-line help is enough */
    const char *examples; /* command lines, one a line */
    const struct cmd_option *options; /* NULL: only --help */
    enum ww_code (*run)(const struct cmd_line *line, struct ww_error *error);
};

/* A command's row in cmd.def. */
struct cmd_row {
    const char *name, *help;
    const struct cmd *cmd;
};
extern const struct cmd_row ww_cmd_rows[];
extern const size_t ww_cmd_row_count;

/* A parsed command line; strings are argv's. */
struct cmd_given {
    const struct cmd_option *option;
    const char *value; /* "" for a flag */
};
struct cmd_line {
    const struct cmd_row *row;
    const char **argument;
    size_t argument_count;
    struct cmd_given *given; /* in the order of the command line */
    size_t given_count;
    bool help;           /* --help or -h */
    int *program_status; /* for the command that runs another program: its exit status, which becomes ours */
};

/* Finds the command that argv[1...] begins with; *words says how many words its name took. Errors: WW_USAGE
 * with the nearest name. */
enum ww_code ww_cmd_find(int argc, char **argv, const struct cmd_row **row, int *words, struct ww_error *error);
/* Parses what follows the name. Free with ww_cmd_line_free, also after an error. Errors: WW_USAGE. */
enum ww_code ww_cmd_parse(const struct cmd_row *row, int argc, char **argv, struct cmd_line *line,
                          struct ww_error *error);
void ww_cmd_line_free(struct cmd_line *line);

/* The last value of an option of this command, or NULL; whether it is there. */
const char *ww_cmd_get(const struct cmd_line *line, const char *name);
bool ww_cmd_has(const struct cmd_line *line, const char *name);
/* All values of a repeated option, in order. The array is the caller's to free(). Errors: WW_NOMEM. */
enum ww_code ww_cmd_all(const struct cmd_line *line, const char *name, const char ***values, size_t *count,
                        struct ww_error *error);
/* An option as a whole number in [min, max]; *out is unchanged if the option is not there. WW_USAGE. */
enum ww_code ww_cmd_u64(const struct cmd_line *line, const char *name, uint64_t min, uint64_t max,
                        uint64_t *out, struct ww_error *error);
/* An option as a part of 1, given as "3%", "3" (of 100 too, from 1 on) or "0.03"; as ww_cmd_u64. */
enum ww_code ww_cmd_part(const struct cmd_line *line, const char *name, double *part, struct ww_error *error);
enum ww_code ww_cmd_parse_u64(const char *text, const char *where, uint64_t min, uint64_t max, uint64_t *out,
                              struct ww_error *error);

/* Help texts: the whole program, a group such as "gpu", one command. */
void ww_cmd_print_overview(FILE *out);
void ww_cmd_print_group(const char *group, FILE *out);
void ww_cmd_print_help(const struct cmd_row *row, FILE *out);
/* Documents made of the same rows: manual page, docs/reference/commands.md's second part, completion. */
void ww_cmd_print_man(FILE *out);
void ww_cmd_print_markdown(FILE *out);
void ww_cmd_print_bash(FILE *out);
void ww_cmd_print_zsh(FILE *out);

/* The path of option --db, or the default one. */
const char *ww_cmd_db_path(const struct cmd_line *line);
/* Opens that database. */
enum ww_code ww_cmd_open_db(const struct cmd_line *line, struct ww_db **db, struct ww_error *error);
/* The number of a stored run or sweep (`what`); "last" gives 0. Errors: WW_USAGE. */
enum ww_code ww_cmd_parse_stored(const char *text, const char *what, const char *where, int64_t *id,
                                 struct ww_error *error);
/* Loads a run, 0: the last one; *id then is its number. */
enum ww_code ww_cmd_load_run(struct ww_db *db, int64_t *id, struct ww_result **result, struct ww_error *error);

/* Progress of long work on stderr: a bar where that is a terminal, lines of JSON with --progress json. Ctrl-C
 * asks the work to stop; a second one ends the program at once. Pass ww_cmd_progress_step with the struct as
 * context. */
struct cmd_progress {
    const char *what;
    double start, last;   /* seconds */
    double part;          /* as of the last step */
    uint64_t done, first; /* units; those at the beginning of this piece of work */
    double begun;         /* when that began */
    char unit[80];
    struct ww_eta eta;
    bool shown, quiet;
};
/* How progress is shown, from here on: "bar", "json" or "none" (--progress of any command). Errors: WW_USAGE.
 */
enum ww_code ww_cmd_progress_mode(const char *mode, struct ww_error *error);
void ww_cmd_progress_begin(struct cmd_progress *p, const char *what, bool quiet);
bool ww_cmd_progress_step(void *context, double part, uint64_t done, const char *unit);
/* Wipes the line. If the work was interrupted, turns its error into one that says so. */
enum ww_code ww_cmd_progress_end(struct cmd_progress *p, enum ww_code code, struct ww_error *error);
/* With --json: what the trace that --out names holds (trace.c). */
enum ww_code ww_cmd_tell_written(const struct cmd_line *line, struct ww_error *error);
/* True if Ctrl-C was pressed during progress. */
bool ww_cmd_interrupted(void);

/* From here on stdout replaces control characters, characters that change the direction of writing, and those
 * without width (screen.c). */
void ww_cmd_screen_begin(void);
/* What follows is CSV, which others read: exact, unless stdout is a terminal. */
void ww_cmd_screen_data(void);
/* The same stream over stderr, for what is not the program's own words; fclose() it. NULL: no memory. */
FILE *ww_cmd_screen_stderr(void);

/* A table for people: cells row by row, columns as wide as they need; columns whose cells are all numbers
 * are set to the right. */
struct cmd_table {
    size_t columns, count, capacity;
    char **cell;
    bool failed;
};
void ww_cmd_table_cell(struct cmd_table *t, const char *text);
__attribute__((format(printf, 2, 3))) void ww_cmd_table_cellf(struct cmd_table *t, const char *fmt, ...);
/* Prints and frees. The first row is the heading. Errors: WW_NOMEM. */
enum ww_code ww_cmd_table_print(struct cmd_table *t, FILE *out, struct ww_error *error);

#endif
