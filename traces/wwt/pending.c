/* Copying CTAs into the writer: checks, shared paths, affine lists. */
#include "pending.h"
#include "../../estimator/base/bits.h"
#include "../../estimator/base/hash.h"
#include "format.h"
#include <stdlib.h>
#include <string.h>

static bool grow(struct ww_wwt_dictionary *dict) {
    size_t n = dict->bucket_count ? dict->bucket_count * 2 : 1024;
    struct ww_wwt_steps **bucket = calloc(n, sizeof *bucket);
    if (!bucket) return false;
    for (size_t i = 0; i < dict->bucket_count; i++)
        for (struct ww_wwt_steps *s = dict->bucket[i], *next; s; s = next) {
            next = s->next;
            s->next = bucket[s->hash & (n - 1)];
            bucket[s->hash & (n - 1)] = s;
        }
    free(dict->bucket);
    dict->bucket = bucket;
    dict->bucket_count = n;
    return true;
}

static bool same_steps(const struct ww_wwt_steps *s, const struct ww_step *step, uint32_t count) {
    return s->count == count && memcmp(s->step, step, count * sizeof *step) == 0;
}

/* Four chains side by side: a path is hashed as fast as it is read. Only this dictionary sees the result. */
static uint64_t hash_steps(const struct ww_step *step, uint32_t count) {
    uint64_t h[4] = {count, 1, 2, 3};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *at = &h[i & 3], v = *at ^ ((uint64_t)step[i].inst << 32 | step[i].mask);
        v *= 0x9e3779b97f4a7c15u;
        *at = v ^ v >> 32;
    }
    return ww_hash_mix(h[0] ^ ww_hash_mix(h[1] ^ ww_hash_mix(h[2] ^ ww_hash_mix(h[3]))));
}

/* Checks a path that is met for the first time; counts its accesses. Returns the invariant that is broken, or
 * NULL. */
static const char *check_steps(const struct ww_launch *l, const struct ww_warp_stream *s, uint32_t *mask) {
    uint32_t accesses = 0;
    *mask = 0;
    for (uint32_t i = 0; i < s->step_count; i++) {
        const struct ww_step *step = &s->step[i];
        if (step->inst >= l->inst_count) return "a step's instruction is not in the table";
        *mask |= step->mask;
        accesses += l->inst[step->inst].flags & WW_INST_ACCESS;
    }
    if (accesses > s->access_count) return "there are fewer accesses than steps that need one";
    return accesses == s->access_count ? NULL : "there are more accesses than steps that need one";
}

static struct ww_wwt_steps *new_path(const struct ww_launch *l, const struct ww_warp_stream *s, uint64_t hash,
                                     const char **why) {
    _Static_assert(WW_INST_ACCESS == 1, "check_steps adds the flag up");
    uint32_t mask, n = s->step_count;
    *why = check_steps(l, s, &mask);
    if (*why) return NULL;
    struct ww_wwt_steps *path = malloc(sizeof *path + ((size_t)n + s->access_count) * sizeof *path->step);
    if (!path) return NULL;
    *path = (struct ww_wwt_steps){.hash = hash, .count = n, .access_count = s->access_count, .mask = mask};
    if (n) memcpy(path->step, s->step, n * sizeof *path->step);
    struct ww_step *to = path->step + n;
    for (uint32_t i = 0; i < n; i++)
        if (l->inst[s->step[i].inst].flags & WW_INST_ACCESS) *to++ = s->step[i];
    return path;
}

/* The path with these steps and one more reference. NULL: *why says which invariant is broken; NULL there too:
 * no memory. */
static struct ww_wwt_steps *intern(struct ww_wwt_dictionary *dict, const struct ww_launch *l,
                                   const struct ww_warp_stream *stream, const char **why) {
    static const struct ww_step none;
    const struct ww_step *step = stream->step_count ? stream->step : &none;
    uint32_t count = stream->step_count;
    struct ww_wwt_steps *s = dict->latest;
    *why = NULL;
    if (!s || !same_steps(s, step, count)) {
        if (dict->count >= dict->bucket_count && !grow(dict)) return NULL;
        uint64_t hash = hash_steps(step, count);
        struct ww_wwt_steps **bucket = &dict->bucket[hash & (dict->bucket_count - 1)];
        for (s = *bucket; s; s = s->next)
            if (s->hash == hash && same_steps(s, step, count)) break;
        if (!s) {
            s = new_path(l, stream, hash, why);
            if (!s) return NULL;
            s->next = *bucket;
            *bucket = s;
            dict->count++;
        }
    }
    if (s->access_count != stream->access_count) {
        *why = s->access_count > stream->access_count ? "there are fewer accesses than steps that need one"
                                                      : "there are more accesses than steps that need one";
        return NULL;
    }
    s->refs++;
    dict->latest = s;
    return s;
}

static void release(struct ww_wwt_dictionary *dict, struct ww_wwt_steps *s) {
    if (!s || --s->refs) return;
    struct ww_wwt_steps **link = &dict->bucket[s->hash & (dict->bucket_count - 1)];
    while (*link != s) link = &(*link)->next;
    *link = s->next;
    dict->count--;
    if (dict->latest == s) dict->latest = NULL;
    free(s);
}

void ww_wwt_cta_free(struct ww_wwt_dictionary *dict, struct ww_wwt_cta *cta) {
    if (!cta) return;
    for (uint32_t w = 0; w < cta->warp_count; w++) release(dict, cta->warp[w].steps);
    free(cta);
}

void ww_wwt_dictionary_free(struct ww_wwt_dictionary *dict) {
    for (size_t i = 0; i < dict->bucket_count; i++)
        for (struct ww_wwt_steps *s = dict->bucket[i], *next; s; s = next) {
            next = s->next;
            free(s);
        }
    free(dict->bucket);
    *dict = (struct ww_wwt_dictionary){0};
}

/* True if the listed addresses are base + stride * lane; sets *out so. */
static bool as_affine(uint32_t mask, const uint64_t *address, struct ww_access *out) {
    *out = (struct ww_access){0, 0, WW_AFFINE};
    if (!mask) return true;
    unsigned first = (unsigned)__builtin_ctz(mask), n = ww_bits(mask);
    int64_t stride = 0;
    if (n > 1) {
        uint32_t rest = mask & (mask - 1);
        int64_t apart = (int64_t)__builtin_ctz(rest) - first, d = (int64_t)(address[1] - address[0]);
        stride = d / apart;
        if (d % apart || stride > INT32_MAX || stride < INT32_MIN) return false;
        uint64_t end = 31u - (uint64_t)__builtin_clz(mask) - first; /* what most lists fail by */
        if (address[n - 1] != address[0] + end * (uint64_t)stride) return false;
        for (unsigned i = 1; i < n; i++, rest &= rest - 1) {
            uint64_t lane = (uint64_t)__builtin_ctz(rest) - first;
            if (address[i] != address[0] + lane * (uint64_t)stride) return false;
        }
    }
    out->base = address[0] - (uint64_t)first * (uint64_t)stride;
    out->stride = (int32_t)stride;
    return true;
}

/* Copies one warp's accesses to *access, which moves on, and its lists to the CTA's pool. */
static void copy_accesses(const struct ww_wwt_steps *path, const struct ww_warp_stream *s,
                          struct ww_access **access, uint64_t *pool, size_t *used) {
    const struct ww_access *from = s->access;
    const struct ww_step *step = ww_wwt_access_steps(path);
    struct ww_access *out = *access;
    *access += path->access_count;
    for (uint32_t i = 0; i < path->access_count; i++, out++) {
        *out = from[i];
        if (out->list == WW_AFFINE) continue;
        uint64_t room[32] = {0};
        uint32_t n = ww_bits(step[i].mask);
        const uint64_t *address = ww_list_addresses(&from[i], s->pool, n, room);
        if (as_affine(step[i].mask, address, out)) continue;
        memcpy(pool + *used, address, n * sizeof *address);
        *out = (struct ww_access){address[0], 0, (uint32_t)*used};
        *used += n;
    }
}

struct sizes {
    uint64_t steps, weight;
    size_t access, pool;
};

/* Adds up a warp whose path is known. Returns the invariant that is broken, or NULL. */
static const char *count_warp(const struct ww_wwt_steps *path, const struct ww_warp_stream *s, uint32_t lanes,
                              struct sizes *z) {
    const struct ww_step *step = ww_wwt_access_steps(path);
    if (path->mask & ~lanes) return "a mask has lanes that the CTA does not have";
    for (uint32_t i = 0; i < path->access_count; i++) {
        if (s->access[i].list == WW_AFFINE) continue;
        if (!s->pool) return "an access has a list and the stream no pool";
        z->pool += ww_bits(step[i].mask);
    }
    z->steps += path->count;
    z->access += path->access_count;
    return NULL;
}

/* Finds the paths of the CTA's warps, and how large it is. path[] has those that were found, after an error
 * too. */
static enum ww_code find_paths(struct ww_wwt_dictionary *dict, const struct ww_launch *l,
                               const struct ww_cta_trace *cta, struct ww_wwt_steps **path, struct sizes *z,
                               struct ww_error *error) {
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    if (cta->warp_count != l->warps_per_cta || cta->warp_count > WW_WWT_WARPS_MAX)
        return ww_fail(error, WW_INTERNAL, l->kernel, "CTA %llu has %u warps; its block has %u",
                       (unsigned long long)cta->index, cta->warp_count, l->warps_per_cta);
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        uint32_t left = threads - 32 * w;
        const char *why;
        path[w] = intern(dict, l, &cta->warp[w], &why);
        if (!path[w] && !why) return ww_fail_nomem(error, "a CTA");
        if (!why) why = count_warp(path[w], &cta->warp[w], left >= 32 ? UINT32_MAX : (1u << left) - 1, z);
        if (why)
            return ww_fail(error, WW_INTERNAL, l->kernel, "CTA %llu, warp %u: %s",
                           (unsigned long long)cta->index, w, why);
    }
    z->weight = z->steps + cta->warp_count + z->pool / 4;
    if (z->steps > WW_WWT_STEPS_MAX / 2 || z->access > WW_WWT_ACCESS_MAX / 2 || z->pool > WW_WWT_POOL_MAX / 2)
        return ww_fail(
            error, WW_UNSUPPORTED, l->kernel,
            "CTA %llu has %llu warp instructions, %zu accesses and %zu listed addresses; the container "
            "takes 2^25, 2^25 and 2^26 in one CTA",
            (unsigned long long)cta->index, (unsigned long long)z->steps, z->access, z->pool);
    return WW_OK;
}

static enum ww_code copy_cta(const struct ww_cta_trace *cta, struct ww_wwt_steps *const *path,
                             const struct sizes *z, struct ww_wwt_cta **out, struct ww_error *error) {
    size_t head = sizeof **out + cta->warp_count * sizeof(struct ww_wwt_cta_warp);
    size_t bytes = head + z->access * sizeof(struct ww_access) + z->pool * sizeof(uint64_t);
    struct ww_wwt_cta *c = malloc(bytes);
    if (!c) return ww_fail_nomem(error, "a CTA");
    struct ww_access *access = (struct ww_access *)((char *)c + head);
    uint64_t *pool = (uint64_t *)(access + z->access);
    size_t used = 0;
    *c = (struct ww_wwt_cta){cta->index, z->weight, bytes, cta->warp_count};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        c->warp[w] = (struct ww_wwt_cta_warp){path[w], access, pool};
        copy_accesses(path[w], &cta->warp[w], &access, pool, &used);
    }
    *out = c;
    return WW_OK;
}

enum ww_code ww_wwt_cta_copy(struct ww_wwt_dictionary *dict, const struct ww_launch *launch,
                             const struct ww_cta_trace *cta, struct ww_wwt_cta **out, struct ww_error *error) {
    struct sizes z = {0};
    struct ww_wwt_steps *path[WW_WWT_WARPS_MAX] = {NULL};
    enum ww_code code = find_paths(dict, launch, cta, path, &z, error);
    if (code == WW_OK) code = copy_cta(cta, path, &z, out, error);
    for (uint32_t w = 0; code != WW_OK && w < WW_WWT_WARPS_MAX; w++) release(dict, path[w]);
    return code;
}
