"""Every `halmark ...` of every README and page, held against the help of the program.

commands.py --tree SOURCES --program HALMARK

A command's subcommands and options have to exist, an option that takes a value has to have one, words that
no positional takes are refused, and brackets and stars that zsh would expand stand in quotes. Prose notation
is understood: [optional parts], a|b alternatives, "..." for what is left open, CAPITALS for a value.
"""
import argparse
import functools
import glob
import itertools
import os
import re
import subprocess
import sys

PROGRAM = r"(?:(?:\S*/)?bin/)?halmark(?= |$)"
UNQUOTED_PATTERN = re.compile(r"=\[|[\w.]\*|\*[\w.]")


class Help:
    """What `halmark WORDS --help` says: subcommands, options with whether they take a value, positionals."""

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
    done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False)
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


def fault(program, command):
    """Why the program would not know a command; None where it does."""
    bare = without_quotes(command)
    if UNQUOTED_PATTERN.search(bare):
        return "zsh expands its brackets or stars: put them in quotes"
    words = words_of(bare)
    general, path, rest = help_of(program, ()), [], []
    known = general
    while words:
        word = words.pop(0)
        if word.startswith("-") and len(word) > 1:
            name, _, value = word.partition("=")
            option = known.options.get(name, general.options.get(name))
            if option is None:
                return f"{' '.join(['halmark', *path])} has no option {name}"
            if option and not value and words and (not words[0].startswith("-") or words[0] == "-"):
                words.pop(0)
            elif option is False and value:
                return f"{' '.join(['halmark', *path])}: {name} takes no value"
        elif known.subcommands and not rest and re.match(r"^[a-z-]+(\|[a-z-]+)*$", word):
            if strange := [one for one in word.split("|") if one not in known.subcommands]:
                if known is general or not known.positionals:
                    return f"there is no command {' '.join(['halmark', *path, strange[0]])}"
                rest.append(word)
                continue
            path.append(word.split("|")[0])
            known = help_of(program, tuple(path))
        elif word not in ("|", "...", "+") and not re.match(r"^[A-Z|]+$", word):
            rest.append(word)
    if path and len(rest) > known.positionals:
        return f"{' '.join(['halmark', *path])} takes no {rest[known.positionals]!r}"
    return None


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
    wrong, count = [], 0
    for page in pages(args.tree):
        with open(page, encoding="utf-8") as file:
            for line, command in commands_in(file.read()):
                count += 1
                if why := fault(args.program, command):
                    wrong.append(f"{os.path.relpath(page, args.tree)}:{line}: {command}\n  {why}")
    print("\n".join(wrong))
    print(f"{count} commands, {len(wrong)} wrong")
    return 1 if wrong or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
