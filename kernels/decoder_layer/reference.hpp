// Reference of a decoder layer: the steps in f64 over rows, each value beside the error that a
// kernel's roundings may have left in it.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/contract.hpp"

namespace halmark::decoder_layer {

struct Shape {
  std::int64_t batch, hidden, heads, kv_heads, head_dim, intermediate, new_tokens, context;
  std::int64_t cached() const { return context - new_tokens; }
  std::int64_t rows() const { return batch * new_tokens; }
};

// Positions in the list of operands; the caches are there where the context is longer than the new
// tokens.
enum Operand : std::size_t {
  source,
  cosine,
  sine,
  attention_gain,
  qkv_weight,
  out_weight,
  ffn_gain,
  gate_up_weight,
  down_weight,
  result,
  new_keys,
  new_values,
  key_cache,
  value_cache,
};

inline constexpr double norm_epsilon = 1e-6;

// Values of one row. An error is the root of the sum of squares of what roundings contribute: they
// are independent, and a reader of the last one allows four times that, as accumulation_error does
// (tolerance.hpp).
struct Row {
  std::vector<double> value, error;
};

class Reference {
 public:
  Reference(const Shape& shape, Dtype dtype, const InputReader& inputs, int rank)
      : shape_(shape), dtype_(dtype), inputs_(inputs), rank_(rank) {}

  // Rows of dst of one sequence; `tokens` ascend.
  std::vector<Row> results(std::int64_t sequence, const std::vector<std::int64_t>& tokens) const;
  // One head's new key, rotated, or new value.
  Row new_key(std::int64_t sequence, std::int64_t kv_head, std::int64_t token) const;
  Row new_value(std::int64_t sequence, std::int64_t kv_head, std::int64_t token) const;

 private:
  struct Head {
    std::vector<Row> keys, values;  // of the context, as far as it is needed
  };
  Row source_row(std::int64_t row) const;
  Row norm(const Row& x, Operand gain) const;
  std::vector<Row> normed_sources(std::int64_t sequence, std::int64_t tokens) const;
  // Each x times `count` rows of a weight from `first` on.
  std::vector<Row> linear(const std::vector<Row>& xs, Operand weight, std::int64_t first,
                          std::int64_t count) const;
  std::vector<Row> rotated(std::vector<Row> heads, std::int64_t sequence,
                           const std::vector<std::int64_t>& tokens) const;
  Head head(std::int64_t sequence, std::int64_t kv_head, const std::vector<Row>& sources) const;
  std::vector<Row> cached(Operand cache, std::int64_t sequence, std::int64_t kv_head) const;
  Row attended(const Row& query, const Head& head, std::int64_t keys) const;
  std::vector<Row> attention(std::int64_t sequence, const std::vector<std::int64_t>& tokens) const;
  std::vector<Row> network(const std::vector<Row>& xs) const;
  void round(Row& row) const;

  Shape shape_;
  Dtype dtype_;
  const InputReader& inputs_;
  int rank_;
};

}  // namespace halmark::decoder_layer
