#!/bin/bash
# check.sh MODE: runs tests that make has built, two or more at a time, and ends with one line
# "N passed, N failed". MODE: short (make check), long (make check-long), asan, ubsan, tsan, san, fuzz.
# Logs are in build/check/NAME.log.
set -u
cd "$(dirname "$0")/.." || exit 2
LOGS=build/check
PYTHON=${PYTHON:-python3}
JOBS=${JOBS:-2}
export CMOCKA_MESSAGE_OUTPUT=tap
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1

# ---- one item: "kind|name|command" in $1; writes NAME.result with "passed failed" ----
#   cmocka  counts the tests that the program reports; lines "# skipped: REASON" are shown
#   counts  the last line of the output is "N passed, N failed"; lines "skipped - NAME: REASON" are shown
#   once    one test: the exit status

count_cmocka() { # status log
    local good bad skipped
    skipped=$(grep -cE '^(not )?ok [0-9]+ # SKIP' "$2") # cmocka 1.1 prints "not ok" for them
    good=$(grep '^ok [0-9]* - ' "$2" | grep -vc '# SKIP')
    bad=$(grep '^not ok [0-9]*' "$2" | grep -vc '# SKIP')
    # A crash, or a program that ran nothing, is a failure although no test says so; what skips says why.
    if [ "$bad" = 0 ] && { [ "$1" != 0 ] || [ $((good + skipped)) -le 0 ]; }; then bad=1; fi
    echo "$good $bad"
}

count_counts() { # status log
    local line
    line=$(tail -n 1 "$2" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
    if [ -z "$line" ] || { [ "$1" != 0 ] && [ "${line#* }" = 0 ]; }; then line="0 1"; fi
    echo "$line"
}

# A program of which every test was skipped has passed nothing.
count_once() { # status log
    if [ "$1" != 0 ]; then
        echo "0 1"
    elif grep -q '# SKIP' "$2" && ! grep '^ok [0-9]' "$2" | grep -qv '# SKIP'; then
        echo "0 0"
    else
        echo "1 0"
    fi
}

# "12 of 340 done"
count_done() {
    local results=("$LOGS"/*.result)
    echo "${#results[@]} of ${ITEMS:-?} done"
}

run_item() {
    local kind=${1%%|*} rest=${1#*|} name command status start=$SECONDS
    name=${rest%%|*}
    command=${rest#*|}
    timeout "${LIMIT:-900}" bash -c "$command" >"$LOGS/$name.log" 2>&1 </dev/null
    status=$?
    "count_$kind" "$status" "$LOGS/$name.log" >"$LOGS/$name.result"
    local good bad
    read -r good bad <"$LOGS/$name.result"
    if [ "$bad" = 0 ] && [ "$good" = 0 ]; then
        echo "skipped $name: $(sed -n 's/^\(not \)\?ok [0-9]* # SKIP *//p; s/^skipped - //p; s/^# skipped: //p' "$LOGS/$name.log" | sort -u | head -n 3 | paste -sd' '), $(count_done)"
    elif [ "$bad" = 0 ]; then
        echo "ok      $name: $good passed ($((SECONDS - start)) s), $(count_done)"
        sed -n 's/^skipped - /        skipped: /p; s/^# skipped: /        skipped: /p' "$LOGS/$name.log" | sort -u
    else
        echo "FAILED  $name: $good passed, $bad failed (exit $status), $(count_done); $LOGS/$name.log ends with"
        grep -v '^ok ' "$LOGS/$name.log" | tail -n "${TAIL:-25}" | sed 's/^/        /'
    fi
}

if [ "${1:-}" = --item ]; then
    run_item "$2"
    exit 0
fi

# ---- what each mode runs ----

# What make check-long alone runs with sanitizers: each takes many times as long as without, where make check runs it.
SLOW_SAN="streams test_curves test_db_docs test_dissect test_l2_curves test_models test_sass_alu test_sass_exec_programs
    test_sass_mma test_sm"
SLOW_SAN_CLI="calibrate database dissect sampled sweep tune tune_killed tune_nvcc validate workloads"

programs() { # kind variant [names to leave out]: every unit and timing test of a build
    local kind=$1 dir=build${2:+/$2} source name
    for source in tests/timing/*.c tests/unit/test_*.c; do
        name=$(basename "$source" .c)
        case $name in *fixture* | '*' | 'test_*') continue ;; esac
        case " $(echo ${3:-}) " in *" $name "*) continue ;; esac
        echo "$kind|${2:+$2-}$name|$dir/${source%.c}"
    done
}

# Each run tries other inputs.
fuzzers() { # seconds
    local source name corpus
    for source in tests/fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        [ "$name" != 'fuzz_*' ] || continue
        corpus=tests/fuzz/corpus/${name#fuzz_}
        [ -d "$corpus" ] || corpus=
        echo "once|$name|mkdir -p build/fuzz/corpus/$name && build/fuzz/tests/fuzz/$name -max_total_time=$1" \
            "-timeout=20 -rss_limit_mb=2048 -verbosity=0 -artifact_prefix=build/fuzz/$name- build/fuzz/corpus/$name $corpus"
    done
}

# The same targets in the sanitized build: their corpus, and mutations of it that are the same everywhere.
replays() { # mutations
    local source name corpus
    for source in tests/fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        [ "$name" != 'fuzz_*' ] || continue
        corpus=$PWD/tests/fuzz/corpus/${name#fuzz_}
        [ -d "$corpus" ] || corpus=
        echo "once|replay-${name#fuzz_}|mkdir -p build/san/replay/$name && cd build/san/replay/$name &&" \
            "ASAN_OPTIONS=\$ASAN_OPTIONS:hard_rss_limit_mb=2048 $PWD/build/san/tests/replay/$name -runs=$1 -seed=1 $corpus"
    done
}

# Warnings are errors here: those that the build kept beside its objects, and the compiler's of files that it does not make.
built_warnings() {
    local flags="-std=c11 -D_GNU_SOURCE -I. -fsyntax-only -Werror -Wall -Wextra -Wpedantic -Wshadow -Wconversion"
    echo "once|warnings|status=0; for f in \$(find estimator traces power db reports tests -name '*.c'" \
        "-not -path 'tests/cuda/toolkit/*'); do o=build/obj/\${f%.c}.o;" \
        "if [ ! \$o -nt \$f ]; then ${CC:-gcc} $flags \$f || status=1;" \
        "elif [ -f \$o.warn ]; then cat \$o.warn; status=1; fi; done; exit \$status"
}

# The same of a compiler for all files.
warnings() { # compilers
    local flags="-std=c11 -D_GNU_SOURCE -I. -fsyntax-only -Werror -Wall -Wextra -Wpedantic -Wshadow -Wconversion"
    local compiler
    for compiler in "$@"; do
        echo "once|warnings-$compiler|status=0; for f in \$(find estimator traces power db reports tests" \
            "-name '*.c' -not -path 'tests/cuda/toolkit/*'); do $compiler $flags \$f || status=1; done; exit \$status"
    done
}

documents() {
    echo "counts|docs-examples|$PYTHON scripts/check-docs.py --program build/warpwatt --help-examples README.md docs/*.md docs/*/*.md traces/*.md"
    echo "counts|docs-words|$PYTHON scripts/check-words.py README.md docs traces/FORMAT.md"
    echo "counts|docs-figures|$PYTHON scripts/check-figures.py --program build/warpwatt README.md docs traces/FORMAT.md"
    echo "counts|docs-figures-self-test|$PYTHON scripts/check-figures.py --self-test"
    echo "counts|docs-words-self-test|$PYTHON scripts/check-words.py --self-test"
    echo "once|docs-generated|sh scripts/docs.sh check build/warpwatt"
    echo "once|docs-trust|$PYTHON scripts/trust-table.py check"
    echo "once|docs-models|$PYTHON scripts/model-tables.py check build/warpwatt"
    echo "once|layers|$PYTHON scripts/layers.py --objects build/obj"
    echo "counts|layers-self-test|$PYTHON scripts/layers.py --self-test"
    echo "counts|check-self-test|tests/tools/check_check.sh"
    echo "once|format|make --no-print-directory format-check"
    echo "once|install|bash scripts/check-install.sh"
    echo "once|quickstart|scripts/quickstart.sh && test -s build/quickstart/report.html"
    echo "once|kernels|traces/kernels/build.sh --check"
}

# The longest come first, so that none of them is left alone at the end.
short() {
    echo "counts|san-cli|$PYTHON tests/cli/run.py --program build/san/warpwatt --without '$SLOW_SAN_CLI'"
    built_warnings
    echo "counts|cli|$PYTHON tests/cli/run.py --program build/warpwatt"
    echo "counts|golden|$PYTHON scripts/golden.py --program build/warpwatt --check"
    local script
    for script in tests/*/check_*.py; do
        [ ! -f "$script" ] || echo "counts|$(basename "$script" .py)|$PYTHON $script build/warpwatt"
    done
    echo "counts|browser|$PYTHON tests/reports/browser.py build/warpwatt --quick"
    programs cmocka ''
    programs once san "$SLOW_SAN"
    documents
    replays 10000
}

long() {
    LIMIT=7200
    short
    fuzzers 600
    local source name
    for name in $SLOW_SAN; do
        source=build/san/tests/unit/$name
        [ -f "tests/unit/$name.c" ] || source=build/san/tests/timing/$name
        echo "once|san-$name|$source"
    done
    echo "counts|san-cli-slow|$PYTHON tests/cli/run.py --program build/san/warpwatt $SLOW_SAN_CLI"
    warnings gcc clang
    programs once tsan
    for source in tests/unit/test_*.c; do
        name=$(basename "$source" .c)
        echo "once|valgrind-$name|valgrind -q --error-exitcode=99 --leak-check=full build/${source%.c}"
    done
    echo "once|sampling|$PYTHON tests/long/coverage.py build/warpwatt"
    echo "counts|progress-left|make --no-print-directory build/tests/tools/cpu_clock.so &&" \
        "$PYTHON tests/long/progress_left.py build/warpwatt --clock build/tests/tools/cpu_clock.so"
    echo "counts|adaptive|$PYTHON tests/sweep/check_adaptive.py build/warpwatt --long"
    echo "counts|browser-long|$PYTHON tests/reports/browser.py build/warpwatt"
    echo "counts|memory-long|$PYTHON tests/long/check_memory.py build/warpwatt --long"
    echo "once|disassembly|$PYTHON tests/sass/disassembly.py --program build/warpwatt || test \$? = 77"
    echo "once|docs-site|if command -v pandoc >/dev/null; then make --no-print-directory docs;" \
        "else echo 'skipped - docs-site: no pandoc'; fi"
    echo "once|bare|scripts/check-bare.sh"
    echo "once|package|scripts/check-package.sh"
}

mkdir -p $LOGS
rm -f $LOGS/*.log $LOGS/*.result
case ${1:-} in
short) items=$(short) ;;
long)
    items=$(long)
    export LIMIT=7200 SWEEP_KILLS=50 SLURM_LONG=1
    ;;
asan | ubsan | tsan | san) items=$(programs cmocka "$1") ;;
fuzz) items=$(fuzzers "${FUZZ_SECONDS:-60}") ;;
*)
    echo "usage: check.sh short|long|asan|ubsan|tsan|san|fuzz" >&2
    exit 2
    ;;
esac

ITEMS=$(printf '%s\n' "$items" | grep -c .)
export ITEMS
printf '%s\n' "$items" | xargs -d '\n' -P "$JOBS" -n 1 "$0" --item

passed=0
failed=0
count=$(printf '%s\n' "$items" | grep -c .)
for result in $LOGS/*.result; do
    [ -f "$result" ] || continue
    read -r good bad <"$result"
    passed=$((passed + good))
    failed=$((failed + bad))
    count=$((count - 1))
done
failed=$((failed + count)) # an item without a result did not finish
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
