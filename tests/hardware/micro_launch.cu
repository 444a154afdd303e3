/* What launches cost. */
#include "kit.h"
#include <stdio.h>

static __global__ void nothing() {
}

static void figure(struct kit *k, const char *p, struct kit_value v) {
    kit_figure(k, "micro", "launch", p, "s", v);
}

/* Between two events, both behind a gate, so that the host's part is not in it. */
static void between_events(struct kit *k) {
    const unsigned runs = k->quick ? 2 : 51, sms = (unsigned)k->sms;
    if (kit_begin(k, "micro", "launch", "kind=events")) figure(k, "kind=events", kit_events(k, 3, runs, [] {}));
    if (kit_begin(k, "micro", "launch", "kind=empty ctas=1 block=32"))
        figure(k, "kind=empty ctas=1 block=32", kit_events(k, 3, runs, [] { nothing<<<1, 32>>>(); }));
    char p[96];
    for (unsigned ctas = sms; ctas <= 4096 * sms; ctas *= 16) {
        if (k->quick && ctas > sms) break;
        snprintf(p, sizeof p, "kind=empty ctas=%u block=256", ctas);
        if (kit_begin(k, "micro", "launch", p))
            figure(k, p, kit_events(k, 1, k->quick ? 1 : 11, [=] { nothing<<<ctas, 256>>>(); }));
    }
}

/* Launches one behind the other in a stream: seconds of each, on the GPU and for the host. */
static void in_a_row(struct kit *k) {
    const unsigned count = k->quick ? 4 : 400;
    if (kit_begin(k, "micro", "launch", "kind=row block=256")) {
        struct kit_value v = kit_events(
            k, 1, k->quick ? 1 : 11,
            [=] {
                for (unsigned i = 0; i < count; i++) nothing<<<1, 256>>>();
            },
            6.0 * count);
        figure(k, "kind=row block=256", kit_value_scaled(v, 1.0 / count));
    }
    if (!kit_begin(k, "micro", "launch", "kind=host block=256")) return;
    std::vector<double> v;
    for (unsigned run = 0; run < (k->quick ? 1 : 11); run++) {
        CHECK(k, cudaDeviceSynchronize());
        double from = kit_now();
        for (unsigned i = 0; i < count; i++) nothing<<<1, 256>>>();
        v.push_back((kit_now() - from) / count);
        CHECK(k, cudaDeviceSynchronize());
    }
    figure(k, "kind=host block=256", kit_value_of(v.data(), v.size()));
}

void micro_launch(struct kit *k) {
    between_events(k);
    in_a_row(k);
}
