#!/bin/bash
# check_check.sh: what scripts/check.sh says of one item that passes, fails, or is skipped as a whole.
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
mkdir -p build/check
expect() { # pattern item
    local said
    said=$(scripts/check.sh --item "$2" | head -n 1)
    rm -f build/check/self-test.log build/check/self-test.result
    if [[ $said == $1* ]]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "$2: \"$said\"; expected $1"
    fi
}
expect "ok      self-test: 1 passed" "once|self-test|true"
expect "FAILED  self-test: 0 passed, 1 failed" "once|self-test|false"
expect "ok      self-test: 1 passed" "once|self-test|printf 'ok 1 # SKIP a\nok 2 - b\n'"
expect "skipped self-test" "once|self-test|echo 'not ok 1 # SKIP a'"
expect "skipped self-test" "cmocka|self-test|echo 'ok 1 # SKIP a'"
expect "ok      self-test: 1 passed" "cmocka|self-test|printf 'ok 1 # SKIP a\nok 2 - b\n'"
expect "FAILED  self-test" "cmocka|self-test|true"
expect "skipped self-test" "counts|self-test|printf 'skipped - a: no nvcc\n0 passed, 0 failed\n'"
expect "FAILED  self-test" "counts|self-test|echo '2 passed, 1 failed'; false"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
