"""Keys, operations, bytes and bounds of kernels, for verify_front_proof.py: formulas of its own, of
the ops that dense and mixture-of-experts decoders execute."""
import re

SIZES = {"f64": 8, "f32": 4, "s32": 4, "bf16": 2, "f16": 2, "s8": 1, "u8": 1}
LEVELS = ["l1", "l2", "l3", "memory"]


class NotChecked(Exception):
    """What these formulas do not cover."""


class Case:
    """A kernel's key: "op name=value... | kernel | backend:device/PARTSxSHARDS | mode:sets"."""

    def __init__(self, key):
        match = re.fullmatch(r"(\w+)((?: \w+=\w+)*) \| (.+) \| (\w+):(\w+)/(\d+)x(\d+) \| "
                             r"(\w+):(\d+)", key)
        if not match:
            raise NotChecked(f"key {key[:80]!r}")
        self.op, words, self.kernel, self.backend, self.device = match.group(1, 2, 3, 4, 5)
        self.parts, self.shards, self.sets = (int(match.group(i)) for i in (6, 7, 9))
        self.mode = match.group(8)
        self.params = {}
        for word in words.split():
            name, value = word.split("=")
            self.params[name] = int(value) if re.fullmatch(r"-?\d+", value) else value
        self.question = (self.op + words, self.backend, self.device, self.parts, self.shards,
                         self.mode, self.sets)


def size(dtype):
    if dtype not in SIZES:
        raise NotChecked(f"values of type {dtype}")
    return SIZES[dtype]


def matmul(flops, read, written, weights, dtype):
    return {"operations": flops, "bytes": read + weights + written, "constant": weights,
            "dtype": dtype, "transfer": 0}


def moved(read, written, constant=0, transfer=0):
    return {"operations": 0, "bytes": read + constant + written, "constant": constant,
            "dtype": "f32", "transfer": transfer}


def gemm(p):
    m, n, k = p["m"], p["n"], p["k"]
    return matmul(2 * m * n * k, m * k * size(p["src_dtype"]), m * n * size(p["dst_dtype"]),
                  n * k * size(p["wei_dtype"]), p["src_dtype"])


def attention(p):
    if p["window"] or not p["causal"] or p["kv_dtype"] not in ("f32", "bf16", "f16"):
        raise NotChecked("attention with a window, without a mask or over quantised keys")
    new, context = p["new_tokens"], p["context"]
    pairs = p["batch"] * (new * (context - new) + new * (new + 1) // 2)
    values = p["batch"] * new * p["heads"] * p["head_dim"]
    cache = 2 * p["batch"] * p["kv_heads"] * context * p["head_dim"] * size(p["kv_dtype"])
    return matmul(4 * p["heads"] * p["head_dim"] * pairs, values * size(p["q_dtype"]),
                  values * size(p["dst_dtype"]), cache, p["q_dtype"])


def embedding(p):
    values = p["rows"] * p["hidden"]
    return moved(4 * p["rows"], values * size(p["dst_dtype"]), values * size(p["src_dtype"]))


def rmsnorm(p):
    values = p["rows"] * p["cols"]
    return moved(values * size(p["src_dtype"]), values * size(p["dst_dtype"]), 4 * p["cols"])


def rope(p):
    values = p["rows"] * p["heads"] * p["head_dim"]
    angles = 2 * 4 * p["rows"] * (p["rotary_dim"] // 2)
    return moved(values * size(p["src_dtype"]) + angles, values * size(p["dst_dtype"]))


def copy(p):
    return moved(p["bytes"], p["bytes"])


def residual_add(p):
    values = p["rows"] * p["cols"]
    return moved(2 * values * size(p["src_dtype"]), values * size(p["dst_dtype"]))


def gated_activation(p):
    values = p["rows"] * p["cols"]
    return moved(2 * values * size(p["src_dtype"]), values * size(p["dst_dtype"]))


def quantize(p):
    values = p["rows"] * p["cols"]
    return moved(values * size(p["src_dtype"]), values + 4 * p["rows"])


def dequantize(p):
    values = p["rows"] * p["cols"]
    return moved(4 * values + 4 * p["rows"], values * size(p["dst_dtype"]), 4 * p["cols"])


def routed_rows(p):
    if p["ep_size"] != 1 or p["skew"] != 0:
        raise NotChecked("experts that are split over ranks, or routed unevenly")
    return p["tokens"] * p["top_k"]


def moe_route(p):
    return moved(p["tokens"] * p["experts"] * size(p["src_dtype"]), 8 * p["tokens"] * p["top_k"])


def moe_dispatch(p):
    rows = routed_rows(p)
    read = min(p["tokens"], rows) * p["hidden"] * size(p["dtype"]) + 4 * rows
    return moved(read, rows * p["hidden"] * size(p["dtype"]))


def moe_combine(p):
    rows = routed_rows(p)
    return moved(rows * p["hidden"] * size(p["dtype"]) + 8 * rows,
                 p["tokens"] * p["hidden"] * size(p["dtype"]))


def grouped_gemm(p):
    rows, n, k = routed_rows(p), p["n"], p["k"]
    weights = min(p["experts"], rows) * n * k * size(p["wei_dtype"])
    read = rows * k * size(p["src_dtype"]) + 4 * p["experts"]
    return matmul(2 * rows * n * k, read, rows * n * size(p["dst_dtype"]), weights, p["src_dtype"])


def all_reduce(p):
    return moved(p["bytes"], p["bytes"], 0, p["bytes"] * (2 * (p["ranks"] - 1) / p["ranks"]))


def all_gather(p):
    whole = p["ranks"] * p["bytes"]
    return moved(p["bytes"], whole, 0, whole * ((p["ranks"] - 1) / p["ranks"]))


def send_recv(p):
    return moved(p["bytes"], p["bytes"], 0, p["bytes"])


OPS = {f.__name__: f for f in
       (gemm, attention, embedding, rmsnorm, rope, copy, residual_add, gated_activation, quantize,
        dequantize, moe_route, moe_dispatch, moe_combine, grouped_gemm, all_reduce, all_gather,
        send_recv)}


def work(case):
    if case.op not in OPS:
        raise NotChecked(f"op {case.op}")
    return OPS[case.op](case.params)


def at_threads(entries, threads, rate):
    """An entry of exactly so many threads, else the next below scaled up, else one above down."""
    def distance(e):
        own = e.get("threads", 0)
        if own == threads:
            return 0
        if own == 0 or threads == 0:
            return 1_000_000
        return threads - own if own < threads else 1000 + own - threads

    best = None
    for e in entries:
        if best is None or (distance(e), -e[rate]) < (distance(best), -best[rate]):
            best = e
    if best is None:
        return None
    best = dict(best, threads=best.get("threads", 0))
    if threads > 0 and best["threads"] > 0 and best["threads"] != threads:
        best[rate] = best[rate] * (threads / best["threads"])
        best["threads"] = threads
    return best


def best_up_to(all_entries, entries, threads, rate):
    best = at_threads(entries, threads, rate)
    if best is None:
        return None
    counts = sorted({n for e in all_entries for n in (e.get("threads", 0) - 1, e.get("threads", 0))})
    for n in counts:
        if 1 <= n < threads:
            fewer = at_threads(entries, n, rate)
            if fewer and fewer[rate] > best[rate]:
                best = fewer
    return best


def upper(entry, rate):
    return max(entry[rate], entry.get(rate + "_high", 0)) if entry["threads"] == 0 else entry[rate]


def outside(amount, round_bytes, capacity):
    return amount * max(0.0, 1.0 - capacity / round_bytes) if round_bytes > 0 else 0.0


def expected_terms(device, cores, case, cost):
    """[(peak id, counts, per second, amount, source)] in the order of the format."""
    if case.mode != "rotate_const":
        raise NotChecked(f"mode {case.mode}")
    threads = max(1, cores // case.parts)
    peaks, bandwidths = device.get("peak", []), device.get("bandwidth", [])
    general = [p for p in peaks if p["dtype"] == cost["dtype"]
               and not p["path"].endswith(("_fp16acc", "_dla"))]
    constant, warm = cost["constant"], cost["bytes"] - cost["constant"]
    out = []
    for shards in [1] + ([case.shards] if case.shards > 1 else []):
        share = f" shared by {shards} shards" if shards > 1 else ""

        def name(what, n):
            return f"{what}, {n} thread{'' if n == 1 else 's'}{share}"

        peak = best_up_to(peaks, general, threads * shards, "flops_per_s")
        if cost["operations"] > 0 and peak and peak["flops_per_s"] > 0:
            out.append((name(peak["path"] or cost["dtype"], peak["threads"]), "operations",
                        upper(peak, "flops_per_s") / shards, float(cost["operations"]),
                        peak.get("source", "")))
        capacity, first = 0.0, True
        for level in LEVELS:
            own = [b for b in bandwidths if b["level"] == level]
            best = best_up_to(bandwidths, own, threads * shards, "bytes_per_s")
            if not best or best["bytes_per_s"] <= 0:
                continue
            has_caches = any(b["level"] != "memory" for b in bandwidths)
            amount = outside(constant, constant * case.sets + warm, capacity)
            if has_caches:
                amount += warm if first else outside(warm, warm, capacity)
            if amount > 0:
                out.append((name(level, best["threads"]), "bytes",
                            upper(best, "bytes_per_s") / shards, amount, best.get("source", "")))
            capacity += 2.0 * at_threads(own, threads, "bytes_per_s").get("working_set_bytes", 0)
            first = False
    links = sorted(device.get("link", []), key=lambda l: -l["bytes_per_s"])
    if links and cost["transfer"] > 0:
        raise NotChecked("links between devices")
    return out
