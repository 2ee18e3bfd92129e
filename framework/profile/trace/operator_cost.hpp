// FLOPs of one call of a torch operator, from the shapes that record_shapes left in the trace. The
// counts come from the op contracts; what the trace does not tell is unknown, never zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"

namespace halmark::trace {

// One argument: the sizes of a tensor, or of the tensors of a list; the printed value of the rest.
struct Argument {
  std::vector<std::int64_t> dims;               // empty for scalars and what is no tensor
  std::vector<std::vector<std::int64_t>> list;  // of a list of tensors
  std::string type;                             // "float", "c10::BFloat16", "Scalar", ""
  std::string value;                            // "True", "[1, 1]"; "" when not recorded
};

// `text`: the raw arrays of dims, types and values, one a line as a Recording keeps them. Throws
// Error (exit 2) when they are no arrays of sizes.
std::vector<Argument> parse_arguments(std::string_view text, const std::string& where);

enum class Mask { full, causal, given };  // given: a tensor, whose content no trace has

struct AttentionShape {
  std::int64_t batch = 0, heads = 0, kv_heads = 0;
  std::int64_t queries = 0, keys = 0;  // per sequence
  std::int64_t head_dim = 0, value_dim = 0;
  Mask mask = Mask::full;
  bool operator==(const AttentionShape&) const = default;
};

// Model FLOPs of the visible pairs: 2 heads pairs (head_dim + value_dim), as the op attention.
double attention_flops(const AttentionShape& shape);

struct MatmulShape {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  bool operator==(const MatmulShape&) const = default;
};

// How many query tokens the sequences of a packed batch bring; a batch may mix both phases.
struct PackedQueries {
  std::int64_t tokens = 0, sequences = 0, longest = 0;
};

struct OperatorCost {
  std::optional<double> flops;
  std::string reason;  // why flops are unknown
  std::optional<MatmulShape> matmul;
  std::optional<AttentionShape> attention;
  std::optional<PackedQueries> packed;
  std::optional<Dtype> dtype;  // of the first operand
};
inline OperatorCost unknown(std::string reason) { return {.reason = std::move(reason)}; }

// `name` of class matmul, attention or experts.
OperatorCost operator_cost(std::string_view name, const std::vector<Argument>& arguments);

}  // namespace halmark::trace
