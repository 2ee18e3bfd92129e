"""The client of search/python, as a program that is tuned would use it.

    client.py HALMARK FOLDER VERSION|-

VERSION: the module was installed, and this is the version that it has to have.
"""
import json
import math
import os
import sys

import halmark_study
from halmark_study import Study, StudyError

HALMARK, FOLDER, VERSION = sys.argv[1:4]
os.chdir(FOLDER)

ONE = """
[[parameter]]
name = "tile"
kind = "ordinal"
values = [16, 32, 64, 128]
[[parameter]]
name = "unroll"
kind = "int"
low = 1
high = 8
[[constraint]]
name = "fits"
expression = "tile * unroll <= 512"
[[objective]]
name = "latency_ms"
"""
TWO = ONE + """
[[objective]]
name = "tokens_per_s"
direction = "maximize"
"""
for name, text in (("one.toml", ONE), ("two.toml", TWO)):
    with open(name, "w") as file:
        file.write(text)


def latency(tile, unroll):
    return abs(tile - 64) / 16 + abs(unroll - 4)


def message(call):
    try:
        call()
    except StudyError as error:
        assert "\n" not in str(error), error
        return str(error)
    raise AssertionError("no StudyError")


def one_objective():
    with Study("one.toml", storage="sqlite:///one.db", sampler="grid", seed=7,
               program=HALMARK) as study:
        assert study.name == "one"
        assert study.objectives == [{"name": "latency_ms", "direction": "minimize"}]
        assert study.best() is None and study.trials() == []
        assert study.enqueue({"tile": 128, "unroll": 4}, {"tile": 16}) == [0, 1]
        first = study.ask(2)
        assert [t.number for t in first] == [0, 1] and first[0].params == {"tile": 128, "unroll": 4}
        study.tell_failed(first[0], "out of registers")
        study.tell_infeasible(first[1].number, "slow", violations=[3.5], values=[99])
        count = 2
        for trial in study.asked():
            study.tell(trial, latency(**trial.params))
            count += 1
        assert count == 28, count  # 8 + 8 + 8 + 4 meet the constraint
        best = study.best()
        assert best.params == {"tile": 64, "unroll": 4} and best.value == 0, best
        trials = study.trials()
        assert [t.number for t in trials] == list(range(count))
        assert trials[0].state == "FAIL" and trials[0].values == []
        assert trials[1].constraints == [3.5] and trials[1].values == [99]
        assert [t.number for t in study.trials(count - 2)] == [count - 2, count - 1]
        assert study.status()["trials"] == count
        assert study.ask() == []
    with Study("one.toml", storage="sqlite:///one.db", program=HALMARK) as again:
        assert [t.params for t in again.trials()] == [t.params for t in trials]


def two_objectives():
    with Study("two.toml", name="pulls apart", seed=3, program=HALMARK) as study:
        for trial in study.asked(20):
            study.tell(trial, [latency(**trial.params),
                               trial.params["tile"] * trial.params["unroll"]])
        trials, front = study.trials(), study.front()

        def beats(a, b):
            return a.values != b.values and a.values[0] <= b.values[0] and a.values[1] >= b.values[1]

        expected = [t.number for t in trials if not any(beats(o, t) for o in trials)]
        assert [t.number for t in front] == expected, (front, expected)
        assert "2 objectives" in message(study.best)
        special = study.ask()[0]
        study.tell(special, [math.inf, 1])
        assert study.trials(special.number)[0].values == [math.inf, 1]


def errors():
    assert "no program" in message(lambda: Study("one.toml", program="no-such-halmark"))
    assert "cannot be read" in message(lambda: Study("absent.toml", program=HALMARK))
    assert "grid" in message(lambda: Study("one.toml", sampler="gird", program=HALMARK))
    assert "MySQL" in message(lambda: Study("one.toml", storage="mysql://h/d", program=HALMARK))
    study = Study("one.toml", program=HALMARK)
    assert "'ask' must be" in message(lambda: study.ask(0))
    assert "no such trial" in message(lambda: study.tell(99, 1))
    trial = study.ask()[0]
    assert "1 objectives" in message(lambda: study.tell(trial, [1, 2]))
    assert "no number" in message(lambda: study.tell(trial, math.nan))
    assert "breaks the constraint" in message(lambda: study.enqueue({"tile": 128, "unroll": 8}))
    assert "'trials' must be" in message(lambda: study.trials(-1))
    study.tell(trial, 1)  # and it goes on
    assert "already" in message(lambda: study.tell(trial, 1))
    study.close()
    study.close()
    assert "closed" in message(study.ask)
    gone = Study("one.toml", program=HALMARK)
    gone._process.kill()
    gone._process.wait()
    assert "exit code" in message(gone.ask)


def optuna_sees_the_same():
    try:
        import optuna
    except ImportError:
        return "without Optuna"
    trials = optuna.load_study(study_name="one", storage="sqlite:///one.db").trials
    with Study("one.toml", storage="sqlite:///one.db", program=HALMARK) as study:
        ours = study.trials()
    assert [(t.params, t.state.name) for t in trials] == [(t.params, t.state) for t in ours]
    assert [t.values or [] for t in trials] == [t.values for t in ours]
    return "as Optuna " + optuna.__version__ + " sees it"


if VERSION != "-":
    assert halmark_study.__version__ == VERSION, halmark_study.__version__
one_objective()
two_objectives()
errors()
print(json.dumps(halmark_study.__file__), optuna_sees_the_same(), "client ok")
