"""A Slurm cluster on this machine, of Debian's slurm-wlm and munge: one controller and several node daemons, each
with a processor to give away, all in one folder and under a configuration of its own. Nothing outlives stop().
"""
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo", "scancel")
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

CONFIGURATION = """
ClusterName=warpwatt
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MaxArraySize={array}
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Programs that are not installed."""
    return [p for p in PROGRAMS if not shutil.which(p, path=PATH)]


def free_ports(count):
    """Ports that nobody listens on just now."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class NotUp(RuntimeError):
    """A daemon does not come up."""


class Cluster:
    """Use as a context: starts on entry, stops on exit whatever happens."""

    def __init__(self, folder, nodes=4, array=1001):
        self.folder, self.nodes, self.started = folder, ["n%d" % (i + 1) for i in range(nodes)], []
        host, ports = socket.gethostname(), free_ports(nodes + 1)
        rows = ["NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1 RealMemory=100 State=UNKNOWN"
                % (name, host, port) for name, port in zip(self.nodes, ports[1:])]
        self.conf = os.path.join(folder, "slurm.conf")
        os.makedirs(os.path.join(folder, "state"))
        for name in self.nodes:
            os.makedirs(os.path.join(folder, "spool-" + name))
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write(CONFIGURATION.format(host=host, port=ports[0], user=getpass.getuser(), folder=folder, array=array,
                                         nodes="\n".join(rows)))
        self.env = dict(os.environ, SLURM_CONF=self.conf, PATH=PATH)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def daemon(self, *argv):
        with open(os.path.join(self.folder, "daemons.log"), "ab") as log:
            p = subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                 cwd=self.folder, start_new_session=True)
        self.started.append(p)
        return p

    def start(self):
        key = os.path.join(self.folder, "munge.key")
        with open(key, "wb") as f:
            f.write(os.urandom(64))
        os.chmod(key, 0o400)
        os.chmod(self.folder, 0o755)
        place = lambda name: os.path.join(self.folder, "munge." + name)
        self.daemon("munged", "--foreground", "--force", "--socket=" + place("socket"), "--key-file=" + key,
                    "--pid-file=" + place("pid"), "--log-file=" + place("log"), "--seed-file=" + place("seed"))
        self.until("munged", lambda: os.path.exists(place("socket")), 20)
        self.daemon("slurmctld", "-D", "-c", "-f", self.conf)
        self.node = {name: self.daemon("slurmd", "-D", "-N", name, "-f", self.conf) for name in self.nodes}
        self.until("slurmd", lambda: self.ask("sinfo", "-h", "-o", "%t %D") == "idle %d" % len(self.nodes), 60)

    def until(self, what, holds, seconds):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise NotUp("%s does not come up; daemons' logs are in %s:\n%s" % (what, self.folder, self.logs()))
            time.sleep(0.2)

    def logs(self):
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".log"):
                with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as f:
                    text += "== %s\n%s" % (name, f.read()[-1500:])
        return text

    def ask(self, *argv):
        """What a program of Slurm prints, "" if it fails."""
        return subprocess.run(argv, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True).stdout.strip()

    def processes(self, *settings):
        """Processes of this cluster whose environment has these words: {number: number of the parent}."""
        wanted = [("SLURM_CONF=" + self.conf).encode()] + [s.encode() for s in settings]
        found = {}
        for name in os.listdir("/proc"):
            try:
                with open("/proc/%s/environ" % name, "rb") as f:
                    words = f.read().split(b"\0")
                with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as f:
                    parent = int(f.read().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            if all(w in words for w in wanted) and int(name) != os.getpid():
                found[int(name)] = parent
        return found

    @staticmethod
    def kill(numbers):
        for number in numbers:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def tasks(self, program):
        """Numbers of the processes of tasks that run a program."""
        return sorted(n for n in self.processes() if self.runs(n, program) and self.has(n, b"SLURM_ARRAY_TASK_ID="))

    @staticmethod
    def runs(number, program):
        try:
            return os.path.samefile("/proc/%d/exe" % number, program)
        except OSError:
            return False

    @staticmethod
    def has(number, setting):
        try:
            with open("/proc/%d/environ" % number, "rb") as f:
                return any(w.startswith(setting) for w in f.read().split(b"\0"))
        except OSError:
            return False

    def kill_node(self, name):
        """As if its power went: the daemon, what serves its tasks, and the tasks."""
        tasks = self.processes("SLURMD_NODENAME=" + name)
        ours = set(self.processes())
        self.node[name].kill()
        self.kill({p for p in tasks.values() if p in ours} | set(tasks))

    def stop(self):
        for p in reversed(self.started):
            p.kill()
            p.wait()
        for _ in range(20):
            left = self.processes()
            if not left:
                break
            self.kill(left)
            time.sleep(0.1)
