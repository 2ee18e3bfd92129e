"""One step of a dense decoder in PyTorch as eager code writes it, with random weights: what a step of Halmark is compared with.

Weights are packed where the library has an operator for it, keys and values are written into a cache that is there before; one
sequence; logits of the last token. Normalised queries and keys as Qwen3 has them where the configuration says so.
"""


class Decoder:
    def __init__(self, torch, config, dtype, step, tokens):
        self.torch, self.dtype = torch, dtype
        self.new, self.past = (tokens, 0) if step == "prefill" else (1, tokens)
        self.heads, self.kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
        self.hidden = config["hidden_size"]
        self.width = config.get("head_dim") or self.hidden // self.heads
        self.has_qk_norm = config["model_type"] == "qwen3"
        wide, queries, keys = config["intermediate_size"], self.heads * self.width, self.kv_heads * self.width
        self.table = self.random(config["vocab_size"], self.hidden)
        self.head = self.linear(self.table)
        self.layers = [(self.linear(self.random(queries + 2 * keys, self.hidden)), self.linear(self.random(self.hidden, queries)),
                        self.linear(self.random(2 * wide, self.hidden)), self.linear(self.random(self.hidden, wide)),
                        self.random(1, self.kv_heads, self.past + self.new, self.width),
                        self.random(1, self.kv_heads, self.past + self.new, self.width))
                       for _ in range(config["num_hidden_layers"])]
        self.gain, self.gain_of_head = torch.ones(self.hidden, dtype=dtype), torch.ones(self.width, dtype=dtype)
        angles = torch.outer(torch.arange(self.past, self.past + self.new), 1e6 ** (-torch.arange(0, 1, 2 / self.width)))
        self.cos, self.sin = (torch.cat([f(angles)] * 2, -1).to(dtype) for f in (torch.cos, torch.sin))
        self.ids = torch.randint(config["vocab_size"], (self.new,))

    def random(self, *shape):
        return (self.torch.randn(*shape) * 0.02).to(self.dtype)

    def linear(self, weights):
        torch = self.torch
        try:
            packed = torch.ops.mkldnn._reorder_linear_weight(weights.to_mkldnn(), self.new)
            torch.ops.mkldnn._linear_pointwise(torch.zeros(1, weights.shape[1], dtype=self.dtype), packed, None, "none", [], "")
            return lambda x: torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], "")
        except (RuntimeError, AttributeError):
            return lambda x: torch.nn.functional.linear(x, weights)

    def norm(self, x, gain):
        return self.torch.nn.functional.rms_norm(x, gain.shape, gain, 1e-6)

    def rotated(self, x):
        low, high = x.chunk(2, -1)
        return x * self.cos + self.torch.cat((-high, low), -1) * self.sin

    def attention(self, x, qkv, keys, values):
        parts = qkv(x).view(self.new, -1, self.width).transpose(0, 1)  # heads first
        query, key, value = parts.split((self.heads, self.kv_heads, self.kv_heads))
        if self.has_qk_norm:
            query, key = self.norm(query, self.gain_of_head), self.norm(key, self.gain_of_head)
        keys[0, :, self.past:], values[0, :, self.past:] = self.rotated(key), value
        attended = self.torch.nn.functional.scaled_dot_product_attention(
            self.rotated(query)[None], keys, values, is_causal=self.past == 0, enable_gqa=self.heads != self.kv_heads)
        return attended[0].transpose(0, 1).reshape(self.new, -1)

    def step(self):
        silu = self.torch.nn.functional.silu
        x = self.table[self.ids]
        for qkv, out, gate_up, down, keys, values in self.layers:
            x = x + out(self.attention(self.norm(x, self.gain), qkv, keys, values))
            gate, up = gate_up(self.norm(x, self.gain)).chunk(2, -1)
            x = x + down(silu(gate) * up)
        return self.head(self.norm(x[-1:], self.gain))
