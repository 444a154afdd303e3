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

/* The value at a place. */
struct texel {
    uint64_t raw[4]; /* integers extended to 64 bits, floats as the bits of a float */
    double f[4];
};
struct mem;
struct tex_access {
    const struct mem *mem;
    uint64_t first;          /* address of the first texel read, 0: none */
    uint64_t bad, bad_bytes; /* what was asked for and is not there */
};

/* Fetches at the coordinates `at`: `dims` of them, then a layer. `integers`: coordinates of texels, without
 * filtering. False: memory is not there, see access->bad. */
bool ww_tex_sample(struct tex_access *access, const struct tex_object *o, const double at[3], unsigned dims,
                   bool integers, struct texel *t);
/* A coordinate from a register, limited to what arithmetic on it can bear. */
double ww_tex_coordinate(uint32_t raw, bool integer);
/* Bytes at an address, NULL if they are not there. */
unsigned char *ww_tex_host(struct tex_access *access, uint64_t address, uint64_t bytes);

/* What a surface access outside does, and where one is. */
enum tex_outside { TEX_OUTSIDE_ZERO, TEX_OUTSIDE_CLAMP, TEX_OUTSIDE_TRAP };
enum tex_place { TEX_HERE, TEX_NOWHERE, TEX_TRAPS };
/* The address of an access of `bytes` at x in bytes, y, z. */
enum tex_place ww_surface_address(const struct tex_object *o, const int64_t at[3], uint32_t bytes,
                                  enum tex_outside outside, uint64_t *address);

#endif
