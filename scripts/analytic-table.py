#!/usr/bin/env python3
"""Full replays of the workload suite, as `warpwatt calibrate analytic` reads them.

Records every workload at both sizes for each GPU's instruction set, replays it, and writes
application,trace,gpu,set,cycles,energy_j. Traces stay in the folder; what is there is used again.

usage: analytic-table.py --program PATH --dir DIR [--sizes small,default] [--jobs N] > replays.csv
"""
import argparse
import sys

from suite_replays import add_options, each, replay

ARCH = {"gtx480": "sm_20", "gtx980": "sm_52", "v100": "sm_70", "a100": "sm_70"}


def main():
    parser = argparse.ArgumentParser()
    add_options(parser)
    print("application,trace,gpu,set,cycles,energy_j")
    for workload, path, gpu, r in each(parser.parse_args(), ARCH, replay):
        if r is None:
            print("%s on %s: no replay" % (path, gpu), file=sys.stderr)
            continue
        energy = "" if r["energy_j"] is None else "%.9g" % r["energy_j"]
        print("%s,%s,%s,,%d,%s" % (workload, path, gpu, r["cycles"], energy))


if __name__ == "__main__":
    main()
