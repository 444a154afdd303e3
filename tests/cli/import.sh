# A trace of text, made here: one warp of two threads, an opcode that nobody knows, a copy in the list.
mkdir traces
cat >traces/kernel-1.traceg <<'END'
-kernel name = _Z3addPf
-kernel id = 1
-grid dim = (1,1,1)
-block dim = (2,1,1)
-shmem = 0
-nregs = 8
-binary version = 80
-shmem base_addr = 0x00007f0002000000
-local mem base_addr = 0x00007f0000000000
-nvbit version = 1.5
-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate

#BEGIN_TB

thread block = 0,0,0

warp = 0
insts = 4
0000 00000003 1 R2 LDG.E 1 R4 4 1 0x1000 4 0
0010 00000003 1 R2 GUESSME.F 1 R2 0 0
0020 00000003 0 STG.E 2 R4 R2 4 1 0x1000 4 0
0030 00000003 0 EXIT 0 0 0

#END_TB
END
printf 'MemcpyHtoD,0x0000000000001000,8\nkernel-1.traceg\n' >traces/kernelslist.g
timeless() { grep -v ' s, ' || true; }
warpwatt trace import accelsim traces -o a.wwt 2>&1 | timeless
warpwatt trace verify a.wwt
warpwatt trace dump a.wwt
warpwatt run --gpu gtx480 --trace a.wwt --json | grep -c '"cycles"'
warpwatt run --gpu v100 --trace a.wwt --json | grep -c '"cycles"'
fails 4 warpwatt trace import accelsim traces --strict -o b.wwt
# Without what has no timing of its own in the text: out and back, nothing is lost.
warpwatt trace dump a.wwt >a.txt
for options in '' '--version 3' '--xz'; do
    rm -rf out
    warpwatt trace export accelsim a.wwt -o out $options -q
    warpwatt trace import accelsim out/kernelslist.g -o b.wwt -q
    warpwatt trace dump b.wwt | cmp - a.txt
done
ls out
# What is wrong is named with file and line.
sed 's/00000003 0 STG/0000000f 0 STG/' traces/kernel-1.traceg >traces/lanes.traceg
fails 3 warpwatt trace import accelsim traces/lanes.traceg -o c.wwt
fails 7 warpwatt trace import accelsim traces/kernelslist.g.gone -o c.wwt
fails 2 warpwatt trace import other traces -o c.wwt
fails 2 warpwatt trace export accelsim a.wwt -o out2 --version 6
fails 2 warpwatt trace export accelsim a.wwt -o out
ls -A out
fails 2 warpwatt trace export accelsim a.wwt -o ''
fails 2 warpwatt trace import accelsim traces -o traces/kernel-1.traceg
fails 2 warpwatt trace import accelsim traces -o traces/kernelslist.g
# What a trace lacks is a warning with the place, or an error.
mkdir cut
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do
    sed -e 's/dim = (1,1,1)/dim = (3,2,1)/' -e 's/GUESSME.F/MUFU.RCP/' traces/kernel-1.traceg >cut/kernel-$i.traceg
    echo kernel-$i.traceg
done >cut/kernelslist.g
warpwatt trace import accelsim cut/kernel-1.traceg -o c.wwt -q 2>&1
warpwatt trace import accelsim cut -o c.wwt -q 2>&1 | tail -n 1
warpwatt trace import accelsim cut -o c.wwt --json 2>/dev/null |
    python3 -c 'import json, sys; s = json.load(sys.stdin); print(s["ctas_missing"], s["warps_missing"], s["warps_unended"], len(s["gaps"]))'
fails 3 warpwatt trace import accelsim cut --strict -o d.wwt
# Line ends of another system are taken.
sed 's/$/\r/' cut/kernel-1.traceg >cut/crlf.traceg
warpwatt trace import accelsim cut/crlf.traceg -o e.wwt -q 2>&1
warpwatt trace dump e.wwt >e.txt
warpwatt trace import accelsim cut/kernel-1.traceg -o c.wwt -q 2>/dev/null
warpwatt trace dump c.wwt | cmp - e.txt
# A slice says how many CTAs it has.
warpwatt trace record --workload saxpy --param size=small -q -o s.wwt
warpwatt trace slice s.wwt --ctas 1 -o one.wwt
warpwatt trace export accelsim one.wwt -o one -q
warpwatt trace import accelsim one -o back.wwt -q
# Names from files cannot steer the terminal, in output as in errors.
printf 's/_Z3addPf/\033[31mred/' >steer.sed
sed -f steer.sed traces/kernel-1.traceg >cut/steer.traceg
warpwatt trace import accelsim cut/steer.traceg -o f.wwt -q 2>/dev/null
warpwatt trace info f.wwt | grep launch
warpwatt trace info f.wwt --profile | grep launch
fails 7 warpwatt trace import accelsim "$(printf 'a\033[31mb')" -o g.wwt
fails 7 warpwatt trace import accelsim '' -o g.wwt
