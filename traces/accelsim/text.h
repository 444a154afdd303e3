/* text.h: private to the importer: the header and the instruction lines of a trace, and its code table.
 *
 *     line -> prefix (raw files) -> pc, mask -> operands (the key) -> address field -> immediates
 *                                               |
 *                             static instruction, by pc and key; one entry of the launch's table for each
 *                             space that it was seen to access
 */
#ifndef WW_ACCELSIM_TEXT_H
#define WW_ACCELSIM_TEXT_H

#include "../../estimator/base/arena.h"
#include "../trace.h"
#include "input.h"
#include "opcode.h"

#define WW_AS_WINDOW_BYTES ((uint64_t)16 << 20) /* of the shared and of the local address window */
#define WW_AS_STATIC_MAX ((uint32_t)1 << 18)
#define WW_AS_KEY_MAX 4096u

/* The lines in front of a launch's instructions. Strings live in the importer's arena of the launch. */
struct ww_as_header {
    const char *kernel, *nvbit;
    const char *arch; /* of files that ww_export_accelsim wrote; else NULL */
    uint32_t grid[3], block[3];
    uint32_t shmem, nregs, binary, version;
    uint32_t shared_static, local_bytes; /* of our own files */
    uint64_t shared_base, local_base;
    uint64_t ctas; /* of our own files: how many of the grid are there */
    bool lineinfo, ours, ctas_stated;
    unsigned seen; /* bits of enum header_field */
};

/* A static instruction of the text. */
struct ww_as_static {
    uint32_t pc, hash;
    uint32_t key_n;
    const char *key;
    const char *opcode; /* in the key */
    uint32_t opcode_n;
    const struct ww_sass_row *row; /* NULL: unknown, or declared by our own file */
    bool unknown, declared, exits, complete;
    struct ww_inst inst;               /* as it goes to the table, but for space and access */
    uint32_t index[WW_SPACE_COUNT][2]; /* in the table, by space and by having addresses, + 1 */
};

/* The code of one kernel. Kept from launch to launch of the same kernel. */
struct ww_as_code {
    struct ww_arena arena;
    const char *kernel, *arch;
    struct ww_as_static **slot; /* open addressing */
    uint32_t slot_count, static_count;
    struct ww_as_static *recent[1024]; /* by pc: the last one met */
    struct ww_inst *inst;
    uint32_t inst_count, inst_room;
    const char **string;
    uint32_t string_count, string_room;
    uint64_t dropped_operands;
    struct ww_as_code *next;
};

enum ww_as_form { WW_AS_NONE, WW_AS_AFFINE, WW_AS_LIST };

/* One instruction line. */
struct ww_as_line {
    uint32_t cta[3], warp; /* of raw files */
    uint32_t pc, mask;
    struct ww_as_static *code;
    enum ww_as_form form;
    uint64_t base; /* AFFINE: address of lane 0 */
    int32_t stride;
    unsigned count; /* LIST */
    uint64_t address[32];
    unsigned immediates;
    uint64_t immediate[2];
    uint64_t *bulk; /* TMA: an address for each 32-byte sector; the parser's own */
    size_t bulk_count;
};

/* How lines of a file look. */
struct ww_as_style {
    unsigned prefix; /* numbers in front: 0, 4 (CTA, warp) or 11 (and the cluster's) */
    unsigned version;
    bool lineinfo;
};

/* What parsing needs besides the line. */
struct ww_as_parser {
    struct ww_as_input *in;
    struct ww_as_style style;
    struct ww_as_code *code;
    bool ours; /* the header declares every instruction */
    uint64_t *bulk;
    size_t bulk_room;
};

/* header.c: reads header lines until the first that is none (returned in *line, NULL at the file's end). */
enum ww_code ww_as_header_read(struct ww_as_input *in, struct ww_arena *arena, struct ww_as_code *own,
                               struct ww_as_header *h, char **line, size_t *n, struct ww_error *error);

/* line.c: parses the line last read. Errors: WW_INPUT with file and line. */
enum ww_code ww_as_line_parse(struct ww_as_parser *p, char *text, struct ww_as_line *line,
                              struct ww_error *error);
/* Numbers: false if there is none at *p; *p moves behind it and the blanks that follow. */
bool ww_as_dec(const char **p, uint64_t *v);
bool ww_as_hex(const char **p, uint64_t *v);
bool ww_as_int(const char **p, int64_t *v);

/* code_table.c */
enum ww_code ww_as_code_new(const char *kernel, const char *arch, struct ww_as_code **code,
                            struct ww_error *error);
void ww_as_code_free(struct ww_as_code *code);
/* The static instruction of a pc and key, or NULL. */
struct ww_as_static *ww_as_code_find(struct ww_as_code *c, uint32_t pc, const char *key, size_t n);
/* Adds one whose key is parsed already: inst holds the first registers. */
enum ww_code ww_as_code_add(struct ww_as_code *c, const struct ww_inst *inst, const char *key, size_t n,
                            size_t opcode_at, size_t opcode_n, struct ww_as_static **out,
                            struct ww_error *error);
/* Adds one that our own exporter declared and that is not there yet: inst is whole. */
enum ww_code ww_as_code_declare(struct ww_as_code *c, const struct ww_inst *inst, const char *mnemonic,
                                const char *file, const char *key, size_t n, struct ww_error *error);
/* Its place in the instruction table for a space; with_access: its steps have addresses or a value. */
enum ww_code ww_as_code_index(struct ww_as_code *c, struct ww_as_static *s, unsigned space, bool with_access,
                              uint32_t *index, struct ww_error *error);
/* A string's number in the table. */
enum ww_code ww_as_code_string(struct ww_as_code *c, const char *s, size_t n, uint32_t *number,
                               struct ww_error *error);

/* Text of our own exporter. key: "1 R2 LDG.E 1 R4 " as lines have it. */
#define WW_AS_OUR_INST "-warpwatt inst = "
#define WW_AS_OUR_LAUNCH "-warpwatt launch = "
void ww_as_put_key(struct ww_buf *b, const struct ww_inst *inst, const char *opcode);
/* A declaring header line, without its end; the reader of what WW_AS_OUR_INST starts. */
void ww_as_put_declaration(struct ww_buf *b, const struct ww_inst *inst, const char *opcode,
                           const char *mnemonic, const char *file);
enum ww_code ww_as_get_declaration(const struct ww_as_input *in, const char *text, struct ww_as_code *c,
                                   struct ww_error *error);

#endif
