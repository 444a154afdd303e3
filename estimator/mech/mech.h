/* mech.h: the description of every mechanism, and the list of all (mech.def).
 *
 * A mechanism is one file in this folder that ends in a const ops struct whose first member is a struct
 * ww_mech_info. It sees base/, config/ and its own kind's header, never core/. It holds no global state;
 * its state is a zeroed block of ops->state_size bytes that core allocates, one per instance (a
 * scheduler has one per warp scheduler of each SM).
 */
#ifndef WW_MECH_MECH_H
#define WW_MECH_MECH_H

#include "../config/param.h"

enum ww_mech_kind {
    WW_KIND_SCHED,    /* warp scheduler */
    WW_KIND_FETCH,    /* prefetcher */
    WW_KIND_LSU,      /* load/store unit policy */
    WW_KIND_PIPE,     /* writeback and memory-stage organisation */
    WW_KIND_SMEM,     /* shared-memory management */
    WW_KIND_DMA,      /* bulk transfers */
    WW_KIND_GOVERNOR, /* threads and V/F */
    WW_KIND_REPLACE,  /* cache replacement */
    WW_KIND_CTA,      /* CTA dispatch */
    WW_KIND_COUNT
};

/* What the analytical model (fast/model.h) does with a mechanism. */
enum ww_mech_analytic {
    WW_ANALYTIC_REFUSED, /* it computes no machine that has it */
    WW_ANALYTIC_ALIKE,   /* schedulers: not told apart from the modelled one; results warn of it */
    WW_ANALYTIC_MODELLED /* it computes machines that have it; so it is with the default of each kind */
};

struct ww_mech_info {
    enum ww_mech_kind kind;
    const char *name;  /* as the user writes it */
    const char *help;  /* one line */
    const char *paper; /* where it was published */
    enum ww_mech_analytic analytic;
    const char
        *with; /* "kind=name" of a mechanism that comes with it unless the user names that kind, or NULL */
    const struct ww_param *params;
    size_t param_count;
    size_t settings_size; /* of the struct that params describe */
};

/* A chosen mechanism with its settings, as core gets it. */
struct ww_mech_choice {
    const struct ww_mech_info *info; /* first member of the kind's ops struct */
    const void *settings;
};

/* The kind's name ("sched"). */
const char *ww_mech_kind_name(enum ww_mech_kind kind);
/* All mechanisms, in mech.def's order; the first of a kind is its default. */
const struct ww_mech_info *ww_mech_info_at(size_t i);               /* NULL past the end */
const struct ww_mech_info *ww_mech_default(enum ww_mech_kind kind); /* NULL: the kind has none */
const struct ww_mech_info *ww_mech_find(enum ww_mech_kind kind, const char *name);
/* Resolves "kind=name" and "kind.parameter=value" strings, in order, into one choice per kind that has
 * mechanisms (info NULL for kinds that have none). Settings live in the arena. WW_USAGE names the string,
 * and lists what exists. */
enum ww_code ww_mech_resolve(const char *const *strings, size_t count, struct ww_arena *arena,
                             struct ww_mech_choice choice[WW_KIND_COUNT], struct ww_error *error);

/* The same on a GPU whose warp scheduler is `sched` unless a string or another mechanism brings one (NULL: the
 * kind's default). */
enum ww_code ww_mech_resolve_on(const char *sched, const char *const *strings, size_t count,
                                struct ww_arena *arena, struct ww_mech_choice choice[WW_KIND_COUNT],
                                struct ww_error *error);

#endif
