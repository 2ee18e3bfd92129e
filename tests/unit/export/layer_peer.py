"""Computes an exported decoder layer with the OpenVINO runtime and again with NumPy in f64.

layer_peer.py PATH HEADS KV_HEADS HEAD_DIM NEW_TOKENS CONTEXT, of a layer with norms of queries and
keys; prints the largest difference of the result over its largest value.
"""
import re
import sys

import numpy as np
import openvino as ov

path = sys.argv[1]
heads, kv_heads, head_dim, new_tokens, context = (int(word) for word in sys.argv[2:])


def stored_weights():
    """Named constants by name, in f64."""
    raw, text = open(path + ".bin", "rb").read(), open(path + ".xml").read()
    out = {}
    pattern = r'name="(\w+)" type="Const" version="opset1">\s*<data element_type="(\w+)" ' \
              r'shape="([0-9,]*)" offset="(\d+)" size="(\d+)"'
    for name, kind, shape, offset, size in re.findall(pattern, text):
        piece = raw[int(offset):int(offset) + int(size)]
        if kind == "bf16":  # the upper half of an f32
            values = (np.frombuffer(piece, np.uint16).astype(np.uint32) << 16).view(np.float32)
        elif kind == "f32":
            values = np.frombuffer(piece, np.float32)
        else:
            continue
        out[name] = values.astype(np.float64).reshape([int(n) for n in shape.split(",")])
    return out


def norm(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gain


def rotated(x, cos, sin):
    first, second = np.split(x, 2, -1)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def expected(inputs, w):
    x = inputs["hidden"].astype(np.float64)
    batch = x.shape[0]
    cos, sin = inputs["cos"].astype(np.float64), inputs["sin"].astype(np.float64)
    h = norm(x, w["input_norm"])

    def by_heads(y, count):
        return y.reshape(batch, new_tokens, count, head_dim).transpose(0, 2, 1, 3)

    q = rotated(norm(by_heads(h @ w["q_proj"].T, heads), w["q_norm"]), cos, sin)
    k = rotated(norm(by_heads(h @ w["k_proj"].T, kv_heads), w["k_norm"]), cos, sin)
    v = by_heads(h @ w["v_proj"].T, kv_heads)
    if context > new_tokens:
        k = np.concatenate([inputs["k_cache"], k], 2)
        v = np.concatenate([inputs["v_cache"], v], 2)
    k, v = (np.repeat(t, heads // kv_heads, 1) for t in (k, v))
    seen = np.arange(context)[None] <= np.arange(new_tokens)[:, None] + context - new_tokens
    scores = np.where(seen, q @ k.transpose(0, 1, 3, 2) / np.sqrt(head_dim), -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    x = x + (p @ v).transpose(0, 2, 1, 3).reshape(batch, new_tokens, -1) @ w["o_proj"].T
    h = norm(x, w["post_norm"])
    gate = h @ w["gate_proj"].T
    return x + (gate / (1 + np.exp(-gate)) * (h @ w["up_proj"].T)) @ w["down_proj"].T


core = ov.Core()
model = core.read_model(path + ".xml")
compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
random = np.random.default_rng(0)
inputs = {i.any_name: random.standard_normal(i.shape).astype(np.float32) for i in model.inputs}
angles = random.uniform(0, 6, inputs["cos"].shape)
inputs["cos"], inputs["sin"] = (f(angles).astype(np.float32) for f in (np.cos, np.sin))
want = expected(inputs, stored_weights())
print(np.abs(compiled(inputs)[0] - want).max() / np.abs(want).max())
