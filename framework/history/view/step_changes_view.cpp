#include "history/view/step_changes_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/json/json.hpp"
#include "report/text/quantity.hpp"

namespace halmark::history {
namespace {

constexpr std::size_t steps_shown = 6, kernels_shown = 6, steps_of_kernel = 3;

std::string points_text(double points) { return report::fixed_text(points, 1); }

// "decode ... +4.0 %: attention 3.1, head 0.9 points"
std::string step_line(const StepChange& step) {
  std::string parts;
  for (const StepPart& part : named_parts(step)) {
    parts += (parts.empty() ? "" : ", ") + part.name + ' ' + points_text(part.points);
  }
  return fmt::format("{} {:+.1f} %: {} points", step.configuration, step.points(), parts);
}

// Of each kernel its points by step, in the order of the steps.
std::vector<std::string> kernel_lines(const ChangedSteps& changed) {
  std::map<std::string, std::vector<std::pair<double, const StepChange*>>> by_kernel;
  for (const StepChange& step : changed.steps) {
    std::map<std::string, double> own;
    for (const StepPart& part : step.parts) own[part.kernel] += part.points;
    for (const auto& [kernel, points] : own) by_kernel[kernel].push_back({points, &step});
  }
  std::vector<std::pair<double, std::string>> ranked;
  for (auto& [kernel, steps] : by_kernel) {
    std::ranges::stable_sort(steps, std::greater<>(),
                             [](const auto& s) { return std::abs(s.first); });
    std::string line = kernel.substr(0, kernel.find(" | ")) + ": ";
    for (std::size_t i = 0; i < std::min(steps.size(), steps_of_kernel); ++i) {
      line += fmt::format("{}{} points of {}", i == 0 ? "" : ", ", points_text(steps[i].first),
                          steps[i].second->configuration);
    }
    if (steps.size() > steps_of_kernel) {
      line += fmt::format(", and of {} more steps", steps.size() - steps_of_kernel);
    }
    ranked.emplace_back(std::abs(steps.front().first), std::move(line));
  }
  std::ranges::stable_sort(ranked, std::greater<>(), [](const auto& r) { return r.first; });
  std::vector<std::string> out;
  for (auto& [points, line] : ranked) out.push_back(std::move(line));
  return out;
}

std::string front_line(const ChangedSteps& changed) {
  const auto moved = std::ranges::count_if(changed.steps, &StepChange::is_on_front);
  std::string out =
      fmt::format("the front: {} of {} configurations have changed", moved, changed.front);
  const auto most = std::ranges::find_if(changed.steps, &StepChange::is_on_front);
  if (most != changed.steps.end()) {
    out += fmt::format(", most {} by {:+.1f} %", most->configuration, most->points());
  }
  for (const FastestStep& fastest : changed.fastest) {
    out += fmt::format("; the fastest {}, {}, by {:+.1f} %", phase_name(fastest.phase),
                       fastest.configuration, fastest.points);
  }
  return out;
}

void append_some(std::vector<std::string>& out, const std::vector<std::string>& lines,
                 std::size_t most, const char* what) {
  const std::size_t shown = std::min(lines.size(), most);
  out.insert(out.end(), lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown));
  if (lines.size() > shown) {
    out.push_back(fmt::format("and {} {} more: --json has them all", lines.size() - shown, what));
  }
}

}  // namespace

std::vector<std::string> step_change_lines(const ChangedSteps& changed) {
  std::vector<std::string> out, steps;
  if (changed.steps.empty()) return out;
  for (const StepChange& step : changed.steps) steps.push_back(step_line(step));
  append_some(out, steps, steps_shown, "steps");
  append_some(out, kernel_lines(changed), kernels_shown, "kernels");
  if (changed.front > 0) out.push_back(front_line(changed));
  return out;
}

Json step_changes_json(const ChangedSteps& changed) {
  const Json steps = json_list(changed.steps, [](const StepChange& s) -> Json {
    return {{"configuration", s.configuration},
            {"is_on_front", s.is_on_front},
            {"before_ns", s.before_ns},
            {"after_ns", s.after_ns},
            {"points", s.points()},
            {"parts", json_list(s.parts, [](const StepPart& p) -> Json {
               return {{"operator", p.name}, {"kernel", p.kernel}, {"points", p.points}};
             })}};
  });
  const Json fastest = json_list(changed.fastest, [](const FastestStep& f) -> Json {
    return {{"phase", phase_name(f.phase)},
            {"configuration", f.configuration},
            {"ns", f.ns},
            {"points", f.points}};
  });
  return {{"steps", steps}, {"front", {{"configurations", changed.front}, {"fastest", fastest}}}};
}

}  // namespace halmark::history
