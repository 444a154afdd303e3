/* sass_extern.c: functions of CUDA's device runtime, which are not in the cubin: vprintf, malloc, free,
 * __assertfail.
 *
 * Arguments and results are in registers from R4 on, values of 64 bits in pairs. */
#include "../../ptx/exec/kernel_print.h"
#include "../../refused_call.h"
#include "grid.h"

#define FIRST_REGISTER 4

struct thread {
    struct sx_warp *w;
    uint32_t lane;
    struct kernel_reader *reader;
};

static uint64_t argument(struct sx_warp *w, unsigned l, uint32_t n) {
    return sx_get64(sx_register(w, FIRST_REGISTER + 2 * n), l);
}

static void set_result(struct sx_warp *w, unsigned l, uint64_t v) {
    sx_set64(sx_register(w, FIRST_REGISTER), l, v);
}

static const unsigned char *at(void *context, uint64_t address, uint32_t bytes) {
    struct thread *t = context;
    const unsigned char *p = ww_sx_generic(t->w, t->lane, address, bytes);
    t->reader->failed = t->w->run->failed;
    return p;
}

static void fail_thread(void *context, enum ww_code code, const char *text) {
    struct thread *t = context;
    ww_sx_fail(t->w, t->lane, code, "%s", text);
}

static void print(struct sx_warp *w, unsigned l) {
    struct kernel_reader reader = {.at = at, .fail = fail_thread};
    struct thread t = {w, l, &reader};
    reader.context = &t;
    ww_kernel_vprintf(&reader, argument(w, l, 0), argument(w, l, 1), w->run->out);
    sx_register(w, FIRST_REGISTER)[l] = 0;
}

static void device_free(struct sx_warp *w, unsigned l, uint64_t address) {
    if (address && !ww_mem_kernel_free(w->run->mem, address))
        ww_sx_fail(w, l, WW_EXEC, "free of 0x%llx, which malloc did not return", (unsigned long long)address);
}

static void read_text(struct sx_warp *w, unsigned l, uint64_t address, char *out, size_t n) {
    size_t k = 0;
    for (; k + 1 < n; k++) {
        const unsigned char *p = ww_sx_generic(w, l, address + k, 1);
        if (!p || !*p) break;
        out[k] = (char)*p;
    }
    out[k] = 0;
}

static void assert_failed(struct sx_warp *w, unsigned l) {
    char what[200], file[200], function[100];
    read_text(w, l, argument(w, l, 0), what, sizeof what);
    read_text(w, l, argument(w, l, 1), file, sizeof file);
    read_text(w, l, argument(w, l, 3), function, sizeof function);
    if (!w->run->failed)
        ww_sx_fail(w, l, WW_EXEC, "assertion '%s' failed at %s:%u in %s", what, file,
                   (unsigned)argument(w, l, 2), function);
}

void ww_sx_extern(struct sx_warp *w, const char *name, uint32_t mask) {
    for (uint32_t m = mask; m && !w->run->failed; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (strcmp(name, "vprintf") == 0)
            print(w, l);
        else if (strcmp(name, "malloc") == 0)
            set_result(w, l, ww_mem_kernel_malloc(w->run->mem, argument(w, l, 0)));
        else if (strcmp(name, "free") == 0)
            device_free(w, l, argument(w, l, 0));
        else if (strcmp(name, "__assertfail") == 0)
            assert_failed(w, l);
        else
            ww_sx_fail(w, l, WW_UNSUPPORTED, "a call of %.100s, %s", name,
                       ww_refused_call(name) ? ww_refused_call(name)
                                             : "a function of the driver that is not known");
    }
}
