. "$SOURCE/completions/warpwatt.bash"
try() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _warpwatt
    echo "$*: ${COMPREPLY[*]}"
}
try warpwatt ''
try warpwatt g
try warpwatt trace ''
try warpwatt gpu show v
try warpwatt run --g
try warpwatt run --gpu gtx
try warpwatt run --mech sched=g
try warpwatt run -m ''
touch x.wwt
try warpwatt run --trace x
try warpwatt trace info x
try warpwatt trace record --workload s
try warpwatt query --named w
try warpwatt run --epoch ''
