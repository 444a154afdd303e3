warpwatt help
warpwatt help gpu
warpwatt trace --help
warpwatt help trace slice
warpwatt gpu diff -h
warpwatt --version
warpwatt version --json
# Every command has help with at least its --help option.
warpwatt help --format bash | sed -n 's/^        "\(.*\)")$/\1/p' | while read -r command; do
    warpwatt $command --help | grep -q -- '--help' || echo "no help: $command"
done
