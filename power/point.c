/* point.c: factors on a table's values for the clocks, temperature and structures of a run.
 *
 * Voltage is linear in frequency about the nominal point, within the table's limits, as A. Sethia's thesis
 * assumes (section 3.5). Switching energy goes with its square; leakage power with the voltage, at a leakage
 * current that doubles with every so many degrees, as in McPAT. The thesis's own evaluation keeps leakage where
 * it is when the voltage changes (section 3.5.2): power.leakage=constant.
 */
#include "../estimator/result/result.h"
#include "power_table.h"

enum power_domain ww_power_domain_of(enum ww_component component) {
    switch (component) {
    case WW_P_XBAR:
    case WW_P_L2:
    case WW_P_MEM_CTRL:
        return POWER_DOMAIN_L2;
    case WW_P_DRAM_ACTIVATE:
    case WW_P_DRAM_READ:
    case WW_P_DRAM_WRITE:
    case WW_P_DRAM_REFRESH:
    case WW_P_DRAM_BACKGROUND:
        return POWER_DOMAIN_DRAM;
    case WW_P_CONSTANT:
        return POWER_DOMAIN_COUNT;
    default:
        return POWER_DOMAIN_SM;
    }
}

/* What one domain's operating point does. */
struct factors {
    double volts, speed, heat, standby;
};

static double clock_of(const struct ww_gpu_spec *gpu, uint32_t domain) {
    return domain == POWER_DOMAIN_SM   ? gpu->clock_sm_mhz
           : domain == POWER_DOMAIN_L2 ? gpu->clock_l2_mhz
                                       : gpu->clock_dram_mhz;
}

static struct factors at(const struct power_clock *c, const struct ww_gpu_spec *gpu) {
    bool own = c->domain == POWER_DOMAIN_SM && gpu->power_sm_mhz > 0;
    double faster = clock_of(gpu, c->domain) / (own ? gpu->power_sm_mhz : c->mhz) - 1;
    struct factors f = {1 + c->slope * faster, 1 + faster, 1, 1 + c->standby * faster};
    if (f.volts < c->min_volts) f.volts = c->min_volts;
    if (f.volts > c->max_volts) f.volts = c->max_volts;
    if (f.standby < 0) f.standby = 0;
    if (gpu->power_celsius != 0 && c->double_celsius > 0)
        f.heat = exp2((gpu->power_celsius - c->celsius) / c->double_celsius);
    return f;
}

void ww_power_point_of(const struct ww_power *power, const struct ww_gpu_spec *gpu, struct power_point *out) {
    struct factors f[POWER_DOMAIN_COUNT + 1];
    for (int d = 0; d <= POWER_DOMAIN_COUNT; d++) f[d] = (struct factors){1, 1, 1, 1};
    for (size_t i = 0; i < power->clock_count; i++) f[power->clock[i].domain] = at(&power->clock[i], gpu);
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        const struct factors *d = &f[ww_power_domain_of((enum ww_component)c)];
        out->dynamic[c] = d->volts * d->volts * ww_power_structure_factor(power, gpu, (enum ww_component)c);
        out->clock[c] = d->volts * d->volts * d->speed;
        out->leakage[c] = (gpu->power_leakage == WW_LEAKAGE_CONSTANT ? 1 : d->volts) * d->heat;
        out->standby[c] = d->standby * d->volts;
    }
}
