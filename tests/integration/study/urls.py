"""One text, two programs: Optuna and Halmark open the same study by the same URL or path.

    urls.py HALMARK FOLDER

Runs in FOLDER, so that relative paths mean the same to both. Prints what it opened.
"""
import json
import os
import subprocess
import sys
import warnings

os.environ["TZ"] = "UTC"
warnings.filterwarnings("ignore")
import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from postgres import Server, programs
from serve import SPACE, Serve, values_of

HALMARK, FOLDER = sys.argv[1:3]
os.chdir(FOLDER)
optuna.logging.set_verbosity(optuna.logging.ERROR)
with open("space.toml", "w") as space:
    space.write(SPACE)


def shown(location, name):
    done = subprocess.run([HALMARK, "study", "show", name, "--all", "--json", "--study", location],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["data"]


def serve(location):
    serving = Serve([HALMARK, "study", "serve", "space.toml", "--study", location, "--name",
                     "served", "--seed", "3"])
    trials = serving.ask(3)
    serving.tell([{"trial": t["trial"], "values": values_of(t["params"])} for t in trials])
    serving.close()
    return [t["params"] for t in trials]


def check(location, storage):
    """`location` as Halmark is given it, `storage` as Optuna is."""
    theirs = optuna.create_study(study_name="made by optuna", storage=storage)
    theirs.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=4)
    seen = shown(location, "made by optuna")["trials_all"]
    assert [t["params"] for t in seen] == [t.params for t in theirs.trials], seen
    params = serve(location)
    ours = optuna.load_study(study_name="served", storage=storage)
    assert [t.params for t in ours.trials] == params, (ours.trials, params)
    print("same study:", location if "host=" not in location else location.split("?")[0])


for url in ("sqlite:///relative.db", "sqlite:///" + os.path.join(FOLDER, "absolute.db"),
            "sqlite+pysqlite:///driver.db", "sqlite:///waits.db?timeout=30"):
    check(url, url)
assert {"relative.db", "absolute.db", "driver.db", "waits.db"} <= set(os.listdir("."))
for path in ("bare.log", "./named.log", os.path.join(FOLDER, "whole.log")):
    check(path, JournalStorage(JournalFileBackend(path)))
if len(sys.argv) > 3 and sys.argv[3] == "postgresql" and programs():
    with Server() as server:
        url = server.database("urls")[1]
        assert url.startswith("postgresql+psycopg2://")
        check(url, url)
print("Optuna", optuna.__version__, "urls ok")
