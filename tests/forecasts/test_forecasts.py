"""Tests of scripts/forecasts: what it refuses of a folder, and what it keeps of tables whose times are a known formula.

test_forecasts.py TREE
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

tree = pathlib.Path(sys.argv.pop(1))
script, shipped = tree / "scripts/forecasts", tree / "configs/forecasts"
pythons = [os.environ.get("HALMARK_PEER_PYTHON", ""), str(tree / "build/venv/bin/python3"), "python3"]

# Two kernels at a time of 4 us and 600 TFLOP/s, one of them with a launch twice as long at m > 256.
TABLES = """
import pathlib, sys
import pyarrow as pa, pyarrow.parquet as pq
rows = [(source, m, n, k) for source in ("smooth", "stepped") for n in range(1024, 9216, 1024) for k in range(1024, 9216, 1024)
        for m in (1, 2, 4, 8, 16, 32, 64, 128, 256, 257, 512, 1024, 2048, 4096)]
time = [(4 if source == "smooth" or m <= 256 else 8) * 1e-3 + 2 * m * n * k / 600e12 * 1e3 for source, m, n, k in rows]
columns = dict(zip(("kernel_source", "m", "n", "k"), zip(*rows)))
table = pa.table({**columns, "framework": ["VLLM"] * len(rows), "gemm_dtype": ["bfloat16"] * len(rows), "latency": time})
for release in ("0.9.2", "0.24.0", "0.24.0rc1"):
    folder = pathlib.Path(sys.argv[1]) / "systems/data/h200_sxm/gemm/vllm" / release
    folder.mkdir(parents=True)
    pq.write_table(table, folder / "gemm_perf.parquet")
"""
ROWS = """
import json, sys
import pyarrow.parquet as pq
print(json.dumps(pq.read_table(sys.argv[1]).to_pylist()))
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)


def with_readers():
    return next((p for p in pythons if p and shutil.which(p) and run(p, "-c", "import pyarrow, numpy").returncode == 0), None)


class Checked(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name) / "forecasts"
        shutil.copytree(shipped, self.folder)
        self.file = self.folder / "h200/vllm-0.24.0.parquet"

    def check(self):
        return run(sys.executable, script, "--check", "--output", self.folder)

    def refused(self, words):
        done = self.check()
        self.assertEqual(done.returncode, 1, words)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_what_ships_holds(self):
        self.assertEqual(self.check().returncode, 0, self.check().stderr)

    def test_a_byte_that_changed_is_found(self):
        data = bytearray(self.file.read_bytes())
        data[len(data) // 2] ^= 1
        self.file.write_bytes(data)
        self.refused("h200/vllm-0.24.0.parquet is not the file that manifest.toml has the sum of")

    def test_a_file_that_is_gone_or_new_is_named(self):
        (self.folder / "h200/vllm-9.9.parquet").touch()
        self.refused("h200/vllm-9.9.parquet is not in manifest.toml")
        (self.folder / "h200/vllm-9.9.parquet").unlink()
        self.file.unlink()
        self.refused("h200/vllm-0.24.0.parquet is in manifest.toml and not there")

    def test_errors_are_those_of_the_manifest(self):
        page = self.folder / "README.md"
        page.write_text(page.read_text().replace("| h200 | vllm 0.24.0 |", "| h200 | vllm 0.24.1 |"))
        self.refused("README.md has another table of errors")

    def test_a_notice_belongs_to_them(self):
        notice = self.folder / "NOTICE"
        notice.write_text(notice.read_text().replace("Apache-2.0", "free"))
        self.refused("NOTICE does not say 'Apache-2.0'")


class Made(unittest.TestCase):
    def setUp(self):
        self.python = with_readers()
        if self.python is None:
            self.skipTest("no Python with pyarrow and numpy")
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)

    def make(self, name):
        done = run(self.python, script, "--from", self.folder / "package", "--device", "h200", "--output", self.folder / name)
        self.assertEqual(done.returncode, 0, done.stderr)
        manifest = tomllib.loads((self.folder / name / "manifest.toml").read_text())
        (entry,) = manifest["file"]
        return entry, (self.folder / name / entry["path"]).read_bytes()

    def test_a_formula_is_told_by_few_rows_and_its_step_is_kept(self):
        run(self.python, "-c", TABLES, self.folder / "package")
        entry, data = self.make("one")
        self.assertEqual(self.make("two")[1], data)
        self.assertEqual((entry["release"], entry["kind"][0]["rows_of_table"]), ("0.24.0", 1792))
        self.assertLess(entry["rows"], 1792 / 2)
        for series in entry["kind"][0]["series"]:
            self.assertLess(series["p90"], 0.1, series)
        kept = json.loads(run(self.python, "-c", ROWS, self.folder / "one" / entry["path"]).stdout)
        self.assertEqual(len(kept), entry["rows"])
        for row in kept:
            launch = 4e-3 if row["kernel_source"] == "smooth" or row["m"] <= 256 else 8e-3
            time = launch + 2 * row["m"] * row["n"] * row["k"] / 600e12 * 1e3
            self.assertAlmostEqual(row["latency"] / time, 1, delta=2.01e-3, msg=row)
        steps = {source: sum(row["m"] in (256, 257) for row in kept if row["kernel_source"] == source) for source in ("smooth", "stepped")}
        self.assertGreater(steps["stepped"], steps["smooth"])

    def test_what_is_missing_is_said_in_a_line(self):
        for source in (self.folder, self.folder / "gone"):
            done = run(self.python, script, "--from", source)
            self.assertEqual(done.returncode, 5)
            self.assertRegex(done.stderr, r"\Aforecasts: .* has no tables of aiconfigurator-core.*\n\Z")


def loaded(program):
    loader = importlib.machinery.SourceFileLoader(program.name, str(program))
    out = importlib.util.module_from_spec(importlib.util.spec_from_loader(program.name, loader))
    loader.exec_module(out)
    return out


class Compared(unittest.TestCase):
    def test_served_rows_that_are_not_there_are_said_in_a_line(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(sys.executable, tree / "scripts/accuracy", "--data", folder, "--halmark", script)
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        self.assertRegex(done.stderr, r"\Aaccuracy: skipped: .*served-deployments.csv is not there; name its folder by .*\n\Z")

    def test_errors_are_of_the_row_that_was_asked_for(self):
        columns = ("source id concurrency backend backend_version model_path system precision mode isl osl tp_size pp_size attention_dp_size "
                   "moe_ep_size ttft_ms tpot_ms").split()
        row = "db-dump a 8 vllm 0.19.0 openai/gpt-oss-120b h200_sxm fp4 agg 1024 128 2 1 1 1 200 10".split()
        other = "db-dump b 8 vllm 0.19.0 openai/gpt-oss-120b h200_sxm fp4 disagg 1024 128 2 1 1 1 200 10".split()
        figures = {"status": "ok", "data": {"ttft": {"mean_ms": 300}, "tpot": {"mean_ms": 8}, "requests_per_s": 6.1, "basis": ["device: H200"],
                                            "interval": {"ttft_ms": {"low": 162, "high": 483}, "tpot_ms": {"low": 5.92, "high": 8.8},
                                                         "requests_per_s": {"low": 5, "high": 7}}}}
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "served-deployments.csv").write_text("\n".join(",".join(line) for line in (columns, row, other)) + "\n")
            program = folder / "halmark"
            program.write_text(f"#!/bin/sh\necho \"$@\" >> {folder}/asked\ncat <<'END'\n{json.dumps(figures)}\nEND\n")
            program.chmod(0o755)
            done = run(sys.executable, tree / "scripts/accuracy", "--data", folder, "--halmark", program)
            asked = (folder / "asked").read_text()
        self.assertEqual(done.returncode, 0, done.stderr)
        # Eight clients, each of whose requests takes 200 + 127 * 10 ms: 5.44 a second.
        self.assertIn("| all | 1 | 1 | 20.0 | 20 | -20 | 0 | 18 | 50.0 | 50 | +50 | 100 | 54 | 12.1 | 12 | +12 | 100 | 16 |", done.stdout)
        self.assertIn("- 1: disaggregated", done.stdout)
        for words in ("serving gpt-oss-120b", "--device h200", "--tp 2", "--concurrency 8", "--input 1024 --output 128", "--engine vllm:0.19.0"):
            self.assertIn(words, asked)
        self.assertEqual(asked.count("\n"), 1)

    def test_degrees_are_those_of_the_devices_that_there_are(self):
        accuracy = loaded(tree / "scripts/accuracy")
        columns = ("tp_size", "attention_dp_size", "pp_size", "moe_ep_size", "moe_tp_size")
        for stated, asked in (((8, 1, 1, 8, 1), (8, 1, 1, 8)),  # of one server as they stand
                              ((64, 1, 1, 8, 8), (8, 1, 1, 8)), ((1, 16, 1, 4, 4), (1, 4, 1, 4)),  # told as products
                              ((4, 4, 1, 16, 1), (1, 4, 1, 4)), ((4, 4, 1, 1, 16), (1, 4, 1, 4)),
                              ((16, 1, 1, 16, 1), (16, 1, 1, 16)), ((72, 1, 1, 1, 72), (72, 1, 1, 1)),  # two servers, a rack
                              ((1, 8, 1, 1, 8), (1, 8, 1, 8)),  # experts cut over replicas
                              ((2, "", 1, 1, 4), (2, 2, 1, 4)), ((4, "", 1, 4, 1), (4, 1, 1, 4)), ((8, "", 1, 1, 1), (8, 1, 1, 1))):
            with self.subTest(stated=stated):
                row = dict(zip(columns, map(str, stated)))
                self.assertEqual(tuple(accuracy.degrees_of(row)[name] for name in ("tp", "dp", "pp", "ep")), asked)

    def test_caches_are_the_programs_own_but_of_servers_that_others_started(self):
        accuracy = loaded(tree / "scripts/accuracy")
        for precision, model, public, own in (
                ("fp8", "meta-llama/Llama-3.1-70B", "fp8", "fp8+kv_cache=bf16"), ("bf16", "meta-llama/Llama-3.1-70B", "bf16", "bf16"),
                ("fp4", "openai/gpt-oss-120b", "checkpoint", "checkpoint"), ("fp4", "deepseek-ai/DeepSeek-R1", "nvfp4", "nvfp4")):
            row = {"backend": "vllm", "system": "h200_sxm", "model_path": model, "precision": precision, "source": "db-dump", "mode": "agg",
                   "tp_size": "8", "attention_dp_size": "1", "pp_size": "1", "moe_ep_size": "1", "moe_tp_size": "8"}
            with self.subTest(model=model, precision=precision):
                self.assertEqual(accuracy.asked_of(row)[2], public)
                self.assertEqual(accuracy.asked_of(row | {"source": "source_file=/data/rows.csv"})[2], own)

    def test_workers_of_a_kind_have_their_own_degrees(self):
        accuracy = loaded(tree / "scripts/accuracy")
        row = {"source": "db-dump", "backend_version": "", "mode": "disagg", "model_path": "openai/gpt-oss-120b", "system": "gb200", "precision": "fp4", "backend": "trtllm",
               "concurrency": "8", "isl": "1024", "osl": "128", "prefill_num_workers": "2", "decode_num_workers": "3"}
        for kind, degrees in (("prefill_", (1, 4, 1, 4)), ("decode_", (8, 1, 1, 1))):
            row |= dict(zip((kind + name for name in ("tp_size", "attention_dp_size", "pp_size", "moe_ep_size")), map(str, degrees)))
        words = " ".join(accuracy.command(row, "halmark"))
        for part in ("--mode disaggregated", "--tp 8", "--prefill-tp 1", "--prefill-dp 4", "--prefill-ep 4", "--prefill-workers 2",
                     "--decode-workers 3"):
            self.assertIn(part, words)
        self.assertIsNone(accuracy.refusal(row))
        self.assertEqual(accuracy.refusal(row | {"prefill_num_workers": ""}), "disaggregated: its workers are not stated")


if __name__ == "__main__":
    unittest.main()
