#!/usr/bin/env python3
"""Runs the examples of the documents and compares their output.

In each fenced block that begins with "$ warpwatt", the lines "$ warpwatt ..." are run and the lines below each are
the expected output (stdout and stderr), with "..." as in glob_match.py. A command may go on behind a
backslash. All blocks of one document run in one directory, in order, which holds nothing but tests/hardware/synthetic.* and
reports/examples/*.json (sweep.json of which is there as space.json too) and traces/examples/*. A block that begins with other
commands is not run.

With --help-examples, the examples that the program's help prints are run too, in the order of the commands, in a
directory that holds what they name; each must end with status 0.

usage: check-docs.py --program PATH [--help-examples] FILE.md...
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from glob_match import explain, matches  # noqa: E402


def blocks(path):
    """(line number, lines) of each fenced block."""
    inside, start, lines = False, 0, []
    with open(path, encoding="utf-8") as f:
        for number, text in enumerate(f, 1):
            text = text.rstrip("\n")
            if text.lstrip().startswith("```"):
                if inside:
                    yield start, lines
                inside, start, lines = not inside, number + 1, []
            elif inside:
                lines.append(text)


def commands(lines):
    """(offset, command, expected lines) of a block."""
    at = 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            at += 1
            continue
        first, command = at, lines[at][2:]
        while command.endswith("\\") and at + 1 < len(lines):
            at += 1
            command = command[:-1] + lines[at]
        at += 1
        expected = []
        while at < len(lines) and not lines[at].startswith("$ "):
            expected.append(lines[at])
            at += 1
        yield first, command, expected


def run(command, folder, env):
    p = subprocess.run(["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, timeout=600,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return p.returncode, p.stdout.decode("utf-8", "replace").splitlines()


# Made-up measurements, which examples read.
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "hardware")

SPACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reports", "examples", "sweep.json")
KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "traces", "examples")


def copy_samples(folder):
    for name in ("synthetic.json", "synthetic.csv"):
        shutil.copy(os.path.join(SAMPLES, name), os.path.join(folder, name))
    shutil.copy(SPACE, os.path.join(folder, "space.json"))
    for of in (os.path.dirname(SPACE), KERNELS):
        for name in os.listdir(of):
            shutil.copy(os.path.join(of, name), os.path.join(folder, name))


def check_file(path, env):
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy_samples(folder)
        for start, lines in blocks(path):
            if not lines or not lines[0].startswith("$ warpwatt"):
                continue
            for offset, command, expected in commands(lines):
                if not command.startswith("warpwatt"):
                    continue
                status, actual = run(command, folder, env)
                while expected and not expected[-1].strip():
                    expected.pop()
                while actual and not actual[-1].strip():
                    actual.pop()
                place = matches(expected, actual)
                error_shown = any(e.startswith("warpwatt") for e in expected)
                if place is None and (status == 0 or error_shown):
                    passed += 1
                    continue
                failed += 1
                print("%s:%d: $ %s (exit %d)" % (path, start + offset, command, status))
                if place is not None:
                    print(explain(expected, actual, place))
    return passed, failed


# What examples name and none of them makes. An example that records a CUDA program needs one that nvcc built.
PREPARE = ["warpwatt trace record -q -w kmeans -p size=small -o kmeans.wwt",
           "warpwatt trace record -q -w saxpy -p size=small -o saxpy.wwt",
           "warpwatt trace record -q -w sgemm -p size=small -o sgemm.wwt",
           "warpwatt trace record -q -w fft -p size=small -o fft.wwt",
           "warpwatt trace export accelsim kmeans.wwt -o traces",
           "warpwatt run -q --gpu v100 --trace kmeans.wwt --db r.db"]
NEEDS_CUDA = " -- ./app "
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "traces", "examples")


def help_examples(folder, env):
    """The examples of every command's help."""
    overview = run("warpwatt help", folder, env)[1]
    start = overview.index("commands:") + 1
    for line in overview[start:overview.index("", start)]:
        name = " ".join(w for w in line[:22].split())
        text = run("warpwatt help " + name, folder, env)[1]
        if "examples:" not in text:
            print("help %s: no examples" % name)
            yield "false"
            continue
        for example in text[text.index("examples:") + 1:]:
            yield example.strip()


def make_cubin(folder):
    """What the examples of disasm read; False where no ptxas can make it."""
    ptxas = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
    ptx = os.path.join(EXAMPLES, "..", "kernels", "saxpy.ptx")
    cubin = os.path.join(folder, "saxpy.cubin")
    if not ptxas or subprocess.run([ptxas, "-arch", "sm_86", "-o", cubin, ptx], check=False).returncode:
        print("help: no ptxas: examples of disasm are left out")
        return False
    shutil.copy(cubin, os.path.join(folder, "program"))
    return True


def check_help(env):
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(EXAMPLES, "softmax.ptx"), os.path.join(folder, "kernel.ptx"))
        shutil.copy(os.path.join(EXAMPLES, "softmax.json"), os.path.join(folder, "launch.json"))
        copy_samples(folder)
        os.rename(os.path.join(folder, "synthetic.json"), os.path.join(folder, "h200.json"))
        with open(os.path.join(folder, "fit.csv"), "w", encoding="utf-8") as f:
            f.write("trace,power_w\nkmeans.wwt,120\nsaxpy.wwt,150\nsgemm.wwt,180\n")
        os.rename(os.path.join(folder, "synthetic.csv"), os.path.join(folder, "m.csv"))
        with open(os.path.join(folder, "replays.csv"), "w", encoding="utf-8") as f:
            f.write("application,trace,gpu,set,cycles,energy_j\n"
                    "kmeans,kmeans.wwt,v100,,8311,3.6e-4\nsaxpy,saxpy.wwt,v100,,1690,7.4e-5\n"
                    "sgemm,sgemm.wwt,v100,,4454,2.0e-4\nkmeans,kmeans.wwt,gtx980,,9506,4.8e-4\n"
                    "saxpy,saxpy.wwt,gtx980,,3334,1.7e-4\nsgemm,sgemm.wwt,gtx980,,5711,3.1e-4\n")
        with open(os.path.join(folder, "gv100.csv"), "w", encoding="utf-8") as f:
            f.write("app,launch,kernel,hw_cycles,cycles,accelsim_cycles\nnn,0,k,1000,1100,1300\n")
        with open(os.path.join(folder, "ncu.csv"), "w", encoding="utf-8") as f:
            f.write('"ID","Process ID","Process Name","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
                    '"0","7","saxpy","saxpy(int, float)","Elapsed Cycles","cycle","3,900"\n')
        cubin = make_cubin(folder)
        for command in PREPARE + list(help_examples(folder, env)):
            if NEEDS_CUDA in command or (command.startswith("warpwatt disasm ") and not cubin):
                continue
            status, actual = run(command, folder, env)
            passed += status == 0
            failed += status != 0
            if status:
                print("help: %s (exit %d)\n    %s" % (command, status, "\n    ".join(actual[-5:])))
    return passed, failed


def main(argv):
    if len(argv) < 3 or argv[1] != "--program":
        print(__doc__)
        return 2
    program = os.path.abspath(argv[2])
    env = dict(os.environ, PATH=os.path.dirname(program) + ":" + os.environ["PATH"], LC_ALL="C.UTF-8", WARPWATT_CODE="ptx")
    passed = failed = 0
    files = argv[3:]
    if "--help-examples" in files:
        files.remove("--help-examples")
        passed, failed = check_help(env)
    for path in files:
        p, f = check_file(path, env)
        passed += p
        failed += f
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
