"""Every `halmark ...` of every README and page, held against the help of the program.

commands.py --tree SOURCES --program HALMARK

A command's subcommands and options have to exist, an option that takes a value has to have one, words that
no positional takes are refused, and brackets and stars that zsh would expand stand in quotes. Prose notation
is understood: [optional parts], a|b alternatives, "..." for what is left open, CAPITALS for a value. A command
without such notation that needs no device and no file is run, and has to end with 0.
"""
import argparse
import functools
import glob
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile

PROGRAM = r"(?:(?:\S*/)?bin/)?halmark(?= |$)"
UNQUOTED_PATTERN = re.compile(r"=\[|[\w.]\*|\*[\w.]")


class Help:
    """What `halmark WORDS --help` says, or `halmark help --all`: subcommands, options with whether they take a value, positionals."""

    def __init__(self, text):
        self.subcommands, self.options, self.positionals = set(), {}, 0
        section = ""
        for line in text.splitlines():
            if re.match(r"^\S.*:$", line):
                section = line[:-1]
            elif section == "Subcommands" and (word := re.match(r"^  (\S+)", line)):
                self.subcommands.add(word[1])
            elif section == "Positionals" and re.match(r"^  \w", line):
                self.positionals += 99 if "..." in line.split("  ")[1] else 1
            elif option := re.match(r"^  (-\S+)( \S+)?", line):
                # A type stands one space behind the name, a sentence further away.
                value = option[2] and option[2][1:] not in ("Excludes:", "Needs:")
                self.options |= {name: bool(value) for name in option[1].split(",")}


@functools.cache
def help_of(program, words):
    asked = [*words, "--help"] if words else ["help", "--all"]
    done = subprocess.run([program, *asked], capture_output=True, text=True, check=False)
    return Help(done.stdout)


def commands_in(text):
    """(line, command) of code: indented, fenced and in backticks; continued lines joined."""
    fenced, lines = None, text.splitlines()
    at = 0
    while at < len(lines):
        line, number = lines[at], at + 1
        at += 1
        if line.lstrip().startswith("```"):
            fenced = None if fenced is not None else line.strip()[3:].split()
            continue
        code = re.match(r"^(?:    |\$ )?(?:\$ )?(" + PROGRAM + ".*)", line)
        if code and (fenced is not None or line.startswith("    ")):
            # Output begins with "halmark: " or other words; commands with "$ " where a block is a console.
            if fenced is not None and "console" in fenced and not line.lstrip().startswith("$ "):
                continue
            command = code[1]
            while command.endswith("\\") and at < len(lines):
                command = command[:-1] + lines[at].strip()
                at += 1
            for part in re.split(r"\s+(?:&&|;|\|)\s+", command):
                if re.match(PROGRAM, part):
                    yield number, re.sub(r"\s{2,}(#|->| ).*$", "", part)
        elif fenced is None:
            for found in re.findall(r"`(" + PROGRAM + "[^`]*)`", line):
                yield number, found.replace("\\|", "|")


def without_quotes(command):
    """Quoted parts as the one word QUOTED."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "QUOTED", command)


def words_of(bare):
    """Words after the program: optional parts as if given, redirections and what follows dropped."""
    bare = re.sub(r"\s(>|>>|2>|<|#|;|&&).*$", "", bare)
    return re.sub(r"\[(?=[=.])|\.\.\.(?=\s|$)", "", bare).replace("[", " ").replace("]", " ").split()[1:]


def parsed(program, command):
    """Its subcommand, its other words, and why the program would not know it (None where it does)."""
    general, path, rest = help_of(program, ()), [], []
    known, words = general, words_of(without_quotes(command))

    def name_of(*more):
        return " ".join(["halmark", *path, *more])

    while words:
        word = words.pop(0)
        if word.startswith("-") and len(word) > 1:
            name, _, value = word.partition("=")
            option = known.options.get(name, general.options.get(name))
            if option is None:
                return path, rest, f"{name_of()} has no option {name}"
            if option and not value and words and (not words[0].startswith("-") or words[0] == "-"):
                words.pop(0)
            elif option is False and value:
                return path, rest, f"{name_of()}: {name} takes no value"
        elif known.subcommands and not rest and re.match(r"^[a-z-]+(\|[a-z-]+)*$", word):
            strange = [one for one in word.split("|") if one not in known.subcommands]
            if not strange:
                path.append(word.split("|")[0])
                known = help_of(program, tuple(path))
            elif known is general or not known.positionals:
                return path, rest, f"there is no command {name_of(strange[0])}"
            else:
                rest.append(word)
        elif word not in ("|", "...", "+") and not re.match(r"^[A-Z|]+$", word):
            rest.append(word)
    if path and len(rest) > known.positionals:
        return path, rest, f"{name_of()} takes no {rest[known.positionals]!r}"
    return path, rest, None


def fault(program, command):
    """Why the program, or a shell, would not take a command; None where they do."""
    if UNQUOTED_PATTERN.search(without_quotes(command)):
        return "zsh expands its brackets or stars: put them in quotes"
    return parsed(program, command)[2]


NO_DEVICE = {"model", "models", "ops", "explain", "plan-size", "fabric show", "fabric collectives",
             "simulate", "compare-devices", "devices --known", "config schema", "completion"}
NOTATION = re.compile(r"\[|\]|\||\.\.\.|\.(?:toml|json|db|pb|xml|html)|[<>;&]|\b[A-Z][A-Z_]+\b")


def runs(program, command):
    """Whether it can be run as it stands: no device, no file of the reader, nothing left open."""
    path, rest, _ = parsed(program, command)
    known = " ".join(path) if len(path) > 1 else " ".join(command.split()[1:3])
    named = bool(rest) or not help_of(program, tuple(path)).positionals or path == ["ops"]
    return (path[:1] and (path[0] in NO_DEVICE or known in NO_DEVICE) and named
            and not NOTATION.search(without_quotes(command)))


def failure(program, command, folder):
    """What a command that was run said where it did not end with 0."""
    line = re.sub("^" + PROGRAM, lambda _: shlex.quote(program), command)
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=100,
                          check=False, env=os.environ | {"XDG_STATE_HOME": folder})
    return None if done.returncode == 0 else f"exits with {done.returncode}: {done.stderr.strip()[:300]}"


def pages(tree):
    folders = ("", "plugins/**/", "kernels/", "search/", "framework/**/", "results/**/")
    found = itertools.chain.from_iterable(
        glob.glob(os.path.join(tree, folder, "*.md"), recursive=True) for folder in folders)
    return sorted({page for page in found if not page.endswith("CHANGELOG.md")})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", required=True)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    wrong, count, run = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="halmark-commands-") as folder:
        for page in pages(args.tree):
            with open(page, encoding="utf-8") as file:
                text = file.read()
            replayed = os.path.basename(os.path.dirname(page)) == "guide"
            for line, command in commands_in(text):
                count += 1
                why = fault(program, command)
                if not why and not replayed and runs(program, command):
                    run += 1
                    why = failure(program, command, folder)
                if why:
                    wrong.append(f"{os.path.relpath(page, args.tree)}:{line}: {command}\n  {why}")
    print("\n".join(wrong))
    print(f"{count} commands parsed, {run} of them run, {len(wrong)} wrong")
    return 1 if wrong or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
