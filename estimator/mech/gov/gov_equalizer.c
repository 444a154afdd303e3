/* Equalizer (A. Sethia, S. Mahlke, MICRO 2014; A. Sethia's dissertation, chapter III).
 *
 * Each SM samples the states of its warps and decides at the end of an epoch, by algorithm 1, whether it wants
 * a CTA more or less and which resource limits its kernel. The number of CTAs changes when three epochs in a
 * row want the same change. The frequency manager counts the SMs' requests: a domain goes one step up or down
 * if more than half of the SMs request it.
 *
 *               performance          energy
 *   CompAction  SMs up               memory down
 *   MemAction   memory up            SMs down          (table 3.1; the other domain is maintained)
 *
 * "Maintain" is read as the normal point, to which a domain returns step by step; `maintain=keep` leaves it
 * where it is. The table's text has "decrease" for the memory of memory-intensive kernels in energy mode;
 * section 3.2.1 and figure 3.9 have the SMs alone go down, which is what is done here. */
#include "../../result/result.h"
#include "governor.h"

enum { OBJECTIVE_PERFORMANCE, OBJECTIVE_ENERGY };
enum { MAINTAIN_NORMAL, MAINTAIN_KEEP };
enum { SM, MEMORY, RESOURCES };

struct settings {
    uint32_t objective, maintain, epoch, sample, hysteresis, transition;
    double step;
    bool ctas, clocks;
};

struct equalizer {
    int level[RESOURCES]; /* -1 low, 0 normal, 1 high */
};

struct equalizer_sm {
    int direction; /* of the epochs that wanted another number of CTAs */
    uint32_t epochs;
};

static const struct ww_param params[] = {
    WW_PARAM_ENUM(settings, objective, "objective", "performance|energy", OBJECTIVE_PERFORMANCE,
                  "boost the resource that a kernel leans on, or throttle the other one"),
    WW_PARAM_ENUM(settings, maintain, "maintain", "normal|keep", MAINTAIN_NORMAL,
                  "a domain that is to be maintained returns to its normal point, or keeps the one it has"),
    WW_PARAM_U32(settings, epoch, "epoch", "SM cycle", 64, 1048576, 4096, "from one decision to the next"),
    WW_PARAM_U32(settings, sample, "sample", "SM cycle", 1, 65536, 128, "from one sample to the next"),
    WW_PARAM_U32(settings, hysteresis, "hysteresis", "epoch", 1, 64, 3,
                 "epochs in a row that want the same change of the number of CTAs before it is made"),
    WW_PARAM_U32(settings, transition, "transition", "SM cycle", 0, 65536, 512,
                 "from a decision to the change of a clock"),
    WW_PARAM_F64(settings, step, "step", "", 0, 0.5, 0.15, "from the normal clock to the low and the high one"),
    WW_PARAM_BOOL(settings, ctas, "ctas", 1, "decide on the number of CTAs"),
    WW_PARAM_BOOL(settings, clocks, "clocks", 1, "decide on clocks"),
};

static void equalizer_plan(const void *settings, struct ww_governor_plan *plan) {
    const struct settings *s = settings;
    *plan = (struct ww_governor_plan){.epoch = s->epoch, .sample = s->sample, .transition = s->transition};
}

/* What algorithm 1 decides for one SM. */
struct decision {
    int blocks; /* more or fewer CTAs */
    bool comp, mem;
};

/* Algorithm 1, line by line; its averages over an epoch are sums over the samples here. */
static struct decision tendency(const struct ww_governor_sm *sm, uint64_t w_cta, uint64_t samples) {
    struct decision d = {0, false, false};
    if (sm->x_mem > w_cta * samples) { /* 7: definitely memory intensive */
        d.blocks = -1;
        d.mem = true;
    } else if (sm->x_alu >= w_cta * samples) { /* 10: definitely compute intensive */
        d.comp = true;
    } else if (sm->x_mem > 2 * samples) { /* 12: likely memory intensive */
        d.mem = true;
    } else if (2 * sm->waiting > sm->active) { /* 14: close to an ideal kernel */
        d.blocks = 1;
        if (sm->x_alu > sm->x_mem) /* 16: higher compute inclination */
            d.comp = true;
        else /* 18: higher memory inclination */
            d.mem = true;
    } else if (sm->active == 0) { /* 21: load imbalance */
        d.comp = true;
    }
    return d;
}

/* The number of CTAs after one more epoch that wants `change`. */
static uint32_t blocks_after(struct equalizer_sm *e, int change, uint32_t now, uint32_t most,
                             uint32_t hysteresis) {
    if ((change < 0 && now <= 1) || (change > 0 && now >= most)) change = 0;
    e->epochs = change && change == e->direction ? e->epochs + 1 : change ? 1 : 0;
    e->direction = change;
    if (!change || e->epochs < hysteresis) return now;
    e->epochs = 0;
    return change > 0 ? now + 1 : now - 1;
}

/* The level that an SM wants a resource to have. */
static int wanted(const struct settings *s, const struct decision *d, int resource, int level) {
    int maintained = s->maintain == MAINTAIN_KEEP ? level : 0;
    if (!d->comp && !d->mem) return level;
    bool acts =
        s->objective == OBJECTIVE_PERFORMANCE ? (resource == SM) == d->comp : (resource == SM) == d->mem;
    if (!acts) return maintained;
    return s->objective == OBJECTIVE_PERFORMANCE ? 1 : -1;
}

static void equalizer_start(void *state, void *sm_state, const void *settings,
                            const struct ww_governor_launch *launch, struct ww_governor_decision *decision) {
    struct equalizer_sm *e = sm_state;
    (void)state;
    (void)settings;
    if (launch->same_kernel) return;
    for (uint32_t i = 0; i < launch->sms; i++) {
        decision->limit[i] = launch->most;
        e[i] = (struct equalizer_sm){0, 0};
    }
}

static void set_clocks(const struct settings *s, const struct equalizer *q,
                       struct ww_governor_decision *decision) {
    decision->clock[WW_DOMAIN_SM] = 1 + q->level[SM] * s->step;
    decision->clock[WW_DOMAIN_L2] = decision->clock[WW_DOMAIN_DRAM] = 1 + q->level[MEMORY] * s->step;
}

static void equalizer_decide(void *state, void *sm_state, const void *settings,
                             const struct ww_governor_epoch *epoch, struct ww_governor_decision *decision) {
    const struct settings *s = settings;
    struct equalizer *q = state;
    struct equalizer_sm *e = sm_state;
    uint32_t up[RESOURCES] = {0}, down[RESOURCES] = {0};
    for (uint32_t i = 0; i < epoch->sms; i++) {
        struct decision d = tendency(&epoch->sm[i], epoch->w_cta, epoch->samples);
        if (s->ctas)
            decision->limit[i] = blocks_after(&e[i], d.blocks, decision->limit[i], epoch->most, s->hysteresis);
        for (int r = 0; r < RESOURCES; r++) {
            int level = wanted(s, &d, r, q->level[r]);
            up[r] += level > q->level[r];
            down[r] += level < q->level[r];
        }
    }
    if (!s->clocks) return;
    for (int r = 0; r < RESOURCES; r++) q->level[r] += (2 * up[r] > epoch->sms) - (2 * down[r] > epoch->sms);
    set_clocks(s, q, decision);
}

const struct ww_governor_ops ww_governor_equalizer = {
    .info =
        {.kind = WW_KIND_GOVERNOR,
         .name = "equalizer",
         .help = "tunes CTAs, SM clock and memory clock to what warps wait for",
         .paper =
             "Sethia, Mahlke: Equalizer: Dynamic Tuning of GPU Resources for Efficient Execution, MICRO 2014",
         .params = params,
         .param_count = sizeof params / sizeof params[0],
         .settings_size = sizeof(struct settings)},
    .plan = equalizer_plan,
    .adapts = true,
    .state_size = sizeof(struct equalizer),
    .sm_size = sizeof(struct equalizer_sm),
    .start = equalizer_start,
    .decide = equalizer_decide,
};
