"""Replays a page of the guide: its commands, in order, in a fresh folder that looks like the built tree.

replay.py PAGE --tree SOURCES --build BUILD [--shell bash|zsh] [--nightly] [--write]

Fails where an exit code is not the one stated, or where a printed line without a digit (a heading, a sentence)
is not in the real output. Exits with 77 and the reason where a program is absent. --write puts the real output
into the page, long ones shortened.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import page

SKIPPED = 77
SECONDS_OF_A_COMMAND = 300
PROGRESS = re.compile(r"^(\w+ [0-9]+/[0-9]+ |simulating [0-9]+ events)")


def folder_like_the_tree(folder, tree, build):
    """Everything of the tree by its name, but results/ and build/, which commands write to."""
    for name in os.listdir(tree):
        if name not in (".git", "build", "results"):
            os.symlink(os.path.join(tree, name), os.path.join(folder, name))
    os.makedirs(os.path.join(folder, "results"))
    os.makedirs(os.path.join(folder, "build"))
    os.symlink(build, os.path.join(folder, "build", "release"))


def environment_in(folder, build):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HALMARK_", "XDG_"))}
    own = {f"XDG_{kind}_HOME": os.path.join(folder, ".xdg", kind.lower())
           for kind in ("STATE", "CACHE", "CONFIG", "DATA")}
    path = os.path.join(build, "bin") + os.pathsep + os.environ["PATH"]
    return kept | own | {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def shell_words(shell, text):
    quiet = {"bash": ["--noprofile", "--norc"], "zsh": ["-f"]}[shell]
    return [shell, *quiet, "-c", text]


def missing_lines(command, real, varying):
    """Printed lines without a digit that the real output lacks; " ..." ends one that was cut. Widths of columns
    follow from figures and do not count."""
    there = {" ".join(line.split()) for line in real.splitlines()}

    def printed(line):
        if line.endswith(" ..."):
            return any(whole.startswith(line[:-4]) for whole in there)
        return line in there

    lines = (" ".join(line.split()) for line in command.output)
    return [line for line in lines if line not in ("", "...") and not re.search("[0-9]", line)
            and not (varying and line.startswith(varying)) and not printed(line)]


def shown(real, most, last):
    """What a page prints of an output: without progress, long ones with a line "..."."""
    lines = [line.rstrip() for line in real.splitlines() if not PROGRESS.match(line)]
    if len(lines) > most:
        lines = lines[:most - last - 1] + ["..."] + lines[-last:]
    return [line if len(line) <= 200 else line[:196].rstrip() + " ..." for line in lines]


def replay(steps, args, folder, varying):
    """Runs them; what went wrong, one text each, and the real outputs by command."""
    environment, wrong, real = environment_in(folder, args.build), [], []
    for step in steps:
        if isinstance(step, page.File):
            with open(os.path.join(folder, step.name), "w", encoding="utf-8") as file:
                file.write(step.text)
            continue
        if step.nightly and not args.nightly:
            continue
        begun = time.monotonic()
        place = f"{args.page}:{step.line}: {step.text}"
        try:
            done = subprocess.run(shell_words(args.shell, step.text), cwd=folder, env=environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace",
                                  timeout=SECONDS_OF_A_COMMAND)
        except subprocess.TimeoutExpired:
            return wrong + [f"{place}\n  did not end within {SECONDS_OF_A_COMMAND} s"], real
        print(f"{time.monotonic() - begun:6.1f} s  {step.text}", flush=True)
        output = done.stdout
        for path, name in ((os.path.join(folder, ".xdg", "state"), "~/.local/state"), (folder, "~/halmark"),
                           (args.build, "build/release"), (args.tree, "~/halmark")):
            output = output.replace(path, name)
        real.append((step, output))
        if done.returncode not in step.codes:
            wrong.append(f"{place}\n  exits with {done.returncode}, the page says "
                         f"{step.codes}; it printed:\n{done.stdout[-2000:]}")
        wrong += [f"{place}\n  did not print: {line}" for line in missing_lines(step, real[-1][1], varying)]
    return wrong, real


def write(path, text, real):
    lines = text.splitlines()
    for step, output in reversed(real):
        lines[step.output_begin:step.output_end] = shown(output, *step.shown)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("--tree", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--shell", choices=("bash", "zsh"), default="bash")
    parser.add_argument("--nightly", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    args.tree, args.build = os.path.abspath(args.tree), os.path.abspath(args.build)
    with open(args.page, encoding="utf-8") as file:
        text = file.read()
    absent = [program for program in [args.shell, *page.needs(text)]
              if not shutil.which(program, path=environment_in("/", args.build)["PATH"])]
    if absent:
        print(f"skipped: {', '.join(absent)} absent")
        return SKIPPED
    steps = page.steps(text)
    if not any(isinstance(step, page.Command) for step in steps):
        print(f"{args.page}: no command")
        return 1
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="halmark-guide-") as folder:
        folder_like_the_tree(folder, args.tree, args.build)
        wrong, real = replay(steps, args, folder, page.varies(text))
    if args.write:
        write(args.page, text, real)
        wrong = [what for what in wrong if "did not print" not in what]
    print(f"{time.monotonic() - begun:.1f} s in all, {len(real)} commands, by {args.shell}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
