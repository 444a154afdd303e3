#!/bin/bash
# build-bar.sh MAKE ARGUMENTS...: runs make and shows one line that counts the files that it has made instead of a line
# for each; without a terminal one line at the end. What the compilers say is shown if make fails; warnings are counted
# and kept in build/check-build.log.
set -u
log=build/check-build.log
mkdir -p build
what=$(printf '%s\n' "$@" | grep -v '^-\|/make$\|^make$' | tr '\n' ' ')
total=$("$@" -n 2>/dev/null | grep -c "^printf '  %-7s %s" || true)
"$@" >"$log" 2>&1 &
pid=$!
start=$SECONDS
count() { grep -c '^  [A-Z]' "$log" 2>/dev/null || true; }
while kill -0 $pid 2>/dev/null; do
    if [ -t 2 ]; then
        done=$(count) spent=$((SECONDS - start)) left=
        if [ "$done" -gt 20 ] && [ "$spent" -gt 2 ] && [ "$total" -ge "$done" ]; then
            left=", $((spent * (total - done) / done)) s left"
        fi
        printf '\r\033[Kbuilding %s: %s of at most %s files%s' "${what% }" "$done" "$total" "$left" >&2
    fi
    sleep 0.5
done
wait $pid
status=$?
[ ! -t 2 ] || printf '\r\033[K' >&2
if [ $status != 0 ]; then
    grep -v '^  [A-Z]' "$log" | tail -n 60
    exit $status
fi
warnings=$(grep -c 'warning:' "$log")
echo "built   ${what% }: $(count) files ($((SECONDS - start)) s)$([ "$warnings" = 0 ] || echo ", $warnings warnings, see $log")"
