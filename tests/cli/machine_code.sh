# Where code comes from, with a ptxas that is not there, or that refuses; neither needs a CUDA toolkit.
export XDG_CACHE_HOME=$PWD/cache
export WARPWATT_PTXAS=
echo "== none: auto lowers and says so once; sass is an error"
warpwatt trace record -w bfs -p size=small -o a.wwt --code auto 2>&1 | head -1
warpwatt trace info a.wwt --json | grep '"code"' | sort -u
fails 4 warpwatt trace record -w saxpy -p n=1000 --code sass
fails 4 env WARPWATT_PTXAS=/nonexist warpwatt trace record -w saxpy -p n=1000 --code sass
echo "== lowering that was asked for, or that the GPU needs, is not mentioned"
warpwatt trace record -w saxpy -p n=1000 -o b.wwt --code ptx 2>&1 | grep -c warpwatt:
warpwatt trace record -w saxpy -p n=1000 -o b.wwt --code auto --arch sm_52 2>&1 | grep -c warpwatt:
fails 2 warpwatt trace record -w saxpy --code sass --arch sm_52
echo "== a ptxas that refuses"
cat >ptxas <<'END'
#!/bin/sh
case $1 in
--version) echo "Cuda compilation tools, release 12.4, V12.4.131" ;;
--help) echo "Allowed values: 'sm_70','sm_75'." ;;
*) echo "ptxas fatal   : no" >&2; exit 255 ;;
esac
END
chmod +x ptxas
export WARPWATT_PTXAS=$PWD/ptxas
fails 3 warpwatt trace record -w saxpy -p n=1000 --code sass
warpwatt trace record -w saxpy -p n=1000 --code auto 2>&1 | head -1
fails 4 warpwatt trace record -w saxpy -p n=1000 --code sass --arch sm_90
echo "== code that is no cubin"
sed -i 's/^\*).*/*) echo hello >$4 ;;/' ptxas
fails 3 warpwatt trace record -w saxpy -p n=1000 --code sass
echo "== choices"
fails 2 warpwatt trace record -w saxpy --code fast
fails 2 env WARPWATT_CODE=fast warpwatt trace record -w saxpy
fails 2 warpwatt trace record --code fast -- true
fails 2 warpwatt trace record -w saxpy --code sass --ptxas-options '-o x'
fails 2 warpwatt trace record -w saxpy --code ptx --ptxas-options -O1
fails 2 warpwatt trace record --code ptx --ptxas-options -O1 -- true
fails 2 warpwatt trace record -w saxpy --gpu a100
fails 2 warpwatt trace record -w saxpy --gpu none
echo "== a cubin where PTX belongs"
printf '\177ELF\2\1\1\101\7\0\0\0\0\0\0\0\2\0\276\0%044d' 0 >k.ptx
fails 3 warpwatt trace record --ptx k.ptx --launch "$SOURCE/traces/examples/softmax.json"
