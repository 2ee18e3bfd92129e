"""What a page of the guide holds: files to save and commands with their printed output.

A block ```toml night.toml is a file to save as night.toml. A block ```console holds commands, lines that
begin with "$ " (a backslash at the end continues one), each followed by its output; "# exits with N" behind a
command states exit codes other than 0 ("4", "0, 3 or 4"). A block ```console nightly is replayed under
that label alone. "..." stands for lines left out; <!-- shown: 24 4 --> before a block: at most 24 lines of each output, the last 4 among
them, where the page is written anew. <!-- needs: python3 c++ --> names programs; <!-- varies: valid:|suspect: -->
beginnings of lines that are of the machine or its noise, and not compared.
"""
import re
from dataclasses import dataclass, field

SHOWN = re.compile(r"^<!-- shown: ([0-9]+) ([0-9]+) -->$")
EXITS = re.compile(r"^# exits with ([0-9]+(?:(?:, | or )[0-9]+)*)$")


@dataclass
class Command:
    text: str
    line: int  # of the page, from 1
    nightly: bool
    codes: list[int] = field(default_factory=lambda: [0])
    output: list[str] = field(default_factory=list)
    output_begin: int = 0  # lines of the page [output_begin, output_end), from 0
    output_end: int = 0
    shown: tuple[int, int] = (9, 2)


@dataclass
class File:
    name: str
    text: str


def needs(text):
    return " ".join(re.findall(r"<!-- needs: (.*?) -->", text)).split()


def varies(text):
    return tuple(word for found in re.findall(r"<!-- varies: (.*?) -->", text) for word in found.split("|"))


def commands_of(lines, first, nightly):
    """Commands of the block whose lines begin at index `first` of the page."""
    found, at = [], 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            if not found:
                raise ValueError(f"line {first + at + 1}: output before the first command")
            found[-1].output.append(lines[at])
            found[-1].output_end = first + at + 1
            at += 1
            continue
        command = Command(lines[at][2:], first + at + 1, nightly)
        while command.text.endswith("\\"):
            at += 1
            command.text += "\n" + lines[at]
        at += 1
        if at < len(lines) and (exits := EXITS.match(lines[at])):
            command.codes = [int(code) for code in re.findall("[0-9]+", exits[1])]
            at += 1
        command.output_begin = command.output_end = first + at
        found.append(command)
    return found


def steps(text):
    """Files and commands of a page, in its order."""
    lines, found, at = text.splitlines(), [], 0
    while at < len(lines):
        if not lines[at].startswith("```"):
            at += 1
            continue
        words = lines[at][3:].split()
        end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("```"))
        body = lines[at + 1:end]
        if words[:1] == ["console"]:
            commands = commands_of(body, at + 1, "nightly" in words)
            if asked := SHOWN.match(lines[at - 1]):
                for command in commands:
                    command.shown = (int(asked[1]), int(asked[2]))
            found += commands
        elif len(words) == 2:
            found.append(File(words[1], "\n".join(body) + "\n"))
        at = end + 1
    return found
