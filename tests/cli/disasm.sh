# Three instructions of sm_80 as bytes: MOV, a branch to itself, and one that no machine has.
python3 -c '
import struct
words = [(0x00000a0000017a02, 0x000fc40000000f00), (0xfffffff000007947, 0x000fc0000383ffff)]
open("two.bin", "wb").write(b"".join(struct.pack("<QQ", *w) for w in words))
open("bad.bin", "wb").write(struct.pack("<QQ", *words[0]) + struct.pack("<QQ", 0x1ff, 0))
'
warpwatt disasm two.bin --raw --arch sm_80
warpwatt disasm two.bin --raw --arch 80 --bits
warpwatt disasm two.bin --raw --arch sm_80 --json | python3 -c 'import json, sys; i = json.load(sys.stdin)[0]["instructions"]; print(i[1]["text"], i[1]["class"], i[1]["unit"], i[1]["stall"], i[0]["latency"])'
warpwatt disasm two.bin --raw --arch sm_80 --json | python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/disasm.json"
# What is not known is listed by its bits, and the command fails.
fails 4 warpwatt disasm bad.bin --raw --arch sm_80
fails 2 warpwatt disasm two.bin --raw
fails 2 warpwatt disasm two.bin --raw --arch sm_60
fails 3 warpwatt disasm two.bin
fails 7 warpwatt disasm nothing.cubin | cut -d ':' -f 1,2
echo '.version 7.0' >small.ptx
fails 2 warpwatt disasm small.ptx
