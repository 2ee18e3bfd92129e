// A library's own kernels differ from ours by less than its shapes differ from anything tabled;
// what has no contract (norms as five elementwise operators, an interpreter between them) is taken
// as it was recorded, rather than guessed.
#include "profile/comparison/step_prediction.hpp"

#include <algorithm>
#include <map>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "kernels/contract.hpp"

namespace halmark::trace {
namespace {

// A linear layer of torch keeps its weights as [n, k], as the operators of a model graph do.
std::optional<Problem> matmul_problem(const MatmulShape& shape, Dtype dtype) {
  if (shape.batch != 1) return std::nullopt;
  const std::int64_t type = as_int64(dtype);
  return Problem{"gemm",
                 {{"m", shape.m},
                  {"n", shape.n},
                  {"k", shape.k},
                  {"src_dtype", type},
                  {"wei_dtype", type},
                  {"dst_dtype", type},
                  {"wei_trans", 1}}};
}

// Torch aligns a causal mask at the first key, the op at the last: they agree where as many queries
// as keys are given, or without a mask.
std::optional<Problem> attention_problem(const AttentionShape& shape, Dtype dtype) {
  const bool is_same_mask =
      shape.mask == Mask::full || (shape.mask == Mask::causal && shape.queries == shape.keys);
  if (!is_same_mask || shape.head_dim != shape.value_dim) return std::nullopt;
  const std::int64_t type = as_int64(dtype);
  return Problem{"attention",
                 {{"batch", shape.batch},
                  {"heads", shape.heads},
                  {"kv_heads", shape.kv_heads},
                  {"head_dim", shape.head_dim},
                  {"new_tokens", shape.queries},
                  {"context", shape.keys},
                  {"causal", shape.mask == Mask::causal ? 1 : 0},
                  {"q_dtype", type},
                  {"kv_dtype", type},
                  {"dst_dtype", type}}};
}

// Nothing where the trace does not tell, or where the contract of the op refuses it.
std::optional<Problem> problem_of(const OperatorCost& cost) {
  if (!cost.dtype || cost.packed) return std::nullopt;
  std::optional<Problem> problem;
  if (cost.matmul) problem = matmul_problem(*cost.matmul, *cost.dtype);
  if (cost.attention) problem = attention_problem(*cost.attention, *cost.dtype);
  if (!problem) return std::nullopt;
  try {
    return complete_problem(*problem);
  } catch (const Error&) {
    return std::nullopt;
  }
}

struct PassTimes {
  TraceStage stage = TraceStage::unknown;
  std::map<Problem, std::pair<std::int64_t, double>> kernels;  // executions, ns
  std::int64_t other_count = 0;
  double other_ns = 0, outside_ns = 0, wall_ns = 0;
};

std::vector<PassTimes> times_of_passes(const Attribution& attribution) {
  const bool is_of_device = attribution.device.total_ns > 0;
  std::vector<PassTimes> out(attribution.passes.size());
  for (const auto i : indices(out)) {
    const Pass& pass = attribution.passes[i];
    out[i].stage = pass.stage;
    out[i].wall_ns = out[i].outside_ns = as_double(pass.end_ns - pass.begin_ns);
  }
  for (const OperatorRow& row : attribution.rows) {
    if (row.pass >= out.size()) continue;
    PassTimes& pass = out[row.pass];
    const auto ns = as_double(is_of_device ? row.device_ns : row.host_ns);
    const auto count = as_int64(row.count);
    pass.outside_ns -= ns;
    if (const auto problem = problem_of(attribution.cost_of(row))) {
      auto& [executions, total_ns] = pass.kernels[*problem];
      executions += count;
      total_ns += ns;
    } else {
      pass.other_count += count;
      pass.other_ns += ns;
    }
  }
  for (PassTimes& pass : out) pass.outside_ns = std::max(0.0, pass.outside_ns);
  return out;
}

bool is_same_step(const PassTimes& a, const PassTimes& b) {
  return a.stage == b.stage &&
         std::ranges::equal(
             a.kernels, b.kernels, {},
             [](const auto& item) { return std::pair(item.first, item.second.first); },
             [](const auto& item) { return std::pair(item.first, item.second.first); });
}

template <class Get>
double median_of(const std::vector<const PassTimes*>& passes, const Get& get) {
  std::vector<double> values;
  for (const PassTimes* pass : passes) values.push_back(std::invoke(get, *pass));
  return median(values);
}

TracedStep step_of(const std::vector<const PassTimes*>& passes) {
  const PassTimes& first = *passes.front();
  TracedStep out{.stage = first.stage,
                 .passes = as_int(passes.size()),
                 .kernels = {},
                 .other_count = first.other_count,
                 .other_ns = median_of(passes, &PassTimes::other_ns),
                 .outside_ns = median_of(passes, &PassTimes::outside_ns),
                 .wall_ns = median_of(passes, &PassTimes::wall_ns)};
  for (const auto& kernel : first.kernels) {
    const auto& problem = kernel.first;  // Clang 14 captures no structured binding
    out.kernels.push_back({problem, kernel.second.first, median_of(passes, [&](const PassTimes& p) {
                             return p.kernels.at(problem).second;
                           })});
  }
  return out;
}

}  // namespace

std::vector<TracedStep> traced_steps(const Attribution& attribution) {
  const std::vector<PassTimes> passes = times_of_passes(attribution);
  std::vector<std::vector<const PassTimes*>> groups;
  for (const PassTimes& pass : passes) {
    auto* group =
        find_or_null(groups, true, [&](const auto& g) { return is_same_step(*g.front(), pass); });
    if (!group) {
      groups.push_back({&pass});
    } else {
      group->push_back(&pass);
    }
  }
  return mapped(groups, [&](const auto& group) { return step_of(group); });
}

double constant_bytes(const TracedStep& step) {
  double sum = 0;
  for (const TracedKernel& kernel : step.kernels) {
    const Work work = find_contract(kernel.problem.op)->work(kernel.problem.params);
    sum += as_double(kernel.count) * work.constant_bytes;
  }
  return sum;
}

StepPrediction predict(const TracedStep& step, const KernelTimes& times) {
  StepPrediction out{.traced_ns = step.other_ns + step.outside_ns, .traced = step.other_count};
  double below_ns = 0, above_ns = 0;
  for (const TracedKernel& kernel : step.kernels) {
    KernelTime time = times(kernel.problem);
    const auto count = as_double(kernel.count);
    if (time.ns) {
      out.measured_ns += count * *time.ns;
      below_ns += count * (*time.ns - time.low_ns.value_or(*time.ns));
      above_ns += count * (time.high_ns.value_or(*time.ns) - *time.ns);
      out.measured += kernel.count;
    } else {
      out.traced_ns += kernel.traced_ns;
      out.traced += kernel.count;
    }
    out.kernels.push_back(std::move(time));
  }
  out.low_ns = out.total_ns() - below_ns;
  out.high_ns = out.total_ns() + above_ns;
  return out;
}

Json prediction_json(const TracedStep& step, const StepPrediction& prediction) {
  Json kernels = Json::array();
  for (std::size_t i = 0; i < step.kernels.size(); ++i) {
    const TracedKernel& kernel = step.kernels[i];
    const KernelTime& time = prediction.kernels[i];
    Json entry{{"problem", kernel.problem.text()},
               {"count", kernel.count},
               {"traced_ns", kernel.traced_ns / as_double(kernel.count)},
               {"source", time.ns ? "measured" : "trace"}};
    if (time.ns) {
      entry["measured_ns"] = *time.ns;
    } else {
      entry["reason"] = time.reason;
    }
    kernels.push_back(std::move(entry));
  }
  return Json{{"stage", stage_name(step.stage)},
              {"passes", step.passes},
              {"step_ns", prediction.total_ns()},
              {"step_low_ns", prediction.low_ns},
              {"step_high_ns", prediction.high_ns},
              {"measured_ns", prediction.measured_ns},
              {"measured_executions", prediction.measured},
              {"traced_ns", prediction.traced_ns},
              {"traced_executions", prediction.traced},
              {"outside_operators_ns", step.outside_ns},
              {"recorded_step_ns", step.wall_ns},
              {"kernels", std::move(kernels)}};
}

}  // namespace halmark::trace
