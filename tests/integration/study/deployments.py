"""Optuna opens the studies that `halmark tune` left, and proposes from them.

    deployments.py SQLITE_FILE TRIALS
"""
import datetime
import os
import sys
import warnings

warnings.filterwarnings("ignore")
import optuna

storage = "sqlite:///" + sys.argv[1]
written = datetime.datetime.utcfromtimestamp(os.path.getmtime(sys.argv[1]))
names = optuna.study.get_all_study_names(storage)
assert len(names) == 1, names
study = optuna.load_study(study_name=names[0], storage=storage,
                          sampler=optuna.samplers.TPESampler(seed=1, n_startup_trials=1))
assert len(study.trials) == int(sys.argv[2]), study.trials
assert study.metric_names == ["latency_ms", "tokens_per_s", "memory_bytes"]
assert study.best_trials
for trial in study.trials:
    # What was not searched is no parameter.
    assert set(trial.params) == {"batch"}, trial.params
    assert trial.user_attrs["dtype"] == "f32" and trial.user_attrs["context"] == 32
    assert trial.user_attrs["tp"] == 1 and "batch" not in trial.user_attrs
    # From the first to the last measurement of its kernels, and not the instant of writing.
    assert trial.duration.total_seconds() > 0, trial
    assert trial.datetime_complete <= written, (trial.datetime_complete, written)
proposed = study.ask(study.trials[0].distributions)
assert set(proposed.params) == set(study.trials[0].params)
study.tell(proposed, state=optuna.trial.TrialState.FAIL)
print("Optuna", optuna.__version__, "deployments ok")
