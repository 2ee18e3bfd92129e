#include "export/ir/decoder_layer.hpp"

#include <cmath>
#include <cstring>
#include <fstream>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "export/ir/ir_text.hpp"

namespace halmark::exports {
namespace {

constexpr std::uint64_t seed = 29;
constexpr double norm_epsilon = 1e-6;  // of the checkpoint; no time depends on it

// The steps of a layer, each a few operations of the graph.
class LayerGraph {
 public:
  explicit LayerGraph(const DecoderLayer& layer) : l_(layer) {}

  IrText build() {
    const Tensor hidden = ir_.input("hidden", {l_.batch, l_.new_tokens, l_.hidden});
    cosine_ = ir_.input("cos", {l_.new_tokens, l_.head_dim / 2});
    sine_ = ir_.input("sin", {l_.new_tokens, l_.head_dim / 2});
    const Tensor attended = ir_.sum(hidden, attention(norm(hidden, l_.hidden, "input_norm")));
    ir_.output(ir_.sum(attended, network(norm(attended, l_.hidden, "post_norm"))));
    ir_.output(keys_);
    ir_.output(values_);
    return std::move(ir_);
  }

 private:
  // x * (1 / sqrt(mean(x^2) + eps)) * gain over the last axis.
  Tensor norm(const Tensor& x, std::int64_t width, const char* name) {
    Shape one = x.shape;
    one.back() = 1;
    const Tensor squares = ir_.sum(x, ir_.number(2), "Power");
    const Tensor mean =
        ir_.apply("ReduceMean", "opset1", "keep_dims=\"true\"", {squares, ir_.integers({-1})}, one);
    const Tensor root =
        ir_.apply("Sqrt", "opset1", "", {ir_.sum(mean, ir_.number(norm_epsilon))}, one);
    const Tensor inverse = ir_.sum(ir_.number(1), root, "Divide");
    return ir_.product(ir_.product(x, inverse), ir_.weights(name, {width}, Dtype::f32, 1, 0.1));
  }

  Tensor linear(const Tensor& x, std::int64_t out, const char* name, bool has_bias = false) {
    const std::int64_t in = x.shape.back();
    const double spread = 1 / std::sqrt(as_double(in));
    const Tensor y = ir_.matmul(x, ir_.weights(name, {out, in}, l_.weights, 0, spread), true);
    if (!has_bias) return y;
    return ir_.sum(y, ir_.weights(std::string(name) + "_bias", {out}, Dtype::f32, 0, spread));
  }

  // [batch, tokens, heads * head_dim] to [batch, heads, tokens, head_dim].
  Tensor by_heads(const Tensor& x, std::int64_t heads) {
    return ir_.permuted(ir_.reshaped(x, {l_.batch, l_.new_tokens, heads, l_.head_dim}),
                        {0, 2, 1, 3});
  }

  Tensor rotated(const Tensor& x) {
    const std::int64_t half = l_.head_dim / 2;
    const Tensor first = ir_.part(x, 0, half, 3), second = ir_.part(x, half, 2 * half, 3);
    return ir_.joined(ir_.sum(ir_.product(first, cosine_), ir_.product(second, sine_), "Subtract"),
                      ir_.sum(ir_.product(second, cosine_), ir_.product(first, sine_)), 3);
  }

  Tensor with_cache(const Tensor& fresh, const char* name) {
    const std::int64_t cached = l_.context - l_.new_tokens;
    if (cached == 0) return fresh;
    return ir_.joined(ir_.input(name, {l_.batch, l_.kv_heads, cached, l_.head_dim}), fresh, 2);
  }

  // 0 where a query sees the key and a large negative number where not: [new_tokens, context], as
  // min(0, (position - key)) * 1e9.
  Tensor mask() {
    std::vector<std::int64_t> positions, keys;
    for (const std::int64_t i : below(l_.new_tokens)) {
      positions.push_back(l_.context - l_.new_tokens + i);
    }
    for (const std::int64_t j : below(l_.context)) keys.push_back(j);
    const auto in_f32 = [&](const std::vector<std::int64_t>& values, const Shape& shape) {
      const Tensor t = ir_.integers(values);
      return ir_.reshaped(ir_.apply("Convert", "opset1", "destination_type=\"f32\"", {t}, t.shape),
                          shape);
    };
    const Tensor distance =
        ir_.sum(in_f32(positions, {l_.new_tokens, 1}), in_f32(keys, {1, l_.context}), "Subtract");
    return ir_.product(ir_.sum(distance, ir_.number(0), "Minimum"), ir_.number(1e9));
  }

  // Query heads of one key head are rows of one product.
  Tensor attention(const Tensor& x) {
    Tensor q = linear(x, l_.heads * l_.head_dim, "q_proj", l_.qkv_bias);
    Tensor k = linear(x, l_.kv_heads * l_.head_dim, "k_proj", l_.qkv_bias);
    const Tensor v = linear(x, l_.kv_heads * l_.head_dim, "v_proj", l_.qkv_bias);
    q = by_heads(q, l_.heads);
    k = by_heads(k, l_.kv_heads);
    if (l_.qk_norm) {
      q = norm(q, l_.head_dim, "q_norm");
      k = norm(k, l_.head_dim, "k_norm");
    }
    q = rotated(q);
    keys_ = rotated(k);
    values_ = by_heads(v, l_.kv_heads);
    const Tensor keys = with_cache(keys_, "k_cache"), values = with_cache(values_, "v_cache");
    const std::int64_t group = l_.heads / l_.kv_heads;
    const Shape grouped{l_.batch, l_.kv_heads, group * l_.new_tokens, l_.head_dim};
    Tensor scores = ir_.product(ir_.matmul(ir_.reshaped(q, grouped), keys, true),
                                ir_.number(1 / std::sqrt(as_double(l_.head_dim))));
    if (l_.new_tokens > 1) {
      const Shape flat = scores.shape;
      scores = ir_.reshaped(scores, {l_.batch, l_.heads, l_.new_tokens, l_.context});
      scores = ir_.reshaped(ir_.sum(scores, mask()), flat);
    }
    const Tensor weights = ir_.apply("SoftMax", "opset8", "axis=\"-1\"", {scores}, scores.shape);
    Tensor out = ir_.reshaped(ir_.matmul(weights, values, false),
                              {l_.batch, l_.heads, l_.new_tokens, l_.head_dim});
    out = ir_.reshaped(ir_.permuted(out, {0, 2, 1, 3}),
                       {l_.batch, l_.new_tokens, l_.heads * l_.head_dim});
    return linear(out, l_.hidden, "o_proj");
  }

  Tensor network(const Tensor& x) {
    const Tensor gate = linear(x, l_.intermediate, "gate_proj");
    const Tensor up = linear(x, l_.intermediate, "up_proj");
    const Tensor act = ir_.apply("Swish", "opset4", "", {gate}, gate.shape);
    return linear(ir_.product(act, up), l_.hidden, "down_proj");
  }

  const DecoderLayer& l_;
  IrText ir_;
  Tensor cosine_, sine_, keys_, values_;
};

void append(std::string& out, const void* value, std::size_t bytes) {
  out.append(static_cast<const char*>(value), bytes);
}

// The bytes of one constant; bf16 is the upper half of an f32.
std::string bytes_of(const ConstantPlace& place, std::uint64_t stream) {
  std::string out;
  for (const std::int64_t value : place.integers) append(out, &value, sizeof value);
  if (!place.integers.empty()) return out;
  for (const std::int64_t i : below(place.count)) {
    const double drawn = uniform_01(hash_u64(seed + stream, as_uint64(i)));
    const auto value = static_cast<float>(place.centre + place.spread * (2 * drawn - 1));
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    const auto upper = static_cast<std::uint16_t>(bits >> 16);
    if (place.dtype == Dtype::bf16) {
      append(out, &upper, sizeof upper);
    } else {
      append(out, &bits, sizeof bits);
    }
  }
  return out;
}

std::ofstream opened(const std::string& path) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) throw Error(ExitCode::error, "the file cannot be written", path);
  return out;
}

void finish(std::ofstream& out, const std::string& path) {
  if (!out.flush()) throw Error(ExitCode::error, "the file cannot be written to its end", path);
}

}  // namespace

LayerIr decoder_layer_ir(const DecoderLayer& layer) {
  const IrText ir = LayerGraph(layer).build();
  return {ir.xml(layer.name), ir.weight_bytes()};
}

void write_layer_ir(const DecoderLayer& layer, const std::string& path) {
  const IrText ir = LayerGraph(layer).build();
  std::ofstream weights = opened(path + ".bin");
  std::uint64_t stream = 0;
  for (const ConstantPlace& place : ir.constants()) {
    weights.seekp(place.offset);
    const std::string bytes = bytes_of(place, stream++);
    weights.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  finish(weights, path + ".bin");
  std::ofstream text = opened(path + ".xml");
  text << ir.xml(layer.name);
  finish(text, path + ".xml");
}

}  // namespace halmark::exports
