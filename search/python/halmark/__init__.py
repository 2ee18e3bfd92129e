"""Halmark from Python: `halmark.Study` tunes any program; the command `halmark` is the whole of it."""
from halmark_study import Study, StudyError, Trial, __version__, program_path

__all__ = ["Study", "StudyError", "Trial", "program_path"]
