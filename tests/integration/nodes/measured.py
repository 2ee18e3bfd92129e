"""Collectives measured over two nodes of one MPI job, in two network namespaces with a cable of a known rate
between them: rows are kept under a device of their own, no time is shorter than the cable allows, a rank that
cannot come or a caller without the token is no rank, and nothing that was started is left. Then a sweep whose
shards lie on both: its collectives are measured over the cable, its other kernels here, and the front is of both;
what is on the front is run whole on both, and so is a step of which two stages of two ranks meet over the cable.

    measured.py HALMARK    exit 77 with the reason where something is missing
"""
import json
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading

from two_nodes import HERE, SPACES, THERE, Node, enter_namespace, expect, left_over, skip

OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_recv")
RATE_MBIT = 400
MODEL = pathlib.Path(__file__).resolve().parent.parent / "data/tiny_model.json"
BYTES = 1 << 20
# Bytes that leave each rank at least, over what `bytes` says, with one rank on each of two nodes.
LEAST_SHARE = {"all_reduce": 1.0, "all_gather": 1.0, "reduce_scatter": 0.5, "all_to_all": 0.5,
               "broadcast": 0.5, "send_recv": 1.0}


def bench(halmark, op, *more, size=BYTES):
    done = subprocess.run([halmark, "bench", "--op", op, "--params", f"bytes={size},ranks=2", "--dtype", "f32",
                           "--backend", "cpu", "--rounds", "1", "--seconds", "0.05", "--json", *more],
                          capture_output=True, text=True, timeout=200)
    return done.returncode, done.stdout, done.stderr


def over_nodes(halmark, op, db, *more, **named):
    return bench(halmark, op, "--mpi-hosts", f"{HERE}:1,{THERE}:1", "--db", str(db), *more, **named)


SWEEP = """name = "nodes"
model = "{model}"
backend = "cpu"
dtypes = ["f32"]
budget_s = 60
[[workload]]
phase = "decode"
batch = [4]
context = 64
[measure]
rounds = 1
sample_budget_s = 0.02
repeat_budget_s = 0
[validate]
turn_s = 0.1
"""


def check_stack(halmark):
    """Two stages, each of two ranks on a node of its own: every kernel's output is right, every rank was timed."""
    done = subprocess.run([halmark, "run", str(MODEL), "--phase", "decode", "--batch", "4", "--context", "64", "--dtype",
                           "f32", "--tp", "2", "--pp", "2", "--rounds", "1", "--seconds", "0.2", "--no-store", "--json",
                           "--mpi-hosts", f"{HERE}:2,{THERE}:2", "--mpi-listen", HERE],
                          capture_output=True, text=True, timeout=250)
    text = done.stdout + done.stderr
    run = json.loads(done.stdout)["data"]["run"]
    expect(run["status"] in ("ok", "suspect", "invalid"), "four ranks on two nodes give right answers", text)
    expect(run["measured_ns"] > 0 and run["bubble_share"] > 0, "a pipeline over nodes is timed with its bubbles", text)
    ran = {operator["name"] for operator in run["operators"]}
    expect({"stage_send_recv", "attention_all_reduce"} <= ran, "ranks met within a node and over the cable", text)


def tune(halmark, folder, *more):
    (folder / "sweep.toml").write_text(SWEEP.format(model=MODEL))
    done = subprocess.run([halmark, "tune", str(folder / "sweep.toml"), "--mpi-hosts", f"{HERE}:1,{THERE}:1",
                           "--mpi-listen", HERE, "--db", str(folder / "sweep.db"), "--json", *more],
                          capture_output=True, text=True, timeout=250)
    return done.returncode, done.stdout, done.stderr


def check_sweep(halmark, folder):
    """Two shards lie on two nodes, of which each has one: memory, threads and kernels are those of one."""
    code, out, errors = tune(halmark, folder, "--validate=all")
    expect(code in (0, 4), "a sweep over nodes ends", out + errors)
    data = json.loads(out)["data"]
    places = {"over": set(), "here": set()}
    for kernel in data["kernels"]:
        places["over" if kernel["op"] in OPS else "here"].add(kernel["place"])
    expect(places == {"over": {"cpu:0@2 x2"}, "here": {"cpu:0"}}, "collectives lie on both nodes, kernels on one",
           str(places))
    timed = {max(e["deployment"]["parallel"], key=e["deployment"]["parallel"].get) for e in data["evaluations"]
             if e["estimate"] and max(e["deployment"]["parallel"].values()) == 2}
    expect(timed == {"tp", "pp", "dp"}, "what lies on two nodes is timed", out)
    runs = {v["key"]: v["measured_ns"] for v in data["validations"]}
    expect(all(runs[point["key"]] > 0 for point in data["front"]), "the front is run whole, on both nodes too", out)
    again, out, errors = tune(halmark, folder)
    expect(again in (0, 4) and json.loads(out)["data"]["measuring_s"] == data["measuring_s"],
           "the same command measures nothing twice", out + errors)
    code, out, errors = tune(halmark, folder, "--sampler", "certify")
    expect(code == 2 and "certify" in out + errors, "no proof is asked of nodes", out + errors)


def limit_cable(node):
    """False where this kernel has no such limit: the times then have no bound to be held against."""
    words = ["tc", "qdisc", "add", "dev"]
    limit = ["root", "tbf", "rate", f"{RATE_MBIT}mbit", "burst", "64kb", "latency", "50ms"]
    if shutil.which("tc") is None:
        return False
    done = [subprocess.run([*words, "hm0", *limit], capture_output=True),
            subprocess.run([*node.inside, *words, "hm1", *limit], capture_output=True)]
    return all(d.returncode == 0 for d in done)


def check_row(row, op, is_limited, text):
    """Whether it has a time: what the machine disturbed too much has none, and is correct all the same."""
    expect(row["status"] in ("ok", "suspect", "invalid"), f"{op} is correct and has a row", text)
    expect(row["device"].startswith("cpu:0@2"), f"{op} is of a device of two nodes", text)
    expect(not row["mfu"] and not row["bound_ns"], f"{op} is bounded by no peak of this machine", text)
    took_ns = row["duration_ns_median"]
    if took_ns and is_limited:
        least_ns = LEAST_SHARE[op] * BYTES * 8 / RATE_MBIT * 1e3
        expect(took_ns > 0.9 * least_ns, f"{op} is no faster than the cable: {least_ns} ns", text)
    return bool(took_ns)


def kept_text(db):
    with sqlite3.connect(db) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        return "\n".join(str(row) for table in tables for row in connection.execute(f'SELECT * FROM "{table}"'))


def knock(stop, heard):
    """Calls every door of this node that is not ours, says a false token and waits for an answer."""
    while not stop.is_set():
        listed = subprocess.run(["ss", "-ltnH", "src", HERE], capture_output=True, text=True).stdout
        for line in listed.splitlines():
            port = int(line.split()[3].rsplit(":", 1)[1])
            try:
                with socket.create_connection((HERE, port), timeout=1) as caller:
                    caller.sendall(b"HMRANK1\n" + b"0" * 64 + b"\x01\0\0\0\0\0\0\0")
                    caller.settimeout(1)
                    heard.append(caller.recv(1))
            except OSError:
                pass
        stop.wait(0.02)


def main():
    halmark = sys.argv[1]
    if shutil.which("mpirun") is None:
        skip("mpirun is not installed")
    enter_namespace()
    with tempfile.TemporaryDirectory(prefix="hm-", dir="/tmp") as folder:
        folder = pathlib.Path(folder)
        node = Node(folder)
        SPACES.update({node.space(), Node.own_space()})
        try:
            measure(halmark, folder, limit_cable(node))
            expect(not left_over("halmark-worker"), "nothing is left", str(left_over("halmark-worker")))
        finally:
            node.close()
    print("six collectives over two nodes have rows of their own; false callers and unreachable doors are refused")


def measure(halmark, folder, is_limited):
    db = folder / "nodes.db"
    stop, heard = threading.Event(), []
    caller = threading.Thread(target=knock, args=(stop, heard))
    caller.start()
    timed = 0
    for op in OPS:
        code, out, errors = over_nodes(halmark, op, db, "--mpi-listen", HERE)
        expect(code == 0, f"{op} is measured", out + errors)
        row = json.loads(out)["data"]["rows"][0]
        timed += check_row(row, op, is_limited, out)
    stop.set()
    caller.join()
    expect(timed >= len(OPS) // 2, "most have a time", str(timed))
    kept = kept_text(db)
    expect("0@2" in kept and "start_skew_ns" in kept, "rows are kept with their device and skew", kept[:2000])
    expect(all(answer == b"" for answer in heard), "a false token is told nothing", str(heard))
    # The listening address is loopback where none is stated: the other node cannot come there.
    code, out, errors = over_nodes(halmark, "all_reduce", db, "--no-store")
    expect(code != 0 and "--mpi-listen" in out + errors, "a door that nobody reaches is said", out + errors)
    check_sweep(halmark, folder)
    check_stack(halmark)
    code, out, errors = bench(halmark, "all_reduce", "--mpi-hosts", f"{HERE}:1,{THERE}:2", "--no-store")
    expect(code == 2 and THERE in out + errors, "unequal nodes are refused by name", out + errors)


if __name__ == "__main__":
    main()
