"""Samplers of Optuna steer `halmark tune`, which evaluates what they propose.

    steer.py HALMARK FOLDER SWEEP sqlite|journal|postgresql nsga2|tpe|served|two

nsga2  asks generations, marks their trials, and waits for their outcomes
tpe    enqueues what a sampler of a study of its own asked, and tells that sampler
served  TPE with constraints on a space of which some parameters exist at times only
two    two halmarks evaluate one study, and one of them is killed

Every outcome is held against a run of the same sweep without steering.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings

os.environ["TZ"] = "UTC"
warnings.filterwarnings("ignore")
import optuna
from optuna.trial import TrialState

from postgres import Server

HALMARK, FOLDER, SWEEP, KIND, MODE = sys.argv[1:6]
os.chdir(FOLDER)
optuna.logging.set_verbosity(optuna.logging.ERROR)


def storage_of(location):
    if KIND != "journal":
        return location
    from optuna.storages.journal import JournalFileBackend
    return optuna.storages.JournalStorage(JournalFileBackend(location))


def tune(database, *more):
    return subprocess.Popen([HALMARK, "tune", SWEEP, "--db", database, "--json", *more],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def steered(location, number=0):
    return tune(f"steered{number}.db", "--proposals", location, "--proposals-study", "s",
                "--proposals-wait", "90")


def ended(process, code=0):
    out, err = process.communicate(timeout=200)
    assert process.returncode == code, (process.returncode, out, err)
    return json.loads(out)["data"]


def until(condition, process, seconds=120):
    """Fails when the process ends or the time is over first."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.05)


def opened(location, process, sampler):
    """The study that halmark made, with the distributions that it states."""
    storage = storage_of(location)

    def is_there():
        try:
            study = optuna.load_study(study_name="s", storage=storage)
        except KeyError:
            return False
        return "halmark:space" in study.user_attrs

    until(is_there, process)
    study = optuna.load_study(study_name="s", storage=storage, sampler=sampler)
    space = study.user_attrs["halmark:space"]
    distributions = {name: optuna.distributions.json_to_distribution(json.dumps(text))
                     for name, text in space["parameters"].items()}
    return study, distributions, space


def is_finished(study, numbers):
    trials = study.get_trials(deepcopy=False)
    return all(trials[n].state.is_finished() for n in numbers)


def truth():
    """Values by configuration, of a run that nobody steers."""
    ended(tune("grid.db", "--sampler", "grid"))
    out = {}
    for name in optuna.study.get_all_study_names("sqlite:///grid.db.study"):
        for trial in optuna.load_study(study_name=name, storage="sqlite:///grid.db.study").trials:
            out[trial.user_attrs["halmark:deployment"]] = (trial.state, trial.values)
    return out


def check(study, expected, exactly):
    complete = [t for t in study.trials if t.state == TrialState.COMPLETE]
    assert complete
    for trial in complete:
        state, values = expected[trial.user_attrs["halmark:deployment"]]
        assert state == TrialState.COMPLETE and len(values) == len(trial.values)
        if exactly:
            assert trial.values == values, (trial.values, values)
        assert trial.datetime_start < trial.datetime_complete
        assert "constraints" not in trial.system_attrs  # no level could be missed
    for trial in study.trials:
        assert trial.duration is not None and trial.duration.total_seconds() >= 0
        assert trial.state != TrialState.PRUNED  # TPE cannot read one of several objectives
        if "constraints" in trial.system_attrs and trial.state == TrialState.FAIL:
            assert trial.params
            assert trial.user_attrs["halmark:infeasible"]
            assert trial.system_attrs["constraints"][0] > 0
    return complete


def constraints(trial):
    return trial.system_attrs.get(
        "constraints", [0.0 if trial.state == TrialState.COMPLETE else 1.0])


def nsga2(location):
    process = steered(location)
    sampler = optuna.samplers.NSGAIISampler(population_size=8, seed=3, constraints_func=constraints)
    study, distributions, space = opened(location, process, sampler)
    assert all(name not in distributions for name in space["constants"])
    for _ in range(8):
        asked = [study.ask(distributions) for _ in range(8)]
        for trial in asked:
            trial.set_user_attr("halmark:evaluate", True)
        until(lambda: is_finished(study, [t.number for t in asked]), process)
    study.set_user_attr("halmark:stop", True)
    data = ended(process)
    complete = check(study, truth(), exactly=True)
    generations = {value for trial in complete for key, value in trial.system_attrs.items()
                   if key.endswith("generation")}
    assert len(generations) > 1, generations  # it has parents that Halmark evaluated
    assert study.best_trials
    configurations = {t.user_attrs["halmark:deployment"] for t in complete}
    print(len(study.trials), "trials,", len(configurations), "configurations,",
          max(generations), "generations")
    assert any("proposals: " in line for line in data.get("notes", []) + data.get("basis", [])), data


def tpe(location):
    process = steered(location)
    work, distributions, _ = opened(location, process, None)
    mind = optuna.create_study(directions=work.directions,
                               sampler=optuna.samplers.TPESampler(seed=1, n_startup_trials=3))
    seen = []
    for _ in range(8):
        asked = mind.ask(distributions)
        before = len(work.trials)
        work.enqueue_trial(asked.params, user_attrs={"asked": asked.number})
        until(lambda: is_finished(work, [before]), process)
        done = work.trials[before]
        assert done.params == asked.params and done.user_attrs["asked"] == asked.number
        if done.state == TrialState.COMPLETE:
            mind.tell(asked, done.values)
            seen.append(done.number)
        else:
            mind.tell(asked, state=TrialState.FAIL)
    assert seen
    first = next(iter(distributions))
    work.enqueue_trial({**work.trials[seen[0]].params, first: 12345})
    work.enqueue_trial({"nonsense": 1})
    numbers = [len(work.trials) - 2, len(work.trials) - 1]
    until(lambda: is_finished(work, numbers), process)
    wrong, unknown = (work.trials[n] for n in numbers)
    assert wrong.state == unknown.state == TrialState.FAIL
    assert wrong.user_attrs["halmark:failed"] == f"'{first}' cannot be 12345", wrong.user_attrs
    assert "nonsense" in unknown.user_attrs["halmark:failed"]
    work.set_user_attr("halmark:stop", True)
    ended(process)
    check(work, truth(), exactly=False)  # measured twice
    spans = [work.trials[n].duration.total_seconds() for n in seen]
    print(len(seen), "trials, longest", max(spans), "s")


def served(location):
    process = steered(location)
    sampler = optuna.samplers.TPESampler(seed=1, n_startup_trials=20, constraints_func=constraints)
    study, distributions, space = opened(location, process, sampler)
    assert space["when"] and space["constraints"]
    for _ in range(8):
        asked = [study.ask(distributions) for _ in range(10)]
        for trial in asked:
            trial.set_user_attr("halmark:evaluate", True)
        until(lambda: is_finished(study, [t.number for t in asked]), process)
    study.set_user_attr("halmark:stop", True)
    ended(process)
    complete = check(study, truth(), exactly=True)
    print(len(complete), "of", len(study.trials), "complete")


def two(location):
    processes = [steered(location, n) for n in range(2)]
    study, distributions, _ = opened(location, processes[0], None)
    expected = truth()
    generator = random.Random(5)
    for turn in range(12):
        for _ in range(16):
            study.enqueue_trial({name: generator.choice(d.choices)
                                 for name, d in distributions.items()})
        if turn == 6:
            processes[1].send_signal(signal.SIGKILL)
    until(lambda: is_finished(study, range(12 * 16)), processes[0])
    study.set_user_attr("halmark:stop", True)
    ended(processes[0])
    processes[1].communicate()
    complete = check(study, expected, exactly=True)
    workers = {json.dumps(t.system_attrs["halmark:worker"]) for t in complete}
    print(len(complete), "complete by", len(workers), "processes")


def main(location):
    storage = storage_of(location)
    if KIND != "journal":
        optuna.storages.RDBStorage(storage)  # makes the tables, which two should not at once
    {"nsga2": nsga2, "tpe": tpe, "served": served, "two": two}[MODE](location)
    print("Optuna", optuna.__version__, KIND, MODE, "ok")


if KIND == "postgresql":
    with Server() as server:
        main(server.database("steer")[1])
else:
    main("sqlite:///steer.db" if KIND == "sqlite" else "steer.log")
