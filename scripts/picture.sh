#!/bin/sh
# picture.sh: makes docs/report.png, the picture of a report's page that README.md shows. Needs chromium.
#
#   scripts/picture.sh PROGRAM OUT.png
set -eu
program=$(realpath "$1")
out=$(realpath -m "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
command -v chromium >/dev/null || { echo "picture.sh: chromium is not installed" >&2; exit 1; }
cd "$folder"
"$program" trace record -q --code ptx -w stencil -p iterations=4 --arch sm_70 -o stencil.wwt
"$program" run -q --gpu v100 --trace stencil.wwt --db r.db --epoch 512
"$program" run -q --gpu a100 --trace stencil.wwt --db r.db --epoch 512
"$program" report --run 1 --run 2 --db r.db --html page.html
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=5000 --blink-settings=preferredColorScheme=1 \
    --window-size=1280,1480 --screenshot="$out" "file://$folder/page.html" >/dev/null 2>&1
ls -l "$out"
