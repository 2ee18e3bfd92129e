"""Slurm on this machine alone: munged, slurmctld and slurmd of a test, in a network namespace of
their own (both daemons listen on all addresses). Settings as of Slurm 22.05, without accounting."""
import os
import pathlib
import shutil
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo", "scontrol", "unshare", "ip")

CONFIGURATION = """
ClusterName=loop
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES State=UP
"""


def missing():
    """What a machine lacks for it, or None."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    absent = [name for name in PROGRAMS if not shutil.which(name, path=path)]
    return f"not installed: {', '.join(absent)}" if absent else None


class Slurm:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.processes = []

    def __enter__(self):
        for name in ("state", "spool", "munge"):
            (self.folder / name).mkdir()
        host = socket.gethostname()
        # The name resolves to this namespace, whatever the machine's own table says.
        hosts = self.folder / "hosts"
        hosts.write_text(f"127.0.0.1 localhost {host}\n")
        subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)
        configuration = self.folder / "slurm.conf"
        configuration.write_text(
            CONFIGURATION.format(host=host, folder=self.folder, cpus=os.cpu_count()))
        os.environ["SLURM_CONF"] = str(configuration)
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        self.start_munge()
        self.start("slurmctld", "-D", "-i")
        self.start("slurmd", "-D", "-N", host)
        self.await_idle()
        return self

    def start(self, *command, **more):
        log = open(self.folder / (command[0] + ".out"), "wb")
        self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, **more))

    def start_munge(self):
        key, run = self.folder / "munge.key", self.folder / "munge"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        os.makedirs("/run/munge", exist_ok=True)
        subprocess.run(["mount", "--bind", run, "/run/munge"], check=True)
        run.chmod(0o755)
        self.start("munged", "-F", "-f", "--key-file", str(key), "--pid-file",
                   str(run / "munged.pid"), "--log-file", str(run / "log"), "--seed-file",
                   str(run / "seed"))

    def await_idle(self, limit_s=180):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            seen = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True)
            if "idle" in seen.stdout:
                return
            time.sleep(0.5)
        logs = "".join(p.read_text(errors="replace")[-2000:] for p in self.folder.glob("*.out"))
        raise RuntimeError(f"no node of Slurm became idle: {logs}")

    def __exit__(self, *_):
        subprocess.run(["scancel", "--name=halmark-agent"], check=False)
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
