"""Rows of a sweep that was measured whole, as tests/bench/sweep_replay.cpp reads them.

    thin_rows.py RESULTS.db NAME ROUNDS    writes NAME.tsv and NAME.toml (the peaks that the run began with)

A row is: the first 12 digits of the SHA-256 of the kernel's key, round, status, median in ns, seconds
of wall time. The line "machine": threads, bytes of memory, 1 where the device computes bf16.
"""
import hashlib
import json
import re
import sqlite3
import sys

database, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
connection = sqlite3.connect(database)
rows = {kind: [json.loads(body) for (body,) in connection.execute(
    "SELECT body FROM entry WHERE kind = ? ORDER BY id", (kind,))]
    for kind in ("measurement", "peaks", "machine")}
keys = [key for (key,) in connection.execute(
    "SELECT key FROM entry WHERE kind = 'measurement' ORDER BY id")]
peaks = rows["peaks"][0]
with open(name + ".toml", "w", encoding="utf-8") as out:
    out.write(peaks["device_text"])
lines = "\n".join(rows["machine"][0]["lines"])
memory = int(re.search(r"memory: (\d+) MiB", lines).group(1)) << 20
has_bf16 = int("avx512_core_bf16" in lines)
with open(name + ".tsv", "w", encoding="utf-8") as out:
    out.write(f"machine\t{peaks['threads']}\t{memory}\t{has_bf16}\n")
    for row, key in zip(rows["measurement"], keys):
        if row["round"] >= rounds:
            continue
        digest = hashlib.sha256(key.encode()).hexdigest()[:12]
        out.write(f"{digest}\t{row['round']}\t{row['status']}\t{row['duration_ns_median']:.6g}\t"
                  f"{row['wall_s']:.4g}\n")
