# Names that would run a command, steer a terminal, or be a formula.
shown() { "$@" 2>&1 | cat -v; }
# A GPU is named by its file: a line break in it would end the comment of a gnuplot script.
for name in $'g\n! touch ran1\n#' $'g\nsystem("touch ran2")\n#' 'g`touch ran3`' $'g\'; system "touch ran4"; \''; do
    echo '{"inherits": "gtx480"}' >"$name.json"
    warpwatt dissect -q -g "./$name.json" --only latency --plots plots >dissect.txt
    head -1 plots/figures.gp
    sed -n 1p plots/fig14.dat
done
ls . plots | grep "^ran" || echo "no command was run"
rm -rf plots ./g*.json
# File names with escape sequences, a right-to-left override, a zero-width space and a line break.
record_small
evil=$'e\e[31m\u202ec\u200b\nf'
cp a.wwt "$evil.wwt"
shown warpwatt trace verify "$evil.wwt"
shown warpwatt trace info "$evil.wwt" | head -1
shown warpwatt trace slice "$evil.wwt" --launches 9 -o b.wwt
shown warpwatt trace info "none$evil"
shown warpwatt "$evil"
shown warpwatt run --gpu v100 --trace "$evil.wwt" --db r.db | head -1
shown warpwatt report --run 1 --db r.db | head -1
echo $'{"inherits": "gtx480", "node_nm": 28, "name": "c\u202ed"}' >named.json
shown warpwatt run --gpu ./named.json --trace a.wwt | grep 'of its own'
shown warpwatt compare 1 1 --db r.db | head -1
shown warpwatt query --db r.db "SELECT program FROM trace"
shown warpwatt query --db r.db "SELECT char(27) || 'a' || char(8238) || char(8203) || char(65279) || char(155) AS t"
# The program that was run, from a trace; the kernel's own output.
cat >p.ptx <<'PTX'
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[8] = {104, 27, 91, 51, 49, 109, 10, 0};
.visible .entry k()
{
    .reg .b64 %rd<4>;
    mov.u64 %rd1, text;
    cvta.global.u64 %rd2, %rd1;
    mov.u64 %rd3, 0;
    {
        .param .b64 p0;
        st.param.b64 [p0+0], %rd2;
        .param .b64 p1;
        st.param.b64 [p1+0], %rd3;
        .param .b32 ret;
        call.uni (ret), vprintf, (p0, p1);
    }
    ret;
}
PTX
echo '{"launches": [{"kernel": "k", "grid": [1, 1, 1], "block": [1, 1, 1], "args": []}]}' >p.json
shown warpwatt trace record --ptx p.ptx --launch p.json -q
shown warpwatt trace record --ptx p.ptx --launch p.json -q --json | head -1
# JSON stays exact: what is read back is the same text.
warpwatt query --json --db r.db "SELECT char(27) || char(8238) || char(8203) || char(917505) || 'é' AS t" | cat -v
warpwatt query --json --db r.db "SELECT char(27) || char(8238) || char(8203) || char(917505) || 'é' AS t" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["t"] == "\x1b\u202e\u200b\U000e0001\u00e9")'
# CSV for spreadsheets: formulas are made inert, numbers stay numbers, all else is exact.
csv() { warpwatt query --csv --db r.db "SELECT $1 AS t" | tail -n +2 | cat -v; }
for text in '=1+1' '+1+1' '-1+1' '@SUM(A1)' ' =1' '-1.5e3' '+7' '-' 'a=b' 'a,=1' '-cmd|x' '＝1'; do csv "'$text'"; done
csv "char(9) || 'x'"
csv "char(13) || '=1'"
csv "-1.5, -7, 2e300, '', NULL"
csv "char(27) || char(8203)"
warpwatt query --csv --db r.db "SELECT 1 AS '=1+1', 2 AS \"@a\"" | cat -v
# On a terminal CSV is made harmless, too.
script -qec 'warpwatt query --csv --db r.db "SELECT char(27) || char(8203) AS t"' /dev/null | cat -v
