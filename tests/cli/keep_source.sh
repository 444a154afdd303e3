# Source texts that a trace keeps, and files that are shown only if they are what was recorded.
mkdir src
cp "$SOURCE/traces/examples/softmax.cu" "$SOURCE/traces/examples/softmax.ptx" "$SOURCE/traces/examples/softmax.json" src
record() {
    warpwatt trace record --ptx src/softmax.ptx --launch src/softmax.json -q "$@"
}
record -o hash.wwt
record -o text.wwt --keep-source
warpwatt trace verify text.wwt
warpwatt trace slice text.wwt --ctas 0 -o slice.wwt -q
for t in hash text slice; do warpwatt run --gpu v100 --trace $t.wwt --db r.db -q; done
page() {
    warpwatt report --html page.html --db r.db "$@"
    sed -n '/<h3>Source/,/<h3>/p' page.html >part.html
    grep -o '<p class="note">.*</p>' part.html | sed 's/<[^>]*>//g' | head -n 1
    echo "lines with an exponential: $(grep -c 'class="src">[^<]*exp' part.html)"
}
echo '--- the text that the trace keeps, also in a slice'
page --run 2
page --run 3
grep -o 'class="src asm">[0-9a-f]\{4\} [^<]*%' part.html | head -n 1 | grep -c '%$'
echo '--- a workload has none'
warpwatt trace record -w saxpy -p n=64 -o saxpy.wwt --keep-source 2>&1 >saxpy.out | grep warning
echo '--- the hash alone'
page --run 1
page --run 1 --sources src
echo '// another line' >>src/softmax.cu
page --run 1 --sources src
echo '--- without its trace'
mv hash.wwt gone.wwt
page --run 1 --sources src
echo '--- tabs, and no character that is none'
printf 'int a;\n\tint b;\r\n%.0s' $(seq 30) >src/softmax.cu
page --run 1 --sources src | tail -n 1
grep -c 'class="src">&#9;int b;<' part.html
