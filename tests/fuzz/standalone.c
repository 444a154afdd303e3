/* A main() for the fuzz targets where libFuzzer is not at hand (gcc, valgrind, AFL++):
 *
 *     target FILE|DIRECTORY...                     feeds each file once
 *     target -runs=N -seed=S FILE|DIRECTORY...     then N mutations of them, the same ones for the same seed
 *
 * Without files mutations start from an empty input. If the target dies, or takes more than INPUT_SECONDS for
 * an input, that input is written to crash-standalone.
 */
#include "../../estimator/base/rng.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_MAX ((size_t)1 << 16)
#define INPUT_SECONDS 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Of the address sanitizer, if it is linked in. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

struct input {
    unsigned char *data;
    size_t size;
};

static struct {
    struct input *input;
    size_t count, room;
} corpus;
static struct input current;

static void save_current(void) {
    if (!current.data) return;
    int fd = open("crash-standalone", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) return;
    if (write(fd, current.data, current.size) < 0) _exit(2);
    close(fd);
}

static void on_signal(int number) {
    save_current();
    signal(number, SIG_DFL);
    raise(number);
}

/* Runs on a block of exactly that size, so that a read behind it is seen. */
static void feed(const unsigned char *data, size_t size) {
    current.data = malloc(size + !size);
    if (!current.data) exit(2);
    memcpy(current.data, data, size);
    current.size = size;
    alarm(INPUT_SECONDS);
    LLVMFuzzerTestOneInput(current.data, size);
    alarm(0);
    free(current.data);
    current = (struct input){0}; /* nothing is to blame between inputs */
}

static void add_file(const char *path) {
    FILE *f = fopen(path, "rb");
    struct input in = {malloc(INPUT_MAX), 0};
    if (!f || !in.data) {
        fprintf(stderr, "%s: cannot read\n", path);
        exit(2);
    }
    in.size = fread(in.data, 1, INPUT_MAX, f);
    fclose(f);
    if (corpus.count == corpus.room) {
        corpus.room = corpus.room ? corpus.room * 2 : 64;
        corpus.input = realloc(corpus.input, corpus.room * sizeof *corpus.input);
        if (!corpus.input) exit(2);
    }
    corpus.input[corpus.count++] = in;
}

static int visible(const struct dirent *e) {
    return e->d_name[0] != '.';
}

static void add_path(const char *path) {
    struct dirent **entry;
    char file[4096];
    int n = scandir(path, &entry, visible, alphasort); /* sorted: the same corpus everywhere */
    if (n < 0) {
        add_file(path);
        return;
    }
    for (int i = 0; i < n; i++) {
        snprintf(file, sizeof file, "%s/%s", path, entry[i]->d_name);
        add_file(file);
        free(entry[i]);
    }
    free(entry);
}

static size_t below(struct ww_rng *r, size_t n) {
    return n ? ww_rng_below(r, (uint32_t)n) : 0;
}

static void insert_bytes(struct input *in, size_t at, const unsigned char *from, size_t n) {
    if (n > INPUT_MAX - in->size) n = INPUT_MAX - in->size;
    memmove(in->data + at + n, in->data + at, in->size - at);
    if (n) memcpy(in->data + at, from, n);
    in->size += n;
}

static void remove_bytes(struct input *in, size_t at, size_t n) {
    if (n > in->size - at) n = in->size - at;
    memmove(in->data + at, in->data + at + n, in->size - at - n);
    in->size -= n;
}

static void mutate_once(struct ww_rng *r, struct input *in) {
    static const unsigned char edge[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '0', '9', '-', '"', '{'};
    unsigned char piece[64];
    size_t at = below(r, in->size), n = 1 + below(r, sizeof piece);
    const struct input *other = &corpus.input[below(r, corpus.count)];
    for (size_t i = 0; i < n; i++) piece[i] = (unsigned char)ww_rng_next(r);
    unsigned kind = (unsigned)below(r, 8);
    if (!in->size && kind < 4) kind = 4;
    switch (kind) {
    case 0:
        in->data[at] ^= (unsigned char)(1u << below(r, 8));
        break;
    case 1:
        in->data[at] = (unsigned char)ww_rng_next(r);
        break;
    case 2:
        in->data[at] = edge[below(r, sizeof edge)];
        break;
    case 3:
        remove_bytes(in, at, n);
        break;
    case 4:
        insert_bytes(in, at, piece, n % 8);
        break;
    case 5:
        in->size = at;
        break;
    case 6: /* a piece of itself */
        if (n > in->size - at) n = in->size - at;
        if (n) memcpy(piece, in->data + at, n);
        insert_bytes(in, below(r, in->size), piece, n);
        break;
    default: /* a piece of another */
        at = below(r, other->size);
        insert_bytes(in, below(r, in->size), other->data + at, n < other->size - at ? n : other->size - at);
    }
}

static void run_mutations(uint64_t runs, uint64_t seed) {
    static unsigned char room[INPUT_MAX];
    struct ww_rng r;
    ww_rng_seed(&r, seed);
    for (uint64_t i = 0; i < runs; i++) {
        const struct input *from = &corpus.input[below(&r, corpus.count)];
        struct input in = {room, from->size};
        memcpy(room, from->data, from->size);
        for (size_t n = 1 + below(&r, 8); n > 0; n--) mutate_once(&r, &in);
        feed(in.data, in.size);
    }
}

int main(int argc, char **argv) {
    uint64_t runs = 0, seed = 1;
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(save_current);
    signal(SIGSEGV, on_signal);
    signal(SIGBUS, on_signal);
    signal(SIGFPE, on_signal);
    signal(SIGABRT, on_signal);
    signal(SIGALRM, on_signal);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-runs=", 6) == 0)
            runs = strtoull(argv[i] + 6, NULL, 10);
        else if (strncmp(argv[i], "-seed=", 6) == 0)
            seed = strtoull(argv[i] + 6, NULL, 10);
        else
            add_path(argv[i]);
    }
    if (!corpus.count && !runs) {
        fprintf(stderr, "usage: %s [-runs=N] [-seed=S] FILE|DIRECTORY...\n", argv[0]);
        return 2;
    }
    if (!corpus.count) add_file("/dev/null"); /* mutations of nothing */
    for (size_t i = 0; i < corpus.count; i++) feed(corpus.input[i].data, corpus.input[i].size);
    run_mutations(runs, seed);
    printf("%zu files, %llu mutations\n", corpus.count, (unsigned long long)runs);
    for (size_t i = 0; i < corpus.count; i++) free(corpus.input[i].data);
    free(corpus.input);
    return 0;
}
