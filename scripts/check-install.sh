#!/bin/bash
# Installs into a staging folder, builds and runs a program against what was installed, and uninstalls.
set -eu
cd "$(dirname "$0")/.."
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
# The prefix is the one that was built for: another would link the program anew below the tests that use it.
make --no-print-directory install DESTDIR="$stage" >/dev/null
cat >"$stage/use.c" <<'END'
#include <warpwatt.h>
int main(void) {
    struct ww_gpu *gpu;
    struct ww_error error;
    if (ww_gpu_load("gtx480", NULL, 0, &gpu, &error) != WW_OK) {
        fprintf(stderr, "%s: %s\n", error.where, error.text);
        return 1;
    }
    printf("%s with warpwatt %s\n", ww_gpu_name(gpu), ww_version());
    ww_gpu_free(gpu);
    return 0;
}
END
inc=$stage/usr/local/include/warpwatt
lib=$stage/usr/local/lib
gcc -std=c11 -Wall -Werror -I"$inc" "$stage/use.c" -o "$stage/shared" -L"$lib" -lwarpwatt
gcc -std=c11 -Wall -Werror -I"$inc" "$stage/use.c" -o "$stage/static" "$lib/libwarpwatt.a" \
    $(sed -n 's/^Libs.private: //p' "$lib/pkgconfig/warpwatt.pc")
WARPWATT_DATA=$stage/usr/local/share/warpwatt LD_LIBRARY_PATH=$lib "$stage/shared"
WARPWATT_DATA=$stage/usr/local/share/warpwatt "$stage/static"
# The installed program finds its models beside itself, from anywhere.
(cd / && "$stage/usr/local/bin/warpwatt" gpu list)
# The files of docs/guide/first-steps.md come with it.
(cd "$stage/usr/local/share/warpwatt/examples" && ls tutorial.json && "$stage/usr/local/bin/warpwatt" trace record --ptx softmax.ptx \
    --launch softmax.json -o "$stage/softmax.wwt" -q)
readelf -d "$lib/libwarpwatt.so" | grep -q 'soname.*libwarpwatt.so.0\]'
# Nothing but the public API is exported.
if nm -D --defined-only "$lib/libwarpwatt.so" | awk '{print $3}' | grep -v '^ww_' | grep .; then exit 1; fi
make --no-print-directory uninstall DESTDIR="$stage" >/dev/null
left=$(find "$stage/usr/local" ! -type d)
[ -z "$left" ] || { echo "left behind: $left" && exit 1; }
