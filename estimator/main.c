/* The program: finds the command, runs it, prints its error, and makes sure that stdout was written. */
#include "base/escape.h"
#include "cmd/cmd.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* What docs/reference/commands.md documents for an interrupted command: 128 + SIGINT, as shells have it. */
#define EXIT_INTERRUPTED 130
#define EXIT_SIGPIPE 141 /* 128 + SIGPIPE: what a shell shows of a program that the signal ended */

static enum ww_code dispatch(int argc, char **argv, int *status, struct ww_error *error) {
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        ww_cmd_print_overview(stdout);
        return WW_OK;
    }
    static char version[] = "version";
    if (argc >= 2 && strcmp(argv[1], "--version") == 0) argv[1] = version;
    const struct cmd_row *row;
    int words = 0;
    enum ww_code code = ww_cmd_find(argc, argv, &row, &words, error);
    if (code != WW_OK && words == 2 && argc == 3 &&
        (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
        ww_cmd_print_group(argv[1], stdout);
        return WW_OK;
    }
    if (code != WW_OK) return code;
    struct cmd_line line;
    code = ww_cmd_parse(row, argc - 1 - words, argv + 1 + words, &line, error);
    line.program_status = status;
    if (code == WW_OK && line.help)
        ww_cmd_print_help(row, stdout);
    else if (code == WW_OK)
        code = row->cmd->run(&line, error);
    ww_cmd_line_free(&line);
    return code;
}

/* Flushes and closes stdout: a full disk often shows only here. */
static enum ww_code finish_stdout(struct ww_error *error) {
    errno = 0;
    bool bad = ferror(stdout) != 0;
    bad |= fclose(stdout) != 0;
    if (!bad) return WW_OK;
    return ww_fail(error, WW_IO, "standard output", "cannot write: %s", errno ? strerror(errno) : "I/O error");
}

/* True if stdout is a pipe whose reader has closed it, as with `| head`. */
static bool reader_is_gone(void) {
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is then a write error, and the command can clean up */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that the limit of the shell (ulimit -f) cuts off */
    ww_cmd_screen_begin();
    struct ww_error error = {.code = WW_OK};
    int status = 0;
    enum ww_code code = dispatch(argc, argv, &status, &error);
    bool gone = reader_is_gone() && !ww_cmd_interrupted();
    struct ww_error late = {.code = WW_OK};
    enum ww_code out = finish_stdout(&late);
    if (out != WW_OK && gone) return EXIT_SIGPIPE;
    if (code == WW_OK && out != WW_OK) {
        code = out;
        error = late;
    }
    if (code == WW_OK) return status;
    bool named = strncmp(error.where, "warpwatt", 8) == 0; /* the place is the command line itself */
    if (!named) fputs("warpwatt: ", stderr);
    ww_put_text(stderr, error.where);
    if (error.where[0]) fputs(": ", stderr);
    ww_put_text(stderr, error.text);
    fputc('\n', stderr);
    return ww_cmd_interrupted() ? EXIT_INTERRUPTED : ww_code_exit(code);
}
