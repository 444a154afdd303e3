/* locale.h: the C locale inside the library, whatever locale the program has set.
 *
 * Numbers are read and written with a point, texts are compared byte by byte, and messages of the system are in
 * English: what is stored or printed does not depend on where the program runs. Only the calling thread's
 * locale changes, for the length of the block. Every call of the public interface that reads or writes numbers
 * opens with WW_PLAIN_LOCALE, and so does every thread that the library starts: a new thread begins with the
 * program's locale. */
#ifndef WW_BASE_LOCALE_H
#define WW_BASE_LOCALE_H

#include <locale.h>

/* The C locale is part of the C library: asking for it makes nothing that would have to be freed. */
static inline locale_t ww_locale_enter(void) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return uselocale(plain);
}

static inline void ww_locale_leave(const locale_t *before) {
    uselocale(*before);
}

/* Until the end of the block. */
#define WW_PLAIN_LOCALE                                                                                        \
    __attribute__((cleanup(ww_locale_leave))) const locale_t ww_locale_before = ww_locale_enter();             \
    (void)ww_locale_before

#endif
