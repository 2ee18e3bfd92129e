"""Halmark from Python: its commands as functions, and `halmark.Study`, which tunes any program."""
from halmark_study import Study, StudyError, Trial, __version__, program_path

from .commands import Error, Record, Result, Rows, bench, model, run, simulate, tune

__all__ = ["Error", "Record", "Result", "Rows", "Study", "StudyError", "Trial", "bench", "model", "program_path", "run",
           "simulate", "tune"]
