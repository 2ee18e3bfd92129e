"""Kernels and steps of other libraries, timed in a process of their own with all processors of the affinity set.

Started by scripts/peers.py as `PYTHON scripts/peer_calls.py NAME`. The first line that it writes is the library's version, or the
reason why there is none; then each line read is a case as JSON and each line written its time in ns, or what the library says against
it. A case stays prepared until the group of cases changes. Weights, or keys and values, rotate through as many sets as Halmark's do.
PyTorch and OpenVINO are Python packages; llama-bench and benchdnn are programs in PATH, or named by LLAMA_BENCH and BENCHDNN.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

THREADS = len(os.sched_getaffinity(0))
SECONDS = 0.2


def median_ns(calls):
    """Median time of one call of the ring, after one turn of it."""
    for call in calls[:8]:
        call()
    taken, until = [], time.perf_counter() + SECONDS
    while time.perf_counter() < until or len(taken) < 3:
        call = calls[len(taken) % len(calls)]
        begin = time.perf_counter_ns()
        call()
        taken.append(time.perf_counter_ns() - begin)
    return statistics.median(taken)


class Calls:
    """A library in this process: the fastest of its ways is chosen once, then timed."""

    def __init__(self):
        self.group, self.prepared = None, {}

    def time_ns(self, case):
        if self.group != case["group"]:
            self.group, self.prepared = case["group"], {}
        key = json.dumps(case)
        if key not in self.prepared:
            ways = getattr(self, case["op"])(case)
            self.prepared[key] = min(ways, key=median_ns) if len(ways) > 1 else ways[0]
        return median_ns(self.prepared[key])


class Torch(Calls):
    def __init__(self):
        super().__init__()
        import torch
        self.torch, self.version = torch, f"PyTorch {torch.__version__}"
        torch.set_num_threads(THREADS)
        torch.set_grad_enabled(False)
        self.dtypes = {"f32": torch.float32, "bf16": torch.bfloat16}

    def gemm(self, case):
        """Ways to multiply by weights [n, k]: as eager code does, and with weights packed as its compiler packs them."""
        torch, (m, n, k) = self.torch, (case["m"], case["n"], case["k"])
        if case["dtype"] == "int8":
            source = torch.randint(-127, 128, (m, k), dtype=torch.int8)
            sets = [torch.randint(-64, 65, (n, k), dtype=torch.int8).t() for _ in range(case["sets"])]
            return [[lambda w=w: torch._int_mm(source, w) for w in sets]]
        source = torch.randn(m, k).to(self.dtypes[case["dtype"]])
        sets = [torch.randn(n, k).to(source.dtype) for _ in range(case["sets"])]
        ways = [[lambda w=w: torch.nn.functional.linear(source, w) for w in sets]]
        try:
            packed = [torch.ops.mkldnn._reorder_linear_weight(w.to_mkldnn(), m) for w in sets]
            ways.append([lambda w=w: torch.ops.mkldnn._linear_pointwise(source, w, None, "none", [], "") for w in packed])
        except (RuntimeError, AttributeError):
            pass  # no such operator in this build
        return ways

    def step(self, case):
        import peer_decoder
        decoder = peer_decoder.Decoder(self.torch, case["config"], self.dtypes[case["dtype"]], case["step"], case["tokens"])
        return [[decoder.step]]

    def attention(self, case):
        """Heads in groups as the library takes them, and with keys and values written out per head beforehand."""
        torch, of = self.torch, self.dtypes[case["dtype"]]
        query = torch.randn(case["batch"], case["new_tokens"], case["heads"], case["head_dim"]).to(of).transpose(1, 2)
        shape = case["batch"], case["kv_heads"], case["context"], case["head_dim"]
        sets = [(torch.randn(shape).to(of), torch.randn(shape).to(of)) for _ in range(case["sets"])]
        attend, causal = torch.nn.functional.scaled_dot_product_attention, case["new_tokens"] == case["context"]
        ways = [[lambda k=k, v=v: attend(query, k, v, is_causal=causal, enable_gqa=True) for k, v in sets]]
        if (group := case["heads"] // case["kv_heads"]) > 1:
            whole = [tuple(x.repeat_interleave(group, 1) for x in pair) for pair in sets]
            ways.append([lambda k=k, v=v: attend(query, k, v, is_causal=causal) for k, v in whole])
        return ways


class OpenVino(Calls):
    def __init__(self):
        super().__init__()
        import openvino
        from openvino import opset13
        self.ov, self.ops, self.core = openvino, opset13, openvino.Core()
        self.version = f"OpenVINO {openvino.__version__.split('-')[0]}"
        self.types = {"f32": openvino.Type.f32, "bf16": openvino.Type.bf16}

    def gemm(self, case):
        import numpy
        of, random = self.types[case["dtype"]], numpy.random.default_rng(1)
        settings = {"INFERENCE_NUM_THREADS": THREADS, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": case["dtype"]}
        ring = []
        for _ in range(case["sets"]):
            source = self.ops.parameter((case["m"], case["k"]), of)
            weights = self.ops.constant(random.standard_normal((case["n"], case["k"]), dtype=numpy.float32))
            # A conversion of a constant is folded when the model is compiled.
            weights = weights if case["dtype"] == "f32" else self.ops.convert(weights, "bf16")
            model = self.ov.Model([self.ops.matmul(source, weights, False, True)], [source])
            request = self.core.compile_model(model, "CPU", settings).create_infer_request()
            request.set_input_tensor(self.ov.Tensor(of, self.ov.Shape((case["m"], case["k"]))))
            ring.append(request.infer)
        return [ring]


def program(name, variable):
    """Path of a program that may be here."""
    found = shutil.which(os.environ.get(variable, name))
    if not found:
        raise OSError(f"no program {os.environ.get(variable, name)} in PATH ({variable} names another)")
    return found


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": str(THREADS)})
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1])
    return done.stdout


class LlamaBench:
    """Whole steps of a file of random weights, which is written once per group."""

    def __init__(self):
        import peer_llama
        self.llama, self.path = peer_llama, program("llama-bench", "LLAMA_BENCH")
        self.version, self.group, self.folder = "llama.cpp", None, None

    def time_ns(self, case):
        if self.group != case["group"]:
            self.group, self.folder = case["group"], tempfile.TemporaryDirectory()
            self.llama.write_model(case["config"], self.llama.TYPES[case["dtype"]], pathlib.Path(self.folder.name) / "model.gguf")
        command = self.llama.bench_options(pathlib.Path(self.folder.name) / "model.gguf", case["step"], case["tokens"], THREADS)
        return self.llama.step_ns(output_of([self.path, *command]), case["step"])


class BenchDnn:
    """oneDNN's own benchmark: the average of one product with weights that are cold and laid out as it likes."""

    TYPES = {"f32": "f32", "bf16": "bf16", "int8": "s8:s8:s32"}

    def __init__(self):
        self.path, self.version = program("benchdnn", "BENCHDNN"), "benchdnn"

    def time_ns(self, case):
        shape = "{m}x{k}:{k}x{n}".format(**case)
        out = output_of([self.path, "--matmul", "--mode=P", "--perf-template=%0time%", "--cold-cache=wei",
                         f"--dt={self.TYPES[case['dtype']]}", "--stag=ab", "--wtag=any", "--dtag=ab", shape])
        return float(next(line for line in out.splitlines() if line[:1].isdigit())) * 1e6


# What each can be asked: kinds of cases, and their types.
PEERS = {"PyTorch": (Torch, {"gemm": ("f32", "bf16", "int8"), "attention": ("f32", "bf16"), "step": ("f32", "bf16")}),
         "OpenVINO": (OpenVino, {"gemm": ("f32", "bf16")}),
         "llama.cpp": (LlamaBench, {"step": ("f32", "bf16", "int8")}),
         "benchdnn": (BenchDnn, {"gemm": ("f32", "bf16", "int8")})}


def serve(name):
    try:
        peer = PEERS[name][0]()
    except (ImportError, OSError) as absent:
        print(json.dumps({"absent": str(absent)}), flush=True)
        return
    print(json.dumps({"version": peer.version}), flush=True)
    for line in sys.stdin:
        try:
            answered = peer.time_ns(json.loads(line))
        except Exception as refused:  # what the library says against a case is an answer too
            answered = str(refused).strip().splitlines()[0]
        print(json.dumps(answered), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
