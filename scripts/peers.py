#!/usr/bin/env python3
"""Halmark's kernels and steps beside those of PyTorch, OpenVINO, llama.cpp, oneDNN: who is faster on this machine, and by how much.

    scripts/bench peers [--turns 5] [--kinds gemm,attention,step] [--types f32,bf16,int8] [--models qwen3-0.6b,...] [--minutes 30]
                        [--resume] [--python PYTHON ...] [--out results/baselines/peers.md]

All processors of the affinity set, one turn of each after the other. Ours is what `halmark bench` and `halmark run` measure without
being told how; oneDNN is the kernel gemm_onednn of the version that is linked. The other peers are measured where they are installed:
as packages of this interpreter, of build/venv or of one that --python names, as programs in PATH (scripts/peer_calls.py). Products
have their weights packed once and cold, decode attention its keys and values cold, for all of them.

A figure is the median over the turns of our time over a peer's in the same turn, with the least and the greatest. Prints the rows,
those where Halmark is behind its best peer first, and writes them into the section of this instruction set in --out: rows that are not
measured this time, and other sections, stay; --resume leaves out what the section has. Ends with exit code 3 when a row is behind by more than 5 %.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import peer_calls
import peer_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
THREADS = peer_calls.THREADS
MODELS = ("qwen3-0.6b", "llama-3.2-1b", "qwen3-1.7b")
DECODE_ROWS, PREFILL_ROWS = (1, 4, 16, 64), (128, 512)
LONG_ROWS = 4096          # of the smallest model alone
COLD_BYTES = 256 << 20    # that a ring of weights, or of keys and values, has at least
BYTES = {"f32": 4, "bf16": 2, "int8": 1}
DTYPES = {"f32": "f32", "bf16": "bf16", "int8": "s8"}
STEP_TOKENS = {"prefill": 512, "decode": 992}


def sets_of(constant_bytes):
    return max(2, min(32, -(-COLD_BYTES // constant_bytes)))


def dimensions(config):
    heads = config["num_attention_heads"]
    return config["hidden_size"], heads, config["num_key_value_heads"], config.get("head_dim") or config["hidden_size"] // heads


def gemm_groups(model, config, dtype):
    """The products of one layer with the most weights, into its network and out of it."""
    hidden, wide = config["hidden_size"], config["intermediate_size"]
    rows = DECODE_ROWS + PREFILL_ROWS + ((LONG_ROWS,) if model == MODELS[0] else ())
    for name, n, k in (("gate_up", 2 * wide, hidden), ("down", hidden, wide)):
        yield [{"op": "gemm", "m": m, "n": n, "k": k, "dtype": dtype, "sets": sets_of(n * k * BYTES[dtype]),
                "name": f"{model} {name} {m} x {n} x {k} {dtype}"} for m in rows]


def attention_groups(model, config, dtype):
    _, heads, kv_heads, width = dimensions(config)
    shapes = [(batch, 1, 1024) for batch in (1, 16)] + [(1, rows, rows) for rows in (*PREFILL_ROWS, 2048)]
    if dtype == "int8":
        return
    for batch, new, context in shapes:
        cache = 2 * batch * kv_heads * context * width * BYTES[dtype]
        name = f"prefill {new}" if new > 1 else f"decode {batch} x {context}"
        yield [{"op": "attention", "batch": batch, "heads": heads, "kv_heads": kv_heads, "head_dim": width, "new_tokens": new,
                "context": context, "dtype": dtype, "sets": sets_of(cache), "name": f"{model} attention {name} {dtype}"}]


def step_groups(model, config, dtype):
    if model == MODELS[0]:
        yield [{"op": "step", "model": model, "config": config, "step": step, "tokens": tokens, "dtype": dtype,
                "name": f"{model} step {step} {tokens} {dtype}"} for step, tokens in STEP_TOKENS.items()]


KINDS = {"gemm": gemm_groups, "attention": attention_groups, "step": step_groups}


def halmark(arguments, *options):
    done = subprocess.run([arguments.halmark, *options, "--rounds", "1", "--no-store", "--json"], capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"halmark: {done.stderr.strip()}")
    return json.loads(done.stdout)["data"]


def own_step(arguments, case):
    tokens = str(case["tokens"])
    options = ["--phase", "prefill", "--new-tokens", tokens] if case["step"] == "prefill" else ["--phase", "decode"]
    ran = halmark(arguments, "run", case["model"], "--batch", "1", "--dtype", case["dtype"], *options, "--context", tokens).get("run")
    return {case["name"]: (ran["measured_ns"], "step")} if ran and ran["measured_ns"] else {}


def own_kernels(arguments, group, kernel=()):
    """Time and implementation per case: one process for all that differ in m alone."""
    case = group[0]
    if case["op"] == "gemm":
        params = "m=[{}],n={},k={},wei_trans=1".format(",".join(str(c["m"]) for c in group), case["n"], case["k"])
    else:
        params = ",".join(f"{name}={case[name]}" for name in ("batch", "heads", "kv_heads", "head_dim", "new_tokens", "context"))
    data = halmark(arguments, "bench", "--op", case["op"], "--params", params, "--dtype", DTYPES[case["dtype"]],
                   "--sets", str(case["sets"]), *kernel)
    taken = {}
    for row, asked in zip(data["rows"], group, strict=True):
        if row["duration_ns_median"]:
            taken[asked["name"]] = row["duration_ns_median"], row["implementation"]
    return taken


class Peer:
    """A library in a process of its own."""

    def __init__(self, name, python):
        self.name = name
        self.process = subprocess.Popen([python, str(ROOT / "scripts/peer_calls.py"), name], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        first = json.loads(self.process.stdout.readline() or '{"absent": "it ended at once"}')
        self.version, self.absent = first.get("version"), first.get("absent")

    def time_ns(self, case):
        if case["dtype"] not in peer_calls.PEERS[self.name][1].get(case["op"], ()):
            return None
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended in {case['name']}")
        answered = json.loads(line)
        if isinstance(answered, str):
            print(f"{case['name']}: {self.name}: {answered}", file=sys.stderr)
            return None
        return answered

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def peers_here(pythons):
    found = []
    for name in peer_calls.PEERS:
        reasons = []
        for python in pythons:
            peer = Peer(name, python)
            if not peer.absent:
                found.append(peer)
                break
            reasons.append(peer.absent)
            peer.close()
        else:
            print(f"{name} is not compared: {reasons[-1]}", file=sys.stderr)
    return found


def one_turn(arguments, group, peers):
    """Time per peer and case, ours under ''."""
    is_step = group[0]["op"] == "step"
    own = {}
    for case in group if is_step else []:
        own.update(own_step(arguments, case))
    turn = {"": own if is_step else own_kernels(arguments, group)}
    # What oneDNN computes by default is no peer of itself.
    ours = [case for case in group if turn[""].get(case["name"], (0, ""))[1].startswith("halmark:")]
    if group[0]["op"] == "gemm" and ours:
        turn["oneDNN"] = own_kernels(arguments, ours, ("--kernel", "gemm_onednn"))
    for peer in peers:
        taken = {case["name"]: peer.time_ns(case) for case in group}
        turn[peer.name] = {name: (ns, "") for name, ns in taken.items() if ns}
    return turn


def compared(group, turns):
    """A row per case with a time of ours and of a peer in one turn at least."""
    for case in group:
        ours = [turn[""][case["name"]] for turn in turns if case["name"] in turn[""]]
        ratios, times = {}, {}
        for name in {name for turn in turns for name in turn if name}:
            pairs = [(turn[""][case["name"]][0], turn[name][case["name"]][0]) for turn in turns
                     if case["name"] in turn[""] and case["name"] in turn.get(name, {})]
            if pairs:
                ratios[name] = sorted(own / other for own, other in pairs)
                times[name] = statistics.median(other for _, other in pairs)
        if ratios:
            yield peer_table.row(case["name"], ours[0][1], statistics.median(ns for ns, _ in ours), ratios, times)
        else:
            print(f"{case['name']}: {'no peer has a time' if ours else 'disturbed, no time of ours'}", file=sys.stderr)


def groups_of(arguments, left_out):
    for model in arguments.models:
        config = json.loads((ROOT / f"configs/models/{model}.json").read_text())["config"]
        for kind in arguments.kinds:
            for dtype in arguments.types:
                for number, group in enumerate(KINDS[kind](model, config, dtype)):
                    for case in group:
                        case["group"] = f"{model} {kind} {dtype} {number}"
                    if group := [case for case in group if case["name"] not in left_out]:
                        yield group


def measured_rows(arguments, peers, isa, measured_on):
    """Written group by group, so that what is measured is kept however the run ends."""
    until, rows = time.monotonic() + 60 * arguments.minutes, []
    left_out = peer_table.stored_cases(arguments.out, isa) if arguments.resume else ()
    for group in groups_of(arguments, left_out):
        if time.monotonic() > until:
            print(f"the time is over before {group[0]['name']}", file=sys.stderr)
            break
        of_group = list(compared(group, [one_turn(arguments, group, peers) for _ in range(arguments.turns)]))
        if of_group:
            peer_table.write(arguments.out, isa, measured_on, of_group)
        rows += of_group
    return rows


def cpu_here(arguments):
    """Instruction set and name of the device cpu:0."""
    done = subprocess.run([arguments.halmark, "devices", "--json"], capture_output=True, text=True, check=True)
    device = next(d for d in json.loads(done.stdout)["data"]["devices"] if d["id"] == "cpu:0")
    return device["properties"]["isa"] or "generic", f"{device['properties']['name']}, {THREADS} threads"


def chosen(parser, option, text, known):
    asked = text.split(",")
    if unknown := [name for name in asked if name not in known]:
        parser.error(f"{option} {unknown[0]}: known are {', '.join(known)}")
    return asked


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--types", default=",".join(BYTES))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--halmark", default=str(ROOT / "build/release/bin/halmark"))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/baselines/peers.md")
    arguments = parser.parse_args()
    if arguments.turns < 1:
        parser.error("--turns: at least 1")
    arguments.kinds = chosen(parser, "--kinds", arguments.kinds, KINDS)
    arguments.types = chosen(parser, "--types", arguments.types, BYTES)
    arguments.models = chosen(parser, "--models", arguments.models, MODELS)
    own = ROOT / "build/venv/bin/python3"
    arguments.python += [sys.executable] + ([str(own)] if own.exists() else [])
    return arguments


def main():
    arguments = parsed()
    isa, machine = cpu_here(arguments)
    peers = peers_here(arguments.python)
    rows = measured_rows(arguments, peers, isa, f"{machine}; {', '.join(peer.version for peer in peers)}")
    for peer in peers:
        peer.close()
    if not rows:
        raise SystemExit("nothing was compared: no case has a time of ours and of a peer here")
    print(peer_table.text(rows))
    raise SystemExit(3 if any(row.ratio > peer_table.BEHIND for row in rows) else 0)


if __name__ == "__main__":
    try:
        main()
    except FileNotFoundError as absent:
        raise SystemExit(f"{absent.filename} is not there: build it, or name it by an option (--help)") from None
