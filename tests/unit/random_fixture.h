/* random_fixture.h: programs at random, for tests that compare replays of them. */
#ifndef TESTS_RANDOM_FIXTURE_H
#define TESTS_RANDOM_FIXTURE_H

#include "../../estimator/base/rng.h"
#include "../timing/sm_fixture.h"

/* 48 instructions of all kinds that need no more than registers and addresses, half of them of memory. */
void random_instructions(struct program *p, struct ww_rng *r);
/* Streams of them with barriers at the same places of all warps, of differing lengths otherwise. The last warp
 * of a CTA has 16 lanes. */
void random_streams(struct program *p, struct ww_rng *r);

#endif
