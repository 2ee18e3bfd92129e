#include "measure/campaign/stack/stack_times.hpp"

#include <algorithm>
#include <limits>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"

namespace halmark {
namespace {

using OperatorTime = StackRunResult::OperatorTime;

std::size_t operator_index(std::vector<OperatorTime>& operators, const StackStep& step) {
  const auto known = std::ranges::find_if(operators, [&](const OperatorTime& o) {
    return o.name == step.operator_name && o.layer_type == step.layer_type;
  });
  if (known != operators.end()) return as_size(known - operators.begin());
  operators.push_back({.name = step.operator_name, .layer_type = step.layer_type});
  return operators.size() - 1;
}

double total_ns(std::span<const TimedSample> steps) {
  double ns = 0;
  for (const TimedSample& step : steps) ns += step.wall_ns;
  return ns;
}

bool is_shift(const Stack& stack, const StackStep& step) {
  const auto kernel = as_size(step.kernel);
  return kernel < stack.kernels.size() && stack.kernels[kernel].problem.op == "send_recv";
}

// Without shifts: ranks that wait in them for their turn all end together.
double work_ns(const Stack& stack, std::span<const TimedSample> steps) {
  double ns = 0;
  for (const auto step : indices(steps)) {
    if (!is_shift(stack, stack.steps[step])) ns += steps[step].wall_ns;
  }
  return ns;
}

std::span<const TimedSample> repetition_of(const Stack& stack, std::span<const TimedSample> steps,
                                           std::size_t repetition) {
  return steps.subspan(repetition * stack.steps.size(), stack.steps.size());
}

// Of the executions of a kernel in one repetition.
Sample mean_of(std::span<const StackStep> stack, std::span<const TimedSample> row,
               std::int32_t kernel) {
  double all_ns = 0, clean_ns = 0;
  int all = 0, clean = 0;
  Sample out;
  for (const auto step : indices(row)) {
    if (stack[step].kernel != kernel) continue;
    ++all;
    all_ns += row[step].wall_ns;
    out.set = row[step].set;
    if (row[step].label == SampleLabel::disturbed) continue;
    ++clean;
    clean_ns += row[step].wall_ns;
    out.label = row[step].label;
  }
  const bool is_clean = 2 * clean >= all;
  if (!is_clean) out.label = SampleLabel::disturbed;
  out.wall_ns = is_clean ? clean_ns / clean : all_ns / all;
  return out;
}

// Of each shift of a repetition: what it took on the rank that came last.
std::vector<double> shifts_ns(std::span<const Stack> per_rank, const StackSteps& steps,
                              std::size_t repetition) {
  std::vector<double> out;
  for (const auto rank : indices(per_rank)) {
    const Stack& stack = per_rank[rank];
    const auto row = repetition_of(stack, steps[rank], repetition);
    std::size_t shift = 0;
    for (const auto step : indices(row)) {
      if (!is_shift(stack, stack.steps[step])) continue;
      if (shift == out.size()) out.push_back(row[step].wall_ns);
      out[shift] = std::min(out[shift], row[step].wall_ns);
      ++shift;
    }
  }
  return out;
}

std::vector<RankExecutions> executions_of(std::span<const Stack> per_rank, const StackSteps& steps,
                                          std::size_t repetitions) {
  std::vector<double> begins(repetitions, std::numeric_limits<double>::infinity());
  for (const auto i : indices(repetitions)) {
    for (const auto rank : indices(per_rank)) {
      begins[i] =
          std::min(begins[i], repetition_of(per_rank[rank], steps[rank], i).front().begin_ns);
    }
  }
  std::vector<RankExecutions> out(per_rank.size());
  std::vector<double> begin_ns(repetitions), ns(repetitions);
  for (const auto rank : indices(per_rank)) {
    for (const auto step : indices(per_rank[rank].steps)) {
      for (const auto i : indices(repetitions)) {
        const TimedSample& sample = repetition_of(per_rank[rank], steps[rank], i)[step];
        begin_ns[i] = sample.begin_ns - begins[i];
        ns[i] = sample.wall_ns;
      }
      out[rank].push_back({per_rank[rank].steps[step].operator_name, median(begin_ns), median(ns)});
    }
  }
  return out;
}

}  // namespace

void begin_together(std::span<TimedSample> steps) {
  if (steps.empty()) return;
  const double begin_ns = steps.front().begin_ns;
  for (TimedSample& step : steps) step.begin_ns -= begin_ns;
}

std::size_t common_repetitions(std::span<const Stack> per_rank, const StackSteps& steps) {
  if (steps.empty() || steps.size() != per_rank.size()) return 0;
  std::size_t repetitions = std::numeric_limits<std::size_t>::max();
  for (const auto rank : indices(steps)) {
    const std::size_t row = per_rank[rank].steps.size();
    if (row == 0 || steps[rank].size() % row != 0) return 0;
    repetitions = std::min(repetitions, steps[rank].size() / row);
  }
  return repetitions;
}

bool fold_times(std::span<const Stack> per_rank, const StackSteps& steps, StackRunResult& result) {
  const std::size_t repetitions = common_repetitions(per_rank, steps);
  if (repetitions == 0) return false;

  std::vector<OperatorTime> operators;
  std::vector<std::vector<std::size_t>> operator_of(per_rank.size());
  for (const auto rank : indices(per_rank)) {
    std::vector<std::int64_t> counts;
    for (const StackStep& step : per_rank[rank].steps) {
      const std::size_t index = operator_index(operators, step);
      operator_of[rank].push_back(index);
      counts.resize(operators.size());
      ++counts[index];
    }
    for (const auto i : indices(counts)) {
      operators[i].count = std::max(operators[i].count, counts[i]);
    }
  }

  result.step_ns.assign(repetitions, 0);
  std::vector<double> waited;  // by repetition, shares of all ranks' time
  // [operator][repetition], the slowest rank
  std::vector<std::vector<double>> slowest(operators.size(), std::vector<double>(repetitions, 0));
  std::vector<double> sums;
  for (const auto repetition : indices(repetitions)) {
    const std::vector<double> own_ns = shifts_ns(per_rank, steps, repetition);
    double idle_ns = 0, all_ns = 0;
    for (const auto rank : indices(per_rank)) {
      const Stack& stack = per_rank[rank];
      const auto row = repetition_of(stack, steps[rank], repetition);
      sums.assign(operators.size(), 0);
      std::size_t shift = 0;
      for (const auto step : indices(row)) {
        const double ns = is_shift(stack, stack.steps[step]) ? own_ns[shift++] : row[step].wall_ns;
        sums[operator_of[rank][step]] += ns;
        idle_ns += row[step].wall_ns - ns;
      }
      for (const auto i : indices(sums)) {
        slowest[i][repetition] = std::max(slowest[i][repetition], sums[i]);
      }
      all_ns += total_ns(row);
      result.step_ns[repetition] = std::max(result.step_ns[repetition], total_ns(row));
    }
    if (!own_ns.empty() && all_ns > 0) waited.push_back(idle_ns / all_ns);
  }
  if (!waited.empty()) result.bubble_share = median(waited);
  for (const auto i : indices(operators)) operators[i].ns = median(slowest[i]);
  result.operators = std::move(operators);
  result.executions = executions_of(per_rank, steps, repetitions);
  result.median_ns = median(result.step_ns);
  result.interval_ns = median_interval(result.step_ns).interval;
  return true;
}

namespace {

// Calls visit(stack of the rank, its steps, index of the kernel there) for each repetition, with
// the rank that was slowest as a whole among those that hold the kernel.
template <class Visit>
void for_each_slowest(std::span<const Stack> per_rank, const StackSteps& steps,
                      const KernelCase& kernel_case, const Visit& visit) {
  std::vector<std::size_t> holders;
  std::vector<std::int32_t> index;  // of the kernel, by holder
  for (const auto rank : indices(per_rank)) {
    const auto at = std::ranges::find(per_rank[rank].kernels, kernel_case);
    if (at == per_rank[rank].kernels.end()) continue;
    holders.push_back(rank);
    index.push_back(as_int(at - per_rank[rank].kernels.begin()));
  }
  if (holders.empty()) return;
  for (const auto i : indices(common_repetitions(per_rank, steps))) {
    const auto row_of = [&](std::size_t h) {
      return repetition_of(per_rank[holders[h]], steps[holders[h]], i);
    };
    const auto of_holder = [&](std::size_t h) { return work_ns(per_rank[holders[h]], row_of(h)); };
    std::size_t slowest = 0;
    for (std::size_t h = 1; h < holders.size(); ++h) {
      if (of_holder(h) > of_holder(slowest)) slowest = h;
    }
    visit(per_rank[holders[slowest]].steps, row_of(slowest), index[slowest]);
  }
}

}  // namespace

std::vector<Sample> samples_of(std::span<const Stack> per_rank, const StackSteps& steps,
                               const KernelCase& kernel_case) {
  std::vector<Sample> out;
  for_each_slowest(per_rank, steps, kernel_case,
                   [&](const auto& stack, const auto& row, std::int32_t kernel) {
                     out.push_back(mean_of(stack, row, kernel));
                   });
  return out;
}

std::optional<double> mean_ns(std::span<const Stack> per_rank, const StackSteps& steps,
                              const KernelCase& kernel_case) {
  double sum_ns = 0;
  std::int64_t executions = 0;
  for_each_slowest(per_rank, steps, kernel_case,
                   [&](const auto& stack, const auto& row, std::int32_t kernel) {
                     for (const auto step : indices(row)) {
                       if (stack[step].kernel != kernel) continue;
                       sum_ns += row[step].wall_ns;
                       ++executions;
                     }
                   });
  if (executions == 0) return std::nullopt;
  return sum_ns / as_double(executions);
}

}  // namespace halmark
