/* sample_unit.h: the units of a sampled run, and the error of a unit's replay in addition to that of sampling.
 * */
#ifndef WW_RESULT_SAMPLE_UNIT_H
#define WW_RESULT_SAMPLE_UNIT_H

enum ww_unit_kind { WW_UNIT_LAUNCH, WW_UNIT_START, WW_UNIT_WINDOW, WW_UNIT_TAIL };

/* Standard errors of replays that functional warming begins, relative: what is left when all units that were
 * drawn agree, and windows do not drift. Measured as what the estimates' means over seeds differ by from full
 * replays (docs/model/sampling.md): of launches, and of parts of launches. */
#define WW_WARM_ERROR 0.0002
#define WW_WARM_ERROR_PARTS 0.001

#endif
