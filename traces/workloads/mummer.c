/* mummer: matching statistics of short reads against a genome, the kernel of MUMmerGPU (M. C. Schatz et al.,
 * "High-throughput sequence alignment using Graphics Processing Units", BMC Bioinformatics 8, 2007) and of
 * Rodinia's benchmark of that name. The suffix tree is built by Ukkonen's algorithm ("On-line construction of
 * suffix trees", Algorithmica 14, 1995); the check uses a sorted suffix array instead. The reference: random
 * bases in which repeats of 50 to 299 bases recur; queries are pieces of it with one base in 25 changed.
 * Compared exactly. */
#include "host.h"
#include <stdlib.h>
#include <string.h>

enum { NODE = 8, EDGE_START = 4, EDGE_END = 5, LINK = 6 }; /* of kernels/mummer.cu */
enum { MARK = 4 };                                         /* ends the reference; child 4 while building */
#define OPEN UINT32_MAX                                    /* end of a leaf's edge while building */

struct settings {
    uint32_t size, bases, queries, length, block, tree;
};
enum { GLOBAL, TEXTURE };
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(bases, "bases", "base", 0, 16777216, 0, "bases of the reference; 0: 2000, 131072, 1048576")            \
    U32(queries, "queries", "query", 0, 4194304, 0, "queries; 0: 200, 20736, 50000")                           \
    U32(length, "length", "base", 4, 1000, 25, "bases of a query")                                             \
    U32(block, "block", "thread", 1, 1024, 256, "threads of a CTA")                                            \
    ENUM(tree, "tree", "global|texture", 0, "global", "the suffix tree in global memory or in a texture")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct problem {
    uint32_t bases, queries, length;
    uint8_t *text, *query; /* text: bases, then MARK */
    uint32_t *match, *want;
};

/* ---- the tree ---- */

struct node {
    uint32_t child[5], start, end, link;
};

struct tree {
    const uint8_t *text;
    struct node *node;
    uint32_t nodes;
    uint32_t active, edge, length; /* the active point: node, text position of its edge's first base, length */
    uint32_t left;                 /* suffixes still to insert */
    uint32_t waiting;              /* inner node whose suffix link is not known yet, or 0 */
};

static uint32_t new_node(struct tree *t, uint32_t start, uint32_t end) {
    t->node[t->nodes] = (struct node){.start = start, .end = end};
    return t->nodes++;
}

static void link_waiting(struct tree *t, uint32_t to) {
    if (t->waiting) t->node[t->waiting].link = to;
    t->waiting = to;
}

static void split(struct tree *t, uint32_t position) {
    uint32_t old = t->node[t->active].child[t->text[t->edge]];
    uint32_t inner = new_node(t, t->node[old].start, t->node[old].start + t->length);
    t->node[t->active].child[t->text[t->edge]] = inner;
    t->node[inner].child[t->text[position]] = new_node(t, position, OPEN);
    t->node[old].start += t->length;
    t->node[inner].child[t->text[t->node[old].start]] = old;
    link_waiting(t, inner);
}

/* Inserts the longest suffix that is not there yet. Returns false if it is there already (and all shorter
 * ones). */
static bool insert_one(struct tree *t, uint32_t position) {
    if (t->length == 0) t->edge = position;
    uint32_t next = t->node[t->active].child[t->text[t->edge]];
    if (next == 0) {
        t->node[t->active].child[t->text[t->edge]] = new_node(t, position, OPEN);
        link_waiting(t, t->active);
        return true;
    }
    uint32_t end = t->node[next].end == OPEN ? position + 1 : t->node[next].end;
    uint32_t edge = end - t->node[next].start;
    if (t->length >= edge) { /* walk down, and try there */
        t->edge += edge;
        t->length -= edge;
        t->active = next;
        return insert_one(t, position);
    }
    if (t->text[t->node[next].start + t->length] == t->text[position]) {
        link_waiting(t, t->active);
        t->length++;
        return false;
    }
    split(t, position);
    return true;
}

static void extend(struct tree *t, uint32_t position) {
    t->waiting = 0;
    t->left++;
    while (t->left > 0 && insert_one(t, position)) {
        t->left--;
        if (t->active == 0 && t->length > 0) {
            t->length--;
            t->edge = position - t->left + 1;
        } else {
            t->active = t->node[t->active].link;
        }
    }
}

static enum ww_code build(struct ww_host *h, const struct problem *p, bool texture, uint64_t *tree) {
    struct tree t = {.text = p->text};
    uint32_t *words;
    WW_TRY(ww_host_array(h, &t.node, 2 * ((size_t)p->bases + 1) + 1, sizeof *t.node));
    new_node(&t, 0, 0);
    for (uint32_t i = 0; i <= p->bases; i++) extend(&t, i);
    WW_TRY(ww_host_array(h, &words, (size_t)t.nodes * NODE, sizeof *words));
    for (uint32_t v = 0; v < t.nodes; v++) {
        uint32_t *w = words + (size_t)v * NODE;
        memcpy(w, t.node[v].child, 4 * sizeof *w);
        w[EDGE_START] = t.node[v].start;
        w[EDGE_END] = t.node[v].end == OPEN ? p->bases + 1 : t.node[v].end;
        w[LINK] = t.node[v].link;
    }
    WW_TRY(ww_host_upload(h, tree, words, (size_t)t.nodes * NODE, sizeof *words));
    return texture ? ww_host_texture(h, tree, *tree, (size_t)t.nodes * NODE / 4, 4) : WW_OK;
}

/* ---- the reference ---- */

/* The mark is larger than any base and occurs once: it ends every comparison. */
static int compare_suffixes(const void *a, const void *b, void *context) {
    const uint8_t *text = context, *x = text + *(const uint32_t *)a, *y = text + *(const uint32_t *)b;
    for (; *x == *y && x != y; x++, y++) {
    }
    return *x - *y;
}

static uint32_t common(const struct problem *p, uint32_t suffix, const uint8_t *q, uint32_t n) {
    uint32_t i = 0;
    while (i < n && p->text[suffix + i] == q[i]) i++;
    return i;
}

/* The suffixes before and after where q[0..n) would lie in the array share most with it. */
static uint32_t longest(const struct problem *p, const uint32_t *array, const uint8_t *q, uint32_t n) {
    uint32_t low = 0, high = p->bases + 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, i = common(p, array[middle], q, n);
        if (i < n && p->text[array[middle] + i] < q[i])
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t after = low <= p->bases ? common(p, array[low], q, n) : 0;
    uint32_t before = low > 0 ? common(p, array[low - 1], q, n) : 0;
    return after > before ? after : before;
}

static enum ww_code search(struct ww_host *h, struct problem *p) {
    uint32_t *array;
    size_t n = (size_t)p->bases + 1;
    WW_TRY(ww_host_array(h, &array, n, sizeof *array));
    for (uint32_t i = 0; i < n; i++) array[i] = i;
    qsort_r(array, n, sizeof *array, compare_suffixes, p->text);
    for (size_t q = 0; q < p->queries; q++)
        for (uint32_t i = 0; i < p->length; i++)
            p->want[q * p->length + i] = longest(p, array, p->query + q * p->length + i, p->length - i);
    return WW_OK;
}

/* ---- the inputs ---- */

static void make_text(struct ww_host *h, struct problem *p) {
    for (uint32_t i = 0; i < p->bases;) {
        uint32_t n = 50 + ww_rng_below(&h->rng, 250), from = i ? ww_rng_below(&h->rng, i) : 0;
        bool repeat = i > 1000 && ww_rng_below(&h->rng, 8) == 0;
        for (uint32_t k = 0; k < n && i < p->bases; k++, i++)
            p->text[i] = repeat ? p->text[from + k] : (uint8_t)ww_rng_below(&h->rng, 4);
    }
    p->text[p->bases] = MARK;
}

static enum ww_code make(struct ww_host *h, struct problem *p) {
    size_t letters = (size_t)p->queries * p->length;
    WW_TRY(ww_host_array(h, &p->text, (size_t)p->bases + 1, 1));
    WW_TRY(ww_host_array(h, &p->query, letters, 1));
    WW_TRY(ww_host_array(h, &p->match, letters, sizeof *p->match));
    WW_TRY(ww_host_array(h, &p->want, letters, sizeof *p->want));
    make_text(h, p);
    for (size_t q = 0; q < p->queries; q++) {
        uint32_t from = ww_rng_below(&h->rng, p->bases - p->length + 1);
        for (uint32_t i = 0; i < p->length; i++) {
            bool changed = ww_rng_below(&h->rng, 25) == 0;
            p->query[q * p->length + i] = changed ? (uint8_t)ww_rng_below(&h->rng, 4) : p->text[from + i];
        }
    }
    return WW_OK;
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.bases = ww_host_size(s->bases, s->size, 2000, 131072, 1048576),
                        .queries = ww_host_size(s->queries, s->size, 200, 20736, 50000),
                        .length = s->length};
    if (p.bases < p.length || (uint64_t)p.queries * p.length > 1u << 30)
        return ww_fail(h->error, WW_USAGE, h->name,
                       "bases=%u, queries=%u, length=%u: bases from length on, at most 2^30 bases of queries",
                       p.bases, p.queries, p.length);
    uint64_t tree, d_text, d_query, d_match;
    size_t letters = (size_t)p.queries * p.length;
    WW_TRY(make(h, &p));
    WW_TRY(build(h, &p, s->tree == TEXTURE, &tree));
    WW_TRY(ww_host_upload(h, &d_text, p.text, (size_t)p.bases + 1, 1));
    WW_TRY(ww_host_upload(h, &d_query, p.query, letters, 1));
    WW_TRY(ww_host_buffer(h, &d_match, letters, sizeof *p.match));
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(p.queries, s->block), s->block);
    const struct ww_arg args[] = {WW_ARG(tree),    WW_ARG(d_text),    WW_ARG(d_query),
                                  WW_ARG(d_match), WW_ARG(p.queries), WW_ARG(p.length)};
    const char *kernel = s->tree == TEXTURE ? "mummer_match_texture" : "mummer_match";
    WW_TRY(ww_host_launch(h, kernel, &shape, WW_ARGS(args)));
    WW_TRY(ww_host_read(h, p.match, d_match, letters, sizeof *p.match));
    WW_TRY(search(h, &p));
    return ww_host_same_u32(h, "match", p.match, p.want, letters);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("mummer", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_mummer = {
    .name = "mummer",
    .help = "reads matched against a genome's suffix tree: pointer chasing with some locality",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "mummer",
    .run = run,
};
