/* format.h: the constants of the container, as traces/FORMAT.md defines them, and the limits that keep a
 * hostile file from taking the machine's memory. The writer keeps the same limits.
 *
 *     [header] [CTA group chunk]* [index chunk] [trailer]
 */
#ifndef WW_WWT_FORMAT_H
#define WW_WWT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define WW_WWT_VERSION 1u                /* the oldest that is read */
#define WW_WWT_VERSION_MACHINE 2u        /* control fields of instructions, where code comes from */
#define WW_WWT_VERSION_SUBSET 3u         /* masks as subsets, addresses by their distance from the lowest one */
#define WW_WWT_VERSION_COPIES 3u         /* copies and fills between launches */
#define WW_WWT_VERSION_LAST 3u           /* what is written */
#define WW_WWT_MAGIC "\x89WWT\r\n\x1a\n" /* 8 bytes, without the NUL */
#define WW_WWT_END_MAGIC "TWW\n"
#define WW_WWT_HEADER_BYTES 16u
#define WW_WWT_CHUNK_BYTES 16u /* of a chunk's header */
#define WW_WWT_TRAILER_BYTES 32u

/* Chunk types: four letters, read as a little-endian number. */
#define WW_WWT_CHUNK_CTAS 0x53415443u
#define WW_WWT_CHUNK_INDEX 0x58444e49u

/* Limits. */
#define WW_WWT_RAW_MAX ((uint32_t)256 << 20)  /* bytes of a chunk after decompression */
#define WW_WWT_RATIO_MAX 32768u               /* zstd cannot compress further than this */
#define WW_WWT_STEPS_MAX ((uint64_t)1 << 26)  /* different steps that a group decodes to */
#define WW_WWT_ACCESS_MAX ((uint64_t)1 << 26) /* accesses of a group */
#define WW_WWT_POOL_MAX ((size_t)1 << 27)     /* listed addresses of a group */
#define WW_WWT_WARPS_MAX 64u                  /* of a CTA */
#define WW_WWT_GROUP_WARPS_MAX ((uint64_t)1 << 22)
#define WW_WWT_OPERAND_MAX 8u /* consecutive registers of an operand */
/* What the index of a file of `bytes` may hold: a launch with a CTA takes at least 16 bytes outside of it. */
#define WW_WWT_LAUNCHES_MAX(bytes) (((uint64_t)1 << 16) + (bytes) / 16)
#define WW_WWT_INDEX_MAX(bytes) (((uint64_t)64 << 20) + 256 * (uint64_t)(bytes))
#define WW_WWT_INST_MAX ((uint32_t)1 << 20) /* static instructions of a launch */
#define WW_WWT_COPIES_MAX 4096u             /* before a launch */
#define WW_WWT_WAITS_MAX 4096u              /* of a launch or copy for others */
#define WW_WWT_HOST_COPIES_MAX (1u << 20)   /* of a program */

/* The columns of a CTA group, in this order. */
enum ww_wwt_column {
    WW_WWT_COL_LENGTH,    /* per path: number of steps */
    WW_WWT_COL_START,     /* per run of consecutive instructions: its first, against the expected one */
    WW_WWT_COL_RUN,       /* per run: its length - 1 */
    WW_WWT_COL_MASK,      /* per run of equal masks: a byte, token and short length */
    WW_WWT_COL_MASK_RUN,  /* the rest of long mask runs */
    WW_WWT_COL_MASK_BITS, /* 4 bytes per mask that is spelled out */
    WW_WWT_COL_WARP,      /* per warp: its path */
    WW_WWT_COL_ACCESS,    /* per access: a byte that says how it is predicted */
    WW_WWT_COL_BASE,      /* what predictions of bases missed by: first bytes of their varints */
    WW_WWT_COL_BASE_2,    /* second bytes */
    WW_WWT_COL_BASE_3,    /* all further bytes */
    WW_WWT_COL_STRIDE,    /* strides that change */
    WW_WWT_COL_LIST,      /* differences within address lists: first bytes of their varints */
    WW_WWT_COL_LIST_2,    /* second bytes */
    WW_WWT_COL_LIST_3,    /* all further bytes */
    WW_WWT_COLUMNS_OLD,   /* of versions 1 and 2 */
    WW_WWT_COL_SUBSET = WW_WWT_COLUMNS_OLD, /* a byte per mask that is a subset of one of at most 8 lanes */
    WW_WWT_COL_SUBSET_WIDE,                 /* 2 to 4 bytes per mask that is a subset of a larger one */
    WW_WWT_COLUMNS
};

/* Mask tokens (low 4 bits of a mask byte); 0 to 7: that place in the list of recent masks. */
#define WW_WWT_MASK_RECENT 8u
#define WW_WWT_MASK_REST 8u    /* those of the mask before the last that the last one lacks */
#define WW_WWT_MASK_LITERAL 9u /* 4 bytes in the column of mask bits */
#define WW_WWT_MASK_SUBSET 10u /* 10, 11, 12: lanes of the mask at place 0, 1, 2 of the list */
#define WW_WWT_MASK_PARENTS 3u
#define WW_WWT_MASK_LONG 15u /* high 4 bits: the run goes on in the column of mask runs */

/* An access byte: bits 0-2 base, bit 3 unit is the access width, bits 4-6 form; bit 7: addresses are distances
 * from the instruction's lowest address. */
enum ww_wwt_base {
    WW_WWT_BASE_REF,     /* as predicted from the same access of the previous warp on this path */
    WW_WWT_BASE_LINEAR,  /* as predicted from the last two executions of the instruction */
    WW_WWT_BASE_CHAIN,   /* as predicted from the access before this one */
    WW_WWT_BASE_REF_OFF, /* the same three, and a difference in the base column */
    WW_WWT_BASE_LINEAR_OFF,
    WW_WWT_BASE_CHAIN_OFF,
    WW_WWT_BASE_LAST_OFF, /* the base of the instruction's last access, and a difference */
    WW_WWT_BASE_INDEX,    /* as predicted from the latest surprise */
    WW_WWT_BASE_COUNT
};
#define WW_WWT_UNIT 8u
#define WW_WWT_FORM_SHIFT 4
#define WW_WWT_LOWEST 8u /* bit 7, as part of the form */
enum ww_wwt_form {
    WW_WWT_FORM_AFFINE,   /* the instruction's last stride */
    WW_WWT_FORM_STRIDE,   /* affine with a stride from its column */
    WW_WWT_FORM_LIST,     /* a list: differences between neighbouring lanes */
    WW_WWT_FORM_LANES,    /* the instruction's last list, moved by one distance for all lanes */
    WW_WWT_FORM_REF_LIST, /* the list of the previous warp's same access, moved likewise */
    WW_WWT_FORM_STEPS,    /* the instruction's last list, each lane moved by a distance of its own */
    WW_WWT_FORM_INDEX,    /* the latest surprise's addresses, in units of the access width */
    WW_WWT_FORM_COUNT
};

/* True if the kind has a difference in the base columns. */
static inline int ww_wwt_has_off(unsigned kind) {
    return kind >= WW_WWT_BASE_REF_OFF && kind <= WW_WWT_BASE_LAST_OFF;
}

static inline void ww_wwt_put32(unsigned char *p, uint32_t v) {
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> (8 * i));
}

static inline void ww_wwt_put64(unsigned char *p, uint64_t v) {
    ww_wwt_put32(p, (uint32_t)v);
    ww_wwt_put32(p + 4, (uint32_t)(v >> 32));
}

static inline uint32_t ww_wwt_get32(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t ww_wwt_get64(const unsigned char *p) {
    return ww_wwt_get32(p) | (uint64_t)ww_wwt_get32(p + 4) << 32;
}

#endif
