#!/bin/bash
# The whole promise on a bare machine: a fresh Debian 12 in a folder, a clone of the committed tree, then
# `make quickstart` and `make check` with nothing else done. Needs root and debootstrap. The folder is
# removed at the end, KEEP=1 keeps it. MIRROR names another Debian mirror.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "check-bare: needs root for debootstrap and chroot" >&2 && exit 1; }
ROOT=${ROOT:-$(mktemp -d)/bare}
MIRROR=${MIRROR:-http://deb.debian.org/debian}
mkdir -p "$ROOT"

cleanup() {
    for m in proc sys dev; do mountpoint -q "$ROOT/$m" && umount -l "$ROOT/$m"; done
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$ROOT"
}
trap cleanup EXIT

# make and git are what a user has to have to begin; nothing else.
debootstrap --variant=minbase --include=make,git,ca-certificates bookworm "$ROOT" "$MIRROR" >"$ROOT.log" 2>&1 ||
    { tail -n 20 "$ROOT.log" && exit 1; }
mount -t proc proc "$ROOT/proc" 2>/dev/null || mount --bind /proc "$ROOT/proc"
mount --rbind /sys "$ROOT/sys" # slurmd looks for control groups there
mount --make-rslave "$ROOT/sys"
mount --rbind /dev "$ROOT/dev" # with its pseudo-terminals
mount --make-rslave "$ROOT/dev"
cp /etc/resolv.conf "$ROOT/etc/resolv.conf"
[ ! -f /etc/apt/apt.conf.d/99proxy ] || cp /etc/apt/apt.conf.d/99proxy "$ROOT/etc/apt/apt.conf.d/"
git clone -q --no-hardlinks . "$ROOT/root/warpwatt"

inside() {
    chroot "$ROOT" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
        ${http_proxy:+http_proxy=$http_proxy} ${https_proxy:+https_proxy=$https_proxy} \
        /bin/sh -c "cd /root/warpwatt && $1"
}
start=$SECONDS
inside 'make quickstart'
echo "quickstart took $((SECONDS - start)) s"
[ $((SECONDS - start)) -lt 600 ] || { echo "over the 10 minutes that it may take" && exit 1; }
start=$SECONDS
inside 'make check'
echo "check took $((SECONDS - start)) s"
[ $((SECONDS - start)) -lt 900 ] || { echo "over the 15 minutes that it may take" && exit 1; }
