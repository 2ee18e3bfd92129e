"""The plan of a proof and the steps of dense and mixture-of-experts decoders, for
verify_front_proof.py: which configurations a space has, and which kernels each executes."""
import collections
import hashlib
import json
import math

from front_proof_contracts import Case, NotChecked, size, work

RING_MAX, PLATEAU = 512 << 20, 256 << 20
DENSE = {"llama", "mistral", "qwen2", "qwen3"}
EXPERTS = {"mixtral", "qwen3_moe", "granitemoe"}


class Model:
    def __init__(self, text):
        config = json.loads(text)
        config = config.get("config", config)
        self.type = config["model_type"]
        if self.type not in DENSE | EXPERTS:
            raise NotChecked(f"model type {self.type!r}")
        if config.get("quantization_config") or config.get("partial_rotary_factor", 1) != 1:
            raise NotChecked("a quantised checkpoint, or a part of each head that rotates")
        if config.get("sliding_window") and config.get("use_sliding_window",
                                                       self.type in ("llama", "mistral")):
            raise NotChecked("a sliding window")
        self.layers, self.hidden = config["num_hidden_layers"], config["hidden_size"]
        self.vocab, self.heads = config["vocab_size"], config["num_attention_heads"]
        self.kv_heads = config.get("num_key_value_heads") or self.heads
        self.head_dim = config.get("head_dim") or self.hidden // self.heads
        self.tied = config.get("tie_word_embeddings", False)
        self.kind = {"silu": 0, "swish": 0}.get(config.get("hidden_act", "silu"), 1)
        self.normed_heads = self.type in ("qwen3", "qwen3_moe")
        bias = config.get("attention_bias", False)
        self.qkv_bias = config.get("qkv_bias", True) if self.type == "qwen2" else bias
        self.o_bias = False if self.type == "qwen2" else bias
        self.mlp_bias = config.get("mlp_bias", False) if self.type in ("llama", "mistral") else False
        self.experts = 0
        self.width = config.get("intermediate_size", 0)
        if self.type in EXPERTS:
            self.read_experts(config)

    def read_experts(self, config):
        own = self.type == "qwen3_moe"
        self.experts = config["num_experts" if own else "num_local_experts"]
        self.width = config["moe_intermediate_size" if own else "intermediate_size"]
        self.top_k = config["num_experts_per_tok"]
        self.renormalize = int(config.get("norm_topk_prob", False)) if own else 1
        if own and (config.get("mlp_only_layers") or config.get("decoder_sparse_step", 1) != 1):
            raise NotChecked("layers without experts among those with them")


def recipe(name, has_bf16):
    """Types of linears, of the head, and of everything between."""
    if name in ("f32", "bf16", "f16"):
        return name, name, name
    between = "bf16" if has_bf16 else "f32"
    if name == "int8":
        return "s8", "s8", between
    raise NotChecked(f"precision {name!r}")


class Step:
    """One step of a configuration: kernels by stage, and the memory of all ranks."""

    def __init__(self, model, c, target):
        self.m, self.c = model, c
        self.tp, self.pp, self.dp = c["tp"], c["pp"], c["dp"]
        if c.get("ep", 1) != 1 or c.get("cp", 1) != 1:
            raise NotChecked("experts or contexts that are split over ranks")
        self.linear, self.head_type, self.between = recipe(c["precision"], target["has_bf16"])
        self.ranks = self.tp * self.pp * self.dp
        self.sequences = c["batch"] // self.dp // self.pp
        self.tokens = self.sequences * c["new_tokens"]
        self.micro_batches = c["batch"] // self.dp // self.sequences
        self.target = target
        self.stages = [self.stage(s) for s in range(self.pp)]

    def op(self, op, bias=0, **params):
        for name, value in (("src_dtype", self.between), ("dst_dtype", self.between)):
            if op in ("rmsnorm", "residual_add", "gated_activation", "embedding", "rope"):
                params.setdefault(name, value)
        if op == "rmsnorm":
            params["epsilon_e12"] = 1000000
        text = op + "".join(f" {n}={params[n]}" for n in sorted(params))
        return text, bias * size(self.between)

    def linear_op(self, rows, columns_in, columns_out, dtype, bias=False):
        quantised = dtype == "s8"
        out = [self.op("gemm", bias * columns_out, m=rows, n=columns_out, k=columns_in,
                       src_dtype=dtype, wei_dtype=dtype,
                       dst_dtype="s32" if quantised else self.between, wei_trans=1)]
        if quantised:
            out.append(self.op("dequantize", rows=rows, cols=columns_out, src_dtype="s32",
                               dst_dtype=self.between))
        return out

    def quantised(self, rows, columns, dtype):
        if dtype != "s8":
            return []
        return [self.op("quantize", rows=rows, cols=columns, src_dtype=self.between,
                        dst_dtype="s8")]

    def norm(self, rows, columns=None):
        return self.op("rmsnorm", rows=rows, cols=columns or self.m.hidden)

    def collective(self, op, values, ranks):
        if ranks == 1:
            return []
        return [self.op(op, bytes=values * size(self.between), ranks=ranks, dtype=self.between)]

    def add(self):
        return self.op("residual_add", rows=self.tokens, cols=self.m.hidden)

    def attention(self):
        m, t, dtype = self.m, self.tokens, self.linear
        heads, kv_heads = m.heads // self.tp, max(1, m.kv_heads // self.tp)
        q, kv = heads * m.head_dim, kv_heads * m.head_dim
        out = self.quantised(t, m.hidden, dtype)
        out += self.linear_op(t, m.hidden, q, dtype, m.qkv_bias)
        out += self.linear_op(t, m.hidden, 2 * kv, dtype, m.qkv_bias)
        if m.normed_heads:
            out += [self.norm(t * heads, m.head_dim), self.norm(t * kv_heads, m.head_dim)]
        out.append(self.op("rope", rows=t, heads=heads + kv_heads, head_dim=m.head_dim,
                           rotary_dim=m.head_dim))
        out.append(self.op("copy", bytes=t * kv * size(self.between)))
        out.append(self.op("attention", batch=self.sequences, heads=heads, kv_heads=kv_heads,
                           head_dim=m.head_dim, new_tokens=self.c["new_tokens"],
                           context=self.c["context"], window=0, causal=1, q_dtype=self.between,
                           kv_dtype=self.between, dst_dtype=self.between))
        out += self.quantised(t, q, dtype)
        return out + self.linear_op(t, q, m.hidden, dtype, m.o_bias)

    def feed_forward(self):
        m, t, dtype, width = self.m, self.tokens, self.linear, self.m.width // self.tp
        out = self.quantised(t, m.hidden, dtype)
        out += self.linear_op(t, m.hidden, 2 * width, dtype, m.mlp_bias)
        out.append(self.op("gated_activation", rows=t, cols=width, kind=m.kind))
        out += self.quantised(t, width, dtype)
        return out + self.linear_op(t, width, m.hidden, dtype, m.mlp_bias)

    def expert_linear(self, columns_in, columns_out):
        rows, dtype = self.tokens * self.m.top_k, self.linear
        quantised = dtype == "s8"
        out = self.quantised(rows, columns_in, dtype)
        out.append(self.op("grouped_gemm", **self.routing(), n=columns_out, k=columns_in,
                           src_dtype=dtype, wei_dtype=dtype,
                           dst_dtype="s32" if quantised else self.between, wei_trans=1))
        if quantised:
            out.append(self.op("dequantize", rows=rows, cols=columns_out, src_dtype="s32",
                               dst_dtype=self.between))
        return out

    def routing(self):
        m = self.m
        if self.c["routing_skew"]:
            raise NotChecked("experts that are routed unevenly")
        return {"tokens": self.tokens, "top_k": m.top_k, "experts": m.experts, "skew": 0,
                "ep_size": 1, "ep_rank": 0, "rows": self.tokens * m.top_k}

    def routed(self):
        m, t, width = self.m, self.tokens, self.m.width // self.tp
        out = self.linear_op(t, m.hidden, m.experts, self.between)
        out.append(self.op("moe_route", tokens=t, experts=m.experts, top_k=m.top_k,
                           src_dtype=self.between, scoring=0, renormalize=m.renormalize))
        out.append(self.op("moe_dispatch", **self.routing(), hidden=m.hidden, dtype=self.between))
        out += self.expert_linear(m.hidden, 2 * width)
        out.append(self.op("gated_activation", rows=t * m.top_k, cols=width, kind=m.kind))
        out += self.expert_linear(width, m.hidden)
        out.append(self.op("moe_combine", **self.routing(), hidden=m.hidden, dtype=self.between))
        return out

    def stage(self, s):
        m, t = self.m, self.tokens
        layers = m.layers // self.pp + (1 if s < m.layers % self.pp else 0)
        reduce = self.collective("all_reduce", t * m.hidden, self.tp)
        layer = [self.norm(t)] + self.attention() + reduce + [self.add(), self.norm(t)]
        layer += (self.routed() if m.experts else self.feed_forward()) + reduce + [self.add()]
        columns = -(-m.vocab // self.tp)
        out = {"layers": layers, "ops": collections.Counter(), "bias": 0, "head": 0}
        self.extend(out, layer, layers)
        if s == 0:
            self.extend(out, [self.op("embedding", rows=t, vocab=columns, hidden=m.hidden)] + reduce)
        if s + 1 == self.pp:
            rows = self.sequences if self.c["phase"] == "prefill" else t
            head = self.linear_op(rows, m.hidden, columns, self.head_type)
            self.extend(out, [self.norm(rows)] + self.quantised(rows, m.hidden, self.head_type)
                        + head + self.collective("all_gather", rows * columns, self.tp))
            out["head"] = columns * m.hidden * size(self.head_type)
        self.extend(out, self.collective("send_recv", t * m.hidden, self.pp))
        return out

    @staticmethod
    def extend(stage, ops, times=1):
        for text, bias in ops:
            stage["ops"][text] += times
            stage["bias"] += times * bias

    def kernels(self, stage):
        """{question: executions per micro-batch}"""
        target = self.target
        shared = target["cores"] > 0
        parts = min(self.ranks, target["cores"]) if shared else 1
        plateau = target["ring_plateau_bytes"]
        ring = min(PLATEAU if plateau is None else plateau, RING_MAX,
                   target["memory_bytes"] // 4 // self.ranks) if shared else 0
        costs = {text: work(Case(f"{text} | - | cpu:0/1x1 | rotate_const:1"))["constant"]
                 for text in stage["ops"]}
        ring = min(ring, sum(costs[text] * n for text, n in stage["ops"].items()))
        device = target["device"] if shared else "0"
        out = {}
        for text, n in stage["ops"].items():
            constant = costs[text]
            sets = 1 if constant <= 0 or n <= 1 else max(1, min(-(-ring // constant), n))
            out[(text, target["backend"], device, parts, self.ranks, "rotate_const", sets)] = n
        return out

    @staticmethod
    def weights(text):
        """Bytes that one instance of the op keeps."""
        case = Case(f"{text} | - | cpu:0/1x1 | rotate_const:1")
        p = case.params
        if case.op == "gemm":
            return p["n"] * p["k"] * size(p["wei_dtype"])
        if case.op == "grouped_gemm":
            return p["experts"] * p["n"] * p["k"] * size(p["wei_dtype"])
        if case.op == "embedding":
            return p["vocab"] * p["hidden"] * size(p["src_dtype"])
        return 4 * p["cols"] if case.op in ("rmsnorm", "dequantize") else 0

    def rank_memory(self, s):
        m, c, stage = self.m, self.c, self.stages[s]
        weights = stage["bias"] + sum(self.weights(t) * n for t, n in stage["ops"].items())
        if m.tied and self.pp == 1 and self.head_type == self.between:
            weights -= stage["head"]
        kv_heads = max(1, m.kv_heads // self.tp)
        kv = (c["batch"] // self.dp * stage["layers"] * c["context"] * kv_heads * 2 * m.head_dim
              * size(self.between))
        widest = max((m.heads + 2 * m.kv_heads) * m.head_dim // self.tp,
                     0 if m.experts else 2 * m.width // self.tp)
        if m.experts:
            widest = max(widest, m.top_k * (m.hidden + 2 * m.width // self.tp))
        live = self.tokens * (2 * m.hidden + widest) * size(self.between)
        rows = self.tokens if c["phase"] == "decode" else self.sequences
        logits = rows * m.vocab * 4 // self.tp if s + 1 == self.pp else 0
        return weights + kv + live + logits

    def memory(self):
        return self.dp * self.tp * sum(self.rank_memory(s) for s in range(self.pp))

    def fits(self):
        share = self.ranks if self.target["cores"] > 0 else 1
        return max(map(self.rank_memory, range(self.pp))) <= self.target["memory_bytes"] // share


class Plan:
    def __init__(self, head, record):
        self.text = record["text"]
        self.matches = hashlib.sha256(self.text.encode()).hexdigest() == head["plan"]
        self.plan = json.loads(self.text)
        self.problems = self.plan["problems"]
        self.domains = [{"name": "phase", "values": [p["name"] for p in self.problems]}]
        self.constraints = []
        for problem in self.problems:
            for parameter in problem["parameters"]:
                known = next((d for d in self.domains if d["name"] == parameter["name"]), None)
                if known is None:
                    known = {"name": parameter["name"], "values": []}
                    self.domains.append(known)
                known["values"] += [v for v in parameter["values"] if v not in known["values"]]
            self.constraints += [
                {"name": c["name"],
                 "expression": f'phase != "{problem["name"]}" or ({c["expression"]})'}
                for c in problem["constraints"]]
        self.constraints += [{"name": "of_another_phase", "expression": ""},
                             {"name": "impossible_or_out_of_memory", "expression": ""}]

    def values(self, levels):
        """Of a combination, by domain; None where it is of no problem."""
        own = {p["name"]: p["values"] for p in self.problems[levels[0]]["parameters"]}
        out = {"phase": self.problems[levels[0]]["name"], "new_tokens": 1, "batch": 1, "context": 1,
               "routing_skew": self.plan.get("routing_skew", 0)}
        for domain, level in list(zip(self.domains, levels))[1:]:
            value = domain["values"][level]
            if domain["name"] not in own:
                if level:
                    return None
            elif value not in own[domain["name"]]:
                return None
            elif domain["name"] == "precision":
                out["precision"] = value
            elif domain["name"] in ("batch", "context", "new_tokens", "dp", "tp", "pp", "ep", "cp"):
                out[domain["name"]] = int(value)
            else:
                raise NotChecked(f"domain {domain['name']!r}")
        return out
