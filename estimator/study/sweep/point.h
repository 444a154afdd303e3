/* point.h: a point made into a machine. */
#ifndef WW_SWEEP_POINT_H
#define WW_SWEEP_POINT_H

#include "../../api/gpu.h"
#include "../../../db/sweep.h"
#include "sweep.h"

#define WW_SWEEP_EPOCH (1u << 30) /* SM cycles: a point's run is not cut into epochs */

/* A point resolved: a GPU and mechanisms, and what identifies them. */
struct ww_sweep_machine {
    struct ww_arena arena;
    struct ww_gpu *gpu;
    const char **set; /* overrides of the GPU */
    size_t set_count;
    const struct ww_sweep_level **variant; /* levels of the program's parameters */
    size_t variant_params;
    const char **mech; /* as of ww_run */
    size_t mech_count;
    const char **key, **value; /* settings of the point that mean something */
    bool *number;
    size_t settings;
    const struct ww_power *table; /* the space's, if it is this machine's too; else NULL */
    double area_mm2;
    bool area_known;
    char config[WW_CONFIG_HASH]; /* of the GPU's parameters, mechanisms, power table, mode and version */
    char reason[1000];           /* why there is no such machine; "" if there is one */
};

/* Content of what energies are computed from: the power table and the scaling laws, as a hash; "none" without a
 * table. Errors: those of ww_power_load. */
enum ww_code ww_sweep_power_hash(const struct ww_sweep_space *space, const struct ww_gpu *gpu,
                                 char out[WW_CONFIG_HASH], struct ww_error *error);
/* Reads the power table of the space's GPU, if there is one, so that points need not. Errors: WW_NOMEM, WW_IO,
 * WW_INPUT (a damaged table). */
enum ww_code ww_sweep_power_open(struct ww_sweep_space *space, const struct ww_gpu *gpu,
                                 struct ww_error *error);
/* Makes the machine of a point; one that cannot be is no error, but has a reason. Free with
 * ww_sweep_machine_free, also after an error. Errors: WW_NOMEM, WW_IO. */
enum ww_code ww_sweep_machine(const struct ww_sweep_space *space, const uint16_t *level, const char *power_hash,
                              struct ww_sweep_machine *machine, struct ww_error *error);
void ww_sweep_machine_free(struct ww_sweep_machine *machine);
/* The point as the database takes it, without results; what it points to stays the machine's. */
struct ww_db_sweep_point ww_sweep_machine_row(const struct ww_sweep_machine *machine, size_t ord);
/* Errors of a point, after which a sweep goes on, against those of the sweep. */
bool ww_sweep_is_reason(enum ww_code code);

#endif
