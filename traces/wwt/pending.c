/* Copying CTAs into the writer: checks, shared paths, affine lists. */
#include "pending.h"
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

/* The path with these steps and one more reference, or NULL: no memory. */
static struct ww_wwt_steps *intern(struct ww_wwt_dictionary *dict, const struct ww_step *step, uint32_t count,
                                   uint32_t access_count) {
    static const struct ww_step none;
    if (!count) step = &none;
    struct ww_wwt_steps *s = dict->latest;
    if (s && same_steps(s, step, count)) {
        s->refs++;
        return s;
    }
    if (dict->count >= dict->bucket_count && !grow(dict)) return NULL;
    uint64_t hash = ww_hash_bytes(step, count * sizeof *step, 0);
    for (s = dict->bucket[hash & (dict->bucket_count - 1)]; s; s = s->next)
        if (s->hash == hash && same_steps(s, step, count)) break;
    if (!s) {
        s = malloc(sizeof *s + count * sizeof *step);
        if (!s) return NULL;
        struct ww_wwt_steps **bucket = &dict->bucket[hash & (dict->bucket_count - 1)];
        *s = (struct ww_wwt_steps){.next = *bucket, .hash = hash, .count = count, .access_count = access_count};
        memcpy(s->step, step, count * sizeof *step);
        *bucket = s;
        dict->count++;
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

/* Checks a warp against the invariants; counts its listed addresses. Returns the one broken, or NULL. */
static const char *check_warp(const struct ww_launch *l, const struct ww_warp_stream *s, uint32_t lanes,
                              size_t *pool) {
    uint32_t a = 0;
    for (uint32_t i = 0; i < s->step_count; i++) {
        const struct ww_step *step = &s->step[i];
        if (step->inst >= l->inst_count) return "a step's instruction is not in the table";
        if (step->mask & ~lanes) return "a mask has lanes that the CTA does not have";
        if (!(l->inst[step->inst].flags & WW_INST_ACCESS)) continue;
        if (a == s->access_count) return "there are fewer accesses than steps that need one";
        if (s->access[a].list != WW_AFFINE) {
            if (!s->pool) return "an access has a list and the stream no pool";
            *pool += (size_t)__builtin_popcount(step->mask);
        }
        a++;
    }
    return a == s->access_count ? NULL : "there are more accesses than steps that need one";
}

/* True if the listed addresses are base + stride * lane; sets *out so. */
static bool as_affine(uint32_t mask, const uint64_t *address, struct ww_access *out) {
    *out = (struct ww_access){0, 0, WW_AFFINE};
    if (!mask) return true;
    unsigned first = (unsigned)__builtin_ctz(mask), n = (unsigned)__builtin_popcount(mask);
    int64_t stride = 0;
    if (n > 1) {
        uint32_t rest = mask & (mask - 1);
        int64_t apart = (int64_t)__builtin_ctz(rest) - first, d = (int64_t)(address[1] - address[0]);
        stride = d / apart;
        if (d % apart || stride > INT32_MAX || stride < INT32_MIN) return false;
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
static void copy_accesses(const struct ww_launch *l, const struct ww_warp_stream *s, struct ww_access **access,
                          uint64_t *pool, size_t *used) {
    const struct ww_access *from = s->access;
    for (uint32_t i = 0; i < s->step_count; i++) {
        if (!(l->inst[s->step[i].inst].flags & WW_INST_ACCESS)) continue;
        uint32_t mask = s->step[i].mask;
        struct ww_access *out = (*access)++;
        *out = *from++;
        if (out->list == WW_AFFINE) continue;
        const uint64_t *address = s->pool + out->list;
        if (as_affine(mask, address, out)) continue;
        size_t n = (size_t)__builtin_popcount(mask);
        memcpy(pool + *used, address, n * sizeof *address);
        *out = (struct ww_access){address[0], 0, (uint32_t)*used};
        *used += n;
    }
}

struct sizes {
    uint64_t steps, weight;
    size_t access, pool;
};

static enum ww_code check_cta(const struct ww_launch *l, const struct ww_cta_trace *cta, struct sizes *z,
                              struct ww_error *error) {
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    if (cta->warp_count != l->warps_per_cta)
        return ww_fail(error, WW_INTERNAL, l->kernel, "CTA %llu has %u warps; its block has %u",
                       (unsigned long long)cta->index, cta->warp_count, l->warps_per_cta);
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        uint32_t left = threads - 32 * w;
        const char *why = check_warp(l, &cta->warp[w], left >= 32 ? UINT32_MAX : (1u << left) - 1, &z->pool);
        if (why)
            return ww_fail(error, WW_INTERNAL, l->kernel, "CTA %llu, warp %u: %s",
                           (unsigned long long)cta->index, w, why);
        z->steps += cta->warp[w].step_count;
        z->access += cta->warp[w].access_count;
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

enum ww_code ww_wwt_cta_copy(struct ww_wwt_dictionary *dict, const struct ww_launch *launch,
                             const struct ww_cta_trace *cta, struct ww_wwt_cta **out, struct ww_error *error) {
    struct sizes z = {0};
    WW_TRY(check_cta(launch, cta, &z, error));
    size_t head = sizeof **out + cta->warp_count * sizeof(struct ww_wwt_cta_warp);
    size_t bytes = head + z.access * sizeof(struct ww_access) + z.pool * sizeof(uint64_t);
    struct ww_wwt_cta *c = calloc(1, bytes);
    if (!c) return ww_fail_nomem(error, "a CTA");
    struct ww_access *access = (struct ww_access *)((char *)c + head);
    uint64_t *pool = (uint64_t *)(access + z.access);
    size_t used = 0;
    *c = (struct ww_wwt_cta){cta->index, z.weight, bytes, cta->warp_count};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct ww_warp_stream *s = &cta->warp[w];
        c->warp[w] =
            (struct ww_wwt_cta_warp){intern(dict, s->step, s->step_count, s->access_count), access, pool};
        if (!c->warp[w].steps) {
            ww_wwt_cta_free(dict, c);
            return ww_fail_nomem(error, "a CTA");
        }
        copy_accesses(launch, s, &access, pool, &used);
    }
    *out = c;
    return WW_OK;
}
