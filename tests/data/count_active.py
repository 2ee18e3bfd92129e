#!/usr/bin/env python3
"""Active parameters of every shipped model, counted from its configuration and from nothing else.

Counted: the weights of matrix products that one token meets, output head and router in, embedding
lookup out; of the routed experts those that a token chooses. Left out, as in published counts: the
16 x hidden weights that join DeepSeek-V4's residual streams before the head. Written apart from the program, so that
the two can be compared:  count_active.py configs/models
"""
import json
import pathlib
import sys


def grouped_query(c, heads=None, kv_heads=None, width=None, value_width=None, gate=0):
    h = c["hidden_size"]
    n = heads or c["num_attention_heads"]
    kv = kv_heads or c.get("num_key_value_heads") or n
    d = width or c.get("head_dim") or c.get("attention_head_dim") or h // n
    dv = value_width or d
    return h * n * d * (1 + gate) + h * kv * (d + dv) + n * dv * h


def latent(c, has_indexer=False):
    h, n = c["hidden_size"], c["num_attention_heads"]
    nope, rope, value = c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["v_head_dim"]
    rank, kv_rank = c.get("q_lora_rank"), c["kv_lora_rank"]
    query = h * rank + rank * n * (nope + rope) if rank else h * n * (nope + rope)
    out = query + h * (kv_rank + rope) + kv_rank * n * (nope + value) + n * value * h
    if has_indexer:
        ih, iw = c["index_n_heads"], c["index_head_dim"]
        out += rank * ih * iw + h * iw + h * ih
    return out


def compressed(c, ratio):
    h, n, d, rank = c["hidden_size"], c["num_attention_heads"], c["head_dim"], c["q_lora_rank"]
    out = h * rank + rank * n * d + h * d
    if ratio == 4:  # overlapped windows: values and gates of two
        ih, iw = c["index_n_heads"], c["index_head_dim"]
        out += 4 * h * d + rank * ih * iw + h * ih + 4 * h * iw
    elif ratio:
        out += 2 * h * d
    out += n * d * c["o_lora_rank"] + c["o_groups"] * c["o_lora_rank"] * h
    streams = c["hc_mult"]  # mixing of residual streams, before each of two sub-layers
    return out + 2 * (2 + streams) * streams * streams * h


def delta_net(c):
    h = c["hidden_size"]
    keys = c["linear_num_key_heads"] * c["linear_key_head_dim"]
    nv = c["linear_num_value_heads"]
    values = nv * c["linear_value_head_dim"]
    return h * (2 * keys + 2 * values + 2 * nv) + values * h


def mamba(c):
    h, heads = c["hidden_size"], c["mamba_num_heads"]
    inner = heads * c["mamba_head_dim"]
    return h * (2 * inner + 2 * c["n_groups"] * c["ssm_state_size"] + heads) + inner * h


def kimi_delta(c):
    """q, k, v; the two low-rank gates of decay and output; beta; output."""
    h, la = c["hidden_size"], c["linear_attn_config"]
    d, n = la["head_dim"], la["num_heads"]
    return 3 * h * n * d + 2 * (h * d + d * n * d) + h * n + n * d * h


def matrices(c):
    plain = {"gpt2", "opt", "nemotron", "nemotron_h", "phi", "starcoder2", "gpt_neox", "falcon",
             "gptj", "mpt"}
    return 2 if c["model_type"] in plain else 3


def experts(c):
    h, m = c["hidden_size"], matrices(c)
    count = c.get("n_routed_experts") or c.get("num_experts") or c.get("num_local_experts")
    chosen = c.get("num_experts_per_tok") or c.get("num_experts_per_token")
    width = c.get("moe_intermediate_size") or c["intermediate_size"]
    shared = c.get("shared_expert_intermediate_size") or c.get("moe_shared_expert_intermediate_size")
    if shared is None:
        shared = (c.get("n_shared_experts") or c.get("num_shared_experts") or 0) * width
    if c["model_type"] == "llama4_text":
        shared = width
    latent_width = c.get("moe_latent_size")
    routed = chosen * m * (latent_width or h) * width
    if latent_width:
        routed += 2 * h * latent_width
    gate = h if c["model_type"].startswith(("qwen3_next", "qwen3_5_moe")) else 0
    return h * count + routed + m * h * shared + gate


def feed_forward(c, layer):
    h = c["hidden_size"]
    count = c.get("n_routed_experts") or c.get("num_experts") or c.get("num_local_experts")
    dense = matrices(c) * h * (c.get("intermediate_size_mlp") or c.get("intermediate_size") or 0)
    if not count:
        return dense
    if c["model_type"] == "llama4_text":
        return experts(c) if (layer + 1) % c["interleave_moe_layer_step"] == 0 else dense
    frequency = c.get("moe_layer_freq")
    is_dense = layer < c.get("first_k_dense_replace", 0) or layer in c.get("mlp_only_layers", [])
    if isinstance(frequency, list):
        is_dense = not frequency[layer]
    return dense if is_dense else experts(c)


def attention(c, layer):
    kind = c["model_type"]
    if kind == "deepseek_v4":
        return compressed(c, c["compress_ratios"][layer])
    if kind == "kimi_linear":
        is_full = layer + 1 in c["linear_attn_config"]["full_attn_layers"]
        return latent(c) if is_full else kimi_delta(c)
    if "kv_lora_rank" in c:
        types = c.get("indexer_types")
        has_indexer = "index_n_heads" in c and (types is None or types[layer] == "full")
        return latent(c, has_indexer)
    if kind.startswith(("qwen3_next", "qwen3_5")):
        is_full = (layer + 1) % c["full_attention_interval"] == 0
        return grouped_query(c, gate=1) if is_full else delta_net(c)
    if kind == "mimo_v2_flash" and c["hybrid_layer_pattern"][layer]:
        return grouped_query(c, c["swa_num_attention_heads"], c["swa_num_key_value_heads"],
                             c["swa_head_dim"], c["swa_v_head_dim"])
    return grouped_query(c, value_width=c.get("v_head_dim"))


def pruned(c):
    """Blocks of their own: attention or none, and a feed-forward width per block."""
    h, out = c["hidden_size"], 0
    for group, none, mult in zip(c["block_attention_n_heads_in_group"], c["block_attention_no_op"],
                                 c["block_ffn_mult"]):
        if not none:
            out += grouped_query(c, kv_heads=c["num_attention_heads"] // group)
        width = -(-int(2 * mult * h / 3) // 256) * 256
        out += 3 * h * width
    return out


def hybrid(c):
    pattern = c.get("hybrid_override_pattern")
    if pattern is None:
        letters = {"mamba": "M", "attention": "*", "moe": "E", "mlp": "-"}
        pattern = "".join(letters[kind] for kind in c["layers_block_type"])
    plain = matrices(c) * c["hidden_size"] * c["intermediate_size"]
    price = {"M": lambda: mamba(c), "*": lambda: grouped_query(c), "-": lambda: plain,
             "E": lambda: experts(c)}
    return sum(price[letter]() for letter in pattern)


def jamba(c):
    h, out = c["hidden_size"], 0
    inner, state, rank = c["mamba_expand"] * h, c["mamba_d_state"], c["mamba_dt_rank"]
    scan = h * 2 * inner + inner * (rank + 2 * state) + rank * inner + inner * h
    network = 3 * h * c["intermediate_size"]
    for layer in range(c["num_hidden_layers"]):
        is_attention = layer % c["attn_layer_period"] == c["attn_layer_offset"]
        is_sparse = layer % c["expert_layer_period"] == c["expert_layer_offset"]
        out += grouped_query(c) if is_attention else scan
        out += c["num_experts_per_tok"] * network + h * c["num_experts"] if is_sparse else network
    return out


renamed = {"gptj", "mpt", "falcon", "exaone", "ernie4_5_moe", "hunyuan_v1_moe", "mamba2"}


def common_names(c):
    """The same configuration under the names that most files have."""
    c = dict(c)
    other = {"num_hidden_layers": ("n_layer", "n_layers", "num_layers"),
             "hidden_size": ("n_embd", "d_model"), "num_attention_heads": ("n_head", "n_heads"),
             "num_experts": ("moe_num_experts",), "num_experts_per_tok": ("moe_k", "moe_topk"),
             "first_k_dense_replace": ("moe_layer_start_index",),
             "n_shared_experts": ("moe_num_shared_experts", "num_shared_expert"),
             "mamba_num_heads": ("num_heads",), "ssm_state_size": ("state_size",)}
    for name, others in other.items():
        for key in others:
            if name not in c and key in c:
                c[name] = c[key]
    for name in ("num_experts_per_tok", "n_shared_experts", "moe_intermediate_size"):
        if isinstance(c.get(name), list):  # one number for all layers
            c[name] = c[name][0]
    if c["model_type"] in ("gptj", "mpt", "falcon"):
        c.setdefault("intermediate_size", 4 * c["hidden_size"])
    if c["model_type"] == "falcon":
        is_new = c["new_decoder_architecture"]
        c["num_key_value_heads"] = c["num_kv_heads"] if is_new else 1
    return c


def active(config):
    c = config.get("text_config", config)
    if c["model_type"] in renamed:
        c = common_names(c)
    head = c["hidden_size"] * c["vocab_size"]
    if c["model_type"] == "nemotron-nas":
        return pruned(c) + head
    if c["model_type"] == "nemotron_h":
        return hybrid(c) + head
    if c["model_type"] == "jamba":
        return jamba(c) + head
    if c["model_type"] == "mamba2":
        c["mamba_head_dim"] = c["head_dim"]
        return mamba(c) * c["num_hidden_layers"] + head
    return head + sum(attention(c, i) + feed_forward(c, i) for i in range(c["num_hidden_layers"]))


def main():
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
        print(file.stem, active(json.loads(file.read_text())["config"]))


if __name__ == "__main__":
    main()
