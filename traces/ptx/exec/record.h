/* record.h: turning execution into warp streams, private to the recorder.
 *
 * The recorder owns the launch's instruction table: the machine instructions of every reachable function one
 * after the other, and behind them, for accesses through generic addresses, twins with the space that was met.
 */
#ifndef WW_TRACES_PTX_RECORD_H
#define WW_TRACES_PTX_RECORD_H

#include "../../trace.h"

struct record_stream {
    struct ww_step *step;
    struct ww_access *access;
    uint64_t *pool;
    size_t step_count, step_capacity, access_count, access_capacity, pool_count, pool_capacity;
    uint32_t cut; /* lanes that had not exited when the recording of the warp was ended (struct ww_cta_pick) */
    uint32_t waiting; /* of these, at a barrier of a number of threads */
};

/* Room for `more` elements of `size` bytes behind `count`. *bytes is what the streams of the launch take,
 * `limit` how much they may. Errors: WW_EXEC (the limit), WW_NOMEM; the array stays as it is. */
enum ww_code ww_record_grow(void **array, size_t count, size_t more, size_t *capacity, size_t size,
                            uint64_t *bytes, uint64_t limit);
/* The executor's texts of these errors: of megabytes, warp instructions and its default limit of instructions.
 */
#define WW_RECORD_LIMIT_TEXT                                                                                   \
    "CTAs that have not finished recorded %llu MB, the limit, in %llu warp instructions: an endless loop? "    \
    "(an instruction limit above its default of %llu raises this one)"
#define WW_RECORD_NOMEM_TEXT "memory ran out for the recorded stream of a CTA"

/* True if the active lanes' addresses are base + stride * lane; `mask` is not 0. */
bool ww_record_is_affine(const uint64_t *addr, uint32_t mask, uint64_t *base, int32_t *stride);

struct ex_warp;
struct ex_inst;
struct ex_cta;
struct ex_kernel;
struct ptx_module;
struct ptx_machine;

/* What the executor needs of one machine instruction. */
struct record_entry {
    uint8_t part;  /* PTX_ACCESS_NONE, or which addresses: 0 the instruction's, 1 its second ones */
    uint8_t space; /* enum ww_space */
    uint8_t op;    /* enum ww_op */
    bool access;   /* WW_INST_ACCESS */
    bool only_if_taken;
    bool conditional;              /* WW_INST_BRANCH_COND: the mask is of the lanes that take it */
    uint32_t offset;               /* added to each address */
    uint32_t twin[WW_SPACE_COUNT]; /* entry for this space, 0: none */
    uint32_t of;                   /* a twin's own: that it is like, + 1; else 0 */
    uint32_t shapes;    /* a matrix instruction in tensor memory: the first of its twins by shape; else 0 */
    uint32_t wait;      /* a load of a spin loop (spin.h): entry for waits, 0: it is none */
    bool loses_address; /* such a load is not to be made again */
    uint32_t loop;      /* of such loads and the branch: the loop's first entry + 1; else 0 */
};

struct record_spins;
struct recorder {
    struct record_spins *spins;     /* spin.h; NULL: the kernel has no spin loops */
    struct ww_trace_writer *writer; /* NULL: streams are only counted */
    struct record_entry *entry;
    uint32_t entry_count;
    struct ww_inst *inst;
    const char **string;
    uint32_t string_count;
    struct ww_arena arena;
    uint64_t warp_instructions, thread_instructions;
    /* tests: called with each finished CTA */
    void (*on_cta)(void *context, const struct ww_cta_trace *cta);
    void *on_cta_context;
};

/* Builds the table for a lowered kernel and sets record_first, record_count of its instructions. */
enum ww_code ww_recorder_prepare(struct recorder *r, struct ex_kernel *kernel, struct ww_error *error);
void ww_recorder_clear(struct recorder *r);

/* Appends what the lowering made of instruction i, executed by `act` of which `taken` lanes took a branch. */
void ww_record_inst(struct ex_warp *w, const struct ex_inst *i, uint32_t act, uint32_t taken);
/* Hands a finished CTA to the writer and frees its streams. */
enum ww_code ww_record_cta(struct recorder *r, struct ex_cta *cta, struct ww_error *error);
void ww_record_stream_free(struct record_stream *s);
/* Hands a CTA's streams to the writer and frees them; *bytes is less what they took. */
enum ww_code ww_record_streams(struct recorder *r, uint64_t index, struct record_stream *const *stream,
                               uint32_t count, uint64_t *bytes, struct ww_error *error);
/* Adds an entry like entry `of` for the space. */
void ww_recorder_add_twin(struct recorder *r, uint32_t of, uint8_t space);

#endif
