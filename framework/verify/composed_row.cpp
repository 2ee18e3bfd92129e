#include "verify/composed_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "core/text/units.hpp"
#include "kernels/contract.hpp"

namespace halmark {
namespace {

// Sums of hundreds of terms, in another order than the Composer's.
constexpr double tolerance = 1e-9;

bool agree(double a, double b) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

// Nothing of an op or a parameter that today's contracts do not know.
std::optional<Work> work_of(const Problem& problem) {
  try {
    const Problem complete = complete_problem(problem);
    return find_contract(complete.op)->work(complete.params);
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool is_measured(const Estimate& e) {
  return !e.operators.empty() && std::ranges::all_of(e.operators, [](const OperatorShare& o) {
    return o.provenance == Provenance::measured;
  });
}

struct Sum {
  double ns = 0, low_ns = 0, high_ns = 0;
};

Sum sum_of(const std::vector<OperatorShare>& operators) {
  Sum out;
  for (const OperatorShare& o : operators) {
    out.ns += o.ns;
    out.low_ns += o.low_ns;
    out.high_ns += o.high_ns;
  }
  return out;
}

// Operators are those of the slowest stage, as often as all stages together execute them: with one
// micro-batch a stage, as steps of inference have, that is the step.
void check_sum(const Configuration& c, const Estimate& e, std::vector<RowFault>& out) {
  const auto compare = [&](const char* name, double stored, double computed, const char* from) {
    if (agree(stored, computed)) return;
    out.push_back({"body", fmt::format("{} is {}; {} give {}", name, stored, from, computed)});
  };
  if (c.workload.micro_batch == 0) {
    const Sum sum = sum_of(e.operators);
    compare("step_ns", e.step_ns, sum.ns, "its operators");
    // The slowest stage is not always that of the widest interval.
    if (c.parallel.pp == 1) {
      compare("low_ns", e.low_ns, sum.low_ns, "its operators");
      compare("high_ns", e.high_ns, sum.high_ns, "its operators");
    }
  }
  const double tokens = as_double(c.workload.batch) * as_double(c.workload.new_tokens);
  compare("tokens_per_s", e.tokens_per_s, tokens / e.step_ns * ns_per_s, "its tokens and step");
}

}  // namespace

void MeasuredKernels::add(const Measurement& row) {
  const auto work = work_of(row.kernel_case.problem);
  if (!work) return;
  Kernel& kernel = kernels_[{row.kernel_case.key(), row.plugin_hash}];
  kernel.flops = work->flops();
  kernel.bytes = work->bytes();
  Measurement kept = row;
  kept.samples.resize(std::min<std::size_t>(1, row.samples.size()));  // whether there are any
  kept.shard_wall_ns.clear();
  kernel.rounds.insert_or_assign(row.round, std::move(kept));
  std::vector<Measurement> rounds;
  for (const auto& [round, measurement] : kernel.rounds) rounds.push_back(measurement);
  if (const auto fold = fold_usable_rounds(rounds, 0)) kernel.folds.push_back(*fold);
}

std::string MeasuredKernels::fault_of(const OperatorShare& share) const {
  if (share.provenance != Provenance::measured || share.count <= 0) return {};
  const auto count = as_double(share.count);
  bool has_kernel = false;
  for (const auto& [key, kernel] : kernels_) {
    if (!agree(kernel.flops, share.flops / count) || !agree(kernel.bytes, share.bytes / count)) {
      continue;
    }
    has_kernel = true;
    for (const Latency& fold : kernel.folds) {
      if (agree(fold.ns, share.ns / count) && agree(fold.low_ns, share.low_ns / count) &&
          agree(fold.high_ns, share.high_ns / count)) {
        return {};
      }
    }
  }
  if (!has_kernel) {
    return "operator " + share.name + " is said to be measured, and no row of the run has its work";
  }
  return fmt::format("{} ns for an execution of operator {} follow from no rows of the run",
                     share.ns / count, share.name);
}

std::vector<RowFault> MeasuredKernels::check_evaluation(const StoredEntry& entry) const {
  std::vector<RowFault> out;
  try {
    const auto e = parse_json(entry.body, "body").get<Evaluation>();
    if (e.configuration.key() != entry.key) {
      out.push_back({"key", "this is not the configuration of its body"});
    }
    if (!e.estimate) return out;
    for (const OperatorShare& share : e.estimate->operators) {
      const std::string fault = fault_of(share);
      if (!fault.empty()) out.push_back({"body", fault});
    }
    if (is_measured(*e.estimate)) check_sum(e.configuration, *e.estimate, out);
  } catch (const std::exception& e) {
    out.push_back({"body", std::string("this evaluation cannot be read: ") + e.what()});
  }
  return out;
}

}  // namespace halmark
