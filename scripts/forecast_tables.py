"""From the tables of one system to one file: rows of every kind, thinned until they fit, written as flat Parquet."""
import hashlib
import io
import itertools
import re
import tomllib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from forecast_kinds import COMPUTED, KINDS, Rows
from forecast_thinning import Series

FINEST = 0.015  # error of a line that is good enough
TIME_BITS = 8  # of the mantissa of a time: 0.2 %, far below its noise


class Peaks:
    """Of the device's file."""

    def __init__(self, root, device):
        facts = tomllib.loads((root / "configs/devices" / (device + ".toml")).read_text())
        self.rates = {peak["dtype"]: peak["flops_per_s"] for peak in facts["peak"] if peak["path"].endswith("_matrix")}
        self.memory = next(level["bytes_per_s"] for level in facts["bandwidth"] if level["level"] == "memory")
        self.link = next(link["bytes_per_s"] for link in facts["link"])

    def flops(self, rows):
        column = next((c for c in ("gemm_dtype", "moe_dtype", "bmm_dtype", "attn_dtype") if c in rows.columns), None)
        base = self.rates["bf16"]
        if column is None:
            return base
        names, codes = np.unique(rows[column], return_inverse=True)
        return np.array([self.rates.get(COMPUTED.get(name), base) for name in names])[codes]


def in_order(release):
    """Numbers of a release, a candidate before what it is one of."""
    known = re.fullmatch(r"([\d.]+?)\.?(?:(?:rc|post|dev)(\d+).*)?", release)
    if known is None:
        raise ValueError(f"'{release}' is no release")
    numbers, candidate = known.groups()
    step = int(candidate or 0) + (1000 if "post" in release or not candidate else 0)
    return ([int(n) for n in numbers.split(".")] + [0] * 4)[:4] + [step if "dev" not in release else -1]


def having(system, family, engine, table):
    return sorted((path.parent.name for path in system.glob(f"{family}/{engine}/*/{table}_perf.parquet")), key=in_order)


def releases_of(system, engine):
    """The newest release of which the products are measured: later ones hold single tables of new models."""
    return (having(system, "gemm", engine, "gemm") or [None])[-1]


def tables_of(system, kind, engine, release):
    """[(engine, release, path)] of a kind: of this release, else the newest before it, else the next, else of another engine; behind
    it for collectives the other releases, of which groups of other sizes are taken."""
    owners = [(library, library) for library in ("nccl", "oneccl")] if kind.name == "nccl" else [
        (owner, kind.name) for owner in (engine, *(other for other in ("trtllm", "sglang", "vllm") if other != engine))]
    for owner, table in owners:
        newest_first = having(system, kind.family, owner, table)[::-1]
        if newest_first:
            first = next((r for r in newest_first if owner != engine or in_order(r) <= in_order(release)), newest_first[-1])
            rest = [r for r in newest_first if r != first] if kind.family == "comm" else []
            return [(owner, r, system / kind.family / owner / r / f"{table}_perf.parquet") for r in (first, *rest)]
    return []


def read_table(kind, path):
    """The rows that the reader has a problem for, and how many the table has."""
    table = pq.read_table(path)
    names, count = set(table.column_names), table.num_rows
    columns = {"latency": table["latency"].to_numpy()}
    for name in kind.text:
        source = name if name in names else "framework" if name == "backend" else None
        columns[name] = np.array([text or "" for text in table[source].to_pylist()] if source in names else [""] * count)
    for name in kind.size:  # older tables of attention have no windows
        has = name in names or name != "window_size"
        columns[name] = table[name].to_numpy().astype(np.int64) if has else np.zeros(count, np.int64)
    rows = Rows(columns)
    keep = np.isfinite(rows["latency"]) & (rows["latency"] > 1e-6)
    for name in kind.size:
        keep &= (rows[name] >= 0) & (rows[name] < 2 ** 31)
    rows = rows.where(keep if kind.reads is None else keep & kind.reads(rows))
    if kind.name == "moe":  # a matrix cut over ranks is a narrower matrix
        rows.columns["inter_size"] = rows["inter_size"] // np.maximum(1, rows["moe_tp_size"])
        rows.columns["moe_tp_size"] = np.ones_like(rows["moe_tp_size"])
    return count, rows


def read_rows(kind, tables):
    """Rows of one problem as their mean, the rows of the tables, and the releases that they come from."""
    count, rows = read_table(kind, tables[0][2])
    releases = [tables[0][1]]
    for _, release, path in tables[1:]:
        more, added = read_table(kind, path)
        added = added.where(~np.isin(added["num_gpus"], rows["num_gpus"]))
        if len(added):
            count, releases = count + more, [*releases, release]
            rows = Rows({name: np.concatenate([rows[name], added[name]]) for name in rows.columns})
    return count, means(kind, rows), releases


def means(kind, rows):
    if not len(rows):
        return rows
    codes = np.stack([np.unique(rows[c], return_inverse=True)[1] for c in (*kind.series, *kind.text, *kind.size)], axis=1)
    _, first, group = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    group = group.ravel()
    out = rows.where(first)
    out.columns["latency"] = np.bincount(group, rows["latency"]) / np.bincount(group)
    return out


def series_of(kind, rows, peaks):
    codes = np.stack([np.unique(rows[c], return_inverse=True)[1] for c in (*kind.series, *kind.apart)], axis=1)
    _, group = np.unique(codes, axis=0, return_inverse=True)
    group = group.ravel()
    out = []
    for g in range(group.max() + 1):
        index = np.flatnonzero(group == g)
        name = " ".join(dict.fromkeys(str(rows[c][index[0]]) for c in kind.series))
        out.append(Series(name, kind, rows, index, peaks))
    return out


def rounded(times):
    """Float32 with a short mantissa, which packs well."""
    drop = 23 - TIME_BITS
    bits = times.astype(np.float32).view(np.uint32).astype(np.uint64) + (1 << (drop - 1))
    return (bits >> drop << drop).astype(np.uint32).view(np.float32)


def schema_of(kinds):
    text = dict.fromkeys(name for kind in kinds for name in kind.text)
    size = dict.fromkeys(name for kind in kinds for name in kind.size)
    return pa.schema([("kind", pa.string()), *((name, pa.string()) for name in text), *((name, pa.int32()) for name in size),
                      ("latency", pa.float32())])


def packed(parts, tolerance):
    """The bytes of a file."""
    schema = schema_of([kind for kind, _, _ in parts])
    sizes = {field.name: "PLAIN" for field in schema if field.type == pa.int32()}
    out = io.BytesIO()
    with pq.ParquetWriter(out, schema, compression="zstd", compression_level=19, use_dictionary=False, write_statistics=["kind"],
                          column_encoding={"latency": "BYTE_STREAM_SPLIT"} | sizes, data_page_version="2.0",
                          store_schema=False) as writer:
        for kind, rows, series in parts:
            chosen = np.concatenate([one.index[one.kept(tolerance)] for one in series])
            part = rows.where(chosen)
            columns = []
            for field in schema:
                if field.name == "kind":
                    columns.append(pa.array([kind.name] * len(part), pa.string()))
                elif field.name == "latency":
                    columns.append(pa.array(rounded(part["latency"])))
                elif field.name in part.columns:
                    columns.append(pa.array(part[field.name], field.type))
                else:
                    columns.append(pa.nulls(len(part), field.type))
            writer.write_table(pa.table(columns, schema=schema), row_group_size=max(1, len(part)))
    return out.getvalue()


def fitting(parts, limit):
    """The smallest tolerance, in steps, whose file fits."""
    low, high = np.log(FINEST), np.log(1.0)
    best = packed(parts, FINEST)
    if len(best) <= limit:
        return FINEST, best
    best = None
    for _ in range(9):
        middle = (low + high) / 2
        data = packed(parts, round(float(np.exp(middle)), 4))
        if len(data) <= limit:
            high, best = middle, (round(float(np.exp(middle)), 4), data)
        else:
            low = middle
    return best


def quantiles(errors):
    if not len(errors):
        return {}
    size = np.quantile(np.abs(errors), [0.5, 0.9])
    low, high = np.quantile(errors, [0.05, 0.95])
    return {name: round(float(value), 3) for name, value in (("median", size[0]), ("p90", size[1]), ("low", low), ("high", high))}


def series_facts(parts, tolerance):
    """What the manifest says of a series, and the errors of the rows that are not kept."""
    kept = [part.kept(tolerance) for part in parts]
    errors, off_line = (np.concatenate(errors) for errors in zip(*(part.residuals(k) for part, k in zip(parts, kept))))
    facts = {"name": parts[0].name, "of": sum(len(part.index) for part in parts), "rows": sum(len(k) for k in kept)}
    facts |= quantiles(errors)
    if len(off_line):
        facts["off_line"] = {side: quantiles(off_line)[side] for side in ("low", "high")}
    return facts, errors


def make_file(root, system, device, engine, release, output, limit):
    peaks = Peaks(root, device)
    parts, kinds = [], []
    for kind in KINDS:
        tables = tables_of(system, kind, engine, release)
        count, rows, releases = read_rows(kind, tables) if tables else (0, [], [])
        if len(rows):
            parts.append((kind, rows, series_of(kind, rows, peaks)))
            kinds.append({"name": kind.name, "engine": tables[0][0], "release": ", ".join(releases), "rows_of_table": count})
    tolerance, data = fitting(parts, limit)
    for at, (_, _, series) in enumerate(parts):
        told, errors = zip(*(series_facts(list(same), tolerance) for _, same in itertools.groupby(series, lambda one: one.name)))
        kinds[at] |= {"rows": sum(one["rows"] for one in told)} | quantiles(np.concatenate(errors)) | {"series": told}
    path = f"{device}/{engine}-{release}.parquet"
    (output / device).mkdir(parents=True, exist_ok=True)
    (output / path).write_bytes(data)
    return {"path": path, "device": device, "engine": engine, "release": release, "sha256": hashlib.sha256(data).hexdigest(),
            "bytes": len(data), "rows": sum(kind["rows"] for kind in kinds), "tolerance": tolerance, "kind": kinds}
