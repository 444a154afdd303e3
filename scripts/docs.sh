#!/bin/sh
# docs.sh write|check PROGRAM: writes the documents that are made of the command table, or checks that they
# are as the program would write them now.
set -eu
mode=${1:-}
program=${2:-build/warpwatt}
marker='<!-- Below: warpwatt help --format markdown -->'
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

"$program" help --format man >"$new/warpwatt.1"
"$program" help --format bash >"$new/warpwatt.bash"
"$program" help --format zsh >"$new/_warpwatt"
{ sed "/^$marker\$/q" docs/reference/commands.md && "$program" help --format markdown; } >"$new/commands.md"

status=0
for pair in warpwatt.1:docs/reference warpwatt.bash:completions _warpwatt:completions commands.md:docs/reference; do
    name=${pair%%:*}
    folder=${pair#*:}
    case $mode in
    write) mkdir -p "$folder" && cp "$new/$name" "$folder/$name" ;;
    check)
        cmp -s "$new/$name" "$folder/$name" || {
            echo "$folder/$name is not what the program writes; run scripts/docs.sh write $program"
            diff -u "$folder/$name" "$new/$name" | head -n 20 || true
            status=1
        }
        ;;
    *)
        echo "usage: docs.sh write|check PROGRAM" >&2
        exit 2
        ;;
    esac
done
exit $status
