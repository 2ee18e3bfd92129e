#include "latency/imported/collective_type.hpp"

#include "core/lists.hpp"

namespace halmark {

bool is_16_bit_collective(const Problem& problem) {
  const auto dtype = problem.params.find("dtype");
  return dtype && problem.params.find("ranks") && problem.params.find("bytes") &&
         (*dtype == as_int64(Dtype::f16) || *dtype == as_int64(Dtype::bf16));
}

Problem with_one_16_bit_type(Problem problem) {
  if (is_16_bit_collective(problem)) {
    problem.params.set("dtype", as_int64(Dtype::bf16));
  }
  return problem;
}

}  // namespace halmark
