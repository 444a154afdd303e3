#!/bin/sh
# kernels.sh NAME ROOT: writes the CUDA source that compiles traces/kernels/NAME.cu and lists its kernels by name, so
# that a workload's host side can launch them. The names are those of the entries in NAME.ptx.
set -eu
name=$1 root=$2
entries=$(sed -n 's/.*\.entry \([A-Za-z0-9_]*\).*/\1/p' "$root/traces/kernels/$name.ptx")
[ -n "$entries" ] || { echo "kernels.sh: no kernel in $name.ptx" >&2; exit 1; }
echo "/* The kernels of the module $name; made by tests/hardware/kernels.sh. */"
echo "#include \"traces/kernels/$name.cu\""
echo "#include \"tests/hardware/device.h\""
echo "extern \"C\" const struct kit_kernel kit_kernels_$name[] = {"
for entry in $entries; do echo "    {\"$entry\", (const void *)$entry},"; done
echo "    {0, 0}};"
