#include "history/step_changes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include "core/latency.hpp"
#include "core/numeric/cast.hpp"

namespace halmark::history {
namespace {

constexpr double shown_points_min = 0.1;

struct CalledKernel {
  double ratio = 1;            // after / before
  std::vector<Latency> folds;  // what a reader may have made of its rows as they came
};

bool is_called(const SeriesHistory& one) {
  return one.ratio && (one.change == Change::slower || one.change == Change::faster);
}

using CalledKernels = std::map<std::string, CalledKernel>;

CalledKernels called_kernels(const std::vector<SeriesHistory>& series,
                             const std::vector<Measurement>& rows) {
  CalledKernels out;
  for (const SeriesHistory& one : series) {
    if (is_called(one)) out[one.name.what].ratio = *one.ratio;
  }
  std::map<std::string, std::vector<Measurement>> rounds;
  for (const Measurement& row : rows) {
    const auto of = out.find(row.kernel_case.key());
    if (of == out.end()) continue;
    std::vector<Measurement>& known = rounds[of->first];
    std::erase_if(known, [&](const Measurement& r) { return r.round == row.round; });
    known.push_back(row);
    if (const auto fold = fold_usable_rounds(known, 0)) of->second.folds.push_back(*fold);
  }
  return out;
}

bool agree(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(a, b); }

const CalledKernels::value_type* kernel_of(const OperatorShare& share,
                                           const CalledKernels& kernels) {
  const auto count = as_double(share.count);
  for (const auto& kernel : kernels) {
    for (const Latency& fold : kernel.second.folds) {
      if (agree(fold.ns * count, share.ns) && agree(fold.low_ns * count, share.low_ns) &&
          agree(fold.high_ns * count, share.high_ns)) {
        return &kernel;
      }
    }
  }
  return nullptr;
}

StepChange change_of(const Evaluation& e, const CalledKernels& kernels) {
  StepChange out{
      .configuration = e.configuration.key(), .phase = e.configuration.workload.phase, .parts = {}};
  out.before_ns = out.after_ns = e.estimate->step_ns;
  for (const OperatorShare& share : e.estimate->operators) {
    const auto* kernel = share.count > 0 ? kernel_of(share, kernels) : nullptr;
    if (kernel == nullptr) continue;
    const double changed_ns = share.ns - share.ns / kernel->second.ratio;
    out.before_ns -= changed_ns;
    out.parts.push_back({share.name, kernel->first, changed_ns});
  }
  for (StepPart& part : out.parts) part.points *= 100 / out.before_ns;
  std::ranges::stable_sort(out.parts, std::greater<>(),
                           [](const StepPart& p) { return std::abs(p.points); });
  return out;
}

}  // namespace

ChangedSteps changed_steps(const std::vector<SeriesHistory>& series,
                           const std::vector<Measurement>& rows,
                           const std::vector<Evaluation>& evaluations,
                           const std::vector<std::size_t>& front) {
  const CalledKernels kernels = called_kernels(series, rows);
  if (kernels.empty()) return {};
  std::map<std::string, StepChange> steps;  // the last of a configuration counts
  for (const Evaluation& e : evaluations) {
    if (e.estimate) steps.insert_or_assign(e.configuration.key(), change_of(e, kernels));
  }
  for (const std::size_t i : front) {
    const auto on_it = steps.find(evaluations[i].configuration.key());
    if (on_it != steps.end()) on_it->second.is_on_front = true;
  }
  ChangedSteps out;
  for (const auto& [key, step] : steps) {
    if (!step.is_on_front) continue;
    ++out.front;
    const auto known = std::ranges::find(out.fastest, step.phase, &FastestStep::phase);
    FastestStep& fastest = known == out.fastest.end()
                               ? out.fastest.emplace_back(FastestStep{.phase = step.phase})
                               : *known;
    if (fastest.ns > 0 && fastest.ns <= step.after_ns) continue;
    fastest = {step.phase, key, step.after_ns, step.points()};
  }
  for (auto& [key, step] : steps) {
    if (!step.parts.empty()) out.steps.push_back(std::move(step));
  }
  if (out.steps.empty()) return {};
  std::ranges::stable_sort(out.steps, std::greater<>(),
                           [](const StepChange& s) { return std::abs(s.points()); });
  return out;
}

ChangedSteps stored_changed_steps(const Store& store, const std::vector<std::int64_t>& runs,
                                  const std::vector<SeriesHistory>& kernels,
                                  const FrontOf& front_of) {
  if (std::ranges::none_of(kernels, is_called)) return {};
  for (const std::int64_t run : runs | std::views::reverse) {
    const auto evaluations = store.rows<Evaluation>(run);
    if (evaluations.empty()) continue;
    const auto front = front_of ? front_of(evaluations, store.run_info(run).plan_text)
                                : std::vector<std::size_t>{};
    return changed_steps(kernels, store.run_measurements(run), evaluations, front);
  }
  return {};
}

std::vector<StepPart> named_parts(const StepChange& step) {
  std::map<std::string, StepPart> by_name;
  for (const StepPart& part : step.parts) {
    StepPart& sum =
        by_name.try_emplace(part.name, StepPart{part.name, part.kernel, 0}).first->second;
    sum.points += part.points;
  }
  std::vector<StepPart> out;
  StepPart others{"others", "", 0};
  for (const auto& [name, part] : by_name) {
    if (std::abs(part.points) < shown_points_min) {
      others.points += part.points;
    } else {
      out.push_back(part);
    }
  }
  std::ranges::stable_sort(out, std::greater<>(),
                           [](const StepPart& p) { return std::abs(p.points); });
  if (others.points != 0) out.push_back(others);
  return out;
}

}  // namespace halmark::history
