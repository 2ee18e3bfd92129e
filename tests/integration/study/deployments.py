"""Optuna opens the studies that `halmark tune` left, and proposes from them.

    deployments.py SQLITE_FILE TRIALS
"""
import sys
import warnings

warnings.filterwarnings("ignore")
import optuna

storage = "sqlite:///" + sys.argv[1]
names = optuna.study.get_all_study_names(storage)
assert len(names) == 1, names
study = optuna.load_study(study_name=names[0], storage=storage,
                          sampler=optuna.samplers.TPESampler(seed=1, n_startup_trials=1))
assert len(study.trials) == int(sys.argv[2]), study.trials
assert study.metric_names == ["latency_ms", "tokens_per_s", "memory_bytes"]
assert study.best_trials
proposed = study.ask(study.trials[0].distributions)
assert set(proposed.params) == set(study.trials[0].params)
study.tell(proposed, state=optuna.trial.TrialState.FAIL)
print("Optuna", optuna.__version__, "deployments ok")
