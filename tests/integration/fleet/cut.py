"""A cable between an agent and its server, in two network namespaces: it is cut while the agent
measures, another agent takes what the first held, and what the first measured meanwhile is
delivered once when the cable is whole again.

    cut.py HALMARK FAKE_PLUGIN MODEL    exit 77 with the reason where something is missing
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "study"))
import postgres  # noqa: E402
from small_sweep import SWEEP, skip  # noqa: E402

HERE, THERE, PORT = "10.98.0.1", "10.98.0.2", 55432


def enter_namespace():
    if os.environ.get("HALMARK_IN_NAMESPACE"):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    os.environ["HALMARK_IN_NAMESPACE"] = "1"
    probe = subprocess.run(["unshare", "-n", "true"], capture_output=True)
    if probe.returncode != 0:
        skip("no network namespaces here: " + probe.stderr.decode().strip())
    os.execvp("unshare", ["unshare", "-n", sys.executable, "-B", *sys.argv])


class Cable:
    """To a namespace of its own, in which commands can be started."""

    def __enter__(self):
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "300"])
        other = f"/proc/{self.holder.pid}/ns/net"
        end = time.monotonic() + 5
        while os.readlink(other) == os.readlink("/proc/self/ns/net"):
            if time.monotonic() > end:
                raise RuntimeError("no second namespace")
            time.sleep(0.05)
        made = subprocess.run(["ip", "link", "add", "hm0", "type", "veth", "peer", "name", "hm1",
                               "netns", str(self.holder.pid)], capture_output=True)
        if made.returncode != 0:
            self.holder.kill()
            skip("no virtual cable here: " + made.stderr.decode().strip())
        self.inside = ["nsenter", "--target", str(self.holder.pid), "--net", "--"]
        for words in (["ip", "addr", "add", HERE + "/24", "dev", "hm0"],
                      ["ip", "link", "set", "hm0", "up"],
                      [*self.inside, "ip", "addr", "add", THERE + "/24", "dev", "hm1"],
                      [*self.inside, "ip", "link", "set", "hm1", "up"]):
            subprocess.run(words, check=True)
        return self

    def set(self, state):
        subprocess.run(["ip", "link", "set", "hm0", state], check=True)

    def __exit__(self, *_):
        self.holder.kill()
        self.holder.wait()


def await_that(is_so, what, limit_s=180):
    end = time.monotonic() + limit_s
    while not is_so():
        if time.monotonic() > end:
            raise RuntimeError("did not happen: " + what)
        time.sleep(0.1)


class Fleet:
    def __init__(self, halmark, plugin, model, folder, server):
        self.halmark, self.folder, self.started = halmark, pathlib.Path(folder), []
        self.near = f"postgresql://postgres@/postgres?host={server.root}&port={PORT}"
        # Gives up on a silent server after two seconds instead of twenty.
        self.far = (f"postgresql://postgres@{HERE}:{PORT}/postgres?tcp_user_timeout=2000"
                    "&connect_timeout=2&keepalives_idle=1&keepalives_interval=1")
        os.environ.update(HALMARK_PLUGIN_PATH=plugin, XDG_STATE_HOME=str(self.folder / "state"),
                          XDG_CACHE_HOME=str(self.folder / "state"),
                          HALMARK_FAKE_SCRIPT="latency_ns=40000000;timer=device_event")
        (self.folder / "sweep.toml").write_text(SWEEP.format(name="cut", model=model))

        self.know_peaks()

    def know_peaks(self):
        """A device file without ceilings, so that nothing measures them first."""
        label = "fingerprint: "
        mine = next(c["text"][len(label):] for c in self.data("doctor")["checks"]
                    if c["text"].startswith(label))
        devices = self.folder / "state/halmark/devices"
        devices.mkdir(parents=True, exist_ok=True)
        (devices / (mine + ".toml")).write_text(
            f'id = "test-cpu"\nname = "test"\nkind = "cpu"\nfingerprint = "{mine}"\n'
            "memory_bytes = 1073741824\n")

    def start(self, name, *words, inside=()):
        log = open(self.folder / (name + ".log"), "wb")
        self.started.append(subprocess.Popen([*inside, self.halmark, *words], stdout=log,
                                             stderr=log, cwd=self.folder))
        return self.started[-1]

    def end(self):
        """Whatever a failure left running; the logs of all."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        for log in sorted(self.folder.glob("*.log")):
            print(f"--- {log.name}\n{log.read_text(errors='replace')}")

    def said(self, name, text):
        return text in (self.folder / (name + ".log")).read_text(errors="replace")

    def data(self, *words):
        done = subprocess.run([self.halmark, *words, "--json"], capture_output=True, text=True,
                              cwd=self.folder, check=True)
        return json.loads(done.stdout)["data"]

    def rows_of(self, node):
        return sum(a["measured"] for a in self.data("fleet", self.near)["agents"]
                   if a["node"] == node)

    def agent(self, node, url, **more):
        return self.start(node, "agent", url, "--lease", "3", "--sentinel", "0", "--node", node, "--spool",
                          str(self.folder / (node + ".db")), **more)


def sweep_over_a_cut(fleet, cable):
    far = fleet.agent("far", fleet.far, inside=cable.inside)
    tune = fleet.start("tune", "tune", "sweep.toml", "--fleet", fleet.near)
    # In the middle of the eight units that it holds.
    await_that(lambda: fleet.rows_of("far") % 8 in (1, 2, 3), "the far agent measures")
    cable.set("down")
    before = fleet.rows_of("far")
    began = time.monotonic()
    await_that(lambda: fleet.said("far", "rows go to"), "it keeps rows on its disk")
    spooled_s = time.monotonic() - began
    near = fleet.agent("near", fleet.near)
    await_that(lambda: fleet.rows_of("near") > 0, "the other takes over")
    cable.set("up")
    await_that(lambda: fleet.said("far", "the server is back"), "it delivers")
    code = tune.wait(120)
    for agent in (near, far):
        agent.terminate()
        agent.wait(15)
    print(f"cut behind {before} rows; rows on the disk after {spooled_s:.1f} s; far "
          f"{fleet.rows_of('far')} rows, near {fleet.rows_of('near')} rows, tune ended with {code}")
    return code


def check(fleet, code):
    assert code in (0, 4), f"tune ended with {code}"
    run = fleet.data("fleet", fleet.near)["runs"][0]
    assert run["waiting"] == run["leased"] == run["failed"] == 0, run
    assert run["done"] == fleet.rows_of("far") + fleet.rows_of("near"), run
    assert fleet.data("verify", fleet.near)["findings"] == []
    front = fleet.data("report", "--db", fleet.near)["front"]
    assert front, "the sweep has no front"


def main():
    if postgres.programs() is None:
        skip("PostgreSQL is not installed")
    enter_namespace()
    with tempfile.TemporaryDirectory(prefix="halmark-cut-") as folder, Cable() as cable:
        os.chmod(folder, 0o755)
        settings = f"-c listen_addresses={HERE} -c port={PORT}"
        with postgres.Server(settings, trusted=HERE + "/24") as server:
            fleet = Fleet(*map(os.path.abspath, sys.argv[1:4]), folder, server)
            try:
                check(fleet, sweep_over_a_cut(fleet, cable))
            finally:
                fleet.end()


main()
