"""What llama.cpp's own llama-bench needs to run whole steps: a file of random weights of a model's dimensions.

Needs the Python packages gguf and numpy, which write the file that llama-bench reads; only dense models of the architecture qwen3.
"""
import json
import statistics

import gguf
import numpy

# 8-bit integers are scaled per channel by Halmark and per block of 32 here.
TYPES = {"f32": gguf.GGMLQuantizationType.F32, "bf16": gguf.GGMLQuantizationType.BF16, "int8": gguf.GGMLQuantizationType.Q8_0}
TOKENS = 16  # of one sample of a decode step


def matrices(config):
    """Names and shapes (rows of outputs, columns of inputs) of the weights of one layer."""
    hidden, width = config["hidden_size"], config["head_dim"]
    heads, kv_heads = config["num_attention_heads"] * width, config["num_key_value_heads"] * width
    return {"attn_q": (heads, hidden), "attn_k": (kv_heads, hidden), "attn_v": (kv_heads, hidden), "attn_output": (hidden, heads),
            "ffn_gate": (config["intermediate_size"], hidden), "ffn_up": (config["intermediate_size"], hidden),
            "ffn_down": (hidden, config["intermediate_size"])}


def write_model(config, of_type, path):
    writer = gguf.GGUFWriter(path, "qwen3")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("no_vocab")
    random = numpy.random.default_rng(1)

    def add_matrix(name, shape):
        values = random.standard_normal(shape, dtype=numpy.float32) * numpy.float32(0.02)
        writer.add_tensor(name, gguf.quants.quantize(values, of_type), raw_dtype=of_type)

    def add_norm(name, size):
        writer.add_tensor(name, numpy.ones(size, dtype=numpy.float32))

    add_matrix("token_embd.weight", (config["vocab_size"], config["hidden_size"]))  # the head's as well
    add_norm("output_norm.weight", config["hidden_size"])
    for layer in range(config["num_hidden_layers"]):
        for name, shape in matrices(config).items():
            add_matrix(f"blk.{layer}.{name}.weight", shape)
        for name, size in (("attn_norm", config["hidden_size"]), ("ffn_norm", config["hidden_size"]),
                           ("attn_q_norm", config["head_dim"]), ("attn_k_norm", config["head_dim"])):
            add_norm(f"blk.{layer}.{name}.weight", size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def bench_options(model, step, tokens, threads):
    """A prompt of `tokens`, or a few tokens behind `tokens` others."""
    options = ["-p", str(tokens), "-n", "0"] if step == "prefill" else ["-p", "0", "-n", str(TOKENS), "-d", str(tokens)]
    return ["-m", str(model), "-t", str(threads), "-r", "3", "-o", "json", *options]


def step_ns(output, step):
    """Median of one step."""
    return statistics.median(json.loads(output)[0]["samples_ns"]) / (1 if step == "prefill" else TOKENS)
