# Variants that are wrong in one element are rows with their reasons: of a corner's CTA, and of one that no replay has.
export WARPWATT_CODE=ptx XDG_CACHE_HOME=$PWD/cache
cat >wrong.ptx <<'P'
.version 6.4
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 bad) { .reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p;
ld.param.u64 %rd1,[out]; ld.param.u32 %r1,[bad]; mov.u32 %r2,%tid.x; mov.u32 %r3,%ctaid.x; mov.u32 %r4,0;
mad.lo.u32 %r5,%r3,256,%r2; mov.u32 %r6,%r5;
LOOP: add.u32 %r4,%r4,1; mad.lo.u32 %r6,%r6,%r6,%r4; setp.lt.u32 %p,%r4,8; @%p bra LOOP;
setp.eq.u32 %p,%r5,%r1; selp.u32 %r7,1,0,%p; add.u32 %r6,%r6,%r7;
mul.wide.u32 %rd2,%r5,4; add.u64 %rd1,%rd1,%rd2; st.global.u32 [%rd1],%r6; ret; }
P
cat >space.json <<'J'
{"gpu": "v100", "program": {"source": "wrong.ptx", "parameters": {"BAD": [5, 767995, 512000, 800000]}, "launch": {
  "kernel": "k", "grid": [3000], "block": [256], "args": [{"buffer": "out"}, {"u32": "BAD"}],
  "buffers": {"out": {"type": "u32", "count": 768000}}},
  "compare": {"with": {"BAD": 800000}, "buffers": ["out"]}}}
J
warpwatt sweep space.json -j2 --db r.db
warpwatt query --named variants --db r.db --csv | cut -d, -f1-3,15-
# It is found when the fastest are executed whole, also by the strategy best, and stays found.
warpwatt sweep space.json -j2 --db r.db
sed 's/\[5, /[512001, 512002, 512003, 512004, 5, /' space.json >more.json
warpwatt sweep more.json --strategy best -j2 --db best.db | grep -v '^  '
warpwatt query --named variants --db best.db --csv | cut -d, -f3-4,15-
# A shard finds it not; the sweep of the joined database does. Joining again changes nothing.
warpwatt sweep space.json --shard 1 --of 1 --into s.db -j2
warpwatt merge s.db --db joined.db
warpwatt sweep space.json --db joined.db
warpwatt merge s.db --db joined.db
warpwatt merge joined.db --db r.db
# Those that are only screened are in the page of variants, as such.
sed 's/\[5, 767995, 512000, /[800001, 800002, 800003, 800004, 800005, 800006, 800007, /' space.json >screened.json
warpwatt sweep screened.json --strategy best --budget 25 -j2 --db screened.db | tail -n 2
warpwatt report --sweep last --html page.html --db screened.db >page.log
grep -c '<td[^>]*>screening</td>' page.html
grep -o 'only screened: estimates</span> <b>[0-9]*' page.html
# Energies of a sample of CTAs, and a reference that is not a whole variant, are refused.
bad() {
    sed "$1" space.json >bad.json
    fails "$2" warpwatt sweep bad.json --db bad.db
}
bad 's/^{/{"objectives": ["energy"], /' 4
bad 's/"with": {"BAD": 800000}/"with": {}/' 3
bad 's/"with": {"BAD": 800000}/"with": {"BAD": 1, "GOOD": 1}/' 3
# All that were replayed first are wrong: the search goes on with the others.
sed 's/\[5, 767995, 512000, 800000\]/[512000, 512001, 800000, 800001]/' space.json >first.json
warpwatt sweep first.json --strategy best --budget 50 -j2 --db first.db | sed 's/with .* confidence/with N % confidence/'
