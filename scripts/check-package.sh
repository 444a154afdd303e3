#!/bin/bash
# Builds the Debian packages in a fresh Debian 12 and installs them there, by the RUN lines of the Containerfile, so that both are
# checked where there is no container engine. Needs root and debootstrap. KEEP=1 keeps the folder.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "check-package: needs root for debootstrap and chroot" >&2 && exit 1; }
ROOT=${ROOT:-$(mktemp -d)/package}
MIRROR=${MIRROR:-http://deb.debian.org/debian}
mkdir -p "$ROOT"

cleanup() {
    ! mountpoint -q "$ROOT/proc" || umount -l "$ROOT/proc"
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$ROOT" "$ROOT.log"
}
trap cleanup EXIT
debootstrap --variant=minbase --include=ca-certificates bookworm "$ROOT" "$MIRROR" >"$ROOT.log" 2>&1 ||
    { tail -n 20 "$ROOT.log" && exit 1; }
mount -t proc proc "$ROOT/proc"
cp /etc/resolv.conf "$ROOT/etc/resolv.conf"
[ ! -f /etc/apt/apt.conf.d/99proxy ] || cp /etc/apt/apt.conf.d/99proxy "$ROOT/etc/apt/apt.conf.d/"

inside() { # folder command
    chroot "$ROOT" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+http_proxy=$http_proxy} ${https_proxy:+https_proxy=$https_proxy} /bin/sh -ec "cd $1 && $2"
}
mkdir -p "$ROOT/src" "$ROOT/work"
git clone -q --no-hardlinks . "$ROOT/src/warpwatt"
folder=/
while read -r word rest; do
    case $word in
    WORKDIR) folder=$rest ;;
    RUN)
        # What the second stage copies from the first lies in this same root.
        case $rest in *"/tmp/packages"*) mkdir -p "$ROOT/tmp/packages" && mv "$ROOT"/src/*.deb "$ROOT/tmp/packages" ;; esac
        echo "== $rest"
        inside "$folder" "$rest" >>"$ROOT.log" 2>&1 || { tail -n 30 "$ROOT.log" && exit 1; }
        ;;
    esac
done < <(sed -e ':a' -e '/\\$/N; s/\\\n//; ta' Containerfile)

# From anywhere, without the source tree.
rm -rf "$ROOT/src"
inside /work 'warpwatt trace record -w saxpy --arch sm_20 -o s.wwt -q && warpwatt run --gpu gtx480 --trace s.wwt --db r.db -q'
inside /work 'python3 -c "import warpwatt as ww; print(ww.Database(\"r.db\").load(), ww.run(\"s.wwt\", \"gtx480\").cycles)"'
cat >"$ROOT/work/use.c" <<'END'
#include <warpwatt.h>
int main(void) { return puts(ww_version()) < 0; }
END
inside /work 'apt-get update >/dev/null 2>&1 && apt-get install -y --no-install-recommends gcc libc6-dev pkg-config >/dev/null 2>&1; gcc use.c $(pkg-config --cflags --libs warpwatt) -o use && ./use'
echo "packages: built, installed and used"
