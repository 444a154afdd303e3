# Long work tells how far it is: lines of JSON on stderr, each an object; nothing without a terminal unless asked.
cat >judge.py <<'END'
import json, sys
lines = [json.loads(line) for line in sys.stdin]
keys = ["work", "part", "done", "total", "unit", "per_second", "seconds", "seconds_left", "end"]
assert lines and all(list(line) == keys for line in lines), lines
assert [line["end"] for line in lines] == [False] * (len(lines) - 1) + [True]
before = {}
for line in lines:
    if line["total"] is not None:
        assert line["done"] <= line["total"], line
    if line["part"] is not None:
        assert before.get(line["unit"], 0) <= line["part"] <= 1, (before, line)
        before[line["unit"]] = line["part"]
units = dict.fromkeys(line["unit"] for line in lines if line["part"] is not None)
print("ends with", lines[-1]["part"], "of", lines[-1]["total"], "; bars of", *units)
END
judge() {
    "$@" 2>&1 >out.txt | python3 judge.py
}
judge warpwatt trace record -w kmeans -p size=small --code ptx --arch sm_20 -o k.wwt -q --progress json
judge warpwatt run --gpu gtx480 -t k.wwt --mode full --progress=json
judge warpwatt run --gpu gtx480 -t k.wwt --mode sampled --progress=json
cp "$SOURCE/reports/examples/sweep.json" space.json
judge warpwatt sweep space.json --db r.db --progress json | sed 's/; bars.*points/; bars of ... points/'
judge warpwatt trace verify k.wwt --progress json | sed 's/of [0-9]* ;/of N ;/'
warpwatt run --gpu gtx480 -t k.wwt -q
# A terminal has one bar, and it is gone at the end.
cat >terminal.py <<'END'
import contextlib, os, pty, re, subprocess, sys
ours, theirs = pty.openpty()
program = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
shown = b""
with contextlib.suppress(OSError):
    while data := os.read(ours, 1024):
        shown += data
program.wait()
text = shown.decode()
bar = re.search(r"sgemm: \[[#-]{20}\] +[0-9]+ %  [0-9.]+( k)? of [0-9.]+( k)? CTAs of launch 0, [0-9.]+", text)
print("a bar" if bar else repr(text), "wiped" if text.endswith("\r\x1b[K") else "left")
END
python3 terminal.py "$(command -v warpwatt)" trace record -w sgemm --code ptx
fails 2 warpwatt run --gpu gtx480 -t k.wwt --progress loud
fails 2 warpwatt run --gpu gtx480 -t k.wwt --progress
