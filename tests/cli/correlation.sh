# The page of estimates over measurements: a point a launch, ours and another simulator's, no other file.
cat >a.csv <<'X'
app,launch,kernel,hw_cycles,cycles,accelsim_cycles
nn,0,"k<1>",1000,1100,
bfs,0,step,20000,10000,25000
bfs,-1,all,100000,100000,90000
X
warpwatt report --points a.csv --html page.html
python3 -c '
import re
page = open("page.html").read()
print(page.count("<circle"), "circles, of", len(re.findall("<svg role=\"img\"", page)), "scatters")
print(*re.findall("<p>\\d+ launches, mean.*?</p>", page), sep="\n")
print(re.search("<title>nn 0 .*?</title>", page).group(0))
print("first in the table:", re.search("Launches, those.*?<tbody>.*?<t[hd][^>]*>([^<]*)", page, re.S).group(1))
print("loads nothing:", not re.search("(src|href)=\"(?!#)", page))'
printf 'app,launch\n' >b.csv
fails 3 warpwatt report --points b.csv --html b.html
printf 'app,launch,kernel,hw_cycles,cycles\nnn,0,k,0,5\n' >b.csv
fails 3 warpwatt report --points b.csv --html b.html
printf 'app,launch,kernel,hw_cycles,cycles\nnn,0,k,5\n' >b.csv
fails 3 warpwatt report --points b.csv --html b.html
fails 2 warpwatt report --points a.csv
fails 2 warpwatt report --points a.csv --html a.csv
