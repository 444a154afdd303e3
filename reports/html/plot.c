/* Plots: a script of constants and numbers goes to gnuplot, its SVG comes back. */
#include "page.h"
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Starts gnuplot with files as its input and output and waits for its end; true if it succeeded. -d: without
 * the user's settings. */
static bool run_gnuplot(FILE *in, FILE *out, const char *argument) {
    char *argv[] = {(char[]){"gnuplot"}, (char[]){"-d"}, NULL, NULL};
    char text[32];
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 1;
    if (argument) {
        snprintf(text, sizeof text, "%s", argument);
        argv[2] = text;
    }
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    bool ready = posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO) == 0 &&
                 posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO) == 0 &&
                 posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0) == 0;
    ready = ready && posix_spawnp(&child, "gnuplot", &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!ready) return false;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool ww_plot_available(void) {
    FILE *in = tmpfile(), *out = tmpfile();
    bool found = in && out && run_gnuplot(in, out, "--version");
    if (in) fclose(in);
    if (out) fclose(out);
    return found;
}

void ww_plot_begin(struct ww_plot *plot, const struct ww_page *p, unsigned width, unsigned height) {
    *plot = (struct ww_plot){0};
    if (!p->plots) return;
    plot->script = open_memstream(&plot->text, &plot->size);
    if (!plot->script) return;
    fprintf(plot->script,
            "set terminal svg noenhanced size %u,%u dynamic font \"sans-serif,14\"\n"
            "set encoding utf8\nset border 3 lc rgb " WW_PLOT_GRID
            "\nset tics nomirror out scale 0.4 textcolor rgb " WW_PLOT_FG
            "\nset grid y lt 1 lw 1 lc rgb " WW_PLOT_GRID
            "\nunset key\nset style fill solid 1\nset xlabel textcolor rgb " WW_PLOT_FG
            "\nset ylabel textcolor rgb " WW_PLOT_FG "\n",
            width, height);
}

void ww_plot_label(struct ww_plot *plot, const char *s, size_t most) {
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._=+-()/%<>:,";
    fputc('"', plot->script);
    for (size_t n = 0; *s && n < most; n++, s++) fputc(strchr(allowed, *s) ? *s : '?', plot->script);
    if (*s) fputs("..", plot->script);
    fputc('"', plot->script);
}

static char *read_all(FILE *f) {
    if (fseek(f, 0, SEEK_END) != 0) return NULL;
    long size = ftell(f);
    char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    if (!text) return NULL;
    rewind(f);
    size_t n = fread(text, 1, (size_t)size, f);
    text[n] = 0;
    return text;
}

/* What gnuplot makes of the script; NULL if it fails. The caller frees it. */
static char *draw(const char *script, size_t size) {
    FILE *in = tmpfile(), *out = tmpfile();
    char *svg = NULL;
    if (in && out && fwrite(script, 1, size, in) == size && fflush(in) == 0) {
        rewind(in);
        if (run_gnuplot(in, out, NULL)) svg = read_all(out);
    }
    if (in) fclose(in);
    if (out) fclose(out);
    return svg;
}

static void put_svg(struct ww_page *p, const char *view, const struct ww_buf *body, const char *title,
                    const char *about) {
    ww_html(p, "<svg role=\"img\" viewBox=\"%s\" aria-label=\"", view);
    ww_html_text(p, title);
    ww_html(p, "\"><title>");
    ww_html_text(p, title);
    ww_html(p, "</title><desc>");
    ww_html_text(p, about);
    ww_html(p, "</desc>\n");
    fwrite(body->p, 1, body->n, p->out);
    ww_html(p, "</svg>\n");
}

void ww_plot_end(struct ww_plot *plot, struct ww_page *p, const char *title, const char *about) {
    struct ww_buf body = {0};
    unsigned width = 0, height = 0;
    char view[48];
    if (!plot->script) return;
    bool good = fclose(plot->script) == 0;
    char *svg = good ? draw(plot->text, plot->size) : NULL;
    const char *box = svg ? strstr(svg, "viewBox=\"0 0 ") : NULL;
    good = box && sscanf(box, "viewBox=\"0 0 %u %u\"", &width, &height) == 2 && ww_svg_inline(svg, &body);
    snprintf(view, sizeof view, "0 0 %u %u", width, height);
    if (good && body.n)
        put_svg(p, view, &body, title, about);
    else
        ww_html(p, "<p class=\"note\">gnuplot could not draw this figure; its data are below.</p>\n");
    ww_buf_free(&body);
    free(svg);
    free(plot->text);
}
