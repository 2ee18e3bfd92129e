#include "report/closing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "core/lists.hpp"
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

// "roofline", "imported, fabric": of the front's times, those farther from a measurement last.
std::string sources_text(const std::set<Provenance>& sources) {
  auto names = mapped(sources, [&](const Provenance source) { return provenance_name(source); });
  return fmt::format("{}", fmt::join(names, ", "));
}

// What speaks against believing a measured front; empty where nothing does.
std::vector<std::string> doubts_of(const RunReport& report) {
  std::vector<std::string> out;
  if (is_suspect(report)) out.push_back(interference_text(report));
  std::set<Provenance> others = front_sources(report);
  others.erase(Provenance::measured);
  if (!others.empty()) out.push_back("measured in part, the rest is " + sources_text(others));
  std::ranges::move(doubts_of_runs(report), std::back_inserter(out));
  return out;
}

std::string basis_text(const RunReport& report, const std::vector<std::string>& doubts) {
  if (is_unmeasured(report))
    return "nothing was measured here; times from " + sources_text(front_sources(report));
  return doubts.empty() ? "trustworthy" : fmt::format("{}", fmt::join(doubts, "; "));
}

// More runs, not better ones, would settle it.
bool is_short_of_runs(const RunReport& report, const std::vector<std::string>& doubts) {
  return doubts.size() == 1 && doubts[0] == composition_text(report) &&
         composition_verdict(composition_errors(report.validations)) == "UNDECIDED";
}

std::string next_text(const RunReport& report, const std::vector<std::string>& doubts) {
  const bool is_run = !report.validations.empty();
  const bool is_short = is_short_of_runs(report, doubts);
  if (is_short && report.validations.size() < report.front.size())
    return "next: halmark tune SWEEP --validate=all runs every point of the front";
  if (is_unmeasured(report) || doubts.empty() || is_short)
    return "next: halmark export lists the points; --as ENGINE writes what an engine starts from";
  if (!is_suspect(report)) {
    return is_run ? "next: halmark tune SWEEP --rerun --validate measures and runs once more"
                  : "next: halmark tune SWEEP --validate runs the front as a whole";
  }
  return std::string("next: close other programs (halmark doctor), then halmark tune SWEEP ") +
         (is_run ? "--rerun --validate" : "--rerun");
}

}  // namespace

std::vector<std::string> closing_lines(const RunReport& report) {
  const std::vector<PhaseView> views = phase_views(report);
  const auto* view = find_or_null(views, true, [](const PhaseView& v) { return !v.front.empty(); });
  if (!view) return {};
  const std::vector<std::string> doubts = doubts_of(report);
  return {found_text(*view), "basis: " + basis_text(report, doubts), next_text(report, doubts)};
}

}  // namespace halmark::report
