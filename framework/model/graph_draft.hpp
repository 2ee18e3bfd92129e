// What the verbs of GraphBuilder share: an operator before it is priced. Included by them alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/graph_builder.hpp"

namespace halmark {

struct GraphBuilder::Draft {
  std::string name;
  OperatorKind kind = OperatorKind::elementwise;
  Split split = Split::replicated;
  std::optional<Problem> whole;
  Problem local;
  std::vector<std::optional<Problem>> of_expert_rank = {};
  std::string shape_in, shape_out;
  bool has_parameters = true;  // false: constants that are no model parameters (scales)
  std::int64_t active_parameters = 0;
  Extent bias = {};  // elements
  Dtype bias_dtype = Dtype::f32;
  bool shares_embedding = false;
};

namespace draft {

inline std::int64_t number(Dtype dtype) { return static_cast<std::int64_t>(dtype); }

inline std::string shape(std::initializer_list<std::int64_t> dims) {
  std::string out = "[";
  for (const std::int64_t dim : dims) {
    if (out.size() > 1) out += ',';
    out += std::to_string(dim);
  }
  return out + "]";
}

// The same op twice: for the whole extent and for one rank's.
template <typename MakeParams>
std::pair<Problem, Problem> problems(std::string_view op, MakeParams make) {
  return {complete_problem({std::string(op), make(&Extent::whole)}),
          complete_problem({std::string(op), make(&Extent::local)})};
}

}  // namespace draft

}  // namespace halmark
