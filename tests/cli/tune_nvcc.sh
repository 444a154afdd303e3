# A .cu file, built by nvcc once for each of its macros' values; skipped where there is no nvcc.
command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || skip "there is no nvcc (CUDA toolkit)"
cp "$SOURCE"/traces/examples/transpose.* .
export WARPWATT_CODE=ptx XDG_CACHE_HOME=$PWD/cache
sed 's/2048/256/g; s/"TILE": \[8, 16, 32, 64\]/"TILE": [16, 32]/; s/"ROWS": \[1, 2, 4, 8\]/"ROWS": [1, 4]/' transpose.json >space.json
warpwatt sweep space.json -j2 --db r.db | grep -v '^code:' | sed 's/, [0-9.]* s.*//'
warpwatt query --named variants --db r.db --csv | cut -d, -f3,8 | sort
# Built from the cache; a variant's shape is not the build's.
warpwatt sweep space.json -j2 --db again.db | grep -v '^code:' | sed 's/, [0-9.]* s.*//'
# What does not compile is a row, with nvcc's words.
sed -i 's/__syncthreads();/#if PAD == 1\n    undeclared();\n#endif\n    __syncthreads();/' transpose.cu
sed -i 's/"PAD": 1, "ROWS": 4/"PAD": 0, "ROWS": 4/' space.json
warpwatt sweep space.json -j2 --db bad.db | grep -v '^code:' | sed 's/, [0-9.]* s.*//; s/error:.*/error/'
# A source with a value of its own for a parameter: the parameter would do nothing.
cp "$SOURCE"/traces/examples/transpose.cu .
sed -i '1i #undef PAD\n#define PAD 1' transpose.cu
warpwatt sweep space.json --strategy random --points 1 --db own.db | grep -v '^code:' | sed 's/, [0-9.]* s.*//'
sed -i 1d transpose.cu
fails 3 warpwatt sweep space.json -j2 --strategy random --points 1 --db anew.db | grep -c 'redefines the parameter PAD'
# nvcc takes no macro in #pragma unroll, and says of it what helps nobody; sums in another order are rounded otherwise.
cat >own.cu <<'C'
extern "C" __global__ void own(float *out, const float *in, int n) {
    float s = 0;
#pragma unroll N
    for (int i = 0; i < 64; i++) s += in[(threadIdx.x + i * STRIDE % 64) % 64];
    out[threadIdx.x] = s;
}
C
cat >own.json <<'J'
{"gpu": "v100", "program": {"source": "own.cu", "parameters": {"STRIDE": [1, 3], "N": [2, 4]}, "launch": {
  "kernel": "own", "grid": [1], "block": [64], "args": [{"buffer": "out"}, {"buffer": "in"}, {"s32": 64}],
  "buffers": {"out": {"type": "f32", "count": 64},
              "in": {"type": "f32", "count": 64, "fill": {"random": {"min": 0, "max": 1}}}}},
  "compare": {"with": {"STRIDE": 1, "N": 2}, "buffers": ["out"]}}}
J
fails 3 warpwatt sweep own.json --db own1.db
sed 's/\[2, 4\]/{"values": [2, 4], "as": "header"}/' own.json >header.json
warpwatt sweep header.json -j2 --db own2.db | grep -v '^code:\|^builds:\|^replays:'
sed 's/\["out"\]/["out"], "relative": 1e-5/' header.json >relative.json
warpwatt sweep relative.json -j2 --strategy best --db own3.db | grep '^sweep\|built by'
