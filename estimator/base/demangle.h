/* demangle.h: names of C++ kernels for people (the Itanium C++ ABI, which nvcc follows).
 *
 * Only the name is read, with its template arguments, not the parameters: what follows the name does not
 * matter. The work and the text are bounded whatever the name is. A name that is not mangled, or that has an
 * unknown construct, is not changed. */
#ifndef WW_BASE_DEMANGLE_H
#define WW_BASE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

enum { WW_NAME_SHORT = 64, WW_NAME_WHOLE = 2048 }; /* bytes */

/* The whole name: "cub::DeviceReduceKernel<cub::Policy<float, int>::Policy600, float*>". False: as it was, cut
 * to `size`. */
bool ww_demangle(const char *name, char *out, size_t size);
/* The short form: without namespaces, classes in template arguments without their own arguments, and at most
 * WW_NAME_SHORT - 1 bytes, with "..." for the arguments that are left out: "DeviceReduceKernel<Policy600,
 * float*>". */
const char *ww_short_name(const char *name, char out[WW_NAME_SHORT]);

#endif
