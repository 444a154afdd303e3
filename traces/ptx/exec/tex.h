/* tex.h: textures and surfaces that kernels reach through handles.
 *
 * A handle is the object's index + 1. Objects are made by the host's runtime and outlive the launches that use
 * them.
 */
#ifndef WW_TRACES_PTX_TEX_H
#define WW_TRACES_PTX_TEX_H

#include <stdbool.h>
#include <stdint.h>

enum tex_mode { TEX_WRAP, TEX_CLAMP, TEX_MIRROR, TEX_BORDER };
enum tex_kind { TEX_SIGNED, TEX_UNSIGNED, TEX_FLOAT };

struct tex_object {
    bool live, surface;
    bool filter;     /* linear */
    bool normalized; /* coordinates are 0 to 1 */
    bool as_float;   /* integers are read as 0 to 1 or -1 to 1 */
    uint8_t kind, channels, bits[4];
    uint8_t mode[3];              /* enum tex_mode for x, y, z */
    uint32_t element;             /* bytes of a texel */
    uint64_t address, row, slice; /* device address; bytes of a row and of a slice */
    uint64_t size[3];             /* texels in x, y, z: at least 1 */
    float border[4];
};

#endif
