#!/usr/bin/env python3
"""Checks a front proof (results/schema/front_proof.md) by itself: a second implementation, in
another language, of what `halmark verify-front` does without a journal. It shares no formula with
halmark: front_proof_contracts.py has the ops, front_proof_model.py dense and mixture-of-experts
decoders. What those do not cover is "not checked", and so is a proof that does not say what it is
about.

    verify_front_proof.py PROOF     exit 0 holds, 4 holds with a condition or is not checked,
                                    3 broken, 2 unreadable
"""
import hashlib
import itertools
import json
import math
import re
import sys
import tomllib

from front_proof_contracts import Case, NotChecked, expected_terms, work
from front_proof_model import Model, Plan, Step

INFINITY = math.inf
# Of the language of constraints, beside what Python has.
WORDS = {"__builtins__": {}, "min": min, "max": max, "true": True, "false": False, "null": None,
         "divides": lambda a, b: b % a == 0, "ceil_div": lambda a, b: -(-a // b)}


class Broken(Exception):
    pass


class Unreadable(Exception):
    pass


def require(holds, record, why):
    if not holds:
        raise Broken(f"{record.get('record')} {json.dumps(record, sort_keys=True)[:200]}: {why}")


def read(text):
    if not text.endswith("\n"):
        raise Unreadable("truncated")
    lines = text.splitlines()
    try:
        records = [json.loads(line) for line in lines]
    except ValueError as error:
        raise Unreadable(str(error)) from error
    head, tail = records[0], records[-1]
    known = head.get("record") == "header" and head.get("version") in (1, 2)
    if head.get("format") != "halmark-front-proof" or not known:
        raise Unreadable("no proof of a known version")
    if tail.get("record") != "trailer":
        raise Unreadable("no trailer")
    body = "".join(line + "\n" for line in lines[:-1])
    require(hashlib.sha256(body.encode()).hexdigest() == tail["sha256"], tail, "hash")
    return records


class Space:
    def __init__(self, kinds):
        self.head, self.record = kinds["header"][0], kinds["space"][0]
        self.domains = self.record["domains"]
        self.sizes = [len(d["values"]) for d in self.domains]
        self.index = {d["name"]: i for i, d in enumerate(self.domains)}
        self.strides = [math.prod(self.sizes[i + 1 :]) for i in range(len(self.sizes))]
        self.facts = {f["name"]: f for f in kinds.get("fact", [])}
        self.slots = {s["name"]: s for s in kinds.get("slot", [])}
        self.values = [[int(v) if re.fullmatch(r"-?\d+", v) else v for v in d["values"]]
                       for d in self.domains]
        rules = [c["expression"] for c in self.record["constraints"]]
        self.rules = [compile(self.python(r), "constraint", "eval") if r else None for r in rules]
        self.configs = {self.combination(c["at"]): c for c in kinds.get("config", [])}
        require(len(self.configs) == len(kinds.get("config", [])), self.record, "listed twice")
        self.common = None
        if not self.configs:
            formula = kinds["formula"][0]
            self.common = [self.compiled(f, formula) for f in formula["objectives"]]
            self.common_kernels = [k for f in formula["objectives"] for k in self.leaves(f)]

    @staticmethod
    def python(rule):
        return re.sub(r"in\s*\{([^}]*)\}", r"in (\1,)", rule)

    def combination(self, levels):
        return sum(level * stride for level, stride in zip(levels, self.strides))

    def levels(self, c):
        return [c // stride % size for stride, size in zip(self.strides, self.sizes)]

    def breaks(self, c, rule):
        if self.rules[rule] is None:
            return None
        names = {d["name"]: v[l] for d, v, l in zip(self.domains, self.values, self.levels(c))}
        return not eval(self.rules[rule], WORDS, names)

    def valid(self, c):
        shown = any(self.breaks(c, rule) for rule in range(len(self.rules)))
        if not self.configs:
            return not shown
        require(c not in self.configs or not shown, self.record, "a listed one is not allowed")
        return c in self.configs

    def front(self, c):
        return self.configs[c]["front"] if self.configs else 0

    def place(self, table):
        text = "0"
        for name in table["over"]:
            text = f"({text})*{self.sizes[self.index[name]]}+l[{self.index[name]}]"
        return text

    # Python source of a formula over l (levels) and t (times by kernel); what it may multiply with
    # are numbers >= 0, so that it cannot fall when a time grows.
    def source(self, node, record):
        if isinstance(node, (int, float)):
            return repr(float(node)), False, node >= 0
        if isinstance(node, str):
            table = self.facts[node]
            return f"facts[{node!r}][{self.place(table)}]", False, min(table["values"]) >= 0
        name, operands = node[0], node[1:]
        if name == "kernel":
            return f"t[{int(operands[0])}]", True, True
        if name == "slot":
            table = self.slots[operands[0]]
            return f"t[slots[{operands[0]!r}][{self.place(table)}]]", True, True
        parts = [self.source(o, record) for o in operands]
        text, times, signs = zip(*parts)
        if name == "sum":
            return "(0.0+" + "+".join(text) + ")", any(times), all(signs)
        if name in ("max", "min"):
            return f"{name}(({','.join(text)},))", any(times), all(signs)
        if name == "scale":
            require(not times[0] and signs[0], record, "factor")
            return f"({text[0]}*{text[1]})", times[1], signs[1]
        if name == "divide":
            require(not times[1] and signs[1], record, "divisor")
            return f"({text[0]}/{text[1]})", times[0], signs[0]
        require(name == "rate" and not times[0] and signs[0] and signs[1], record, "rate")
        return f"(-({text[0]}/{text[1]}))", True, False

    def compiled(self, node, record):
        names = {"facts": {n: f["values"] for n, f in self.facts.items()},
                 "slots": {n: s["kernels"] for n, s in self.slots.items()}}
        return eval(f"lambda l,t:{self.source(node, record)[0]}", names)

    def leaves(self, node):
        if not isinstance(node, list):
            return []
        if node[0] in ("kernel", "slot"):
            return [tuple(node)]
        return [leaf for operand in node[1:] for leaf in self.leaves(operand)]

    def objectives(self, c, times):
        formulas = self.common
        if formulas is None:
            config = self.configs[c]
            formulas = [self.compiled(f, config) for f in config["objectives"]]
        levels = self.levels(c)
        try:
            return tuple(f(levels, times) for f in formulas)
        except ZeroDivisionError:
            raise Unreadable("a bound of 0 under a rate: not supported here") from None

    def kernels(self, c):
        read = self.common_kernels if self.common is not None else [
            k for f in self.configs[c]["objectives"] for k in self.leaves(f)]
        levels, out = self.levels(c), set()
        for kind, which in read:
            if kind == "kernel":
                out.add(which)
                continue
            at = 0
            for name in self.slots[which]["over"]:
                at = at * self.sizes[self.index[name]] + levels[self.index[name]]
            out.add(self.slots[which]["kernels"][at])
        return sorted(out)

    def box(self, leaf):
        require(set(leaf["box"]) <= set(self.index), leaf, "unknown domain")
        axes = []
        for domain, size, stride in zip(self.domains, self.sizes, self.strides):
            level = leaf["box"].get(domain["name"])
            require(level is None or 0 <= level < size, leaf, "outside of the space")
            axes.append([level * stride] if level is not None
                        else [i * stride for i in range(size)])
        return (sum(parts) for parts in itertools.product(*axes))


def interval_of(medians):
    """Order statistics that cover the median with 95 %; of fewer than six values all of them."""
    v, n = sorted(medians), len(medians)
    if n >= 50:
        low, high = n / 2 - 0.98 * math.sqrt(n), n / 2 + 1 + 0.98 * math.sqrt(n)
        return [v[max(1, math.floor(low)) - 1], v[min(n, math.ceil(high)) - 1]]
    rank = 0
    while n >= 6 and 2 * sum(math.comb(n, k) for k in range(rank + 2)) <= 0.05 * 2**n:
        rank += 1
    return [v[rank], v[n - 1 - rank]]


def check_kernels(head, kernels, alarms):
    units, alpha = head["time_units_per_s"], 0.0
    for i, k in enumerate(kernels):
        require(k["id"] == i, k, "order")
        bound = 0.0
        for term in k["terms"]:
            peak = head["peaks"][term["peak"]]
            require(peak["value"] > 0 and peak["safety"] >= 1, head, "peak")
            if peak["counts"] == "operations":
                require(term["amount"] == k["operations"], k, "operations")
            else:
                require(0 <= term["amount"] <= k["bytes"], k, "bytes")
            bound = max(bound, term["amount"] / (peak["value"] * peak["safety"]) * units)
        require(bound == k["bound"], k, "bound")
        if "interval" not in k:
            continue
        low, high = k["interval"]
        require(0 < low <= high and low >= bound, k, "interval")
        n = len(k["medians"])
        require(n == len(k["rounds"]) == len({r for r in k["rounds"] if r >= 0}), k, "rounds")
        confidence = 1.0 if n == 0 else (1 - 2.0 ** (1 - n) if n < 6 else 0.95)
        require(k["confidence"] == confidence, k, "confidence")
        require("failed" not in k, k, "failed, and has an interval")
        if n == 1:
            require(low <= k["medians"][0] <= high, k, "medians")
        elif n > 1:
            require([low, high] == interval_of(k["medians"]), k, "medians")
        alpha += 1 - confidence
    require(min(alpha, 1.0) == head["alpha"], head, "alpha")
    last = {}
    for a in alarms:
        peak = head["peaks"][a["peak"]]
        measured = kernels[a["kernel"]]
        require(a["low"] == measured["interval"][0] if "interval" in measured
                else "failed" in measured, a, "not what was measured")
        amount = next(t["amount"] for t in kernels[a["kernel"]]["terms"] if t["peak"] == a["peak"])
        bound = amount / (a["peak_before"] * peak["safety"]) * units
        require(bound == a["bound"] and a["low"] < bound, a, "no alarm")
        require(a["peak_after"] == amount / a["low"] * units, a, "peak")
        require(last.get(a["peak"], a["peak_before"]) == a["peak_before"], a, "chain")
        last[a["peak"]] = a["peak_after"]
    for p, value in last.items():
        require(head["peaks"][p]["value"] == value, head, "peak after alarms")


def meets(a, b):
    return all(x <= y for x, y in zip(a, b))


def minimal(vectors):
    vectors = sorted(set(vectors))
    return [v for v in vectors if not any(o != v and meets(o, v) for o in vectors)]


def gap_of(head, high, bound):
    gap = 0.0
    for objective, u, b in zip(head["objectives"], high, bound):
        if u <= b:
            continue
        if objective["sign"] == "maximize":
            gap = max(gap, b / u - 1 if u < 0 else INFINITY)
        else:
            gap = max(gap, u / b - 1 if b > 0 else INFINITY)
    return gap


KINDS = {"header", "plan", "device", "target", "model", "space", "fact", "slot", "formula",
         "config", "kernel", "alarm", "leaf", "front", "trailer"}
OBJECTIVES = {"latency": ("ns", "minimize"), "throughput": ("tokens/s", "maximize"),
              "memory": ("bytes", "minimize")}


def check_bounds(head, kernels, alarms, device, target):
    """Operations and bytes from the ops' formulas, terms and peaks from the device record."""
    require(head["time_units_per_s"] == 1e9, head, "not in ns")
    require(device["threads"] == (target["cores"] if device["text"] else 0), device, "cores")
    figures = tomllib.loads(device["text"])
    if device["text"]:
        require(figures.get("ring_plateau_bytes") == target["ring_plateau_bytes"], target, "rings")
    first = [p["value"] for p in head["peaks"]]
    for a in reversed(alarms):
        first[a["peak"]] = a["peak_before"]
    for k in kernels:
        case = Case(k["key"])
        cost = work(case)
        require((k["operations"], k["bytes"]) == (cost["operations"], cost["bytes"]), k, "contract")
        terms = expected_terms(figures, device["threads"], case, cost) if device["text"] else []
        require(len(terms) == len(k["terms"]), k, "ceilings")
        for (name, counts, per_s, amount, source), stated in zip(terms, k["terms"]):
            peak = head["peaks"][stated["peak"]]
            unit = "FLOP/s" if counts == "operations" else "bytes/s"
            require(stated["amount"] == amount, k, "amount")
            require((peak["id"], peak["counts"], peak["unit"], peak["source"]) ==
                    (name, counts, unit, source), k, "peak")
            require(first[stated["peak"]] == per_s, head, f"peak {name}")


def stated_step(formula, kernels):
    """(micro-batches, {kernels with their counts, by stage}) of a latency's formula."""
    scale, micro_batches, slowest = formula
    require(scale == "scale" and slowest[0] == "max", formula_record(formula), "step")
    stages = []
    for stage in slowest[1:]:
        require(stage[0] == "sum", formula_record(formula), "stage")
        counts = {}
        for name, count, (kind, k) in stage[1:]:
            require(name == "scale" and kind == "kernel", formula_record(formula), "term")
            question = Case(kernels[k]["key"]).question
            counts[question] = counts.get(question, 0) + count
        stages.append(frozenset(counts.items()))
    return micro_batches, stages


def formula_record(formula):
    return {"record": "config", "formula": formula}


def check_config(config, step, values, head, kernels):
    for objective, formula in zip(head["objectives"], config["objectives"]):
        if objective["name"] == "memory":
            require(formula == step.memory(), config, f"memory, which is {step.memory()}")
            continue
        if objective["name"] == "throughput":
            tokens = values["batch"] * values["new_tokens"]
            require(formula[:2] == ["scale", 1e9] and formula[2][:2] == ["rate", tokens], config,
                    "throughput")
            formula = formula[2][2]
        micro_batches, stages = stated_step(formula, kernels)
        expected = {frozenset(step.kernels(stage).items()) for stage in step.stages}
        require(micro_batches == step.micro_batches, config, "micro-batches")
        require(len(stages) == len(set(stages)) and set(stages) == expected, config,
                "the kernels of its step")


def check_plan(kinds, space, plan, model, target):
    head, kernels = kinds["header"][0], kinds.get("kernel", [])
    require(plan.matches, head, "the plan has another hash")
    require(space.domains == plan.domains, space.record, "domains")
    require(space.record["constraints"] == plan.constraints, space.record, "constraints")
    require(head["fronts"] == plan.domains[0]["values"], head, "fronts")
    names = [n for n in plan.plan["objectives"] if n in OBJECTIVES]
    stated = [(o["name"], o["unit"], o["sign"]) for o in head["objectives"]]
    require(stated == [(n, *OBJECTIVES[n]) for n in names], head, "objectives")
    latency = names.index("latency") if "latency" in names else -1
    require(head["run_objective"] == latency, head, "what runs are about")
    require(head["composition"]["is"] == "model", head, "a step of a model is no definition")
    require((plan.plan["backend"], plan.plan["model"]) ==
            (target["backend"], kinds["model"][0]["id"]), target, "backend or model")
    questions = [Case(k["key"]).question for k in kernels]
    require(len(set(questions)) == len(questions), head, "two kernels of one question")
    used = set()
    reasons = []  # by combination: the constraint that leaves it out, -1 for a configuration
    for c in range(math.prod(space.sizes)):
        levels = space.levels(c)
        values = plan.values(levels)
        broken = [r for r in range(len(space.rules)) if space.breaks(c, r)]
        reasons.append(len(space.rules) - 2 if values is None else broken[0] if broken else -1)
        step = Step(model, values, target) if reasons[-1] < 0 else None
        if step and not step.fits():
            reasons[-1] = len(space.rules) - 1
        require((c in space.configs) == (reasons[-1] < 0), space.record,
                f"combination {c} is{'' if reasons[-1] < 0 else ' not'} a configuration")
        if reasons[-1] < 0:
            require(space.configs[c]["front"] == levels[0], space.configs[c], "front")
            check_config(space.configs[c], step, values, head, kernels)
            used.update(q for stage in step.stages for q in step.kernels(stage))
    require(used == set(questions), target, "a kernel belongs to no configuration")
    if plan.plan["kernels"]["of"] == "everything":
        keys = "".join(kernels[k]["key"] + "\n" for k in target["kernel_order"])
        require(len(target["kernel_order"]) == len(kernels) and
                hashlib.sha256(keys.encode()).hexdigest() == plan.plan["kernels"]["sha256"],
                target, "kernels that the plan did not hash")
    for leaf in kinds["leaf"]:
        if "constraint" in leaf:
            expected = sorted({reasons[c] for c in space.box(leaf)})
            require(leaf["constraint"] == expected, leaf, f"left out by {expected}")


def check_context(kinds, space):
    """What is taken as stated, and why; "" where everything was recomputed."""
    for kind in ("device", "plan", "model", "target"):
        if kind not in kinds:
            return f"no {kind} record"
        require(len(kinds[kind]) == 1, kinds[kind][0], "twice")
    target = kinds["target"][0]
    try:
        check_bounds(kinds["header"][0], kinds.get("kernel", []), kinds.get("alarm", []),
                     kinds["device"][0], target)
        plan = Plan(kinds["header"][0], kinds["plan"][0])
        check_plan(kinds, space, plan, Model(kinds["model"][0]["config"]), target)
    except NotChecked as error:
        return f"no formulas here for {error}"
    return ""


def check(records):
    kinds = {}
    for record in records:
        kinds.setdefault(record["record"], []).append(record)
        require(record["record"] in KINDS, record, "unknown record")
    head, tail = kinds["header"][0], kinds["trailer"][0]
    kernels = kinds.get("kernel", [])
    check_kernels(head, kernels, kinds.get("alarm", []))
    space = Space(kinds)
    undecided = check_context(kinds, space)
    low = [k["interval"][0] if "interval" in k else k["bound"] for k in kernels]
    high = [k["interval"][1] if "interval" in k else INFINITY for k in kernels]
    total = math.prod(space.sizes)
    valid = [space.valid(c) for c in range(total)]
    lower = {c: space.objectives(c, low) for c in range(total) if valid[c]}
    require(space.record["combinations"] == total, space.record, "combinations")
    require(space.record["configurations"] == len(lower), space.record, "configurations")

    leaves = kinds.get("leaf", [])
    evaluated = {}
    for leaf in leaves:
        if "evaluated" not in leaf:
            continue
        (c,) = list(space.box(leaf))[:2] if len(list(space.box(leaf))) == 1 else (None,)
        require(c is not None and valid[c], leaf, "not one configuration")
        require(all("interval" in kernels[k] for k in space.kernels(c)), leaf, "unmeasured")
        evaluated[c] = (lower[c], space.objectives(c, high))
        require(leaf["evaluated"] == [list(p) for p in zip(*evaluated[c])], leaf, "interval")

    seen, count, gap, opens = bytearray(total), dict.fromkeys(("dominated", "failed", "open"), 0), 0.0, []
    for leaf in leaves:
        inside = []
        for c in space.box(leaf):
            require(not seen[c], leaf, f"combination {c} is in two leaves")
            seen[c] = 1
            inside.append(c)
        ours = [c for c in inside if valid[c]]
        require(len(ours) == leaf["configurations"], leaf, "count")
        require(len({space.front(c) for c in ours}) <= 1, leaf, "two fronts")
        front = space.front(ours[0]) if ours else 0
        if "constraint" in leaf:
            require(not ours, leaf, "valid ones left out")
            for c in inside:
                found = [space.breaks(c, rule) for rule in leaf["constraint"]]
                require(any(f is None or f for f in found), leaf, "breaks none")
        elif "failed" in leaf:
            require("failed" in kernels[leaf["failed"]], leaf, "did not fail")
            require(all(leaf["failed"] in space.kernels(c) for c in ours), leaf, "not needed")
            count["failed"] += len(ours)
        elif "dominated" in leaf:
            parts = {}
            for c in ours:
                part = space.levels(c)[space.index[leaf["cut"]]] if "cut" in leaf else 0
                parts[part] = tuple(map(min, parts[part], lower[c])) if part in parts else lower[c]
            stated = [tuple(b["bound"]) for b in leaf["dominated"]]
            require(minimal(parts.values()) == stated, leaf, "bounds")
            for b in leaf["dominated"]:
                by = b["by"]
                require(by in evaluated and space.front(by) == front, leaf, "by whom")
                require(meets(evaluated[by][1], b["bound"]), leaf, "not dominated")
            count["dominated"] += len(ours)
        elif "open" in leaf:
            (stated,) = leaf["open"]
            bound = tuple(-INFINITY if x is None else x for x in stated["bound"])
            require(all(lower[c] == bound for c in inside if valid[c]), leaf, "bound")
            require(len(ours) == len(inside), leaf, "invalid ones inside")
            own = min((gap_of(head, u, bound) for c, (_, u) in evaluated.items()
                       if space.front(c) == front), default=INFINITY)
            require(own == (INFINITY if stated["gap"] is None else stated["gap"]), leaf, "gap")
            gap = max(gap, own)
            opens.append((front, bound))
            count["open"] += len(ours)
    require(all(seen), space.record, "a combination is in no leaf")

    fronts = kinds.get("front", [])
    require(sorted(p["config"] for p in fronts) == sorted(evaluated), tail, "front")
    confirmed = head["composition"]["is"] == "definition"
    runs = 0
    for point in fronts:
        c = point["config"]
        l, u = evaluated[c]
        others = [evaluated[o] for o in evaluated if o != c and space.front(o) == space.front(c)]
        require(not any(meets(o[1], l) for o in others), point, "dominated")
        require(point["interval"] == [list(p) for p in zip(l, u)], point, "interval")
        require(point["kernels"] == space.kernels(c), point, "kernels")
        require(point["front"] == space.front(c), point, "front")
        lows = [o[0] for o in others] + [b for f, b in opens if f == space.front(c)]
        certain = not any(meets(o, u) and o != u for o in lows)
        require(point["class"] == ("certain" if certain else "possible"), point, "class")
        j = head["run_objective"]
        if "run" in point and j >= 0:
            run = point["run"]["interval"]
            runs += run[0] <= u[j] and run[1] >= l[j]
    confirmed = confirmed or (head["run_objective"] >= 0 and runs == len(fronts))

    state = "certified" if count["open"] == 0 else (
        "certified within eps" if gap <= head["eps"] else "open")
    expected = {"configurations": len(lower), "evaluated": len(evaluated), "state": state,
                "gap": None if gap == INFINITY else gap, "kernels": len(kernels),
                "kernels_measured": sum("interval" in k for k in kernels),
                "alarms": len(kinds.get("alarm", [])), "composition_confirmed": confirmed, **count}
    for name, value in expected.items():
        require(tail[name] == value, tail, name)
    print(f"{len(leaves)} leaves, {len(fronts)} points, {expected['kernels_measured']} of "
          f"{len(kernels)} kernels, {state}, gap {gap}")
    if undecided:
        print(f"not checked, {undecided}: operations, bytes, peaks and formulas are as stated")
    return 0 if count["open"] == 0 and confirmed and not undecided else 4


def main():
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            return check(read(file.read()))
    except Broken as error:
        print(f"broken: {error}")
        return 3
    except (KeyError, IndexError, TypeError, ValueError, StopIteration, NameError, SyntaxError,
            ArithmeticError) as error:
        print(f"broken: a record cannot be read: {error!r}")
        return 3
    except Unreadable as error:
        print(f"cannot be checked: {error}")
        return 2


if __name__ == "__main__":
    sys.exit(main())
