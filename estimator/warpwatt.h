/* warpwatt.h: the public C API of libwarpwatt.
 *
 * Ownership: what a *_open, *_load, *_new or ww_run() call returns is yours until you pass it to the
 * *_close or *_free call of the same prefix (each accepts NULL). Strings returned inside an object live
 * as long as the object. Strings that you pass are copied unless a comment says otherwise.
 * Errors: every call that can fail returns enum ww_code and fills *error (may be NULL) with where it
 * happened and what was expected; the library never prints, never exits and holds no global state.
 * Locales: numbers are read and written with a decimal point, whatever setlocale() has set. Each call sets the
 * calling thread's locale to C until it returns, also during callbacks.
 * Output files: the path must not exist, or name an empty file, a file of the same format, or one that is not
 * regular (a pipe). It must not be one of the inputs. Otherwise the call fails with WW_USAGE. A regular file
 * gets its name only when it is complete. Threads: different objects may be used from different threads; one
 * object from one thread at a time.
 */
#ifndef WARPWATT_H
#define WARPWATT_H

#include "api/abi.h"
#include "api/calibrate.h"
#include "api/database.h"
#include "api/dissect.h"
#include "api/foreign.h"
#include "api/gpu.h"
#include "api/hardware.h"
#include "api/mech.h"
#include "api/record.h"
#include "api/report.h"
#include "api/run.h"
#include "api/sweep.h"
#include "api/trace.h"
#include "api/validate.h"
#include "base/error.h"
#include "result/explored.h"
#include "result/measured.h"
#include "result/names.h"
#include "result/result.h"

#endif
