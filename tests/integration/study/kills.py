"""Kills `halmark study serve` at random instants, and runs several at once.

    kills.py HALMARK FOLDER sqlite|journal SEED KILLS
"""
import json
import os
import random
import subprocess
import sys
import threading
import time

from serve import SPACE, Serve, values_of

HALMARK, FOLDER, KIND = sys.argv[1:4]
SEED, KILLS = int(sys.argv[4]), int(sys.argv[5])
RANDOM = random.Random(SEED)


def command(name, *more):
    space = os.path.join(FOLDER, "space.toml")
    with open(space, "w") as file:
        file.write(SPACE)
    return [HALMARK, "study", "serve", space, "--study", f"{KIND}:{FOLDER}/{name}", "--name", "s",
            "--sampler", "nsga2", "--seed", "5", "--quiet", *more]


def rows(name):
    done = subprocess.run([HALMARK, "study", "show", "--all", "--json", "--study",
                           f"{KIND}:{FOLDER}/{name}"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["data"]["trials_all"]


def step(serving):
    """One trial; its parameters, or None at the end of the space."""
    trials = serving.ask(1)
    if not trials:
        return None
    serving.tell([{"trial": trials[0]["trial"], "values": values_of(trials[0]["params"])}])
    return trials[0]


def killed_and_resumed():
    """With one worker, the same proposals as without a kill, and nothing acknowledged is lost."""
    wanted = 4 * KILLS
    whole = Serve(command("whole"))
    expected = [step(whole)["params"] for _ in range(wanted)]
    whole.close()
    told = {}
    for _ in range(KILLS):
        serving = Serve(command("killed"))
        timer = threading.Timer(RANDOM.uniform(0.0, 0.08), serving.process.kill)
        timer.start()
        try:
            while True:
                trial = step(serving)
                told[trial["trial"]] = trial["params"]
        except (RuntimeError, OSError, ValueError):
            pass
        timer.join()
        serving.process.communicate()
    serving = Serve(command("killed"))
    while len(told) < wanted:
        trial = step(serving)
        told[trial["trial"]] = trial["params"]
    serving.close()
    stored = rows("killed")
    assert [row["trial"] for row in stored] == list(range(len(stored)))
    lost = [n for n in told if stored[n]["state"] != "COMPLETE"]
    assert not lost, f"acknowledged and lost: {lost}"
    twice = [row["trial"] for row in stored if row["state"] == "FAIL"]
    if not twice:  # a trial whose worker was killed twice is given up, which changes what follows
        got = [row["params"] for row in stored[:wanted]]
        assert got == expected, next((i, a, b) for i, (a, b) in enumerate(zip(got, expected)) if a != b)
    print(f"{KILLS} kills, {len(told)} trials told, {len(twice)} given up")


def many_workers():
    """Eight at once, some killed: every configuration once, every trial told once."""
    trials, lock = [], threading.Lock()

    def work(index):
        for life in range(2):
            serving = Serve(command("shared", "--lease", "3"))
            deadline = time.monotonic() + RANDOM.uniform(0.2, 1.0)
            while True:
                trial = serving.ask(1)
                if not trial:
                    break
                if life == 0 and index % 2 == 0 and time.monotonic() > deadline:
                    serving.process.kill()  # with a trial in its hands
                    break
                serving.tell([{"trial": trial[0]["trial"],
                               "values": values_of(trial[0]["params"])}])
                with lock:
                    trials.append(trial[0]["trial"])
                if len(trials) > 300:
                    break
            serving.process.communicate()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = rows("shared")
    assert [row["trial"] for row in stored] == list(range(len(stored)))
    params = [json.dumps(row["params"], sort_keys=True) for row in stored]
    assert len(set(params)) == len(params), "a configuration was proposed twice"
    assert len(set(trials)) == len(trials), "a trial was told twice"
    states = [row["state"] for row in stored]
    assert states.count("COMPLETE") == len(trials)
    print(f"8 workers, {len(trials)} trials, {states.count('RUNNING')} left running")


killed_and_resumed()
many_workers()
