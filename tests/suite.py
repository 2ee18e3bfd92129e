#!/usr/bin/env python3
"""The whole suite of one build folder: what scripts/test asks of it beyond ctest.

    suite.py list BUILD                     every case as program.Suite.Case
    suite.py case BUILD NAME...             these cases alone; Suite.Case, with or without its program, * and ? match
    suite.py fault BUILD NUMBER             the cases that row NUMBER of tests/fault/README.md names
    suite.py summary BUILD [--step NAME=SECONDS]... [--cache LOG]
                                            where the time of the last run went; ends with 1 when more than five cases
                                            needed a second try, or more than 120 may have one
    suite.py repeat [--load N] BUILD RUNS [-- ctest options]
                                            the suite so many times beside N busy processes; goes on where the log of this
                                            revision, BUILD/repeat.log, ends
    suite.py against BUILD LIST             what became of the cases of LIST, an older `list`
"""
import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

from run_cases import listed

here = pathlib.Path(__file__).resolve().parent
most_measuring, most_retried, most_shown = 120, 5, 20


def entries(build):
    """Entries of ctest: name -> (labels, options before `--`, the program's command). Only those that run cases have options."""
    told = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    out = {}
    for test in json.loads(told.stdout)["tests"]:
        command = test.get("command", [])
        split = command.index("--") if "--name" in command and "--whole" not in command else 0
        labels = next((p["value"] for p in test["properties"] if p["name"] == "LABELS"), ["other"])
        out[test["name"]] = (labels, command[:split], command[split + 1:])
    return out


def cases_of(command, options):
    """What the entry would run, as Suite.Case."""
    only = [word.removeprefix("--only=") for word in options if word.startswith("--only=")]
    leave = [word.removeprefix("--leave=") for word in options if word.startswith("--leave=")]
    wanted = (only[0] if only else "*") + (f"-{leave[0]}" if leave else "")
    return listed([*command, f"--gtest_filter={wanted}"])


def all_cases(build, is_nightly=False):
    """(entry, program, Suite.Case) of every case."""
    for name, (labels, options, command) in entries(build).items():
        if options and (is_nightly or "nightly" not in labels):
            for case in cases_of(command, options):
                yield name, name.split(".")[0], case


def print_list(build):
    print("\n".join(sorted(f"{program}.{case}" for _, program, case in all_cases(build, is_nightly=True))))
    return 0


def run_named(build, wanted):
    """Runs the cases that a pattern names, each program once, as its entry would."""
    found = collections.defaultdict(list)
    for entry, program, case in all_cases(build, is_nightly=True):
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted for name in (case, f"{program}.{case}")):
            found[entry].append(case)
    if not found:
        print(f"no case is called {' or '.join(wanted)}; `tests/suite.py list {build}` prints all", file=sys.stderr)
        return 2
    known, status = entries(build), 0
    for entry, cases in found.items():
        _, options, command = known[entry]
        runner = [word for word in options if not word.startswith(("--only=", "--leave="))]
        status |= subprocess.run([*runner, f"--only={':'.join(cases)}", "--", *command], check=False).returncode
    return status


def fault_cases(number):
    """The names in row `number` of the table; cases of a parametrised suite have more around them."""
    for line in (here / "fault/README.md").read_text().splitlines():
        if (row := re.match(r"\| *(\d+) *\|", line)) and int(row[1]) == number:
            names = re.findall(r"`([a-z_0-9]+)\.(\w+)\.(\w+)`", line)
            return [f"{program}.{form}" for program, suite, case in names
                    for form in (f"{suite}.{case}", f"*/{suite}.{case}/*", f"{suite}.{case}/*")]
    return []


def results(build):
    """Every case of the last run: entry, Suite.Case, seconds, outcome, tries, CPU seconds."""
    for file in sorted((pathlib.Path(build) / "tests/results").glob("*.xml")):
        for case in xml.parse(file).getroot():
            outcome = next((child.tag for child in case), "passed")
            yield file.stem, f"{case.get('classname')}.{case.get('name')}", float(case.get("time")), outcome, int(case.get("tries")), float(case.get("cpu") or 0)


def seconds(number):
    return f"{number / 60:.1f} min" if number >= 120 else f"{number:.1f} s"


def entry_times(build):
    """Seconds of each entry of the last run, from the JUnit file of ctest."""
    file = pathlib.Path(build) / "tests/entries.xml"
    return {case.get("name"): float(case.get("time") or 0) for case in xml.parse(file).getroot()} if file.exists() else {}


def cache_hits(log):
    """(hits, compilations) of a statistics log of ccache."""
    lines = pathlib.Path(log).read_text().split("\n") if log and pathlib.Path(log).exists() else []
    hits = sum(line in ("direct_cache_hit", "preprocessed_cache_hit") for line in lines)
    return hits, hits + sum(line == "cache_miss" for line in lines)


def summary(build, steps, log):
    cases, times, known = list(results(build)), entry_times(build), entries(build)
    print("\nwhere the time went")
    for step in steps:
        name, _, value = step.partition("=")
        hits, all_of_them = cache_hits(log) if name == "build" else (0, 0)
        share = f"   compiler cache: {100 * hits / all_of_them:.0f} % hits ({hits} of {all_of_them})" if all_of_them else ""
        print(f"  {name:<10} {seconds(float(value)):>9}{share}")
    by_label = collections.Counter()
    for name, took in times.items():
        labels = known[name][0]
        by_label["measuring" if "measuring" in labels else labels[0]] += took
    print("tests by label, entries one after the other: " + ", ".join(f"{label} {seconds(took)}" for label, took in by_label.most_common()))
    cpu = collections.Counter()
    for entry, _, _, _, _, used in cases:
        cpu[entry] += used
    print(f"the {min(most_shown, len(times))} longest of {len(times)} entries, with the CPU time of their {seconds(cpu.total())}")
    for name, took in sorted(times.items(), key=lambda item: -item[1])[:most_shown]:
        print(f"  {took:7.1f} s  {cpu[name]:7.1f} s  {name}")
    measuring = [case for case in cases if "measuring" in known[case[0]][0]]
    retried = [case for case in cases if case[4] > 1]
    print(f"{len(measuring)} measuring cases, {len(retried)} needed a second try" + ("".join(f"\n  {c[0]} {c[1]}: {c[4]} tries" for c in retried)))
    for entry, name, *_ in (case for case in cases if case[3] == "failure"):
        print(f"failed: {entry} {name}")
    counts = collections.Counter(case[3] for case in cases)
    print(f"{counts['passed']} passed, {counts['failure']} failed, {counts['skipped']} skipped")
    if len(measuring) > most_measuring:
        print(f"more than {most_measuring} cases are measuring ones; what need not time anything runs beside others")
    if len(retried) > most_retried:
        print(f"more than {most_retried} cases needed a second try: mend them")
    return len(measuring) > most_measuring or len(retried) > most_retried


def repeat(build, runs, load, options):
    log = pathlib.Path(build) / "repeat.log"
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=True).stdout.strip()
    key = f"{revision} load {load}"
    done = sum(line.startswith(key) for line in log.read_text().splitlines()) if log.exists() else 0
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
    failed_units = 0
    try:
        for number in range(done + 1, runs + 1):
            begin = time.monotonic()
            subprocess.run(["ctest", "--test-dir", build, "-j", str(os.cpu_count() + 2), "-LE", "nightly", *options],
                           stdout=subprocess.DEVNULL, check=False)
            cases = list(results(build))
            bad = [f"{entry} {name}" for entry, name, _, outcome, *_ in cases if outcome == "failure"]
            again = [f"{entry} {name} ({tries})" for entry, name, _, _, tries, _ in cases if tries > 1]
            failed_units += len(bad)
            line = (f"{key} run {number} of {runs}: {len(cases)} cases in {seconds(time.monotonic() - begin)}; failed: "
                    f"{', '.join(bad) or 'none'}; tried again: {', '.join(again) or 'none'}")
            print(line, flush=True)
            with log.open("a") as file:
                file.write(line + "\n")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return 1 if failed_units else 0


def against(build, old):
    """run: the same program and name; moved: the name in another program; merged: tests/merged_cases.txt says into
    what; gone: the same file says why. Ends with 1 when a case is none of these."""
    now = {(program, case) for _, program, case in all_cases(build, is_nightly=True)}
    programs = collections.defaultdict(set)
    for program, case in now:
        programs[case].add(program)
    told = [line.split(" | ") for line in (here / "merged_cases.txt").read_text().splitlines() if line and line[0] != "#"]
    counts, unknown = collections.Counter(), []
    for line in pathlib.Path(old).read_text().splitlines():
        program, _, case = line.partition(".")
        if (program, case) in now:
            counts["run"] += 1
        elif case in programs:
            counts["moved"] += 1
        elif row := next((row for row in told if fnmatch.fnmatchcase(line, row[0])), None):
            counts[row[1].split(" ")[0]] += 1
            if row[1].startswith("merged ") and not any(fnmatch.fnmatchcase(c, row[1].removeprefix("merged into ")) for c in programs):
                unknown.append(f"{line}: {row[1]}, which is not there")
        else:
            unknown.append(line)
    print(", ".join(f"{number} {word}" for word, number in counts.most_common()) + f", {len(unknown)} unaccounted for")
    print("\n".join(unknown))
    return 1 if unknown else 0


def build_folder(text):
    if not (pathlib.Path(text) / "CTestTestfile.cmake").exists():
        raise argparse.ArgumentTypeError(f"'{text}' is no build folder with tests; configure one: cmake --preset check")
    return text


def count(text):
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no count; give 0, 1, 2 ...")
    return int(text)


def fault_row(text):
    if not text.isdecimal() or not fault_cases(int(text)):
        raise argparse.ArgumentTypeError(f"'{text}' is no row of tests/fault/README.md with tests")
    return int(text)


def existing_file(text):
    if not pathlib.Path(text).is_file():
        raise argparse.ArgumentTypeError(f"'{text}' cannot be read")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)

    def command(name, run):
        out = commands.add_parser(name)
        out.add_argument("build", type=build_folder)
        out.set_defaults(run=run)
        return out

    command("list", lambda o: print_list(o.build))
    command("case", lambda o: run_named(o.build, o.names)).add_argument("names", nargs="+")
    command("fault", lambda o: run_named(o.build, fault_cases(o.row))).add_argument("row", type=fault_row)
    summing = command("summary", lambda o: summary(o.build, o.step, o.cache))
    summing.add_argument("--step", action="append", default=[])
    summing.add_argument("--cache")
    repeating = command("repeat", lambda o: repeat(o.build, o.runs, o.load, o.options))
    repeating.add_argument("runs", type=count)
    repeating.add_argument("--load", type=count, default=0)
    repeating.add_argument("options", nargs="*")
    command("against", lambda o: against(o.build, o.list)).add_argument("list", type=existing_file)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
