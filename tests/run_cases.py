#!/usr/bin/env python3
"""Runs the cases of one GoogleTest program, or a part of them, in one process, as one entry of ctest.

    run_cases.py --name NAME --results FOLDER [--only PATTERN...] [--leave PATTERN...] [--limit SECONDS]
                 [--tries N] -- PROGRAM [ARGUMENT...]

A case that hangs or crashes is named, and those behind it run in a new process. FOLDER/NAME.xml is a JUnit file of
every case. --tries 3: a failed case runs again alone, twice at most (measuring cases alone: a busy neighbour may spoil
them; a time-out is not tried again). --whole: the program is one case of its own, which skips with 77.
Ends with 0, or with 1 when a case failed or a pattern of --only matches none.
"""
import argparse
import dataclasses
import fnmatch
import os
import pathlib
import re
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

told = re.compile(r"\[ *(RUN|OK|FAILED|SKIPPED) *\] ([\w/]+\.[\w/]+)")
skip_status = 77


@dataclasses.dataclass
class Case:
    name: str
    outcome: str = "running"  # then passed, failed, skipped, crashed, hung
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of the program and of what it started and waited for
    output: str = ""
    tries: int = 1

    def is_bad(self):
        return self.outcome in ("failed", "crashed", "hung")


def cpu_of(pid):
    """CPU seconds of a process and of the children that it waited for; 0 where it is gone."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


class Run:
    """One process of the program: reads which case runs, and ends it when one takes too long."""

    def __init__(self, command, limit_s):
        self.cases, self.current, self.loose, self.limit_s = [], None, [], limit_s
        self.begin, self.cpu_begin = time.monotonic(), 0.0
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                        start_new_session=True)
        try:
            self.status = self.read()
        finally:
            self.end()

    def read(self):
        pipe, rest = self.process.stdout, b""
        os.set_blocking(pipe.fileno(), False)
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                selector.select(0.5)
                is_over = self.process.poll() is not None  # asked before reading: what it wrote is read below
                piece = pipe.read() or b""
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    self.hear(line.decode(errors="replace"))
                if is_over or (not piece and self.is_late()):
                    break
        if rest:
            self.hear(rest.decode(errors="replace"))
        if self.process.poll() is None:
            self.finish("hung", f"it did not end within {self.limit_s:g} s")
            return None
        status = self.process.returncode
        if self.current:
            how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
            self.finish("crashed", f"the program ended inside it: {how}")
        return status

    def is_late(self):
        return time.monotonic() - self.begin > self.limit_s

    def hear(self, line):
        found = told.search(line)
        if not found:
            (self.loose if self.current is None else self.lines).append(line)
            return
        word, name = found[1], found[2]
        if word == "RUN":
            self.current, self.lines, self.begin = Case(name), [], time.monotonic()
            self.cpu_begin = cpu_of(self.process.pid)
        elif self.current is not None and name == self.current.name:
            outcome = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}.get(word)
            if outcome:
                self.lines.append(line[:found.start()])
                self.finish(outcome)

    def finish(self, outcome, reason=""):
        case = self.current or Case("no_case.begins")
        lines = [*(self.lines if self.current else self.loose), *([reason] if reason else [])]
        case.outcome, case.seconds = outcome, time.monotonic() - self.begin
        case.cpu_seconds = max(0.0, cpu_of(self.process.pid) - self.cpu_begin)
        case.output = "\n".join(line for line in lines if line)
        self.cases.append(case)
        self.current, self.begin = None, time.monotonic()

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # what it left behind goes with it
        except ProcessLookupError:
            pass
        self.process.wait()


def listed(command):
    """The cases that the program would run."""
    out, suite = [], ""
    for line in subprocess.run([*command, "--gtest_list_tests"], capture_output=True, text=True, check=False).stdout.splitlines():
        line = line.split("#")[0].rstrip()
        if line.startswith("  "):
            out.append(suite + line.strip())
        elif line.endswith("."):
            suite = line.strip()
    return out


def run_program(command, only, leave, limit_s):
    """Every case with its outcome; a process more for each that ended its own."""
    def filtered(text):
        flags.seek(0)
        flags.truncate()
        flags.write(f"--gtest_filter={text}\n")  # a file: the names of a large program are too long for an argument
        flags.flush()
        return [*command, f"--gtest_flagfile={flags.name}"]

    wanted = ":".join(only or ["*"]) + ("-" + ":".join(leave) if leave else "")
    done, left = [], wanted
    with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
        while left:
            run = Run(filtered(left), limit_s)
            done += run.cases
            if not run.cases or run.cases[-1].outcome not in ("crashed", "hung"):
                if run.status == 0 or (run.status == 1 and any(case.is_bad() for case in run.cases)):
                    break
                # Before its first case, between two or behind the last.
                done.append(Case("no_case.runs", "crashed", output="\n".join([*run.loose[-40:], f"exit status {run.status}"])))
            known = {case.name for case in done}
            left = ":".join(name for name in listed(filtered(wanted)) if name not in known) if run.cases else ""
    return done


def run_whole(command, name, limit_s):
    """The program as one case: 0 passed, 77 skipped."""
    run = Run(command, limit_s)
    if run.status is None:
        return [dataclasses.replace(run.cases[-1], name=name)]
    outcome = {0: "passed", skip_status: "skipped"}.get(run.status, "failed")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return [Case(name, outcome, time.monotonic() - run.begin, used.ru_utime + used.ru_stime, "\n".join(run.loose))]


def tried_again(case, once, tries):
    """The failed case, alone, until it passes or has been tried so often; a time-out stands."""
    while case.outcome in ("failed", "crashed") and case.tries < tries:
        again = next(iter(once(case.name)), None)
        if again is None:
            break
        case = dataclasses.replace(again, tries=case.tries + 1,
                                   output=f"{again.output}\nthe try before:\n{case.output}" if again.is_bad() else again.output)
    return case


def write_junit(path, name, cases):
    suite = xml.Element("testsuite", name=name, tests=str(len(cases)), time=f"{sum(c.seconds for c in cases):.3f}",
                        failures=str(sum(c.is_bad() for c in cases)), skipped=str(sum(c.outcome == "skipped" for c in cases)))
    for case in cases:
        of_suite, _, of_case = case.name.rpartition(".")
        entry = xml.SubElement(suite, "testcase", classname=of_suite, name=of_case, time=f"{case.seconds:.3f}",
                               cpu=f"{case.cpu_seconds:.2f}", tries=str(case.tries))
        if case.outcome == "skipped":
            xml.SubElement(entry, "skipped", message=case.output[-500:])
        elif case.is_bad():
            xml.SubElement(entry, "failure", message=case.outcome).text = re.sub(r"[^\t\n -\ud7ff]", "?", case.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    xml.ElementTree(suite).write(path)


def report(name, cases):
    """Failed cases with what they said, then one line."""
    for case in cases:
        if case.is_bad():
            print(f"{case.output}\n{case.outcome.upper()} {case.name} ({case.seconds:.1f} s)\n")
        elif case.tries > 1:
            print(f"passed at try {case.tries}: {case.name}")
    counted = {word: sum(case.outcome == word for case in cases) for word in ("passed", "skipped", "failed", "crashed", "hung")}
    words = ", ".join(f"{number} {word}" for word, number in counted.items() if number)
    print(f"{name}: {words or 'no case'} in {sum(case.seconds for case in cases):.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", required=True)
    parser.add_argument("--results", required=True, type=pathlib.Path)
    parser.add_argument("--only", action="append", default=[], help="cases that run, one pattern an option or joined by ':'")
    parser.add_argument("--leave", action="append", default=[], help="cases that do not")
    parser.add_argument("--limit", type=float, default=300, help="seconds that a case may take (default 300)")
    parser.add_argument("--tries", type=int, default=1)
    parser.add_argument("--may-lack", action="store_true", help="a pattern of --only may match none")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    only = [pattern for text in options.only for pattern in text.split(":") if pattern]
    leave = [pattern for text in options.leave for pattern in text.split(":") if pattern]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    def once(name):
        if options.whole:
            return run_whole(options.command, name, options.limit)
        return run_program(options.command, [name], [], options.limit)

    whole_name = f"whole.{options.name.replace('.', '_')}"
    cases = once(whole_name) if options.whole else run_program(options.command, only, leave, options.limit)
    cases = [tried_again(case, once, options.tries) for case in cases]
    idle = [pattern for pattern in only if not options.may_lack and not fnmatch.filter([case.name for case in cases], pattern)]
    write_junit(options.results / f"{options.name}.xml", options.name, cases)
    report(options.name, cases)
    for pattern in idle:
        print(f"no case is called {pattern}: the list of its part names one that is gone")
    if not cases:
        return 0 if leave or options.may_lack else 1  # all are in parts
    if all(case.outcome == "skipped" for case in cases) and not idle:
        return skip_status
    return 1 if idle or any(case.is_bad() for case in cases) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
