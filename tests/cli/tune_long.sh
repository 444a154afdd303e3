# Kernels too long to be replayed to their end: of one CTA, of fewer than a slice of the GPU holds, of many.
export WARPWATT_CODE=ptx XDG_CACHE_HOME=$PWD/cache
cat >long.ptx <<'E'
.version 6.4
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) { .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %p;
ld.param.u64 %rd1,[out]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x; mov.u32 %r3,0;
LOOP: add.u32 %r3,%r3,1; mad.lo.u32 %r2,%r2,%r2,%r3; bar.sync 0; setp.lt.u32 %p,%r3,%r1; @%p bra LOOP;
st.global.u32 [%rd1],%r2; ret; }
E
cat >space.json <<'E'
{"gpu": "v100", "program": {"source": "long.ptx", "parameters": {"C": [1, 3, 81, 2000]}, "launch": {
  "kernel": "k", "grid": ["C"], "block": [256], "args": [{"buffer": "out"}, {"u32": 200000}],
  "buffers": {"out": {"type": "u32", "count": 1}}}}}
E
warpwatt sweep space.json -j2 -q --db r.db
warpwatt query --named variants --db r.db --csv | cut -d, -f3,14-15,17
# CTAs of which every other one is four times as long: all look alike in their first steps, and the error says that they are not.
sed 's/mov.u32 %r3,0;/mov.u32 %r3,0; mov.u32 %r4,%ctaid.x; and.b32 %r4,%r4,1; mad.lo.u32 %r4,%r4,3,1; mul.lo.u32 %r1,%r1,%r4;/' long.ptx >uneven.ptx
sed 's/long.ptx/uneven.ptx/; s/\[1, 3, 81, 2000\]/[2000]/; s/200000/20000/' space.json >uneven.json
warpwatt sweep uneven.json -q --db u.db
warpwatt query --named variants --db u.db --csv | cut -d, -f6
