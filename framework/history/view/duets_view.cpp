#include "history/view/duets_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/json/json.hpp"
#include "core/measured/duet.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::history {
namespace {

using Judged = std::pair<DuetVerdict, const Duet*>;

std::vector<Judged> judged(const std::vector<Duet>& duets, double floor) {
  std::vector<Judged> out;
  for (const Duet& duet : duets) out.emplace_back(judge_duet(duet, floor), &duet);
  std::ranges::stable_sort(out, [](const Judged& a, const Judged& b) {
    if (a.first.change != b.first.change) return urgency(a.first.change) < urgency(b.first.change);
    return a.first.ratio > b.first.ratio;
  });
  return out;
}

Json verdict_json(const DuetVerdict& v, const Duet& duet) {
  const bool is_valid = is_judged(v.change);
  Json out = duet;
  out["change"] = change_name(v.change);
  out["ratio"] = is_valid ? Json(v.ratio) : Json(nullptr);
  out["ratio_interval"] = is_valid ? Json(v.interval) : Json(nullptr);
  out["p"] = is_valid ? Json(v.p) : Json(nullptr);
  out["verdict_reason"] = v.reason;
  return out;
}

}  // namespace

report::View duets_view(const std::vector<Duet>& duets, double floor) {
  report::View out;
  Json list = Json::array();
  report::TextTable table({"change", "ratio", "interval (95 %)", "old", "new", "pairs", "kernel"},
                          {false, true, true, true, true, true});
  std::string reasons;
  for (const auto& [verdict, duet] : judged(duets, floor)) {
    list.push_back(verdict_json(verdict, *duet));
    const bool is_valid = is_judged(verdict.change);
    const std::string kernel = report::clean_text(duet->kernel_case.problem.text());
    table.add({std::string(change_name(verdict.change)),
               is_valid ? report::signed_percent_text(verdict.ratio - 1) : "",
               is_valid ? report::signed_percent_text(verdict.interval.low - 1) + " .. " +
                              report::signed_percent_text(verdict.interval.high - 1)
                        : "",
               is_valid ? report::duration_text(duet->old_ns) : "",
               is_valid ? report::duration_text(duet->new_ns) : "", std::to_string(verdict.pairs),
               kernel});
    if (!verdict.reason.empty()) {
      reasons += fmt::format("{}: {}\n", kernel, report::clean_text(verdict.reason));
    }
  }
  out.data["duets"] = std::move(list);
  out.data["floor"] = floor;
  out.text = table.text() + reasons;
  if (!duets.empty()) {
    out.text += fmt::format("build {} (old) and {} (new), interleaved on the same inputs\n",
                            duets.front().old_build, duets.front().new_build);
  }
  return out;
}

report::View false_alarms_view(const FalseAlarms& alarms, double floor) {
  report::View out;
  out.data["chain"] = {{"comparisons", alarms.comparisons}, {"called", alarms.called.size()},
                       {"confirmed", alarms.confirmed},     {"share", alarms.share()},
                       {"share_upper_95", alarms.upper()},  {"floor", floor}};
  out.text = fmt::format(
      "\na build against itself: {} of {} comparisons called a change of {} or more, "
      "interleaved pairs confirmed {}: {:.2f} % false alarms (95 % below {:.2f} %)\n",
      alarms.called.size(), alarms.comparisons, report::percent_text(floor), alarms.confirmed,
      100 * alarms.share(), 100 * alarms.upper());
  return out;
}

ExitCode duets_exit(const std::vector<Duet>& duets, double floor, bool is_gate) {
  std::vector<Change> changes;
  for (const Duet& duet : duets) changes.push_back(judge_duet(duet, floor).change);
  return verdict_exit(changes, is_gate);
}

}  // namespace halmark::history
