// What the verbs of GraphBuilder share: an operator before it is priced. Included by them alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/graph/builder.hpp"

namespace halmark {

struct GraphBuilder::Draft {
  std::string name;
  OperatorKind kind = OperatorKind::elementwise;
  Split split = Split::replicated;
  std::optional<Problem> whole = {};
  SizedProblem local;
  std::vector<std::optional<Problem>> of_expert_rank = {};
  std::string shape_in, shape_out = {};  // nothing stated: what comes in goes out
  bool has_parameters = true;            // false: constants that are no model parameters (scales)
  std::int64_t missing_parameters = 0;   // constants of the op that the model has not: a zero shift
  std::int64_t active_parameters = 0;
  Extent bias = {};  // elements
  Dtype bias_dtype = Dtype::f32;
  std::optional<RoutedShare> routed = {};
  double whole_weights = 1;  // expected distinct experts over those with whole rows
  Extent scale_bytes = {};   // of block-scaled weights; they belong to the weights
  Extent weight_bytes = {};  // of a table that is stored in another type than it is looked up in
  bool shares_embedding = false;
};

namespace draft {

inline std::int64_t number(Dtype dtype) { return static_cast<std::int64_t>(dtype); }

inline std::string shape(std::initializer_list<Size> dims) { return shape_text(dims); }

// Types whose linears read quantised activations: int8 with a scale per row, f8 with one per block.
inline bool is_quantized(Dtype dtype) { return dtype == Dtype::s8 || dtype == Dtype::f8_e4m3fn; }

inline Extent bias_of(const LinearSpec& linear) {
  if (!linear.has_bias) return {};
  return linear.biased.whole.constant() > 0 ? linear.biased : linear.columns_out;
}

// What `ranks` ranks exchange of `values` numbers.
inline SizedProblem exchanged(std::string_view op, Dtype dtype, const Size& values,
                              std::int64_t ranks) {
  return sized_problem(
      op, {{"bytes", dtype_bytes(dtype, values)}, {"ranks", ranks}, {"dtype", number(dtype)}});
}

// The operator that makes such activations from those of type `src`.
inline SizedProblem quantize_problem(const Size& rows, const Size& columns, Dtype src,
                                     Dtype linear) {
  const bool is_block = linear != Dtype::s8;
  return sized_problem(is_block ? "block_quantize" : "quantize", {{"rows", rows},
                                                                  {"cols", columns},
                                                                  {"src_dtype", number(src)},
                                                                  {"dst_dtype", number(linear)}});
}

// f8 weights carry one f32 scale per block of 128 x 128 (DeepSeek-V3, 2412.19437, section 3.3.2).
inline Size block_scale_bytes(const Size& columns_out, const Size& columns_in) {
  constexpr std::int64_t block = 128, scale_bytes = 4;
  return ceiling(columns_out, block) * ceiling(columns_in, block) * scale_bytes;
}

}  // namespace draft

}  // namespace halmark
