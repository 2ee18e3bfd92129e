"""The commands of Halmark as functions: each starts the program with --json and gives back its document.

    import halmark

    step = halmark.model("llama-3.1-8b", device="h200", batch=16)
    print(step.answer.tokens_per_s, step.answer.interval)
    found = halmark.tune("llama-3.3-70b", device="h100", devices=4, ttft="1s")
    found.front.to_pandas()
    found.plot()                                    # a picture in a notebook; .save("front.svg")

An option is an argument: `max_context=True` is --max-context, `price=["h100=2.5", "h200=3"]` is --price with both,
`as_="vllm"` is --as (a word of Python has a _ behind it). What there is to type is what `halmark COMMAND --help` lists;
what comes back are the keys of the document that --json prints. Nothing but the standard library is needed.
"""
import difflib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from halmark_study import StudyError, program_path


class Error(Exception):
    """What a command refused, as it says it: what, where and what to do.

    exit_code  2: the input, 3: a finding that fails a gate, 5: the machine, 1: anything else
    where      file:line:column, or None
    remedy     what to do, or None
    """

    def __init__(self, text, exit_code=1, where=None, remedy=None):
        super().__init__((f"{where}: " if where else "") + text + (f"; {remedy}" if remedy else ""))
        self.exit_code, self.where, self.remedy = exit_code, where, remedy


class Record(dict):
    """An object of a document: `record.key` is record["key"]; record["keys"] where a dict has a method of that name.

    An unknown key is an AttributeError that names the nearest.
    """

    def __getattr__(self, key):
        if key in self:
            return self[key]
        near = difflib.get_close_matches(key, self, 3) or list(self)[:12]
        raise AttributeError(f"'{key}' is no key here; there are {', '.join(near)}")

    def __dir__(self):
        return [*super().__dir__(), *self]


class Rows(list):
    """The rows of a table, each a Record."""

    def to_pandas(self):
        """A DataFrame with a column for each figure, "figures.tpot_ns"; pandas has to be installed."""
        import pandas

        return pandas.json_normalize(self)


class Result(Record):
    """The data of a document. Beside its keys:

    exit_code  0, 3 where nothing fits or a gate fails, 4 where something stays undecided
    warnings   texts
    text       the document as it was printed
    page       the report as HTML, "" where the command has none
    """

    def plot(self, number=0):
        """A picture of the report, in a notebook or by .save(FILE.svg): of a front, the first of them."""
        pictures = re.findall(r"<svg (?!class=\"key).*?</svg>", self.page, re.DOTALL)
        if not -len(pictures) <= number < len(pictures):
            raise Error(f"this report has {len(pictures)} pictures, numbered from 0")
        return Picture(pictures[number], re.search(r"<style>(.*?)</style>", self.page, re.DOTALL).group(1))


class Picture:
    """An SVG with the colours of the report it is from."""

    def __init__(self, svg, style):
        self.svg = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
        self.svg = self.svg.replace(">", f"><style>{style}</style>", 1)

    def _repr_svg_(self):
        return self.svg

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


def run(command, *words, progress=None, program="halmark", **options):
    """`halmark COMMAND WORDS --OPTIONS --json`, and its Result.

    progress  is called with each line that the program says while it works; by default they go to standard error
    program   the executable: of the package, a name on the PATH, or a path

    Raises Error with what the program says where it refuses. An interrupt ends the program as Ctrl-C does: what was
    measured stays, and the same call goes on from there.
    """
    asked = [_path(program), *command.split(), *map(str, words), *_options(options), "--json"]
    say = progress or (lambda line: print(line, file=sys.stderr))
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        process = subprocess.Popen(asked, stdout=out, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        lines = []
        try:
            for line in process.stderr:
                lines.append(line.rstrip("\n"))
                say(lines[-1])
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        finally:
            process.stderr.close()
            status = process.wait()
        out.seek(0)
        text = out.read()
    return _result(text, status, lines)


def _path(program):
    try:
        return program_path(program)
    except StudyError as error:
        raise Error(str(error), 5) from None


def _result(text, status, lines):
    try:
        document = json.loads(text, object_hook=Record)
    except ValueError:
        raise Error(lines[-1] if lines else f"no document came back (exit code {status})", status) from None
    if document.error:
        raise Error(document.error.text, status, document.error.where, document.error.remedy)
    result = Result(_rows(document.data))
    result.exit_code, result.warnings, result.text, result.page = status, document.warnings, text, ""
    return result


def _rows(value):
    """Tables, at any depth, as Rows."""
    if isinstance(value, list):
        rows = [_rows(one) for one in value]
        return Rows(rows) if all(isinstance(one, Record) for one in rows) else rows
    return Record({key: _rows(one) for key, one in value.items()}) if isinstance(value, Record) else value


def _options(options):
    out = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        out.append("--" + name.rstrip("_").replace("_", "-"))
        if value is not True:
            out += [str(one) for one in (value if isinstance(value, (list, tuple)) else [value])]
    return out


def model(name, **options):
    """What a model needs and how fast it can be: `halmark model NAME`."""
    return run("model", name, **options)


def tune(sweep, **options):
    """The front of a sweep file, a shipped sweep or a model: `halmark tune SWEEP`. Has pictures."""
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "report.html")
        result = run("tune", sweep, out=page, **options)
        if os.path.exists(page):
            with open(page, encoding="utf-8") as file:
                result.page = file.read()
    return result


def simulate(name, **options):
    """What a fabric makes of a plan: `halmark simulate NAME`; serving and plan by run("simulate serving", ...)."""
    return run("simulate", name, **options)


def bench(**options):
    """Kernels of this machine, measured: `halmark bench`."""
    return run("bench", **options)
