"""What the tables of aiconfigurator-core hold, kind by kind: the columns that framework/latency/imported reads, which of them a
kernel's implementations differ in, and the axes that its times are smooth along (those of framework/latency/interpolation)."""
import numpy as np

BITS = {"bfloat16": 16, "half": 16, "fp8": 8, "fp8_block": 8, "nvfp4": 4, "int4_wo": 4, "w4a16_mxfp4": 4, "w4a8_mxfp4_mxfp8": 4}
# Of what a product is computed in.
COMPUTED = {"fp8": "f8_e4m3fn", "fp8_block": "f8_e4m3fn", "w4a8_mxfp4_mxfp8": "f8_e4m3fn", "nvfp4": "f4_e2m1"}
PROMPT_KERNELS = ("causal_conv1d_fn", "chunk_gated_delta_rule", "chunk_gated_delta_rule_flashinfer")
CONVOLUTIONS = ("causal_conv1d_fn", "causal_conv1d_update")
DELTA_RULES = ("chunk_gated_delta_rule", "chunk_gated_delta_rule_flashinfer", "fused_recurrent_gated_delta_rule",
               "fused_recurrent_gated_delta_rule_packed_decode")


class Rows:
    """Columns of one table by name, as arrays; `one` tells rows apart."""

    def __init__(self, columns):
        self.columns = columns

    def __getitem__(self, name):
        return self.columns[name]

    def __len__(self):
        return len(self.columns["latency"])

    def where(self, keep):
        return Rows({name: column[keep] for name, column in self.columns.items()})

    def log2(self, name):
        return np.log2(np.maximum(1, self[name].astype(float)))

    def bits(self, name):
        kinds, codes = np.unique(self[name], return_inverse=True)
        return np.array([BITS.get(kind, 16) for kind in kinds], dtype=float)[codes]


class Kind:
    """`text` and `size`: its columns in the file. `series`: those that tell implementations apart; `apart`: those whose rows the
    reader of forecasts does not mix. `free`: the size along which a line of points runs. `axes`: along which times are smooth, the free
    size first, in octaves over the lengths that interpolation_place.cpp has; `shape`: columns of what it calls a shape. `work`: FLOPs and bytes for the least time. `reads`: the rows
    that a layout has a problem for. `weight` of an error: small tables cost little. `scattered`: rows from anywhere, for each that is kept of
    a line."""

    def __init__(self, name, family, text, size, series, free, shape, axes, work, reads=None, weight=1.0, apart="", scattered=0):
        self.name, self.family, self.text, self.size = name, family, text.split(), size.split()
        self.series, self.shape, self.apart = series.split(), shape.split(), apart.split()
        self.free, self.axes, self.work, self.reads = free, axes, work, reads
        self.scattered = scattered
        self.weight = weight if callable(weight) else lambda r: np.full(len(r), weight)


def gemm_work(r):
    m, n, k = (r[c].astype(float) for c in "mnk")
    return 2 * m * n * k, (m * k + n * k) * r.bits("gemm_dtype") / 8 + 2 * m * n


def seen_keys(length, window):
    """Pairs of a causal prompt over its length: each query sees at most `window` keys."""
    seen = np.where(window > 0, np.minimum(window, length), length)
    return length * seen - seen * (seen - 1) / 2


def context_work(r):
    rows = r["batch_size"] * r["isl"].astype(float)
    pairs = seen_keys(r["isl"].astype(float), r["window_size"])
    return (4.0 * r["batch_size"] * r["num_heads"] * r["head_dim"] * pairs,
            2 * rows * r["head_dim"] * 2 * (r["num_heads"] + r["num_key_value_heads"]))


def generation_work(r):
    context = r["step"] + 1.0
    context = np.where(r["window_size"] > 0, np.minimum(context, r["window_size"]), context)
    keys = r["batch_size"] * context * r["head_dim"]
    return 4 * keys * r["num_heads"], 2 * keys * r["num_key_value_heads"] * r.bits("kv_cache_dtype") / 8


def encoder_work(r):
    rows = r["batch_size"] * r["isl"].astype(float)
    return 4 * rows * r["isl"] * r["num_heads"] * r["head_dim"], 8 * rows * r["head_dim"] * r["num_heads"]


def expert_work(r):
    rows = r["num_tokens"] * r["topk"] / r["moe_ep_size"]
    local = r["num_experts"] / r["moe_ep_size"]
    used = local * -np.expm1(r["num_tokens"] * np.log1p(-np.minimum(r["topk"] / r["num_experts"], 0.999)))
    matrix = 3.0 * r["hidden_size"] * r["inter_size"]
    return 2 * rows * matrix, used * matrix * r.bits("moe_dtype") / 8 + 4 * rows * r["hidden_size"]


def collective_work(r):
    return np.zeros(len(r)), 2.0 * r["message_size"] * 2 * (r["num_gpus"] - 1) / r["num_gpus"]


def context_latent_work(r):
    rows = r["batch_size"] * r["isl"].astype(float) * r["num_heads"]
    return rows * r["isl"] * (192 + 128), rows * 2 * (192 + 128) * 2


def generation_latent_work(r):
    keys = r["batch_size"] * (r["step"] + 1.0)
    return 2 * keys * r["num_heads"] * (576 + 512), keys * 576 * r.bits("kv_cache_dtype") / 8


def latent_product_work(r):
    rows = r["num_tokens"] * r["num_heads"].astype(float)
    return 2 * rows * 512 * 128, (r["num_heads"] * 512 * 128 + rows * 640) * r.bits("bmm_dtype") / 8


def channels(r):
    if "nheads" in r.columns:
        return r["nheads"] * r["head_dim"] + 2 * r["n_groups"] * r["d_state"]
    return 2 * r["num_k_heads"] * r["head_k_dim"] + r["num_v_heads"] * r["head_v_dim"]


def linear_work(r):
    """The convolution's bytes bound the delta rule's, too; its state is read and written."""
    rows = r["batch_size"] * r["seq_len"].astype(float)
    bytes_ = 4.0 * rows * channels(r)
    if "nheads" in r.columns:
        return np.zeros(len(r)), bytes_
    state = r["num_v_heads"] * r["head_k_dim"] * r["head_v_dim"].astype(float)
    rule = ~np.isin(r["kernel_source"], CONVOLUTIONS)
    return 6 * rows * state * rule, bytes_ + 8 * r["batch_size"] * state * rule


def window_axes(r, length, sizes):
    """How far a window cuts the keys, and whether there is one."""
    window = r["window_size"]
    cut = np.where((window > 0) & (window < sizes), 1 + np.log2(sizes / np.maximum(1, window)), 0)
    return [cut / 2, (window > 0) / length, np.log2(np.maximum(1, window)) / 8]


def gemm_axes(r):
    return [r.log2("m"), r.log2("n") / 2, r.log2("k") / 2, r["m"] % 16 != 0]


def context_axes(r):
    return [r.log2("isl") / 2, np.log2(r["batch_size"] * r["num_heads"]) / 2, np.log2(r["num_heads"] / r["num_key_value_heads"]) / 4,
            r.log2("num_heads") / 16, *window_axes(r, 2, r["isl"])]


def generation_axes(r):
    context = r["step"] + 1
    return [np.log2(context) / 3, np.log2(r["batch_size"] * r["num_key_value_heads"]) / 2,
            np.log2(r["num_heads"] / r["num_key_value_heads"]) / 1.5, r.log2("num_key_value_heads") / 16, *window_axes(r, 4, context)]


def encoder_axes(r):
    return [r.log2("isl") / 2, np.log2(r["batch_size"] * r["num_heads"]) / 2, r.log2("num_heads") / 16, r.log2("head_dim") / 2]


def skew(r):
    kinds, codes = np.unique(r["distribution"], return_inverse=True)
    return np.array([float(kind[10:]) if kind.startswith("power_law_") else 0 for kind in kinds])[codes]


def expert_axes(r):
    sizes = [r.log2(c) / 4 for c in ("inter_size", "hidden_size", "topk", "num_experts", "moe_ep_size")]
    return [r.log2("num_tokens") / 2, *sizes, skew(r) / 2]


def gemm_weight(r):
    """Nobody's layers are that narrow, nor is an inner size that of a vocabulary."""
    narrow = (np.minimum(r["n"], r["k"]) < 256) | (r["k"] > 40000)
    return np.where(narrow, 0.5, 1.2)


def window_weight(r):
    """Windows of 1024 and more are those of few models."""
    return np.where(r["window_size"] > 128, 0.6, 1.0)


def octaves(*names):
    return lambda r: [np.log2(r[name] + 1.0) / 2 for name in names]


def linear_axes(r):
    sizes = [r.log2("seq_len") / 2, r.log2("batch_size") / 2]
    heads = [] if "nheads" in r.columns else [r.log2("num_k_heads") / 2, r.log2("num_v_heads") / 2]
    return [*sizes, *(heads or [np.log2(channels(r)) / 2])]


def read_experts(r):
    """The law between two that are kept is left out."""
    return (np.isin(r["distribution"], ("balanced", "power_law_1.2")) & np.isin(r["moe_dtype"], tuple(BITS)) &
            (r["inter_size"] % np.maximum(1, r["moe_tp_size"]) == 0))


def read_gdn(r):
    of_prompt = np.isin(r["kernel_source"], PROMPT_KERNELS)
    return np.isin(r["kernel_source"], CONVOLUTIONS + DELTA_RULES) & ~(of_prompt & (r["seq_len"] == 1))


def read_mamba(r):
    return np.isin(r["kernel_source"], CONVOLUTIONS) & ~((r["kernel_source"] == "causal_conv1d_fn") & (r["seq_len"] == 1))


def of_16_bits(column):
    return lambda r: np.isin(r[column], ("half", "bfloat16"))


SOURCE = "kernel_source backend"
KINDS = [
    Kind("gemm", "gemm", f"gemm_dtype {SOURCE}", "m n k", f"gemm_dtype {SOURCE}", "m", "n k", gemm_axes, gemm_work,
         lambda r: np.isin(r["gemm_dtype"], ("bfloat16", "fp8", "fp8_block", "nvfp4", "int4_wo")), gemm_weight, scattered=2),
    Kind("context_attention", "attention", f"op_name attn_dtype kv_cache_dtype {SOURCE}",
         "batch_size isl num_heads num_key_value_heads head_dim window_size", f"attn_dtype kv_cache_dtype {SOURCE}", "isl",
         "num_heads num_key_value_heads", context_axes, context_work, weight=lambda r: 0.8 * window_weight(r), apart="head_dim", scattered=1),
    Kind("generation_attention", "attention", f"op_name kv_cache_dtype {SOURCE}",
         "batch_size step num_heads num_key_value_heads head_dim window_size", f"kv_cache_dtype {SOURCE}", "step",
         "num_heads num_key_value_heads", generation_axes, generation_work, weight=lambda r: 0.8 * window_weight(r), apart="head_dim", scattered=1),
    Kind("moe", "moe", f"moe_dtype distribution {SOURCE}",
         "num_tokens topk num_experts moe_ep_size moe_tp_size hidden_size inter_size", f"moe_dtype {SOURCE}", "num_tokens",
         "inter_size hidden_size num_experts", expert_axes, expert_work, read_experts, 1.6),
    Kind("nccl", "comm", f"op_name nccl_dtype {SOURCE}", "num_gpus message_size", f"op_name nccl_dtype {SOURCE}", "message_size",
         "num_gpus", octaves("message_size", "num_gpus"), collective_work, of_16_bits("nccl_dtype"), 6.0,
         scattered=3),
    Kind("custom_allreduce", "comm", f"allreduce_dtype {SOURCE}", "num_gpus message_size", f"allreduce_dtype {SOURCE}", "message_size",
         "num_gpus", octaves("message_size", "num_gpus"), collective_work, weight=6.0,
         scattered=3),
    Kind("encoder_attention", "encoder_attention", f"op_name attn_dtype {SOURCE}", "batch_size isl num_heads head_dim",
         f"attn_dtype {SOURCE}", "isl", "num_heads head_dim", encoder_axes, encoder_work, weight=0.4,
         apart="head_dim", scattered=1),
    Kind("context_mla", "mla", f"op_name mla_dtype kv_cache_dtype {SOURCE}", "batch_size isl num_heads step", f"mla_dtype {SOURCE}",
         "isl", "num_heads", octaves("isl", "batch_size", "num_heads", "step"), context_latent_work,
         lambda r: r["kv_cache_dtype"] == "bfloat16", 5.0, scattered=1),
    Kind("generation_mla", "mla", f"op_name mla_dtype kv_cache_dtype {SOURCE}", "batch_size num_heads step",
         f"mla_dtype kv_cache_dtype {SOURCE}", "step", "num_heads", octaves("step", "batch_size", "num_heads"), generation_latent_work,
         weight=4.0, scattered=1),
    Kind("mla_bmm", "mla_bmm", f"op_name bmm_dtype {SOURCE}", "num_tokens num_heads", f"op_name bmm_dtype {SOURCE}", "num_tokens", "num_heads",
         octaves("num_tokens", "num_heads"), latent_product_work, weight=4.0, scattered=1),
    Kind("gdn", "linear_attention", f"op_name {SOURCE}", "batch_size seq_len d_conv num_k_heads head_k_dim num_v_heads head_v_dim",
         SOURCE, "seq_len", "num_k_heads num_v_heads", linear_axes, linear_work, read_gdn, 3.0, scattered=1),
    Kind("mamba2", "linear_attention", f"op_name {SOURCE}", "batch_size seq_len d_conv nheads head_dim n_groups d_state", SOURCE,
         "seq_len", "nheads n_groups d_state", linear_axes, linear_work, read_mamba, 3.0, scattered=1),
]
