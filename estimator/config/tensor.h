/* tensor.h: matrix instructions: what their mnemonics say, and how long a generation of tensor cores takes for
 * them (tensor.def). */
#ifndef WW_CONFIG_TENSOR_H
#define WW_CONFIG_TENSOR_H

#include "gpu.h"

/* Element types of A and B. */
enum ww_matrix_type {
    WW_MATRIX_FP16, /* and bf16 */
    WW_MATRIX_TF32,
    WW_MATRIX_FP64,
    WW_MATRIX_FP8, /* and fp6 */
    WW_MATRIX_INT8,
    WW_MATRIX_INT4,
    WW_MATRIX_B1,
    WW_MATRIX_FP4,
    WW_MATRIX_TYPES
};

struct ww_matrix {
    uint8_t type;       /* enum ww_matrix_type */
    bool sparse;        /* half of A is left out */
    bool fp32;          /* sums of fp32 */
    bool async;         /* one of a warpgroup, whose result is waited for by groups */
    bool whole;         /* of these, one that a single warp issues; sums lie in tensor memory */
    bool pair;          /* of these, one of two CTAs, each of which has half of the rows */
    uint16_t m, n, k;   /* of the warp, or of the warpgroup */
    uint32_t fma;       /* multiply-adds of a warp; with a sparse A those that are not left out */
    uint32_t registers; /* of a lane's sums, with async */
};

/* What a mnemonic as the machine's disassembler writes it says: "HMMA.16816.F32.BF16", "HGMMA.64x128x16.F32".
 * False: it is none of a matrix instruction, or one whose shape is not known. */
bool ww_matrix_of(const char *mnemonic, struct ww_matrix *out);

struct ww_tensor_time {
    uint32_t eighths; /* cycles between two of a scheduler's, in eighths; at least 8 */
    uint32_t latency; /* issue to dependent issue; with async until the sums are written */
    double read;      /* with async: cycles in which shared memory gives operands */
};

/* False: pipe.tensor.unit is lanes, or the mnemonic is not known. from_registers: an A in registers, with
 * async. */
bool ww_tensor_time(const struct ww_gpu_spec *gpu, const char *mnemonic, bool from_registers,
                    struct ww_tensor_time *out);

#endif
