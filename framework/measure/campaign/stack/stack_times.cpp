#include "measure/campaign/stack/stack_times.hpp"

#include <algorithm>
#include <limits>

#include "core/numeric/statistics.hpp"

namespace halmark {
namespace {

using OperatorTime = StackRunResult::OperatorTime;

std::size_t operator_index(std::vector<OperatorTime>& operators, const StackStep& step) {
  const auto known = std::find_if(operators.begin(), operators.end(), [&](const OperatorTime& o) {
    return o.name == step.operator_name && o.layer_type == step.layer_type;
  });
  if (known != operators.end()) return static_cast<std::size_t>(known - operators.begin());
  operators.push_back({.name = step.operator_name, .layer_type = step.layer_type});
  return operators.size() - 1;
}

// Repetitions that every rank completed; 0 when a block is no whole number of repetitions.
std::size_t common_repetitions(std::span<const Stack> per_rank,
                               std::span<const std::vector<double>> blocks) {
  std::size_t repetitions = std::numeric_limits<std::size_t>::max();
  for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
    const std::size_t row = per_rank[rank].steps.size() + 1;
    if (blocks[rank].size() % row != 0) return 0;
    repetitions = std::min(repetitions, blocks[rank].size() / row);
  }
  return blocks.empty() ? 0 : repetitions;
}

}  // namespace

bool fold_times(std::span<const Stack> per_rank, std::span<const std::vector<double>> blocks,
                StackRunResult& result) {
  const std::size_t repetitions = common_repetitions(per_rank, blocks);
  if (repetitions == 0 || blocks.size() != per_rank.size()) return false;

  std::vector<OperatorTime> operators;
  std::vector<std::vector<std::size_t>> operator_of(per_rank.size());
  for (std::size_t rank = 0; rank < per_rank.size(); ++rank) {
    std::vector<std::int64_t> counts;
    for (const StackStep& step : per_rank[rank].steps) {
      const std::size_t index = operator_index(operators, step);
      operator_of[rank].push_back(index);
      counts.resize(operators.size());
      ++counts[index];
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      operators[i].count = std::max(operators[i].count, counts[i]);
    }
  }

  result.step_ns.assign(repetitions, 0);
  // [operator][repetition], the slowest rank
  std::vector<std::vector<double>> slowest(operators.size(), std::vector<double>(repetitions, 0));
  std::vector<double> sums;
  for (std::size_t rank = 0; rank < per_rank.size(); ++rank) {
    const std::size_t steps = operator_of[rank].size();
    for (std::size_t repetition = 0; repetition < repetitions; ++repetition) {
      const double* row = blocks[rank].data() + repetition * (steps + 1);
      sums.assign(operators.size(), 0);
      for (std::size_t step = 0; step < steps; ++step) sums[operator_of[rank][step]] += row[step];
      for (std::size_t i = 0; i < sums.size(); ++i) {
        slowest[i][repetition] = std::max(slowest[i][repetition], sums[i]);
      }
      result.step_ns[repetition] = std::max(result.step_ns[repetition], row[steps]);
    }
  }
  for (std::size_t i = 0; i < operators.size(); ++i) operators[i].ns = median(slowest[i]);
  result.operators = std::move(operators);
  result.median_ns = median(result.step_ns);
  result.interval_ns = median_interval(result.step_ns).interval;
  return true;
}

}  // namespace halmark
