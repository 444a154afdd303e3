fails 2 warpwatt
fails 2 warpwatt runn
fails 2 warpwatt gpu
fails 2 warpwatt gpu shwo
fails 2 warpwatt gpu show
fails 2 warpwatt gpu show a b c d e f g h i j k l m n o p q r
fails 2 warpwatt gpu list extra
fails 2 warpwatt gpu list --jsno
fails 2 warpwatt gpu list -x
fails 2 warpwatt gpu list --json=yes
fails 2 warpwatt gpu list --json --json
fails 2 warpwatt run --gpu
fails 2 warpwatt run --gpu gtx480
fails 2 warpwatt run --gpu gtx480 --trace x.wwt --epoch 0
fails 2 warpwatt run --gpu gtx480 --trace x.wwt --epoch 63
fails 2 warpwatt run --gpu gtx480 --trace x.wwt --epoch 12x
fails 2 warpwatt run --gpu gtx480 --trace x.wwt --seed -1
fails 2 warpwatt trace record
fails 2 warpwatt trace record --workload saxpy --ptx k.ptx --launch l.json
fails 2 warpwatt trace record --ptx k.ptx
fails 2 warpwatt trace dump f.wwt --warp 64
fails 2 warpwatt compare 1
fails 2 warpwatt compare one 2
fails 2 warpwatt query
fails 2 warpwatt query --named wrokloads
fails 2 warpwatt query 'SELECT 1' --format xml
fails 2 warpwatt query 'SELECT 1' --json --csv
fails 2 warpwatt query 'SELECT 1' --json --format table
fails 2 warpwatt query 'select 1' --named runs
fails 2 warpwatt report
fails 2 warpwatt report --run 0
fails 2 warpwatt mech show gtoo
fails 2 warpwatt help nothing
fails 2 warpwatt help --format pdf
ls
