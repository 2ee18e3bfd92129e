#include "simulate/serving/fitted_terms.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::serving {
namespace {

// H100 SXM; times of kernels from the tables of the same origin (TensorRT-LLM 1.3.0rc20, vLLM
// 0.24.0). device_scale, step, sequence, token, prompt step of a layer, arrival, its token (ns).
constexpr FittedTerms table[] = {
    {"trtllm", "", {}, {}, {}, ""},
    {"vllm", "", {}, {}, {}, ""},
};

}  // namespace

std::span<const FittedTerms> all_fitted_terms() { return table; }

const FittedTerms& fitted_terms(std::string_view engine, std::string_view model) {
  const FittedTerms* found = nullptr;
  for (const FittedTerms& row : table) {
    if (row.engine == engine && (row.model == model || (row.model.empty() && found == nullptr))) {
      found = &row;
    }
  }
  if (found != nullptr) return *found;
  std::set<std::string> known;
  for (const FittedTerms& row : table) known.emplace(row.engine);
  throw refused("no terms of an engine '" + printable(engine) + "'", "--engine",
                suggestion(engine, {known.begin(), known.end()}));
}

std::string source_text(const FittedTerms& terms) {
  return "terms of " + std::string(terms.engine) +
         (terms.model.empty() ? std::string(", all models") : " with " + std::string(terms.model)) +
         ", fitted on " + std::string(terms.points) +
         " of the 2,597 published deployments of ai-dynamo/aiconfigurator@095f58a5, H100; measured "
         "over predicted in 90 % of cases: TTFT " +
         number_text(terms.ttft.low, 3) + " to " + number_text(terms.ttft.high, 3) + ", TPOT " +
         number_text(terms.tpot.low, 3) + " to " + number_text(terms.tpot.high, 3);
}

std::int64_t requests_held(const EnginePlan& plan, const RequestShape& shape) {
  const std::int64_t tokens =
      shape.input_tokens + (plan.reserves_output ? shape.output_tokens : shape.output_tokens / 2);
  const std::int64_t each = (tokens + plan.block_tokens - 1) / plan.block_tokens;
  const std::int64_t fit = std::max<std::int64_t>(1, plan.blocks / each);
  return plan.requests_max > 0 ? std::min(plan.requests_max, fit) : fit;
}

}  // namespace halmark::serving
