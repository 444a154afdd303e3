/* Slurm: words for a shell, what squeue and scontrol say, shards. */
#include "../../estimator/study/sweep/slurm.h"
#include "../../estimator/base/spawn.h"
#include "result_fixture.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct ww_error error;

/* A shell reads back what it is given, whatever is in it. */
static void a_shell_reads_quoted_words_back(void **state) {
    static const char *const words[] = {"plain", "",     "two words", "it's", "$(exit 3) `exit 3` \\ \"",
                                        "'",     "a\nb", "*"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct ww_buf b = {0};
        ww_buf_puts(&b, "printf '%s' ");
        ww_slurm_quote(&b, words[i]);
        const char *const argv[] = {"sh", "-c", b.p, NULL};
        struct ww_spawned r;
        assert_int_equal(ww_spawn(argv, &ww_spawn_usual, &r, &error), WW_OK);
        assert_int_equal(r.status, 0);
        assert_string_equal(r.out.p ? r.out.p : "", words[i]);
        ww_spawned_free(&r);
        ww_buf_free(&b);
    }
}

static void a_program_s_two_outputs_and_its_end_are_told_apart(void **state) {
    const char *const argv[] = {"sh", "-c", "echo out; echo err >&2; exit 3", NULL};
    const char *const killed[] = {"sh", "-c", "kill -9 $$", NULL};
    struct ww_spawned r;
    (void)state;
    assert_int_equal(ww_spawn(argv, &ww_spawn_usual, &r, &error), WW_OK);
    assert_string_equal(r.out.p, "out\n");
    assert_string_equal(r.err.p, "err\n");
    assert_int_equal(r.status, 3);
    ww_spawned_free(&r);
    assert_int_equal(ww_spawn(killed, &ww_spawn_usual, &r, &error), WW_OK);
    assert_int_equal(r.status, 128 + 9);
    ww_spawned_free(&r);
}

static void a_program_that_is_not_there_is_an_error_with_its_name(void **state) {
    const char *const argv[] = {"no-such-program-of-slurm", NULL};
    struct ww_spawned r;
    (void)state;
    assert_int_equal(ww_spawn(argv, &ww_spawn_usual, &r, &error), WW_IO);
    ww_fixture_assert_contains(error.where, "no-such-program-of-slurm");
    ww_spawned_free(&r);
}

static void a_program_that_never_ends_is_killed_in_time(void **state) {
    static const struct ww_spawn_limits limits = {.ms = 100, .bytes = 1000};
    const char *const argv[] = {"sh", "-c", "echo $$; sleep 100; true", NULL};
    struct ww_spawned r;
    (void)state;
    assert_int_equal(ww_spawn(argv, &limits, &r, &error), WW_IO);
    ww_fixture_assert_contains(error.text, "had not answered after 0.1 s");
    assert_int_equal(kill((pid_t)strtol(r.out.p, NULL, 10), 0), -1);
    ww_spawned_free(&r);
}

static void a_program_that_writes_without_end_is_killed(void **state) {
    static const struct ww_spawn_limits limits = {.ms = 100000, .bytes = 100000};
    static const char *const words[] = {"exec yes", "exec yes >&2"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *const argv[] = {"sh", "-c", words[i], NULL};
        struct ww_spawned r;
        assert_int_equal(ww_spawn(argv, &limits, &r, &error), WW_IO);
        ww_fixture_assert_contains(error.text, "more than 100000 bytes");
        assert_in_range(r.out.n + r.err.n, 100000, 110000);
        ww_spawned_free(&r);
    }
}

static void what_a_program_leaves_running_is_not_waited_for(void **state) {
    static const struct ww_spawn_limits limits = {.ms = 5000, .bytes = 1000};
    const char *const argv[] = {"sh", "-c", "sleep 6 & echo $!", NULL};
    struct ww_spawned r;
    (void)state;
    assert_int_equal(ww_spawn(argv, &limits, &r, &error), WW_OK);
    assert_int_equal(kill((pid_t)strtol(r.out.p, NULL, 10), SIGKILL), 0); /* it runs still */
    ww_spawned_free(&r);
}

static void numbers_have_digits_alone_and_fit(void **state) {
    uint64_t n = 0;
    (void)state;
    assert_true(ww_slurm_number("4711;cluster\n", &n));
    assert_int_equal(n, 4711);
    assert_false(ww_slurm_number("-5\n", &n));
    assert_false(ww_slurm_number("99999999999999999999999999\n", &n));
    assert_false(ww_slurm_number("", &n));
    assert_false(ww_slurm_number(NULL, &n));
}

static void a_key_of_the_configuration_is_found_at_the_start_of_its_line(void **state) {
    const char *text =
        "Configuration data\nXMaxArraySize = 7\nMaxArraySize            = 1001\nMaxArraySizes = 3\n";
    (void)state;
    const char *value = ww_slurm_config(text, "MaxArraySize");
    assert_non_null(value);
    assert_int_equal(strtol(value, NULL, 10), 1001);
    assert_null(ww_slurm_config(text, "MaxJobCount"));
    assert_null(ww_slurm_config("", "MaxJobCount"));
}

/* Four shards; list 1 has the shards 1 to 4, list 2 has 3 and 1. */
static struct slurm_shard shard[4];
static uint32_t first[] = {1, 2, 3, 4}, second[] = {3, 1};
static struct slurm_list lists[] = {{first, 4}, {second, 2}};

static struct slurm queue(const char *text) {
    struct slurm s = {.shard = shard, .shards = 4, .list = lists, .lists = 2};
    memset(shard, 0, sizeof shard);
    if (ww_slurm_read_queue(&s, text, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    return s;
}

static void tasks_are_found_by_list_and_index(void **state) {
    (void)state;
    struct slurm s = queue(
        "7|0|1|COMPLETED|None\n7|1|1|RUNNING|None\n7|2|1|PENDING|Resources\n7|3|1|FAILED|NonZeroExitCode\n");
    assert_int_equal(s.queued, 2);
    assert_int_equal(s.running, 1);
    assert_false(shard[0].queued);
    assert_true(shard[1].queued && shard[1].running);
    assert_true(shard[2].queued && !shard[2].running);
    assert_string_equal(shard[3].state, "FAILED");
    assert_int_equal(shard[3].array, 7);
    assert_int_equal(shard[3].index, 3);
}

static void a_later_array_counts_whatever_the_order(void **state) {
    (void)state;
    queue("9|0|2|RUNNING|None\n7|2|1|FAILED|NonZeroExitCode\n");
    assert_true(shard[2].running);
    queue("7|2|1|FAILED|NonZeroExitCode\n9|0|2|RUNNING|None\n");
    assert_true(shard[2].running);
    assert_string_equal(shard[2].state, "");
}

static void tasks_of_no_list_are_left_alone(void **state) {
    (void)state;
    struct slurm s = queue("7|4|1|RUNNING|None\n7|0|3|RUNNING|None\n7|N/A|(null)|RUNNING|None\n");
    assert_int_equal(s.queued, 0);
}

static void a_reason_that_will_not_go_away_is_kept(void **state) {
    (void)state;
    struct slurm s = queue("7|0|1|PENDING|Priority\n");
    assert_string_equal(s.waits, "");
    s = queue("7|0|1|PENDING|BadConstraints\n");
    assert_string_equal(s.waits, "BadConstraints");
}

static void what_is_no_queue_is_refused(void **state) {
    struct slurm s = {.shard = shard, .shards = 4, .list = lists, .lists = 2};
    (void)state;
    assert_int_equal(ww_slurm_read_queue(&s, "Welcome to the cluster\n", &error), WW_IO);
}

static void shards_have_every_point_once(void **state) {
    (void)state;
    for (size_t points = 1; points < 40; points++)
        for (uint64_t of = 1; of <= points; of++) {
            size_t next = 0, begin, end;
            for (uint64_t k = 1; k <= of; k++) {
                ww_sweep_shard_points(k, of, points, &begin, &end);
                assert_int_equal(begin, next);
                assert_in_range(end - begin, points / of, (points + of - 1) / of);
                next = end;
            }
            assert_int_equal(next, points);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shell_reads_quoted_words_back),
        cmocka_unit_test(a_program_s_two_outputs_and_its_end_are_told_apart),
        cmocka_unit_test(a_program_that_is_not_there_is_an_error_with_its_name),
        cmocka_unit_test(a_program_that_never_ends_is_killed_in_time),
        cmocka_unit_test(a_program_that_writes_without_end_is_killed),
        cmocka_unit_test(what_a_program_leaves_running_is_not_waited_for),
        cmocka_unit_test(numbers_have_digits_alone_and_fit),
        cmocka_unit_test(a_key_of_the_configuration_is_found_at_the_start_of_its_line),
        cmocka_unit_test(tasks_are_found_by_list_and_index),
        cmocka_unit_test(a_later_array_counts_whatever_the_order),
        cmocka_unit_test(tasks_of_no_list_are_left_alone),
        cmocka_unit_test(a_reason_that_will_not_go_away_is_kept),
        cmocka_unit_test(what_is_no_queue_is_refused),
        cmocka_unit_test(shards_have_every_point_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
