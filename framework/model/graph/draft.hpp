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
  std::optional<Problem> whole;
  Problem local;
  std::vector<std::optional<Problem>> of_expert_rank = {};
  std::string shape_in, shape_out;
  bool has_parameters = true;           // false: constants that are no model parameters (scales)
  std::int64_t missing_parameters = 0;  // constants of the op that the model has not: a zero shift
  std::int64_t active_parameters = 0;
  Extent bias = {};  // elements
  Dtype bias_dtype = Dtype::f32;
  // Of routed rows: what the step costs on paper, as factors on the work of the whole rows.
  struct Share {
    double rows = 1;     // all but the weights
    double weights = 1;  // constant bytes
  };
  Share whole_share = {}, rank_share = {};
  Extent scale_bytes = {};  // of block-scaled weights; they belong to the weights
  bool shares_embedding = false;
};

namespace draft {

inline std::int64_t number(Dtype dtype) { return static_cast<std::int64_t>(dtype); }

inline std::string shape(std::initializer_list<std::int64_t> dims) { return shape_text(dims); }

// Types whose linears read quantised activations: int8 with a scale per row, f8 with one per block.
inline bool is_quantized(Dtype dtype) { return dtype == Dtype::s8 || dtype == Dtype::f8_e4m3fn; }

// The operator that makes such activations from those of type `src`.
inline Problem quantize_problem(std::int64_t rows, std::int64_t columns, Dtype src, Dtype linear) {
  const bool is_block = linear != Dtype::s8;
  return complete_problem(
      {is_block ? "block_quantize" : "quantize", Params{{"rows", rows},
                                                        {"cols", columns},
                                                        {"src_dtype", number(src)},
                                                        {"dst_dtype", number(linear)}}});
}

// f8 weights carry one f32 scale per block of 128 x 128 (DeepSeek-V3, 2412.19437, section 3.3.2).
inline std::int64_t block_scale_bytes(std::int64_t columns_out, std::int64_t columns_in) {
  constexpr std::int64_t block = 128, scale_bytes = 4;
  return (columns_out + block - 1) / block * ((columns_in + block - 1) / block) * scale_bytes;
}

// The same op twice: for the whole extent and for one rank's.
template <typename MakeParams>
std::pair<Problem, Problem> problems(std::string_view op, MakeParams make) {
  return {complete_problem({std::string(op), make(&Extent::whole)}),
          complete_problem({std::string(op), make(&Extent::local)})};
}

}  // namespace draft

}  // namespace halmark
