"""Tune any program with Halmark's samplers: a client of `halmark study serve`.

    import halmark_study

    with halmark_study.Study("space.toml", storage="sqlite:///gemm.db", seed=7) as study:
        for trial in study.asked(100):
            study.tell(trial, measure(**trial.params))
        print(study.best())

The program `halmark` runs beside this one and is spoken to over a pipe, one JSON line to it and one
back. What is acknowledged is stored. One thread at a time may use a study; as many processes as
like may have one each of the same storage and name. Nothing but the standard library is needed.
"""
import importlib.metadata
import json
import math
import os
import shutil
import subprocess

try:
    __version__ = importlib.metadata.version("halmark")
except importlib.metadata.PackageNotFoundError:  # beside the caller, not installed
    __version__ = "not installed"
__all__ = ["Study", "StudyError", "Trial", "program_path"]


class StudyError(Exception):
    """What the server refused, or why it ended: its own line, with the way out where it has one."""


def program_path(program="halmark"):
    """Where a program of Halmark lies: in the installed package, else on the PATH; StudyError where it is absent."""
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "halmark", "program", "bin", program)
    found = shutil.which(inside) or shutil.which(program)
    if found is None:
        raise StudyError(f"there is no program '{program}': name it with program=, or put its folder in PATH")
    return found


class Trial:
    """A configuration of the study.

    number      its number in the study, from 0 on
    params      name to value, of the parameters that it has
    state       "RUNNING", "COMPLETE", "PRUNED", "FAIL" or "WAITING", as Optuna calls them
    values      one per objective, in the units that were told; empty before
    constraints amounts by which constraints are broken; feasible where none is above 0
    """

    __slots__ = ("number", "params", "state", "values", "constraints")

    def __init__(self, number, params, state="RUNNING", values=(), constraints=()):
        self.number = number
        self.params = params
        self.state = state
        self.values = [float(value) for value in values]  # "inf" and "-inf" are words in JSON
        self.constraints = list(constraints)

    @classmethod
    def _of(cls, answer):
        return cls(answer["trial"], answer["params"], answer.get("state", "RUNNING"),
                   answer.get("values", ()), answer.get("constraints", ()))

    @property
    def value(self):
        """The value of a trial with one objective."""
        if len(self.values) != 1:
            raise StudyError(f"trial {self.number} has {len(self.values)} values, not one")
        return self.values[0]

    def __repr__(self):
        return (f"Trial(number={self.number}, params={self.params}, state={self.state!r}, "
                f"values={self.values})")


class Study:
    """A study that is made where it is absent, and continued where it is there.

    space    path of the file with parameters, constraints and objectives (TOML)
    storage  where it is kept: "sqlite:///gemm.db", "journal:gemm.log", "postgresql://..."; Optuna
             opens the same. None: in memory, gone with this object
    name     of the study; None: that of the space's file
    sampler  who proposes ("auto", "random", "tpe", "nsga2", ...)
    seed     equal seeds propose equal trials
    trials   budget of the study, of all its processes together; 0 = none
    lease_s  seconds without a sign of life after which a lost process' trial is given to another
    program  the executable: of the package, a name on the PATH, or a path

    Raises StudyError with the server's line where it cannot be opened.
    """

    def __init__(self, space, *, storage=None, name=None, sampler="auto", seed=1, trials=0,
                 lease_s=60, program="halmark"):
        command = [program_path(program), "study", "serve", str(space), "--sampler", sampler, "--seed", str(seed),
                   "--trials", str(trials), "--lease", str(lease_s), "--quiet"]
        if storage is not None:
            command += ["--study", storage]
        if name is not None:
            command += ["--name", name]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True, encoding="utf-8")
        try:
            status = self.status()
        except StudyError:
            self.close()
            raise
        self.name = status["study"]
        #: One {"name": ..., "direction": "minimize" or "maximize"} per objective.
        self.objectives = status["objectives"]

    def ask(self, count=1):
        """At most `count` trials to evaluate; fewer, or none, at the end of space or budget."""
        return [Trial._of(trial) for trial in self._request("ask", count)["trials"]]

    def asked(self, count=None):
        """Trials one by one, each asked when the one before was handled; `count` at most."""
        done = 0
        while count is None or done < count:
            trials = self.ask()
            if not trials:
                return
            yield trials[0]
            done += 1

    def tell(self, trial, values):
        """The outcome of a trial, or of its number: a number, or one for each objective."""
        if isinstance(values, (int, float)):
            values = [values]
        self._tell({"trial": _number(trial), "values": [_value(value) for value in values]})

    def tell_failed(self, trial, reason):
        """It could not be evaluated; the sampler learns to stay away."""
        self._tell({"trial": _number(trial), "failed": str(reason)})

    def tell_infeasible(self, trial, reason="", violations=None, values=None):
        """It breaks a limit, by these amounts above 0; its values, where it has some."""
        why = {"reason": str(reason)}
        if violations is not None:
            why["violations"] = [float(amount) for amount in violations]
        if values is not None:
            why["values"] = [_value(value) for value in values]
        self._tell({"trial": _number(trial), "infeasible": why})

    def enqueue(self, *settings):
        """Puts configurations in front, whole or in part (dicts); their numbers."""
        return self._request("enqueue", list(settings))["trials"]

    def status(self):
        """Counts: trials, those running here, those that are no points of this space."""
        return self._request("status", True)

    def trials(self, first=0):
        """Every trial of the study from the number `first` on, whoever ran it."""
        return [Trial._of(trial) for trial in self._request("trials", first)["trials"]]

    def front(self):
        """The feasible trials that no other one beats in all objectives."""
        return [Trial._of(trial) for trial in self._request("front", True)["trials"]]

    def best(self):
        """The best trial of a study with one objective; None before the first complete one."""
        if len(self.objectives) != 1:
            raise StudyError(f"study '{self.name}' has {len(self.objectives)} objectives: ask for "
                             "front()")
        front = self.front()
        return front[0] if front else None

    def close(self):
        """Ends the session; what was asked and not told is given back. May be called twice."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _tell(self, outcome):
        self._request("tell", [outcome])

    def _request(self, verb, body):
        if self._process is None:
            raise StudyError("this study is closed")
        try:
            self._process.stdin.write(json.dumps({verb: body}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise StudyError(self._last_words())
        answer = json.loads(line)
        if "error" in answer:
            raise StudyError(answer["error"])
        return answer

    def _last_words(self):
        process, self._process = self._process, None
        try:
            _, err = process.communicate()
        except BrokenPipeError:  # what was written last reached nobody
            err = process.stderr.read()
            process.wait()
        lines = err.strip().splitlines()
        return lines[-1] if lines else f"the server ended with exit code {process.returncode}"


def _number(trial):
    return trial.number if isinstance(trial, Trial) else int(trial)


def _value(value):
    value = float(value)
    if math.isnan(value):
        raise StudyError("a value is no number; tell the trial as failed")
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
