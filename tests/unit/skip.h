/* skip.h: a test that cannot run here says why; scripts/check.sh counts it as skipped and shows the reason. */
#ifndef WW_TESTS_SKIP_H
#define WW_TESTS_SKIP_H

#include <stdio.h>

/* After <cmocka.h>. Ends the test. */
#define SKIP_BECAUSE(reason)                                                                                   \
    do {                                                                                                       \
        printf("# skipped: %s\n", reason);                                                                     \
        fflush(stdout);                                                                                        \
        skip();                                                                                                \
    } while (0)

#endif
