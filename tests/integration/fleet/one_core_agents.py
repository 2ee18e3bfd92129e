"""The same sweep of the CPU plugin by one agent and by two, each on a core of its own, in turns:
how long either takes, and whether their fronts are the same within intervals.

    one_core_agents.py HALMARK CPU_PLUGIN MODEL    exit 77 with the reason where something is missing
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "study"))
import postgres  # noqa: E402
from small_sweep import SWEEP, skip  # noqa: E402

TURNS = 2
SHARE_MAX = 0.6  # of one agent's time that two may take


def enough_work(text):
    """Some 300 trials: half a minute for one agent."""
    return (text.replace('backend = "fake"', 'backend = "cpu"').replace("rounds = 2", "rounds = 4")
            .replace("[1, 2]", "[1, 2, 4, 8, 16, 32]").replace("0.002", "0.05"))


class Fleet:
    def __init__(self, halmark, plugin, model, folder):
        self.halmark, self.folder = halmark, pathlib.Path(folder)
        os.environ.update(HALMARK_PLUGIN_PATH=plugin, XDG_STATE_HOME=str(self.folder / "state"),
                          XDG_CACHE_HOME=str(self.folder / "cache"))
        (self.folder / "sweep.toml").write_text(enough_work(SWEEP.format(name="cores", model=model)))

    def on_core(self, core, *words):
        return subprocess.Popen(["taskset", "-c", str(core), self.halmark, *words], cwd=self.folder,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sweep(self, url, cores):
        """Seconds, and the front: {configuration: (low, high)}."""
        agents = [self.on_core(core, "agent", url, "--sentinel", "0", "--node", f"core{core}", "--spool",
                               str(self.folder / f"{core}.db")) for core in cores]
        try:
            time.sleep(2)
            begin = time.monotonic()
            done = subprocess.run([self.halmark, "tune", "sweep.toml", "--fleet", url, "--json"],
                                  cwd=self.folder, capture_output=True, text=True)
            seconds = time.monotonic() - begin
        finally:
            for agent in agents:
                agent.terminate()
            for agent in agents:
                agent.wait(10)
        assert done.returncode in (0, 4), f"tune ended with {done.returncode}\n{done.stderr}"
        front = json.loads(done.stdout)["data"]["front"]
        return seconds, {p["config"]["batch"]: p["run_interval"]["ns"] for p in front}


def compare(fleet, server, cores):
    seconds = {1: [], 2: []}
    for turn in range(TURNS):
        fronts = {}
        for agents in seconds:
            url = server.database(f"sweep_{turn}_{agents}")[0]
            taken, fronts[agents] = fleet.sweep(url, cores[:agents])
            seconds[agents].append(taken)
            print(f"{agents} agents: {taken:.1f} s, front of {len(fronts[agents])}", flush=True)
        for batch in fronts[1].keys() & fronts[2].keys():
            one, two = fronts[1][batch], fronts[2][batch]
            apart = max(one[0], two[0]) / min(one[1], two[1])
            print(f"  batch {batch}: {one[0]:.0f} .. {one[1]:.0f} ns and {two[0]:.0f} .. {two[1]:.0f} ns")
            assert apart <= 1.25, f"batch {batch}: intervals are {apart:.2f} apart"
        assert fronts[1].keys() & fronts[2].keys(), fronts
    share = statistics.median(seconds[2]) / statistics.median(seconds[1])
    print(f"two agents take {share:.2f} of the time of one")
    assert share <= SHARE_MAX, f"more than {SHARE_MAX}"


def main():
    if postgres.programs() is None:
        skip("PostgreSQL is not installed")
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        skip("one core")
    with tempfile.TemporaryDirectory(prefix="halmark-cores-") as folder, postgres.Server() as server:
        fleet = Fleet(*map(os.path.abspath, sys.argv[1:4]), folder)
        assert fleet.on_core(cores[0], "peaks").wait() == 0
        compare(fleet, server, cores)


main()
