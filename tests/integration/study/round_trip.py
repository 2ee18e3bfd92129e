"""Optuna opens and continues a study of Halmark's, and Halmark one of Optuna's.

    round_trip.py HALMARK FOLDER sqlite|journal|postgresql
"""
import json
import math
import os
import subprocess
import sys
import warnings

os.environ["TZ"] = "UTC"
warnings.filterwarnings("ignore")
import optuna

from postgres import Server
from serve import SPACE, Serve, values_of

HALMARK, FOLDER, KIND = sys.argv[1:4]
optuna.logging.set_verbosity(optuna.logging.WARNING)
VERSION = int(optuna.__version__.split(".")[0])
NAMES = ["memory", "power"]


class Place:
    """One place of studies, as Halmark names it and as Optuna opens it."""

    def __init__(self, name, server=None):
        path = os.path.join(FOLDER, name)
        if KIND == "sqlite":
            self.location, self.storage = "sqlite:" + path, lambda: "sqlite:///" + path
        elif KIND == "journal":
            self.location, self.storage = "journal:" + path, lambda: journal(path)
        else:
            self.location, url = server.database(name)
            self.storage = lambda: url


def journal(path):
    try:
        from optuna.storages.journal import JournalFileBackend
    except ImportError:
        from optuna.storages import JournalFileStorage as JournalFileBackend
    return optuna.storages.JournalStorage(JournalFileBackend(path))


def serve(place, *more):
    space = os.path.join(FOLDER, "space.toml")
    with open(space, "w") as file:
        file.write(SPACE)
    return Serve([HALMARK, "study", "serve", space, "--study", place.location, "--name", "s",
                  "--sampler", "nsga2", *more])


def halmark(*arguments):
    done = subprocess.run([HALMARK, "study", *arguments, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["data"]


def tune(serving, trials):
    for trial in serving.ask(trials):
        serving.tell([{"trial": trial["trial"], "values": values_of(trial["params"])}])


def distributions():
    from optuna.distributions import (CategoricalDistribution, FloatDistribution, IntDistribution)
    return {"strategy": CategoricalDistribution(["data", "tensor", True, 3, 0.5]),
            "tile": CategoricalDistribution([16, 32, 64, 128]),
            "threads": IntDistribution(1, 9, step=2),
            "fraction": FloatDistribution(0.25, 0.75, step=0.25)}


def optuna_objective(trial):
    params = {"strategy": trial.suggest_categorical("strategy", ["data", "tensor", True, 3, 0.5]),
              "tile": trial.suggest_categorical("tile", [16, 32, 64, 128]),
              "threads": trial.suggest_int("threads", 1, 9, step=2),
              "fraction": trial.suggest_float("fraction", 0.25, 0.75, step=0.25)}
    if params["strategy"] == "tensor":
        params["cache"] = trial.suggest_int("cache", 1, 64, log=True)
    return values_of(params)


def optuna_continues(place):
    first = serve(place, "--seed", "3")
    tune(first, 30)
    special = first.ask(4)
    first.tell([{"trial": special[0]["trial"], "values": ["inf", 1]},
                {"trial": special[1]["trial"], "failed": "it crashed"},
                {"trial": special[2]["trial"],
                 "infeasible": {"reason": "KV cache short by 3.1 GiB", "violations": [3.1]}},
                {"trial": special[3]["trial"],
                 "infeasible": {"reason": "slow", "violations": [2], "values": [500, 1]}}])
    first.close()

    study = optuna.load_study(study_name="s", storage=place.storage())
    assert [d.name for d in study.directions] == ["MINIMIZE", "MAXIMIZE"]
    assert study.metric_names == ["latency_ms", "tokens_per_s"]
    assert [t.number for t in study.trials] == list(range(34))
    for trial in study.trials[:30]:
        assert trial.state.name == "COMPLETE" and trial.values == values_of(trial.params)
        assert ("cache" in trial.params) == (trial.params["strategy"] == "tensor")
        assert trial.params["tile"] * trial.params["threads"] <= 512
        assert trial.datetime_start <= trial.datetime_complete
    states = [t.state.name for t in study.trials[30:]]
    assert states == ["COMPLETE", "FAIL", "PRUNED", "PRUNED"], states
    assert study.trials[30].values == [math.inf, 1]
    assert study.trials[31].user_attrs["halmark:failed"] == "it crashed"
    assert study.trials[32].user_attrs["halmark:violations"] == [3.1]
    assert study.trials[33].values == [500, 1]
    assert all("constraints" not in t.system_attrs for t in study.trials), "one with some, and those without are infeasible"
    shown = halmark("show", "s", "--study", place.location)
    if VERSION >= 4:
        best, front = {t.number for t in study.best_trials}, {t["trial"] for t in shown["front"]}
        assert best == front, (best, front)

    # Before Optuna 5 its TPE reads values of pruned trials that have several objectives.
    feasible = {} if VERSION >= 5 else {"constraints_func": lambda trial: [0]}
    for sampler in (optuna.samplers.TPESampler(seed=1, **feasible),
                    optuna.samplers.NSGAIISampler(seed=1)):
        study = optuna.load_study(study_name="s", storage=place.storage(), sampler=sampler)
        study.optimize(optuna_objective, n_trials=8)
        asked = study.ask(distributions())
        study.tell(asked, [1, 2])
    assert [t.number for t in study.trials] == list(range(52))

    second = serve(place, "--seed", "3")
    before = [t.params for t in study.trials]
    news = second.ask(20)
    assert [t["trial"] for t in news] == list(range(52, 72))
    assert all(t["params"] not in before for t in news), "proposed again"
    second.tell([{"trial": t["trial"], "values": values_of(t["params"])} for t in news])
    second.close()
    study = optuna.load_study(study_name="s", storage=place.storage())
    assert [t.values for t in study.trials[52:]] == [values_of(t["params"]) for t in news]


def halmark_continues(place):
    study = optuna.create_study(study_name="s", storage=place.storage(),
                                directions=["minimize", "maximize"],
                                sampler=optuna.samplers.NSGAIISampler(seed=2))
    study.optimize(optuna_objective, n_trials=20)
    asked = study.ask(distributions())
    study.tell(asked, state=optuna.trial.TrialState.FAIL)
    study.tell(study.ask(distributions()), [math.inf, -math.inf])
    running = study.ask(distributions())
    wanted = {"strategy": 3, "tile": 128, "threads": 3, "fraction": 0.5}
    study.enqueue_trial(wanted, user_attrs={"from": "a person"})

    shown = halmark("show", "s", "--all", "--study", place.location)
    assert shown["trials"] == 24 and shown["states"]["WAITING"] == 1, shown
    for theirs, ours in zip(study.trials[:20], shown["trials_all"]):
        assert theirs.params == ours["params"] and theirs.values == ours["values"]
    assert shown["trials_all"][21]["values"] == ["inf", "-inf"]

    serving = serve(place, "--seed", "3")
    news = serving.ask(10)
    enqueued_is_free = wanted not in [t.params for t in study.trials[:23]]
    if enqueued_is_free:
        assert news[0] == {"trial": 23, "params": wanted}, news[0]
    seen = [t.params for t in study.trials[:23]]
    assert all(t["params"] not in seen for t in news), "proposed again"
    serving.tell([{"trial": t["trial"], "values": values_of(t["params"])} for t in news])
    serving.close()
    study.tell(running, [1, 2])
    study = optuna.load_study(study_name="s", storage=place.storage())
    assert [t.number for t in study.trials] == list(range(len(study.trials)))
    assert study.trials[23].user_attrs["from"] == "a person"
    assert ("halmark:failed" in study.trials[23].user_attrs) != enqueued_is_free
    assert study.trials[22].values == [1, 2]
    study.optimize(optuna_objective, n_trials=5)


def constrained_objective(trial):
    values = optuna_objective(trial)
    trial.set_constraint(NAMES[0], trial.params["tile"] - 64.0)
    trial.set_constraint(NAMES[1], -1.0)
    return values


def states_of_constraints(study):
    """What each complete trial states, in its order: GPSampler compares them by place."""
    return {tuple(trial.constraints) for trial in study.trials
            if trial.state == optuna.trial.TrialState.COMPLETE}


def samplers_continue(server, objective, names, first):
    """Optuna's samplers go on with a study that Halmark continued after `first` trials of theirs."""
    samplers = {"tpe": lambda: optuna.samplers.TPESampler(seed=1, n_startup_trials=4),
                "nsga2": lambda: optuna.samplers.NSGAIISampler(seed=1, population_size=6)}
    try:
        import torch  # noqa: F401
        samplers["gp"] = lambda: optuna.samplers.GPSampler(seed=1, n_startup_trials=4)
    except ImportError:
        print("GPSampler left out: there is no torch")
    for name, sampler in samplers.items():
        place = Place(f"{name}_{len(names)}_{first}", server)
        study = optuna.create_study(study_name="s", storage=place.storage(),
                                    directions=["minimize", "maximize"], sampler=sampler())
        study.optimize(objective, n_trials=first)
        serving = serve(place, "--seed", "3")
        tune(serving, 6)
        slow, large, lost = serving.ask(3)
        serving.tell([
            {"trial": slow["trial"],
             "infeasible": {"reason": "slow", "violations": [2], "values": [500, 1]}},
            {"trial": large["trial"], "infeasible": {"reason": "too large", "violations": [3]}},
            {"trial": lost["trial"], "failed": "it crashed"}])
        serving.close()
        study = optuna.load_study(study_name="s", storage=place.storage(), sampler=sampler())
        assert states_of_constraints(study) == {tuple(names)}, states_of_constraints(study)
        told = study.trials[slow["trial"]]
        assert told.values == [500, 1] and sum(told.constraints.values()) == (2 if names else 0), told
        assert told.number not in [t.number for t in study.best_trials]
        before = len(study.trials)
        study.optimize(objective, n_trials=4)
        assert len(study.trials) == before + 4
        assert states_of_constraints(study) == {tuple(names)}
        again = serve(place, "--seed", "4")
        tune(again, 2)
        again.close()
        study = optuna.load_study(study_name="s", storage=place.storage())
        assert states_of_constraints(study) == {tuple(names)}


def copies_agree(place, server):
    """Whatever way a study takes between the storages, Optuna sees the same trials."""
    there = Place("copy", server)
    file = "journal:" + os.path.join(FOLDER, "way.log")
    halmark("export", "s", "--study", place.location, "--to", file)
    halmark("import", file, "--study", there.location, "--as", "again")

    def facts(place, name):
        study = optuna.load_study(study_name=name, storage=place.storage())
        return [(t.number, t.state, t.values, t.params, t.distributions, t.user_attrs,
                 t.system_attrs, t.datetime_start, t.datetime_complete) for t in study.trials]

    assert facts(place, "s") == facts(there, "again")


def tables(location):
    """What a database is made of, in words that do not depend on who made it."""
    import sqlalchemy
    inspector = sqlalchemy.inspect(sqlalchemy.create_engine(location))
    out = {}
    for table in inspector.get_table_names():
        out[table] = (
            [(c["name"], str(c["type"]), c["nullable"]) for c in inspector.get_columns(table)],
            inspector.get_pk_constraint(table)["constrained_columns"],
            sorted((tuple(f["constrained_columns"]), f["referred_table"])
                   for f in inspector.get_foreign_keys(table)),
            sorted(tuple(u["column_names"]) for u in inspector.get_unique_constraints(table)),
            sorted((i["name"], tuple(i["column_names"]), bool(i["unique"]))
                   for i in inspector.get_indexes(table) if i["name"].startswith("ix_")))
    if location.startswith("postgresql"):
        out["enums"] = sorted((e["name"], tuple(e["labels"])) for e in inspector.get_enums())
    return out


def main(server=None):
    ours, theirs = Place("ours", server), Place("theirs", server)
    optuna_continues(ours)
    halmark_continues(theirs)
    copies_agree(ours, server)
    if VERSION >= 5:
        samplers_continue(server, optuna_objective, [], 0)
        samplers_continue(server, optuna_objective, [], 8)
        samplers_continue(server, constrained_objective, NAMES, 8)
    if KIND != "journal":
        assert tables(ours.storage()) == tables(theirs.storage())
    print("Optuna", optuna.__version__, KIND, "ok")


if KIND == "postgresql":
    with Server() as running_server:
        main(running_server)
else:
    main()
