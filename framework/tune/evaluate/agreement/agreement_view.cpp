// What `halmark aa` shows: how often repeats agree, how small a difference is noise, what it
// proposes.
#include <fmt/format.h>

#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "tune/evaluate/agreement/agreement.hpp"

namespace halmark::tune {
namespace {

// Of 90 % intervals.
constexpr double share_low = 0.86, share_high = 0.94;

Json case_json(const CaseAgreement& c) {
  return {{"problem", c.problem},       {"duration_ns_median", c.median_ns},
          {"pairs", c.pairs},           {"agreeing", c.agreeing},
          {"left_out", c.left_out},     {"noise_floor", c.noise_floor},
          {"process_spread", c.spread}, {"rows", c.rows},
          {"ok_rows", c.ok_rows}};
}

Json limits_json(const MeasureLimits& limits) {
  Json out = Json::object();
  if (limits.rounds) out["rounds"] = *limits.rounds;
  for (const LimitRow& row : limit_rows()) {
    if (limits.*row.value) out[row.key] = *(limits.*row.value);
  }
  return out;
}

std::string case_table(std::span<const CaseAgreement> cases) {
  report::TextTable table({"problem", ">median", ">pairs", ">agree", ">noise floor", ">rows ok"});
  for (const CaseAgreement& c : cases) {
    const bool has_pairs = c.pairs > 0;
    table.add({c.problem, has_pairs ? report::duration_text(c.median_ns) : "-",
               std::to_string(c.pairs), has_pairs ? fmt::format("{}", c.agreeing) : "-",
               has_pairs ? fmt::format("{:.1f} %", 100 * c.noise_floor) : "-",
               fmt::format("{} of {}", c.ok_rows, c.rows)});
  }
  return table.text();
}

std::string verdict_text(const Agreement& a) {
  if (a.pairs() == 0) return "no pair of repeats could be compared\n";
  const Interval interval = a.interval();
  std::string out = fmt::format(
      "{} of {} pairs agree within their 90 % interval: {:.1f} % ({:.1f} .. {:.1f} %)\n",
      a.agreeing(), a.pairs(), 100 * a.share(), 100 * interval.low, 100 * interval.high);
  if (interval.high < share_low) {
    out += "less often than they should: processes of a repeat are more alike than repeats\n";
  } else if (interval.low > share_high) {
    out += "more often than they should: the intervals are wider than they need to be\n";
  }
  return out;
}

}  // namespace

report::View agreement_view(const Agreement& a) {
  Json cases = Json::array();
  for (const CaseAgreement& c : a.cases) cases.push_back(case_json(c));
  const Interval interval = a.interval();
  report::View out{.data = {{"cases", std::move(cases)},
                            {"processes_per_repeat", a.rounds},
                            {"pairs", a.pairs()},
                            {"agreeing", a.agreeing()},
                            {"agreement", a.share()},
                            {"agreement_interval", interval},
                            {"limits", limits_json(a.limits)}},
                   .text = case_table(a.cases) + '\n' + verdict_text(a)};
  out.text += "\nproposed for this machine:\n";
  for (const auto& [key, value] : out.data["limits"].items()) {
    out.text += fmt::format("  {} = {:.4g}\n", key, value.get<double>());
  }
  return out;
}

}  // namespace halmark::tune
