#include "report/closing.hpp"

#include <algorithm>
#include <map>

#include "report/front_view.hpp"
#include "report/sentences.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

std::string step_text(const FrontRow& row) {
  return duration_text(row.estimate->step_ns) + " a step, " +
         significant_text(row.estimate->tokens_per_s) + " tokens/s";
}

// The ends of the front's tradeoff: the most tokens/s, and what the shortest step gives up for it.
std::string found_text(const PhaseView& view) {
  const FrontRow& most = *std::ranges::max_element(
      view.front, {}, [](const FrontRow& row) { return row.estimate->tokens_per_s; });
  const FrontRow& shortest = *std::ranges::min_element(
      view.front, {}, [](const FrontRow& row) { return row.estimate->step_ns; });
  std::string out = "found: " + std::string(phase_name(view.phase)) + ' ' + most.label +
                    " gives the most tokens/s (" + step_text(most) + ')';
  if (most.label == shortest.label) return out + " and the shortest step";
  return out + "; " + shortest.label + " the shortest step (" + step_text(shortest) + ')';
}

// "share of disturbed samples 0.73 above 0.5" -> "share of disturbed samples".
std::string signal_of(const std::string& reason) {
  std::string out = reason.substr(0, reason.find_first_of("0123456789:"));
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

// The signal that most kernels were doubted for.
std::string interference_text(const RunReport& report) {
  std::map<std::string, int> kernels;
  int doubted = 0;
  for (const KernelPoint& kernel : report.kernels) {
    if (kernel.status != Status::suspect && kernel.status != Status::invalid) continue;
    ++doubted;
    ++kernels[signal_of(kernel.reason)];
  }
  const auto most =
      std::ranges::max_element(kernels, {}, [](const auto& entry) { return entry.second; });
  if (most == kernels.end() || most->first.empty()) return "suspect rows";
  return most->first + " (" + std::to_string(most->second) + " of " +
         std::to_string(report.kernels.size()) + " kernels; halmark explain '" + most->first + "')";
}

std::string next_text(const RunReport& report) {
  if (is_suspect(report))
    return "next: close other programs (halmark doctor), then the same command with --rerun";
  if (report.validations.empty())
    return "next: the same command with --validate runs the front as a whole";
  return "next: halmark export lists the points; --as ENGINE writes what an engine starts from";
}

}  // namespace

std::vector<std::string> closing_lines(const RunReport& report) {
  const std::vector<PhaseView> views = phase_views(report);
  const auto view =
      std::ranges::find_if(views, [](const PhaseView& v) { return !v.front.empty(); });
  if (view == views.end()) return {};
  return {found_text(*view),
          "basis: " + (is_suspect(report) ? interference_text(report) : "trustworthy"),
          next_text(report)};
}

}  // namespace halmark::report
