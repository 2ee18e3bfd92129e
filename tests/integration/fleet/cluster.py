"""A cluster on this machine: PostgreSQL, Slurm that starts one agent, a second agent beside it.
While `halmark tune --fleet` waits, the first agent is killed and the server with it; the sweep ends
with a front whose database holds.

    cluster.py HALMARK FAKE_PLUGIN MODEL    exit 77 with the reason where something is missing
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "study"))
import postgres  # noqa: E402
import slurm  # noqa: E402
from small_sweep import SWEEP, skip  # noqa: E402


def enter_namespace():
    """Again in namespaces of its own, so that nothing that listens can be reached."""
    if os.environ.get("HALMARK_IN_NAMESPACE"):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        # Slurm asks for an address that is none of loopback, and listens there.
        subprocess.run(["ip", "addr", "add", "10.99.0.1/32", "dev", "lo"], check=True)
        return
    os.environ["HALMARK_IN_NAMESPACE"] = "1"
    probe = subprocess.run(["unshare", "-n", "-m", "true"], capture_output=True)
    if probe.returncode != 0:
        skip("no namespaces here: " + probe.stderr.decode().strip())
    os.execvp("unshare", ["unshare", "-n", "-m", sys.executable, "-B", *sys.argv])


class Cluster:
    def __init__(self, halmark, plugin, model, folder, server):
        self.halmark, self.folder, self.server = halmark, pathlib.Path(folder), server
        self.url = f"postgresql://postgres@/postgres?host={server.root}"
        state = self.folder / "halmark"
        state.mkdir()
        os.environ.update(HALMARK_PLUGIN_PATH=plugin, XDG_STATE_HOME=str(state),
                          XDG_CACHE_HOME=str(state), HALMARK_FAKE_SCRIPT="latency_ns=20000000")
        (self.folder / "sweep.toml").write_text(SWEEP.format(name="cluster", model=model))

    def run(self, *words, check=True):
        done = subprocess.run([self.halmark, *words], capture_output=True, text=True,
                              cwd=self.folder)
        if check and done.returncode != 0:
            raise RuntimeError(f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(self, name, *words):
        log = open(self.folder / (name + ".log"), "wb")
        return subprocess.Popen([self.halmark, *words], stdout=log, stderr=log, cwd=self.folder)

    def agents(self):
        return json.loads(self.run("fleet", self.url, "--json"))["data"]["agents"]

    def await_agent(self, is_it, what, limit_s=180):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            for agent in self.agents():
                if is_it(agent):
                    return agent
            time.sleep(0.1)
        raise RuntimeError(f"{what}: {self.agents()}")

    def logs(self):
        return "".join(f"--- {p}\n{p.read_text(errors='replace')}"
                       for p in sorted(self.folder.glob("*.log")))


def sweep_with_faults(cluster):
    tune = cluster.start("tune", "tune", "sweep.toml", "--fleet", cluster.url)
    time.sleep(2)
    print(cluster.run("launch", cluster.url, "--slurm", "1", "--lease", "3").strip())
    first = cluster.await_agent(lambda a: a["measured"] > 0, "the agent of Slurm measures")
    second = cluster.start("second", "agent", cluster.url, "--lease", "3", "--node", "second", "--sentinel", "0",
                           "--spool", str(cluster.folder / "second.db"))
    cluster.await_agent(lambda a: a["node"] == "second" and a["measured"] > 0, "both measure")
    print(cluster.run("fleet", cluster.url))
    os.kill(first["pid"], signal.SIGKILL)
    cluster.server.kill()
    print("killed: the agent of Slurm and the server")
    time.sleep(2)
    cluster.server.restart()
    code = tune.wait(150)
    second.terminate()
    second.wait(10)
    return code


def check(cluster, code):
    print(cluster.logs())
    print(cluster.run("fleet", cluster.url))
    assert code in (0, 4), f"tune ended with {code}"
    verified = cluster.run("verify", cluster.url)
    print(verified)
    report = json.loads(cluster.run("report", "--db", cluster.url, "--json"))["data"]
    runs = json.loads(cluster.run("fleet", cluster.url, "--json"))["data"]["runs"]
    assert runs[0]["waiting"] == runs[0]["leased"] == runs[0]["failed"] == 0, runs
    assert report["front"], "the sweep has no front"
    print(f"front of {len(report['front'])} points, {runs[0]['done']} units")


def main():
    if postgres.programs() is None:
        skip("PostgreSQL is not installed")
    if reason := slurm.missing():
        skip(reason)
    enter_namespace()
    with tempfile.TemporaryDirectory(prefix="halmark-cluster-") as folder:
        os.chmod(folder, 0o755)
        with postgres.Server() as server, slurm.Slurm(folder):
            cluster = Cluster(*map(os.path.abspath, sys.argv[1:4]), folder, server)
            check(cluster, sweep_with_faults(cluster))


main()
