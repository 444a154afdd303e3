/* cu_table.c: the driver's interface: tables of functions that no header tells of.
 *
 * Closed libraries ask for them. What is known of two tables is their size and what the entries below do, as
 * others have observed it (docs/guide/own-program.md); all other entries refuse. The first word of a table is
 * its size. */
#include "cu.h"
#include <string.h>

#define ENTRIES_MAX 94
#define KNOWN_MAX 4

/* cu_context.c */
int cuCtxGetCurrent(struct cu_context **context);
int cuCtxGetDevice(int *device);
int cuCtxGetId(const struct cu_context *context, unsigned long long *id);
/* cu_stream.c */
int cuStreamGetId(const void *stream, unsigned long long *id);

/* Each unknown entry has a separate function, which reports the entry's number. */
static int unknown(unsigned n) {
    static bool said[ENTRIES_MAX];
    if (!said[n])
        ww_rt_say("a library called entry %u of a table of functions that no header tells of: it is not known, "
                  "and returned CUDA_ERROR_NOT_SUPPORTED",
                  n);
    said[n] = true;
    return RT_ERROR_NOT_SUPPORTED;
}

/* clang-format off */
#define TEN(X, t) X(t##0) X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7) X(t##8) X(t##9)
#define ALL(X)                                                                                                 \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6)    \
    TEN(X, 7) TEN(X, 8) X(90) X(91) X(92) X(93)
/* clang-format on */
#define X(n)                                                                                                   \
    static int unknown_##n(void) {                                                                             \
        return unknown(n);                                                                                     \
    }
ALL(X)
#undef X

static int thread_context(struct cu_context **context) {
    return cuCtxGetCurrent(context);
}

static int context_device(const struct cu_context *context, int *device) {
    (void)context;
    return cuCtxGetDevice(device);
}

static int context_number(const struct cu_context *context, unsigned long long *number) {
    return cuCtxGetId(context, number);
}

/* The driver's own handle of a stream; the default streams have theirs. */
static int own_stream(const struct cu_context *context, const void *stream, const void **own, int per_thread) {
    (void)context;
    RT_LOCK;
    if (!own) return RT_ERROR_INVALID_VALUE;
    if (!ww_rt_known_stream(stream)) return CU_INVALID_HANDLE;
    *own = stream ? stream : (const void *)(uintptr_t)(per_thread ? 2 : 1);
    return 0;
}

static int stream_number(const struct cu_context *context, const void *own, unsigned long long *number) {
    (void)context;
    return cuStreamGetId(own, number);
}

typedef void (*entry)(void);

union word {
    uintptr_t size;
    entry function;
};

static const struct {
    unsigned char id[16];
    unsigned count; /* words */
    struct {
        unsigned at;
        entry function;
    } known[KNOWN_MAX];
} tables[] = {{{0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc},
               3,
               {{2, (entry)thread_context}}},
              {{0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2},
               ENTRIES_MAX,
               {{3, (entry)context_device},
                {4, (entry)context_number},
                {39, (entry)stream_number},
                {51, (entry)own_stream}}}};

#define TABLES (sizeof tables / sizeof tables[0])

static const void *table_of(size_t n) {
    static union word words[TABLES][ENTRIES_MAX];
#define X(k) (entry) unknown_##k,
    static const entry none[ENTRIES_MAX - 1] = {ALL(X)};
#undef X
    for (unsigned k = 1; k < tables[n].count; k++) words[n][k].function = none[k - 1];
    for (unsigned k = 0; k < KNOWN_MAX; k++)
        if (tables[n].known[k].at) words[n][tables[n].known[k].at].function = tables[n].known[k].function;
    words[n][0].size = tables[n].count * sizeof(union word);
    return words[n];
}

/* A CUDA runtime whose functions were not replaced first asks for one that proves the driver to be NVIDIA's
 * own. */
static bool is_proof(const unsigned char *id) {
    static const unsigned char first[][4] = {{0xf8, 0xcf, 0xf9, 0x51}, {0xd4, 0x08, 0x20, 0x55}}; /* 13; 12 */
    return memcmp(id, first[0], 4) == 0 || memcmp(id, first[1], 4) == 0;
}

static void say_unknown(const unsigned char *id) {
    static bool said[2];
    bool proof = is_proof(id);
    if (said[proof]) return;
    said[proof] = true;
    if (proof)
        ww_rt_say(
            "cuGetExportTable: a CUDA runtime that is linked into a library asks the driver to prove that "
            "it is NVIDIA's own; it does not run on another one");
    else
        ww_rt_say("cuGetExportTable: table %02x%02x%02x%02x-%02x%02x-%02x%02x is not known; it returned "
                  "CUDA_ERROR_NOT_SUPPORTED",
                  id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7]);
}

RT_EXPORT int cuGetExportTable(const void **table, const unsigned char *id) {
    RT_LOCK;
    if (table) *table = NULL;
    if (!table || !id) return RT_ERROR_INVALID_VALUE;
    for (size_t n = 0; n < TABLES; n++) {
        if (memcmp(id, tables[n].id, sizeof tables[n].id) != 0) continue;
        *table = table_of(n);
        return 0;
    }
    say_unknown(id);
    return RT_ERROR_NOT_SUPPORTED;
}
