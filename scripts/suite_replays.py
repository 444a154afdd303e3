"""Recordings and replays of the workload suite, for scripts that fit models to it or tell their error."""
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor


def call(args):
    """What a command prints; None if it fails."""
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return p.stdout.decode() if p.returncode == 0 else None


def record(program, folder, workload, size, arch):
    """The path of the recording; what is there is used again."""
    path = os.path.join(folder, "%s-%s-%s.wwt" % (workload, size, arch))
    if not os.path.exists(path):
        call([program, "trace", "record", "--code", "ptx", "-q", "-w", workload, "-p", "size=" + size, "--arch", arch, "-o", path])
    return path


def replay(program, path, gpu, mode="full", more=()):
    """The run's JSON; None for a workload without this size, or one that does not fit. more: options of the run."""
    out = call([program, "run", "-q", "--gpu", gpu, "--trace", path, "--mode", mode, "--no-pc", "--json", *more])
    return json.loads(out) if out else None


def add_options(parser):
    parser.add_argument("--program", required=True)
    parser.add_argument("--dir", required=True, help="for the recordings")
    parser.add_argument("--sizes", default="small,default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())


def each(options, arch, work):
    """Yields (workload, path, GPU, work(program, path, GPU)) for the whole suite. arch: by GPU, what to record for."""
    os.makedirs(options.dir, exist_ok=True)
    # Those that need a newer architecture than some of the machines have are left out.
    names = [w["name"] for w in json.loads(call([options.program, "trace", "workloads", "--json"])) if "arch" not in w]
    cases = [(w, s, a) for w in names for s in options.sizes.split(",") for a in sorted(set(arch.values()))]
    with ThreadPoolExecutor(options.jobs) as pool:
        paths = list(pool.map(lambda c: record(options.program, options.dir, *c), cases))
        jobs = [(c[0], p, g) for c, p in zip(cases, paths) for g in sorted(arch) if arch[g] == c[2]]
        for job, result in zip(jobs, pool.map(lambda j: work(options.program, j[1], j[2]), jobs)):
            yield (*job, result)
