"""The standing table of peers: one section per instruction set in a Markdown file, rows where Halmark is behind first."""
import datetime
import pathlib
import re
import statistics
from dataclasses import dataclass

BEHIND = 1.05  # of the best peer's time
HEAD = """# Halmark beside its peers

`scripts/bench peers` writes this: what Halmark does without being told how, and the best of the peers that were installed, in turns in
one run. Halmark over peer is the median over the turns of our time over theirs in the same turn, with the least and the greatest: below
1 Halmark is faster. Rows where it is behind come first. m x n x k: rows times weights of n outputs and k inputs.
"""
COLUMNS = ("case", "Halmark by", "time", "best peer", "Halmark over it", "over the others")


@dataclass
class Row:
    case: str
    cells: tuple  # of the other columns
    ratio: float  # over the best peer


def time_text(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def row(case, implementation, own_ns, ratios, times):
    """ratios: per peer those of the turns, ascending; times: per peer its median in ns."""
    by_peer = sorted(ratios, key=lambda name: -statistics.median(ratios[name]))
    best, others = by_peer[0], by_peer[1:]
    ratio = statistics.median(ratios[best])
    cells = (implementation, time_text(own_ns), f"{best} {time_text(times[best])}",
             f"{ratio:.2f} ({ratios[best][0]:.2f} .. {ratios[best][-1]:.2f})",
             ", ".join(f"{name} {statistics.median(ratios[name]):.2f}" for name in others) or "-")
    return Row(case, cells, ratio)


def kind_of(case):
    """"gemm f32", "attention bf16", ...: what a geometric mean is taken over."""
    kind = next((word for word in ("attention", "step") if f" {word} " in case), "gemm")
    return f"{kind} {case.rsplit(' ', 1)[1]}"


def totals(rows):
    by_kind = {}
    for one in rows:
        by_kind.setdefault(kind_of(one.case), []).append(one.ratio)
    behind = sum(one.ratio > BEHIND for one in rows)
    means = ", ".join(f"{kind} {statistics.geometric_mean(of):.2f}" for kind, of in sorted(by_kind.items()))
    return (f"{len(rows)} rows, {behind} behind by more than {BEHIND - 1:.0%}; geometric mean "
            f"{statistics.geometric_mean(one.ratio for one in rows):.2f} ({means}).")


def text(rows):
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * len(COLUMNS)]
    lines += ["| " + " | ".join((one.case, *one.cells)) + " |" for one in sorted(rows, key=lambda one: -one.ratio)]
    return "\n".join(lines) + "\n\n" + totals(rows)


def stored_sections(path):
    """Heading and lines of each section that is there."""
    sections = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("## "):
            sections[line[3:]] = []
        elif sections:
            sections[next(reversed(sections))].append(line)
    return sections


def stored_rows(lines):
    rows = []
    for line in lines:
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        found = re.match(r"([0-9.]+) \(", cells[4]) if len(cells) == len(COLUMNS) else None
        if found:
            rows.append(Row(cells[0], tuple(cells[1:]), float(found[1])))
    return rows


def stored_cases(path, isa):
    return {one.case for one in stored_rows(stored_sections(path).get(isa, []))}


def write(path: pathlib.Path, isa, measured_on, rows):
    sections = stored_sections(path)
    new = {one.case for one in rows}
    rows = rows + [one for one in stored_rows(sections.get(isa, [])) if one.case not in new]
    sections[isa] = ["", f"{datetime.date.today()}, {measured_on}. {totals(rows)}", "", *text(rows).splitlines()[:-2], ""]
    body = "\n".join(f"## {heading}\n" + "\n".join(lines) for heading, lines in sorted(sections.items()))
    path.write_text(HEAD + "\n" + body.rstrip() + "\n")
