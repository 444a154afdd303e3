# One space, one kind of code: what ptxas refuses is a row with ptxas's words, and is not ranked as lowered PTX.
real=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null) || skip "there is no ptxas (CUDA toolkit)"
# Some versions of ptxas take 93 KB of static shared memory; this one never does.
cat >ptxas <<PTXAS
#!/bin/sh
for last; do :; done
if [ -f "\$last" ] && grep -q 95232 "\$last"; then
    echo "ptxas error   : Entry function '_Z4copyPfi' uses too much shared data" >&2
    echo "ptxas fatal   : Ptx assembly aborted due to errors" >&2
    exit 255
fi
exec $real "\$@"
PTXAS
chmod +x ptxas
export WARPWATT_PTXAS=$PWD/ptxas
export XDG_CACHE_HOME=$PWD/cache
unset WARPWATT_CODE
for bytes in 4096 95232; do
    cat >k_$bytes.ptx <<PTX
.version 7.0
.target sm_80
.address_size 64
.visible .entry _Z4copyPfi(.param .u64 out, .param .u32 n) {
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    .shared .align 4 .b8 tile[$bytes];
    ld.param.u64 %d1, [out];
    cvta.to.global.u64 %d1, %d1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    mov.u32 %r3, tile;
    mad.lo.u32 %r3, %r1, 4, %r3;
    st.shared.u32 [%r3], %r1;
    bar.sync 0;
    ld.shared.u32 %r2, [%r3];
    add.u64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r2;
    ret;
}
PTX
done
cat >space.json <<'JSON'
{"gpu": "a100", "program": {"source": "k_{BYTES}.ptx", "parameters": {"BYTES": [4096, 95232]},
 "launch": {"kernel": "copy", "grid": [64], "block": [128], "args": [{"buffer": "out"}, {"s32": 1}],
 "buffers": {"out": {"type": "f32", "count": 8192}}}}}
JSON
versions() {
    sed 's/ptxas [0-9][0-9.]*/ptxas N/'
}
warpwatt sweep space.json --db r.db 2>&1 | versions
warpwatt query --named variants --db r.db --csv | cut -d, -f3,17 | versions
# Nothing that makes machine code: all variants are lowered, and that is said once.
WARPWATT_PTXAS= warpwatt sweep space.json --db lowered.db 2>&1
