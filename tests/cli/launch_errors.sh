# Faults of a launch description: the file, the JSON path, the value met, what was expected; exit code 3.
cp "$SOURCE/traces/examples/softmax.ptx" k.ptx
try() { # OLD NEW: the example with one replacement
    python3 -c 'import sys; t = open(sys.argv[1]).read(); assert sys.argv[2] in t; print(t.replace(sys.argv[2], sys.argv[3], 1))' \
        "$SOURCE/traces/examples/softmax.json" "$1" "$2" >l.json
    fails 3 warpwatt trace record --ptx k.ptx --launch l.json -o a.wwt
}
try '"kernel": "softmax"' '"kernel": "sotfmax"'
try '"kernel": "softmax"' '"kernel": "matmul"'
try ', {"s32": 256}]' ']'
try '{"s32": 256}' '{"s64": 256}'
try '{"buffer": "out"}' '{"buffer": "ot"}'
try '{"buffer": "out"}' '{"buffer": 7}'
try '"type": "f32"' '"type": "float"'
try '{"s32": 256}' '{"int": 256}'
try '{"s32": 256}' '{"s32": 2.5}'
try '[128]' '[0]'
try '[128]' '[1, 2, 3, 4]'
try '[128]' '[1, 70000]'
try '[256]' '[2048]'
try '"args"' '"shared": 1000000, "args"'
try '"args"' '"repeat": 0, "args"'
try '"kernel": "softmax",' ''
# A C++ kernel is found by the name in its source, unless two have it.
cp "$SOURCE/traces/examples/softmax.json" l.json
sed 's/softmax(/_Z7softmaxPKfPfi(/' k.ptx >cpp.ptx
warpwatt trace record --ptx cpp.ptx --launch l.json -q -o cpp.wwt && rm cpp.wwt
{ cat cpp.ptx; sed -n '/^.visible .entry/,$p' k.ptx | sed 's/softmax(/_Z7softmaxPKdPdi(/'; } >two.ptx
fails 3 warpwatt trace record --ptx two.ptx --launch l.json -q -o two.wwt
rm cpp.ptx two.ptx
# Instances of a template are named as in C++; blanks in a name do not count.
sed 's/softmax(/_Z4blurILi16ELi2EEvPKfPfi(/' k.ptx >blur.ptx
for name in "blur<16,2>" "blur<16, 2>" "blur<8, 2>"; do
    sed "s/\"softmax\"/\"$name\"/" "$SOURCE/traces/examples/softmax.json" >blur.json
    warpwatt trace record -q --ptx blur.ptx --launch blur.json -o blur.wwt && rm blur.wwt && echo "$name"
done
rm blur.ptx blur.json
ls
